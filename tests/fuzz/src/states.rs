//! Lua states that targets run programs in.

use perilune::{Function, Lua, LuaString};
use std::cell::RefCell;

/// Memory that a state may use.
const MEMORY: usize = 8 << 20;
/// How often a state that is kept is used.
const USES: u32 = 1000;

/// A new state.
pub fn new() -> Lua {
    // SAFETY: that nothing a script does breaks memory is what the targets test.
    let lua = unsafe { Lua::unsafe_new() };
    lua.set_memory_limit(MEMORY).expect("there is a limit");
    lua
}

/// A string of the input: far below the memory limit.
pub fn string(lua: &Lua, bytes: &[u8]) -> LuaString {
    lua.create_string(bytes).unwrap_or_else(|e| panic!("{e}"))
}

/// A new state, and the function that a chunk returns there.
pub fn with_function(source: &str, name: &str) -> (Lua, Function) {
    let lua = new();
    let f = lua.load(source).set_name(format!("={name}")).into_function();
    let f = f.and_then(|f| f.call(())).unwrap_or_else(|e| panic!("{e}"));
    (lua, f)
}

/// A state that is used many times, for targets that leave nothing in it, with the function of [`with_function`].
pub struct Kept {
    source: &'static str,
    name: &'static str,
    state: RefCell<Option<(Lua, Function, u32)>>,
}

impl Kept {
    /// The state for a chunk; it is made when it is needed.
    pub const fn new(source: &'static str, name: &'static str) -> Kept {
        Kept { source, name, state: RefCell::new(None) }
    }
    /// Uses the state.
    pub fn with<R>(&self, f: impl FnOnce(&Lua, &Function) -> R) -> R {
        let mut state = self.state.borrow_mut();
        if state.as_ref().is_none_or(|s| s.2 == USES) {
            *state = None;
        }
        let (lua, function, uses) = state.get_or_insert_with(|| {
            let (lua, f) = with_function(self.source, self.name);
            (lua, f, 0)
        });
        *uses += 1;
        f(lua, function)
    }
}
