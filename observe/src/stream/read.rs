//! Reading a stream of any version: symbols first, then event by event.

use super::input::{Input, Read_};
use super::{END, EVENTS_MAGIC, EventKind, MARK, SYMTAB_MAGIC, Source, SymKind, VERSION, split_header};
use std::io::Read;

/// A symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Symbol {
    /// A prototype.
    Proto {
        /// Its address, by which events name it from here on.
        address: u64,
        /// Name of its chunk, or the text.
        chunk: Vec<u8>,
        /// Line that it is defined at.
        line: u64,
    },
    /// Native code.
    Native {
        /// Where it starts.
        address: u64,
        /// Its name.
        name: Vec<u8>,
    },
    /// A trace.
    Trace {
        /// Its number.
        number: u64,
        /// Address of the prototype that it starts in.
        proto: u64,
        /// The line there.
        line: u64,
    },
}

/// Where an event comes from.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Location {
    /// The VM itself.
    Internal,
    /// A Lua function: address of the prototype, and the line.
    Lua(u64, u64),
    /// Native code: address.
    Native(u64),
    /// Compiled code: number of the trace.
    Trace(u64),
}

/// Some memory: address and bytes.
pub type Memory = (u64, u64);

/// An event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A new symbol, or a new meaning of an address or number.
    Symbol(Symbol),
    /// An allocation.
    Alloc(Location, Memory),
    /// A free.
    Free(Location, Memory),
    /// A change of size.
    Realloc(Location, Memory, Memory),
}

/// A stream being read.
pub struct Stream<R> {
    input: Input<R>,
    symtab: u8,
    events: u8,
    /// Is what comes next still of the symbol table?
    in_symtab: bool,
    done: bool,
}

impl<R: Read> Stream<R> {
    /// Begins to read; fails if it is something else.
    pub fn open(reader: R) -> Read_<Stream<R>> {
        let mut input = Input::new(reader);
        let symtab = prologue(&mut input, SYMTAB_MAGIC, "symbol table")?;
        Ok(Stream { input, symtab, events: 0, in_symtab: true, done: false })
    }
    /// The next symbol or event; `None` at the end.
    #[allow(clippy::should_implement_trait, reason = "an iterator would go on after an error")]
    pub fn next(&mut self) -> Read_<Option<Event>> {
        if self.in_symtab {
            if let Some(symbol) = self.symbol()? {
                return Ok(Some(Event::Symbol(symbol)));
            }
            self.in_symtab = false;
            self.events = prologue(&mut self.input, EVENTS_MAGIC, "memory profile")?;
        }
        if self.done {
            return Ok(None);
        }
        let event = self.event()?;
        self.done = event.is_none();
        Ok(event)
    }
    /// Offset of what comes next.
    pub fn offset(&self) -> u64 {
        self.input.offset()
    }

    fn symbol(&mut self) -> Read_<Option<Symbol>> {
        let start = self.input.offset();
        let byte = self.input.byte()?;
        if byte & END != 0 {
            return Ok(None);
        }
        let kind = match (self.symtab, byte) {
            (1, 0) => Some(SymKind::Proto),
            (1, _) => None,
            (2, 1) => Some(SymKind::Trace),
            (2, 2) => None,
            (_, byte) => SymKind::from_byte(byte),
        };
        match kind {
            Some(kind) => self.symbol_body(kind, self.symtab == 2).map(Some),
            None => self.input.wrong(start, format!("a symbol of kind {byte}")),
        }
    }
    fn symbol_body(&mut self, kind: SymKind, trace_has_address: bool) -> Read_<Symbol> {
        let i = &mut self.input;
        Ok(match kind {
            SymKind::Proto => Symbol::Proto { address: i.number()?, chunk: i.string()?, line: i.number()? },
            SymKind::Native => Symbol::Native { address: i.number()?, name: i.string()? },
            SymKind::Trace => {
                let number = i.number()?;
                if trace_has_address {
                    i.number()?;
                }
                Symbol::Trace { number, proto: i.number()?, line: i.number()? }
            }
        })
    }
    fn event(&mut self) -> Read_<Option<Event>> {
        let start = self.input.offset();
        let byte = self.input.byte()?;
        if byte == END || self.events < VERSION && byte & END != 0 {
            return Ok(None);
        }
        let header = if self.events < VERSION { byte & !MARK } else { byte };
        let known = split_header(header).filter(|(kind, source)| {
            (self.events > 1 || *source != Source::Trace) && (self.events == VERSION || *kind != EventKind::Symbol)
        });
        let Some((kind, source)) = known else { return self.input.wrong(start, format!("an event with header {byte:#04x}")) };
        if kind == EventKind::Symbol {
            let kind = match source {
                Source::Lua => SymKind::Proto,
                Source::Native => SymKind::Native,
                Source::Trace => SymKind::Trace,
                Source::Internal => return self.input.wrong(start, format!("an event with header {byte:#04x}")),
            };
            return Ok(Some(Event::Symbol(self.symbol_body(kind, false)?)));
        }
        let at = self.location(source)?;
        let first = (self.input.number()?, self.input.number()?);
        Ok(Some(match kind {
            EventKind::Alloc => Event::Alloc(at, first),
            EventKind::Free => Event::Free(at, first),
            _ => Event::Realloc(at, first, (self.input.number()?, self.input.number()?)),
        }))
    }
    fn location(&mut self, source: Source) -> Read_<Location> {
        let i = &mut self.input;
        Ok(match source {
            Source::Internal => Location::Internal,
            Source::Lua => Location::Lua(i.number()?, i.number()?),
            Source::Native => Location::Native(i.number()?),
            Source::Trace => {
                let number = i.number()?;
                if self.events == 2 {
                    i.number()?;
                }
                Location::Trace(number)
            }
        })
    }
}

/// Reads the start of a part; its version.
fn prologue<R: Read>(input: &mut Input<R>, magic: [u8; 3], what: &str) -> Read_<u8> {
    let start = input.offset();
    let [a, b, c, version, ..] = input.array::<7>()?;
    if [a, b, c] != magic {
        return input.wrong(start, format!("no {what}"));
    }
    if !(1..=VERSION).contains(&version) {
        return input.wrong(start + 3, format!("a {what} of version {version}, which is not known"));
    }
    Ok(version)
}
