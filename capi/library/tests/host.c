/* A host in C that uses the C API and prints what it sees. It is compiled against the headers of Perilune and run with its library, and
   with LuaJIT's: both must print the same. Each part begins with a line of its name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void stack(lua_State *L) {
  part("stack");
  lua_pushnil(L);
  lua_pushnumber(L, 1.5);
  lua_pushinteger(L, -7);
  lua_pushboolean(L, 1);
  lua_pushliteral(L, "text");
  show(L, "five");
  lua_insert(L, 2);
  show(L, "insert");
  lua_remove(L, 1);
  show(L, "remove");
  lua_pushvalue(L, -2);
  lua_replace(L, 1);
  show(L, "replace");
  lua_copy(L, 1, 3);
  show(L, "copy");
  lua_settop(L, 7);
  show(L, "settop up");
  lua_settop(L, -4);
  show(L, "settop down");
  printf("%d %d %d\n", lua_gettop(L), lua_type(L, 20), lua_checkstack(L, 100));
  printf("%d\n", lua_checkstack(L, 1000000));
  lua_settop(L, 0);
}

static void conversions(lua_State *L) {
  size_t len;
  int ok;
  part("conversions");
  lua_pushliteral(L, "0x10");
  lua_pushliteral(L, "1e3 ");
  lua_pushliteral(L, "ten");
  lua_pushnumber(L, 3.9);
  lua_pushnumber(L, -3.9);
  lua_pushinteger(L, (lua_Integer)1 << 40);
  printf("%g %g %g\n", lua_tonumber(L, 1), lua_tonumber(L, 2), lua_tonumber(L, 3));
  printf("%d %d %d\n", lua_isnumber(L, 1), lua_isnumber(L, 3), lua_isstring(L, 4));
  printf("%ld %ld %ld\n", (long)lua_tointeger(L, 4), (long)lua_tointeger(L, 5), (long)lua_tointeger(L, 6));
  printf("%g", lua_tonumberx(L, 3, &ok));
  printf(" %d\n", ok);
  printf("%ld", (long)lua_tointegerx(L, 1, &ok));
  printf(" %d\n", ok);
  /* Both make a string of the number. */
  printf("%s", lua_tolstring(L, 6, &len));
  printf(" %d %d\n", lua_type(L, 6), (int)len);
  printf("%d", (int)lua_objlen(L, 4));
  printf(" %d\n", lua_type(L, 4));
  printf("%d %d\n", lua_tostring(L, 9) == NULL, lua_toboolean(L, 9));
  lua_settop(L, 0);
  lua_pushlstring(L, "a\0b", 3);
  printf("%d %d\n", (int)lua_objlen(L, 1), memcmp(lua_tolstring(L, 1, &len), "a\0b", 4));
  lua_pushfstring(L, "%s %d %c %f %% %s", "s", -12, 'x', 2.5, NULL);
  show(L, "pushfstring");
  lua_settop(L, 0);
  lua_pushfstring(L, "%d %d %d %d %d %f %f %f %f %f %f %f %f %f %f %s", 1, 2, 3, 4, 5, .5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5,
                  9.5, "end");
  show(L, "many");
  lua_settop(L, 0);
  lua_pushliteral(L, "10");
  lua_pushinteger(L, 10);
  lua_pushnumber(L, 10.0);
  lua_pushnumber(L, 11.5);
  printf("%d %d %d\n", lua_equal(L, 1, 2), lua_equal(L, 2, 3), lua_rawequal(L, 2, 3));
  printf("%d %d %d\n", lua_lessthan(L, 2, 4), lua_lessthan(L, 4, 2), lua_lessthan(L, 2, 9));
  lua_pushliteral(L, "-");
  lua_pushnumber(L, 0.25);
  lua_concat(L, 3);
  show(L, "concat");
  lua_concat(L, 0);
  lua_concat(L, 1);
  show(L, "concat of none");
  lua_settop(L, 0);
  for (ok = -1; ok <= 8; ok++) printf("%s ", lua_typename(L, ok));
  printf("\n");
}

static void tables(lua_State *L) {
  int i, sum = 0, n = 0;
  part("tables");
  lua_createtable(L, 4, 4);
  for (i = 1; i <= 10; i++) {
    lua_pushinteger(L, i * i);
    lua_rawseti(L, 1, i);
  }
  lua_pushliteral(L, "field");
  lua_setfield(L, 1, "name");
  lua_pushnumber(L, 2.5);
  lua_pushliteral(L, "half");
  lua_settable(L, 1);
  lua_rawgeti(L, 1, 7);
  lua_getfield(L, 1, "name");
  lua_pushnumber(L, 2.5);
  lua_gettable(L, 1);
  lua_pushliteral(L, "name");
  lua_rawget(L, 1);
  show(L, "table");
  printf("%d\n", (int)lua_objlen(L, 1));
  lua_settop(L, 1);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1), n++)
    if (lua_type(L, -1) == LUA_TNUMBER) sum += lua_tointeger(L, -1);
  printf("%d %d\n", n, sum);
  lua_settop(L, 0);
  run(L, "meta = setmetatable({}, {__index = function(t, k) return k .. '!' end, __newindex = function(t, k, v) rawset(t, k, v * 2) end,"
         "__eq = function() return true end, __lt = function() return true end, __concat = function(a, b) return 'joined' end})");
  lua_getglobal(L, "meta");
  lua_getfield(L, 1, "absent");
  lua_pushinteger(L, 21);
  lua_setfield(L, 1, "twice");
  lua_getfield(L, 1, "twice");
  show(L, "metamethods");
  lua_settop(L, 1);
  lua_pushvalue(L, 1);
  lua_concat(L, 2);
  show(L, "__concat");
  lua_settop(L, 0);
  printf("%s\n", luaL_findtable(L, LUA_GLOBALSINDEX, "a.b.c", 3) == NULL ? "made" : "not made");
  lua_pushinteger(L, 5);
  lua_setfield(L, -2, "five");
  run(L, "print(a.b.c.five)");
  printf("%s\n", luaL_findtable(L, LUA_GLOBALSINDEX, "a.b.c.five.six", 3));
  lua_settop(L, 0);
}

static int count(lua_State *L) {
  lua_Integer n = lua_tointeger(L, lua_upvalueindex(1)) + 1;
  lua_pushinteger(L, n);
  lua_pushvalue(L, -1);
  lua_replace(L, lua_upvalueindex(1));
  printf("%d %d\n", lua_type(L, lua_upvalueindex(2)), lua_type(L, lua_upvalueindex(3)));
  return 1;
}

static int add(lua_State *L) {
  lua_pushnumber(L, luaL_checknumber(L, 1) + luaL_optnumber(L, 2, 100));
  return 1;
}

static int all(lua_State *L) {
  lua_pushinteger(L, lua_gettop(L));
  lua_insert(L, 1);
  return lua_gettop(L);
}

static int fail(lua_State *L) { return luaL_error(L, "failed with %d and '%s'", 42, luaL_optstring(L, 1, "nothing")); }

static int fail_value(lua_State *L) {
  lua_settop(L, 1);
  return lua_error(L);
}

static int checks(lua_State *L) {
  static const char *const words[] = {"one", "two", NULL};
  switch (luaL_checkint(L, 1)) {
  case 1: luaL_checkinteger(L, 2); break;
  case 2: luaL_checklstring(L, 2, NULL); break;
  case 3: luaL_checktype(L, 2, LUA_TTABLE); break;
  case 4: luaL_checkany(L, 2); break;
  case 5: lua_pushinteger(L, luaL_checkoption(L, 2, "two", words)); return 1;
  case 6: luaL_argerror(L, 2, "wrong"); break;
  case 7: luaL_typerror(L, 2, "thing"); break;
  case 8: luaL_checkudata(L, 2, "thing"); break;
  case 9: luaL_checkstack(L, 100000, "too much"); break;
  case 10: luaL_argcheck(L, lua_toboolean(L, 2), 2, "must be true"); break;
  case 11: lua_pushstring(L, luaL_optstring(L, 2, "default")); return 1;
  case 12: lua_pushinteger(L, luaL_optinteger(L, 2, 99)); return 1;
  }
  return 0;
}

static void functions(lua_State *L) {
  int i;
  part("functions");
  lua_pushinteger(L, 10);
  lua_pushliteral(L, "second");
  lua_pushcclosure(L, count, 2);
  lua_setglobal(L, "count");
  lua_register(L, "add", add);
  lua_register(L, "all", all);
  lua_register(L, "fail", fail);
  lua_register(L, "fail_value", fail_value);
  lua_register(L, "checks", checks);
  run(L, "print(count(), count(), count())");
  run(L, "print(add(1, 2), add(1), add('3', '4'))");
  run(L, "print(all(), all(nil), all(1, 2, 3)) print(select('#', all(nil, nil)))");
  run(L, "print(pcall(fail, 'x'))");
  run(L, "print(pcall(fail))");
  run(L, "fail('uncaught')");
  run(L, "local ok, e = pcall(fail_value, {1}) print(ok, type(e))");
  run(L, "print(pcall(function() fail('in Lua') end))");
  run(L, "for i = 1, 12 do print(i, pcall(checks, i)) print(i, pcall(checks, i, true)) print(i, pcall(checks, i, 'two')) end");
  run(L, "local t = {checks = checks} print(pcall(function() t:checks() end)) print(pcall(function() t.checks(1) end))");
  run(L, "local t = setmetatable({}, {__index = checks}) print(pcall(function() return t.x end))");
  lua_getglobal(L, "add");
  printf("%d %d %d\n", lua_iscfunction(L, -1), lua_tocfunction(L, -1) == add, lua_isfunction(L, -1));
  lua_pop(L, 1);
  lua_getglobal(L, "add");
  lua_pushinteger(L, 30);
  lua_call(L, 1, 3);
  show(L, "call");
  lua_settop(L, 0);
  lua_getglobal(L, "all");
  for (i = 0; i < 15; i++) lua_pushinteger(L, i);
  lua_call(L, 15, LUA_MULTRET);
  show(L, "call for all");
  lua_settop(L, 0);
}

static int handler(lua_State *L) {
  lua_pushfstring(L, "handled: %s", lua_tostring(L, 1));
  return 1;
}

static int bad_handler(lua_State *L) { return luaL_error(L, "in the handler"); }

static int protected(lua_State *L) {
  /* Calls its argument, and reports by values: errors go through this frame. */
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  lua_pushinteger(L, status);
  lua_insert(L, 1);
  return lua_gettop(L);
}

static int in_cpcall(lua_State *L) {
  show(L, "cpcall");
  *(int *)lua_touserdata(L, 1) = 77;
  lua_pushliteral(L, "from cpcall");
  return lua_error(L);
}

static int traceback(lua_State *L) {
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

static void errors(lua_State *L) {
  int status, found = 0;
  part("errors");
  lua_register(L, "protected", protected);
  lua_register(L, "handler", handler);
  lua_register(L, "traceback", traceback);
  run(L, "print(protected(fail, 'deep'))");
  run(L, "print(protected(function() fail('deeper') end))");
  run(L, "print(protected(add, 1, 2))");
  run(L, "print(protected(protected, protected, fail))");
  run(L, "print(pcall(string.rep)) print(protected(string.rep))");
  run(L, "print(xpcall(fail, handler))");
  run(L, "local function f() fail('traced') end print(xpcall(f, traceback))");
  run(L, "print(pcall(error, setmetatable({}, {__tostring = function() return 'object' end})))");
  lua_pushcfunction(L, handler);
  lua_getglobal(L, "fail");
  status = lua_pcall(L, 0, 0, 1);
  printf("%d ", status);
  show(L, "with a handler");
  lua_settop(L, 0);
  lua_pushcfunction(L, bad_handler);
  lua_getglobal(L, "fail");
  status = lua_pcall(L, 0, 0, -2);
  printf("%d ", status);
  show(L, "with a bad handler");
  lua_settop(L, 0);
  lua_pushcfunction(L, handler);
  lua_getglobal(L, "add");
  lua_pushinteger(L, 1);
  lua_pushinteger(L, 2);
  status = lua_pcall(L, 2, 1, 1);
  printf("%d ", status);
  show(L, "no error");
  lua_settop(L, 0);
  lua_pushliteral(L, "below");
  status = lua_cpcall(L, in_cpcall, &found);
  printf("%d %d ", status, found);
  show(L, "after cpcall");
  lua_settop(L, 0);
  lua_pushnil(L);
  status = lua_pcall(L, 0, 0, 0);
  printf("%d ", status);
  show(L, "call of nil");
  lua_settop(L, 0);
  run(L, "local function f() return f() + 1 end local ok, e = protected(f) print(ok, (e:gsub(':.*', '')))");
  run(L, "local function f() return protected(f) end print((select('#', f())) > 0)");
}

static int loader_position;
static const char *reader(lua_State *L, void *data, size_t *size) {
  const char **pieces = (const char **)data;
  const char *s = pieces[loader_position];
  (void)L;
  if (s == NULL) return NULL;
  loader_position++;
  *size = strlen(s);
  return s;
}

static const char *bad_reader(lua_State *L, void *data, size_t *size) {
  (void)data, (void)size;
  luaL_error(L, "no more pieces");
  return NULL;
}

struct chunk {
  char bytes[10000];
  size_t size;
};

static int writer(lua_State *L, const void *p, size_t size, void *data) {
  struct chunk *chunk = (struct chunk *)data;
  (void)L;
  memcpy(chunk->bytes + chunk->size, p, size);
  chunk->size += size;
  return 0;
}

/* Calls the function in C that a builtin is. */
static int as_builtin(lua_State *L) {
  lua_CFunction f;
  lua_getglobal(L, luaL_checkstring(L, 1));
  f = lua_tocfunction(L, -1);
  lua_remove(L, 1);
  lua_pop(L, 1);
  printf("%d ", f(L));
  return 1;
}

static void builtins(lua_State *L) {
  part("builtins");
  lua_register(L, "as_builtin", as_builtin);
  run(L, "print(pcall(as_builtin, 'error', 'an error', 0)) print(as_builtin('collectgarbage', 'count') > 0)\n"
         "print(pcall(as_builtin, 'loadstring')) print(as_builtin('loadstring', 'return 7')()) print(as_builtin('dofile', '/dev/null'))\n"
         "local n = 0 for i = 1, 300 do if not pcall(as_builtin, 'error') then n = n + 1 end end print(n)");
  lua_getglobal(L, "loadstring");
  lua_pushcfunction(L, lua_tocfunction(L, -1));
  lua_pushliteral(L, "print('a copy')");
  lua_call(L, 1, 1);
  lua_call(L, 0, 0);
  lua_getglobal(L, "io");
  lua_getfield(L, -1, "lines");
  lua_pushnil(L);
  printf("%d %d\n", lua_tocfunction(L, -2) != NULL, lua_tocfunction(L, -1) == NULL);
  lua_settop(L, 0);
}

static void chunks(lua_State *L) {
  const char *pieces[] = {"return ", "1 + ", "2, ...", NULL};
  struct chunk chunk = {{0}, 0};
  int status;
  part("chunks");
  loader_position = 0;
  status = lua_load(L, reader, pieces, "=pieces");
  lua_pushliteral(L, "argument");
  printf("%d ", status);
  status = lua_pcall(L, 1, LUA_MULTRET, 0);
  printf("%d ", status);
  show(L, "load");
  lua_settop(L, 0);
  printf("%d ", lua_load(L, bad_reader, NULL, "=bad"));
  show(L, "bad reader");
  lua_settop(L, 0);
  printf("%d ", luaL_loadstring(L, "return +"));
  show(L, "syntax");
  lua_settop(L, 0);
  printf("%d ", luaL_loadbufferx(L, "return 1", 8, "@file.lua", "b"));
  show(L, "mode");
  lua_settop(L, 0);
  printf("%d ", luaL_loadfile(L, "/nonexistent/file.lua"));
  show(L, "no file");
  lua_settop(L, 0);
  luaL_loadstring(L, "local a, b = ... return a * b");
  printf("%d\n", lua_dump(L, writer, &chunk));
  lua_settop(L, 0);
  printf("%d ", luaL_loadbuffer(L, chunk.bytes, chunk.size, "dumped"));
  lua_pushinteger(L, 6);
  lua_pushinteger(L, 7);
  lua_call(L, 2, 1);
  show(L, "dumped");
  lua_settop(L, 0);
  lua_getglobal(L, "add");
  printf("%d\n", lua_dump(L, writer, &chunk));
  lua_settop(L, 0);
}

static int collected;
static int on_collect(lua_State *L) {
  collected += *(int *)luaL_checkudata(L, 1, "number");
  return 0;
}

static int number_value(lua_State *L) {
  lua_pushinteger(L, *(int *)luaL_checkudata(L, 1, "number"));
  return 1;
}

static int new_number(lua_State *L) {
  int *p = (int *)lua_newuserdata(L, sizeof(int));
  *p = luaL_checkint(L, 1);
  luaL_getmetatable(L, "number");
  lua_setmetatable(L, -2);
  return 1;
}

static void userdata(lua_State *L) {
  static const luaL_Reg methods[] = {{"value", number_value}, {NULL, NULL}};
  static const uintptr_t wide[] = {0, 5, 0x7fffffffe000, 0x200000000000, 0x3fffffffffff, 0x800000000000, 0xffffa1234567, UINTPTR_MAX - 1};
  static char key;
  unsigned i;
  void *p;
  part("userdata");
  printf("%d ", luaL_newmetatable(L, "number"));
  lua_pushcfunction(L, on_collect);
  lua_setfield(L, 1, "__gc");
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_setfield(L, 1, "__index");
  printf("%d ", luaL_newmetatable(L, "number"));
  show(L, "metatables");
  lua_settop(L, 0);
  lua_register(L, "new_number", new_number);
  run(L, "local n = new_number(5) print(n:value(), type(n)) print(pcall(n.value, {})) print(pcall(n.value, io.stdout))");
  run(L, "for i = 1, 100 do new_number(1) end");
  lua_gc(L, LUA_GCCOLLECT, 0);
  printf("%d\n", collected);
  p = lua_newuserdata(L, 100);
  printf("%d %d %d\n", lua_touserdata(L, -1) == p, (int)lua_objlen(L, -1), (int)((uintptr_t)p % 8));
  printf("%d %d\n", luaL_testudata(L, -1, "number") == NULL, lua_isuserdata(L, -1));
  lua_pushlightuserdata(L, &key);
  printf("%d %d\n", lua_touserdata(L, -1) == &key, lua_type(L, -1));
  lua_pushliteral(L, "by address");
  lua_settable(L, LUA_REGISTRYINDEX);
  for (i = 0; i < sizeof(wide) / sizeof(*wide); i++) {
    lua_pushlightuserdata(L, (void *)wide[i]);
    lua_pushlightuserdata(L, (void *)wide[i]);
    lua_pushlightuserdata(L, (void *)(wide[i] + 1));
    printf("%d %d %d ", lua_rawequal(L, -2, -3), lua_rawequal(L, -1, -2), lua_touserdata(L, -1) == (void *)(wide[i] + 1));
    printf("%d\n", lua_topointer(L, -2) == (void *)wide[i]);
    lua_pop(L, 3);
  }
  lua_pushlightuserdata(L, &key);
  lua_gettable(L, LUA_REGISTRYINDEX);
  show(L, "registry");
  lua_settop(L, 0);
  run(L, "print(io.type(io.stdout), type(io.stdout))");
  lua_newuserdata(L, 0);
  lua_newtable(L);
  lua_pushliteral(L, "env");
  lua_setfield(L, -2, "kind");
  printf("%d ", lua_setfenv(L, 1));
  lua_getfenv(L, 1);
  lua_getfield(L, -1, "kind");
  show(L, "environment");
  lua_settop(L, 0);
}

static void references(lua_State *L) {
  int a, b, c;
  part("references");
  lua_newtable(L);
  lua_pushliteral(L, "a");
  a = luaL_ref(L, 1);
  lua_pushliteral(L, "b");
  b = luaL_ref(L, 1);
  lua_pushnil(L);
  printf("%d %d %d\n", a, b, luaL_ref(L, 1));
  lua_rawgeti(L, 1, b);
  show(L, "b");
  lua_settop(L, 1);
  luaL_unref(L, 1, a);
  luaL_unref(L, 1, LUA_NOREF);
  lua_pushliteral(L, "c");
  c = luaL_ref(L, 1);
  printf("%d\n", c == a);
  lua_settop(L, 0);
}

static void buffers(lua_State *L) {
  luaL_Buffer b;
  int i;
  part("buffers");
  luaL_buffinit(L, &b);
  for (i = 0; i < 30000; i++) luaL_addchar(&b, 'a' + i % 26);
  luaL_addstring(&b, "text");
  luaL_addlstring(&b, "x\0y", 3);
  lua_pushinteger(L, 12345);
  luaL_addvalue(&b);
  for (i = 0; i < 2000; i++) {
    lua_pushfstring(L, "%d,", i);
    luaL_addvalue(&b);
  }
  strcpy(luaL_prepbuffer(&b), "prepared");
  luaL_addsize(&b, 8);
  luaL_pushresult(&b);
  printf("%d %d\n", lua_gettop(L), (int)lua_objlen(L, -1));
  lua_setglobal(L, "built");
  run(L, "local h = 0 for i = 1, #built do h = (h * 31 + built:byte(i)) % 1000003 end print(h)");
  luaL_buffinit(L, &b);
  luaL_pushresult(&b);
  show(L, "empty");
  lua_settop(L, 0);
  printf("%s\n", luaL_gsub(L, "a.b.c", ".", "::"));
  lua_settop(L, 0);
}

static int yielding(lua_State *L) {
  lua_pushliteral(L, "yielded");
  lua_insert(L, 1);
  return lua_yield(L, lua_gettop(L));
}

/* Values that a coroutine which waits is resumed with, and those that it yields: more and fewer than the other side takes, with others below
 * them; and an error. */
static void resumptions(lua_State *L) {
  lua_State *co = lua_newthread(L);
  int i, k;
  part("resumptions");
  luaL_loadstring(co,
    "local n = 0 while n < 9 do"
    " local a, b = coroutine.yield(n) n = n + 1"
    " if n % 3 == 0 then a, b = coroutine.yield(b, a, n) end"
    " local all = {coroutine.yield()}"
    " coroutine.yield(unpack(all)) coroutine.yield(#all, (coroutine.yield(a, b)))"
    " end error(coroutine.yield('last'), 0)");
  for (i = 0; lua_status(co) <= LUA_YIELD && i < 100; i++) {
    int status, n = i ? i * 7 % 5 : 0;
    for (k = 0; k < n; k++) lua_pushinteger(co, 10 * i + k);
    status = lua_resume(co, n - (n == 4));
    if (status != LUA_YIELD) {
      printf("%d %s\n", status, lua_tostring(co, -1));
      break;
    }
    show(co, "yielded");
    if (i % 3) lua_settop(co, 0);
  }
  lua_pop(L, 1);
}

static void coroutines(lua_State *L) {
  lua_State *co = lua_newthread(L);
  int status;
  part("coroutines");
  lua_register(L, "yielding", yielding);
  run(L, "local co = coroutine.wrap(function(...) print('in', yielding(...)) return 'done' end) print(co(1, 2)) print(co(3, 4))");
  run(L, "print(pcall(yielding))");
  luaL_loadstring(co, "local a = ... print('first', a) local b, c = coroutine.yield(a + 1, a + 2) print('then', b, c) return b * c");
  lua_pushinteger(co, 10);
  printf("%d %d\n", lua_status(co), lua_gettop(co));
  status = lua_resume(co, 1);
  printf("%d %d ", status, lua_status(co));
  show(co, "yield");
  lua_settop(co, 0);
  lua_pushinteger(co, 6);
  lua_pushinteger(co, 7);
  status = lua_resume(co, 2);
  printf("%d %d ", status, lua_status(co));
  show(co, "return");
  lua_settop(co, 0);
  lua_getglobal(co, "yielding");
  lua_pushliteral(co, "again");
  status = lua_resume(co, 1);
  printf("%d ", status);
  show(co, "yield in C");
  status = lua_resume(co, 0);
  printf("%d ", status);
  show(co, "end");
  lua_settop(co, 0);
  luaL_loadstring(co, "local x = nil; return x.y");
  status = lua_resume(co, 0);
  printf("%d %d ", status, lua_status(co));
  printf("%s\n", lua_tostring(co, -1));
  status = lua_resume(co, 0);
  printf("%d %s\n", status, lua_tostring(co, -1));
  co = lua_newthread(L);
  lua_pushinteger(L, 1);
  lua_pushinteger(L, 2);
  lua_xmove(L, co, 2);
  show(co, "moved");
  lua_settop(co, 0);
  lua_getglobal(co, "add");
  lua_pushinteger(co, 1);
  lua_pushinteger(co, 2);
  status = lua_pcall(co, 2, 1, 0);
  printf("%d ", status);
  show(co, "call on another");
  printf("%d", lua_pushthread(co));
  printf(" %d\n", lua_tothread(co, -1) == co);
  lua_settop(co, 0);
  luaL_loadstring(co, "return coroutine.yield('by Lua')");
  lua_pushthread(co);
  lua_xmove(co, L, 1);
  lua_setglobal(L, "co");
  run(L, "print(coroutine.status(co)) print(coroutine.resume(co)) print(coroutine.status(co)) print(coroutine.resume(co, 1, 2))"
         "print(coroutine.status(co)) print(coroutine.resume(co))");
  lua_settop(L, 0);
}

static int hooked;
static void hook(lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "Sl", ar);
  if (ar->event == LUA_HOOKLINE) printf("line %d of %s\n", ar->currentline, ar->short_src);
  if (ar->event == LUA_HOOKCOUNT && ++hooked == 3) luaL_error(L, "enough");
}

static int info(lua_State *L) {
  lua_Debug ar;
  const char *name;
  int level, i;
  for (level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "nSlu", &ar);
    printf("%d %s %s %s %s %d %d %d %d\n", level, ar.name ? ar.name : "-", ar.namewhat, ar.what, ar.short_src, ar.currentline, ar.nups,
           ar.linedefined, ar.lastlinedefined);
  }
  lua_getstack(L, 1, &ar);
  for (i = 1; (name = lua_getlocal(L, &ar, i)) != NULL && *name != '('; i++) {
    printf("%s = %s\n", name, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua_settop(L, 0);
  lua_pushliteral(L, "set from C");
  printf("%s\n", lua_setlocal(L, &ar, 1));
  lua_getinfo(L, "f", &ar);
  printf("%s", luaL_typename(L, -1));
  printf(" %s\n", lua_getupvalue(L, -1, 1));
  lua_pushinteger(L, 1000);
  printf("%s\n", lua_setupvalue(L, -3, 1));
  lua_settop(L, 0);
  return 0;
}

static void debugging(lua_State *L) {
  lua_Debug ar;
  part("debugging");
  lua_register(L, "info", info);
  run(L, "local up = 5\nlocal function f(a, b)\n  local c = a .. b\n  info()\n  return a, up\nend\nprint(f('x', 'y'))");
  luaL_loadstring(L, "return function(a, b) local x end");
  lua_call(L, 0, 1);
  printf("%s %d\n", lua_getlocal(L, NULL, 2), lua_gettop(L));
  lua_getglobal(L, "info");
  lua_getinfo(L, ">Su", &ar);
  printf("%s %s %d\n", ar.what, ar.short_src, ar.nups);
  lua_sethook(L, hook, LUA_MASKLINE, 0);
  run(L, "local x = 1\nx = x + 1\nreturn x");
  printf("%d %d\n", lua_gethook(L) == hook, lua_gethookmask(L));
  lua_sethook(L, hook, LUA_MASKCOUNT, 100);
  run(L, "jit.off() while true do end");
  run(L, "jit.on()");
  lua_sethook(L, NULL, 0, 0);
  printf("%d\n", hooked);
  luaL_where(L, 0);
  show(L, "where");
  lua_settop(L, 0);
}

static void others(lua_State *L) {
  void *data;
  part("others");
  printf("%g %d\n", *lua_version(L), lua_getallocf(L, &data) != NULL);
  printf("%d %d\n", lua_gc(L, LUA_GCCOUNT, 0) > 0, lua_gc(L, LUA_GCISRUNNING, 0));
  printf("%d", lua_gc(L, LUA_GCSETPAUSE, 150));
  printf(" %d\n", lua_gc(L, LUA_GCSETPAUSE, 200));
  lua_gc(L, LUA_GCSTOP, 0);
  printf("%d\n", lua_gc(L, LUA_GCISRUNNING, 0));
  lua_gc(L, LUA_GCRESTART, 0);
  printf("%d\n", lua_gc(L, 99, 0));
  printf("%d\n", luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON));
  luaL_fileresult(L, 1, NULL);
  show(L, "fileresult");
  lua_settop(L, 0);
  luaL_execresult(L, 3 << 8);
  show(L, "execresult");
  lua_settop(L, 0);
  run(L, "local s = 0 for i = 1, 1000 do s = s + add(i, 1) end print(s)");
  run(L, "local n = 0 for i = 1, 1000 do if not pcall(fail) then n = n + 1 end end print(n)");
}

int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  setvbuf(stdout, NULL, _IONBF, 0);
  luaL_openlibs(L);
  run(L, "io.stdout:setvbuf('no')");
  if (argc > 1) run(L, argv[1]);
  stack(L);
  conversions(L);
  tables(L);
  functions(L);
  errors(L);
  builtins(L);
  chunks(L);
  userdata(L);
  references(L);
  buffers(L);
  coroutines(L);
  resumptions(L);
  debugging(L);
  others(L);
  rest(L);
  lua_close(L);
  printf("%d\n", collected);
  return 0;
}
