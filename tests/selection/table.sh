#!/usr/bin/env bash
# What LuaJIT makes of the programs of tests/lua/jit and benches/programs (at their small size): writes luajit.txt.
#
#     tests/selection/table.sh [LUAJIT]
#
# Counts differ from run to run, as seeds and addresses do: of nine runs, the one whose traces are the median.
set -euo pipefail
cd "$(dirname "$0")/../.."
luajit=${1:-luajit}
table=tests/selection/luajit.txt
{
  echo "# $("$luajit" -v | cut -d- -f1-2 | sed 's/ *$//'), by tests/selection/table.sh: program, root traces, side traces, links by kind, recordings given up by reason"
  for program in benches/programs/*.lua tests/lua/jit/*.lua; do
    small=$(sed -n 's/^-- small: //p' "$program")
    runs=$(for _ in 1 2 3 4 5 6 7 8 9; do
      (cd "$(dirname "$program")" &&
        timeout 60 "$luajit" "$OLDPWD/tests/selection/count.lua" "$(basename "$program")" $small 2>/dev/null) || true
    done)
    if [ "$(wc -l <<<"$runs")" -ne 9 ]; then
      echo "# $program: does not run in LuaJIT"
      continue
    fi
    echo "$program	$(awk -F'\t' '{ print $1 + $2 "\t" $0 }' <<<"$runs" | sort -n | sed -n 5p | cut -f2-)"
  done
} >"$table.new"
mv "$table.new" "$table"
