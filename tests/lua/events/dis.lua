-- The disassemblers, by LuaJIT's interface.
local function text(module, bytes, address, symbols, hexdump)
  local out = {}
  local dis = require(module)
  local ctx = dis.create(bytes, address, function(s) out[#out + 1] = s end)
  assert(type(ctx.symtab) == "table" and ctx.hexdump == 16)
  for at, name in pairs(symbols or {}) do ctx.symtab[at] = name end
  ctx.hexdump = hexdump or 0
  return ctx, out, dis
end

local X64 = "\72\139\71\16\116\2\144\144\195"
local ctx, out, dis = text("jit.dis_x64", X64, 0x1000, { [0x1008] = "end" })
ctx:disass(0, #X64)
assert(table.concat(out) == "00001000  mov rax, [rdi+0x10]\n00001004  jz 0x1008\t->end\n00001006  nop\n00001007  nop\n00001008  ret\n", table.concat(out))
ctx, out = text("jit.dis_x64", X64, 0x1000)
ctx:disass(4, 2)
assert(table.concat(out) == "00001004  jz 0x1008\n")
ctx, out = text("jit.dis_x64", X64, 0x1000, nil, 16)
ctx:disass()
assert(out[1] == "00001000  488B4710          mov rax, [rdi+0x10]\n", out[1])
assert(#out == 5)
ctx, out = text("jit.dis_x64", X64, 0x1000, nil, 4)
ctx:disass(0, 4)
assert(out[1] == "00001000  488B. mov rax, [rdi+0x10]\n", out[1])
-- What is no instruction; what ends too early.
ctx, out = text("jit.dis_x64", "\6\72\139", 0)
ctx:disass()
assert(table.concat(out) == "00000000  .byte 06\n00000001  .byte 48\n00000002  .byte 8b\n", table.concat(out))
ctx, out = text("jit.dis_x64", "", 0)
ctx:disass()
assert(#out == 0)
local all = {}
dis.disass(X64, 0, function(s) all[#all + 1] = s end)
assert(#all == 5)
assert(dis.regname(0) == "rax" and dis.regname(15) == "r15" and dis.regname(16) == "xmm0")

local ARM64 = "\32\0\64\249\64\0\0\84\192\3\95\214"
ctx, out, dis = text("jit.dis_arm64", ARM64, 0x2000, { [0x200c] = "out" })
ctx:disass()
assert(table.concat(out) == "00002000  ldr x0, [x1]\n00002004  b.eq 0x200c\t->out\n00002008  ret\n", table.concat(out))
assert(dis.regname(0) == "x0" and dis.regname(31) == "sp" and dis.regname(32) == "d0")
print "ok"
