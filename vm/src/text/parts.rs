//! Long texts are written in parts, and given up between two of them if an interrupt waits ([`Poll`]).

use super::append;
use crate::interrupt::{Interrupted, Poll};

/// The system's allocator enlarges memory of this size without copying it: glibc maps it apart (`DEFAULT_MMAP_THRESHOLD_MAX`).
pub(crate) const REMAPPED: usize = 32 << 20;

/// Appends `text`, for which there is room.
#[inline(always)]
pub(crate) fn append_in_parts(out: &mut Vec<u8>, text: &[u8], poll: Poll<'_>) -> Result<(), Interrupted> {
    if text.len() <= Poll::BYTES {
        append(out, text);
        return Ok(());
    }
    append_long(out, text, poll)
}
#[cold]
#[inline(never)]
fn append_long(out: &mut Vec<u8>, text: &[u8], poll: Poll<'_>) -> Result<(), Interrupted> {
    for part in text.chunks(Poll::BYTES) {
        out.extend_from_slice(part);
        poll.look()?;
    }
    Ok(())
}

/// Makes room for `more` bytes. False if there is no memory for them.
pub(crate) fn reserve_in_parts(out: &mut Vec<u8>, more: usize, poll: Poll<'_>) -> Result<bool, Interrupted> {
    if out.len() <= Poll::BYTES || out.capacity() >= REMAPPED {
        return Ok(out.try_reserve(more).is_ok());
    }
    let mut larger = Vec::new();
    if larger.try_reserve_exact((out.len().saturating_add(more)).max(2 * out.capacity())).is_err() {
        return Ok(false);
    }
    append_in_parts(&mut larger, out, poll)?;
    *out = larger;
    Ok(true)
}

/// Appends `text`, changed in place by `change`, which changes each byte for itself.
#[inline(always)]
pub(crate) fn append_changed(
    out: &mut Vec<u8>,
    text: &[u8],
    change: impl Fn(&mut [u8]),
    poll: Poll<'_>,
) -> Result<(), Interrupted> {
    for part in text.chunks(Poll::BYTES) {
        let from = out.len();
        out.extend_from_slice(part);
        change(&mut out[from..]);
        poll.look()?;
    }
    Ok(())
}

/// Appends `text` backwards.
pub(crate) fn append_reversed(out: &mut Vec<u8>, text: &[u8], poll: Poll<'_>) -> Result<(), Interrupted> {
    for part in text.rchunks(Poll::BYTES) {
        let from = out.len();
        out.extend_from_slice(part);
        out[from..].reverse();
        poll.look()?;
    }
    Ok(())
}

/// Repeats the contents, until there are `n` copies of them.
pub(crate) fn repeat(out: &mut Vec<u8>, n: usize, poll: Poll<'_>) -> Result<(), Interrupted> {
    let (once, len) = (out.len(), out.len() * n);
    if let [byte] = out[..] {
        while out.len() < len {
            out.resize(len.min(out.len() + Poll::BYTES), byte);
            poll.look()?;
        }
    }
    // Whole periods, so that what follows is always a copy of the beginning.
    let most = once * (Poll::BYTES / once.max(1)).max(1);
    while out.len() < len {
        out.extend_from_within(..out.len().min(len - out.len()).min(most));
        poll.look()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::{Cause, Flag};

    fn text() -> Vec<u8> {
        (0..2 * Poll::BYTES + 77).map(|i| b'A' + (i % 57) as u8).collect()
    }

    #[test]
    fn parts_make_the_whole() {
        let (text, flag) = (text(), Flag::new());
        let poll = Poll::At(&flag);
        let made = |write: &dyn Fn(&mut Vec<u8>) -> Result<(), Interrupted>| {
            let mut out = b"<".to_vec();
            write(&mut out).unwrap();
            out.split_off(1)
        };
        assert!(made(&|out| append_in_parts(out, &text, poll)) == text);
        assert!(made(&|out| append_changed(out, &text, <[u8]>::make_ascii_uppercase, poll)) == text.to_ascii_uppercase());
        assert!(made(&|out| append_reversed(out, &text, poll)) == text.iter().rev().copied().collect::<Vec<u8>>());
        for once in [1, 7, text.len()] {
            let mut out = text[..once].to_vec();
            let n = (3 * Poll::BYTES + 5).div_ceil(once);
            repeat(&mut out, n, poll).unwrap();
            assert!(out == text[..once].repeat(n), "{once}");
        }
    }
    #[test]
    fn there_is_room_for_more() {
        let flag = Flag::new();
        let mut out = text();
        for more in [1, 3 * out.len(), 0] {
            let capacity = out.capacity();
            assert_eq!(reserve_in_parts(&mut out, more, Poll::At(&flag)), Ok(true));
            assert!(out == text() && out.capacity() - out.len() >= more && out.capacity() >= capacity);
        }
        assert_eq!(reserve_in_parts(&mut out, usize::MAX / 4, Poll::At(&flag)), Ok(false));
        flag.set(Cause::Host);
        assert_eq!(reserve_in_parts(&mut out, 4 * text().len(), Poll::At(&flag)), Err(Interrupted));
        assert!(out == text());
    }
    #[test]
    fn an_interrupt_ends_it_after_a_part() {
        let (text, flag) = (text(), Flag::new());
        flag.set(Cause::Host);
        let poll = Poll::At(&flag);
        let ends = |write: &dyn Fn(&mut Vec<u8>) -> Result<(), Interrupted>| {
            let mut out = Vec::new();
            assert_eq!(write(&mut out), Err(Interrupted));
            assert!(out.len() <= Poll::BYTES);
        };
        ends(&|out| append_in_parts(out, &text, poll));
        ends(&|out| append_changed(out, &text, <[u8]>::make_ascii_uppercase, poll));
        ends(&|out| append_reversed(out, &text, poll));
        let mut out = b"xy".to_vec();
        assert_eq!(repeat(&mut out, text.len(), poll), Err(Interrupted));
        assert!(out.len() <= 2 * Poll::BYTES);
    }
}
