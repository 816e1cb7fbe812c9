-- dynarray: an array that grows by realloc.
-- Stresses: pointers in structs, calls of the C library, methods of types.
-- small: 3
local n = tonumber(arg and arg[1]) or 800
local ffi = require("ffi")
ffi.cdef[[
  void *realloc(void *p, size_t size);
  void free(void *p);
  typedef struct { int32_t *data; size_t len, cap; } int_array;
]]
local C = ffi.C
local array = ffi.metatype("int_array", {
  __index = {
    push = function(a, v)
      if a.len == a.cap then
        local cap = a.cap == 0 and 8 or a.cap * 2
        a.data = ffi.cast("int32_t *", C.realloc(a.data, cap * 4))
        a.cap = cap
      end
      a.data[a.len] = v
      a.len = a.len + 1
    end,
    pop = function(a)
      a.len = a.len - 1
      return a.data[a.len]
    end,
    sum = function(a)
      local s = 0
      for i = 0, tonumber(a.len) - 1 do s = s + a.data[i] end
      return s
    end,
  },
  __len = function(a) return tonumber(a.len) end,
  __gc = function(a) C.free(a.data) end,
})
local total = 0
for round = 1, n do
  local a = array()
  for i = 1, 100000 do a:push(i % 1000 + round) end
  for _ = 1, 50000 do total = total + a:pop() end
  total = total + a:sum() + #a
end
print(total)
