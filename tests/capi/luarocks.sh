#!/bin/sh
# Packs a module in C and one in Lua as rocks, installs both from the rock files with LuaRocks, uses them, and removes one.
#
#   tests/capi/luarocks.sh INTERPRETER LUAROCKS FOLDER
set -eu
interpreter=$1 luarocks=$2 folder=$3
root=$PWD
rm -rf "$folder"
mkdir -p "$folder/sources/inc-1" "$folder/tree" "$folder/bin"
# LuaRocks knows interpreters by their names.
ln -s "$interpreter" "$folder/bin/luajit"
interpreter=$folder/bin/luajit
cd "$folder"
cp "$root/tests/capi/module.c" sources/inc-1/
echo 'return {triple = function(n) return require("module").twice(n) + n end, name = ...}' >sources/inc-1/pure.lua
(cd sources && zip -q -r ../inc.zip inc-1)
rockspec() {
    echo "rockspec_format = '1.0' package = '$1' version = '1-1' source = {url = 'file://$folder/inc.zip', dir = 'inc-1'}
    description = {summary = 'a test'} dependencies = {'lua >= 5.1', $3} build = {type = 'builtin', modules = {$2}}" >"$1-1-1.rockspec"
}
rockspec module "module = {sources = {'module.c'}}" ""
rockspec pure "pure = 'pure.lua'" "'module >= 1'"
cat >config.lua <<END
rocks_trees = {{name = "tree", root = "$folder/tree"}}
lua_interpreter = "luajit"
variables = {LUA_DIR = "$folder", LUA_BINDIR = "$folder/bin", LUA_INCDIR = "$root/capi/include", LUA_LIBDIR = "$folder"}
END
export LUAROCKS_CONFIG="$folder/config.lua"
rocks() { "$interpreter" "$luarocks" --lua-version=5.1 "$@" 2>&1 | sed "s|$folder|FOLDER|g; s|$root|ROOT|g; s|/tmp/[^ ]*|TMP|g"; }
for name in module pure; do rocks pack "$name-1-1.rockspec"; done
rocks install module-1-1.src.rock
rocks install pure-1-1.src.rock
rocks list --porcelain
cat >use.lua <<'END'
local module, pure = require("module"), require("pure")
print(module.twice(21), module.name, pure.triple(14), pure.name, pcall(module.fail))
END
LUA_PATH="$folder/tree/share/lua/5.1/?.lua" LUA_CPATH="$folder/tree/lib/lua/5.1/?.so" "$interpreter" use.lua
rocks show pure
rocks remove pure
rocks list --porcelain
