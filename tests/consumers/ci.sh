#!/bin/sh
# What CI runs of tests/consumers and tests/browser: installs the readers that a registry has, and says which it could not get.
# Only a reader that is there and does not read what we write is a failure: not a registry that refuses or hangs.
#
# PERILUNE_CONSUMERS may name a folder with checkouts of `tarantool-luajit` and `luau`, which no registry has. Needs a build in the
# dev profile, or that of PERILUNE.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}
mkdir -p "$target/consumers/npm"
folder=$(cd "$target/consumers" && pwd)
export PERILUNE="${PERILUNE:-$target/debug/perilune}"
[ "$(id -u)" = 0 ] && sudo= || sudo="sudo -n"

# Runs a package client that may hang; after that nothing more is asked of it.
hung=
ask() { # seconds, what is asked for, command ...
  seconds=$1 what=$2 r=0
  shift 2
  if [ -z "$hung" ]; then timeout -k 5 "$seconds" "$@" > "$folder/log" 2>&1 || r=$?; else r=1; fi
  [ $r != 124 ] || hung=1
  [ $r = 0 ] || echo "not to be had: $what"
}

# A command, and Debian's package that it is in.
updated=
for needed in luajit:luajit chromium:chromium go:golang-go python3:python3 node:nodejs npm:npm; do
  command -v "${needed%:*}" > "$folder/log" && continue
  [ -n "$updated" ] || ask 60 "Debian's list of packages" $sudo apt-get update -qq
  updated=1
  ask 150 "Debian's ${needed#*:}" $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${needed#*:}"
done
hung=
for package in heap-snapshot-toolkit@1.1.3 v8-heapsnapshot@1.3.1 speedscope@1.25.0 pprof-format@2.3.2 playwright-core@1.65.1; do
  [ ! -d "$folder/npm/node_modules/${package%@*}" ] || continue
  ask 90 "npm's $package" npm install --prefix "$folder/npm" --ignore-scripts --no-audit --no-fund --fetch-retries 1 "$package"
done

for name in tarantool-luajit luau; do
  if [ -d "${PERILUNE_CONSUMERS:-/nonexistent}/$name" ]; then
    ln -sfn "$(cd "$PERILUNE_CONSUMERS/$name" && pwd)" "$folder/$name"
  else
    rm -f "$folder/$name"
  fi
done
status=0
"$here/run.sh" "$folder" || status=1
"$here/../browser/run.sh" "$folder" || status=1
exit $status
