#!/bin/sh
# Modules in C and programs from Debian's packages, unmodified, with Perilune's library in the place of LuaJIT's: each module of modules.lua, in
# three modes and with a collection at every safepoint; Neovim, wrk, lupa, sysbench, LuaRocks, nginx with OpenResty's module (which needs
# OpenResty's LuaJIT). What each prints must be what it prints with LuaJIT's library. Installs nothing: packages are downloaded and unpacked below
# target/capi. A line for each; fails if any is wrong.
#
#   tests/capi/real.sh            all
#   tests/capi/real.sh cjson nvim some of them
#   PROFILE=release tests/capi/real.sh
#   PGHOST=... PGUSER=... PGPASSWORD=... PGDATABASE=... tests/capi/real.sh database
#                                 sysbench's scripts on an empty database of a PostgreSQL server, with `psql` on the path
set -u
cd "$(dirname "$0")/../.."
. tests/capi/setup.sh
failed=0

modules="cjson lpeg lfs socket mime.core posix zlib md5.core luasql.sqlite3 lxp lyaml mpack rex_pcre2 openssl.digest ssl luv cqueues lgi bit iconv
luaevent.core term.core augeas"
unpack $module_packages neovim neovim-runtime libtree-sitter0 libvterm0 libunibilium4 libtermkey1 libmsgpackc2 wrk python3-lupa
unpack sysbench libmariadb3 libpq5 luarocks nginx libnginx-mod-http-lua libnginx-mod-http-ndk lua-resty-core lua-resty-lrucache libpcre3
build "${PROFILE:-dev}"

export VIMRUNTIME=$work/files/usr/share/nvim/runtime PYTHONPATH=$work/files/usr/lib/python3/dist-packages
port=8123

nvim() {
    rm -f "$work/edited"
    printf 'one\ntwo\nthree\n' >"$work/edited"
    with "$1" "" "$work/files/usr/bin/nvim" --headless -u NONE --cmd "set rtp+=$root/tests/capi/nvim" "$work/edited" \
        -c "luafile $root/tests/capi/nvim.lua" -c 'qa!' | grep -v '^Running healthchecks'
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
sysbench() {
    # The threads of sysbench have 64 KB of stack, which is too little for the library without optimisation.
    set -- "$1" --thread-stack-size=128K
    with "$1" "" "$work/files/usr/bin/sysbench" cpu --events=50 --time=0 run | grep -E 'total number|status'
    with "$1" "" "$work/files/usr/bin/sysbench" "$root/tests/capi/sysbench.lua" "$2" --threads=1 --events=20000 --rand-seed=7 run |
        grep -E 'done|total number|FATAL|status'
    with "$1" "" "$work/files/usr/bin/sysbench" "$root/tests/capi/sysbench.lua" "$2" --threads=4 --events=20000 run | grep -E 'done|total number|FATAL|status'
    for command in prepare "--words=x,y words" help; do
        # shellcheck disable=SC2086
        with "$1" "" "$work/files/usr/bin/sysbench" "$root/tests/capi/sysbench.lua" --size=7 $command
    done
    with "$1" "" "$work/files/usr/bin/sysbench" "$work/files/usr/share/sysbench/oltp_read_only.lua" help
}
# What sysbench's scripts do to a database: how many queries of each kind, and the rows of a table at the end. The seed is the same.
database() {
    for script in oltp_delete oltp_insert oltp_point_select oltp_read_only oltp_read_write oltp_update_index oltp_update_non_index oltp_write_only \
        select_random_points select_random_ranges; do
        set -- "$1" "" "$work/files/usr/bin/sysbench" --thread-stack-size=128K --db-driver=pgsql --pgsql-host="$PGHOST" --pgsql-user="$PGUSER" \
            --pgsql-password="$PGPASSWORD" --pgsql-db="$PGDATABASE" --table-size=1000 --rand-seed=11 --threads=1 --time=0 --events=300 \
            "$work/files/usr/share/sysbench/$script.lua"
        echo "== $script"
        with "$@" prepare | grep -vE '^(sysbench|status 0)'
        with "$@" run | grep -E '(read|write|other|total|transactions):|errors|FATAL|status' | sed 's/(.*//'
        psql -Atc "select count(*), sum(k), md5(string_agg(c || pad, '' order by id)) from sbtest1"
        with "$@" cleanup | grep -E 'FATAL|status'
    done
}
luarocks() { with "$1" "" "$root/tests/capi/luarocks.sh" "$work/run" "$work/files/usr/bin/luarocks" "$work/rocks"; }
# What pages show of nginx, and what it has written to its log.
nginx() {
    folder=$work/nginx
    rm -rf "$folder"
    mkdir "$folder"
    sed "s|@folder@|$folder|g; s|@modules@|$work/files/usr/lib/nginx/modules|g; s|@lua@|$work/files/usr/share/lua/5.1|g; s|@port@|$port|g" \
        tests/capi/nginx.conf >"$folder/nginx.conf"
    library=$1
    [ "$1" = theirs ] && library=openresty
    LD_LIBRARY_PATH=$work/$library:$libraries:$work/files/lib/$(uname -m)-linux-gnu "$work/files/usr/sbin/nginx" -e "$folder/errors.txt" -p "$folder" \
        -c "$folder/nginx.conf" 2>&1 &
    server=$!
    sleep 2
    get() { curl -s -i --max-time 10 "$@" | grep -vE '^(Date|Server|Content-Length)'; }
    for page in hello?name=you count count count?forbidden=1 match encode threads parts socket error filter timer; do
        echo "== $page"
        get "http://127.0.0.1:$port/$page"
    done
    get -A agent -d 'a=1&b=two' "http://127.0.0.1:$port/body"
    seq 300 | xargs -P 4 -I{} curl -s "http://127.0.0.1:$port/match?{}" | sort | uniq -c
    seq 300 | xargs -P 4 -I{} curl -s "http://127.0.0.1:$port/count?{}" | sort -n | tail -n 1
    kill $server
    wait $server
    echo "status $?"
    sed -E "s/^[^[]*\[/[/; s/0x[0-9a-f]*//g; s/[0-9]+#[0-9]*: \*[0-9]*//; s|$root||g" "$folder/errors.txt"
}
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

for name in ${*:-$modules nvim wrk lupa sysbench luarocks nginx}; do
    case $name in
    nvim | wrk | lupa | sysbench | luarocks | nginx | database) check "$name" "$($name ours)" "$($name theirs)" ;;
    *)
        expected=$(with theirs "" "$work/run" tests/capi/modules.lua "$name")
        for mode in "" "jit.off()" "jit.opt.start('hotloop=1', 'hotexit=1')" "jit.opt.start('hotloop=2', 'hotexit=2', 'gcstress=1')"; do
            check "$name $mode" "$(with ours "$mode" "$work/run" tests/capi/modules.lua "$name")" "$expected"
        done
        ;;
    esac
done
exit $failed
