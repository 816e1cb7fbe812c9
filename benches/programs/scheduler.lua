-- scheduler: a toy operating system whose tasks pass packets to each other by priority.
-- Stresses: classes with inheritance, polymorphic method calls, linked queues, state in table fields.
-- small: 300
local n = tonumber(arg and arg[1]) or 400000

-- A first-in first-out queue of packets, linked through `packet.next`.
local Queue = {}
Queue.__index = Queue

function Queue.new() return setmetatable({ length = 0 }, Queue) end

function Queue:push(packet)
  packet.next = nil
  if self.last then
    self.last.next = packet
  else
    self.first = packet
  end
  self.last = packet
  self.length = self.length + 1
end

function Queue:pop()
  local packet = self.first
  if not packet then return nil end
  self.first = packet.next
  if not self.first then self.last = nil end
  packet.next = nil
  self.length = self.length - 1
  return packet
end

-- What all tasks share: a name, a priority, an inbox, and being ready when the inbox is not empty.
local Task = {}
Task.__index = Task

function Task:init(name, priority)
  self.name, self.priority = name, priority
  self.inbox = Queue.new()
  self.runs, self.check = 0, 0
  return self
end

function Task:ready() return self.inbox.length > 0 end
function Task:send(packet) self.inbox:push(packet) end
function Task:note(value) self.check = (self.check * 7 + value) % 65521 end

local function class(parent)
  local c = setmetatable({}, { __index = parent })
  c.__index = c
  return c
end

-- Hands out packets from a pool while there is work left to start.
local Source = class(Task)

function Source.new(name, priority, router, work)
  local self = setmetatable({}, Source):init(name, priority)
  self.router, self.left, self.serial = router, work, 0
  return self
end

function Source:ready() return self.left > 0 and self.inbox.length > 0 end

function Source:run()
  local packet = self.inbox:pop()
  self.left = self.left - 1
  self.serial = self.serial + 1
  packet.kind = self.serial % 5 < 3 and "disk" or "net"
  packet.value = self.serial * 31 % 1009
  packet.hops = 0
  self:note(packet.value)
  self.router:send(packet)
end

-- Sends each packet to the device of its kind, or home once it was served.
local Router = class(Task)

function Router.new(name, priority) return setmetatable({ routes = {} }, Router):init(name, priority) end

function Router:run()
  local packet = self.inbox:pop()
  packet.hops = packet.hops + 1
  self:note(packet.hops + #packet.kind)
  if packet.hops > 2 then
    self.home:send(packet)
  else
    self.routes[packet.kind]:send(packet)
  end
end

-- Serves a packet after a delay counted in turns.
local Device = class(Task)

function Device.new(name, priority, router, delay)
  local self = setmetatable({}, Device):init(name, priority)
  self.router, self.delay, self.wait = router, delay, delay
  return self
end

function Device:run()
  if self.wait > 0 then
    self.wait = self.wait - 1
    return
  end
  self.wait = self.delay
  local packet = self.inbox:pop()
  packet.value = self:serve(packet.value)
  self.router:send(packet)
end

local Disk = class(Device)
function Disk.new(...) return setmetatable(Device.new(...), Disk) end
function Disk:serve(value)
  self:note(value)
  return (value * 3 + 1) % 1009
end

local Net = class(Device)
function Net.new(...) return setmetatable(Device.new(...), Net) end
function Net:serve(value)
  self:note(value + 1)
  return (value + 500) % 1009
end

-- Counts finished packets and puts them back into the pool.
local Sink = class(Task)

function Sink.new(name, priority) return setmetatable({ done = 0 }, Sink):init(name, priority) end

function Sink:run()
  local packet = self.inbox:pop()
  self.done = self.done + 1
  self:note(packet.value)
  self.pool:send(packet)
end

local function run(tasks)
  local turns = 0
  while true do
    local chosen
    for i = 1, #tasks do
      local task = tasks[i]
      if task:ready() and (not chosen or task.priority > chosen.priority) then chosen = task end
    end
    if not chosen then return turns end
    chosen.runs = chosen.runs + 1
    chosen:run()
    turns = turns + 1
  end
end

local router = Router.new("router", 40)
local source = Source.new("source", 10, router, n)
local sink = Sink.new("sink", 30)
router.home, sink.pool = sink, source
router.routes.disk = Disk.new("disk", 20, router, 2)
router.routes.net = Net.new("net", 25, router, 1)
for _ = 1, 6 do source:send({}) end

local tasks = { source, router, router.routes.disk, router.routes.net, sink }
print(string.format("turns %d done %d", run(tasks), sink.done))
for _, task in ipairs(tasks) do
  print(string.format("%s runs %d left %d check %d", task.name, task.runs, task.inbox.length, task.check))
end
