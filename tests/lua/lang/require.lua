-- require: preload, path search, caching, return values, errors, loaders.

-- preload
package.preload["pre.one"] = function(name, ...)
  print("loading", name, ...)
  return { name = name }
end
local one = require("pre.one")
print(one.name, require("pre.one") == one, package.loaded["pre.one"] == one)

-- Without a result the module is true; with one set in package.loaded it is that; false is loaded again.
package.preload.nothing = function() end
print(require("nothing"), package.loaded.nothing)
package.preload.setter = function(name) package.loaded[name] = "set inside" end
print(require("setter"))
local times = 0
package.preload.falsy = function() times = times + 1 return false end
print(require("falsy"), require("falsy"), times)
package.preload.counted = function() times = times + 100 return "v" .. times end
print(require("counted"), require("counted"))
package.loaded.counted = nil
print(require("counted"))
package.loaded.given = { "put there by hand" }
print(require("given")[1])

-- Files on package.path.
local base = os.tmpname()
os.remove(base)
local dir = base:match("^(.*)/") or "."
local stem = base:match("([^/]+)$"):gsub("%W", "_") .. "_mod"
local file = dir .. "/" .. stem .. ".lua"
local function write(text)
  local f = assert(io.open(file, "w"))
  f:write(text)
  f:close()
end
local old_path, old_cpath = package.path, package.cpath
package.path = "./no/such/?.lua;" .. dir .. "/?.lua;" .. dir .. "/?/init.lua"
package.cpath = "./no/such/?.so"
write("local name = ... return { name = name == '" .. stem .. "', count = 0 }")
local mod = require(stem)
mod.count = mod.count + 1
print(mod.name, require(stem).count, package.loaded[stem] == mod)
print(package.searchpath(stem, package.path) == file, package.searchpath("a.b", "?.x;/nonexistent/?.y") == nil)
print((select(2, package.searchpath("a.b", "no/?.x;none/?.y")):gsub("\n", "|")))
print((select(2, package.searchpath("a-b", "no/?.x", "-", "_")):gsub("\n", "|")))

-- Errors: not found, syntax, run time. A load that failed has to be forgotten by hand.
local ok, message = pcall(require, "not.there")
print(ok, (message:gsub(dir:gsub("%p", "%%%0"), "DIR"):gsub("\n", "|")))
package.loaded[stem] = nil
write("return +")
ok, message = pcall(require, stem)
print(ok, (message:gsub("'[^']*'", "NAME", 1):gsub("from file [^\n]*", "from FILE"):gsub("\n[^\n]*:1:", "|FILE:1:")))
write("error('while loading', 0)")
print(pcall(require, stem))
print((select(2, pcall(require, stem)):gsub("'[^']*'", "NAME")))
package.loaded[stem] = nil
write("error({ code = 5 })")
ok, message = pcall(require, stem)
print(ok, message.code)
package.loaded[stem] = nil
write("return 'fine now'")
print(require(stem))

-- A loop: the second require of a module that is still loading.
package.loaded[stem] = nil
write("return require('" .. stem .. "')")
ok, message = pcall(require, stem)
print(ok, (message:gsub("^.-:1: ", "FILE:1: "):gsub("'[^']*'", "NAME")))
package.loaded[stem] = nil

-- Loaders of our own; what they may return.
table.insert(package.loaders, 2, function(name)
  if name:match("^virtual%.") then return function(n) return "virtual module " .. n end end
  return "\n\tnot virtual: " .. name
end)
print(require("virtual.thing"))
ok, message = pcall(require, "absent_module")
print(ok, message:find("not virtual: absent_module", 1, true) ~= nil)
table.remove(package.loaders, 2)

-- What package holds.
print(type(package.loaded), type(package.preload), type(package.path), type(package.cpath), #package.loaders, package.config:sub(1, 1))
print(package.loaded.string == string, package.loaded._G == _G, package.loaded.bit == bit, package.loaded.coroutine == coroutine)
print(pcall(require), pcall(require, {}))
package.path = nil
print(pcall(require, "anything"))
package.path, package.cpath = old_path, old_cpath
os.remove(file)
print("ok")
