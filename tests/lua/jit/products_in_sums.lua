-- Products that are terms of sums: overflow, zeros with a sign, and sums that are integers though a product is not.
local function show(x) return x == 0 and (1 / x < 0 and "-0" or "0") or ("%.17g"):format(x) end
local values = { 0, 1, -1, 2, -3, 7, 46341, -46341, 65536, -65536, 2 ^ 31 - 1, -2 ^ 31, 1000003, -999983 }
local forms = {
  add = function(a, b, c) return c + a * b end,
  left = function(a, b, c) return a * b + c end,
  less = function(a, b, c) return c - a * b end,
  minuend = function(a, b, c) return a * b - c end,
  constant = function(a, b, c) return a * 31 + c end,
  negative = function(a, b, c) return c - a * -5 end,
  two = function(a, b, c) return a * b + c * a end,
  determinant = function(a, b, c) return a * b - c * c end,
  chain = function(a, b, c) return a * b + c - b + a * c - a end,
  nested = function(a, b, c) return (a * b + c) + (b - c * a) end,
  square = function(a, b, c) return a * a + b end,
  product = function(a, b, c) return (a * b + c) * (c - b * a) end,
}
local names = {}
for name in pairs(forms) do names[#names + 1] = name end
table.sort(names)

-- Each form, first with small integers, so that the trace computes with integers, then with all of them.
for _, name in ipairs(names) do
  local form = forms[name]
  local code = string.dump(form)
  local f = loadstring(code)
  local sum = 0
  for i = 1, 200 do sum = sum + f(i % 7 - 3, i % 5 - 2, i % 3 - 1) end
  local h = 0
  for _, a in ipairs(values) do
    for _, b in ipairs(values) do
      for _, c in ipairs(values) do
        local text = show(f(a, b, c))
        for k = 1, #text do h = (h * 31 + text:byte(k)) % 1000000007 end
      end
    end
  end
  print(name, sum, h, show(f(0, -1, 0)), show(f(-1, 0, 0)), show(f(65536, 65536, -2 ^ 31)))
end

-- In loops: what leaves the trace leaves it before the product.
local function dot(a, b)
  local s = 0
  for i = 1, #a do s = s + a[i] * b[i] end
  return s
end
local a, b = {}, {}
for i = 1, 100 do a[i], b[i] = i % 9 - 4, i % 11 - 5 end
for i = 1, 30 do dot(a, b) end
print(dot(a, b))
a[60], b[60] = 2 ^ 31 - 1, 2
print(show(dot(a, b)))
a[60], b[60] = 0, -7
for i = 1, 100 do if i ~= 60 then a[i] = 0 end end
print(show(dot(a, b)))
local function hash(text)
  local h = 7
  for i = 1, #text do h = (h * 31 + text:byte(i)) % 16777213 end
  return h
end
for i = 1, 50 do hash("some text " .. i) end
print(hash("some other text"))
local function rotate(n, x, y)
  for i = 1, n do x, y = x * 3 - y * 4, x * 4 + y * 3 end
  return x, y
end
for i = 1, 60 do rotate(3, i, 1) end
print(rotate(20, 1, 2))
