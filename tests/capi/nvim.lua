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
vim.cmd("runtime plugin/counter.lua")
vim.cmd("Count")
local counter = require("counter")
for i = 1, 50 do vim.api.nvim_buf_set_lines(0, -1, -1, true, {("word%d and a longer one"):format(i % 7)}) end
out(tostring(vim.wait(5000, function() return counter.counts.longer == 50 end)), tostring(counter.changes), vim.inspect(counter.marks(0)))
local window, lines = counter.show()
out(tostring(vim.api.nvim_win_is_valid(window)), table.concat(lines, "|"))
vim.api.nvim_win_close(window, true)
vim.api.nvim_buf_set_lines(0, -51, -1, true, {})
-- Its own modules: trees of diagnostics, the parser of Lua, a process, files, keys as a user types them.
vim.diagnostic.set(vim.api.nvim_create_namespace("d"), 0, {{lnum = 0, col = 0, message = "odd", severity = vim.diagnostic.severity.WARN}})
out(vim.inspect(vim.tbl_map(function(d) return {d.lnum, d.message, d.severity} end, vim.diagnostic.get(0))))
out(vim.inspect(vim.lsp.util.convert_input_to_markdown_lines({kind = "markdown", value = "# a\nb"})), tostring(#vim.lsp.get_active_clients()))
out(tostring(pcall(vim.treesitter.parse_query, "none", "(x)")), vim.inspect(vim.tbl_deep_extend("force", {a = {b = 1}}, {a = {c = 2}})))
local printed = {}
local handle, pipe = nil, vim.loop.new_pipe(false)
handle = vim.loop.spawn("echo", {args = {"from", "a", "process"}, stdio = {nil, pipe, nil}}, function() handle:close() end)
pipe:read_start(function(_, data) if data then printed[#printed + 1] = data else pipe:close() end end)
vim.wait(5000, function() return pipe:is_closing() and handle:is_closing() end)
out(vim.trim(table.concat(printed)), vim.fn.json_encode(vim.mpack.decode(vim.mpack.encode({1, {x = "y"}}))))
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("ggOtyped<Esc>yyjp", true, false, true), "x", false)
out(vim.inspect(vim.api.nvim_buf_get_lines(0, 0, 3, false)), vim.fn.getreg('"'))
out(tostring(pcall(vim.cmd, "lua error({code = 7})")), tostring(select(2, pcall(vim.fn.nosuch))))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(vim.fn.string(i)) end end)
out(co(), co(), co())
vim.api.nvim_buf_set_lines(0, 1, 2, false, {"TWO", "and more"})
vim.cmd("silent %s/three/THREE/")
vim.cmd("silent write")
out(vim.g.written)
vim.cmd("checkhealth")
for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
  if not line:find("LuaJIT", 1, true) then out(line) end
end
