// A host in C++: exceptions through Lua, and errors of Lua through frames with destructors. Perilune and LuaJIT print the same.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "lua.hpp"

static int alive, ended;

struct Object {
  std::string name;
  explicit Object(const char *s) : name(s) { alive++; }
  ~Object() {
    alive--;
    ended++;
  }
};

struct Exception : std::runtime_error {
  Object held;
  explicit Exception(const char *s) : std::runtime_error(s), held(s) {}
};

static int raise(lua_State *L) {
  Object local("local");
  throw Exception(luaL_checkstring(L, 1));
}

static int fail(lua_State *L) {
  Object local("local");
  return luaL_error(L, "failed: %s", luaL_optstring(L, 1, "-"));
}

static int check(lua_State *L) {
  Object local("local");
  luaL_checknumber(L, 1);
  return 0;
}

// Calls its argument with an object in its frame.
static int call(lua_State *L) {
  Object local("local");
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int protect(lua_State *L) {
  Object local("local");
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  lua_pushinteger(L, status);
  lua_insert(L, 1);
  return lua_gettop(L);
}

static int catches(lua_State *L) {
  try {
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
  } catch (const Exception &e) {
    lua_pushfstring(L, "caught %s", e.what());
  } catch (...) {
    lua_pushliteral(L, "caught something");
  }
  return 1;
}

static int again(lua_State *L) {
  try {
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
  } catch (...) {
    throw;
  }
}

static int many(lua_State *L) {
  for (int i = 0; i < 10000; i++) {
    lua_pushcfunction(L, i % 2 ? fail : raise);
    lua_pushliteral(L, "one of many");
    if (lua_pcall(L, 1, 0, 0) != LUA_ERRRUN) return luaL_error(L, "no error");
    lua_settop(L, 0);
  }
  lua_pushinteger(L, alive);
  return 1;
}

static int wrap(lua_State *L, lua_CFunction f) {
  try {
    return f(L);
  } catch (const Exception &e) {
    lua_pushfstring(L, "wrapped: %s", e.what());
  }
  return lua_error(L);
}

static void run(lua_State *L, const char *code) {
  ended = 0;
  if (luaL_loadbuffer(L, code, std::string(code).size(), "=code") || lua_pcall(L, 0, 0, 0)) std::printf("error: %s\n", lua_tostring(L, -1));
  lua_settop(L, 0);
  std::printf("alive %d, ended %d\n", alive, ended);
}

int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  luaL_openlibs(L);
  run(L, "io.stdout:setvbuf('no')");
  if (argc > 1 && luaL_dostring(L, argv[1])) std::printf("error: %s\n", lua_tostring(L, -1));
  lua_register(L, "raise", raise);
  lua_register(L, "fail", fail);
  lua_register(L, "check", check);
  lua_register(L, "call", call);
  lua_register(L, "protect", protect);
  lua_register(L, "catches", catches);
  lua_register(L, "again", again);
  lua_register(L, "many", many);
  run(L, "print(pcall(fail, 'one'))");
  run(L, "print(pcall(check, {}))");
  run(L, "print(pcall(raise, 'thrown'))");
  run(L, "print(xpcall(function() raise('thrown') end, function(e) return 'handled ' .. e end))");
  run(L, "raise('not caught')");
  run(L, "print(pcall(call, fail, 'through a frame')) print(pcall(call, call, call, fail)) print(pcall(call, error, 'in Lua'))");
  run(L, "print(pcall(call, raise, 'through a frame')) print(pcall(call, function() call(raise, 'and Lua') end))");
  run(L, "print(protect(raise, 'x')) print(protect(call, fail, 'x')) print(protect(function() raise('y') end))");
  run(L, "print(catches(raise, 'by its type')) print(catches(call, raise, 'through a frame'))");
  run(L, "print(catches(function() call(function() raise('through Lua') end) end))");
  run(L, "print(catches(fail)) print(catches(error, 'x')) print(catches(call, fail))");
  run(L, "print(catches(function() local ok, e = pcall(raise, 'first') error(e) end))");
  run(L, "print(pcall(again, fail, 'twice')) print(pcall(again, raise, 'twice')) print(catches(again, raise, 'twice'))");
  run(L, "local co = coroutine.create(function() raise('in a coroutine') end) print(coroutine.resume(co))"
         "print(pcall(coroutine.wrap(function() call(fail, 'in a coroutine') end)))");
  run(L, "print(many())");
  run(L, "local n = 0 for i = 1, 300 do if not pcall(raise, 'in a loop') then n = n + 1 end end print(n)");
  run(L, "local n = 0 for i = 1, 300 do if not pcall(call, fail) then n = n + 1 end end print(n)");
  try {
    lua_getglobal(L, "raise");
    lua_pushliteral(L, "to the host");
    lua_call(L, 1, 0);
  } catch (const Exception &e) {
    std::printf("the host caught %s\n", e.what());
  }
  lua_settop(L, 0);
  lua_pushlightuserdata(L, reinterpret_cast<void *>(wrap));
  luaJIT_setmode(L, -1, LUAJIT_MODE_WRAPCFUNC | LUAJIT_MODE_ON);
  lua_settop(L, 0);
  run(L, "print(pcall(raise, 'a wrapper')) print(pcall(fail))");
  luaJIT_setmode(L, 0, LUAJIT_MODE_WRAPCFUNC | LUAJIT_MODE_OFF);
  lua_close(L);
  std::printf("alive %d\n", alive);
  return 0;
}
