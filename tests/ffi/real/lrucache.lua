-- lua-resty-lrucache, both of its implementations, with what it needs of nginx: the time.
package.path = "./lib/?.lua;" .. package.path
local now = 0
ngx = { now = function() return now end, config = { ngx_lua_version = 10024, subsystem = "http" } }
local passed = 0
local function check(what, ok)
  if not ok then error(what, 2) end
  passed = passed + 1
end
for _, name in ipairs { "resty.lrucache", "resty.lrucache.pureffi" } do
  local cache = assert(require(name).new(100))
  for i = 1, 300 do cache:set(i, { i }, i % 3 == 0 and 5 or nil) end
  for i = 1, 200 do check(name, cache:get(i) == nil) end
  for i = 201, 300 do check(name, cache:get(i)[1] == i) end
  now = now + 10
  for i = 201, 300 do
    local value, stale = cache:get(i)
    check(name, i % 3 == 0 and value == nil and stale[1] == i or i % 3 ~= 0 and value[1] == i)
  end
  cache:set("key", "value")
  check(name, cache:get("key") == "value")
  cache:delete("key")
  check(name, cache:get("key") == nil)
  cache:flush_all()
  check(name, cache:get(300) == nil)
  local seed = 7
  for i = 1, 20000 do
    seed = (seed * 1103515245 + 12345) % 2147483648
    local key = seed % 150
    local value = cache:get(key)
    check(name, value == nil or value == key * 2)
    if not value then cache:set(key, key * 2) end
  end
end
print(passed .. " passed")
