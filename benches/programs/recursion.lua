-- recursion: Fibonacci, Ackermann, Takeuchi and mutual recursion by the book.
-- Stresses: calls and returns of small functions, deep stacks, arithmetic on arguments.
-- small: 12
local n = tonumber(arg and arg[1]) or 38

local function fib(k)
  if k < 2 then return k end
  return fib(k - 1) + fib(k - 2)
end

local function ack(m, k)
  if m == 0 then return k + 1 end
  if k == 0 then return ack(m - 1, 1) end
  return ack(m - 1, ack(m, k - 1))
end

local function tak(x, y, z)
  if y >= x then return z end
  return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))
end

local odd
local function even(k)
  if k == 0 then return true end
  return odd(k - 1)
end
function odd(k)
  if k == 0 then return false end
  return even(k - 1)
end

-- Ways to pay `amount` with the first `kinds` coins.
local COINS = { 1, 2, 5, 10, 20, 50, 100 }
local function change(amount, kinds)
  if amount == 0 then return 1 end
  if amount < 0 or kinds == 0 then return 0 end
  return change(amount, kinds - 1) + change(amount - COINS[kinds], kinds)
end

print("fib", n, fib(n))
print("ack", ack(2, n * 4), ack(3, math.floor(n / 4)))
print("tak", tak(math.floor(n * 0.7), math.floor(n * 0.4), math.floor(n * 0.15)))
print("even", even(n * 10000), odd(n * 10000 + 1))
print("change", change(n * 7, #COINS))
