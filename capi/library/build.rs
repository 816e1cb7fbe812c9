//! Gives the shared library the name that programs look for.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libluajit-5.1.so.2");
}
