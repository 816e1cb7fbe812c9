-- What comparison.mjs looks at: two snapshots, between which objects are made and dropped; the files are the arguments.
local misc = require "misc"
local before, after = ...

local Request = {}
Request.__index = Request

local kept, lists = {}, {}
for i = 1, 1500 do kept[i] = setmetatable({ number = i, done = false }, Request) end
for i = 1, 5000 do lists[i] = { i, i + 1, i + 2 } end
function count() return #kept + #lists, Request end
assert(misc.heapsnapshot(before))

-- 500 requests are dropped, and 2,000 new ones use their memory and more.
for i = 1, 500 do kept[i] = false end
collectgarbage()
for i = 1501, 3500 do kept[i] = setmetatable({ number = i, done = true }, Request) end
assert(misc.heapsnapshot(after))
