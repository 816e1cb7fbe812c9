-- Runs programs one after the other, each with its own globals, and writes what each has shown.
-- SHOW
local clean = {}
for name, value in pairs(_G) do clean[name] = value end
local libraries = {}
for _, name in ipairs { "string", "table", "math", "bit", "coroutine", "debug", "os", "io", "jit", "package" } do
  libraries[name] = {}
  for k, v in pairs(_G[name]) do libraries[name][k] = v end
end
local concat, write, flush, pcall, loadstring, tostring, type = table.concat, io.write, io.flush, pcall, loadstring, tostring, type
local next, rawset, sethook, setfenv, meta, debug_setmetatable = next, rawset, debug.sethook, setfenv, getmetatable(""), debug.setmetatable
local globals = _G
local nothing = function() end
-- Programs may change what others see.
local function clean_up()
  sethook()
  for _, v in next, { 1, true, nothing } do debug_setmetatable(v, nil) end
  debug_setmetatable(nil, nil)
  debug_setmetatable("", meta)
  for name in next, globals do if clean[name] == nil then rawset(globals, name, nil) end end
  for name, value in next, clean do rawset(globals, name, value) end
  for name, fields in next, libraries do for k, v in next, fields do rawset(clean[name], k, v) end end
end
local KEPT = 16384
local function run(prelude, body)
  local shown, bytes = {}, 0
  local function emit(...)
    if bytes < KEPT then
      local line = show(...)
      shown[#shown + 1] = line
      bytes = bytes + #line
    else
      bytes = 1/0
    end
  end
  local program, message = loadstring(body, "=program")
  local given = { loadstring(prelude, "=prelude")(emit) }
  if program then
    local ok, e = pcall(program, unpack(given, 2))
    clean_up()
    if not ok then message = type(e) == "string" and e or type(e) == "number" and tostring(e) or "(error object is not a string)" end
  else
    message = "syntax error: " .. message
  end
  given[1]()
  if message then shown[#shown + 1] = "error: " .. message .. "\n" end
  -- What is too long was not kept as a whole: not to be compared.
  local text = bytes == 1/0 and "too long" or concat(shown)
  write(#text, "\n", text)
  flush()
end
