-- Branches of which another one is hot every few hundred rounds; loops whose side traces lead to other loops.

-- Three ways that take turns.
local function run(n, period)
  local a, b, c = 0, 0.5, "x"
  for i = 1, n do
    local phase = ((i - i % period) / period) % 3
    if phase == 0 then
      a = a + i % 7
    elseif phase == 1 then
      b = b * 1.0001 + a % 3
    else
      c = #c > 20 and "x" or c .. i % 10
      a = a - 1
    end
  end
  return a, string.format("%.6f", b), c
end
for _, period in ipairs { 1, 2, 10, 100, 333, 1000 } do print(period, run(4000, period)) end

-- The rare way has the longest body, calls and allocations.
local rare, heavy = {}, 0
for i = 1, 5000 do
  if i % 97 == 0 then
    local t = { i, { i } }
    for j = 1, 10 do t[#t + 1] = j * i end
    heavy = heavy + #t + t[12] + select("#", unpack(t))
    rare[#rare + 1] = t
  else
    heavy = heavy + 1
  end
end
print(#rare, heavy)

-- Ways that need different types of the same variables.
local v, w = 0, ""
local function way(i)
  local k = i % 5
  if k == 0 then v = i
  elseif k == 1 then v = i + 0.25
  elseif k == 2 then v = "n" .. i
  elseif k == 3 then v = nil
  else v = { i } end
  if type(v) == "table" then w = w .. v[1] elseif v then w = w .. v end
  if #w > 60 then w = w:sub(-30) end
end
for i = 1, 3000 do way(i) end
print(w)

-- An inner loop in one way only; a different inner loop in the other.
local x, y = 0, 0
for i = 1, 600 do
  if i % 2 == 0 then
    for j = 1, i % 20 do x = x + j end
  elseif i % 3 == 0 then
    local k = i
    while k > 0 do
      y = y + k % 2
      k = (k - k % 2) / 2
    end
  else
    repeat y = y + 1 until y % 5 == 0
  end
end
print(x, y)

-- An interpreter of a small machine: dispatch by if chains and by tables of functions.
local program = { { "push", 10 }, { "dup" }, { "push", 3 }, { "mod" }, { "jz", 9 }, { "push", 1 }, { "add" }, { "jmp", 2 }, { "push", 7 }, { "add" }, { "out" }, { "count" }, { "jmp", 1 } }
local function interpret(limit)
  local st, sp, pc, steps, out = {}, 0, 1, 0, 0
  while steps < limit do
    steps = steps + 1
    local ins = program[pc]
    local op = ins[1]
    pc = pc + 1
    if op == "push" then sp = sp + 1 st[sp] = ins[2]
    elseif op == "dup" then st[sp + 1] = st[sp] sp = sp + 1
    elseif op == "add" then st[sp - 1] = st[sp - 1] + st[sp] sp = sp - 1
    elseif op == "mod" then st[sp - 1] = st[sp - 1] % st[sp] sp = sp - 1
    elseif op == "jz" then if st[sp] == 0 then pc = ins[2] end sp = sp - 1
    elseif op == "jmp" then pc = ins[2]
    elseif op == "out" then out = out + st[sp] sp = sp - 1
    elseif op == "count" then out = out + 0.5 end
  end
  return steps, out, sp, pc
end
print(interpret(5000))
local handlers = {
  inc = function(s) s.acc = s.acc + 1 end,
  dbl = function(s) s.acc = s.acc * 2 % 10007 end,
  neg = function(s) s.acc = -s.acc end,
  tag = function(s) s.tags = s.tags + 1 if s.tags % 3 == 0 then s.acc = s.acc + 0.5 end end,
}
local names, state = { "inc", "dbl", "neg", "tag", "inc", "dbl", "dbl" }, { acc = 1, tags = 0 }
for i = 1, 4000 do handlers[names[i % 7 + 1]](state) end
print(state.acc, state.tags)

-- Early rounds differ from all later ones, twice.
local stage, order = 0, {}
for outer = 1, 3 do
  for i = 1, 700 do
    if i <= 60 then stage = stage + 1
    elseif i <= 300 and outer ~= 2 then stage = stage + 2
    elseif outer == 2 then stage = stage - 1
    else stage = stage + i % 2 end
  end
  order[outer] = stage
end
print(table.concat(order, " "))
print("ok")
