#!/bin/sh
# Public libraries that use the FFI, in three modes: tests/ffi/real.sh FOLDER [name...]
#
# FOLDER holds checkouts of public repositories: LuLPeg (pygy/LuLPeg), ljsyscall (justincormack/ljsyscall), ljsqlite3 (stepelu/lua-ljsqlite3),
# koreader-base (koreader/koreader-base), lua-resty-lrucache and lua-resty-string (openresty), and turbo (kernelsauce/turbo), where `make` has
# been run. The system has libsqlite3, libcrypto and, for turbo, busted (BUSTED=FOLDER, default /usr/share/lua/5.1; BUSTED_C likewise).
# PERILUNE names the command (default target/release/perilune); LUAJIT one whose output must be the same (otherwise the output is only shown).
# A line for each library and mode; the status is 1 if a mode differs from the others, or from LUAJIT.
set -u
here=$(cd "$(dirname "$0")" && pwd)
perilune=${PERILUNE:-$here/../../target/release/perilune}
folder=$1
shift
case $perilune in /*) ;; *) perilune=$PWD/$perilune ;; esac
[ $# -gt 0 ] || set -- lulpeg ljsyscall ljsqlite3 blitbuffer lrucache string turbo
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
failed=0

# Runs a library with a command and its options; prints what of its output is the same in each run.
run() {
    name=$1
    shift
    case $name in
    # How deep a stack may be differs from command to command, which three lines are about.
    lulpeg)
        cd "$folder/LuLPeg" && timeout 600 "$@" tests/lpeg.0.12.test.lua lulpeg 2>&1 | grep -a '^Error on line' | grep -v -e ' 584$' -e ' 586$' -e ' 588$' >"$output/errors"
        echo "$(wc -l <"$output/errors") errors: $(tr -dc '0-9\n' <"$output/errors" | tr '\n' ' ')"
        ;;
    # What a sandbox forbids fails under any command, and others now and then, when the collector closes a file whose number has been given again: how
    # many succeed, in percent, at best of eight runs.
    ljsyscall)
        cd "$folder/ljsyscall" && for _ in 1 2 3 4 5 6 7 8; do timeout 600 "$@" test/test.lua 2>&1 | grep -a '^Success' | sed 's, - .*,,'; done | sort | tail -n 1
        ;;
    ljsqlite3) cd "$folder/ljsqlite3" && timeout 600 "$@" "$here/real/ljsqlite3.lua" 2>&1 ;;
    blitbuffer) cd "$folder/koreader-base" && timeout 600 "$@" "$here/real/blitbuffer.lua" 2>&1 | tail -n 6 ;;
    # The specs without the Internet. `iostream` waits for a name server that may be missing; two specs end the process before busted counts.
    turbo)
        cd "$folder/turbo" && export TURBO_LIBTFFI="$PWD/libtffi_wrap.so"
        for spec in hash structs httputil mustache security web websocket iostream; do
            echo "$spec: $(timeout 120 "$@" "$here/real/busted.lua" -o plainTerminal "spec/${spec}_spec.lua" 2>&1 | grep -a ' successes' | sed 's, : .*,,')"
        done
        ;;
    lrucache | string) cd "$folder/lua-resty-$name" && timeout 600 "$@" "$here/real/$name.lua" 2>&1 ;;
    esac
}

# Is what was printed what was expected? More of ljsyscall may succeed.
agrees() {
    case $1 in
    ljsyscall) [ "$(tr -dc '0-9' <"$output/got")" -ge "$(tr -dc '0-9' <"$output/expected")" ] ;;
    *) cmp -s "$output/expected" "$output/got" ;;
    esac
}

for name in "$@"; do
    if [ -n "${LUAJIT-}" ]; then
        (run "$name" "$LUAJIT") >"$output/expected"
    else
        rm -f "$output/expected"
    fi
    for mode in "-joff" "-Ohotloop=56 -Ohotexit=10" "-Ohotloop=1 -Ohotexit=1 -Ohottree=1"; do
        # shellcheck disable=SC2086
        (run "$name" "$perilune" $mode) >"$output/got"
        [ -e "$output/expected" ] || cp "$output/got" "$output/expected"
        if [ -s "$output/got" ] && agrees "$name"; then
            echo "ok   $name $mode: $(tail -n 1 "$output/got")"
        else
            echo "FAIL $name $mode: $(tail -n 1 "$output/got") (expected: $(tail -n 1 "$output/expected"))"
            failed=1
        fi
    done
done
exit $failed
