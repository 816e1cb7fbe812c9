#!/bin/sh
# What observing costs, and how right it is, against the limits that are set for it: a line for each, and exit status 1 if one is passed.
# PERILUNE and SIGNALS are the commands, by default those of a build in the profile dist. Other work on the machine disturbs the times little, as
# they are those of the processor.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}/dist
perilune=${PERILUNE:-$target/perilune}
signals=${SIGNALS:-$target/examples/signals}
for command in "$perilune" "$perilune" "$signals"; do
  [ -x "$command" ] || { echo "no $command: cargo build --profile dist --workspace --bins --examples"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Processor time of the best of three runs of a command.
best() {
  for _ in 1 2 3; do
    "$@" > "$work/out" 2> /dev/null
    tail -n 1 "$work/out"
  done | sort -n | head -n 1
}
compare() { # what, without, with, limit
  awk -v w="$1" -v a="$2" -v b="$3" -v l="$4" 'BEGIN { printf "%s: %.2f s, %.2f s: %.2f times (limit %s)\n", w, a, b, b / a, l; exit !(a > 0 && b <= a * l) }' || failed=1
}
cat > "$work/plain.lua" << 'END'
local program, output = arg[1], print
print, io.write = function() end, function() end
arg = { [0] = program }
local f, start = assert(loadfile(program)), os.clock()
f()
output(os.clock() - start)
END
(echo "assert(require('misc').memprof.start('$work/profile'))" && cat "$work/plain.lua") > "$work/watched.lua"

cd "$here/../programs"
for program in binarytrees strbuild json pipeline raytracer linkedlist generators; do
  compare "memprof, $program" "$(best "$perilune" "$work/plain.lua" $program.lua)" "$(best "$perilune" "$work/watched.lua" $program.lua)" 3
done

# Single programs differ by as much as the limit from one run to another, where the traces that they get depend on addresses.
PERILUNE=$perilune SIGNALS=$signals python3 "$here/watched.py" -w signals -w "1 kHz" \
  collatz fannkuch fasta life lu nbody queens revcomp sor spectralnorm || failed=1

"$perilune" "$here/heap.lua" "$work/heap" || failed=1

"$perilune" profile --folded -o "$work/folded" "$here/../../tests/consumers/shares.lua" > "$work/took"
while read -r name took; do
  awk -v name="$name" -v wanted="$took" '
    { n = $NF; all += n; if ($0 ~ "[;]" name " [(]") found += n }
    END { p = found * 100 / all; printf "profile: %s %.1f%%, measured %.1f%%, of %d samples\n", name, p, wanted, all; exit (p > wanted + 2 || p < wanted - 2) }
  ' "$work/folded" || failed=1
done < "$work/took"
exit $failed
