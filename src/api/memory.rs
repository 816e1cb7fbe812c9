//! The collector, as a program that embeds Lua controls it.

use super::error::Result;
use super::lua::Lua;

/// How the collector works. The VM's is incremental.
///
/// ```
/// use perilune::Lua;
/// use perilune::state::{GcIncParams, GcMode};
///
/// Lua::new().gc_set_mode(GcMode::Incremental(GcIncParams::default().pause(150)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GcMode {
    /// It marks and sweeps in small steps.
    Incremental(GcIncParams),
}

/// Settings of the incremental collector; those that are `None` stay as they are.
///
/// ```
/// use perilune::state::GcIncParams;
///
/// let params = GcIncParams::default().pause(150).step_multiplier(400);
/// assert_eq!((params.pause, params.step_multiplier), (Some(150), Some(400)));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcIncParams {
    /// How large the heap may grow before the next cycle begins, in percent of what was alive after the last one.
    pub pause: Option<i32>,
    /// How fast the collector works relative to allocation, in percent.
    pub step_multiplier: Option<i32>,
}

impl GcIncParams {
    /// Sets [`GcIncParams::pause`].
    ///
    /// ```
    /// use perilune::state::GcIncParams;
    ///
    /// assert_eq!(GcIncParams::default().pause(150).pause, Some(150));
    /// ```
    #[must_use]
    pub const fn pause(mut self, percent: i32) -> GcIncParams {
        self.pause = Some(percent);
        self
    }
    /// Sets [`GcIncParams::step_multiplier`].
    ///
    /// ```
    /// use perilune::state::GcIncParams;
    ///
    /// assert_eq!(GcIncParams::default().step_multiplier(400).step_multiplier, Some(400));
    /// ```
    #[must_use]
    pub const fn step_multiplier(mut self, percent: i32) -> GcIncParams {
        self.step_multiplier = Some(percent);
        self
    }
}

impl Lua {
    /// Does the collector work by itself?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.gc_stop();
    /// assert!(!lua.gc_is_running());
    /// lua.gc_restart();
    /// assert!(lua.gc_is_running());
    /// ```
    pub fn gc_is_running(&self) -> bool {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.gc_is_running())
    }
    /// Stops the collector, until it is restarted or asked to collect. A memory limit holds all the same.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.gc_stop();
    /// lua.load("for i = 1, 1000 do local garbage = ('x'):rep(i) end").exec()?;
    /// lua.gc_restart();
    /// lua.gc_collect()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn gc_stop(&self) {
        let _lock = self.0.lock();
        self.0.enter(perilune_vm::Vm::gc_stop);
    }
    /// Lets the collector work by itself again.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.gc_stop();
    /// lua.gc_restart();
    /// assert!(lua.gc_is_running());
    /// ```
    pub fn gc_restart(&self) {
        let _lock = self.0.lock();
        self.0.enter(perilune_vm::Vm::gc_restart);
    }
    /// A step of the collector. True if it has completed a cycle.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.load("local t = {} for i = 1, 1000 do t[i] = {} end").exec()?;
    /// while !lua.gc_step()? {}
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn gc_step(&self) -> Result<bool> {
        let _lock = self.0.lock();
        Ok(self.0.enter(|vm| vm.gc_step(0)))
    }
    /// Sets how the collector works; how it has worked before.
    ///
    /// ```
    /// use perilune::{Lua, state::{GcIncParams, GcMode}};
    ///
    /// let lua = Lua::new();
    /// let often = GcIncParams::default().pause(110);
    /// let GcMode::Incremental(before) = lua.gc_set_mode(GcMode::Incremental(often)) else { unreachable!() };
    /// assert_eq!(before.pause, Some(200));
    /// ```
    pub fn gc_set_mode(&self, mode: GcMode) -> GcMode {
        let _lock = self.0.lock();
        let GcMode::Incremental(params) = mode;
        let percent = |n: i32| u32::try_from(n).unwrap_or(0);
        self.0.enter(|vm| {
            let pause = vm.gc_set_pause(0);
            vm.gc_set_pause(params.pause.map_or(pause, percent));
            let step = vm.gc_set_stepmul(0);
            vm.gc_set_stepmul(params.step_multiplier.map_or(step, percent));
            GcMode::Incremental(GcIncParams { pause: Some(pause as i32), step_multiplier: Some(step as i32) })
        })
    }
}
