/* States in threads, on stacks of several sizes, and very many errors through frames of C. The arguments are a chunk that each state runs
   first and a number of errors. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "host.h"

static const char *first = "";

/* A function in C between two of Lua, whose frame an error goes through. */
static int between(lua_State *L) {
  char frame[64];
  memset(frame, lua_gettop(L), sizeof frame);
  lua_call(L, lua_gettop(L) - 1, 1);
  return frame[0] > 0;
}
static int fail(lua_State *L) { return luaL_error(L, "an error in C with %d", lua_tointeger(L, 1)); }

static lua_State *open(void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_register(L, "between", between);
  lua_register(L, "fail", fail);
  if (luaL_dostring(L, first)) printf("%s\n", lua_tostring(L, -1));
  return L;
}

/* Errors of C, of Lua, of the VM; they go through frames of C in all orders. Prints nothing but what is wrong. */
static const char errors[] =
  "local n = ... local kinds = {fail, function() between(fail, 7) end, function() between(error, 'text') end,"
  " function() between(function() local t = nil; return t.x end) end, function() error({}) end}"
  " for i = 1, n do local ok = pcall(kinds[i % 5 + 1], i) if ok then print('no error', i) end end return n";

static long kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void many_errors(int n) {
  lua_State *L = open();
  int failed = 0, i;
  long before = 0;
  if (luaL_loadstring(L, errors)) printf("%s\n", lua_tostring(L, -1));
  /* The second half must not need more memory than the first, but for that of compiling a trace: up to 4 MB if it is the first one. */
  for (i = 0; i < 2; i++) {
    if (i == 1) before = kilobytes();
    lua_pushvalue(L, 1);
    lua_pushinteger(L, n / 4);
    if (lua_pcall(L, 1, 1, 0)) printf("%s\n", lua_tostring(L, -1));
    lua_settop(L, 1);
    while (failed < n / 4 * (i + 1)) {
      lua_pushcfunction(L, fail);
      lua_pushinteger(L, failed);
      failed += lua_pcall(L, 1, 0, 0) == LUA_ERRRUN;
      lua_settop(L, 1);
    }
  }
  printf("%d values, %s\n", lua_gettop(L), kilobytes() - before < 4096 ? "no growth" : "growth");
  lua_close(L);
}

/* Compiles, collects, fails, resumes. */
static const char work[] =
  "local sum, t = 0, {} for i = 1, 20000 do sum = sum + i % 7 t[i % 50] = {i} end"
  " local co = coroutine.wrap(function() for i = 1, 1000 do coroutine.yield(i) end end) for _ = 1, 1000 do sum = sum + co() end"
  " for i = 1, 500 do if not pcall(between, fail, i) then sum = sum + 1 end end"
  " local function depth(n) if n == 0 then return 0 end return 1 + between(depth, n - 1) end"
  " return sum, depth(5), (('x'):rep(1000):gsub('.', function(c) return c:upper() end):sub(1, 3))";

static void *thread(void *result) {
  lua_State *L = open();
  if (luaL_dostring(L, work)) printf("%s\n", lua_tostring(L, -1));
  else sprintf(result, "%d %d %s", (int)lua_tointeger(L, -3), (int)lua_tointeger(L, -2), lua_tostring(L, -1));
  lua_close(L);
  return NULL;
}

static void threads(int n, size_t stack) {
  pthread_t id[4];
  char result[4][100] = {"", "", "", ""};
  pthread_attr_t attributes;
  int i;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  for (i = 0; i < n; i++) {
    if (pthread_create(&id[i], &attributes, thread, result[i])) printf("no thread\n");
  }
  for (i = 0; i < n; i++) {
    pthread_join(id[i], NULL);
    printf("%d threads, %d KB: %s\n", n, (int)(stack >> 10), result[i]);
  }
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  if (argc > 1) first = argv[1];
  part("errors");
  many_errors(argc > 2 ? atoi(argv[2]) : 80000);
  part("threads");
  /* Small ones as sysbench has them, which a library without optimisation just runs on. The smallest first: stacks of threads that have ended
     are used again. */
  threads(2, 96 << 10);
  threads(2, 128 << 10);
  threads(4, 1 << 20);
  threads(2, 8 << 20);
  return 0;
}
