-- Numbers that are integers inside must behave as doubles outside: overflow, zeros, mixed comparison, keys.

local MAX, MIN = 2147483647, -2147483648
local function id(...) return ... end

-- Leaving 32 bits.
print(MAX + 1, MIN - 1, MAX - -1, MIN + -1, MAX + MAX, MIN + MIN, MAX - MIN, MIN - MAX)
print(MAX * 2, MIN * 2, MAX * MAX, MIN * MIN, MAX * MIN, MIN * -1, 65536 * 65536, 46341 * 46341, -46341 * 46341)
print(-MIN, -MAX, -(-MIN), MAX + 1 - 1, MIN - 1 + 1, MAX * 1, MIN * 1)
local max, min = id(MAX, MIN)
print(max + 1, min - 1, max * 2, min * -1, -min, -max, max - min, max + max, (max + 1) - 1 == max)
local x = max
x = x + 1
x = x - 1
print(x, x == max, x + 0 == MAX, 0x7fffffff + 1 == 0x80000000)
print(string.format("%d %d %d", max + 1, min - 1, -min))
local big = 1
for _ = 1, 70 do big = big * 2 end
print(big, big == 2 ^ 70, big + 1 == big)

-- Zero and minus zero.
local zero = id(0)
print(zero, -zero, 1 / zero, 1 / -zero, zero * -1, 1 / (zero * -1), zero - 0, 0 - zero, 1 / (0 - zero), zero + -zero)
print(-zero == zero, 0 / -5, 1 / (0 / -5), -5 % 5, 1 / (-5 % 5), 0 % -5, 1 / (0 % -5), id(-5) * 0, 1 / (id(-5) * 0))
print(math.floor(-0.5), 1 / math.floor(-0.0), math.abs(-zero), 1 / math.abs(-zero), math.ceil(-0.5), 1 / math.ceil(-0.5))
print(math.max(-0, 0) == 0, math.min(0, -0) == 0, (-zero) ^ 3, 1 / (-zero) ^ 3, tostring(-zero), -zero .. "")
local minus = -zero
minus = minus + 0
print(minus, 1 / minus)
local t = {}
t[0] = "zero"
print(t[-zero], t[zero * -1], rawequal(zero, -zero))
t[-zero] = "minus"
print(t[0], next(t))

-- Remainder.
for _, a in ipairs { 7, -7, 0, MAX, MIN, 7.5, -7.5 } do
  for _, b in ipairs { 3, -3, 1, -1, MAX, MIN, 0.5, -2.5 } do io.write(a % b, " ") end
  print()
end
print(id(5) % 0 ~= id(5) % 0, id(MIN) % -1, 1 / (id(MIN) % -1))

-- Division and powers give integers where they can.
print(6 / 2, 7 / 2, -6 / 3, MIN / -1, MAX / 1, 0 / 1, 1e15 / 1e5, 6 / 4 * 2)
print(2 ^ 31, 2 ^ 32, 2 ^ 0, (-2) ^ 31, (-2) ^ 3, 10 ^ 2, 10 ^ -2, (-8) ^ (1 / 3) ~= (-8) ^ (1 / 3), 4 ^ 0.5)

-- Comparison of mixed kinds.
print(1 == 1.0, 1 < 1.5, 1.5 < 2, max < max + 0.5, max + 0.5 < max + 1, min > min - 0.5, 2 ^ 53 == 2 ^ 53 + 1)
print(id(3) == id(3.0), id(3) <= id(3.0), id(3) < id(3.0), id(3) >= 2.9999, id(-1) < id(-0.5), max == 2147483647.0)
print(id(0.5) + id(0.5) == id(1), id(2.5) * 2 == 5, ({ [5] = "five" })[id(2.5) * 2], id(10) / 4 == 2.5)

-- Formatting does not tell how a number is kept.
print(id(2.5) * 2, id(1e3), 3.0, -0.0 + 5, 100000000000000, 1e14 + 1, id(0.1) * 10, 7 - 0.5 - 0.5)
print(string.format("%s %d %g %x", id(1.5) * 2, id(1.5) * 2, id(1.5) * 2, id(1.5) * 10))
print(#tostring(id(1.5) * 2), ("x"):rep(id(1.5) * 2), ("abc"):sub(id(0.5) * 4), ({ "a", "b", "c" })[id(1.5) * 2])
print(select(id(1.5) * 2, "a", "b", "c"), math.floor(3.7) == 3, math.floor(2 ^ 40 + 0.5) == 2 ^ 40)
local keys = {}
for i = 1, 5 do keys[i / 1] = i end
for i = 0.5, 2.5, 0.5 do keys[i * 2] = (keys[i * 2] or 0) + 10 end
print(#keys, keys[1], keys[5], keys[3.0], keys[2 ^ 1])
print("ok")
