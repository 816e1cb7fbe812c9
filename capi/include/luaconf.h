/* Configuration of the C API of Perilune: types, sizes and paths, with the values of LuaJIT 2.1. */
#ifndef luaconf_h
#define luaconf_h

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#define LUA_API extern
#define LUALIB_API LUA_API
#define LUAMOD_API LUA_API

#define LUA_NUMBER double
#define LUA_INTEGER ptrdiff_t
#define LUAI_UACNUMBER double

/* Numbers as text. */
#define LUAI_MAXNUMBER2STR 32
#define LUA_NUMBER_SCAN "%lf"
#define LUA_NUMBER_FMT "%.14g"
#define LUA_INTFRMLEN "l"
#define LUA_INTFRM_T long
#define lua_number2str(s, n) sprintf((s), LUA_NUMBER_FMT, (n))
#define lua_str2number(s, p) strtod((s), (p))

/* Sizes that programs use. */
#define LUA_IDSIZE 60
#define LUA_MAXCAPTURES 32
#define LUAI_MAXSTACK 65500
#define LUAI_MAXCSTACK 8000
#define LUAI_GCPAUSE 200
#define LUAI_GCMUL 200
#define LUAL_BUFFERSIZE (BUFSIZ > 16384 ? 8192 : BUFSIZ)

/* Where modules are looked for. */
#define LUA_DIRSEP "/"
#define LUA_PATHSEP ";"
#define LUA_PATH_MARK "?"
#define LUA_EXECDIR "!"
#define LUA_IGMARK "-"
#define LUA_PATH_CONFIG LUA_DIRSEP "\n" LUA_PATHSEP "\n" LUA_PATH_MARK "\n" LUA_EXECDIR "\n" LUA_IGMARK "\n"
#define LUA_ROOT "/usr/local"
#define LUA_LDIR LUA_ROOT "/share/lua/5.1/"
#define LUA_CDIR LUA_ROOT "/lib/lua/5.1/"
#define LUA_JDIR LUA_ROOT "/share/luajit-2.1/"
#define LUA_PATH "LUA_PATH"
#define LUA_CPATH "LUA_CPATH"
#define LUA_INIT "LUA_INIT"
#define LUA_PATH_DEFAULT "./?.lua;" LUA_JDIR "?.lua;" LUA_LDIR "?.lua;" LUA_LDIR "?/init.lua"
#define LUA_CPATH_DEFAULT "./?.so;" LUA_CDIR "?.so;" LUA_CDIR "loadall.so"

/* Names in messages. */
#define LUA_QL(x) "'" x "'"
#define LUA_QS LUA_QL("%s")

/* The lua_ functions check nothing; a program may check by itself. */
#define luai_apicheck(L, o) ((void)(L))

#endif
