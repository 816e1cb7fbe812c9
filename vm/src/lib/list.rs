//! The table of builtins: one row has the name of a function and its Rust code. From it come the ids, the names that tools
//! print, the [`Builtin`] enum that the trace recorder matches on, and the registration into the library tables.

use super::{base, bit, buffer, debug, env, gc, io, load, math, os, sort, strformat, string, strmatch, table};
use crate::interp::co;
use crate::object::NativeFn;

macro_rules! builtins {
    ($($name:ident $lua:literal $func:path;)*) => {
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

            /// The Rust function; `None` for the two that are none.
            pub fn native(self) -> Option<NativeFn> {
                match self {
                    Builtin::LuaFunction | Builtin::NativeFunction => None,
                    $(Builtin::$name => Some($func),)*
                }
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

// The order is that of LuaJIT as far as it has an id for a function; what it writes in Lua follows at the end. (What calls other
// functions is written in Lua here as well: see `prelude`.)
builtins! {
    Assert "assert" base::assert;
    Type "type" base::type_;
    Next "next" base::next;
    Pairs "pairs" base::pairs;
    IpairsAux "ipairs_aux" base::ipairs_aux;
    Ipairs "ipairs" base::ipairs;
    Getmetatable "getmetatable" base::getmetatable;
    Setmetatable "setmetatable" base::setmetatable;
    Getfenv "getfenv" env::getfenv;
    Setfenv "setfenv" env::setfenv;
    Rawget "rawget" base::rawget;
    Rawset "rawset" base::rawset;
    Rawequal "rawequal" base::rawequal;
    Unpack "unpack" base::unpack;
    Select "select" base::select;
    Tonumber "tonumber" base::tonumber;
    Tostring "tostring" base::tostring;
    Error "error" base::error;
    Pcall "pcall" co::pcall;
    Xpcall "xpcall" co::xpcall;
    Loadfile "loadfile" load::loadfile;
    Load "load" load::load;
    Loadstring "loadstring" load::load;
    Dofile "dofile" load::dofile;
    Gcinfo "gcinfo" gc::gcinfo;
    Collectgarbage "collectgarbage" gc::collectgarbage;
    Newproxy "newproxy" gc::newproxy;
    Print "print" base::print;
    CoroutineStatus "coroutine.status" co::co_status;
    CoroutineRunning "coroutine.running" co::co_running;
    CoroutineIsyieldable "coroutine.isyieldable" co::co_isyieldable;
    CoroutineCreate "coroutine.create" co::co_create;
    CoroutineYield "coroutine.yield" co::co_yield;
    CoroutineResume "coroutine.resume" co::co_resume;
    CoroutineWrapAux "coroutine.wrap_aux" co::co_wrap_aux;
    CoroutineWrap "coroutine.wrap" co::co_wrap;
    MathAbs "math.abs" math::abs;
    MathFloor "math.floor" math::floor;
    MathCeil "math.ceil" math::ceil;
    MathSqrt "math.sqrt" math::sqrt;
    MathLog10 "math.log10" math::log10;
    MathExp "math.exp" math::exp;
    MathSin "math.sin" math::sin;
    MathCos "math.cos" math::cos;
    MathTan "math.tan" math::tan;
    MathAsin "math.asin" math::asin;
    MathAcos "math.acos" math::acos;
    MathAtan "math.atan" math::atan;
    MathSinh "math.sinh" math::sinh;
    MathCosh "math.cosh" math::cosh;
    MathTanh "math.tanh" math::tanh;
    MathFrexp "math.frexp" math::frexp;
    MathModf "math.modf" math::modf;
    MathLog "math.log" math::log;
    MathAtan2 "math.atan2" math::atan2;
    MathPow "math.pow" math::pow;
    MathFmod "math.fmod" math::fmod;
    MathLdexp "math.ldexp" math::ldexp;
    MathMin "math.min" math::min;
    MathMax "math.max" math::max;
    MathRandom "math.random" math::random;
    MathRandomseed "math.randomseed" math::randomseed;
    BitTobit "bit.tobit" bit::tobit;
    BitBnot "bit.bnot" bit::bnot;
    BitBswap "bit.bswap" bit::bswap;
    BitLshift "bit.lshift" bit::lshift;
    BitRshift "bit.rshift" bit::rshift;
    BitArshift "bit.arshift" bit::arshift;
    BitRol "bit.rol" bit::rol;
    BitRor "bit.ror" bit::ror;
    BitBand "bit.band" bit::band;
    BitBor "bit.bor" bit::bor;
    BitBxor "bit.bxor" bit::bxor;
    BitTohex "bit.tohex" bit::tohex;
    StringByte "string.byte" string::byte;
    StringChar "string.char" string::char;
    StringSub "string.sub" string::sub;
    StringRep "string.rep" string::rep;
    StringReverse "string.reverse" string::reverse;
    StringLower "string.lower" string::lower;
    StringUpper "string.upper" string::upper;
    StringDump "string.dump" string::dump;
    StringFind "string.find" strmatch::find;
    StringMatch "string.match" strmatch::match_;
    StringGmatchAux "string.gmatch_aux" strmatch::gmatch_aux;
    StringGmatch "string.gmatch" strmatch::gmatch;
    StringGsub "string.gsub" strmatch::gsub;
    StringFormat "string.format" strformat::format;
    TableMaxn "table.maxn" table::maxn;
    TableInsert "table.insert" table::insert;
    TableConcat "table.concat" table::concat;
    TableSort "table.sort" sort::sort;
    TableNew "table.new" table::new;
    TableClear "table.clear" table::clear;
    IoMethodClose "io.method.close" io::close;
    IoMethodRead "io.method.read" io::file_read;
    IoMethodWrite "io.method.write" io::file_write;
    IoMethodFlush "io.method.flush" io::file_flush;
    IoMethodSeek "io.method.seek" io::file_seek;
    IoMethodSetvbuf "io.method.setvbuf" io::file_setvbuf;
    IoMethodLines "io.method.lines" io::file_lines;
    IoMethodGc "io.method.__gc" io::file_gc;
    IoMethodTostring "io.method.__tostring" io::file_tostring;
    IoOpen "io.open" io::open;
    IoPopen "io.popen" io::popen;
    IoTmpfile "io.tmpfile" io::tmpfile;
    IoClose "io.close" io::close;
    IoRead "io.read" io::read;
    IoWrite "io.write" io::write;
    IoFlush "io.flush" io::flush;
    IoInput "io.input" io::input;
    IoOutput "io.output" io::output;
    IoLines "io.lines" io::lines;
    IoType "io.type" io::type_;
    OsExecute "os.execute" os::execute;
    OsRemove "os.remove" os::remove;
    OsRename "os.rename" os::rename;
    OsTmpname "os.tmpname" os::tmpname;
    OsGetenv "os.getenv" os::getenv;
    OsExit "os.exit" os::exit;
    OsClock "os.clock" os::clock;
    OsDate "os.date" os::date;
    OsTime "os.time" os::time;
    OsDifftime "os.difftime" os::difftime;
    OsSetlocale "os.setlocale" os::setlocale;
    DebugGetregistry "debug.getregistry" debug::getregistry;
    DebugGetmetatable "debug.getmetatable" debug::getmetatable;
    DebugSetmetatable "debug.setmetatable" debug::setmetatable;
    DebugGetfenv "debug.getfenv" debug::getfenv;
    DebugSetfenv "debug.setfenv" debug::setfenv;
    DebugGetinfo "debug.getinfo" debug::getinfo;
    DebugGetlocal "debug.getlocal" debug::getlocal;
    DebugSetlocal "debug.setlocal" debug::setlocal;
    DebugGetupvalue "debug.getupvalue" debug::getupvalue;
    DebugSetupvalue "debug.setupvalue" debug::setupvalue;
    DebugUpvalueid "debug.upvalueid" debug::upvalueid;
    DebugUpvaluejoin "debug.upvaluejoin" debug::upvaluejoin;
    DebugSethook "debug.sethook" debug::sethook;
    DebugGethook "debug.gethook" debug::gethook;
    DebugDebug "debug.debug" debug::debug;
    DebugTraceback "debug.traceback" debug::traceback;
    BufferMethodFree "buffer.method.free" buffer::methods::free;
    BufferMethodReset "buffer.method.reset" buffer::methods::reset;
    BufferMethodSkip "buffer.method.skip" buffer::methods::skip;
    BufferMethodSet "buffer.method.set" buffer::methods::set;
    BufferMethodPut "buffer.method.put" buffer::methods::put;
    BufferMethodPutf "buffer.method.putf" buffer::methods::putf;
    BufferMethodGet "buffer.method.get" buffer::methods::get;
    BufferMethodPutcdata "buffer.method.putcdata" buffer::methods::putcdata;
    BufferMethodReserve "buffer.method.reserve" buffer::methods::reserve;
    BufferMethodCommit "buffer.method.commit" buffer::methods::commit;
    BufferMethodRef "buffer.method.ref" buffer::methods::ref_;
    BufferMethodEncode "buffer.method.encode" buffer::methods::encode;
    BufferMethodDecode "buffer.method.decode" buffer::methods::decode;
    BufferMethodGc "buffer.method.__gc" buffer::methods::gc;
    BufferMethodTostring "buffer.method.__tostring" buffer::methods::tostring;
    BufferMethodLen "buffer.method.__len" buffer::methods::len;
    BufferNew "buffer.new" buffer::new;
    BufferEncode "buffer.encode" buffer::encode;
    BufferDecode "buffer.decode" buffer::decode;
    StringLen "string.len" string::len;
    MathDeg "math.deg" math::deg;
    MathRad "math.rad" math::rad;
    TableGetn "table.getn" table::getn;
    TableRemove "table.remove" table::remove;
    TableMove "table.move" table::move_;
}

const _: () = assert!(Builtin::Next.id() == 4 && Builtin::Print.id() == 29 && Builtin::TableSort.id() == 93);
const _: () = assert!(Builtin::NAMES.len() == Builtin::ALL.len() + 2);
