#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lauxlib.h"
#include "lualib.h"
/* Runs a script with arguments, or a chunk (-e), as the command does. */
static int traceback(lua_State *L) {
  if (!lua_isstring(L, 1)) return 1;
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}
int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  int i, status;
  luaL_openlibs(L);
  lua_newtable(L);
  for (i = 1; i < argc; i++) { lua_pushstring(L, argv[i]); lua_rawseti(L, -2, i - 1); }
  lua_setglobal(L, "arg");
  lua_pushcfunction(L, traceback);
  if (getenv("LUA_FIRST") && luaL_dostring(L, getenv("LUA_FIRST"))) { fprintf(stderr, "%s\n", lua_tostring(L, -1)); return 2; }
  i = 2;
  status = strcmp(argv[1], "-e") == 0 ? luaL_loadstring(L, argv[i++]) : luaL_loadfile(L, argv[1]);
  if (status == 0) { for (; i < argc; i++) lua_pushstring(L, argv[i]); status = lua_pcall(L, lua_gettop(L) - 2, 0, 1); }
  if (status) fprintf(stderr, "run: %s\n", lua_tostring(L, -1));
  lua_close(L);
  return status != 0;
}
