#!/bin/sh
# Builds for aarch64 and runs tests under qemu's user-mode emulation: those of the given packages, and the corpus (the benchmarks at
# their small size, tests/lua/lang, tests/lua/jit, tests/lua/ffi) with the command, in three modes, against the stored output.
# Installs what is missing: Debian's cross compiler and emulator, and Rust's target. Exit status 77: that was not possible.
#
#   tests/aarch64.sh                      the tests of all crates, and the corpus
#   tests/aarch64.sh -p perilune-backend  the tests of one package; further arguments go to cargo test
#   tests/aarch64.sh corpus               the corpus only; further arguments are names of programs
#   tests/aarch64.sh short                some programs of the corpus, by a host in C (tests/capi/run.c) and the library for C, which are built
#                                         in half the time
set -eu
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
sysroot=/usr/aarch64-linux-gnu
perilune=${CARGO_TARGET_DIR:-target}/$target/debug/perilune

# Where the stored output of a program is.
expected() {
    case $1 in
    benches/ffi/*) echo "benches/expected/ffi/$(basename "$1" .lua).txt" ;;
    benches/*) echo "benches/expected/$(basename "$1" .lua).txt" ;;
    *) echo "${1%.lua}.out" ;;
    esac
}

# Runs one program in one mode and compares what it prints; says what went wrong.
if [ "${1-}" = one ]; then
    file=$2
    shift 2
    mode=$*
    if [ -n "${LUA_HOST-}" ]; then
        perilune=$LUA_HOST
        # What the options of the command do.
        case $mode in
        -joff) LUA_FIRST="jit.off()" ;;
        *) LUA_FIRST="require('jit.opt').start($(printf "'%s', " "$@" | sed "s/'-O/'/g; s/, \$//"))" ;;
        esac
        export LUA_FIRST
        set --
    fi
    stored=$PWD/$(expected "$file")
    small=$(sed -n 's/^-- small: //p' "$file")
    output=$(mktemp)
    case $perilune in /*) ;; *) perilune=$PWD/$perilune ;; esac
    status=0
    (cd "$(dirname "$file")" && exec timeout 900 qemu-aarch64-static -L $sysroot "$perilune" "$@" "$(basename "$file")" $small) \
        >"$output" 2>"$output.err" </dev/null || status=$?
    if [ $status -eq 0 ] && cmp -s "$output" "$stored"; then
        echo "ok   $file $mode"
    else
        echo "FAIL $file $mode (status $status)"
        diff "$stored" "$output" | head -n 5 || true
        head -n 5 "$output.err"
        failed=1
    fi
    rm -f "$output" "$output.err"
    exit "${failed-0}"
fi

install() {
    missing=
    command -v aarch64-linux-gnu-gcc >/dev/null || missing="$missing gcc-aarch64-linux-gnu"
    command -v qemu-aarch64-static >/dev/null || missing="$missing qemu-user-static"
    command -v aarch64-linux-gnu-g++ >/dev/null || missing="$missing g++-aarch64-linux-gnu"
    [ -e $sysroot/lib/libc.so.6 ] || missing="$missing libc6-dev-arm64-cross"
    if [ -n "$missing" ]; then
        if [ "$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi
        $sudo apt-get update -qq || return 1
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing || return 1
    fi
    rustup target list --installed | grep -qx $target || rustup target add $target || return 1
}
if ! install; then
    echo "aarch64: the cross compiler, the emulator or Rust's target cannot be installed here; nothing is tested" >&2
    exit 77
fi

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L $sysroot"
# The compilers that tests of the FFI compare with and that make the hosts of the C API, which run on this machine; and what runs those hosts.
export CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ RUNNER="qemu-aarch64-static -L $sysroot"

# Programs of the corpus: those of the given names, or all.
programs() {
    if [ $# -eq 0 ]; then
        ls benches/programs/*.lua benches/ffi/*.lua tests/lua/lang/*.lua tests/lua/jit/*.lua tests/lua/ffi/*.lua
        return
    fi
    for name in "$@"; do
        for folder in benches/programs benches/ffi tests/lua/lang tests/lua/jit tests/lua/ffi; do
            ls "$folder/$name".lua 2>/dev/null || true
        done
    done
}

# Programs whose stored output is that of a signed char, which aarch64 does not have.
signed_char=" bits_and_text boxes_of_scalars declarations "

corpus() {
    # The command alone, without what the programs of the corpus do not use.
    cargo build --target $target --no-default-features --features cli --bin perilune
    run "$@"
}

# The host for the library for C; the interpreter is optimised as the compiler is.
host() {
    cargo build --target $target --package perilune-library --config profile.dev.package.perilune-vm.opt-level=1
    folder=$(dirname "$perilune")
    LUA_HOST=$folder/run
    $CC -I capi/include tests/capi/run.c "$folder/libperilune_library.a" -lm -lpthread -ldl -o "$LUA_HOST"
    export LUA_HOST
}

run() {
    list=$(mktemp)
    for file in $(programs "$@"); do
        case $signed_char in *" $(basename "$file" .lua) "*) continue ;; esac
        echo "$file -joff"
        echo "$file -Ohotloop=56 -Ohotexit=10 -Obudget=0"
        echo "$file -Ohotloop=1 -Ohotexit=1 -Ohottree=1"
    done >"$list"
    [ -s "$list" ] || { echo "no such program"; return 1; }
    status=0
    xargs -P "$(nproc)" -L 1 tests/aarch64.sh one <"$list" || status=1
    rm -f "$list"
    return $status
}

case "${1-}" in
corpus)
    shift
    corpus "$@"
    ;;
short)
    host
    run nbody fannkuch sha256 strbuild recursion generators json conversions pcall_hot sink natives_as_metamethods metamethods
    ;;
"")
    # The command's own tests start it as a process of its own, which the emulator does not do: the corpus stands in for them.
    cargo test --target $target --workspace --exclude perilune
    cargo test --target $target --package perilune --lib --test profile --test ffi
    corpus
    ;;
*)
    cargo test --target $target "$@"
    ;;
esac
