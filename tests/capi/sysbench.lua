-- A script for sysbench: options, commands, random numbers (by the FFI), events in each thread's state.
sysbench.cmdline.options = {size = {"Largest number", 100}, words = {"Words", {"a", "b"}}}

function prepare() print("prepare", sysbench.opt.size) end
sysbench.cmdline.commands = {prepare = {prepare}, words = {function() print("words", table.concat(sysbench.opt.words, "|")) end}}

local drawn, sum = 0, 0
function thread_init(id) assert(id == sysbench.tid) end
function event()
  local n = sysbench.rand.uniform(1, sysbench.opt.size)
  assert(n >= 1 and n <= sysbench.opt.size)
  assert(sysbench.rand.string("##-@@"):match("^%d%d%-%a%a$"))
  drawn, sum = drawn + 1, sum + n
end
function thread_done()
  -- A thread of several may have had no event.
  assert(sum >= drawn and (drawn > 0 or sysbench.opt.threads > 1))
  -- In one piece: lines of several threads would mix otherwise.
  io.write(sysbench.opt.threads == 1 and ("done %d %d\n"):format(drawn, sum) or "done\n")
end
