#!/usr/bin/env bash
# Undefined behaviour in interpreter, collector, libraries, evaluator and API, as far as Miri sees it. What is compiled to machine code
# is not run: traces run in the evaluator.
#
#   tests/sanitize/miri.sh [vm|gc|evaluator|api ...]       all of them without an argument
#
# Takes a nightly compiler and its component miri. Values are words that may be addresses, hence the provenance.
set -euo pipefail
cd "$(dirname "$0")/../.."
export MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-disable-isolation ${MIRIFLAGS:-}"
export FUZZ_SECONDS=0
parts=("${@:-gc vm evaluator api}")

for part in ${parts[*]}; do
  begun=$SECONDS
  case $part in
  # The collector and the objects.
  gc) cargo +nightly miri test -p perilune-vm --lib -- gc:: object:: ;;
  # Programs of each area by the interpreter.
  vm) cargo +nightly miri test -p perilune-vm --test interpreter ;;
  # A hot loop from its recording to its exits.
  evaluator) cargo +nightly miri test -p perilune-jit --test evaluator ;;
  # Handles: the corpus of the fuzz target.
  api) cargo +nightly miri test -p perilune-fuzz --test replay -- --exact api ;;
  *) echo "no part '$part'" >&2; exit 2 ;;
  esac
  echo "$part: $((SECONDS - begun)) s"
done
