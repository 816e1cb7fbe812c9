//! The table of builtins: one row has the name of a function, its Rust code, and what a trace does with a call of it. The ids, the names
//! that tools print, the [`Builtin`] enum that the trace recorder matches on, and the registration into the library tables are derived from
//! it.

use super::{base, bit, buffer, debug, env, gc, io, load, math, os, sort, strformat, string, strmatch, table};
use crate::ffi::{arith, callback, clib, lib as ffi, metatype};
use crate::interp::co;
use crate::object::{Func, Gc, NativeFn};

/// What a trace does with a call of a builtin.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OnTrace {
    /// The recorder emits IR for it; if it cannot, as [`OnTrace::Call`].
    Record(Library),
    /// The trace calls it, see [`crate::interp::native`].
    Call,
    /// The function that it calls is inlined, in the frames that the builtin would make; if that is not possible, as [`OnTrace::Stitch`].
    Enter,
    /// The trace ends before the call, and another one starts after it: the builtin calls Lua, or changes frames that a trace knows.
    Stitch,
    /// The trace ends before the call, which does not return.
    End,
}

/// The libraries whose builtins are recorded: the recorder has a file for each.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Library {
    /// Functions without a library.
    Base,
    /// `bit`
    Bit,
    /// `ffi`, and the operators of cdata.
    Ffi,
    /// `math`
    Math,
    /// `string`
    String,
    /// `table`
    Table,
    /// Methods of buffers.
    Buffer,
}

macro_rules! on_trace {
    (record base) => {
        OnTrace::Record(Library::Base)
    };
    (record bit) => {
        OnTrace::Record(Library::Bit)
    };
    (record ffi) => {
        OnTrace::Record(Library::Ffi)
    };
    (record math) => {
        OnTrace::Record(Library::Math)
    };
    (record string) => {
        OnTrace::Record(Library::String)
    };
    (record table) => {
        OnTrace::Record(Library::Table)
    };
    (record buffer) => {
        OnTrace::Record(Library::Buffer)
    };
    (call) => {
        OnTrace::Call
    };
    (enter) => {
        OnTrace::Enter
    };
    (stitch) => {
        OnTrace::Stitch
    };
    (end) => {
        OnTrace::End
    };
}

/// Further properties of a builtin that a trace must know, as bits.
mod also {
    /// It may write to memory that traces load from: tables, upvalues, metatables.
    pub const WRITES: u8 = 1;
    /// It reports how much memory is in use.
    pub const MEMORY: u8 = 2;
    /// It reads slots of frames, live or dead.
    pub const FRAMES: u8 = 4;
}

macro_rules! also {
    (writes) => {
        also::WRITES
    };
    (memory) => {
        also::MEMORY
    };
    (frames) => {
        also::FRAMES
    };
}

macro_rules! builtins {
    ($($name:ident $lua:literal $func:path, $on_trace:ident $(($library:ident))? $($also:ident)*;)*) => {
        /// A builtin function. Ids 0 and 1 are Lua functions and native functions without an id.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub enum Builtin {
            /// Not a builtin: a Lua function.
            LuaFunction = 0,
            /// Not in this list: a native function without an id.
            NativeFunction = 1,
            $(#[doc = $lua] $name,)*
        }

        impl Builtin {
            /// All builtins in the order of their ids.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$name,)*];
            /// Names by id, dotted; libraries that are registered elsewhere continue them.
            pub const NAMES: &'static [&'static str] = &["Lua", "C", $($lua,)*];

            /// The Rust function; `None` for the two that are not builtins.
            pub fn native(self) -> Option<NativeFn> {
                match self {
                    Builtin::LuaFunction | Builtin::NativeFunction => None,
                    $(Builtin::$name => Some($func),)*
                }
            }
            /// What a trace does with a call.
            pub const fn on_trace(self) -> OnTrace {
                match self {
                    Builtin::LuaFunction | Builtin::NativeFunction => OnTrace::Stitch,
                    $(Builtin::$name => on_trace!($on_trace $($library)?),)*
                }
            }
            const fn also(self) -> u8 {
                match self {
                    Builtin::LuaFunction | Builtin::NativeFunction => also::WRITES | also::FRAMES,
                    $(Builtin::$name => 0 $(| also!($also))*,)*
                }
            }
            /// May it write to memory that traces load from: tables, upvalues, metatables?
            pub const fn writes(self) -> bool {
                self.also() & also::WRITES != 0
            }
            /// Does it report how much memory is in use?
            pub const fn watches_memory(self) -> bool {
                self.also() & also::MEMORY != 0
            }
            /// Does it read slots of frames, live or dead?
            pub const fn sees_frames(self) -> bool {
                self.also() & also::FRAMES != 0
            }
            /// The builtin with an id; `None` beyond the list.
            #[inline]
            pub fn from_id(id: u32) -> Option<Builtin> {
                match id {
                    0 => Some(Builtin::LuaFunction),
                    1 => Some(Builtin::NativeFunction),
                    _ => Builtin::ALL.get(id as usize - 2).copied(),
                }
            }
            /// The id.
            #[inline]
            pub const fn id(self) -> u32 {
                self as u32
            }
            /// The dotted name.
            pub fn name(self) -> &'static str {
                Builtin::NAMES[self as usize]
            }
        }
    };
}

// The order is LuaJIT's for the functions that have an id there; functions that LuaJIT writes in Lua follow at the end. (Functions that
// call other functions are written in Lua here as well: see `prelude`.)
builtins! {
    Assert "assert" base::assert, record(base);
    Type "type" base::type_, record(base);
    Next "next" base::next, record(base);
    Pairs "pairs" base::pairs, record(base);
    IpairsAux "ipairs_aux" base::ipairs_aux, record(base);
    Ipairs "ipairs" base::ipairs, record(base);
    Getmetatable "getmetatable" base::getmetatable, record(base);
    Setmetatable "setmetatable" base::setmetatable, record(base) writes;
    Getfenv "getfenv" env::getfenv, call;
    Setfenv "setfenv" env::setfenv, stitch writes;
    Rawget "rawget" base::rawget, record(base);
    Rawset "rawset" base::rawset, record(base) writes;
    Rawequal "rawequal" base::rawequal, record(base);
    Unpack "unpack" base::unpack, record(base);
    Select "select" base::select, record(base);
    Tonumber "tonumber" base::tonumber, record(base);
    Tostring "tostring" base::tostring, record(base);
    Error "error" base::error, end;
    Pcall "pcall" co::pcall, enter;
    Xpcall "xpcall" co::xpcall, enter;
    Loadfile "loadfile" load::loadfile, stitch;
    Load "load" load::load, stitch;
    Loadstring "loadstring" load::load, stitch;
    Dofile "dofile" load::dofile, stitch;
    Gcinfo "gcinfo" gc::gcinfo, call memory;
    Collectgarbage "collectgarbage" gc::collectgarbage, stitch memory;
    Newproxy "newproxy" gc::newproxy, call;
    Print "print" base::print, call;
    CoroutineStatus "coroutine.status" co::co_status, call;
    CoroutineRunning "coroutine.running" co::co_running, call;
    CoroutineIsyieldable "coroutine.isyieldable" co::co_isyieldable, call;
    CoroutineCreate "coroutine.create" co::co_create, call;
    CoroutineYield "coroutine.yield" co::co_yield, enter;
    CoroutineResume "coroutine.resume" co::co_resume, enter;
    CoroutineWrapAux "coroutine.wrap_aux" co::co_wrap_aux, enter;
    CoroutineWrap "coroutine.wrap" co::co_wrap, call;
    MathAbs "math.abs" math::abs, record(math);
    MathFloor "math.floor" math::floor, record(math);
    MathCeil "math.ceil" math::ceil, record(math);
    MathSqrt "math.sqrt" math::sqrt, record(math);
    MathLog10 "math.log10" math::log10, record(math);
    MathExp "math.exp" math::exp, record(math);
    MathSin "math.sin" math::sin, record(math);
    MathCos "math.cos" math::cos, record(math);
    MathTan "math.tan" math::tan, record(math);
    MathAsin "math.asin" math::asin, record(math);
    MathAcos "math.acos" math::acos, record(math);
    MathAtan "math.atan" math::atan, record(math);
    MathSinh "math.sinh" math::sinh, record(math);
    MathCosh "math.cosh" math::cosh, record(math);
    MathTanh "math.tanh" math::tanh, record(math);
    MathFrexp "math.frexp" math::frexp, record(math);
    MathModf "math.modf" math::modf, record(math);
    MathLog "math.log" math::log, record(math);
    MathAtan2 "math.atan2" math::atan2, record(math);
    MathPow "math.pow" math::pow, record(math);
    MathFmod "math.fmod" math::fmod, record(math);
    MathLdexp "math.ldexp" math::ldexp, record(math);
    MathMin "math.min" math::min, record(math);
    MathMax "math.max" math::max, record(math);
    MathRandom "math.random" math::random, record(math);
    MathRandomseed "math.randomseed" math::randomseed, call;
    BitTobit "bit.tobit" bit::tobit, record(bit);
    BitBnot "bit.bnot" bit::bnot, record(bit);
    BitBswap "bit.bswap" bit::bswap, record(bit);
    BitLshift "bit.lshift" bit::lshift, record(bit);
    BitRshift "bit.rshift" bit::rshift, record(bit);
    BitArshift "bit.arshift" bit::arshift, record(bit);
    BitRol "bit.rol" bit::rol, record(bit);
    BitRor "bit.ror" bit::ror, record(bit);
    BitBand "bit.band" bit::band, record(bit);
    BitBor "bit.bor" bit::bor, record(bit);
    BitBxor "bit.bxor" bit::bxor, record(bit);
    BitTohex "bit.tohex" bit::tohex, call;
    StringByte "string.byte" string::byte, record(string);
    StringChar "string.char" string::char, record(string);
    StringSub "string.sub" string::sub, record(string);
    StringRep "string.rep" string::rep, record(string);
    StringReverse "string.reverse" string::reverse, record(string);
    StringLower "string.lower" string::lower, record(string);
    StringUpper "string.upper" string::upper, record(string);
    StringDump "string.dump" string::dump, call;
    StringFind "string.find" strmatch::find, record(string);
    StringMatch "string.match" strmatch::match_, call;
    StringGmatchAux "string.gmatch_aux" strmatch::gmatch_aux, call;
    StringGmatch "string.gmatch" strmatch::gmatch, call;
    StringGsub "string.gsub" strmatch::gsub, call;
    StringFormat "string.format" strformat::format, record(string);
    TableMaxn "table.maxn" table::maxn, call;
    TableInsert "table.insert" table::insert, record(table) writes;
    TableConcat "table.concat" table::concat, call;
    TableSort "table.sort" sort::sort, call writes;
    TableNew "table.new" table::new, record(table);
    TableClear "table.clear" table::clear, call writes;
    IoMethodClose "io.method.close" io::close, call;
    IoMethodRead "io.method.read" io::file_read, call;
    IoMethodWrite "io.method.write" io::file_write, call;
    IoMethodFlush "io.method.flush" io::file_flush, call;
    IoMethodSeek "io.method.seek" io::file_seek, call;
    IoMethodSetvbuf "io.method.setvbuf" io::file_setvbuf, call;
    IoMethodLines "io.method.lines" io::file_lines, call;
    IoMethodGc "io.method.__gc" io::file_gc, call;
    IoMethodTostring "io.method.__tostring" io::file_tostring, call;
    IoOpen "io.open" io::open, call;
    IoPopen "io.popen" io::popen, call;
    IoTmpfile "io.tmpfile" io::tmpfile, call;
    IoClose "io.close" io::close, call;
    IoRead "io.read" io::read, call;
    IoWrite "io.write" io::write, call;
    IoFlush "io.flush" io::flush, call;
    IoInput "io.input" io::input, call;
    IoOutput "io.output" io::output, call;
    IoLines "io.lines" io::lines, call;
    IoType "io.type" io::type_, call;
    OsExecute "os.execute" os::execute, call;
    OsRemove "os.remove" os::remove, call;
    OsRename "os.rename" os::rename, call;
    OsTmpname "os.tmpname" os::tmpname, call;
    OsGetenv "os.getenv" os::getenv, call;
    OsExit "os.exit" os::exit, end;
    OsClock "os.clock" os::clock, call;
    OsDate "os.date" os::date, call;
    OsTime "os.time" os::time, call;
    OsDifftime "os.difftime" os::difftime, call;
    OsSetlocale "os.setlocale" os::setlocale, call;
    DebugGetregistry "debug.getregistry" debug::getregistry, call;
    DebugGetmetatable "debug.getmetatable" debug::getmetatable, call;
    DebugSetmetatable "debug.setmetatable" debug::setmetatable, stitch writes;
    DebugGetfenv "debug.getfenv" debug::getfenv, call;
    DebugSetfenv "debug.setfenv" debug::setfenv, stitch writes;
    DebugGetinfo "debug.getinfo" debug::getinfo, call frames;
    DebugGetlocal "debug.getlocal" debug::getlocal, call frames;
    DebugSetlocal "debug.setlocal" debug::setlocal, stitch writes frames;
    DebugGetupvalue "debug.getupvalue" debug::getupvalue, call frames;
    DebugSetupvalue "debug.setupvalue" debug::setupvalue, stitch writes frames;
    DebugUpvalueid "debug.upvalueid" debug::upvalueid, call;
    DebugUpvaluejoin "debug.upvaluejoin" debug::upvaluejoin, stitch writes;
    DebugSethook "debug.sethook" debug::sethook, stitch;
    DebugGethook "debug.gethook" debug::gethook, call;
    DebugDebug "debug.debug" debug::debug, stitch frames;
    DebugTraceback "debug.traceback" debug::traceback, call frames;
    BufferMethodFree "buffer.method.free" buffer::methods::free, call;
    BufferMethodReset "buffer.method.reset" buffer::methods::reset, record(buffer);
    BufferMethodSkip "buffer.method.skip" buffer::methods::skip, record(buffer);
    BufferMethodSet "buffer.method.set" buffer::methods::set, record(buffer);
    BufferMethodPut "buffer.method.put" buffer::methods::put, record(buffer);
    BufferMethodPutf "buffer.method.putf" buffer::methods::putf, record(buffer);
    BufferMethodGet "buffer.method.get" buffer::methods::get, record(buffer);
    BufferMethodPutcdata "buffer.method.putcdata" buffer::methods::putcdata, record(buffer);
    BufferMethodReserve "buffer.method.reserve" buffer::methods::reserve, record(buffer);
    BufferMethodCommit "buffer.method.commit" buffer::methods::commit, record(buffer);
    BufferMethodRef "buffer.method.ref" buffer::methods::ref_, record(buffer);
    BufferMethodEncode "buffer.method.encode" buffer::methods::encode, call;
    BufferMethodDecode "buffer.method.decode" buffer::methods::decode, call;
    BufferMethodGc "buffer.method.__gc" buffer::methods::gc, call;
    BufferMethodTostring "buffer.method.__tostring" buffer::methods::tostring, record(buffer);
    BufferMethodLen "buffer.method.__len" buffer::methods::len, record(buffer);
    BufferNew "buffer.new" buffer::new, call;
    BufferEncode "buffer.encode" buffer::encode, call;
    BufferDecode "buffer.decode" buffer::decode, call;
    StringLen "string.len" string::len, record(string);
    MathDeg "math.deg" math::deg, record(math);
    MathRad "math.rad" math::rad, record(math);
    TableGetn "table.getn" table::getn, record(table);
    TableRemove "table.remove" table::remove, record(table) writes;
    TableMove "table.move" table::move_, call writes;
    IoLinesAux "io.lines_aux" io::next_line, call;
    FfiMetaTostring "ffi.meta.__tostring" metatype::tostring, call writes;
    FfiMetaIndex "ffi.meta.__index" metatype::index_get, record(ffi) writes;
    FfiMetaNewindex "ffi.meta.__newindex" metatype::index_set, record(ffi) writes;
    FfiMetaCall "ffi.meta.__call" metatype::call, record(ffi) writes;
    FfiMetaLen "ffi.meta.__len" metatype::len, record(ffi) writes;
    FfiMetaConcat "ffi.meta.__concat" metatype::concat, record(ffi) writes;
    FfiMetaPairs "ffi.meta.__pairs" metatype::pairs, stitch;
    FfiMetaIpairs "ffi.meta.__ipairs" metatype::ipairs, stitch;
    FfiCdef "ffi.cdef" ffi::cdef, call;
    FfiNew "ffi.new" ffi::new, record(ffi);
    FfiCast "ffi.cast" ffi::cast, record(ffi);
    FfiTypeof "ffi.typeof" ffi::type_of, record(ffi);
    FfiTypeinfo "ffi.typeinfo" ffi::typeinfo, call;
    FfiIstype "ffi.istype" ffi::istype, record(ffi);
    FfiSizeof "ffi.sizeof" ffi::sizeof, record(ffi);
    FfiAlignof "ffi.alignof" ffi::alignof, record(ffi);
    FfiOffsetof "ffi.offsetof" ffi::offsetof, record(ffi);
    FfiErrno "ffi.errno" ffi::errno, record(ffi);
    FfiString "ffi.string" ffi::string, record(ffi);
    FfiCopy "ffi.copy" ffi::copy, record(ffi) writes;
    FfiFill "ffi.fill" ffi::fill, record(ffi) writes;
    FfiAbi "ffi.abi" ffi::abi, call;
    FfiMetatype "ffi.metatype" ffi::metatype, call;
    FfiGc "ffi.gc" ffi::gc, record(ffi);
    FfiLoad "ffi.load" clib::load, call;
    FfiClibIndex "ffi.clib.__index" clib::index, record(ffi);
    FfiClibNewindex "ffi.clib.__newindex" clib::newindex, record(ffi);
    FfiCallbackFree "ffi.callback.free" callback::free, call;
    FfiCallbackSet "ffi.callback.set" callback::set, call;
    FfiMetaAdd "ffi.meta.__add" arith::add, record(ffi) writes;
    FfiMetaSub "ffi.meta.__sub" arith::sub, record(ffi) writes;
    FfiMetaMul "ffi.meta.__mul" arith::mul, record(ffi) writes;
    FfiMetaDiv "ffi.meta.__div" arith::div, record(ffi) writes;
    FfiMetaMod "ffi.meta.__mod" arith::modulo, record(ffi) writes;
    FfiMetaPow "ffi.meta.__pow" arith::pow, record(ffi) writes;
    FfiMetaUnm "ffi.meta.__unm" arith::unm, record(ffi) writes;
    FfiMetaEq "ffi.meta.__eq" arith::eq, record(ffi) writes;
    FfiMetaLt "ffi.meta.__lt" arith::lt, record(ffi) writes;
    FfiMetaLe "ffi.meta.__le" arith::le, record(ffi) writes;
}

const _: () = assert!(Builtin::Next.id() == 4 && Builtin::Print.id() == 29 && Builtin::TableSort.id() == 93);
const _: () = assert!(Builtin::NAMES.len() == Builtin::ALL.len() + 2);

/// The name of a builtin that is written in Lua in LuaJIT, as tracebacks show it.
pub fn written_in_lua(f: Gc<Func>) -> Option<&'static str> {
    let b = Builtin::from_id(f.ffid()).filter(|b| (Builtin::StringLen.id()..=Builtin::TableMove.id()).contains(&b.id()))?;
    b.name().rsplit_once('.').map(|n| n.1)
}
