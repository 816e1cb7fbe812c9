-- Machine code as text, for the architecture whose decoder is the second argument: LuaJIT's interface of `jit.dis_*`.
local name, library = ...
local decode = library.decode

-- Names of registers by number, general ones first.
local registers = {}
if name == "jit.dis_arm64" then
  for i = 0, 31 do
    registers[i] = i == 31 and "sp" or "x" .. i
    registers[i + 32] = "d" .. i
  end
else
  local general = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" }
  for i = 0, 15 do
    registers[i] = general[i + 1] or "r" .. i
    registers[i + 16] = "xmm" .. i
  end
end

-- The bytes from `from` to `to` in hexadecimal, cut to fit a column.
local function hex_column(code, from, to, width)
  local text = code:sub(from, to):gsub(".", function(c) return ("%02X"):format(c:byte()) end)
  if #text > width then return text:sub(1, width) .. ". " end
  return text .. (" "):rep(width - #text + 2)
end

-- Writes `length` bytes from `offset` on as text, a line an instruction.
local function disass(self, offset, length)
  local code, at = self.code, offset or 0
  local stop = math.min(length and at + length or #code, #code)
  while at < stop do
    local address = self.addr + at
    local n, text, target = decode(code, at, address)
    local label = target and self.symtab[target]
    local hex = self.hexdump > 0 and hex_column(code, at + 1, at + n, self.hexdump) or ""
    self.out(("%08x  %s%s%s\n"):format(address, hex, text, label and "\t->" .. label or ""))
    at = at + n
  end
end

-- What writes the code at `addr` by the function `out`. `symtab` has names for addresses, `hexdump` is the width of the bytes shown.
local function create(code, addr, out)
  return { code = code, addr = addr or 0, out = out or io.write, symtab = {}, hexdump = 16, disass = disass }
end

return {
  create = create,
  disass = function(code, addr, out) create(code, addr, out):disass() end,
  regname = function(number) return registers[number] end,
}
