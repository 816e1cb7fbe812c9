-- Loop bodies with very many live values, long expressions, many calls and deep inlining.

-- Forty live integers and floats.
local function forty(n)
  local a1, a2, a3, a4, a5, a6, a7, a8, a9, a10 = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  local b1, b2, b3, b4, b5, b6, b7, b8, b9, b10 = 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5
  local c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 = 11, 12, 13, 14, 15, 16, 17, 18, 19, 20
  local d1, d2, d3, d4, d5, d6, d7, d8, d9, d10 = 0, 1, 0, 1, 0, 1, 0, 1, 0, 1
  for i = 1, n do
    a1, a2, a3, a4, a5, a6, a7, a8, a9, a10 = a2, a3, a4, a5, a6, a7, a8, a9, a10, (a1 + i) % 101
    b1, b2, b3, b4, b5, b6, b7, b8, b9, b10 = b10, b1, b2, b3, b4, b5, b6, b7, b8, b9 * 0.5 + a1
    c1, c3, c5, c7, c9 = c1 + a1, c3 + a3, c5 + a5, c7 + a7, c9 + a9
    c2, c4, c6, c8, c10 = (c2 * 3 + c1) % 1009, (c4 * 3 + c3) % 1009, (c6 * 3 + c5) % 1009, (c8 * 3 + c7) % 1009, (c10 * 3 + c9) % 1009
    d1, d2, d3, d4, d5 = d1 + b1, d2 + b2, d3 + b3, d4 + b4, d5 + b5
    d6, d7, d8, d9, d10 = d6 - b6, d7 - b7, d8 - b8, d9 - b9, d10 - b10
    if i % 13 == 0 then a1, b1, c1, d1 = d10 % 17, c10, b10, a10 end
  end
  return string.format("%d %d %.4f %.4f %.4f %d %.4f %.4f", a1 + a2 + a3 + a4 + a5, a6 + a7 + a8 + a9 + a10, b1 + b2 + b3, b4 + b5 + b6 + b7, b8 + b9 + b10,
    c2 + c4 + c6 + c8 + c10, c1 + c3 + c5 + c7 + c9, d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8 + d9 + d10)
end
for _, n in ipairs { 1, 50, 60, 500 } do print(n, forty(n)) end

-- Values that are only needed at a rare exit.
local function rare(n)
  local log = {}
  for i = 1, n do
    local p, q, r, s = i * 2, i + 0.5, i .. "", -i
    local u, v, w, x = p + 1, q * 2, r .. "w", s - 1
    local y, z = { u }, function() return v end
    if i % 111 == 0 then log[#log + 1] = table.concat({ p, q, r, s, u, v, w, x, y[1], z() }, ",") end
  end
  return table.concat(log, " ")
end
print(rare(400))

-- One very long expression of integers, floats, comparisons and calls.
local function long(x, y, z)
  return ((x + y) * (y + z) - (z + x) * (x - y) + (x * y - z * z) * (x + 1) - (y + 2) * (z - 3)) % 1009
    + (((x - 1) * (y - 2) + (z - 3)) % 17) * (((x + z) % 5) + ((y + x) % 7) * ((z + y) % 3))
    - ((x > y and x or y) + (y > z and y or z) + (z > x and z or x)) + (x == y and 100 or y == z and 200 or x == z and 300 or 400)
end
local total = 0
for i = 1, 1000 do total = (total + long(i % 10, i % 7, i % 3) + long(i / 2, i, 3.5)) % 1000003 end
print(total)

-- Many small functions, ten deep.
local function f1(x) return x + 1 end
local function f2(x) return f1(x) * 2 end
local function f3(x) return f2(x) - f1(x) end
local function f4(x) return f3(x) % 101 + f1(x) end
local function f5(x) return f4(x) > 50 and f3(x) or f2(x) end
local function f6(x) local a, b = f5(x), f4(x + 1) return a + b end
local function f7(x) local t = { f6(x), f1(x) } return t[1] - t[2] end
local function f8(x) return f7(x) + (x % 2 == 0 and f7(x + 1) or f1(x)) end
local function f9(x, ...) return f8(x) + select("#", ...) end
local function f10(x) return f9(x, x, x) % 10007 end
local v = 1
for i = 1, 1500 do v = (f10(v) + i) % 10007 end
print(v)

-- Unrolled table code: a four by four matrix product and a sixteen step shuffle.
local function mul(p, q)
  return {
    p[1] * q[1] + p[2] * q[5] + p[3] * q[9] + p[4] * q[13], p[1] * q[2] + p[2] * q[6] + p[3] * q[10] + p[4] * q[14],
    p[1] * q[3] + p[2] * q[7] + p[3] * q[11] + p[4] * q[15], p[1] * q[4] + p[2] * q[8] + p[3] * q[12] + p[4] * q[16],
    p[5] * q[1] + p[6] * q[5] + p[7] * q[9] + p[8] * q[13], p[5] * q[2] + p[6] * q[6] + p[7] * q[10] + p[8] * q[14],
    p[5] * q[3] + p[6] * q[7] + p[7] * q[11] + p[8] * q[15], p[5] * q[4] + p[6] * q[8] + p[7] * q[12] + p[8] * q[16],
    p[9] * q[1] + p[10] * q[5] + p[11] * q[9] + p[12] * q[13], p[9] * q[2] + p[10] * q[6] + p[11] * q[10] + p[12] * q[14],
    p[9] * q[3] + p[10] * q[7] + p[11] * q[11] + p[12] * q[15], p[9] * q[4] + p[10] * q[8] + p[11] * q[12] + p[12] * q[16],
    p[13] * q[1] + p[14] * q[5] + p[15] * q[9] + p[16] * q[13], p[13] * q[2] + p[14] * q[6] + p[15] * q[10] + p[16] * q[14],
    p[13] * q[3] + p[14] * q[7] + p[15] * q[11] + p[16] * q[15], p[13] * q[4] + p[14] * q[8] + p[15] * q[12] + p[16] * q[16],
  }
end
local id = { 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.5, 0, 0, 0.25 }
local acc = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 }
for _ = 1, 300 do acc = mul(acc, id) end
print(string.format("%.3e %.3e %.3e", acc[1], acc[6], acc[16]))
print("ok")
