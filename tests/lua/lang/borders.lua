-- Which border `#` finds depends on the size of the array part, which is that of LuaJIT.
local function all(...) return ... end
local n, x = nil, 7
print(#{ 1, nil, 3 }, #{ 1, nil, 3, nil, 5 }, #{ 1, 3, nil, nil, 6 }, #{ nil, 2 }, #{ nil, nil, 3 })
print(#{ nil, 3, 7, 1, nil, nil, 6, 7, 8, nil, 1 }, #{ n, x, x, n, x })
print(#{ all(1, nil, 3) }, #{ all(nil, 3, 7, 1, nil, nil, 6, 7, 8, nil, 1) })
local function count(...) return #{ ... } end
print(count(1, nil, 3), count(1, nil, nil, 4), count(nil, nil, 3))
print(#{ [1] = 1, [2] = 2, [4] = 4 }, #{ 1, 2, [3] = 3, [5] = 5 }, #{ [4] = 4, 1, 2, 3, k = 1 })
-- A dumped constructor keeps its items; nothing is said about the nils at its end.
local dumped = loadstring(string.dump(function() return { 1, 2, 3, nil, nil } end))
print(#dumped(), dumped()[3])
for _ = 1, 100 do
	assert(#{ 1, nil, 3 } == 1 and count(1, nil, 3) == 1)
end
