//! Coverage of the rules, in builds with debug assertions: each rule is known by the source location where it gives its result, and a test
//! checks that all have been applied.

/// Notes that the rule that calls the caller applies.
#[inline(always)]
#[track_caller]
pub(super) fn note() {
    #[cfg(debug_assertions)]
    {
        let place = core::panic::Location::caller();
        LOCATIONS.with_borrow_mut(|locations| locations.insert((place.file(), place.line())));
    }
}

#[cfg(debug_assertions)]
thread_local! {
    static LOCATIONS: core::cell::RefCell<std::collections::HashSet<(&'static str, u32)>> = core::cell::RefCell::default();
}

/// File and line of the rules applied in this thread so far.
#[cfg(debug_assertions)]
pub fn locations() -> Vec<(&'static str, u32)> {
    LOCATIONS.with_borrow(|locations| locations.iter().copied().collect())
}
