/* What OpenResty has added to the C API. */
#include "host.h"

void *lua_getexdata(lua_State *L);
void lua_setexdata(lua_State *L, void *word);
void *lua_getexdata2(lua_State *L);
void lua_setexdata2(lua_State *L, void *word);
void lua_resetthread(lua_State *L, lua_State *coroutine);

static void words(lua_State *L) {
  lua_State *co;
  part("words");
  printf("%d %d\n", lua_getexdata(L) == NULL, lua_getexdata2(L) == NULL);
  lua_setexdata(L, (void *)0x1234);
  lua_setexdata2(L, (void *)0x5678);
  co = lua_newthread(L);
  printf("%p %p\n", lua_getexdata(co), lua_getexdata2(co));
  lua_setexdata(co, (void *)1);
  printf("%p\n", lua_getexdata(L));
  run(L, "local exdata = require('thread.exdata') print(pcall(exdata))");
  run(L, "local ffi, exdata, second = require('ffi'), require('thread.exdata'), require('thread.exdata2')\n"
         "print(exdata(), second(), ffi.istype('void *', exdata()))\n"
         "print(select('#', exdata(ffi.cast('void *', 5))), exdata(), second())\n"
         "exdata(ffi.cast('int *', 9)) print(exdata())\n"
         "for _, v in ipairs{7, 'x'} do print(pcall(exdata, v)) end print(pcall(exdata, nil))\n"
         "print(coroutine.wrap(function() local own = exdata() exdata(ffi.cast('void *', 3)) return own, exdata() end)(), exdata())\n"
         "local n = 0 for i = 1, 1000 do exdata(ffi.cast('void *', i)) n = n + tonumber(ffi.cast('intptr_t', exdata())) end print(n)");
  printf("%p\n", lua_getexdata(L));
  lua_settop(L, 0);
}

static void reset(lua_State *L) {
  lua_State *co = lua_newthread(L);
  int status;
  part("reset");
  luaL_loadstring(co, "local a = 7 f = function() return a end coroutine.yield(1, 2) error('no')");
  status = lua_resume(co, 0);
  printf("%d %d %d\n", status, lua_status(co), lua_gettop(co));
  lua_resetthread(L, co);
  printf("%d %d\n", lua_status(co), lua_gettop(co));
  run(L, "print(f())");
  luaL_loadstring(co, "return ..., 5");
  lua_pushinteger(co, 4);
  status = lua_resume(co, 1);
  printf("%d ", status);
  show(co, "returned");
  luaL_loadstring(co, "error('failed', 0)");
  status = lua_resume(co, 0);
  printf("%d %d\n", status, lua_status(co));
  lua_resetthread(L, co);
  printf("%d %d\n", lua_status(co), lua_gettop(co));
  lua_newtable(co);
  lua_replace(co, LUA_GLOBALSINDEX);
  lua_resetthread(L, co);
  lua_getglobal(co, "print");
  show(co, "globals");
  /* One that runs is left alone. */
  lua_resetthread(L, L);
  printf("%d\n", lua_gettop(L));
  lua_settop(L, 0);
}

int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  setvbuf(stdout, NULL, _IONBF, 0);
  luaL_openlibs(L);
  run(L, "io.stdout:setvbuf('no')");
  if (argc > 1) run(L, argv[1]);
  words(L);
  reset(L);
  lua_close(L);
  return 0;
}
