#!/usr/bin/env bash
# Compiles a crate for run.sh. Coverage is noted in the project's own crates: in Cranelift it would take many minutes to compile, and
# lead to inputs that are of interest to Cranelift.
rustc=$1
shift
own=
for argument; do
  case $argument in perilune*) own=1 ;; esac
done
arguments=()
for argument; do
  case $argument in
  -Cpasses=sancov* | -Cllvm-args=-sanitizer-coverage* | -Cllvm-args=-sanitizer-trace*) [ "$own" ] && arguments+=("$argument") ;;
  -Ccodegen-units=1) ;;
  *) arguments+=("$argument") ;;
  esac
done
exec "$rustc" "${arguments[@]}"
