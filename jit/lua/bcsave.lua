-- Saving and listing bytecode: what the option `-b` does.
local object_file = select(2, ...)

-- Name of the bytecode in C and object files, before the name of the module: where LuaJIT looks for it.
local SYMBOL = "luaJIT_BC_"

local FILE_TYPES = { raw = "raw", c = "c", cc = "c", h = "h", o = "obj", obj = "obj" }
local SYSTEMS = {
  linux = true, windows = true, osx = true, freebsd = true, netbsd = true, openbsd = true, dragonfly = true, solaris = true,
}

local USAGE = [[
Save bytecode: perilune -b[options] input output
  -l        Only list bytecode.
  -s        Strip debug info (default).
  -g        Keep debug info.
  -X        Generate 64 bit (GC64) bytecode (the only kind there is).
  -d        Generate bytecode in deterministic manner (it always is).
  -n name   Set module name (default: auto-detect from input name).
  -t type   Set output file type (default: auto-detect from output name).
  -a arch   Override architecture for object files (default: native).
  -o os     Override OS for object files (default: native).
  -F name   Override filename (default: input filename).
  -e chunk  Use chunk string as input.
  --        Stop handling options.
  -         Use stdin as input and/or stdout as output.

File types: c cc h obj o raw (default)
]]

-- Messages begin with the same word whatever name the command was called by, as in LuaJIT.

-- Ends the command with what is wrong with its arguments, and how they are.
local function usage(...)
  io.stderr:write("perilune: ", ...)
  io.stderr:write("\n", USAGE)
  os.exit(1)
end

-- Ends the command with a message unless the first argument holds.
local function check(ok, ...)
  if ok then return ok, ... end
  io.stderr:write("perilune: ", ...)
  io.stderr:write("\n")
  os.exit(1)
end

-- One of the words in a table, whatever its case.
local function check_word(word, known, what)
  word = word:lower()
  return check(known[word] and word, "unknown ", what, " '", word, "'"), known[word]
end

local function identifier(name)
  return (name:gsub("[%.%-]", "_"))
end

local function check_module_name(name)
  check(name:match("^[%w_.%-]+$"), "bad module name")
  return identifier(name)
end

-- The name of a module from the name of its file.
local function module_name(input)
  local file = input:match("[^/\\]+$") or input
  local name = (file:match("^(.*)%.[^.]*$") or file):match("^[%w_.%-]+")
  return identifier(check(name, "cannot derive module name, use -n name"))
end

local function open(name, mode)
  local file, message = io.open(name, mode)
  check(file, message)
  return file
end

local function read_function(job, input)
  if job.chunk then
    return check(loadstring(input))
  elseif not job.filename then
    return check(loadfile(input ~= "-" and input or nil))
  end
  local text
  if input == "-" then
    text = io.stdin:read("*a")
  else
    local file = open(input, "rb")
    text = check(file:read("*a"))
    file:close()
  end
  return check(load(text, "@" .. job.filename))
end

local function open_output(name)
  return name == "-" and io.stdout or open(name, "wb")
end

local function write_output(name, ...)
  local file = open_output(name)
  local ok, message = file:write(...)
  if ok and name ~= "-" then ok, message = file:close() end
  check(ok, "cannot write ", name, ": ", message)
end

-- The bytes as decimal numbers with commas, in lines of at most 78 characters.
local function numbers(bytes)
  local lines, line, length = {}, {}, 0
  for i = 1, #bytes do
    local number = tostring(bytes:byte(i))
    length = length + #number + 1
    if length > 78 then
      lines[#lines + 1] = table.concat(line, ",")
      line, length = {}, #number + 1
    end
    line[#line + 1] = number
  end
  lines[#lines + 1] = table.concat(line, ",")
  return table.concat(lines, ",\n") .. "\n"
end

local writers = {}

function writers.raw(_, output, bytes)
  write_output(output, bytes)
end

function writers.c(job, output, bytes)
  write_output(output, [[
#ifdef __cplusplus
extern "C"
#endif
#if defined(_WIN32)
__declspec(dllexport)
#elif defined(__ELF__) || defined(__MACH__)
__attribute__((visibility("default")))
#endif
const unsigned char ]], SYMBOL, job.module, "[] = {\n", numbers(bytes), "};\n")
end

function writers.h(job, output, bytes)
  local name = SYMBOL .. job.module
  write_output(output, "#define ", name, "_SIZE ", #bytes, "\nstatic const unsigned char ", name, "[] = {\n", numbers(bytes), "};\n")
end

function writers.obj(job, output, bytes)
  local file, message = object_file.make(job.arch, job.os, SYMBOL .. job.module, bytes)
  check(file, message)
  write_output(output, file)
end

local function save(job, input, output)
  local bytes = string.dump(read_function(job, input), job.strip)
  local kind = job.type or FILE_TYPES[(output:lower():match("%.(%a+)$"))] or "raw"
  if kind ~= "raw" then job.module = job.module or module_name(input) end
  writers[kind](job, output, bytes)
end

local function list(job, input, output)
  local f = read_function(job, input)
  require("jit.bc").dump(f, open_output(output), true)
end

-- What options without an argument do.
local switches = {
  l = function(job) job.list = true end,
  s = function(job) job.strip = true end,
  g = function(job) job.strip = false end,
  X = function() end,
  d = function() end,
  W = function() check(false, "cannot generate 32 bit bytecode") end,
}

-- What options with an argument do.
local settings = {
  n = function(job, name) job.module = check_module_name(name) end,
  t = function(job, name) job.type = select(2, check_word(name, FILE_TYPES, "file type")) end,
  a = function(job, name) job.arch = check_word(name, object_file.architectures, "architecture") end,
  o = function(job, name) job.os = check_word(name, SYSTEMS, "OS name") end,
  F = function(job, name) job.filename = name end,
}

-- Takes the options out of the arguments. Options may stand after files.
local function parse(args)
  local job = { strip = true, arch = jit.arch, os = jit.os:lower() }
  local n = 1
  while n <= #args do
    local letters = args[n]:match("^%-(.+)$")
    if not letters then
      n = n + 1
    else
      table.remove(args, n)
      if letters == "-" then break end
      for i = 1, #letters do
        local letter = letters:sub(i, i)
        if switches[letter] then
          switches[letter](job)
        elseif letter ~= "e" and not settings[letter] then
          usage("unrecognized option '-", letter, "' of -b")
        elseif not args[n] or i ~= #letters then
          usage("'-", letter, "' needs argument")
        elseif letter == "e" then
          -- Its argument stays: it is the input.
          if n ~= 1 then usage("'-e' after the input '", args[1], "'") end
          job.chunk = true
        else
          settings[letter](job, table.remove(args, n))
        end
      end
    end
  end
  return job
end

local function start(...)
  local args = { ... }
  local job = parse(args)
  if job.list then
    if #args == 0 or #args > 2 then usage("-bl needs an input, and no more than an output") end
    list(job, args[1], args[2] or "-")
  else
    if #args ~= 2 then usage("-b needs an input and an output") end
    save(job, args[1], args[2])
  end
end

return { start = start }
