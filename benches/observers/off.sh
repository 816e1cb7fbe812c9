#!/bin/sh
# What the observers cost that nobody uses: instructions that the processor executes, of a build and of one without them.
#
#   benches/observers/off.sh PERILUNE WITHOUT    needs valgrind; the least of four runs each, which differ as strings have other hashes
set -eu
[ -x "${1-}" ] && [ -x "${2-}" ] || { sed -n '2,4p' "$0"; exit 1; }
with=$1 without=$2
cd "$(dirname "$0")/../programs"

least() {
  for _ in 1 2 3 4; do
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --smc-check=all "$@" 2>&1 > /dev/null |
      sed -n 's/,//g; s/.*I *refs: *//p'
  done | sort -n | head -n 1
}
for program in "binarytrees 9" "strbuild 2000" "hanoi 16" "json 15" "generators 3000" "md5 2" "recursion 18" "scheduler 2000" "linkedlist 2"; do
  for mode in -jon -joff; do
    # shellcheck disable=SC2086
    set -- $program
    echo "$program $mode $(least "$with" $mode "$1.lua" "$2") $(least "$without" $mode "$1.lua" "$2")"
  done
done | awk '{ printf "%-16s %-6s %12d %12d %+.2f%%\n", $1 " " $2, $3, $4, $5, 100 * ($4 / $5 - 1) }'
