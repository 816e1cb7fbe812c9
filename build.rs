//! The command, and the tests, export the functions of the C API, so that modules in C find them.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_C_MODULES").is_some() {
        for names in ["lua_*", "luaL_*", "luaopen_*", "luaJIT_*"] {
            println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={names}");
            println!("cargo:rustc-link-arg-tests=-Wl,--export-dynamic-symbol={names}");
        }
    }
}
