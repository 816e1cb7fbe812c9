/* Hooks that signal handlers and other threads set, levels and positions in hooks, and hooks that are kept and set again. The argument is a chunk
   that each state runs first. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

static lua_State *interrupted;
static void stop(lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}
static void ask(int signal) {
  (void)signal;
  lua_sethook(interrupted, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}
static void *ask_after(void *arg) {
  struct timespec t = {0, 1000 * *(long *)arg};
  nanosleep(&t, NULL);
  ask(0);
  return NULL;
}
/* A program that makes objects, strings and table parts all the time, so that it is interrupted in the middle of that. */
static const char busy[] =
  "jit.off() function busy() while true do local f = function() return {} end local t = {} t[f] = {f(), tostring(f) .. 'x'}"
  " local s = ('k'):rep(3) .. math.random(1000000) end end";

static int is_interrupted(lua_State *L) {
  int yes;
  lua_getglobal(L, "busy");
  yes = lua_pcall(L, 0, 0, 0) == LUA_ERRRUN && strstr(lua_tostring(L, -1), "interrupted!");
  lua_settop(L, 0);
  return yes;
}
static void from_signals(lua_State *L) {
  int i, n = 0;
  signal(SIGALRM, ask);
  for (i = 0; i < 300; i++) {
    struct itimerval timer = {{0, 0}, {0, 200 + i % 97}};
    setitimer(ITIMER_REAL, &timer, NULL);
    n += is_interrupted(L);
  }
  printf("%d times\n", n);
}
static void from_threads(lua_State *L) {
  int n = 0;
  long i;
  for (i = 0; i < 100; i++) {
    pthread_t thread;
    long wait = 200 + i % 97;
    pthread_create(&thread, NULL, ask_after, &wait);
    n += is_interrupted(L);
    pthread_join(thread, NULL);
    lua_sethook(L, NULL, 0, 0);
  }
  printf("%d times\n", n);
}

/* Removes the hook, and raises an error at the position that it came to. */
static void where(lua_State *L, lua_Debug *ar) {
  lua_Debug at;
  int i;
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  for (i = 0; lua_getstack(L, i, &at); i++) {
    lua_getinfo(L, "Sl", &at);
    printf("%s:%d ", at.short_src, at.currentline);
  }
  for (i = 0; i < 3; i++) {
    luaL_where(L, i);
    printf("'%s' ", lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  printf("\n");
  luaL_error(L, "stopped");
}
static int on(lua_State *L) {
  lua_sethook(L, where, (int)luaL_checkinteger(L, 1), (int)luaL_optinteger(L, 2, 0));
  return 0;
}

static lua_Hook kept;
static int kept_mask, kept_count;
static void nothing(lua_State *L, lua_Debug *ar) { (void)L, (void)ar; }
static int keep(lua_State *L) {
  kept = lua_gethook(L), kept_mask = lua_gethookmask(L), kept_count = lua_gethookcount(L);
  lua_sethook(L, nothing, LUA_MASKCALL, 0);
  lua_pushboolean(L, lua_gethook(L) == nothing && lua_gethookmask(L) == LUA_MASKCALL);
  return 1;
}
static int set_again(lua_State *L) {
  lua_sethook(L, kept, kept_mask, kept_count);
  return 0;
}
static int is_set(lua_State *L) {
  lua_pushboolean(L, lua_gethook(L) != NULL);
  return 1;
}

int main(int argc, char **argv) {
  lua_State *L = interrupted = luaL_newstate();
  luaL_openlibs(L);
  run(L, argc > 1 ? argv[1] : "");
  lua_register(L, "on", on);
  lua_register(L, "keep", keep);
  lua_register(L, "set_again", set_again);
  lua_register(L, "is_set", is_set);
  part("levels");
  run(L, "local function f()\n on(8, 100)\n local s = 0\n for i = 1, 1e4 do s = s + 1 end\n end\n local function g()\n f()\n return 1\n end\n"
         "jit.off(f) print(pcall(g)) print(pcall(f)) print(coroutine.resume(coroutine.create(g)))\n"
         "print(pcall(function() on(4)\n local x = 1\n return x end)) print(pcall(function() on(1)\n math.abs(1)\n end))");
  part("kept");
  run(L, "local n = 0 debug.sethook(function() n = n + 1 end, 'l')\n local x\n local y\n local before = n\n print(before > 0, is_set(), keep())\n n = 0\n"
         "set_again()\n local z\n print(n > 0) debug.sethook()\n print(is_set())");
  run(L, "on(8, 1000) print((debug.gethook())) debug.sethook() print(debug.gethook(), is_set())");
  run(L, busy);
  part("from signals");
  from_signals(L);
  part("from threads");
  from_threads(L);
  lua_close(L);
  return 0;
}
