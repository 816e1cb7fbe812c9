-- Inside of Neovim: its own modules, its API, a plugin in Lua, a timer of its event loop, an edit.
local out = function(...) io.stdout:write(table.concat({...}, " "), "\n") end
out(vim.inspect({1, {a = "b"}}), vim.json.encode({1, vim.NIL}), table.concat(vim.split("a,b,c", ","), "|"))
out(tostring(#vim.api.nvim_list_bufs()), vim.fn.toupper("text"), tostring(pcall(vim.api.nvim_buf_get_lines, 99, 0, 1, false)))
local n = 0
for i = 1, 2000 do n = n + #vim.inspect({i % 3, tostring(i)}) end
out(tostring(n), vim.fn.substitute("abc", "b", [[\=luaeval('("x"):rep(3)')]], ""))
vim.api.nvim_create_user_command("Twice", function(o) vim.api.nvim_buf_set_lines(0, -1, -1, true, {o.args, o.args}) end, {nargs = 1})
vim.cmd("Twice plugin")
vim.keymap.set("n", "gz", function() vim.api.nvim_put({"key"}, "l", true, true) end)
vim.cmd("normal gz")
local ticks, timer = 0, vim.loop.new_timer()
timer:start(1, 1, vim.schedule_wrap(function() ticks = ticks + 1 end))
out(tostring(vim.wait(5000, function() return ticks >= 3 end)))
timer:close()
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(vim.fn.string(i)) end end)
out(co(), co(), co())
vim.api.nvim_buf_set_lines(0, 1, 2, false, {"TWO", "and more"})
vim.cmd("silent %s/three/THREE/")
vim.cmd("silent write")
