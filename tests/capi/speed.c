/* Functions whose calls are measured by speed.lua. */
#include "lauxlib.h"

static int empty(lua_State *L) {
  (void)L;
  return 0;
}

static int add(lua_State *L) {
  lua_pushnumber(L, luaL_checknumber(L, 1) + luaL_checknumber(L, 2));
  return 1;
}

/* Calls a function n times with two numbers. */
static int call(lua_State *L) {
  int i, n = luaL_checkint(L, 2);
  for (i = 0; i < n; i++) {
    lua_pushvalue(L, 1);
    lua_pushinteger(L, i);
    lua_pushinteger(L, 1);
    lua_call(L, 2, 1);
    lua_pop(L, 1);
  }
  return 0;
}

/* The same, protected; counts errors. */
static int pcall(lua_State *L) {
  int i, n = luaL_checkint(L, 2), failed = 0;
  for (i = 0; i < n; i++) {
    lua_pushvalue(L, 1);
    lua_pushinteger(L, i);
    lua_pushinteger(L, 1);
    failed += lua_pcall(L, 2, 1, 0) != 0;
    lua_pop(L, 1);
  }
  lua_pushinteger(L, failed);
  return 1;
}

static int fail(lua_State *L) { return luaL_error(L, "an error"); }

/* Resumes a coroutine n times. */
static int resume(lua_State *L) {
  int i, n = luaL_checkint(L, 2);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  for (i = 0; i < n; i++) {
    lua_pushinteger(co, i);
    if (lua_resume(co, 1) != LUA_YIELD) return luaL_error(L, "no yield");
    lua_settop(co, 0);
  }
  return 0;
}

/* Fills and sums a table. */
static int table(lua_State *L) {
  int i, n = luaL_checkint(L, 1);
  lua_Number sum = 0;
  lua_createtable(L, 0, 4);
  for (i = 0; i < n; i++) {
    lua_pushinteger(L, i);
    lua_rawseti(L, -2, i & 7);
    lua_rawgeti(L, -1, i & 7);
    sum += lua_tonumber(L, -1);
    lua_pop(L, 1);
    lua_pushinteger(L, i);
    lua_setfield(L, -2, "field");
    lua_getfield(L, -1, "field");
    sum += lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  lua_pushnumber(L, sum);
  return 1;
}

/* Userdata with a metatable, checked. */
static int box(lua_State *L) {
  *(lua_Number *)lua_newuserdata(L, sizeof(lua_Number)) = luaL_checknumber(L, 1);
  luaL_getmetatable(L, "speed.box");
  lua_setmetatable(L, -2);
  return 1;
}
static int unbox(lua_State *L) {
  lua_pushnumber(L, *(lua_Number *)luaL_checkudata(L, 1, "speed.box"));
  return 1;
}

static const luaL_Reg functions[] = {{"empty", empty}, {"add", add}, {"call", call}, {"pcall", pcall}, {"fail", fail},
  {"resume", resume}, {"table", table}, {"box", box}, {"unbox", unbox}, {NULL, NULL}};

int luaopen_speed(lua_State *L) {
  luaL_newmetatable(L, "speed.box");
  lua_newtable(L);
  luaL_register(L, NULL, functions);
  return 1;
}
