/* Files of the io library that code in Lua and in C use in turns. */
#include <string.h>
#include <unistd.h>

#include "host.h"

static FILE **to_file(lua_State *L) { return luaL_checkudata(L, 1, LUA_FILEHANDLE); }
static FILE *open_file(lua_State *L) {
  FILE *file = *to_file(L);
  if (file == NULL) luaL_error(L, "closed file");
  return file;
}

static int c_write(lua_State *L) {
  lua_pushboolean(L, fputs(luaL_checkstring(L, 2), open_file(L)) >= 0);
  return 1;
}
static int c_line(lua_State *L) {
  char line[100];
  if (fgets(line, sizeof line, open_file(L)) == NULL) return 0;
  line[strcspn(line, "\n")] = 0;
  lua_pushstring(L, line);
  return 1;
}
static int c_tell(lua_State *L) {
  lua_pushinteger(L, ftell(open_file(L)));
  return 1;
}
static int c_number(lua_State *L) {
  lua_pushinteger(L, fileno(open_file(L)));
  return 1;
}
/* As modules close files. */
static int c_close(lua_State *L) {
  FILE **file = to_file(L);
  lua_pushboolean(L, fclose(open_file(L)) == 0);
  *file = NULL;
  return 1;
}
static const luaL_Reg functions[] = {{"write", c_write}, {"line", c_line}, {"tell", c_tell}, {"number", c_number}, {"close", c_close}, {NULL, NULL}};

int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  luaL_register(L, "c", functions);
  lua_settop(L, 0);
  if (argc > 1) run(L, argv[1]);
  part("in turns");
  run(L, "f = io.tmpfile() f:write('one\\n') c.write(f, 'two\\n') f:write('three\\n', 4, ' five\\n') print(c.tell(f), f:seek())\n"
         "f:seek('set') print(f:read()) print(c.line(f), f:seek()) print(f:read(2), c.line(f)) print(f:read('*n'), c.line(f), f:read(0), c.line(f))\n"
         "f:seek('set', 4) print(c.tell(f), f:read(3), c.tell(f)) f:seek('cur', -1) c.write(f, 'X') f:seek('set') print(f:read('*a'))");
  part("read ahead");
  /* Much was read ahead before code in C asks for the file. */
  run(L, "local name = os.tmpname() local w = io.open(name, 'w') for i = 1, 5000 do w:write('line ', i, '\\n') end w:close()\n"
         "local r = io.open(name) print(r:read(), r:read()) print(c.line(r), r:seek(), r:read())\n"
         "local n = 0 for line in r:lines() do n = n + 1 if n % 2 == 0 then c.line(r) end end print(n, r:read(), c.line(r))\n"
         "print(r:close(), io.type(r), pcall(c.line, r)) os.remove(name)");
  part("pipes");
  run(L, "local p = io.popen('for i in 1 2 3 4 5 6; do echo $i; done') print(p:read()) print(c.line(p)) print(p:read('*n'), c.line(p)) print(c.line(p))\n"
         "print(p:read('*a')) print(p:close())");
  part("buffering");
  run(L, "local name = os.tmpname() local w = io.open(name, 'w') w:setvbuf('full', 100) c.write(w, 'b') w:write('a')\n"
         "local function size() local r = io.open(name) local s = r:read('*a') r:close() return #s end\n"
         "print(size()) w:flush() print(size()) w:setvbuf('no') w:write('c') print(size()) w:write('d') c.write(w, 'e') print(size())\n"
         "print(c.close(w), io.type(w), pcall(w.write, w, 'x')) print(tostring(w), pcall(c.close, w)) os.remove(name)\n"
         "local a = io.open(name, 'a') c.write(a, 'x') a:write('y') a:close() a = io.open(name, 'a') a:write('z') c.write(a, '!') a:close() print(size())\n"
         "os.remove(name)");
  part("errors");
  run(L, "local r = io.open('/dev/null') c.line(r) print(r:write('x')) local w = io.open('/dev/full', 'w') c.write(w, 'x') print(w:flush())\n"
         "print(pcall(c.line, 7)) print(pcall(c.line, {})) print((io.open('/'):read(1)))");
  part("standard");
  run(L, "print(c.number(io.stdin), c.number(io.stdout), c.number(io.stderr)) io.write('a ') c.write(io.stdout, 'b ') print('c') c.write(io.stdout, 'd\\n')\n"
         "print(io.stdout:close())");
  part("ffi");
  run(L, "local ffi = require('ffi') ffi.cdef('int fputs(const char *, void *); int getc(void *);') local f = io.tmpfile() f:write('lua ')\n"
         "print(ffi.C.fputs('ffi', f) >= 0) f:seek('set') print(ffi.C.getc(f), f:read('*a'), ffi.cast('void *', io.stdin) == nil)\n"
         "f:close() print(ffi.cast('void *', f) == nil)");
  part("many");
  run(L, "for i = 1, 300 do local f = io.tmpfile() f:write(i, ' ') c.write(f, 'c') f:seek('set') assert(f:read('*n') == i and c.line(f) == ' c')\n"
         "if i % 3 == 0 then f:close() elseif i % 3 == 1 then c.close(f) end end collectgarbage() print('done')");
  lua_close(L);
  return 0;
}
