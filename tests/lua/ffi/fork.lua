-- After a fork each process compiles into memory of its own, and goes on to run what was compiled before.
local ffi = require "ffi"
ffi.cdef [[
  int fork(void);
  int waitpid(int pid, int *status, int options);
  void _exit(int status);
]]
local old = {}
local function make(k)
  return assert(load(("local s = 0 for i = 1, 100 do s = s + i * %d end return s"):format(k)))
end
for k = 1, 20 do
  old[k] = make(k)
  for i = 1, 3 do assert(old[k]() == 5050 * k) end
end
-- The same functions, and others of different sizes in the two processes.
local function go_on(step)
  for k = 1, 200 do
    local f = make(k * step)
    for i = 1, 3 do if f() ~= 5050 * k * step then return false end end
    if old[k % 20 + 1]() ~= 5050 * (k % 20 + 1) then return false end
  end
  return true
end
local pid = ffi.C.fork()
if pid == 0 then ffi.C._exit(go_on(1000) and 7 or 1) end
local mine = go_on(3)
local status = ffi.new "int[1]"
assert(ffi.C.waitpid(pid, status, 0) == pid)
print(mine, status[0])
-- A child that has ended has left everything as it was.
print(go_on(5))
