#!/usr/bin/env bash
# Undefined behaviour in interpreter, collector, libraries, evaluator and API, as far as Miri sees it. Miri cannot run machine code:
# traces run in the evaluator.
#
#   tests/miri.sh                           all parts
#   tests/miri.sh short                     what CI runs: objects and the interpreter, in about two minutes
#   tests/miri.sh gc|vm|evaluator|api|embedding ...
#                                           some parts
#   tests/miri.sh PART -- NAME ...          its tests whose names contain one of these
#
# The parts take hours; each test prints how long it took.
#
# Needs a nightly compiler with its components miri and rust-src; without them the script ends with status 77. Values are words that may be
# addresses, hence the permissive provenance. Functions like exp are as exact as those of the system: without that option Miri changes their last
# bits at random, and a test that compares numbers fails.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo +nightly miri --version > /dev/null 2>&1; then
  echo "SKIPPED: rustup component add miri rust-src --toolchain nightly"
  exit 77
fi
export MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-disable-isolation -Zmiri-deterministic-floats ${MIRIFLAGS:-}"
export FUZZ_SECONDS=0
parts=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  parts+=("$1")
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(gc vm evaluator api embedding)
names=("${@:2}")

# Arguments of cargo, `--`, the tests that make a part; other names may have been given.
run() {
  local what=()
  while [ "$1" != -- ]; do
    what+=("$1")
    shift
  done
  shift
  [ ${#names[@]} -eq 0 ] || set -- "${names[@]}"
  cargo +nightly miri test "${what[@]}" -- -Zunstable-options --report-time "$@"
}

for part in "${parts[@]}"; do
  begun=$SECONDS
  case $part in
  short)
    run -p perilune-vm --lib -- object::tests::appending object::tests::array_sizes object::tests::number_keys object::tests::prototypes
    run -p perilune-vm --test interpreter -- arithmetic closures stacks
    ;;
  # The collector and the objects.
  gc) run -p perilune-vm --lib -- gc:: object:: ;;
  # Programs of each area by the interpreter.
  vm) run -p perilune-vm --test interpreter -- ;;
  # A hot loop from its recording to its exits.
  evaluator) run -p perilune-jit --test evaluator -- ;;
  # Handles: the corpus of the fuzz target.
  api) run -p perilune-fuzz --test replay -- --exact api ;;
  # What code of the host may do at the worst moment, also with a collection at every safepoint. Functions in C are left out: Miri does not run the
  # code that calls them.
  embedding) run -p perilune --test embedding -- soundness:: ;;
  *) echo "no part '$part'" >&2; exit 2 ;;
  esac
  echo "$part: $((SECONDS - begun)) s"
done
