-- Tokens: escapes, long brackets, comments, line endings, soft keywords.

-- Escapes in quoted strings.
assert("\a\b\f\n\r\t\v" == string.char(7, 8, 12, 10, 13, 9, 11))
assert("\\\"\'" == [[\"']])
assert('\65\066\10\0' == "AB\n\0")
assert("\1234" == "{4")
assert("\x41\x7a\xFF" == "Az\255")
assert("\u{41}\u{e9}\u{20ac}\u{1F600}" == "A\195\169\226\130\172\240\159\152\128")
assert("a\z
        b\z   c" == "abc")
assert("one\
two" == "one\ntwo")
assert('it\'s' == "it's" and "say \"hi\"" == 'say "hi"')
assert(#"\0\0\0" == 3)

-- Long strings: the first line end is dropped, escapes are not, levels nest.
assert([[
first]] == "first")
assert([[

second]] == "\nsecond")
assert([==[a]]b]=]c]==] == "a]]b]=]c")
assert([[\n]] == "\\n")
assert([[[x]] == "[x")
assert([=[]]]=] == "]]")
assert(#[[
]] == 0)

-- Line ends in long strings become one newline each.
local f = assert(loadstring("return [[a\r\nb\rc\n\rd\ne]]"))
print((string.format("%q", f()):gsub("\\\n", "\\n")))
f = assert(loadstring("return 'a\\\r\nb'"))
assert(f() == "a\nb")

-- Comments.
--[[ a long
comment ]] assert(true)
--[==[ with ]] inside
]==] assert(true)
--[ only a short one
--[=a short one too
assert(--[[in the middle]] true)
assert(loadstring("--just a comment"))
assert(loadstring("--[[unclosed") == nil)
assert(loadstring("#!shebang line\nreturn 5")() == 5)
assert(loadstring("\239\187\191return 6")() == 6)

-- goto is only a keyword where a goto statement can be.
local goto_ = { ["goto"] = 3 }
assert(goto_["goto"] == 3 and loadstring("local goto = 4 return goto")() == 4)

-- Bytes above 127 may be in names.
assert(loadstring("local caf\195\169 = 7 return caf\195\169")() == 7)

-- Names, keywords as prefixes, and adjacency.
local andy, nota, _end, _1, a1b2 = 1, 2, 3, 4, 5
assert(andy + nota + _end + _1 + a1b2 == 15)
assert(#"x".."y" == "1y")
local t = {[1]=1;["a b"]=2,3;x=4,}
assert(t[1] == 3 and t["a b"] == 2 and t.x == 4)
assert(1 ..2 == "12")
local long = {[ [[key]] ]=1, [ [=[k]=] ]=2}
assert(long.key == 1 and long.k == 2)

-- What the lexer refuses.
for _, source in ipairs {
  "x = '\\q'", "x = '\\400'", "x = '\\xg1'", "x = '\\u{110000}'", "x = '\\u{d800}'", "x = '\\u41'",
  "x = 'abc", "x = 'abc\ndef'", "x = [[abc", "x = [=abc", "x = 3x", "x = 0x", "x = 1e", "x = 1..2", "x = 0b12",
  "x = @", "x = 'a' 'b'", "--[[ no end", "x = \"\\", "x = 5 $ 3", "x = \1",
} do
  local ok, message = loadstring(source, "=s")
  print(ok, message)
end
print("ok")
