-- A text that is loaded again gives another function of the same prototype: one trace serves all, whatever their environments are. What is
-- said about one function (`jit.off`) does not concern later loads.

local text = [[
  local s = 0
  for i = 1, 200 do s = s + i * step end
  total = (total or 0) + s
  return function() calls = (calls or 0) + 1 return s end
]]
local seen = {}
for i = 1, 6 do
  local env = { step = i }
  local f = assert(load(text, "=chunk", "t", env))
  local g = f()
  print(env.total, g(), g(), env.calls, total)
  assert(not seen[f] and not seen[g])
  seen[f], seen[g] = true, true
end

-- The default environment is that of the moment.
step = 3
for i = 1, 3 do
  total = nil
  loadstring(text, "=chunk")()
  print(total)
end

-- Another name, another chunk.
print(select(2, pcall(load("error('x')", "=one"))), select(2, pcall(load("error('x')", "=two"))))
for i = 1, 3 do print(select(2, pcall(load("error('y')", "=name" .. i % 2)))) end

-- Compilation is switched off for this function only.
local loop = "local s = 0 for i = 1, 300 do s = s + i end return s"
for i = 1, 3 do
  local f = load(loop, "=loop")
  jit.off(f)
  print(f())
end
for i = 1, 3 do print(load(loop, "=loop")()) end

-- Errors are reported each time.
for i = 1, 3 do print(load("x = = 1", "=wrong")) end
for i = 1, 3 do print(load("return 1", "=mode", "b")) end

-- Constants of the chunk are of each function: tables made from templates are new.
local fresh = {}
for i = 1, 4 do
  local t = load("return { 1, 2, a = 3 }", "=template")()
  t[1], t.a = t[1] + i, t.a + i
  fresh[i] = t
end
for i = 1, 4 do print(fresh[i][1], fresh[i][2], fresh[i].a) end
