-- A chunk with many levels is loaded where the native stack is nearly used up: an error, or it is loaded, but the process goes on.
local sources = {
  "return " .. ("("):rep(190) .. "1" .. (")"):rep(190),
  ("do "):rep(190) .. ("end "):rep(190),
  ("if x then "):rep(190) .. ("end "):rep(190),
  "return " .. ("{"):rep(190) .. ("}"):rep(190),
  "return " .. ("{["):rep(90) .. "1" .. ("]=2}"):rep(90),
  ("f(function() "):rep(90) .. ("end) "):rep(90),
  "return " .. ("not -"):rep(95) .. "1",
  "return " .. ("1 .. (2 ^ "):rep(90) .. "1" .. (")"):rep(90),
}
local failed, others = 0, 0
local function f()
  pcall(string.gsub, "x", "x", f)
  for i = 1, #sources do
    local chunk, message = loadstring(sources[i])
    if not chunk then
      failed = failed + 1
      if not message:find("stack overflow", 1, true) then others = others + 1 end
    end
  end
end
f()
print(failed > 0, others)
for i = 1, #sources do assert(loadstring(sources[i])) end
