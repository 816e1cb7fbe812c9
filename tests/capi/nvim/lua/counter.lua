-- A plugin: counts the words of a buffer after each change, marks the longest, and shows the counts in a floating window.
local M = {counts = {}, changes = 0}
local space = vim.api.nvim_create_namespace("counter")

function M.count(buffer)
  local counts, longest = {}, {text = ""}
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)) do
    for column, word in line:gmatch("()(%w+)") do
      counts[word] = (counts[word] or 0) + 1
      if #word > #longest.text then longest = {text = word, row = row - 1, column = column - 1} end
    end
  end
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  if longest.row then
    vim.api.nvim_buf_set_extmark(buffer, space, longest.row, longest.column, {end_col = longest.column + #longest.text, hl_group = "Search"})
  end
  M.counts = counts
  return counts
end

function M.attach(buffer)
  M.count(buffer)
  return vim.api.nvim_buf_attach(buffer, false, {on_lines = function(_, changed)
    M.changes = M.changes + 1
    vim.schedule(function() M.count(changed) end)
  end})
end

function M.marks(buffer)
  return vim.tbl_map(function(mark) return {mark[2], mark[3], mark[4].end_col} end,
    vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, {details = true}))
end

function M.show()
  local words = vim.tbl_keys(M.counts)
  table.sort(words)
  local lines = vim.tbl_map(function(word) return ("%-8s%3d"):format(word, M.counts[word]) end, words)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  return vim.api.nvim_open_win(buffer, false, {relative = "editor", row = 1, col = 1, width = 12, height = math.max(#lines, 1)}), lines
end

return M
