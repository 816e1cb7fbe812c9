-- A sum or product that is an int is its own value modulo 2^32: it is checked also where nothing else needs it to be one.
jit.opt.start("hotloop=56", "hotexit=10")
local bit = require "bit"
local cases = {
  function(x) return x == bit.tobit(x) end,
  function(x) return bit.band(x, -1) == x end,
  function(x) return bit.bor(x, 0) == x end,
  function(x) return bit.bnot(bit.bnot(x)) == x end,
  function(x) return bit.bxor(x, 5, 5) == x end,
  function(x) return bit.rshift(x, 0) / 3 end,
  function(x) return bit.tobit(x) + 0.5 end,
  function(x) return math.sqrt(math.abs(bit.tobit(x))) end,
  function(x) return math.max(x, 0) == bit.tobit(math.max(x, 0)) end,
  function(x) return math.abs(x) == bit.tobit(math.abs(x)) end,
  function(x) return math.abs(x) + 0.5 end,
}
local numbers = {
  function(i) return i * 4000000 end,
  function(i) return i * 3000000 + i * 2000000 end,
  function(i) return -i * 4000000 end,
  function(i) return 2147483447 + i end,
  function(i) return -2147483448 - i end,
}
for n, number in ipairs(numbers) do
  for c, case in ipairs(cases) do
    -- Each loop is a function of its own.
    local count = loadstring [[
      local number, case = ...
      local n, sum = 0, 0
      for i = 1, 1000 do
        local r = case(number(i))
        if r == true then n = n + 1 elseif r then sum = sum + r end
      end
      return n, sum
    ]]
    local trues, sum = count(number, case)
    print(n, c, trues, ("%.10g"):format(sum))
  end
end
