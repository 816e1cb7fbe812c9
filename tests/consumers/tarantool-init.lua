-- What Tarantool's tests of its profiler need that there is not here: just enough of `ffi` for their test harness, and a reader of
-- files without it. Sets the package path from TARANTOOL, and has compiled at once what is hot, as there.
require "misc"
require("jit.opt").start("hotloop=56", "hotexit=10")
local root = assert(os.getenv("TARANTOOL"), "TARANTOOL is the folder of Tarantool's LuaJIT")
local tests = root .. "/test/tarantool-tests"
package.path = table.concat({ tests .. "/?.lua", tests .. "/?/init.lua", root .. "/tools/?.lua", package.path }, ";")

package.preload["ffi"] = function()
  return {
    new = function() return {} end,
    istype = function() return false end,
    typeof = type,
    abi = function() return true end,
    cdef = function() end,
    cast = function() return {} end,
    gc = function(x) return x end,
  }
end

package.preload["utils.bufread"] = function()
  local Reader = {}
  Reader.__index = Reader
  -- Reads on until there are `n` bytes from `at` on; false if there are not so many.
  local function fill(self, n)
    while #self.text - self.at + 1 < n do
      local piece = self.file:read(2 ^ 16)
      if not piece then return false end
      self.text, self.at = self.text:sub(self.at) .. piece, 1
    end
    return true
  end
  function Reader:read_octets(n)
    assert(fill(self, n), "unexpected end of data")
    self.at = self.at + n
    return self.text:sub(self.at - n, self.at - 1)
  end
  function Reader:read_octet()
    assert(self.at <= #self.text or fill(self, 1), "unexpected end of data")
    self.at = self.at + 1
    return self.text:byte(self.at - 1)
  end
  function Reader:read_uleb128()
    local n, factor = 0, 1
    while true do
      local byte = self:read_octet()
      n = n + byte % 128 * factor
      if byte < 128 then return n end
      factor = factor * 128
    end
  end
  function Reader:read_string() return self:read_octets(self:read_uleb128()) end
  function Reader:eof() return not fill(self, 1) end
  return {
    new = function(name)
      return setmetatable({ file = assert(io.open(name, "rb")), text = "", at = 1 }, Reader)
    end,
  }
end
