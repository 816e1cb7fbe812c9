#!/usr/bin/env bash
# ThreadSanitizer where threads are. A state belongs to one thread and starts no other; what states on several threads share is in
# jit/src/view/counters.rs, vm/src/stdlib/io/stream.rs, vm/src/gc/reserve.rs, vm/src/sample/timer.rs and vm/src/sample/interrupt.rs. The tests
# of these run, and states on several threads at once (tests/threads.rs).
#
# Takes a nightly compiler and its component rust-src: the standard library must be instrumented as well.
set -euo pipefail
cd "$(dirname "$0")/../.."
host=$(rustc -vV | sed -n 's/^host: //p')
if [ ! -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" ]; then
  echo "SKIPPED: rustup component add rust-src --toolchain nightly"
  exit 77
fi

export RUSTFLAGS="-Zsanitizer=thread ${RUSTFLAGS:-}"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/sanitize-thread
export TSAN_OPTIONS=halt_on_error=1:${TSAN_OPTIONS:-}

cargo=(cargo +nightly test -Zbuild-std --target "$host")
"${cargo[@]}" -p perilune-vm --lib sample
"${cargo[@]}" -p perilune-jit --test counters
"${cargo[@]}" -p perilune --test threads
