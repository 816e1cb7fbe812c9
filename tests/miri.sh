#!/usr/bin/env bash
# Undefined behaviour in interpreter, collector, libraries, evaluator and API, as far as Miri sees it. Miri cannot run machine code:
# traces run in the evaluator.
#
#   tests/miri.sh                           all parts
#   tests/miri.sh short                     what CI runs: objects and the interpreter, in about two minutes
#   tests/miri.sh gc|vm|evaluator|api|embedding ...
#                                           some parts
#
# Needs a nightly compiler with its components miri and rust-src; without them the script ends with status 77. Values are words that may be
# addresses, hence the permissive provenance.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo +nightly miri --version > /dev/null 2>&1; then
  echo "SKIPPED: rustup component add miri rust-src --toolchain nightly"
  exit 77
fi
export MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-disable-isolation ${MIRIFLAGS:-}"
export FUZZ_SECONDS=0
parts=("${@:-gc vm evaluator api embedding}")

for part in ${parts[*]}; do
  begun=$SECONDS
  case $part in
  short)
    cargo +nightly miri test -p perilune-vm --lib -- object::tests::appending object::tests::array_sizes object::tests::number_keys object::tests::prototypes
    cargo +nightly miri test -p perilune-vm --test interpreter -- arithmetic closures stacks
    ;;
  # The collector and the objects.
  gc) cargo +nightly miri test -p perilune-vm --lib -- gc:: object:: ;;
  # Programs of each area by the interpreter.
  vm) cargo +nightly miri test -p perilune-vm --test interpreter ;;
  # A hot loop from its recording to its exits.
  evaluator) cargo +nightly miri test -p perilune-jit --test evaluator ;;
  # Handles: the corpus of the fuzz target.
  api) cargo +nightly miri test -p perilune-fuzz --test replay -- --exact api ;;
  # What code of the host may do at the worst moment, also with a collection at every safepoint. Functions in C are left out: Miri does not run the
  # code that calls them.
  embedding) cargo +nightly miri test -p perilune --test embedding -- soundness:: ;;
  *) echo "no part '$part'" >&2; exit 2 ;;
  esac
  echo "$part: $((SECONDS - begun)) s"
done
