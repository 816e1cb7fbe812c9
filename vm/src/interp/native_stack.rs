//! The limit of the native stack. Rust functions and Lua functions that call one another use it, and the frame of a Rust function may be
//! large: the depth of calls alone does not bound it.

use core::cell::Cell;

/// Bytes that must be free for a call from Rust into Lua, on a stack that is large enough.
const RESERVE: usize = 256 << 10;
/// On a small stack: this fraction of it.
const PART: usize = 8;

/// The stack of a thread.
struct Bounds {
    /// Its lowest address.
    low: Cell<usize>,
    /// Its size.
    size: Cell<usize>,
    /// Bytes that are kept free; [`UNKNOWN`] before the system was asked.
    reserve: Cell<usize>,
}

/// Every address is nearer to the end than this.
const UNKNOWN: usize = usize::MAX;

thread_local! {
    static BOUNDS: Bounds = const { Bounds { low: Cell::new(0), size: Cell::new(0), reserve: Cell::new(UNKNOWN) } };
}

impl Bounds {
    /// How far an address is from the end. It is far for one that is not on the stack.
    #[inline(always)]
    fn distance(&self, address: usize) -> usize {
        address.wrapping_sub(self.low.get())
    }
    #[inline(always)]
    fn is_near(&self, address: usize) -> bool {
        self.distance(address) < self.reserve.get()
    }
    /// Asks the system where the stack of this thread ends, if that is not known.
    #[cold]
    #[inline(never)]
    fn find(&self) {
        if self.reserve.get() == UNKNOWN {
            let (low, size) = bounds().unwrap_or((0, 0));
            self.low.set(low);
            self.size.set(size);
            self.reserve.set(RESERVE.min(size / PART));
        }
    }
}

/// Is the native stack of this thread nearly used up? The end of a stack that is not the thread's own, such as that of a coroutine library,
/// is not known.
#[inline]
pub(super) fn is_at_end() -> bool {
    let local = 0u8;
    let here = (&raw const local).addr();
    BOUNDS.with(|bounds| {
        bounds.is_near(here) && {
            bounds.find();
            bounds.is_near(here)
        }
    })
}

/// Are so many bytes of the native stack free, as far as is known?
pub fn has_room(bytes: usize) -> bool {
    let local = 0u8;
    BOUNDS.with(|bounds| {
        bounds.find();
        (bytes..bounds.size.get()).contains(&bounds.distance((&raw const local).addr()))
    })
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
