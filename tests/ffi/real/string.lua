-- lua-resty-string on the system's libcrypto, which nginx would have linked in.
package.path = "./lib/?.lua;" .. package.path
local ffi = require "ffi"
ffi.load("crypto", true)
ngx = { config = { ngx_lua_version = 10024 } }
ffi.cdef [[typedef unsigned char u_char;]]
local function hex(s) return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end
local passed = 0
local function check(what, ok)
  if not ok then error(what, 2) end
  passed = passed + 1
end
local expected = {
  md5 = "5eb63bbbe01eeed093cb22bb8f5acdc3",
  sha1 = "2aae6c35c94fcfb415dbe95f408b9ce91ee846ed",
  sha224 = "2f05477fc24bb4faefd86517156dafdecec45b8ad3cf2522a563582b",
  sha256 = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
  sha384 = "fdbd8e75a67f29f701a4e040385e2e23986303ea10239211af907fcbb83578b3e417cb71ce646efd0819dd8c088de1bd",
  sha512 = "309ecc489c12d6eb4cc40f50c902f2b4d0ed77ee511a7c7a9bcd3ca86d4cd86f989dd35bc5ff499670da34255b45b0cfd830e81f605dcf7dc5542e93ae9cd76f",
}
for name, digest in pairs(expected) do
  local hash = require("resty." .. name)
  for _ = 1, 100 do
    local h = hash:new()
    check(name, h:update("hello ") and h:update("world"))
    check(name, hex(h:final()) == digest)
  end
end
local aes = require "resty.aes"
for _, mode in ipairs { "cbc", "ecb", "ctr" } do
  local cipher = aes.cipher(256, mode)
  local a = assert(aes:new("a password", "8 octets", cipher))
  for i = 1, 50 do
    local text = ("text "):rep(i)
    check(mode, a:decrypt(a:encrypt(text)) == text and a:encrypt(text) ~= text)
  end
end
local random = require "resty.random"
check("random", #random.bytes(20) == 20 and random.bytes(20) ~= random.bytes(20))
print(passed .. " passed")
