-- Tables that nobody needs are made all the same where the program watches the memory in use.
collectgarbage()
collectgarbage("stop")
local before = gcinfo()
repeat local a = {} until gcinfo() > before + 500
local from = collectgarbage("count")
local n = 0
repeat
  local t = { n }
  n = n + 1
until collectgarbage("count") > from + 200
collectgarbage("restart")
print(n < 20000 and "seen" or n)
