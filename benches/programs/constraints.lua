-- constraints: an incremental solver of one-way constraints with strengths, in the manner of DeltaBlue.
-- Stresses: class hierarchies, virtual calls, graphs of small objects, array lists that grow and shrink.
-- small: 20
local n = tonumber(arg and arg[1]) or 9000

-- A lower number is stronger.
local REQUIRED, PREFERRED, NORMAL, WEAK = 0, 2, 4, 5
local WEAKEST = 6

local Variable = {}
Variable.__index = Variable

function Variable.new(value)
  return setmetatable({ value = value, uses = {}, walk = WEAKEST, stay = true, mark = 0 }, Variable)
end

function Variable:remove_use(constraint)
  local uses, kept = self.uses, 0
  for i = 1, #uses do
    local c = uses[i]
    uses[i] = nil
    if c ~= constraint then
      kept = kept + 1
      uses[kept] = c
    end
  end
  if self.source == constraint then self.source = nil end
end

local function class(parent)
  local c = setmetatable({}, { __index = parent })
  c.__index = c
  return c
end

local planner = { mark = 0 }

-- Base of all constraints: strength, and satisfaction by overriding a weaker one.
local Constraint = class(nil)

function Constraint:is_input() return false end

function Constraint:enable()
  self:attach()
  planner:add(self)
end

function Constraint:disable()
  if self:satisfied() then
    planner:remove(self)
  else
    self:detach()
  end
end

function Constraint:satisfy(mark)
  self:choose(mark)
  if not self:satisfied() then
    if self.strength == REQUIRED then error("a required constraint cannot be satisfied") end
    return nil
  end
  self:mark_inputs(mark)
  local out = self:output()
  local beaten = out.source
  if beaten then beaten:unsatisfy() end
  out.source = self
  if not planner:propagate(self, mark) then error("cycle") end
  out.mark = mark
  return beaten
end

-- One variable: the value comes from inside.
local Unary = class(Constraint)

function Unary:init(variable, strength)
  self.variable, self.strength, self.active = variable, strength, false
  self:enable()
  return self
end

function Unary:attach()
  self.variable.uses[#self.variable.uses + 1] = self
  self.active = false
end

function Unary:detach()
  self.variable:remove_use(self)
  self.active = false
end

function Unary:choose(mark)
  local v = self.variable
  self.active = v.mark ~= mark and self.strength < v.walk
end

function Unary:satisfied() return self.active end
function Unary:unsatisfy() self.active = false end
function Unary:output() return self.variable end
function Unary:mark_inputs() end
function Unary:inputs_known() return true end

function Unary:recalculate()
  local v = self.variable
  v.walk = self.strength
  v.stay = not self:is_input()
  if v.stay then self:execute() end
end

local Stay = class(Unary)
function Stay.new(variable, strength) return setmetatable({}, Stay):init(variable, strength) end
function Stay:execute() end

local Edit = class(Unary)
function Edit.new(variable, strength) return setmetatable({}, Edit):init(variable, strength) end
function Edit:is_input() return true end
function Edit:execute() end

-- Two variables: the value flows one way or the other.
local Binary = class(Constraint)

function Binary:init(a, b, strength)
  self.a, self.b, self.strength, self.flow = a, b, strength, "none"
  self:enable()
  return self
end

function Binary:attach()
  self.a.uses[#self.a.uses + 1] = self
  self.b.uses[#self.b.uses + 1] = self
  self.flow = "none"
end

function Binary:detach()
  self.a:remove_use(self)
  self.b:remove_use(self)
  self.flow = "none"
end

function Binary:choose(mark)
  local a, b, s = self.a, self.b, self.strength
  if a.mark == mark then
    self.flow = b.mark ~= mark and s < b.walk and "forward" or "none"
  elseif b.mark == mark then
    self.flow = s < a.walk and "backward" or "none"
  elseif a.walk > b.walk then
    self.flow = s < a.walk and "backward" or "none"
  else
    self.flow = s < b.walk and "forward" or "none"
  end
end

function Binary:satisfied() return self.flow ~= "none" end
function Binary:unsatisfy() self.flow = "none" end
function Binary:output() return self.flow == "forward" and self.b or self.a end
function Binary:input() return self.flow == "forward" and self.a or self.b end
function Binary:mark_inputs(mark) self:input().mark = mark end

function Binary:inputs_known(mark)
  local v = self:input()
  return v.mark == mark or v.stay or v.source == nil
end

function Binary:recalculate()
  local from, to = self:input(), self:output()
  to.walk = math.max(self.strength, from.walk)
  to.stay = from.stay
  if to.stay then self:execute() end
end

local Equal = class(Binary)
function Equal.new(a, b, strength) return setmetatable({}, Equal):init(a, b, strength) end
function Equal:execute() self:output().value = self:input().value end

-- b = a * scale + offset, where scale and offset are variables too.
local Scale = class(Binary)

function Scale.new(a, scale, offset, b, strength)
  local self = setmetatable({}, Scale)
  self.scale, self.offset = scale, offset
  return self:init(a, b, strength)
end

function Scale:attach()
  Binary.attach(self)
  self.scale.uses[#self.scale.uses + 1] = self
  self.offset.uses[#self.offset.uses + 1] = self
end

function Scale:detach()
  Binary.detach(self)
  self.scale:remove_use(self)
  self.offset:remove_use(self)
end

function Scale:mark_inputs(mark)
  Binary.mark_inputs(self, mark)
  self.scale.mark, self.offset.mark = mark, mark
end

function Scale:execute()
  if self.flow == "forward" then
    self.b.value = self.a.value * self.scale.value + self.offset.value
  else
    self.a.value = (self.b.value - self.offset.value) / self.scale.value
  end
end

function Scale:recalculate()
  local from, to = self:input(), self:output()
  to.walk = math.max(self.strength, from.walk)
  to.stay = from.stay and self.scale.stay and self.offset.stay
  if to.stay then self:execute() end
end

function planner:new_mark()
  self.mark = self.mark + 1
  return self.mark
end

function planner:add(constraint)
  local mark = self:new_mark()
  local beaten = constraint:satisfy(mark)
  while beaten do beaten = beaten:satisfy(mark) end
end

function planner:remove(constraint)
  local out = constraint:output()
  constraint:unsatisfy()
  constraint:detach()
  local unsatisfied = self:release(out)
  for strength = REQUIRED, WEAKEST do
    for i = 1, #unsatisfied do
      if unsatisfied[i].strength == strength then self:add(unsatisfied[i]) end
    end
  end
end

-- Adds to `list` the satisfied constraints that read `variable`.
local function consumers(variable, list)
  local source, uses = variable.source, variable.uses
  for i = 1, #uses do
    local c = uses[i]
    if c ~= source and c:satisfied() then list[#list + 1] = c end
  end
end

function planner:propagate(constraint, mark)
  local todo = { constraint }
  while #todo > 0 do
    local c = table.remove(todo)
    if c:output().mark == mark then
      c:unsatisfy()
      return false
    end
    c:recalculate()
    consumers(c:output(), todo)
  end
  return true
end

function planner:release(out)
  out.source, out.walk, out.stay = nil, WEAKEST, true
  local unsatisfied, todo = {}, { out }
  while #todo > 0 do
    local v = table.remove(todo)
    for i = 1, #v.uses do
      if not v.uses[i]:satisfied() then unsatisfied[#unsatisfied + 1] = v.uses[i] end
    end
    local readers = {}
    consumers(v, readers)
    for i = 1, #readers do
      readers[i]:recalculate()
      todo[#todo + 1] = readers[i]:output()
    end
  end
  return unsatisfied
end

-- The constraints to run, in order, when the given edits change their variables.
function planner:plan(edits)
  local mark, todo, plan = self:new_mark(), {}, {}
  for i = 1, #edits do
    if edits[i]:satisfied() then todo[#todo + 1] = edits[i] end
  end
  while #todo > 0 do
    local c = table.remove(todo)
    if c:output().mark ~= mark and c:inputs_known(mark) then
      plan[#plan + 1] = c
      c:output().mark = mark
      consumers(c:output(), todo)
    end
  end
  return plan
end

local function change(variable, value, times)
  local edit = Edit.new(variable, PREFERRED)
  local plan = planner:plan { edit }
  for _ = 1, times do
    variable.value = value
    for i = 1, #plan do plan[i]:execute() end
  end
  edit:disable()
end

-- A chain of equalities: the end must follow the start.
local function chain(length)
  local variables = {}
  for i = 1, length do variables[i] = Variable.new(0) end
  for i = 2, length do Equal.new(variables[i - 1], variables[i], REQUIRED) end
  Stay.new(variables[length], NORMAL)
  local edit = Edit.new(variables[1], PREFERRED)
  local plan, sum = planner:plan { edit }, 0
  for value = 1, 20 do
    variables[1].value = value
    for i = 1, #plan do plan[i]:execute() end
    assert(variables[length].value == value)
    sum = sum + variables[length].value
  end
  edit:disable()
  return sum
end

-- Independent pairs tied through one scale and one offset.
local function projection(count)
  local scale, offset = Variable.new(10), Variable.new(1000)
  local from, to = {}, {}
  for i = 1, count do
    from[i], to[i] = Variable.new(i), Variable.new(i)
    Stay.new(from[i], NORMAL)
    Scale.new(from[i], scale, offset, to[i], REQUIRED)
  end
  change(from[1], 17, 5)
  assert(to[1].value == 1170)
  change(to[count], 1050, 5)
  assert(from[count].value == 5)
  change(scale, 5, 5)
  for i = 1, count - 1 do assert(to[i].value == from[i].value * 5 + 1000) end
  change(offset, 2000, 5)
  local sum = 0
  for i = 1, count do sum = sum + to[i].value end
  return sum
end

local check = 0
for round = 1, n do
  check = (check * 3 + chain(20 + round % 10) + projection(10 + round % 7)) % 1000003
end
print(string.format("check %d marks %d weak %d", check, planner.mark, WEAK))
