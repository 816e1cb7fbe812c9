-- Modulo of integers in either form, of doubles, and of what is no number yet.
for _, a in ipairs{-7,-4,-1,-0.0,0,1,5,7.5,-7.5,2^31,-2^31,2^40,1e300,1/0,-1/0,0/0} do
  for _, b in ipairs{1,2,-2,3,-3,4,0,-0.0,0.5,-2^31,2^31,1/0,-1/0} do io.write(string.format("%.14g ", a % b), (1/(a%b) < 0) and "- " or "")
  end
  print()
end
local x = 2.0 for _, m in ipairs{2,3,"4"} do print(x % m, m % x, (x+5) % 2, (x+0.5) % 2, "7" % x) end
