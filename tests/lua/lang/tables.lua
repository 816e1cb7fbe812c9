-- Tables: array and hash parts, growth, migration between them, borders, holes, odd keys.

-- Filling forwards, backwards, with gaps that close, and from the hash part.
local function check(t, n)
  assert(#t == n, #t)
  for i = 1, n do assert(t[i] == i, i) end
  assert(t[n + 1] == nil and t[0] == nil)
  return n
end
local t = {}
for i = 1, 100 do
  t[i] = i
  assert(#t == i)
end
print(check(t, 100))
t = {}
for i = 100, 1, -1 do t[i] = i end
print(check(t, 100))
t = {}
for i = 1, 99, 2 do t[i] = i end
for i = 2, 100, 2 do t[i] = i end
print(check(t, 100))
t = { [3] = 3, [2] = 2, [1] = 1, [4] = 4 }
print(check(t, 4))
t = { 1, 2, 3, [4] = 4, [5] = 5, [7] = 7 }
t[6] = 6
print(check(t, 7))

-- Emptying from the end, from the front, and refilling.
for i = 7, 1, -1 do
  t[i] = nil
  assert(#t == i - 1)
end
print(#t, next(t))
for i = 1, 1000 do t[i] = i end
for i = 1, 1000 do t[i] = nil end
print(next(t), t[500])
for i = 1, 10 do t[i] = i end
print(check(t, 10))

-- Constructors.
local c = { 10, 20, x = 1, 30, ["y z"] = 2, [-1] = "m", [1.5] = "h", [true] = "b", 40 }
print(c[1], c[2], c[3], c[4], c.x, c["y z"], c[-1], c[1.5], c[true], #c)
print(#{}, #{ nil }, #{ n = 1 }, #{ 1, 2, 3 }, #{ [1] = 1, [2] = 2 }, #{ 1, 2, nil }, #{ "a", { "b" } })
local big = {}
for i = 1, 300 do big[i] = "e" .. i end
local source = "return {" .. table.concat(big, "=1,") .. "=1}"
local many, count = assert(loadstring(source))(), 0
for k, v in pairs(many) do count = count + v end
print(count, many.e300, many.e301)
source = "return {" .. ("7,"):rep(500) .. "}"
print(#assert(loadstring(source))(), assert(loadstring(source))()[500])
local nested = {}
local cur = nested
for i = 1, 100 do
  cur.next = { depth = i }
  cur = cur.next
end
print(nested.next.next.next.depth, cur.depth)

-- Keys of every kind; float keys with whole values are the integers.
local k = {}
local fkey, tkey, ckey = function() end, {}, coroutine.create(print)
k[fkey], k[tkey], k[ckey], k[true], k[false], k[1], k["1"], k[0.5], k[-0.5] = 1, 2, 3, 4, 5, 6, 7, 8, 9
print(k[fkey], k[tkey], k[ckey], k[true], k[false], k[1.0], k["1"], k[1 / 2], k[-1 / 2], k[{}], k[nil])
k[2 ^ 53] = "big"
k[-2 ^ 31], k[2 ^ 31], k[2 ^ 31 - 1], k[-2 ^ 31 - 1] = "a", "b", "c", "d"
print(k[2 ^ 53], k[-2147483648], k[2147483648], k[2147483647], k[-2147483649], k[1e300], k[math.huge])
k[math.huge], k[-math.huge], k[1e300] = "inf", "-inf", "1e300"
print(k[math.huge], k[-math.huge], k[1e300], k[1 / 0])
k[0], k[-1] = "zero", "minus one"
print(k[-0], k[0 * -1], k[-1], #k)
for i = -5, 5 do k[i] = i * i end
print(k[-5], k[0], k[5], #k)

-- Sparse keys do not allocate what lies between.
local sparse = {}
for i = 0, 30 do sparse[2 ^ i] = i end
sparse[1e9], sparse[-1e9] = "far", "-far"
local sum = 0
for i = 0, 30 do sum = sum + sparse[2 ^ i] end
print(sum, sparse[1e9], sparse[-1e9], sparse[3])

-- nil and NaN as keys.
print(k[nil], k[0 / 0], rawget(k, nil), rawget(k, 0 / 0))
print(pcall(function() k[nil] = 1 end))
print(pcall(function() k[0 / 0] = 1 end))
print(pcall(rawset, k, nil, 1))
print(pcall(rawset, k, 0 / 0, 1))
print(pcall(function() return { [nil] = 1 } end))
k[nil == true] = "false key"
print(k[false])

-- Strings that look alike, long strings, empty strings.
local s = { [""] = 0, [" "] = 1, ["a"] = 2, ["a\0"] = 3, ["a\0b"] = 4, [("x"):rep(1000)] = 5 }
print(s[""], s[" "], s["a"], s["a\0"], s["a" .. "\0" .. "b"], s[("x"):rep(999) .. "x"], s["A"])

-- Deleting and inserting many different keys in one table.
local churn = {}
for round = 1, 20 do
  for i = 1, 200 do churn["k" .. i + round * 100] = i end
  for i = 1, 200, 2 do churn["k" .. i + round * 100] = nil end
end
local left = 0
for key, v in pairs(churn) do left = left + v end
print(left)
print("ok")
