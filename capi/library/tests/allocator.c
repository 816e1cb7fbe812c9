/* An allocator of the host: the memory of a state comes from it, goes back to it, and ends where it says. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lauxlib.h"
#include "lualib.h"

static const char *mode = "";

/* What is in use, the most of it, and the limit; pieces that came back with another size than they had. */
struct memory {
  size_t used, most, limit;
  int wrong, refused;
};

static void *allocate(void *data, void *old, size_t size, size_t new) {
  struct memory *m = data;
  size_t *head = old != NULL ? (size_t *)old - 2 : NULL;
  if (head != NULL && head[0] != size) m->wrong++;
  if (old == NULL) size = 0;
  if (new == 0) {
    if (head != NULL) head[0] = SIZE_MAX;
    free(head);
    m->used -= size;
    return NULL;
  }
  if (new > size && m->used - size + new > m->limit) {
    m->refused++;
    return NULL;
  }
  head = realloc(head, new + 2 * sizeof(size_t));
  if (head == NULL) return NULL;
  head[0] = new;
  m->used += new - size;
  if (m->used > m->most) m->most = m->used;
  return head + 2;
}

static int open(lua_State *L) {
  luaL_openlibs(L);
  if (luaL_dostring(L, mode)) lua_error(L);
  return 0;
}

static lua_State *new_state(struct memory *m, size_t limit) {
  lua_State *L;
  memset(m, 0, sizeof(*m));
  m->limit = limit;
  L = lua_newstate(allocate, m);
  if (L != NULL && lua_cpcall(L, open, NULL) != 0) {
    lua_close(L);
    return NULL;
  }
  return L;
}

/* LuaJIT does not collect when its allocator refuses memory, so that garbage is collected before. */
static void run(lua_State *L, const char *what, const char *code) {
  struct memory *m;
  size_t limit, most;
  int status;
  lua_getallocf(L, (void **)&m);
  limit = m->limit;
  most = m->most;
  m->limit = SIZE_MAX;
  lua_gc(L, LUA_GCCOLLECT, 0);
  m->limit = limit;
  m->most = most;
  status = luaL_loadstring(L, code);
  if (status == 0) status = lua_pcall(L, 0, 1, 0);
  printf("%s: %d %s\n", what, status, lua_isstring(L, -1) ? lua_tostring(L, -1) : luaL_typename(L, -1));
  lua_settop(L, 0);
}

static void counted(void) {
  struct memory m;
  lua_State *L = new_state(&m, SIZE_MAX);
  size_t before;
  void *data;
  printf("used %d\n", m.used > 0);
  before = m.used;
  run(L, "strings and tables", "t = {} for i = 1, 40000 do t[i] = {tostring(i), i} end return #t");
  printf("%d\n", m.used > before + 2000000);
  run(L, "a large string", "s = ('x'):rep(4e6) return #s");
  printf("%d\n", m.used > before + 6000000);
  run(L, "garbage", "t, s = nil collectgarbage() collectgarbage() return 1");
  printf("%d\n", m.used < m.most - 4000000);
  printf("%d\n", lua_getallocf(L, &data) == allocate && data == &m);
  lua_close(L);
  printf("left %d, wrong %d\n", (int)m.used, m.wrong);
}

static int many(lua_State *L) {
  int i;
  lua_newtable(L);
  for (i = 1; i < 10000000; i++) {
    lua_newtable(L);
    lua_pushfstring(L, "string %d", i);
    lua_rawseti(L, -2, 1);
    lua_rawseti(L, -2, i);
  }
  return 0;
}
static int large(lua_State *L) {
  lua_newuserdata(L, 20000000);
  return 0;
}
static int buffer(lua_State *L) {
  luaL_Buffer b;
  int i;
  luaL_buffinit(L, &b);
  for (i = 0; i < 10000000; i++) luaL_addlstring(&b, "some text for a buffer", 22);
  return 0;
}

static void in_c(lua_State *L, const char *what, lua_CFunction f) {
  int status = lua_cpcall(L, f, NULL);
  printf("%s: %d %s\n", what, status, lua_tostring(L, -1));
  lua_settop(L, 0);
}

static const char *const programs[][2] = {
    {"small tables", "local t = {} for i = 1, 1e7 do t[i % 1000] = {t[i % 1000], i} end"},
    {"strings", "local t = {} for i = 1, 1e7 do t['key' .. i] = i end"},
    {"an array", "local t = {} for i = 1, 1e7 do t[i] = i end"},
    {"a long string", "return #('x'):rep(2e7)"},
    {"concatenation", "local s = 'some text' while true do s = s .. s end"},
    {"closures", "local t = {} for i = 1, 1e7 do t[#t + 1] = function() return i end end"},
    {"coroutines", "local t = {} for i = 1, 1e7 do t[i] = coroutine.wrap(function() coroutine.yield(1) end) t[i]() end"},
};

static void limited(void) {
  struct memory m;
  lua_State *L = new_state(&m, SIZE_MAX);
  size_t i;
  m.limit = m.used + 4000000;
  m.most = 0;
  run(L, "below the limit", "local t = {} for i = 1, 2000 do t[i] = {i} end return #t");
  printf("refused %d\n", m.refused);
  for (i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
    run(L, programs[i][0], programs[i][1]);
    run(L, "again below the limit", "local t = {} for i = 1, 2000 do t[i] = {i} end return #t");
  }
  in_c(L, "tables of C", many);
  in_c(L, "a large userdata", large);
  in_c(L, "a buffer", buffer);
  run(L, "caught", "local ok, e = pcall(function() local t = {} for i = 1, 1e7 do t[i] = {i} end end) return tostring(ok) .. ' ' .. e");
  run(L, "garbage", "for i = 1, 3e5 do local t = {i, {}} end return 'ran'");
  printf("refused %d, within the limit %d\n", m.refused > 0, m.most <= m.limit);
  m.limit = SIZE_MAX;
  m.refused = 0;
  run(L, "without a limit", "local t = {} for i = 1, 2e5 do t[i] = {i} end return #t");
  run(L, "without a limit", "return #('x'):rep(2e7)");
  printf("refused %d\n", m.refused);
  lua_close(L);
  printf("left %d, wrong %d\n", (int)m.used, m.wrong);
}

/* There is room for an array, but not for half of it as well. */
static void growing(void) {
  struct memory m;
  lua_State *L = new_state(&m, SIZE_MAX);
  m.limit = m.used + 11000000;
  run(L, "an array grows in place", "local t = {} for i = 1, 1e6 do t[i] = i end return #t + t[1] + t[1e6]");
  run(L, "an array becomes small", "t = {} for i = 1, 1e6 do t[i] = i end for i = 1000, 1e6 do t[i] = nil end t.x = 1 return #t");
  printf("refused %d\n", m.refused);
  lua_close(L);
  printf("left %d, wrong %d\n", (int)m.used, m.wrong);
}

/* States that get less and less. */
static void starved(void) {
  struct memory m;
  size_t limit;
  int failed = 0, left = 0;
  for (limit = 0; limit < 4000000; limit += 50000) {
    lua_State *L = new_state(&m, limit);
    if (L == NULL)
      failed++;
    else
      lua_close(L);
    left += m.used != 0 || m.wrong != 0 || m.most > limit;
  }
  printf("failed %d, all %d, left %d\n", failed > 0, failed == 80, left);
}

/* An allocator that counts in front of another one. */
static lua_Alloc inner;
static void *inner_data;
static void *count(void *data, void *old, size_t size, size_t new) {
  ++*(int *)data;
  return inner(inner_data, old, size, new);
}
static void exchanged(void) {
  lua_State *L = luaL_newstate();
  int calls = 0;
  inner = lua_getallocf(L, &inner_data);
  lua_setallocf(L, count, &calls);
  luaL_openlibs(L);
  printf("another allocator: %d\n", luaL_dostring(L, "local t = {} for i = 1, 1e5 do t[i] = {i} end"));
  printf("called %d\n", calls > 0);
  lua_close(L);
}

int main(int argc, char **argv) {
  /* A collection at every safepoint would take hours with so many objects. */
  if (argc > 1 && strstr(argv[1], "gcstress") == NULL) mode = argv[1];
  counted();
  limited();
  growing();
  starved();
  exchanged();
  return 0;
}
