-- A program whose dump is stored: a loop with a branch, a call of a builtin, and something that is not compiled.
local t, s = {}, 0
for i = 1, 60 do
  t[i] = { n = i * 2 }
  if i > 45 then s = s + t[i].n / 4 end
  if i % 2 == 0 then s = s + #("x"):rep(3) end
end
for i = 1, 40 do
  local ok = pcall(error, i)
  if ok then s = 0 end
end
print(s)
