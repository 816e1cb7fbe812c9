-- Declarations of C: types, sizes, offsets, constants, and errors.
local ffi = require "ffi"
ffi.cdef[[
typedef struct { int x, y; double d; } decl_point;
struct decl_fields {
  char a; int b:3; unsigned c:5; bool d:1;
  struct { int in1, in2; };
  union { int u1; float u2; };
  int arr[4]; struct decl_fields *next; const int k;
};
enum decl_color { DECL_RED, DECL_GREEN = 5, DECL_BLUE };
static const int DECL_K = 77;
typedef struct { int len; int data[?]; } decl_vls;
struct decl_const { static const int A = 3; enum { B = 9 }; int v; };
#pragma pack(push, 1)
struct decl_packed { char a; double b; };
#pragma pack(pop)
struct __attribute__((packed)) decl_packed2 { char a; short b __attribute__((aligned(2))); int c; };
typedef int decl_v4 __attribute__((vector_size(16)));
typedef int (*decl_fp)(int, ...);
struct decl_align { char c; __declspec(align(16)) int v; };
]]
for _, t in ipairs { "char", "short", "int", "long", "long long", "float", "double", "long double", "bool", "void *", "size_t", "wchar_t",
  "decl_point", "struct decl_fields", "enum decl_color", "struct decl_packed", "struct decl_packed2", "decl_v4", "decl_fp", "complex",
  "float complex", "int[3][4]", "struct decl_align", "struct { }", "union { char c; double d; }", "int __attribute__((mode(QI)))" } do
  print(t, ffi.sizeof(t), ffi.alignof(t), (tostring(ffi.typeof(t)):gsub(" %d+>", " N>")))
end
print(ffi.sizeof("int[?]", 5), ffi.sizeof("decl_vls", 5), ffi.sizeof("int[]"), ffi.sizeof("void"))
for _, f in ipairs { "a", "b", "c", "d", "in1", "in2", "u1", "u2", "arr", "next", "k", "none" } do
  print(f, ffi.offsetof("struct decl_fields", f))
end
for _, t in ipairs { "int *const *", "const int", "int (*)[3]", "int *[3]", "int[2][3]", "int[?]", "decl_fp",
  "const char &", "unsigned char", "signed char", "volatile uint64_t *", "const volatile int", "struct decl_fields **", "int (&)[2]" } do
  print(ffi.typeof(t))
end
print(ffi.typeof("struct decl_const").A, ffi.typeof("struct decl_const").B, pcall(function() return ffi.typeof("struct decl_const").v end))
-- Parameters.
print(ffi.typeof("$ *", ffi.typeof("int")), ffi.sizeof(ffi.typeof("struct { $ $[$]; }", ffi.typeof("short"), "name", 3)))
print(pcall(ffi.typeof, "$"), pcall(ffi.typeof, "int", 1), pcall(ffi.typeof, "$", {}))
-- Errors.
for _, text in ipairs { "int x\nint y;", "foo x;", "struct decl_const { int z; };", "int a[-1];", "int f()[2];", "register int x;",
  "enum { A = 1/0 };", "struct decl_new { struct decl_undef x; };", "int x:3;", "struct { int x:40; } y;", "int *a[", "\n\n'", "\"",
  "int 09;", "enum decl_color { X };", "union decl_const u;", "short double x;", "static double z = 1;", "int $;", "@", "#define x",
  ("int (" ):rep(30) .. "x", ("*"):rep(200) .. "x" } do
  print(select(2, pcall(ffi.cdef, text)))
end
for _, text in ipairs { "struct decl_undef2", "int x", "int;", "", "int[1/0]", "foo" } do
  print(select(2, pcall(ffi.typeof, text)))
end
-- The table of types.
print(ffi.typeinfo(1).size, ffi.typeinfo(9).size, ffi.typeinfo(0), ffi.typeinfo(1e5), ffi.typeinfo(25).name)
print(ffi.abi("64bit"), ffi.abi("le"), ffi.abi("be"), ffi.abi("gc64"), ffi.abi("x"), ffi.os)
