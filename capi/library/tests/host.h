/* What the parts of the host share. */
#include <stdio.h>

#include "lauxlib.h"
#include "luajit.h"
#include "lualib.h"

#define part(name) printf("-- " name "\n")

/* Prints the values of the stack in one line. */
void show(lua_State *L, const char *what);
/* Runs code, and prints its error. */
void run(lua_State *L, const char *code);
/* The parts in rest.c. */
void rest(lua_State *L);
