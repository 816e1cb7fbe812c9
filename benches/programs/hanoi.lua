-- hanoi: the towers of Hanoi, with real disks on real stacks.
-- Stresses: recursion with several arguments, method calls, push and pop at the end of arrays.
-- small: 8
local n = tonumber(arg and arg[1]) or 24

local Peg = {}
Peg.__index = Peg

function Peg.new(name) return setmetatable({ name = name, size = 0, disks = {} }, Peg) end

function Peg:push(disk)
  local size = self.size
  if size > 0 and self.disks[size] < disk then error("disk " .. disk .. " does not fit on " .. self.name) end
  self.size = size + 1
  self.disks[size + 1] = disk
end

function Peg:pop()
  local size = self.size
  local disk = self.disks[size]
  self.disks[size] = nil
  self.size = size - 1
  return disk
end

local moves, check = 0, 0

local function move(count, from, to, via)
  if count == 0 then return end
  move(count - 1, from, via, to)
  local disk = from:pop()
  to:push(disk)
  moves = moves + 1
  check = (check * 5 + disk + to.size) % 999983
  move(count - 1, via, to, from)
end

local left, middle, right = Peg.new("left"), Peg.new("middle"), Peg.new("right")
for disk = n, 1, -1 do left:push(disk) end
move(n, left, right, middle)
print(string.format("moves %d check %d on the right %d", moves, check, right.size))
