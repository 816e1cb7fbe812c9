#!/bin/sh
# Modules in C and programs from Debian's packages, unmodified, with Perilune's library in the place of LuaJIT's: each module of modules.lua, in
# three modes and with a collection at every safepoint; Neovim, wrk and lupa. What each prints must be what it prints with LuaJIT's library.
# Installs nothing: packages are downloaded and unpacked below target/capi. A line for each; fails if any is wrong.
#
#   tests/capi/real.sh            all
#   tests/capi/real.sh cjson nvim some of them
set -u
cd "$(dirname "$0")/../.."
root=$PWD
work=${CARGO_TARGET_DIR:-target}/capi
mkdir -p "$work/packages" "$work/files" "$work/ours" "$work/theirs"
work=$(cd "$work" && pwd)
failed=0

modules="cjson lpeg lfs socket mime.core posix zlib md5.core luasql.sqlite3 lxp lyaml mpack rex_pcre2 openssl.digest ssl luv cqueues lgi bit iconv
luaevent.core term.core"
packages="libluajit-5.1-2 lua-cjson lua-lpeg lua-filesystem lua-socket lua-posix lua-bit32 lua-zlib lua-md5 lua-sql-sqlite3 lua-expat lua-yaml lua-mpack
lua-rex-pcre2 lua-luaossl lua-sec lua-luv lua-cqueues lua-lgi lua-bitop lua-iconv lua-event lua-term libmpack0 libuv1 libsqlite3-0 libexpat1 libyaml-0-2
libpcre2-8-0 libevent-2.1-7 libgirepository-1.0-1 gir1.2-glib-2.0 neovim neovim-runtime libtree-sitter0 libvterm0 libunibilium4 libtermkey1 libmsgpackc2
wrk python3-lupa"

for package in $packages; do
    [ -e "$work/packages/$package.done" ] && continue
    (cd "$work/packages" && apt-get download -qq "$package" >/dev/null 2>&1 && dpkg-deb -x "${package}"_*.deb ../files && touch "$package.done") ||
        echo "not there: $package"
done
cargo build -q -p perilune-library || exit 1
libraries=$work/files/usr/lib/$(uname -m)-linux-gnu
ln -sf "$(dirname "$work")/debug/libperilune_library.so" "$work/ours/libluajit-5.1.so.2"
cp "${LIBLUAJIT:-$libraries/libluajit-5.1.so.2}" "$work/theirs/libluajit-5.1.so.2"
rm -f "$libraries"/libluajit-5.1.so*
ln -sf libluajit-5.1.so.2 "$work/ours/libluajit-5.1.so"
cc -O1 -rdynamic -I capi/include tests/capi/run.c -o "$work/run" -L "$work/ours" -lluajit-5.1 || exit 1

export LUA_CPATH="$libraries/lua/5.1/?.so" LUA_PATH="$work/files/usr/share/lua/5.1/?.lua;$work/files/usr/share/lua/5.1/?/init.lua"
export VIMRUNTIME=$work/files/usr/share/nvim/runtime HOME=$work/home PYTHONPATH=$work/files/usr/lib/python3/dist-packages
mkdir -p "$HOME"
port=8123

# Runs something with a library; the mode is a chunk that states run first.
with() {
    library=$1 mode=$2
    shift 2
    LD_LIBRARY_PATH=$work/$library:$libraries LUA_FIRST=$mode timeout 300 "$@" 2>&1 </dev/null
    echo "status $?"
}
nvim() {
    rm -f "$work/edited"
    printf 'one\ntwo\nthree\n' >"$work/edited"
    with "$1" "" "$work/files/usr/bin/nvim" --headless -u NONE "$work/edited" -c "luafile $root/tests/capi/nvim.lua" -c 'checkhealth' -c 'qa!' |
        grep -v '^Running healthchecks'
    cat "$work/edited"
}
wrk() {
    python3 -m http.server $port --bind 127.0.0.1 >/dev/null 2>&1 &
    server=$!
    sleep 2
    with "$1" "" "$work/files/usr/bin/wrk" -t2 -c4 -d2s -s "$root/tests/capi/wrk.lua" http://127.0.0.1:$port/ | grep -E 'script:|PANIC|status'
    kill $server
}
lupa() { with "$1" "" python3 "$root/tests/capi/lupa_use.py"; }
check() {
    if [ "$2" = "$3" ]; then
        echo "ok   $1"
    else
        echo "FAIL $1"
        printf '%s\n' "$3" >"$work/theirs.txt"
        printf '%s\n' "$2" | diff "$work/theirs.txt" - | head -n 10
        failed=1
    fi
}

for name in ${*:-$modules nvim wrk lupa}; do
    case $name in
    nvim | wrk | lupa) check "$name" "$($name ours)" "$($name theirs)" ;;
    *)
        expected=$(with theirs "" "$work/run" tests/capi/modules.lua "$name")
        for mode in "" "jit.off()" "jit.opt.start('hotloop=1', 'hotexit=1')" "jit.opt.start('hotloop=2', 'hotexit=2', 'gcstress=1')"; do
            check "$name $mode" "$(with ours "$mode" "$work/run" tests/capi/modules.lua "$name")" "$expected"
        done
        ;;
    esac
done
exit $failed
