-- Lua functions that C calls.
local ffi = require "ffi"
local C = ffi.C
ffi.cdef [[
void qsort(void *base, size_t n, size_t size, int (*compare)(const int *, const int *));
typedef int (*binary)(int, int);
]]
local function sort(compare)
  local a = ffi.new("int[8]", 5, 3, 9, 1, 7, 2, 8, 0)
  C.qsort(a, 8, 4, compare)
  local t = {}
  for i = 0, 7 do t[#t + 1] = a[i] end
  return table.concat(t, " ")
end
-- Converted at the call, once for each: the callback stays.
print(sort(function(x, y) return x[0] - y[0] end))
local down = ffi.cast("int (*)(const int *, const int *)", function(x, y) return y[0] - x[0] end)
for _ = 1, 100 do assert(sort(down) == "9 8 7 5 3 2 1 0") end

-- Errors go through the C function.
down:set(function() error("in a callback") end)
print(pcall(sort, down))
down:set(function() error({}) end)
for _ = 1, 50 do assert(type(select(2, pcall(sort, down))) == "table") end
down:set(function() return "x" end)
print(pcall(sort, down))
down:set(function() coroutine.yield() end)
print(coroutine.wrap(function() return pcall(sort, down) end)())

-- Nested, and in coroutines.
local depth = 0
down:set(function(x, y)
  if depth == 0 then
    depth = 1
    assert(sort(down) == "9 8 7 5 3 2 1 0")
    assert(coroutine.wrap(function() return sort(down) end)() == "9 8 7 5 3 2 1 0")
    depth = 0
  end
  return y[0] - x[0]
end)
print(sort(down), coroutine.wrap(function() coroutine.yield(sort(down)) end)())
down:free()

-- Types of arguments and results.
local kinds = {
  { "bool (*)(bool, char)", function(b, c) return not b and c == 65 end, { false, 65 } },
  { "double (*)(float, double)", function(x, y) return x + y end, { 0.5, 0.25 } },
  { "float (*)(float)", function(x) return x / 2 end, { 0.5 } },
  { "int64_t (*)(uint64_t, int8_t)", function(x, y) return -x + y end, { 2ULL, -1 } },
  { "const char *(*)(const char *)", function(s) return s + 1 end, { "abc" } },
  { "uint16_t (*)(int)", function(x) return x end, { -1 } },
  { "int8_t (*)(int)", function(x) return x end, { 255 } },
  { "void (*)(void)", function() return 1 end, {} },
  { "enum { A, B } (*)(int)", function(x) return "B" end, { 1 } },
  { "int (*)(int, int, int, int, int, int, int, int, int, double)", function(...) return (select("#", ...)) + select(9, ...) end,
    { 1, 2, 3, 4, 5, 6, 7, 8, 9, 0.5 } },
}
for _, k in ipairs(kinds) do
  local f = ffi.cast(k[1], k[2])
  for _ = 1, 60 do f(unpack(k[3])) end
  local result = f(unpack(k[3]))
  print(type(result) == "cdata" and tonumber(result) or result and ffi.istype("const char *", result) and ffi.string(result) or result)
  f:free()
end

-- Not every function can be one.
print(pcall(ffi.cast, "int (*)(int, ...)", print)) print(pcall(ffi.cast, "long double (*)(void)", print))
ffi.cdef "struct callback_result { int x; };" print(pcall(ffi.cast, "struct callback_result (*)(void)", print))
print(pcall(ffi.cast, "int *", print))
local f = ffi.cast("binary", math.max)
print(f(3, 4)) f:free()
print(pcall(f, 1, 2)) print(pcall(f.free, f)) print(pcall(f.set, f, print)) print(pcall(f.set, ffi.cast("binary", nil), print))
print(pcall(function() return f.other end))

-- There are not so many at a time, but as many as one likes one after the other.
local many = {}
local _, message = pcall(function() while true do many[#many + 1] = ffi.cast("binary", function(x, y) return x * y end) end end)
print(message:match("too many callbacks"), #many > 500)
for i, cb in ipairs(many) do assert(cb(i, 2) == 2 * i) cb:free() end
for i = 1, 5000 do
  local cb = ffi.cast("binary", function(x, y) return x + y + i end)
  if i % 100 == 0 then assert(cb(1, 2) == 3 + i) end
  cb:free()
end
