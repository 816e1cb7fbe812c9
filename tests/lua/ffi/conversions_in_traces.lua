-- Numbers of many kinds, converted to each type of C, and used in many ways, each in a loop of its own: the bits that are lost, kept or extended
-- are those of the interpreter. One line for each kind of number and type.
local ffi = require "ffi"
local bit = require "bit"

local sources = {
  { "large num", "i * 1000003 * 7.0" }, { "negative num", "-i * 1000003.5" }, { "int", "50 - i" }, { "int64", "i * -1000003LL" },
  { "uint64", "i * 0x9E3779B97F4A7C15ULL" }, { "uint32", "U[i % 64]" }, { "int32", "I[i % 64]" }, { "int16", "H[i % 64]" },
  { "float", "F[i % 64]" }, { "bits", "bit.tobit(i * 1000003)" }, { "high bits", "bit.rshift(i * 0x9E3779B97F4A7C15ULL, 32)" },
  { "bits of uint32", "bit.tobit(U[i % 64])" }, { "or of uint32", "bit.bor(U[i % 64], 0)" }, { "sum of uint32", "bit.tobit(U[i % 64] + i)" },
}
-- Without a conversion, too.
local types = { "", "int8_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "float", "double" }
local uses = {
  "t = t + (V)", "u = u * 3 + (V)", "n = n + tonumber(V)", "t = bit.bxor(t, V)", "if (V) < 1000 then n = n + 1 end",
  "if (V) == 7 then n = n + 1 end", "t = t - (-(V))", "s.l = V t = t + s.l", "s.i = V t = t + s.i", "s.u = V t = t + s.u",
  "s.b = V n = n + s.b", "s.f = V n = n + s.f", "t = t + bit.lshift(V, 1)", "k = bit.bxor(k, tonumber(V) % 65536)",
  "q[0] = V t = t + q[0]", "q[0] = V if q[0] < 0 then n = n + 1 end n = n + tonumber(q[0])",
}
local prelude = [[
local ffi, bit, U, I, H, F, q = ...
local s = ffi.new("struct { int64_t l; int32_t i; uint32_t u; uint8_t b; float f; }")
local t, u, n, k = 0LL, 0ULL, 0, 0
]]
local U, I, H, F = ffi.new "uint32_t[64]", ffi.new "int32_t[64]", ffi.new "int16_t[64]", ffi.new "float[64]"
for i = 0, 63 do U[i], I[i], H[i], F[i] = i * 67654321, i * 67654321 - 2e9, i * 997 - 30000, i * 1.7 - 20 end

-- Numbers with all their digits.
local function text(x) return type(x) == "number" and ("%.17g"):format(x) or tostring(x) end
for _, source in ipairs(sources) do
  for _, ctype in ipairs(types) do
    local q, sum, failed = ffi.new((ctype == "" and "int64_t" or ctype) .. "[1]"), 0, 0
    for _, use in ipairs(uses) do
      local value = ctype == "" and source[2] or ("ffi.cast(%q, %s)"):format(ctype, source[2])
      local body = use:gsub("V", (value:gsub("%%", "%%%%")))
      local run = assert(loadstring(prelude .. "for i = 1, 60 do " .. body .. " end return t, u, n, k"))
      local results = { pcall(run, ffi, bit, U, I, H, F, q) }
      if not results[1] then failed = failed + 1 end
      for i = 2, results[1] and 5 or 1 do
        for c in text(results[i]):gmatch "." do sum = (sum * 31 + c:byte()) % 1000000007 end
      end
    end
    print(source[1], ctype, sum, failed)
  end
end
