/* The functions of the C API that host.c does not call, and calls with arguments that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static int to_text(lua_State *L) {
  lua_pushfstring(L, "text of a %s", luaL_typename(L, 1));
  return 1;
}

static int fails(lua_State *L) { return luaL_error(L, "failed in %s", "a metamethod"); }

static int call_meta(lua_State *L) {
  lua_pushboolean(L, luaL_callmeta(L, 1, luaL_checkstring(L, 2)));
  return lua_gettop(L) - 2;
}

static void metatables(lua_State *L) {
  part("metatables");
  lua_register(L, "call_meta", call_meta);
  lua_newtable(L);
  printf("%d %d %d\n", lua_getmetatable(L, 1), lua_getmetatable(L, 5), lua_gettop(L));
  printf("%d %d\n", luaL_getmetafield(L, 1, "__name"), luaL_callmeta(L, 1, "__tostring"));
  luaL_newmetatable(L, "kind");
  lua_pushcfunction(L, to_text);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, fails);
  lua_setfield(L, -2, "__fails");
  lua_pushliteral(L, "__plain");
  lua_pushinteger(L, 3);
  lua_rawset(L, -3);
  lua_settop(L, 1);
  luaL_setmetatable(L, "kind");
  printf("%d %d\n", lua_getmetatable(L, 1), lua_istable(L, -1));
  lua_settop(L, 1);
  printf("%d ", luaL_getmetafield(L, 1, "__plain"));
  printf("%d ", luaL_getmetafield(L, 1, "__absent"));
  printf("%d ", luaL_callmeta(L, 1, "__tostring"));
  show(L, "fields of metatables");
  lua_settop(L, 1);
  lua_setglobal(L, "thing");
  run(L, "print(call_meta(thing, '__tostring')) print(call_meta(thing, '__absent')) print(call_meta(1, '__tostring'))"
         "print(pcall(call_meta, thing, '__fails')) print(pcall(call_meta, thing, '__plain'))");
  lua_pushinteger(L, 1);
  luaL_setmetatable(L, "no such kind");
  printf("%d\n", lua_getmetatable(L, 1));
  lua_settop(L, 0);
  lua_pushliteral(L, "s");
  printf("%d ", lua_getmetatable(L, 1));
  lua_getfield(L, -1, "__index");
  lua_getglobal(L, "string");
  printf("%d\n", lua_rawequal(L, -1, -2));
  lua_settop(L, 0);
}

static int up(lua_State *L) {
  lua_pushfstring(L, "%s", lua_tostring(L, lua_upvalueindex(1)));
  return 1;
}

static int option(lua_State *L) {
  size_t len = 77;
  const char *s = luaL_optlstring(L, 1, "default", &len);
  lua_pushfstring(L, "%s %d", s, (int)len);
  s = luaL_optlstring(L, 2, NULL, &len);
  lua_pushfstring(L, "%s %d", s, (int)len);
  return 2;
}

static void modules(lua_State *L) {
  static const luaL_Reg list[] = {{"up", up}, {"also", up}, {NULL, NULL}};
  part("modules");
  luaL_pushmodule(L, "outer.inner", 2);
  lua_pushliteral(L, "shared");
  luaL_setfuncs(L, list, 1);
  show(L, "setfuncs");
  lua_settop(L, 0);
  run(L, "print(outer.inner.up(), outer.inner.also(), package.loaded['outer.inner'] == outer.inner)");
  luaL_pushmodule(L, "outer.inner", 2);
  lua_getglobal(L, "outer");
  lua_getfield(L, -1, "inner");
  printf("%d\n", lua_rawequal(L, 1, -1));
  lua_settop(L, 0);
  lua_pushliteral(L, "of openlib");
  luaL_openlib(L, "opened", list, 1);
  show(L, "openlib");
  lua_settop(L, 0);
  run(L, "print(opened.up(), package.loaded.opened == opened)");
  lua_newtable(L);
  lua_pushliteral(L, "into a table");
  luaL_openlib(L, NULL, list, 1);
  lua_setglobal(L, "filled");
  run(L, "print(filled.up())");
  lua_settop(L, 0);
  lua_register(L, "option", option);
  run(L, "print(option()) print(option('given', 'too')) print(option(nil, 12)) print(pcall(option, {})) print(pcall(option, 's', true))");
  run(L, "name_in_use = 1");
  lua_pushcfunction(L, call_meta);
  printf("%s\n", luaL_findtable(L, LUA_GLOBALSINDEX, "name_in_use.part", 1));
  lua_settop(L, 0);
}

static const char *format(lua_State *L, const char *fmt, ...) {
  const char *s;
  va_list list;
  va_start(list, fmt);
  s = lua_pushvfstring(L, fmt, list);
  va_end(list);
  return s;
}

static void texts(lua_State *L) {
  part("texts");
  printf("%s\n", format(L, "%s|%d|%f|%c|%%|%s", "text", -3, 0.5, 'c', NULL));
  printf("%s\n", format(L, "%d %d %d %d %d %d %d %f %f %f %f %f %f %f %f %f %s", 1, 2, 3, 4, 5, 6, 7, .1, .2, .3, .4, .5, .6, .7, .8, .9, "end"));
  printf("%d\n", lua_gettop(L));
  lua_settop(L, 0);
  lua_pushlstring(L, NULL, 0);
  lua_pushstring(L, NULL);
  show(L, "texts that are null");
  lua_settop(L, 0);
  lua_newtable(L);
  lua_pushvalue(L, 1);
  lua_newuserdata(L, 8);
  lua_pushcfunction(L, up);
  lua_pushinteger(L, 1);
  printf("%d %d %d", lua_topointer(L, 1) == lua_topointer(L, 2), lua_topointer(L, 3) == lua_touserdata(L, 3), lua_topointer(L, 4) != NULL);
  printf(" %d %d\n", lua_topointer(L, 5) == NULL, lua_topointer(L, 9) == NULL);
  printf("%d %d %d %d\n", lua_touserdata(L, 1) == NULL, lua_tothread(L, 1) == NULL, lua_tocfunction(L, 1) == NULL, lua_iscfunction(L, 5));
  printf("%d %d\n", (int)lua_objlen(L, 5), (int)lua_objlen(L, 9));
  printf("%g %d %d\n", lua_tonumber(L, 1), (int)lua_tointeger(L, 9), lua_rawequal(L, 1, 9));
  lua_settop(L, 0);
}

static int loader_position;
static const char *piece(lua_State *L, void *data, size_t *size) {
  const char *s = ((const char **)data)[loader_position];
  (void)L;
  if (s == NULL) return NULL;
  loader_position++;
  *size = strlen(s);
  return s;
}

static void chunks(lua_State *L) {
  const char *pieces[] = {"return ", "'from pieces'", NULL};
  FILE *file;
  part("loading");
  printf("%d ", lua_loadx(L, piece, pieces, "=pieces", "t"));
  printf("%d ", lua_pcall(L, 0, 1, 0));
  loader_position = 0;
  printf("%d ", lua_loadx(L, piece, pieces, "=pieces", "b"));
  show(L, "loadx");
  lua_settop(L, 0);
  printf("%d ", luaL_loadfilex(L, "/nonexistent/file.lua", "t"));
  show(L, "loadfilex");
  lua_settop(L, 0);
  if ((file = fopen("host_chunk.lua", "w")) == NULL) return;
  fputs("#!first line\nreturn ..., 'from a file'", file);
  fclose(file);
  printf("%d ", luaL_loadfilex(L, "host_chunk.lua", "b"));
  show(L, "mode");
  lua_settop(L, 0);
  printf("%d ", luaL_loadfilex(L, "host_chunk.lua", NULL));
  lua_pushinteger(L, 1);
  printf("%d ", lua_pcall(L, 1, LUA_MULTRET, 0));
  show(L, "file");
  lua_settop(L, 0);
  remove("host_chunk.lua");
}

static int yieldable(lua_State *L) {
  lua_pushboolean(L, lua_isyieldable(L));
  return 1;
}

static void no_hook(lua_State *L, lua_Debug *ar) { (void)L, (void)ar; }
static void show_lines(lua_State *L, lua_Debug *ar) {
  int line = ar->currentline;
  lua_getinfo(L, "Sl", ar);
  printf("%d %d %s\n", line, ar->currentline, ar->short_src);
}

static void functions(lua_State *L) {
  void *first;
  part("upvalues");
  lua_register(L, "yieldable", yieldable);
  run(L, "print(yieldable(), coroutine.wrap(yieldable)(), coroutine.wrap(function() return yieldable() end)())");
  run(L, "local a, b = 1, 2 function f() return a, b end function g() return b, a end");
  lua_getglobal(L, "f");
  lua_getglobal(L, "g");
  lua_pushinteger(L, 5);
  lua_pushcclosure(L, up, 1);
  printf("%d %d ", lua_upvalueid(L, 1, 1) == lua_upvalueid(L, 2, 2), lua_upvalueid(L, 1, 1) == lua_upvalueid(L, 2, 1));
  printf("%d\n", lua_upvalueid(L, 3, 1) != NULL);
  first = lua_upvalueid(L, 2, 1);
  lua_upvaluejoin(L, 1, 1, 2, 1);
  printf("%d\n", lua_upvalueid(L, 1, 1) == first);
  run(L, "print(f()) print(g())");
  printf("%d %d\n", lua_getupvalue(L, 1, 3) == NULL, lua_getupvalue(L, 1, 0) == NULL);
  lua_pushinteger(L, 9);
  printf("%d", lua_setupvalue(L, 1, 3) == NULL);
  printf(" '%s'", lua_setupvalue(L, 3, 1));
  printf(" '%s'", lua_getupvalue(L, 3, 1));
  show(L, "upvalues");
  lua_settop(L, 0);
  lua_sethook(L, no_hook, LUA_MASKCOUNT, 1234);
  printf("%d %d\n", lua_gethookcount(L), lua_gethookmask(L) == LUA_MASKCOUNT);
  lua_sethook(L, NULL, 0, 0);
  printf("%d %d\n", lua_gethookcount(L), lua_gethook(L) == NULL);
  lua_sethook(L, show_lines, LUA_MASKLINE, 0);
  run(L, "local n = 1\nn = string.len('a') + math.floor(n)");
  lua_sethook(L, NULL, 0, 0);
}

static jmp_buf back;
static int panic_calls;
static int panic(lua_State *L) {
  panic_calls++;
  printf("panic: %s\n", lua_tostring(L, -1));
  longjmp(back, 1);
}

static void *allocate(void *data, void *p, size_t old, size_t size) {
  (void)old;
  ++*(int *)data;
  if (size == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, size);
}

static void states(void) {
  int calls = 0, other = 0;
  void *data;
  lua_State *L = lua_newstate(allocate, &calls);
  part("states");
  if (L == NULL) {
    printf("no state\n");
    return;
  }
  printf("%d", lua_getallocf(L, &data) == allocate);
  printf(" %d\n", data == &calls);
  lua_setallocf(L, allocate, &other);
  printf("%d", lua_getallocf(L, &data) == allocate);
  printf(" %d\n", data == &other);
  lua_setallocf(L, allocate, &calls);
  printf("%d", lua_atpanic(L, panic) == NULL);
  printf(" %d\n", lua_atpanic(L, panic) == panic);
  lua_pushliteral(L, "global without libraries");
  lua_setglobal(L, "x");
  lua_getglobal(L, "x");
  lua_getglobal(L, "print");
  show(L, "new state");
  lua_settop(L, 0);
  if (setjmp(back) == 0) {
    lua_pushliteral(L, "not caught");
    lua_error(L);
  }
  printf("%d\n", panic_calls);
  if (setjmp(back) == 0) {
    lua_settop(L, 0);
    luaL_checknumber(L, 1);
  }
  printf("%d\n", panic_calls);
  lua_close(L);
}

static void libraries(void) {
  static const struct {
    const char *name;
    lua_CFunction open;
  } list[] = {
      {"", luaopen_base},         {LUA_LOADLIBNAME, luaopen_package}, {LUA_TABLIBNAME, luaopen_table}, {LUA_IOLIBNAME, luaopen_io},
      {LUA_OSLIBNAME, luaopen_os}, {LUA_STRLIBNAME, luaopen_string},   {LUA_MATHLIBNAME, luaopen_math}, {LUA_DBLIBNAME, luaopen_debug},
      {LUA_BITLIBNAME, luaopen_bit}, {LUA_JITLIBNAME, luaopen_jit},    {"string.buffer", luaopen_string_buffer},
      {"ffi", luaopen_ffi},
  };
  lua_State *L = luaL_newstate();
  size_t i;
  part("libraries");
  for (i = 0; i < sizeof(list) / sizeof(*list); i++) {
    lua_pushcfunction(L, list[i].open);
    lua_pushstring(L, list[i].name);
    printf("'%s' %d", list[i].name, lua_pcall(L, 1, LUA_MULTRET, 0));
    printf(" %d\n", lua_gettop(L) > 0);
    lua_settop(L, 0);
  }
  run(L, "print(type(print), type(coroutine.wrap), type(table.concat), type(io.write), type(os.time), type(string.rep), type(math.sin),"
         "type(debug.getinfo), type(bit.band), type(jit.on), type(package.loaded), type(require('string.buffer').new), require('ffi').sizeof('int'))");
  lua_close(L);
  /* The table of loaded modules is there before the first library; the base library is opened after another one. */
  L = luaL_newstate();
  luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 1);
  lua_pushcfunction(L, luaopen_string);
  lua_call(L, 0, 0);
  lua_getglobal(L, "print");
  lua_getglobal(L, "string");
  lua_pushcfunction(L, luaopen_base);
  lua_call(L, 0, 0);
  lua_getglobal(L, "print");
  show(L, "before and after the base library");
  lua_settop(L, 0);
  luaL_loadstring(L, "return 1LL");
  lua_call(L, 0, 1);
  show(L, "a literal without a library");
  lua_close(L);
}

static int samples, bad_states, dumped;
static void sample(void *data, lua_State *L, int n, int state) {
  size_t len = 0;
  (void)n;
  if (strchr("NICGJ", state) == NULL) bad_states++;
  if (luaJIT_profile_dumpstack(L, "l|", 3, &len) != NULL) dumped += len;
  ++*(int *)data;
}

static int enough(lua_State *L) {
  lua_pushboolean(L, samples >= 3);
  return 1;
}

static int dump(lua_State *L) {
  size_t len;
  int depth = luaL_checkint(L, 2);
  const char *s = luaJIT_profile_dumpstack(L, luaL_checkstring(L, 1), depth, &len), *end = s + len;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  while (s < end) {
    luaL_addchar(&b, *s);
    /* Addresses of functions differ from run to run. */
    s += *s == '@' ? 1 + strspn(s + 1, "0123456789abcdefx") : 1;
  }
  luaL_pushresult(&b);
  return 1;
}

static void profiles(lua_State *L) {
  part("profiles");
  lua_register(L, "enough", enough);
  lua_register(L, "dump", dump);
  luaJIT_profile_start(L, "li1", sample, &samples);
  run(L, "local n = 0 repeat for i = 1, 10000 do n = n + i % 7 end until enough()");
  luaJIT_profile_stop(L);
  printf("%d %d %d\n", samples >= 3, bad_states, dumped > 0);
  luaJIT_profile_stop(L);
  luaJIT_profile_start(L, "i1000000", sample, &samples);
  run(L, "local function inner() return (dump('l;', 2)) end local function outer() return (inner()) end print(outer())"
         "function named(fmt, depth) return (dump(fmt, depth)) end function calls_named(fmt, depth) return (named(fmt, depth)) end "
         "print(calls_named('l|', 10)) print(calls_named('l|', -10)) print(calls_named('lZ>', 2)) print(calls_named('', 3) == '')");
  luaJIT_profile_stop(L);
}

static void modes(lua_State *L) {
  part("modes");
  run(L, "function f() end");
  lua_getglobal(L, "f");
  printf("%d ", luaJIT_setmode(L, -1, LUAJIT_MODE_FUNC | LUAJIT_MODE_OFF));
  printf("%d ", luaJIT_setmode(L, -1, LUAJIT_MODE_ALLFUNC | LUAJIT_MODE_ON));
  printf("%d ", luaJIT_setmode(L, -1, LUAJIT_MODE_ALLSUBFUNC | LUAJIT_MODE_FLUSH));
  printf("%d ", luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH));
  printf("%d ", luaJIT_setmode(L, 999, LUAJIT_MODE_TRACE | LUAJIT_MODE_FLUSH));
  lua_pushinteger(L, 1);
  printf("%d ", luaJIT_setmode(L, -1, LUAJIT_MODE_FUNC | LUAJIT_MODE_OFF));
  printf("%d ", luaJIT_setmode(L, -1, LUAJIT_MODE_WRAPCFUNC | LUAJIT_MODE_ON));
  printf("%d\n", luaJIT_setmode(L, 0, 99));
  lua_settop(L, 0);
}

static int wrapped;
static int wrap(lua_State *L, lua_CFunction f) {
  wrapped++;
  return f(L);
}
static int set_wrapper(lua_State *L) {
  int on = lua_toboolean(L, 1) ? LUAJIT_MODE_ON : LUAJIT_MODE_OFF;
  lua_pushlightuserdata(L, (void *)wrap);
  luaJIT_setmode(L, -1, LUAJIT_MODE_WRAPCFUNC | on);
  return 0;
}
static int count_wrapped(lua_State *L) {
  lua_pushinteger(L, wrapped);
  return 1;
}
static int arguments(lua_State *L) { return lua_gettop(L); }
static int call_argument(lua_State *L) {
  lua_call(L, 0, 0);
  return 0;
}

/* Functions in C called from frames of all kinds, and by a wrapper that is set while other calls run. */
static void calls(lua_State *L) {
  part("calls");
  lua_register(L, "arguments", arguments);
  lua_register(L, "call_argument", call_argument);
  lua_register(L, "set_wrapper", set_wrapper);
  lua_register(L, "count_wrapped", count_wrapped);
  run(L, "local arguments, n = arguments, 0 "
         "local function tail(a, b, c, d, e, f) return arguments(f) end "
         "local function variable(...) local a, b, c return arguments(...) end "
         "local t = setmetatable({}, {__index = arguments, __call = arguments, __add = arguments, __concat = arguments}) "
         "for i = 1, 200 do local a, b, c, d = i, i, i, arguments(i) "
         "n = n + d + tail(1, 2, 3, 4, 5, 6) + variable(i, 2) + select('#', variable()) + select('#', t(1, 2), variable(t(1, 2, 3))) "
         "n = n + ((t + 1) == t and 1 or 0) + ((t .. 1) == t and 1 or 0) + (t[i] == t and 1 or 0) + select('#', pcall(arguments, i, i)) "
         "for x, y in arguments, nil, nil do n = n + 1 end end print(n) "
         "print(select('#', coroutine.wrap(arguments)(1, 2, 3)))");
  run(L, "call_argument(function() set_wrapper(true) arguments() end) arguments() arguments() "
         "call_argument(function() arguments() end) for i = 1, 200 do arguments(i) end "
         "set_wrapper(false) for i = 1, 200 do arguments(i) end print(count_wrapped())");
}

void rest(lua_State *L) {
  metatables(L);
  modules(L);
  texts(L);
  chunks(L);
  functions(L);
  states();
  libraries();
  profiles(L);
  modes(L);
  calls(L);
}
