#!/bin/sh
# Programs that nobody here wrote read what the observers write: tests/consumers/run.sh FOLDER
#
# FOLDER holds what there is of them: `tarantool-luajit` and `luau`, checkouts of those repositories, and `npm`, where the packages
# heap-snapshot-toolkit, v8-heapsnapshot, pprof-format, speedscope, and playwright-core for it, are installed. What is not there is skipped, and
# that is said. PERILUNE is the command, by default that of a release build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "${1:?usage: run.sh FOLDER}" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}/release
perilune=${PERILUNE:-$target/perilune}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A reader that hangs is one that fails.
limited() { timeout -k 5 120 "$@"; }
limited "$perilune" "$here/program.lua" "$work/profile" "$work/dump.json" "$work/snapshot.heapsnapshot"

failed=0
skip() { echo "SKIPPED $1: $2"; }
result() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "FAILED $1"; failed=1; fi; }
node_reads() { # script, file, package that it needs, what is shown
  if [ -d "$folder/npm/node_modules/$3" ] && command -v node > "$work/out"; then
    limited node "$here/$1" "$2" "$folder/npm" "$work" && r=0 || r=1
    result "$4" $r
  else
    skip "$4" "no $3 in $folder/npm, or no node"
  fi
}

tarantool=$folder/tarantool-luajit
if [ ! -d "$tarantool/tools/memprof" ]; then
  skip "Tarantool's parser" "no $tarantool"
else
  if command -v luajit > "$work/out"; then
    # The order of what has as many events is left open there.
    (cd "$tarantool/tools" && limited env PROFILE="$work/profile" luajit -e 'require "memprof" { os.getenv "PROFILE" }') | sort > "$work/theirs" && r=0 || r=$?
    limited "$perilune" memprof report "$work/profile" | sort > "$work/ours"
    [ "$r" != 0 ] || cmp "$work/theirs" "$work/ours" || r=1
    result "Tarantool's parser prints what perilune memprof prints" $r
  else
    skip "Tarantool's parser" "it needs luajit"
  fi
  # Their tests start their parsers by the command's option -t.
  echo 'require(table.remove(arg, 1))(arg)' > "$work/tool.lua"
  cat > "$work/perilune" << END
#!/bin/bash
case \$1 in
-tm) exec -a "\$0" "$perilune" "$work/tool.lua" memprof "\${@:2}" ;;
-ts) exec -a "\$0" "$perilune" "$work/tool.lua" sysprof "\${@:2}" ;;
esac
exec -a "\$0" "$perilune" "\$@"
END
  chmod +x "$work/perilune"
  while read -r test parts; do
    limited env LUA_INIT="@$here/tarantool-init.lua" TARANTOOL="$tarantool" LUAJIT_TEST_VARDIR="$work" \
      "$work/perilune" "$tarantool/test/tarantool-tests/$test.test.lua" > "$work/out" 2>&1 || true
    [ "$(grep -c '^ok' "$work/out")" -ge "${parts%/*}" ] && r=0 || r=1
    result "Tarantool's $test: $parts parts (docs/memory.md and docs/profiling.md say which not)" $r
  done << END
profilers/misclib-memprof-lapi 5/5
profilers/gh-5994-memprof-human-readable 5/5
profilers/gh-9217-profile-parsers-error-handling 6/6
profilers/tools-utils-avl 7/7
misclib-getmetrics-lapi 8/10
profilers/misclib-sysprof-lapi 17/19
profilers/gh-7264-add-proto-trace-sysprof-default 2/2
END
fi

luau=$folder/luau/tools
if [ -f "$luau/heapsnapshot.py" ] && command -v python3 > "$work/out"; then
  limited python3 "$luau/heapsnapshot.py" "$work/dump.json" "$work/luau.heapsnapshot" > "$work/out" && r=0 || r=1
  result "Luau's heapsnapshot.py reads the dump" $r
  limited "$perilune" heap summary "$work/luau.heapsnapshot" > "$work/out" && r=0 || r=1
  result "and perilune heap reads what it writes" $r
  for script in heapstat heapgraph; do
    (cd "$work" && limited python3 "$luau/$script.py" "$work/dump.json" > "$work/out") && r=0 || r=1
    result "Luau's $script.py reads the dump" $r
  done
else
  skip "Luau's tools" "no $luau, or no python3"
fi

node_reads snapshot.mjs "$work/snapshot.heapsnapshot" heap-snapshot-toolkit "Chrome's developer tools and v8-heapsnapshot read the snapshot"
# Profiles of time: three functions, what they took as the program has measured it, and what perilune profile tells.
for format in pprof speedscope; do
  limited "$perilune" profile --$format -o "$work/profile.$format" "$here/shares.lua" > "$work/took.$format" 2> "$work/told.$format"
done
mv "$work/profile.pprof" "$work/profile.pb.gz"
mv "$work/profile.speedscope" "$work/profile.json"
node_reads pprof.mjs "$work/profile.pb.gz" pprof-format "pprof-format reads the profile"
if command -v go > "$work/out"; then
  limited go tool pprof -top "$work/profile.pb.gz" > "$work/out" && grep -q "sixty (shares.lua" "$work/out" && r=0 || r=1
  result "pprof reads the profile" $r
else
  skip "pprof" "no go"
fi
if [ -d "$folder/npm/node_modules/speedscope" ] && [ -d "$folder/npm/node_modules/playwright-core" ] &&
  command -v chromium > "$work/out" && command -v node > "$work/out"; then
  for file in profile.json:speedscope profile.pb.gz:pprof; do
    limited node "$here/speedscope.mjs" "$work/${file%:*}" "$folder/npm" "$work" "${file#*:}" && r=0 || r=1
    result "speedscope reads ${file%:*}" $r
  done
else
  skip "speedscope" "no speedscope or playwright-core in $folder/npm, or no chromium or node"
fi
exit $failed
