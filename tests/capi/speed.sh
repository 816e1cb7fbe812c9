#!/bin/sh
# How fast C is used with Perilune's library, compared with LuaJIT's: calls from both sides, errors, coroutines, and modules from Debian's
# packages. Prints for each way of speed.lua the nanoseconds of both and the ratio, compiled and interpreted. Runs of the two libraries
# alternate; the least of each counts.
#
#   tests/capi/speed.sh                    all
#   tests/capi/speed.sh add 'lua_call'     some of them
#   RUNS=10 tests/capi/speed.sh            more runs of each
set -u
cd "$(dirname "$0")/../.."
. tests/capi/setup.sh
unpack $module_packages
build release
mkdir -p "$work/speed"
cc -O2 -shared -fPIC -I capi/include tests/capi/speed.c -o "$work/speed/speed.so" || exit 1
export LUA_CPATH="$work/speed/?.so;$LUA_CPATH"
[ $# -eq 0 ] && { with ours "" "$work/run" tests/capi/speed.lua | grep -v '^status' >"$work/ways"; } || printf '%s\n' "$@" >"$work/ways"
least() { sort -g | head -n 1; }
while read -r way; do
    for mode in compiled interpreted; do
        first=$([ $mode = compiled ] || echo 'jit.off()')
        rm -f "$work"/least.*
        for _ in $(seq "${RUNS:-3}"); do
            for library in ours theirs; do
                with $library "$first" "$work/run" tests/capi/speed.lua "$way" | grep -v '^status' >>"$work/least.$library"
            done
        done
        ours=$(least <"$work/least.ours") theirs=$(least <"$work/least.theirs")
        awk -v w="$way, $mode" -v o="$ours" -v t="$theirs" 'BEGIN { printf "%-40s %12.1f %12.1f %8.2f\n", w, o, t, o / t }'
    done
done <"$work/ways"
