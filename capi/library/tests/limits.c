/* Where calls, stacks and memory end, and what functions in C change that compiled code knows. The argument is a chunk that each state runs first. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static int between(lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}
static int no_room(lua_State *L) {
  luaL_checkstack(L, 1 << 30, NULL);
  return 0;
}
static int resume_itself(lua_State *L) {
  int status = lua_resume(L, (int)lua_tointeger(L, 1));
  printf("status %d, %d values, %s\n", status, lua_gettop(L), lua_tostring(L, -1));
  return 0;
}
static int yield(lua_State *L) { return lua_yield(L, 0); }

/* Sets a local of the caller, or an upvalue of a function, at each 500th call. */
static int calls;
static int set_local(lua_State *L) {
  lua_Debug at;
  const char *name;
  int i;
  if (++calls % 500) return 0;
  lua_getstack(L, 1, &at);
  for (i = 1; (name = lua_getlocal(L, &at, i)) != NULL; i++) {
    lua_pop(L, 1);
    if (strcmp(name, lua_tostring(L, 1)) == 0) {
      lua_pushvalue(L, 2);
      lua_setlocal(L, &at, i);
      return 0;
    }
  }
  return 0;
}
static int set_upvalue(lua_State *L) {
  if (++calls % 500 == 0) {
    lua_pushvalue(L, 2);
    lua_setupvalue(L, 1, 1);
  }
  return 0;
}

/* Through the address of a cdata or userdata C reads and writes what is in it. */
static int add_one(lua_State *L) {
  lua_pushinteger(L, ++*(int *)lua_topointer(L, 1));
  return 1;
}
static int block(lua_State *L) {
  *(int *)lua_newuserdata(L, sizeof(int)) = 0;
  return 1;
}
static int address(lua_State *L) {
  char text[40];
  snprintf(text, sizeof text, "0x%08lx", (unsigned long)(uintptr_t)lua_touserdata(L, 1));
  lua_pushstring(L, text);
  return 1;
}

static int collects(lua_State *L) {
  lua_gc(L, LUA_GCCOLLECT, 0);
  calls++;
  return 0;
}

static size_t bytes, most;
static void *allocate(void *data, void *p, size_t before, size_t after) {
  (void)data;
  if (!p) before = 0;
  if (after == 0) {
    bytes -= before;
    free(p);
    return NULL;
  }
  if (after > before && most && bytes + after - before > most) return NULL;
  if ((p = realloc(p, after)) != NULL) bytes += after - before;
  return p;
}

static lua_State *open(const char *first, lua_Alloc f) {
  static const luaL_Reg functions[] = {{"between", between},         {"no_room", no_room},     {"resume_itself", resume_itself},
                                       {"yield", yield},             {"set_local", set_local}, {"set_upvalue", set_upvalue},
                                       {"add_one", add_one},         {"block", block},         {"address", address},
                                       {"collects", collects},       {NULL, NULL}};
  lua_State *L = f ? lua_newstate(f, NULL) : luaL_newstate();
  luaL_openlibs(L);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  luaL_register(L, NULL, functions);
  lua_pop(L, 1);
  run(L, first);
  return L;
}

int main(int argc, char **argv) {
  const char *first = argc > 1 ? argv[1] : "";
  lua_State *L = open(first, NULL), *T;
  part("depth");
  run(L, "local function f(n) if n == 0 then return 0 end return 1 + between(f, n - 1) end print(f(150), f(1500))\n"
         "local function g(n) return n == 0 and 0 or (('x'):gsub('x', function() return g(n - 1) + 1 end)) end print(g(150))");
  calls = 0;
  run(L, "for i = 1, 300 do local p = newproxy(true) getmetatable(p).__gc = collects end");
  lua_gc(L, LUA_GCCOLLECT, 0);
  printf("%d finalizers\n", calls);
  part("overflow");
  run(L, "print(pcall(no_room))");
  T = lua_newthread(L);
  luaL_loadstring(T, "local function f() return 1 + f() end return f()");
  {
    int status = lua_resume(T, 0);
    printf("%d %d %d\n", status, lua_status(T), lua_isstring(T, -1) && strstr(lua_tostring(T, -1), "stack overflow"));
  }
  lua_settop(L, 0);
  part("running");
  run(L, "local function f() local a, b = 1, 2 resume_itself(0, 3) resume_itself(1, 3) return a, b end print(f())\n"
         "print(coroutine.wrap(f)()) print(pcall(yield))");
  part("compiled");
  calls = 0;
  run(L, "local x, s = 1, 0 for i = 1, 3000 do set_local('x', i) s = s + x end print(s, x)\n"
         "local y, s = 1, 0 local function get() return y end for i = 1, 3000 do set_upvalue(get, i) s = s + y end print(s, y)");
  part("addresses");
  run(L, "local ffi = require('ffi') local c = ffi.new('struct { int a, b; }', 6) local s = 0 for i = 1, 300 do s = s + add_one(c) end print(s, c.a)\n"
         "local u = block() add_one(u) print(add_one(u), string.format('%p', u) == address(u), tostring(u) == 'userdata: ' .. address(u))");
  lua_close(L);
  part("base library");
  L = luaL_newstate();
  lua_pushcfunction(L, luaopen_base);
  lua_call(L, 0, 0);
  run(L, "print(dofile ~= nil, loadfile ~= nil, load ~= nil, io)");
  lua_close(L);
  part("memory");
  L = open(first, allocate);
  for (most = 3 << 20; most <= 12 << 20; most *= 2) {
    run(L, "local function f(n) return 1 + f(n + 1) end local ok, e = pcall(f, 1) print(ok)");
    lua_gc(L, LUA_GCCOLLECT, 0);
    run(L, "local t = {} for i = 1, 1000 do t[i] = {i} end print('usable')");
  }
  printf("%d\n", bytes < 2 << 20);
  most = 0;
  lua_close(L);
  return 0;
}
