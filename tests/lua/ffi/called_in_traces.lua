-- Functions whose results or effects must not come twice, in loops that are compiled.
local ffi = require "ffi"
ffi.cdef [[
  bool isatty(int); int close(int); int toupper(int); double strtod(const char *, char **);
  int atoi(const char *); char *getenv(const char *); int setenv(const char *, const char *, int);
]]
local C = ffi.C

-- A function that is declared to return a boolean, with an effect that is counted: both results, by turns and after a while.
ffi.cdef [[ bool counted(void *) __asm__("sem_trywait"); int sem_init(void *, int, unsigned); int sem_getvalue(void *, int *); ]]
local sem, left = ffi.new("uint64_t[8]"), ffi.new("int[1]")
assert(C.sem_init(sem, 0, 150) == 0)
local taken, refused = 0, 0
for i = 1, 200 do
  -- 0 as long as there is something to take.
  if C.counted(sem) then refused = refused + 1 else taken = taken + 1 end
end
C.sem_getvalue(sem, left)
print(taken, refused, left[0])
assert(C.sem_init(sem, 0, 100) == 0)
local failed, results = false, {}
for i = 1, 200 do
  failed = C.counted(sem)
  results[i % 3] = failed
  C.counted(sem)
end
C.sem_getvalue(sem, left)
print(failed, results[0], results[1], results[2], left[0])
-- As an argument, as the last of a list, and in tail position.
local function tail(fd) return C.isatty(fd) end
local n = 0
for i = 1, 200 do
  n = n + select("#", C.isatty(-1), C.isatty(-1)) + (tail(-1) and 100 or 1)
  if not C.isatty(-1) and not C.isatty(-2) then n = n + 1 end
end
print(n)

-- The error number: read, set, kept by what runs between two instructions.
n = 0
for i = 1, 200 do
  ffi.errno(0)
  C.close(-1)
  local t = { i, tostring(i) }
  if i % 20 == 0 then collectgarbage() end
  n = n + ffi.errno() + #t
  if ffi.errno(i) ~= 9 then n = n + 1000 end
  if i > 150 then n = n + ffi.errno() end
end
print(n, ffi.errno())
print(pcall(function() for i = 1, 200 do ffi.errno(i < 150 and 1 or "text") end end))

-- Loops over cdata by their metamethods; text by theirs.
local vec
vec = ffi.metatype("struct { int n; int v[4]; }", {
  __pairs = function(v)
    return function(v, i)
      i = i + 1
      if i < v.n then return i, v.v[i] end
    end, v, -1
  end,
  __ipairs = function(v) return next, { v.n, v.v[0] } end,
  __tostring = function(v) return "vec of " .. v.n end,
})
local v, sum, texts = vec(3, { 5, 6, 7 }), 0, 0
local p = ffi.new("int[1]")
for i = 1, 100 do
  for k, x in pairs(v) do sum = sum + k * x end
  for k, x in ipairs(v) do sum = sum + k * x end
  texts = texts + #tostring(v) + #tostring(vec(i))
  v.n = i % 3 + 1
end
print(sum, texts)
print(select(2, pcall(function() for i = 1, 100 do pairs(i < 80 and v or p) end end)))
