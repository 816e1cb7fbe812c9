use super::super::ctype::{CTypeId, CTypeTable};
use super::{Param, ParseError, declarations, type_name};
use std::rc::Rc;

fn declared(text: &str) -> CTypeTable {
    let mut types = CTypeTable::new();
    assert_eq!(declarations(&mut types, text.as_bytes(), &[]), Ok(()), "{text}");
    types
}

fn id(types: &mut CTypeTable, text: &str) -> CTypeId {
    type_name(types, text.as_bytes(), &[]).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn shown(types: &mut CTypeTable, text: &str) -> String {
    let id = id(types, text);
    String::from_utf8(types.repr(id, None)).unwrap()
}

fn failure(text: &str) -> String {
    let mut types = CTypeTable::new();
    let before = types.len();
    let e = declarations(&mut types, text.as_bytes(), &[]).expect_err(text);
    assert_eq!(types.len(), before);
    match e {
        ParseError::Message(m) => String::from_utf8(m).unwrap(),
        ParseError::BadParam(i) => format!("bad {i}"),
    }
}

/// Offsets of members, and size and alignment of the struct `s`.
fn offsets(text: &str, names: &str) -> (Vec<u32>, u32, u32) {
    let mut types = declared(text);
    let s = id(&mut types, "struct s");
    let (info, size) = types.info(s);
    let offset = |n: &str| types.member(s, n.as_bytes()).map_or(u32::MAX, |m| m.offset);
    (names.split_whitespace().map(offset).collect(), size.unwrap(), 1 << info.align_log())
}

#[test]
fn numbers() {
    let types = &mut CTypeTable::new();
    for (text, expected) in [
        ("int", CTypeId::INT32),
        ("unsigned", CTypeId::UINT32),
        ("long unsigned int long", CTypeId(0)),
        ("long", CTypeId::INT64),
        ("size_t", CTypeId::UINT64),
        ("float", CTypeId::FLOAT),
        ("double", CTypeId::DOUBLE),
        ("complex", CTypeId::COMPLEX_DOUBLE),
        ("float complex", CTypeId::COMPLEX_FLOAT),
        ("_Bool", CTypeId::BOOL),
        ("const char", CTypeId::CCHAR),
        ("char const *", CTypeId::P_CCHAR),
        ("void *", CTypeId::P_VOID),
        ("const void *", CTypeId::P_CVOID),
        ("int __attribute__((mode(__HI__)))", CTypeId::INT16),
    ] {
        let found = id(types, text);
        if expected == CTypeId(0) {
            assert_eq!(types.size(found), Some(8), "{text}");
        } else {
            assert_eq!(found, expected, "{text}");
        }
    }
}

#[test]
fn types_as_text() {
    let types = &mut declared("struct foo; typedef int (*fp)(int); enum e { A }; typedef struct { int x; } anon;");
    for (text, expected) in [
        ("int *const*", "int *const *"),
        ("const int", "const int"),
        ("int (*)[3]", "int (*)[3]"),
        ("int *[3]", "int *[3]"),
        ("int[2][3]", "int [2][3]"),
        ("int[?]", "int [?]"),
        ("int[]", "int []"),
        ("fp", "int (*)()"),
        ("void (*)(int, ...)", "void (*)()"),
        ("struct foo *", "struct foo *"),
        ("const struct foo &", "const struct foo &"),
        ("enum e", "enum e"),
        ("unsigned char", "unsigned char"),
        ("long double", "long double"),
        ("unsigned short", "unsigned short"),
        ("int64_t", "int64_t"),
        ("volatile uint64_t *", "volatile uint64_t *"),
        ("float __attribute__((vector_size(16)))", "float __attribute__((vector_size(16)))"),
    ] {
        assert_eq!(shown(types, text), expected, "{text}");
    }
}

#[test]
fn layouts() {
    let cases: &[(&str, &str, &[u32], u32, u32)] = &[
        ("struct s { char a; int b; short c; };", "a b c", &[0, 4, 8], 12, 4),
        ("struct s { char a; double b; };", "a b", &[0, 8], 16, 8),
        ("struct s { char a; int b; } __attribute__((packed));", "a b", &[0, 1], 5, 1),
        ("struct __attribute__((packed)) s { char a; int b __attribute__((aligned(2))); };", "a b", &[0, 2], 6, 2),
        ("#pragma pack(push, 2)\nstruct s { char a; int b; };\n#pragma pack(pop)\n", "a b", &[0, 2], 6, 2),
        ("struct s { int a; union { char b; double c; }; struct { int d; }; };", "a b c d", &[0, 8, 8, 16], 24, 8),
        ("struct s { char a; int b[]; };", "a b", &[0, 4], 4, 4),
        ("struct s { } __attribute__((aligned(32)));", "", &[], 0, 32),
        ("struct s { int a:3; int b:5; int c:25; };", "a b c", &[0, 0, 4], 8, 4),
        ("struct s { char a; int :0; char b; };", "a b", &[0, 4], 5, 1),
        ("struct s { enum { A = 7 }; static const int B = 3; char c[A]; };", "c", &[0], 7, 1),
        ("struct s { long double a; char b; };", "a b", &[0, 16], 32, 16),
    ];
    for (text, names, at, size, align) in cases {
        assert_eq!(offsets(text, names), (at.to_vec(), *size, *align), "{text}");
    }
}

#[test]
fn constants() {
    let types = &mut declared(
        "enum { A, B = 5, C, D = -1, E = sizeof(int[4]), F = 'a', G = (1 << 4) | 3, H = 7 / 2 % 2, I = 1 ? 2 : 3, J = 010, K = 0xffffffff };\
         static const unsigned char L = 300;",
    );
    let value = |name: &str| types.get(types.named(name.as_bytes(), u32::MAX).unwrap()).size as i32;
    let values: Vec<i32> = "A B C D E F G H I J K L".split(' ').map(value).collect();
    assert_eq!(values, [0, 5, 6, -1, 16, 97, 19, 1, 2, 8, -1, 44]);
}

#[test]
fn parameters() {
    let types = &mut CTypeTable::new();
    let params = [Param::Type(CTypeId::INT16), Param::Name(Rc::from(&b"field"[..])), Param::Number(9)];
    assert_eq!(declarations(types, b"struct s { $ $[$]; };", &params), Ok(()));
    let s = id(types, "struct s");
    assert_eq!(types.size(s), Some(18));
    assert_eq!(types.member(s, b"field").map(|m| m.offset), Some(0));
    assert_eq!(declarations(types, b"$ x;", &[Param::Other]), Err(ParseError::BadParam(0)));
    let missing = ParseError::Message(b"wrong number of type parameters".to_vec());
    assert_eq!(declarations(types, b"$ x;", &[]), Err(missing.clone()));
    assert_eq!(declarations(types, b"int x;", &[Param::Number(1)]), Err(missing));
}

#[test]
fn functions_and_symbols() {
    let types = &declared(
        "int f(int a, char b[], void g(void), ...) __asm__(\"real\" \"_f\"); extern int v; static inline int h(void) { return 1.5L }; typedef struct t *t;",
    );
    let f = types.named(b"f", u32::MAX).unwrap();
    let kinds: Vec<String> = types
        .members(f)
        .filter(|m| !types.get(*m).info.is_attrib())
        .map(|m| String::from_utf8(types.repr(types.get(m).info.child(), None)).unwrap())
        .collect();
    assert_eq!(kinds, ["int", "char *", "void (*)()"]);
    assert_eq!(types.get(types.get(f).sib).name.as_deref(), Some(&b"real_f"[..]));
    assert!(types.named(b"v", u32::MAX).is_some() && types.named(b"h", u32::MAX).is_some());
}

#[test]
fn errors() {
    for (text, expected) in [
        ("int", "'<identifier>' expected near '<eof>'"),
        ("int x", ""),
        ("foo x;", "declaration specifier expected near 'foo'"),
        ("int x\nint y;", "';' expected near 'int' at line 2"),
        ("struct a { int x; }; struct a { int y; };", "attempt to redefine 'a'"),
        ("struct a; union a x;", "attempt to redefine 'a'"),
        ("enum { A, A };", "attempt to redefine 'A'"),
        ("int a[-1];", "size of C type is unknown or too large"),
        ("struct a b[2];", "size of C type is unknown or too large"),
        ("int f()[2];", "invalid C type"),
        ("register int x;", "bad storage class near 'register'"),
        ("enum { A = 1/0 };", "invalid value"),
        ("enum { A = 1.5 };", "'<identifier>' expected near '5'"),
        ("enum { A = 09 };", "malformed number near '09'"),
        ("int &&*x;", "invalid C type"),
        ("struct a { int x:33; };", "invalid value near ':'"),
        ("enum { A = \"x };", "unfinished string near '<eof>'"),
    ] {
        if expected.is_empty() {
            declared(text);
        } else {
            assert_eq!(failure(text), expected, "{text}");
        }
    }
}
