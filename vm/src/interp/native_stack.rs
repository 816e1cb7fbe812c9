//! The limit of the native stack. Rust functions and Lua functions that call one another use it, and the frame of a Rust function may be
//! large: the depth of calls alone does not bound it.

use core::cell::Cell;

/// Bytes that must be free for a call from Rust into Lua, on a stack that is large enough.
const RESERVE: usize = 256 << 10;
/// On a small stack: this fraction of it.
const PART: usize = 8;

/// The stack of a thread.
#[derive(Copy, Clone, Debug)]
pub struct Bounds {
    /// Its lowest address.
    low: usize,
    /// Its size.
    size: usize,
    /// Bytes that are kept free; [`UNKNOWN`] before the system was asked.
    reserve: usize,
}

/// Every address is nearer to the end than this.
const UNKNOWN: usize = usize::MAX;

thread_local! {
    static BOUNDS: Cell<Bounds> = const { Cell::new(Bounds::NOT_FOUND) };
}

impl Bounds {
    /// Before the system was asked.
    pub const NOT_FOUND: Bounds = Bounds { low: 0, size: 0, reserve: UNKNOWN };

    /// How far an address is from the end. It is far for one that is not on the stack.
    #[inline(always)]
    fn distance(&self, address: usize) -> usize {
        address.wrapping_sub(self.low)
    }
    #[inline(always)]
    fn is_near(&self, address: usize) -> bool {
        self.distance(address) < self.reserve
    }
    /// The stack of this thread; asks the system if that is not known.
    #[cold]
    #[inline(never)]
    fn find() -> Bounds {
        let mut found = BOUNDS.get();
        if found.reserve == UNKNOWN {
            let (low, size) = bounds().unwrap_or((0, 0));
            found = Bounds { low, size, reserve: RESERVE.min(size / PART) };
            BOUNDS.set(found);
        }
        found
    }
}

/// Is the native stack of this thread nearly used up? The end of a stack that is not the thread's own, such as that of a coroutine library,
/// is not known. `known` has the bounds from the outermost of the calls that have not returned, which are all on one thread: to ask the thread
/// for its variable is itself a call in a shared library.
#[inline]
pub(super) fn is_at_end(known: &mut Bounds, is_outermost: bool) -> bool {
    let local = 0u8;
    let here = (&raw const local).addr();
    if is_outermost {
        *known = BOUNDS.get();
    }
    known.is_near(here) && {
        *known = Bounds::find();
        known.is_near(here)
    }
}

/// Is the stack that runs now the one with these bounds? A coroutine library has stacks of its own.
pub(super) fn is_known(known: &Bounds) -> bool {
    let local = 0u8;
    known.distance((&raw const local).addr()) < known.size
}

/// Is half of what is kept free for the handling of errors still free, as far as is known?
pub(crate) fn has_reserve() -> bool {
    let local = 0u8;
    let found = Bounds::find();
    found.distance((&raw const local).addr()) >= found.reserve / 2
}

/// Is this thread's native stack nearly used up, as far as its end is known?
pub fn is_used_up() -> bool {
    let local = 0u8;
    Bounds::find().is_near((&raw const local).addr())
}

/// Are so many bytes of the native stack free, as far as is known?
pub fn has_room(bytes: usize) -> bool {
    let local = 0u8;
    let found = Bounds::find();
    (bytes..found.size).contains(&found.distance((&raw const local).addr()))
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
