#!/usr/bin/env bash
# The corpus under AddressSanitizer: the benchmarks at their small size, tests/lua/lang and tests/lua/jit, each interpreted, compiled by
# default, compiled with usual thresholds and with the lowest; broken bytecode; the unit tests of the VM, one of which plants a use after
# free; and the library for C, used by a host and two modules in C. Any report of the sanitizer fails. The heap tells the sanitizer which
# cells are free (vm/src/gc/poison.rs).
#
#   tests/sanitize/address.sh          all of it
#   ONLY=part tests/sanitize/address.sh programs      what `cargo test` has as `--test programs`, with the programs named so
#
# Takes a nightly compiler, for the sanitizer alone. What Cranelift compiles is not instrumented, the helpers that it calls are.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests=("${@:-programs chunks}")
host=$(rustc -vV | sed -n 's/^host: //p')

export RUSTFLAGS="-Zsanitizer=address ${RUSTFLAGS:-}"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/sanitize-address
# What the command leaves allocated when it ends the process is no fault. Frames are larger, and so is the stack that they need.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:${ASAN_OPTIONS:-}
export CASE_SECONDS=${CASE_SECONDS:-900}
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)"

if [ $# = 0 ]; then
  cargo +nightly test --target "$host" -p perilune-vm --features asan --lib
  # The library for C, under a host and two modules in C that are instrumented by the compiler of the system, whose runtime all of them use.
  cargo +nightly test --target "$host" -p perilune-library -p perilune-vm --features perilune-vm/asan --test host address_sanitizer
fi
for test in ${tests[*]}; do
  cargo +nightly test --target "$host" -p perilune --features perilune-vm/asan --test "$test"
done
