#!/bin/sh
# Real programs nobody here wrote: each job in this folder drives one or more of them, unmodified, and must print the same under
# luajit and under Perilune interpreted, compiled, and compiled as early as possible.
#
#   tests/real/run.sh FOLDER [job...]      FOLDER holds the programs; docs/conformance.md says which
#
# PERILUNE names the command (default target/release/perilune), LUAJIT the one to compare with (default luajit).
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
peers=$(cd "$1" && pwd)
shift
perilune=${PERILUNE:-$root/target/release/perilune}
luajit=${LUAJIT:-luajit}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.lua | sed 's|^\./||; s|\.lua$||')
failed=0
run() { # mode, command...
    mode=$1
    shift
    (cd "$peers/$(sed -n "s/^-- in: //p" "$here/$job.lua")" && timeout 300 "$@" "$here/$job.lua" "$root") >"$out/$mode" 2>&1 </dev/null || echo "exit status $?" >>"$out/$mode"
}
for job in "$@"; do
    run luajit "$luajit"
    run interpreted "$perilune" -joff
    run compiled "$perilune"
    run early "$perilune" -Ohotloop=1 -Ohotexit=1 -Ohottree=1
    result=same
    for mode in interpreted compiled early; do
        if ! cmp -s "$out/luajit" "$out/$mode"; then
            result=DIFFERS
            echo "--- $job, $mode:"
            diff "$out/luajit" "$out/$mode" | head -n 10
        fi
    done
    grep -q '^exit status' "$out/luajit" && result="$result (and fails under luajit)"
    [ "$result" = same ] || failed=1
    printf '%-14s %s, %s lines\n' "$job" "$result" "$(wc -l <"$out/luajit")"
done
exit $failed
