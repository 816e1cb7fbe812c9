#!/bin/sh
# Test suites of others, with Perilune's library in the place of LuaJIT's: those of modules in C from Debian's packages, LuaJIT's tests with
# modules in C and C++, Tarantool's tests in C, and mlua's. What each prints must be what it prints with LuaJIT's library, in three modes and
# with a collection at many safepoints. The sources are found below a folder; a suite whose sources are not there is left out, which is said.
#
#   tests/capi/suites.sh FOLDER                all
#   tests/capi/suites.sh FOLDER lpeg luv       some of them
#
# Folders: the sources of Debian's packages (`apt-get source lua-lpeg` and so on) or of the projects of the same names, and clones of
# LuaJIT-test-cleanup, tarantool-luajit, mlua. LIBLUAJIT is the library to compare with. The suites of luaposix and lyaml are run by specl, in
# the folders specl (version 14.1.5), stdlib (41.2.0), optparse and luamacro. That of lgi needs Debian's packages libgirepository1.0-dev,
# gobject-introspection, libcairo2-dev, gir1.2-gtk-3.0, dbus and xvfb.
set -u
sources=$(cd "$1" && pwd) || exit 2
shift
cd "$(dirname "$0")/../.."
. tests/capi/setup.sh
unpack $module_packages lua-busted lua-luassert lua-say lua-cliargs lua-mediator lua-penlight lua-system
build "${PROFILE:-release}"
failed=0
# Lua code that states run first. The last collects at many safepoints, a step each time.
plain="" joff="jit.off()" hot="jit.opt.start('hotloop=1', 'hotexit=1')" stress="jit.opt.start('hotloop=2', 'hotexit=2', 'gcstress=4096')"
eager="collectgarbage('setpause', 0) collectgarbage('setstepmul', 100000)"
export LUA_PATH="./?.lua;./?/init.lua;$LUA_PATH"

# What differs from run to run: addresses, times, the order of keys, the name of the host; how often a sample of luasec had to wait for data.
settle() { sed -E 's/0x[0-9a-f]+/ADDRESS/g; s/[0-9.]+( ?(seconds|ms|s)\b)/TIME\1/g; s/Want\?[[:space:]]*(read|write)//; /^$/d'; }
# The first argument is the library, the second what the state runs first, the third the folder, the others script and arguments. A command that
# gets the command to run is in `runner`, if there is one.
run_in() {
    library=$1 first=$2 folder=$3
    shift 3
    # shellcheck disable=SC2086
    (cd "$folder" && with "$library" "$first" ${runner:-} "$work/run" "$@") | settle
}
report() {
    if [ -z "$4" ]; then
        echo "FAIL $1 ($2): nothing to compare with"
        failed=1
    elif [ "$3" = "$4" ]; then
        echo "ok   $1 ($2)"
    else
        echo "FAIL $1 ($2)"
        printf '%s\n' "$4" >"$work/theirs.txt"
        printf '%s\n' "$3" | diff "$work/theirs.txt" - | head -n 10
        failed=1
    fi
}
# Runs a script of a module's suite; the order of lines, which depends on the order of keys in some, is not compared: name, folder (a pattern below the sources), filter for what is printed, script and arguments.
suite() {
    name=$1 filter=$3
    # shellcheck disable=SC2086
    set -- $(ls -d "$sources"/$2 2>/dev/null | head -n 1) "$@"
    case $1 in /*) ;; *) echo "not there: $name" && return ;; esac
    folder=$1
    shift 4
    expected=$(run_in theirs "" "$folder" "$@" | grep -aE "$filter" | sort)
    for mode in plain joff hot stress; do
        eval "first=\$$mode"
        got=$(run_in ours "$first" "$folder" "$@" | grep -aE "$filter" | sort)
        # Where it matters what has been collected, what LuaJIT prints when it collects often counts, too.
        [ "$got" != "$expected" ] && [ $mode = stress ] && expected=$(run_in theirs "$eager" "$folder" "$@" | grep -aE "$filter" | sort)
        report "$name $*" $mode "$got" "$expected"
    done
}
all=.

lfs() { suite lfs 'lua-filesystem*/tests' $all test.lua; }
lpeg() { suite lpeg 'lpeg*' $all test.lua; }
# The order of keys differs.
cjson() { suite cjson 'lua-cjson*/tests' '^==>' test.lua; }
luasocket() {
    for script in urltest ltn12test test_getaddrinfo test_bind excepttest; do suite luasocket 'luasocket*/test' $all $script.lua; done
    suite luasocket 'luasocket*/test' '^testing' mimetest.lua
}
zlib() { suite zlib 'lua-zlib*' $all test.lua; }
md5() { suite md5 'md5*/tests' $all test.lua; }
iconv() { suite iconv '*lua-iconv*' $all test_iconv.lua; }
mpack() { suite mpack 'libmpack-lua*' $all test.lua; }
luasql() { suite luasql 'luasql*/tests' $all test.lua sqlite3 "$work/db.sqlite"; }
lrexlib() { suite lrexlib 'lrexlib*/test' $all runtest.lua pcre2; }
expat() { suite expat 'luaexpat*' 'success|Failure|Error|spec' "$root/tests/capi/busted.lua" spec; }
luaossl() {
    # An error in one of them names a place from memory that was freed.
    for script in "$sources"/luaossl*/regress/[0-9]*.lua; do
        suite luaossl 'luaossl*/regress' 'regress|status' "$(basename "$script")"
    done
}
# Lines of dots depend on the time that something takes.
cqueues() {
    for script in "$sources"/cqueues*/regress/[0-9]*.lua; do
        case $script in
        # They ask servers in the internet, or wait for most of a minute.
        *22-client-dtls* | *153-dns* | *75-sleep*) ;;
        *) suite cqueues 'cqueues*/regress' 'regress: [^.]|status' "$(basename "$script")" ;;
        esac
    done
}
luv() {
    for script in "$sources"/luv/tests/test-*.lua; do
        case $script in
        # They need the internet, or fail with LuaJIT's library, too.
        *test-dns* | *test-fs.lua | *test-tty*) ;;
        *) suite luv luv '^(ok|not ok|1\.\.|status)' "tests/$(basename "$script")" ;;
        esac
    done
}
# A copy of sources, in which a suite may write: name, folder (a pattern below the sources). Fails if they are not there.
copy() {
    from=$(echo "$sources"/$2)
    [ -d "$from" ] || { echo "not there: $1" && return 1; }
    rm -rf "$work/copies/$1"
    mkdir -p "$work/copies"
    cp -r "$from" "$work/copies/$1"
}
# Runs what specl, the runner of specifications, is asked for: a copy's name, its folder of specifications.
specl() {
    for part in specl stdlib optparse luamacro; do [ -d "$sources/$part" ] || { echo "not there: $part" && return; }; done
    rm -rf "$work/copies/specl"
    mkdir -p "$work/copies/specl"
    cp -r "$sources"/specl/lib/specl "$sources"/stdlib/lib/std "$sources"/optparse/lib/* "$sources"/luamacro/macro* "$work/copies/specl/"
    for part in specl/lib/specl/version stdlib/lib/std; do
        sed 's/@[A-Z_]*@/1/g' "$sources/$part.lua.in" >"$work/copies/specl/${part#*/lib/}.lua"
    done
    echo 'require("specl.main")(arg):execute()' >"$work/copies/specl/run.lua"
    for script in "$work/copies/$1/$2"/*_spec.yaml; do
        # Users have names in some of them; and each says what it has taken.
        USER=$(id -un) LOGNAME=$(id -un) LUA_PATH="./$2/?.lua;$work/copies/specl/?.lua;$work/copies/specl/?/init.lua;$LUA_PATH" \
            sources=$work/copies suite "$1" "$1" . ../specl/run.lua -freport "$2/$(basename "$script")"
    done
}
luaposix() { copy luaposix 'luaposix*' && specl luaposix specs; }
lyaml() {
    copy lyaml 'lyaml*' || return
    # What it asks for the folder of the module in C. Its own part in Lua is that of the package.
    printf '#!/bin/sh\necho "objdir=%s.%s"\n' "'" "'" >"$work/copies/lyaml/build-aux/luke"
    rm -r "$work/copies/lyaml/lib"
    specl lyaml spec
}
lgi() {
    copy lgi 'lgi*' && make -s -C "$work/copies/lgi/tests" >/dev/null 2>&1 || return
    # It shows windows, and calls services of a session.
    echo 'LD_LIBRARY_PATH=tests:$LD_LIBRARY_PATH GI_TYPELIB_PATH=tests exec xvfb-run -a dbus-run-session -- "$@"' >"$work/session.sh"
    sources=$work/copies runner="sh $work/session.sh" suite lgi lgi 'passed\.|FAILED|^status' tests/test.lua
}
# luasec's samples that need no other host: a server and a client, with certificates made for them.
luasec() {
    copy luasec 'luasec*' || return
    (cd "$work/copies/luasec/samples/certs" && for name in rootA rootB clientA clientB serverA serverB; do sh $name.sh; done) >/dev/null 2>&1
    # The server listens after that time.
    echo '"$@" server.lua & sleep 0.5; "$@" client.lua; wait' >"$work/pair.sh"
    for sample in alpn chain curve-negotiation digest ecdh info oneshot verify want; do
        sources=$work/copies/luasec runner="sh $work/pair.sh" suite "luasec $sample" "samples/$sample" $all
    done
}
# LuaJIT's tests of its C API and of the FFI, with modules in C and C++.
libctest() {
    tests=$sources/LuaJIT-test-cleanup/test
    [ -d "$tests" ] || { echo "not there: LuaJIT-test-cleanup" && return; }
    rm -rf "$work/libctest"
    mkdir -p "$work/libctest/clib" "$work/libctest/lib"
    cp -r "$tests/common" "$work/libctest/"
    cc -w -O1 -shared -fPIC -I capi/include "$tests/src/ctest.c" -o "$work/libctest/clib/ctest" || exit 1
    c++ -w -O1 -shared -fPIC -I capi/include "$tests/src/cpptest.cpp" -o "$work/libctest/clib/cpptest" || exit 1
    for script in $(cd "$tests" && grep -rl --include='*.lua' -E 'c(pp)?test"'); do
        # LuaJIT of today takes light userdata of all addresses, which one of them denies.
        expected=$(LUA_CPATH="$work/libctest/clib/?" run_in theirs "" "$work/libctest/lib" "$tests/$script")
        for mode in plain joff hot stress; do
            eval "first=\$$mode"
            report "$script" $mode "$(LUA_CPATH="$work/libctest/clib/?" run_in ours "$first" "$work/libctest/lib" "$tests/$script")" "$expected"
        done
    done
}
# Those of Tarantool's tests that use the C API of LuaJIT only. One of them is about the size of LuaJIT's stack, which ours exceeds.
tarantool() {
    tests=$sources/tarantool-luajit/test/tarantool-c-tests
    [ -d "$tests" ] || { echo "not there: tarantool-luajit" && return; }
    for name in fix-yield-c-hook lj-1168-unmarked-finalizer-tab lj-549-lua-load lj-881-fix-lua-concat lj-991-fix-finalizer-error-handler-init; do
        cc -w -O1 -I "$tests" -I capi/include -I "$sources/tarantool-luajit/src" "-D__LJ_TEST_DIR__=\"$tests\"" "$tests/$name.test.c" "$tests/test.c" \
            -o "$work/$name" -L "$work/ours" -lluajit-5.1 || exit 1
        report "$name" plain "$(with ours "" "$work/$name" | grep -vE '^(TAP version|1\.\.|ok )')" "status 0"
    done
}
# mlua's tests, built for LuaJIT: which pass. The limits of memory need an allocator of the host.
mlua() {
    [ -d "$sources/mlua" ] || { echo "not there: mlua" && return; }
    rm -rf "$work/prefix"
    mkdir -p "$work/prefix/lib/pkgconfig" "$work/prefix/include"
    cp -r capi/include "$work/prefix/include/luajit-2.1"
    ln -s "$work/ours/libluajit-5.1.so" "$work/ours/libluajit-5.1.so.2" "$work/prefix/lib/"
    sed "s|@prefix@|$work/prefix|" capi/luajit.pc.in >"$work/prefix/lib/pkgconfig/luajit.pc"
    for library in theirs ours; do
        PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig" CARGO_TARGET_DIR="$work/mlua" LD_LIBRARY_PATH="$work/$library" ${CARGO:-cargo} test --no-fail-fast \
            --manifest-path "$sources/mlua/Cargo.toml" --tests --features "luajit async serde macros anyhow userdata-wrappers" 2>/dev/null |
            grep -E '^test .* \.\.\. ' | grep -vE 'test_memory_limit|compile' | sort >"$work/mlua.$library"
    done
    report mlua plain "$(cat "$work/mlua.ours")" "$(cat "$work/mlua.theirs")"
}

for name in ${*:-lfs lpeg cjson luasocket zlib md5 iconv mpack luasql lrexlib expat luaposix lyaml lgi luasec luaossl cqueues luv libctest tarantool mlua}; do $name; done
exit $failed
