-- LuLPeg: grammars, captures and substitutions.
package.path = "LuLPeg/?.lua;" .. package.path
package.loaded.jit = nil -- or LuLPeg wants the FFI
local lpeg = dofile("LuLPeg/lulpeg.lua")
local P, R, S, V, C, Ct, Cc, Cf, Cg, Cs = lpeg.P, lpeg.R, lpeg.S, lpeg.V, lpeg.C, lpeg.Ct, lpeg.Cc, lpeg.Cf, lpeg.Cg, lpeg.Cs
local space = S(" \t\n") ^ 0
local number = C(P("-") ^ -1 * R("09") ^ 1 * (P(".") * R("09") ^ 1) ^ -1) / tonumber * space
local function op(s) return C(S(s)) * space end
local function apply(a, o, b)
  if o == "+" then return a + b elseif o == "-" then return a - b elseif o == "*" then return a * b end
  return a / b
end
local expression = P {
  "E",
  E = Cf(V("T") * Cg(op("+-") * V("T")) ^ 0, apply),
  T = Cf(V("F") * Cg(op("*/") * V("F")) ^ 0, apply),
  F = number + "(" * space * V("E") * ")" * space,
}
for _, s in ipairs { "1+2*3", "(1 + 2) * 3 - 4 / 2", "2*(3*(4+5))-6", "1.5 * -2", "x" } do print(s, expression:match(s)) end
local sum = 0
for i = 1, 300 do sum = sum + expression:match("(" .. i .. " + 2) * 3 - " .. i .. " / (4 + " .. i % 7 .. ")") end
print(sum)
local field = '"' * Cs(((P(1) - '"') + P('""') / '"') ^ 0) * '"' + C((1 - S(',\n"')) ^ 0)
local record = Ct(field * ("," * field) ^ 0) * (P("\n") + -1)
print(table.concat(record:match('a,"b,c","say ""hi""",,d'), "|"))
print(Cs((P("cat") / "dog" + 1) ^ 0):match("concatenate the cat"))
local re_ok, re = pcall(function() return lpeg.re or require("lulpeg").re end)
if re_ok and re then print(re.match("hello world", "{[a-z]+} ' ' {[a-z]+}")) end
