-- What explorer.mjs clicks through. </script><!-- & "quotes"
local module = require "module"
local sum = 0
local words = {}

-- A loop with two ways through it.
for i = 1, 20000 do
  if i % 3 == 0 then
    sum = sum + module.square(i)
  else
    sum = sum - i
  end
end

-- A type that changes all the time: an exit that is taken again and again.
for i = 1, 20000 do words[i % 8] = i % 2 == 0 and "even" or i end

-- Too long to be recorded.
for i = 1, 200 do
  local a = { i, i + 1, i + 2 } a[4] = a[1] * a[2] a[5] = a[3] - a[4] a[6] = a[1] + a[5] words[i] = a a[7] = #a + a[6] a[8] = { a[1], a[7], { i } } a[9] = tostring(i) .. a[7]
end
print(sum)
