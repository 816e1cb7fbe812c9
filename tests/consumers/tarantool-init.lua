-- What Tarantool's tests of its profiler need that there is not here: just enough of `ffi` for their test harness, and a reader of
-- files without it. Sets the package path from TARANTOOL.
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
  function Reader:read_octets(n)
    local s = self.text:sub(self.at, self.at + n - 1)
    assert(#s == n, "unexpected end of data")
    self.at = self.at + n
    return s
  end
  function Reader:read_octet() return self:read_octets(1):byte() end
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
  function Reader:eof() return self.at > #self.text end
  return {
    new = function(name)
      local file = assert(io.open(name, "rb"))
      local text = file:read("*a")
      file:close()
      return setmetatable({ text = text, at = 1 }, Reader)
    end,
  }
end
