-- Penlight: lists, maps, pretty printing, lexers, templates, XML, simple patterns, comprehensions.
local tree = "deb/usr/share/lua/5.1/"
package.path = tree .. "?.lua;" .. tree .. "?/init.lua;" .. package.path
local List, pretty, tablex, seq = require("pl.List"), require("pl.pretty"), require("pl.tablex"), require("pl.seq")
local stringx, lexer, template, sip = require("pl.stringx"), require("pl.lexer"), require("pl.template"), require("pl.sip")
local OrderedMap, Set, class = require("pl.OrderedMap"), require("pl.Set"), require("pl.class")
local l = List({ 5, 3, 9, 1 }):append(7):sort()
print(l, l:map(function(x) return x * x end), l:filter(function(x) return x > 3 end), l:reduce("+"), l:slice(2, 3), l:reverse())
print(pretty.write({ 1, 2, { 3, name = "x" } }, ""), (pretty.read("{ a = 1, b = { 2, 3 } }").b[2]))
print(pretty.write(tablex.deepcopy({ a = { b = { c = { 1, 2, 3 } } } })))
print(tablex.deepcompare({ 1, { 2 } }, { 1, { 2 } }), List(tablex.sort({ c = 1 })), seq.sum(seq.range(1, 100)), tablex.find({ 1, 2, 3 }, 3))
print(stringx.split("a b  c"), stringx.center("x", 9, "-"), stringx.strip("  y "), stringx.title and stringx.title("hello there world"))
local f = assert(io.open(tree .. "pl/lexer.lua"))
local source, kinds = f:read("*a"), {}
f:close()
for kind, value in lexer.lua(source) do kinds[kind] = (kinds[kind] or 0) + 1 end
print(pretty.write(OrderedMap(kinds) and tablex.pairmap(function(k, v) return k .. "=" .. v end, kinds):sort()))
print(template.substitute("# for i, v in ipairs(list) do\n$(i): $(v:upper())\n# end\n", { list = { "a", "b" }, ipairs = ipairs }))
local values = {}
print(sip.match("$v{name} = $d{value} ($r{rest})", "size = 42 (x y)", values), values.name, values.value, values.rest)
local s = Set({ 1, 2, 3 }) * Set({ 2, 3, 4 })
print(Set.len(s), s[2], s[1], Set({ "a" }) + Set({ "b" }) == Set({ "a", "b" }))
local Animal = class()
function Animal:_init(name) self.name = name end
function Animal:__tostring() return self.name .. ": " .. self:speak() end
local Dog = class(Animal)
function Dog:speak() return "bark" end
print(Dog("Rex"), Dog:class_of(Dog("x")), Animal:class_of(Dog("y")), pcall(tostring, Animal("z")))
local xml = require("pl.xml")
local doc = xml.parse("<a x='1'><b>text</b><b y='2'/><!-- no --><c>more &amp; more</c></a>")
print(doc, xml.tostring(doc, "", "  "), doc:child_with_name("c"):get_text())
local C = require("pl.comprehension").new()
print(List(C("x^2 for x=1,10 if x%2==0")()), List(C("{a,b} for a=1,2 for b=1,2")()):map(table.concat, ","))
local Date = package.loaded["pl.Date"] or require("pl.Date")
print(Date({ year = 2020, month = 2, day = 28 }):add({ day = 2 }):month(), require("pl.text").format_operator ~= nil)
print(require("pl.data").read("name,age\nann,3\nbob,5\n"):column_by_name and true, require("pl.permute").table({ 1, 2, 3 })[6][1])
