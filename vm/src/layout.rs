//! All fields that compiled code may load or store: one table.

use crate::Vm;
use crate::object::{Func, Node, Str, Table, Thread, Udata, UpVal};
use core::mem::offset_of;

/// The type of a field, or of an argument or result of a helper, as compiled code sees it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AbiType {
    /// No value.
    Nil,
    /// A 32-bit integer.
    Int,
    /// A double.
    Num,
    /// A byte, zero-extended.
    U8,
    /// An address.
    P64,
    /// A boxed value.
    U64,
    /// A 64-bit integer.
    I64,
    /// A string.
    Str,
    /// A new string; null if there is no memory for it.
    NewStr,
    /// A table.
    Tab,
    /// A function.
    Func,
    /// A prototype.
    Proto,
    /// A coroutine.
    Thread,
    /// A userdata.
    Udata,
    /// A cdata.
    Cdata,
    /// A new cdata; null if there is no memory for it.
    NewCdata,
}

/// Calls the given macro with all object fields: `(Name, "name as LuaJIT prints it", object type, offset, type)`; the type is an
/// [`AbiType`].
#[macro_export]
macro_rules! for_each_field {
    ($consumer:ident) => {
        $consumer! {
            /// Length of a string.
            (StrLen, "str.len", Str, offset_of!(Str, len), Int)
            /// Environment of a function.
            (FuncEnv, "func.env", Func, offset_of!(Func, env), Tab)
            /// First instruction of a function.
            (FuncPc, "func.pc", Func, offset_of!(Func, pc), P64)
            /// First upvalue of a builtin.
            (FuncState, "func.state", Func, ofs::FUNC_UPVALUES, U64)
            /// Id of a builtin.
            (FuncFfid, "func.ffid", Func, 4, Int)
            /// Metatable of a table (may be null).
            (TabMeta, "tab.meta", Table, offset_of!(Table, meta), Tab)
            /// Array part.
            (TabArray, "tab.array", Table, offset_of!(Table, array), P64)
            /// Hash part.
            (TabNode, "tab.node", Table, offset_of!(Table, node), P64)
            /// Slots of the array part.
            (TabAsize, "tab.asize", Table, 4, Int)
            /// Nodes minus one.
            (TabHmask, "tab.hmask", Table, offset_of!(Table, hmask), Int)
            /// Which string keys are in which nodes, see [`crate::object::ShapeId`].
            (TabShape, "tab.shape", Table, offset_of!(Table, shape), Int)
            /// Negative metamethod cache.
            (TabNomm, "tab.nomm", Table, 2, U8)
            /// Does it have watchpoints, see [`crate::object::WatchedField`]?
            (TabWatched, "tab.watched", Table, 3, U8)
            /// Flags of a key: watchpoints.
            (StrWatched, "str.watched", Str, 3, U8)
            /// Metatable of a userdata (may be null).
            (UdataMeta, "udata.meta", Udata, offset_of!(Udata, meta), Tab)
            /// The highest open upvalue of a coroutine (may be null).
            (ThreadOpen, "thread.open", Thread, offset_of!(Thread, open), P64)
            /// State of a coroutine.
            (ThreadStatus, "thread.status", Thread, offset_of!(Thread, status), U8)
            /// The frame of the builtin that a coroutine waits in.
            (ThreadBase, "thread.base", Thread, offset_of!(Thread, base), P64)
            /// The coroutine that resumed this one (may be null).
            (ThreadResumer, "thread.resumer", Thread, offset_of!(Thread, resumer), Thread)
            /// Depth of native calls at which a coroutine was resumed.
            (ThreadDepth, "thread.depth", Thread, offset_of!(Thread, native_depth), Int)
            /// Coroutines that wait below it.
            (ThreadNesting, "thread.nesting", Thread, offset_of!(Thread, nesting), Int)
            /// Number of the C type of a cdata.
            (CdataCtypeId, "cdata.ctypeid", Cdata, 4, Int)
            /// A pointer or reference that a cdata is.
            (CdataPtr, "cdata.ptr", Cdata, ofs::CDATA_DATA, P64)
            /// A 64-bit integer that a cdata is.
            (CdataInt64, "cdata.int64", Cdata, ofs::CDATA_DATA, I64)
            /// A 32-bit integer that a cdata is.
            (CdataInt, "cdata.int", Cdata, ofs::CDATA_DATA, Int)
            /// Address of an upvalue's value.
            (UpvalV, "upval.v", UpVal, offset_of!(UpVal, v), P64)
        }
    };
}

macro_rules! define_fields {
    ($($(#[$doc:meta])* ($name:ident, $text:literal, $obj:ident, $ofs:expr, $ty:ident))*) => {
        /// A field of an object.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Field { $($(#[$doc])* $name,)* }

        impl Field {
            /// All fields in order.
            pub const ALL: &'static [Field] = &[$(Field::$name,)*];
            /// Names in order.
            pub const NAMES: &'static [&'static str] = &[$($text,)*];
            /// Offset from the start of the object, bytes.
            pub const fn offset(self) -> usize {
                match self { $(Field::$name => $ofs,)* }
            }
            /// Type of the value.
            pub const fn ty(self) -> AbiType {
                match self { $(Field::$name => AbiType::$ty,)* }
            }
        }
    };
}
for_each_field!(define_fields);

/// Byte offsets of VM state, objects and nodes for compiled code.
pub mod ofs {
    use super::{Func, Node, Str, Thread, UpVal, Vm, offset_of};
    use crate::gc::heap::HeapCounts;
    use crate::gc::{FreeCell, Heap, poison};
    use crate::object::{GcHeader, Proto};
    /// `Vm::compiled.nil_slot`
    pub const VM_NIL_SLOT: usize = offset_of!(Vm, compiled.nil_slot);
    /// `Vm::compiled.scratch`
    pub const VM_SCRATCH: usize = offset_of!(Vm, compiled.scratch);
    /// `Vm::compiled.site`
    pub const VM_SITE: usize = offset_of!(Vm, compiled.site);
    /// `Vm::multres`
    pub const VM_MULTRES: usize = offset_of!(Vm, multres);
    /// `Vm::running.exit_requested`, a byte
    pub const VM_EXIT_REQUESTED: usize = offset_of!(Vm, running.exit_requested);
    /// `Vm::compiled.base`
    pub const VM_JIT_BASE: usize = offset_of!(Vm, compiled.base);
    /// `Vm::compiled.frame_base`
    pub const VM_CODE_BASE: usize = offset_of!(Vm, compiled.frame_base);
    /// `Vm::stack_limit`
    pub const VM_STACK_LIMIT: usize = offset_of!(Vm, stack_limit);
    /// `Vm::compiled.stack_limit`
    pub const VM_CODE_STACK_LIMIT: usize = offset_of!(Vm, compiled.stack_limit);
    /// `Vm::compiled.exit_table`
    pub const VM_EXIT_TABLE: usize = offset_of!(Vm, compiled.exit_table);
    /// `Vm::compiled.trace_code`
    pub const VM_TRACE_CODE: usize = offset_of!(Vm, compiled.trace_code);
    /// `Vm::compiled.side_countdown`
    pub const VM_SIDE_COUNTDOWN: usize = offset_of!(Vm, compiled.side_countdown);
    /// `Vm::compiled.exit_countdown`
    pub const VM_EXIT_COUNTDOWN: usize = offset_of!(Vm, compiled.exit_countdown);
    /// `Vm::compiled.exit_every`
    pub const VM_EXIT_EVERY: usize = offset_of!(Vm, compiled.exit_every);
    /// `Vm::compiled.failed_guard`
    pub const VM_FAILED_GUARD: usize = offset_of!(Vm, compiled.failed_guard);
    /// `Vm::compiled.witness`
    pub const VM_WITNESS: usize = offset_of!(Vm, compiled.witness);
    /// `Vm::fuel.left`
    pub const VM_FUEL: usize = offset_of!(Vm, fuel.left);
    /// `Vm::cur`
    pub const VM_CUR: usize = offset_of!(Vm, cur);
    /// `Vm::interp.native_depth`
    pub const VM_NATIVE_DEPTH: usize = offset_of!(Vm, interp.native_depth);
    /// `Thread::stack`
    pub const THREAD_STACK: usize = offset_of!(Thread, stack);
    /// `Thread::size`
    pub const THREAD_SIZE: usize = offset_of!(Thread, size);
    /// `Thread::status`, a byte
    pub const THREAD_STATUS: usize = offset_of!(Thread, status);
    /// `Thread::base`
    pub const THREAD_BASE: usize = offset_of!(Thread, base);
    /// `Thread::top`
    pub const THREAD_TOP: usize = offset_of!(Thread, top);
    /// `Thread::resumer`
    pub const THREAD_RESUMER: usize = offset_of!(Thread, resumer);
    /// `Thread::native_depth`
    pub const THREAD_DEPTH: usize = offset_of!(Thread, native_depth);
    /// `Thread::nesting`
    pub const THREAD_NESTING: usize = offset_of!(Thread, nesting);
    /// `Heap::total` inside the VM
    pub const VM_GC_TOTAL: usize = offset_of!(Vm, heap) + offset_of!(Heap, total);
    /// `Heap::threshold` inside the VM
    pub const VM_GC_THRESHOLD: usize = offset_of!(Vm, heap) + offset_of!(Heap, threshold);
    /// `Heap::current_white` inside the VM
    pub const VM_GC_WHITE: usize = offset_of!(Vm, heap) + offset_of!(Heap, current_white);
    /// `HeapCounts::cdatas` inside the VM
    pub const VM_GC_CDATAS: usize = offset_of!(Vm, heap) + offset_of!(Heap, counts) + offset_of!(HeapCounts, cdatas);
    /// The free cells of a size class inside the VM: the first one, or null.
    pub const fn vm_gc_free(class: usize) -> usize {
        offset_of!(Vm, heap) + offset_of!(Heap, free) + class * size_of::<*mut FreeCell>()
    }
    /// Does somebody else than the heap know which cells are free, so that compiled code must not take any?
    pub const FREE_CELLS_ARE_POISONED: bool = poison::ON;
    /// `FreeCell::next`
    pub const FREE_CELL_NEXT: usize = offset_of!(FreeCell, next);
    /// Colour byte of any object.
    pub const GC_MARKED: usize = 1;
    /// `UpVal` "closed" byte.
    pub const UPVAL_CLOSED: usize = 2;
    /// `UpVal::v`
    pub const UPVAL_V: usize = offset_of!(UpVal, v);
    /// `UpVal::closed`
    pub const UPVAL_TV: usize = offset_of!(UpVal, closed);
    /// `Node::val`
    pub const NODE_VAL: usize = offset_of!(Node, val);
    /// `Node::key`
    pub const NODE_KEY: usize = offset_of!(Node, key);
    /// `Node::next`
    pub const NODE_NEXT: usize = offset_of!(Node, next);
    /// Size of a node.
    pub const NODE_SIZE: usize = size_of::<Node>();
    /// The hash of a string.
    pub const STR_HASH: usize = offset_of!(Str, hdr) + offset_of!(GcHeader, word);
    /// First byte of a string.
    pub const STR_DATA: usize = 24;
    /// Payload of a cdata that is placed directly after its header.
    pub const CDATA_DATA: usize = 8;
    /// First upvalue of a function.
    pub const FUNC_UPVALUES: usize = 32;
    /// The prototype of a Lua function.
    pub const FUNC_PROTO: usize = offset_of!(Func, body);
    /// Frame size of a prototype in slots, a byte.
    pub const PROTO_FRAMESIZE: usize = offset_of!(Proto, hdr) + offset_of!(GcHeader, b0);
    /// Number of parameters of a prototype, a byte.
    pub const PROTO_NUM_PARAMS: usize = offset_of!(Proto, hdr) + offset_of!(GcHeader, b1);
}
