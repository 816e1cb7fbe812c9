#!/bin/sh
# Pages of the trace explorer, and Chromium's own developer tools on our heap snapshots, in headless Chromium:
# tests/browser/run.sh FOLDER [screenshots]
#
# FOLDER/npm is where npm has installed playwright-core. CHROMIUM is the browser (/usr/bin/chromium), PERILUNE is the
# command, by default that of a release build. What is not there is skipped, and that is said. With `screenshots` the pictures in
# docs are made anew, and nothing else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "${1:?usage: run.sh FOLDER [screenshots]}" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}/release
perilune=${PERILUNE:-$target/perilune}
export CHROMIUM="${CHROMIUM:-/usr/bin/chromium}"

skip() { echo "SKIPPED the browser: $1"; exit 0; }
command -v node > /dev/null || skip "no node"
[ -x "$CHROMIUM" ] || skip "no $CHROMIUM"
[ -d "$folder/npm/node_modules/playwright-core" ] || skip "no playwright-core in $folder/npm"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here"

if [ "${2:-}" = screenshots ]; then
  cd ../..
  "$perilune" trace -o "$work/page.html" benches/programs/scheduler.lua > "$work/out"
  node "$here/explorer.mjs" "$folder/npm" "$work/page.html" none none docs
  exit
fi

failed=0
result() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "FAILED $1"; failed=1; fi; }

# What the page must show does not depend on how fast the machine is, nor on the budget.
"$perilune" trace -O hotloop=56,hotexit=10,budget=0,maxrecord=60,maxside=3 -o "$work/page.html" program.lua > "$work/out"
"$perilune" trace -O hotloop=5,hotexit=5,budget=0,maxtrace=4000 -o "$work/many.html" many.lua 1000 > "$work/out"
mkdir "$work/slow"
for program in ../subcommands/slow/*.lua; do
  name=$(basename "$program" .lua)
  "$perilune" trace -o "$work/slow/$name.html" "$program" > "$work/out"
done
timeout -k 5 180 node explorer.mjs "$folder/npm" "$work/page.html" "$work/many.html" "$work/slow" && r=0 || r=1
result "the trace explorer" $r

# Without samples a page differs from run to run in the times of events only.
"$perilune" trace --no-samples -O hotloop=56,hotexit=10,budget=0,maxrecord=60,maxside=3 -o "$work/picture.html" program.lua > "$work/out"
timeout -k 5 180 node pictures.mjs "$folder/npm" "$work/picture.html" pictures.txt && r=0 || r=1
result "it looks as it did" $r

"$perilune" ../consumers/program.lua "$work/profile" "$work/dump.json" "$work/snapshot.heapsnapshot"
timeout -k 5 180 node devtools.mjs "$work/snapshot.heapsnapshot" "$folder/npm" Account 3000 && r=0 || r=1
result "Chromium's developer tools read the snapshot" $r
"$perilune" leak.lua "$work/before.heapsnapshot" "$work/after.heapsnapshot"
timeout -k 5 180 node comparison.mjs "$folder/npm" "$work/before.heapsnapshot" "$work/after.heapsnapshot" && r=0 || r=1
result "and compare two snapshots" $r
exit $failed
