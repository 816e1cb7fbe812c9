//! Methods of `string.buffer`.

use super::{Args, Results, one};
use crate::ir::{IrRef, Op, Ty};
use crate::rec::Recorder;
use perilune_vm::Value;
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;
use perilune_vm::stdlib::Builtin;
use perilune_vm::stdlib::buffer::has_room;
use perilune_vm::text::number::LONGEST;

impl Recorder {
    pub(super) fn lib_buffer(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        match b {
            Builtin::BufferMethodPut => self.buffer_put(args.get(0), args.list.get(1..).unwrap_or(&[])),
            Builtin::BufferMethodPutf => self.buffer_putf(args),
            _ => Ok(None),
        }
    }
    /// `buf:putf(format, ...)`: makes the text as `string.format` does, and puts it.
    fn buffer_putf(&mut self, args: &Args<'_>) -> Results {
        let ((r, v), buffer) = (args.get(1), args.get(0));
        let Some(format) = v.as_str().filter(|s| has_room(buffer.1, (s.len() + LONGEST) as i32)) else { return Ok(None) };
        let of_format = Args { list: args.list[1..].to_vec(), want: 2, ..*args };
        match self.string_format(&of_format, r, format)?.as_deref() {
            // How long the text will be is not known: as long as the format, for what is checked now.
            Some(&[text]) => self.buffer_put(buffer, &[(text, v)]),
            _ => Ok(None),
        }
    }
    /// `buf:put(...)` of strings and numbers, where the buffer has room for all of them: growing may collect, and run out of memory.
    fn buffer_put(&mut self, (buffer, v): (IrRef, Value), texts: &[(IrRef, Value)]) -> Results {
        let most = |(_, v): &(IrRef, Value)| match v.as_str() {
            Some(s) => Some(s.len()),
            None => v.is_number().then_some(LONGEST),
        };
        let Some(bytes) = texts.iter().map(most).sum::<Option<usize>>().and_then(|n| i32::try_from(n).ok()) else {
            return Ok(None);
        };
        if !has_room(v, bytes) {
            return Ok(None);
        }
        let numbers = texts.iter().filter(|(_, v)| v.is_number()).count();
        let mut size = self.b.kint((numbers * LONGEST) as i32);
        for &(r, _) in texts.iter().filter(|(_, v)| v.is_str()) {
            let len = self.field(r, Field::StrLen)?;
            size = self.b.emit(Op::ADD, Ty::Int, size, len)?;
        }
        let (fits, no) = (self.b.call(Helper::BufferHasRoom, &[buffer, size])?, self.b.kint(0));
        self.b.emit(Op::NE, Ty::Int, fits, no)?;
        for &(r, _) in texts {
            let helper = match self.ty(r) {
                Ty::Str => Helper::BufferPut,
                Ty::Int => Helper::BufferPutInt,
                _ => Helper::BufferPutNum,
            };
            self.b.call(helper, &[buffer, r])?;
        }
        self.raw_memory_changed()?;
        one(buffer)
    }
}
