-- Operators: precedence, associativity, short circuits, adjusting of results.

assert(2 + 3 * 4 == 14 and (2 + 3) * 4 == 20 and 2 * 3 % 4 == 2 and 7 - 2 - 1 == 4 and 8 / 4 / 2 == 1)
assert(2 ^ 3 ^ 2 == 512 and -2 ^ 2 == -4 and 2 ^ -1 == 0.5 and -2 ^ -2 == -0.25 and 2 ^ - - 2 == 4)
assert(not nil == true and not 1 == false and not (1 == 2) and not 1 == 2 == false)
assert(1 .. 2 .. 3 == "123" and "a" .. 1 + 2 == "a3" and 2 .. 3 * 2 == "26")
assert(1 < 2 == true and not (1 > 2 == true) and "a" < "b" == true)
assert((1 or 2 and 3) == 1 and ((nil or false) == false) and (false and nil) == false and (nil and false) == nil)
assert((1 and 2 or 3) == 2 and (nil and 2 or 3) == 3 and (false or nil) == nil)
assert(#"abc" + 1 == 4 and -#"abc" == -3 and #"ab" .. "c" == "2c" and not #"" == false)
assert(-"2" == -2 and - -"2" == 2 and "10" + 5 == 15 and "3" * "4" == 12 and "2" ^ "3" == 8 and "7" % "4" == 3)
assert(5 % 3 == 2 and -5 % 3 == 1 and 5 % -3 == -1 and -5 % -3 == -2)
assert(5.5 % 2 == 1.5 and -5.5 % 2 == 0.5 and 5.5 % -2 == -0.5)
local odd = 1 % math.huge
assert(odd ~= odd and 2 ^ 0.5 == math.sqrt(2) and 0 ^ 0 == 1)
assert(1 / 0 == math.huge and -1 / 0 == -math.huge and 1 % 0 ~= 1 % 0)

-- Comparison.
assert(1 == 1.0 and "1" ~= 1 and nil ~= false and 0 ~= nil and "" ~= nil)
assert("a" < "b" and "a" < "aa" and "Z" < "a" and "" < "a" and "a\0b" > "a\0a" and "a\0" > "a" and "a" <= "a")
assert(not ("b" < "a") and not ("a" < "a") and "a" >= "a" and "\200" > "\100")
local nan = 0 / 0
assert(nan ~= nan and not (nan == nan) and not (nan < 1) and not (nan > 1) and not (nan <= nan) and not (1 <= nan))
local x = nan
assert(not (x < x) and not (x >= x) and x ~= x)
assert(math.huge > 1e308 and -math.huge < -1e308 and math.huge == math.huge)

-- Evaluation happens once and in order.
local log = {}
local function see(v)
  log[#log + 1] = tostring(v)
  return v
end
local _ = see(1) + see(2) * see(3)
_ = see(false) and see("never")
_ = see(nil) or see("always")
_ = see("x") .. see("y") .. see("z")
_ = { see("k1"), [see("k2")] = see("v2"), see("k3") }
_ = see(10) < see(20)
_ = see(10) > see(20)
_ = see(1) == see(2)
print(table.concat(log, " "))

-- Calls in the middle give one value, at the end all of them; parentheses cut to one.
local function three() return 1, 2, 3 end
local function none() end
local function count(...) return select("#", ...) end
print(three(), three())
print((three()))
print(count(none()), count((none())), count(three(), none()), count(none(), three()), count({ three(), three() }))
print(#{ three(), three() }, #{ three(), (three()) }, #{ (three()) })
local t = { three(), n = three(), three() }
print(t[1], t[2], t[3], t[4], t.n)

-- and/or as values, in chains and with calls.
local function pick(c, a, b) return c and a or b end
print(pick(true, 1, 2), pick(false, 1, 2), pick(true, nil, 2), pick(nil, 1, false))
local a, b, c = nil, false, 0
print(a or b or c, a and b and c, (a or c) and (b or c), not a and not b and c)
if a == nil and (b == false or error("no")) then print("short") end
while a do error("no") end
print((a or "default"):upper(), #(a or { 1, 2 }))
print(1 < 2 and 2 < 3, 1 < 2 and "yes" or "no", not (1 < 2) and "yes" or "no", (1 < 2) == (2 < 3))
print(nil == false, "a" == "a", 1 ~= 1, (1 ~= 2) and nil, nil and 1 == 1)
print("ok")
