//! The binary stream of the memory profiler, as LuaVela made it and Tarantool's LuaJIT (`lj_memprof.h`, `lj_symtab.h`) has it.
//!
//! ```text
//! stream  := symtab memprof
//! symtab  := 'l' 'j' 's' version 00 00 00  sym*    80
//! sym     := kind address string line                   -- 0: prototype, the line that it is defined at
//!          | kind address string                        -- 1: native code
//!          | kind traceno address line                  -- 2: trace, the prototype and line that it starts at
//! memprof := 'l' 'j' 'm' version 00 00 00  event*  80
//! event   := header sym                                 -- 0: a symbol without its kind
//!          | header loc? address size                   -- 1: allocation
//!          | header loc? address size                   -- 2: free
//!          | header loc? address size address size      -- 3: change of size: from, to
//! loc     := address line | address | traceno           -- Lua function, native code, trace; nothing for internal
//! header  := event in bits 0-1, source in bits 2-4
//! ```
//!
//! Numbers are ULEB128; a string is its length and its bytes.
//!
//! Both versions are 3 as written. Older ones are read: symtab 1 knows prototypes only; in 2 traces have kind 1, and an address
//! after their number. Events 1 know no traces and no symbols; in 2 a trace has an address after its number; the patch that
//! was first proposed, also called 2, marks some events by bit 6, which means nothing.

pub mod input;
pub mod out;
pub mod read;
pub mod symbols;

/// First bytes of the symbol table.
pub const SYMTAB_MAGIC: [u8; 3] = *b"ljs";
/// First bytes of the events.
pub const EVENTS_MAGIC: [u8; 3] = *b"ljm";
/// Version of both parts that is written.
pub const VERSION: u8 = 3;
/// The byte at the end of each part.
pub const END: u8 = 0x80;
/// A bit of events in old streams that is to be ignored.
const MARK: u8 = 0x40;

macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum $name { $($(#[$variant_doc])* $variant = $value,)* }

        impl $name {
            /// The meaning of a byte, if it has one.
            pub const fn from_byte(byte: u8) -> Option<$name> {
                match byte { $($value => Some($name::$variant),)* _ => None }
            }
        }
    };
}

bytes! {
    /// Kinds of symbols.
    SymKind {
        /// A Lua function's prototype.
        Proto = 0,
        /// Native code.
        Native = 1,
        /// A trace.
        Trace = 2,
    }
}
bytes! {
    /// Kinds of events.
    EventKind {
        /// A symbol.
        Symbol = 0,
        /// An allocation.
        Alloc = 1,
        /// A free.
        Free = 2,
        /// A change of size.
        Realloc = 3,
    }
}
bytes! {
    /// Where an event comes from.
    Source {
        /// The VM itself.
        Internal = 1,
        /// A Lua function.
        Lua = 2,
        /// Native code.
        Native = 3,
        /// Compiled code.
        Trace = 4,
    }
}

/// The header of an event.
pub const fn header(kind: EventKind, source: Source) -> u8 {
    kind as u8 | (source as u8) << 2
}

/// Kind and source of a header.
pub const fn split_header(header: u8) -> Option<(EventKind, Source)> {
    if header >> 5 != 0 {
        return None;
    }
    match (EventKind::from_byte(header & 3), Source::from_byte(header >> 2)) {
        (Some(kind), Some(source)) => Some((kind, source)),
        _ => None,
    }
}

const _: () = assert!(header(EventKind::Alloc, Source::Lua) == 0x09 && header(EventKind::Realloc, Source::Trace) == 0x13);
