/* What the hosts print by. */
#include <string.h>

#include "host.h"

void show(lua_State *L, const char *what) {
  int i, n = lua_gettop(L);
  printf("%s:", what);
  for (i = 1; i <= n; i++) {
    switch (lua_type(L, i)) {
    case LUA_TNUMBER: printf(" %.14g", lua_tonumber(L, i)); break;
    case LUA_TSTRING: printf(" '%s'", lua_tostring(L, i)); break;
    case LUA_TBOOLEAN: printf(" %s", lua_toboolean(L, i) ? "true" : "false"); break;
    default: printf(" %s", luaL_typename(L, i));
    }
  }
  printf("\n");
}

void run(lua_State *L, const char *code) {
  int top = lua_gettop(L);
  if (luaL_loadbuffer(L, code, strlen(code), "=code") || lua_pcall(L, 0, LUA_MULTRET, 0)) {
    printf("error: %s\n", lua_tostring(L, -1));
  }
  lua_settop(L, top);
}
