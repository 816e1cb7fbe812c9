# Shell functions of real.sh and speed.sh, which read this file in the folder of the workspace. Everything is below target/capi.
root=$PWD
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/capi/packages" "$target/capi/files" "$target/capi/ours" "$target/capi/theirs" "$target/capi/openresty" "$target/capi/home"
target=$(cd "$target" && pwd)
work=$target/capi
libraries=$work/files/usr/lib/$(uname -m)-linux-gnu
module_packages="lua-cjson lua-lpeg lua-filesystem lua-socket lua-posix lua-bit32 lua-zlib lua-md5 lua-sql-sqlite3 lua-expat lua-yaml
lua-mpack lua-rex-pcre2 lua-luaossl lua-sec lua-luv lua-cqueues lua-lgi lua-bitop lua-iconv lua-event lua-term libmpack0 libuv1 libsqlite3-0 libexpat1
libyaml-0-2 libpcre2-8-0 libevent-2.1-7 libgirepository-1.0-1 gir1.2-glib-2.0
lua-augeas libaugeas0 liblua5.1-0 libxml2"

# Downloads packages and unpacks them below a folder, if that has not been done; installs nothing.
unpack_to() {
    folder=$1
    shift
    for package; do
        [ -e "$work/packages/$package.done" ] && continue
        (cd "$work/packages" && apt-get download -qq "$package" >/dev/null 2>&1 && dpkg-deb -x "${package}"_*.deb "$folder" && touch "$package.done") ||
            echo "not there: $package"
    done
}
unpack() { unpack_to "$work/files" "$@"; }
# Builds Perilune's library with a profile, puts it and LuaJIT's below $work, and builds the host that runs scripts with either. LuaJIT's, and
# OpenResty's, lie apart from the other libraries, which are found for all.
build() {
    ${CARGO:-cargo} build -q --profile "$1" -p perilune-library || exit 1
    [ "$1" = dev ] && folder=debug || folder=$1
    ln -sf "$target/$folder/libperilune_library.so" "$work/ours/libluajit-5.1.so.2"
    ln -sf libluajit-5.1.so.2 "$work/ours/libluajit-5.1.so"
    unpack_to "$work/luajit" libluajit-5.1-2
    unpack_to "$work/luajit2" libluajit2-5.1-2
    cp "${LIBLUAJIT:-$work/luajit/${libraries#"$work/files/"}/libluajit-5.1.so.2}" "$work/theirs/libluajit-5.1.so.2" || exit 1
    cp "$work/luajit2/${libraries#"$work/files/"}/libluajit-5.1.so.2" "$work/openresty/libluajit-5.1.so.2"
    cc -O1 -rdynamic -I capi/include tests/capi/run.c -o "$work/run" -L "$work/ours" -lluajit-5.1 || exit 1
}
# Runs something with a library; the mode is a chunk that states run first.
with() {
    library=$1 mode=$2
    shift 2
    HOME=$work/home LD_LIBRARY_PATH=$work/$library:$libraries LUA_FIRST=$mode timeout 300 "$@" 2>&1 </dev/null
    echo "status $?"
}

export LUA_CPATH="$libraries/lua/5.1/?.so" LUA_PATH="$work/files/usr/share/lua/5.1/?.lua;$work/files/usr/share/lua/5.1/?/init.lua"
