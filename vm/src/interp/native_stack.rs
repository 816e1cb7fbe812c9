//! The limit of the native stack. Rust functions and Lua functions that call one another use it, and the frame of a Rust function may be
//! large: the depth of calls alone does not bound it.

use core::cell::Cell;

/// Bytes that must be free for a call from Rust into Lua, on a stack that is large enough.
const RESERVE: usize = 256 << 10;
/// On a small stack: this fraction of it.
const PART: usize = 8;

/// The stack of a thread.
#[derive(Copy, Clone)]
struct Bounds {
    /// Its lowest address.
    low: usize,
    /// Its size.
    size: usize,
    /// Bytes that are kept free.
    reserve: usize,
}

thread_local! {
    static BOUNDS: Cell<Option<Bounds>> = const { Cell::new(None) };
}

/// Is the native stack of this thread nearly used up? The end of a stack that is not the thread's own, such as that of a coroutine library,
/// is not known.
#[inline]
pub(super) fn is_at_end() -> bool {
    let local = 0u8;
    let here = (&raw const local).addr();
    let bounds = BOUNDS.get().unwrap_or_else(find);
    here.wrapping_sub(bounds.low) < bounds.reserve
}

/// Are so many bytes of the native stack free, as far as is known?
pub fn has_room(bytes: usize) -> bool {
    let local = 0u8;
    let bounds = BOUNDS.get().unwrap_or_else(find);
    (bytes..bounds.size).contains(&(&raw const local).addr().wrapping_sub(bounds.low))
}

/// Asks the system where the stack of this thread ends.
#[cold]
fn find() -> Bounds {
    let (low, size) = bounds().unwrap_or((0, 0));
    let bounds = Bounds { low, size, reserve: RESERVE.min(size / PART) };
    BOUNDS.set(Some(bounds));
    bounds
}

/// Lowest address and size of this thread's stack.
#[cfg(not(miri))]
fn bounds() -> Option<(usize, usize)> {
    let mut attributes = core::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut low, mut size) = (core::ptr::null_mut(), 0);
    // SAFETY: `pthread_getattr_np` initialises the attributes if it returns 0; they are destroyed once.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let failed = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut size) != 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (!failed).then(|| (low.addr(), size))
    }
}

/// Under Miri the end of the stack is not known.
#[cfg(miri)]
fn bounds() -> Option<(usize, usize)> {
    None
}
