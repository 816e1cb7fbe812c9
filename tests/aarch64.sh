#!/bin/sh
# Builds for aarch64 and runs the tests of the given packages (default: the whole workspace) under qemu's user-mode emulation.
# Installs what is missing: Debian's cross compiler and emulator, and Rust's target.
#
#   tests/aarch64.sh                      all tests
#   tests/aarch64.sh -p perilune-backend  one package; further arguments go to cargo test
set -eu
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
sysroot=/usr/aarch64-linux-gnu

missing=
command -v aarch64-linux-gnu-gcc >/dev/null || missing="$missing gcc-aarch64-linux-gnu"
command -v qemu-aarch64-static >/dev/null || missing="$missing qemu-user-static"
[ -e $sysroot/lib/libc.so.6 ] || missing="$missing libc6-dev-arm64-cross"
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing
fi
rustup target list --installed | grep -qx $target || rustup target add $target

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L $sysroot"
[ $# -gt 0 ] || set -- --workspace
exec cargo test --target $target "$@"
