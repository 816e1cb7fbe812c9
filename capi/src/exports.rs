//! All functions that are exported: a program that uses this table has them, though it calls none of them itself.
#![allow(unsafe_code, reason = "addresses of functions do not change; who allows modules in C answers for them")]

use perilune_vm::Vm;

/// The address of a function.
#[derive(Debug)]
pub struct Export(pub *const ());

// SAFETY: the address of a function does not change.
unsafe impl Sync for Export {}

macro_rules! exports {
    ($($module:ident: $($name:ident)*;)*) => {
        /// The exported functions.
        pub static EXPORTS: [Export; 152] = [$($(Export(crate::$module::$name as *const ()),)*)*];
        /// The exported functions by name, for code in Rust.
        pub mod functions {
            $(pub use crate::$module::{$($name),*};)*
        }
    };
}
exports! {
    access: lua_equal lua_iscfunction lua_isnumber lua_isstring lua_isuserdata lua_lessthan lua_objlen lua_rawequal lua_toboolean
        lua_tocfunction lua_tointeger lua_tointegerx lua_tolstring lua_tonumber lua_tonumberx lua_topointer lua_tothread lua_touserdata
        lua_type lua_typename;
    auxiliary: luaL_execresult luaL_fileresult luaL_findtable luaL_getmetafield luaL_gsub luaL_openlib luaL_pushmodule luaL_register
        luaL_setfuncs luaL_traceback luaL_where;
    buffer: luaL_addlstring luaL_addstring luaL_addvalue luaL_buffinit luaL_prepbuffer luaL_pushresult;
    call: luaL_callmeta luaL_error lua_call lua_concat lua_cpcall lua_error lua_pcall;
    check: luaL_argerror luaL_checkany luaL_checkinteger luaL_checklstring luaL_checknumber luaL_checkoption luaL_checktype
        luaL_optinteger luaL_optlstring luaL_optnumber luaL_typerror;
    coroutine: lua_isyieldable lua_resume lua_status lua_yield;
    debug: lua_gethook lua_gethookcount lua_gethookmask lua_getinfo lua_getlocal lua_getstack lua_getupvalue lua_sethook lua_setlocal
        lua_setupvalue lua_upvalueid lua_upvaluejoin;
    jit: luaJIT_profile_dumpstack luaJIT_profile_start luaJIT_profile_stop luaJIT_setmode;
    libraries: luaL_openlibs luaopen_base luaopen_bit luaopen_debug luaopen_ffi luaopen_io luaopen_jit luaopen_math luaopen_os
        luaopen_package luaopen_string luaopen_string_buffer luaopen_table;
    load: luaL_loadbuffer luaL_loadbufferx luaL_loadfile luaL_loadfilex luaL_loadstring lua_dump lua_load lua_loadx;
    memory: lua_gc lua_getallocf lua_setallocf;
    openresty: lua_getexdata lua_getexdata2 lua_resetthread lua_setexdata lua_setexdata2;
    push: lua_pushboolean lua_pushcclosure lua_pushfstring lua_pushinteger lua_pushlightuserdata lua_pushlstring lua_pushnil
        lua_pushnumber lua_pushstring lua_pushthread lua_pushvalue lua_pushvfstring;
    reference: luaL_ref luaL_unref;
    stack: luaL_checkstack lua_checkstack lua_copy lua_gettop lua_insert lua_remove lua_replace lua_settop lua_xmove;
    state: luaL_newstate lua_atpanic lua_close lua_newstate lua_newthread lua_version;
    table: lua_createtable lua_getfenv lua_getfield lua_getmetatable lua_gettable lua_next lua_rawget lua_rawgeti lua_rawset lua_rawseti
        lua_setfenv lua_setfield lua_setmetatable lua_settable;
    userdata: luaL_checkudata luaL_newmetatable luaL_setmetatable luaL_testudata lua_newuserdata;
}

/// Lets the programs of a VM load modules in C. The program that calls this exports the functions of the C API, if it is linked accordingly.
///
/// # Safety
/// Modules in C can do anything: programs of the VM may load any.
pub unsafe fn allow_modules(vm: &mut Vm) {
    core::hint::black_box(&EXPORTS);
    vm.host.c_function = Some(crate::state::run_c_function);
}
