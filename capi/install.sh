#!/bin/sh
# Builds the library for C and installs it under a prefix: libraries, headers, the file for pkg-config.
set -e
test $# -eq 1 || { echo "usage: $0 PREFIX" >&2; exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
cargo build --profile "${PROFILE:-release}" -p perilune-library
built=${CARGO_TARGET_DIR:-target}/${PROFILE:-release}
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include/luajit-2.1"
cp "$built/libperilune_library.so" "$prefix/lib/libluajit-5.1.so.2"
ln -sf libluajit-5.1.so.2 "$prefix/lib/libluajit-5.1.so"
cp "$built/libperilune_library.a" "$prefix/lib/libluajit-5.1.a"
cp capi/include/*.h capi/include/*.hpp "$prefix/include/luajit-2.1/"
sed "s|@prefix@|$prefix|" capi/luajit.pc.in > "$prefix/lib/pkgconfig/luajit.pc"
