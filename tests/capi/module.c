/* A module in C, for the tests of package.loadlib and of the searchers. */
#include "lauxlib.h"

static int twice(lua_State *L) {
  lua_pushnumber(L, 2 * luaL_checknumber(L, 1));
  return 1;
}

static int fail(lua_State *L) { return luaL_error(L, "failed in C"); }

/* Calls its first argument with the others. */
static int call(lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static const luaL_Reg functions[] = {{"twice", twice}, {"fail", fail}, {"call", call}, {NULL, NULL}};

int luaopen_module(lua_State *L) {
  lua_newtable(L);
  luaL_register(L, NULL, functions);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "name");
  return 1;
}

int luaopen_module_part(lua_State *L) {
  lua_pushliteral(L, "a part");
  return 1;
}
