vim.api.nvim_create_user_command("Count", function(o) require("counter").attach(tonumber(o.args) or 0) end, {nargs = "?"})
vim.api.nvim_create_autocmd("BufWritePost", {callback = function(o) vim.g.written = vim.fn.fnamemodify(o.file, ":t") end})
