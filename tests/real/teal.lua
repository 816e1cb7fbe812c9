-- The Teal compiler, some 20,000 lines of Lua made from Teal, type-checks and compiles programs, and its own source.
package.path = "tl/?.lua;" .. package.path
local tl = require("tl")
local function compile(name, text)
  local result, err = tl.process_string(text, nil, nil, name)
  if not result then return print(name, err) end
  for _, e in ipairs(result.syntax_errors or {}) do print(name, e.y, e.x, e.msg) end
  for _, e in ipairs(result.type_errors or {}) do print(name, e.y, e.x, e.msg) end
  for _, e in ipairs(result.warnings or {}) do print(name, "warning", e.y, e.x, e.msg) end
  return result.ast and tl.generate(result.ast, "5.1")
end
print(compile("shapes", [[
local record Shape  name: string  area: function(Shape): number  end
local interface Named  title: string end
local enum Color "red" "green" end
local function make<T>(list: {T}, f: function(T): boolean): {T}
  local r: {T} = {}
  for _, v in ipairs(list) do if f(v) then table.insert(r, v) end end
  return r
end
local c: Color = "blue"
local n: integer = 7 // 2
local s: Shape = { name = "x", area = 3 }
print(make({1, 2, 3}, function(x: number): boolean return x > 1 end)[1], n | 3, c, s.name)
local x = undefined_thing + 1
]]))
for _, name in ipairs { "tl/tl.tl", "tl/teal/lexer.tl", "tl/teal/facts.tl" } do
  local f = io.open(name)
  local text = f and f:read("*a")
  if f then f:close() end
  local code = text and compile(name, text)
  print(name, text and #text, code and #code, code and loadstring(code) ~= nil)
  if code then print(code:sub(-3000)) end
end
