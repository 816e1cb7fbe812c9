#!/bin/sh
# Builds for aarch64 and runs tests under qemu's user-mode emulation: those of the given packages, and some benchmarks at their
# small size with the command, in three modes, against their stored output.
# Installs what is missing: Debian's cross compiler and emulator, and Rust's target.
#
#   tests/aarch64.sh                      the tests of all crates, and the benchmarks
#   tests/aarch64.sh -p perilune-backend  the tests of one package; further arguments go to cargo test
#   tests/aarch64.sh benchmarks           the benchmarks only; further arguments are names of benchmarks
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

# Runs one program in one mode and compares what it prints; says what went wrong.
check() {
    program=$1
    shift
    small=$(sed -n 's/^-- small: //p' "benches/programs/$program.lua")
    status=0
    timeout 600 qemu-aarch64-static -L $sysroot "$perilune" "$@" "benches/programs/$program.lua" "$small" >"$output" 2>&1 || status=$?
    if [ $status -eq 0 ] && cmp -s "$output" "benches/expected/$program.txt"; then
        echo "ok   $program $*"
    else
        echo "FAIL $program $* (status $status)"
        diff "benches/expected/$program.txt" "$output" | head -n 5 || true
        failed=1
    fi
}

benchmarks() {
    cargo build --target $target
    perilune=${CARGO_TARGET_DIR:-target}/$target/debug/perilune
    output=$(mktemp)
    failed=0
    [ $# -gt 0 ] || set -- nbody fannkuch spectralnorm sieve binarytrees queens sha256 strbuild recursion generators heapsort json
    for name in "$@"; do
        check "$name" -joff
        check "$name"
        check "$name" -Ohotloop=1 -Ohotexit=1
    done
    rm -f "$output"
    return $failed
}

if [ "${1-}" = benchmarks ]; then
    shift
    benchmarks "$@"
elif [ $# -gt 0 ]; then
    cargo test --target $target "$@"
else
    # The command's own tests start it as a process of its own, which the emulator does not do: the benchmarks stand in for them.
    cargo test --target $target --workspace --exclude perilune
    cargo test --target $target --package perilune --lib
    benchmarks
fi
