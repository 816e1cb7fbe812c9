//! Looking at a state: its memory, its compiler, its frames. See [`crate::observe`].

use super::lua::Lua;
use perilune_observe::explorer::{self, Report};
use perilune_observe::inspect::{self, FrameInfo, HeapSnapshot, JitStateSnapshot};
use perilune_observe::metrics::{self, Metrics, Pauses};
use perilune_observe::{heap, memprof, profile, sysprof};
use perilune_vm::Vm;
use perilune_vm::interrupt::Poll;
use std::io::{self, Write};

impl Lua {
    /// Writes every change of the heap from now on to a stream; `misc.memprof.start` of Lua does the same. The writer
    /// and the function for the end, which `options` may have, cannot use the state: a try panics, and writing has failed then.
    ///
    /// ```
    /// use perilune::{Lua, observe::memprof};
    ///
    /// let lua = Lua::new();
    /// let file = std::env::temp_dir().join("example.memprof");
    /// lua.start_memprof(memprof::Options::new(std::fs::File::create(&file)?).lines(true))?;
    /// lua.load("local t = {} for i = 1, 100 do t[i] = {i} end").exec()?;
    /// lua.stop_memprof()?;
    /// assert!(std::fs::metadata(&file)?.len() > 500);
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_memprof(&self, options: memprof::Options) -> Result<(), memprof::Error> {
        let _lock = self.0.lock();
        self.0.enter(|vm| memprof::start(vm, options))
    }
    /// Ends that. An error of a write that failed earlier is reported here.
    ///
    /// ```
    /// use perilune::{Lua, observe::memprof};
    ///
    /// let lua = Lua::new();
    /// assert!(lua.stop_memprof().is_err());
    /// lua.start_memprof(memprof::Options::new(std::io::sink()))?;
    /// lua.stop_memprof()?;
    /// # Ok::<(), memprof::Error>(())
    /// ```
    pub fn stop_memprof(&self) -> Result<(), memprof::Error> {
        let _lock = self.0.lock();
        self.0.enter(memprof::stop)
    }
    /// Takes samples of what runs on this thread from now on.
    ///
    /// ```
    /// use perilune::{Lua, observe::profile};
    ///
    /// let lua = Lua::new();
    /// lua.start_profile(profile::Options::new())?;
    /// lua.load("local function busy() local s = 0 for i = 1, 3e7 do s = s + i % 7 end return s end busy()").exec()?;
    /// let profile = lua.stop_profile()?;
    /// assert!(profile.total() > 0);
    /// for line in profile::folded::lines(&profile, Default::default()) {
    ///     println!("{line}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_profile(&self, options: profile::Options) -> Result<(), profile::Error> {
        let _lock = self.0.lock();
        self.0.enter(|vm| profile::start(vm, options))
    }
    /// Ends that, and gives what was sampled.
    ///
    /// ```
    /// use perilune::{Lua, observe::profile};
    ///
    /// let lua = Lua::new();
    /// lua.start_profile(profile::Options::new())?;
    /// lua.load("for i = 1, 1e7 do local x = i % 3 end").exec().unwrap();
    /// let profile = lua.stop_profile()?;
    /// println!("{} samples", profile.total());
    /// # Ok::<(), profile::Error>(())
    /// ```
    pub fn stop_profile(&self) -> Result<profile::Profile, profile::Error> {
        let _lock = self.0.lock();
        self.0.enter(profile::stop)
    }
    /// Counts samples by the state of the VM, and may write them to Tarantool's stream; `misc.sysprof.start` of Lua does the same.
    ///
    /// ```
    /// use perilune::{Lua, observe::sysprof};
    ///
    /// let lua = Lua::new();
    /// let file = std::env::temp_dir().join("example.sysprof");
    /// let options = sysprof::Options::new().interval(std::time::Duration::from_millis(1));
    /// lua.start_sysprof(options.callgraph(std::fs::File::create(&file)?))?;
    /// lua.load("local function busy() local s = 0 for i = 1, 3e7 do s = s + i % 7 end return s end busy()").exec()?;
    /// let counters = lua.stop_sysprof()?;
    /// println!("{} of {} samples in compiled code", counters.trace, counters.samples);
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_sysprof(&self, options: sysprof::Options) -> Result<(), sysprof::Error> {
        let _lock = self.0.lock();
        self.0.enter(|vm| sysprof::start(vm, options))
    }
    /// Ends that, and gives the counts. An error of a write that failed earlier is reported here.
    ///
    /// ```
    /// use perilune::{Lua, observe::sysprof};
    ///
    /// let lua = Lua::new();
    /// assert!(lua.stop_sysprof().is_err());
    /// lua.start_sysprof(sysprof::Options::new())?;
    /// assert_eq!(lua.stop_sysprof()?.gc, 0);
    /// # Ok::<(), sysprof::Error>(())
    /// ```
    pub fn stop_sysprof(&self) -> Result<sysprof::Counters, sysprof::Error> {
        let _lock = self.0.lock();
        self.0.enter(sysprof::stop)
    }
    /// Counts that are always kept.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let before = lua.metrics().gc_total;
    /// lua.load("kept = ('x'):rep(1e6)").exec()?;
    /// assert!(lua.metrics().gc_total > before + 1_000_000);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn metrics(&self) -> Metrics {
        let _lock = self.0.lock();
        self.0.enter(|vm| metrics::metrics(vm))
    }
    /// How long the program stood still for the collector so far.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.load("for i = 1, 1e5 do local t = { i } end").exec()?;
    /// let pauses = lua.gc_pauses();
    /// println!("{} stops, the longest {:?}, {} of a millisecond and more", pauses.count, pauses.longest, pauses.at_least(10));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn gc_pauses(&self) -> Pauses {
        let _lock = self.0.lock();
        self.0.enter(|vm| *vm.heap.pauses())
    }
    /// Counts the objects on the heap by kind.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.load("t = {} for i = 1, 1000 do t[i] = {} end").exec()?;
    /// lua.gc_collect();
    /// let walk = lua.heap_walk();
    /// assert_eq!(walk.total_bytes, lua.used_memory());
    /// assert_eq!(walk.buckets[0].type_name, "table");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn heap_walk(&self) -> HeapSnapshot {
        let _lock = self.0.lock();
        self.0.enter(|vm| inspect::heap_walk(vm))
    }
    /// The state of the compiler.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.jit_option("hotloop=2")?;
    /// lua.load("for i = 1, 1000 do local x = i * 2 end").exec()?;
    /// assert!(lua.jit_state_snapshot().trace_compiled_count > 0);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn jit_state_snapshot(&self) -> JitStateSnapshot {
        let _lock = self.0.lock();
        self.0.enter(|vm| inspect::jit_state_snapshot(vm))
    }
    /// The Lua functions that are running, deepest last: in a Rust function that Lua called.
    ///
    /// ```
    /// use perilune::Lua;
    ///
    /// let lua = Lua::new();
    /// let where_am_i = lua.create_function(|lua, ()| Ok(lua.frames_for_profile().last().map_or(0, |f| f.line)))?;
    /// lua.globals().set("where_am_i", where_am_i)?;
    /// assert_eq!(lua.load("local function f()\n local n = where_am_i()\n return n end\n return f()").eval::<u32>()?, 2);
    /// assert!(lua.frames_for_profile().is_empty());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn frames_for_profile(&self) -> Vec<FrameInfo> {
        let _lock = self.0.lock();
        self.0.enter(|vm| inspect::frames_for_profile(vm))
    }
    /// Has the trace explorer note from now on what the compiler makes, see [`crate::observe::explorer`].
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.start_explorer();
    /// lua.load("local s = 0\nfor i = 1, 1e6 do s = s + i end").set_name("=sum").exec()?;
    /// let report = lua.explore().unwrap();
    /// assert_eq!(report.traces[0].link.kind, "loop");
    /// assert_eq!(report.traces[0].start.unwrap().line, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn start_explorer(&self) {
        let _lock = self.0.lock();
        // There is a compiler.
        self.0.enter(explorer::start);
    }
    /// Has the trace explorer count what each line allocates from now on, until it ends. Code that allocates takes up to three times as long
    /// meanwhile. False if the memory profiler runs.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.start_explorer();
    /// assert!(lua.count_allocations());
    /// lua.load("local t = {}\nfor i = 1, 1000 do t[i] = {i} end").set_name("=tables").exec()?;
    /// let allocations = lua.stop_explorer().and_then(|report| report.allocations).unwrap();
    /// assert!(allocations.lines[0].line == 2 && allocations.lines[0].allocations >= 1000);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn count_allocations(&self) -> bool {
        let _lock = self.0.lock();
        self.0.enter(explorer::count_allocations)
    }
    /// What the trace explorer has seen so far; `None` if it was not started.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert!(lua.explore().is_none());
    /// lua.start_explorer();
    /// assert!(lua.explore().unwrap().traces.is_empty());
    /// ```
    pub fn explore(&self) -> Option<Report> {
        let _lock = self.0.lock();
        self.0.enter(explorer::report)
    }
    /// Ends what [`Lua::start_explorer`] began. What it has seen; `None` if it was not started.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.start_explorer();
    /// assert!(lua.stop_explorer().is_some());
    /// assert!(lua.stop_explorer().is_none());
    /// ```
    pub fn stop_explorer(&self) -> Option<Report> {
        let _lock = self.0.lock();
        self.0.enter(explorer::stop)
    }
    /// Writes the graph of objects as JSON for Luau's tools, after a full collection.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let mut json = Vec::new();
    /// lua.dump_heap(&mut json)?;
    /// assert!(String::from_utf8_lossy(&json).contains("\"objects\""));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Writing fails.
    pub fn dump_heap(&self, to: &mut dyn Write) -> io::Result<()> {
        self.write_graph(to, |vm, to| heap::dump(vm, to, Poll::Never))
    }
    /// Writes the graph of objects as a `.heapsnapshot` for Chrome's developer tools, after a full collection.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let mut json = Vec::new();
    /// lua.snapshot_heap(&mut json)?;
    /// assert!(String::from_utf8_lossy(&json).contains("\"snapshot\""));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Writing fails.
    pub fn snapshot_heap(&self, to: &mut dyn Write) -> io::Result<()> {
        self.write_graph(to, |vm, to| heap::snapshot(vm, to, Poll::Never))
    }
    /// The graph is complete before the writer is called, which may run Lua code.
    fn write_graph(&self, to: &mut dyn Write, write: fn(&mut Vm, &mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut graph = Vec::new();
        {
            let _lock = self.0.lock();
            self.0.enter(|vm| write(vm, &mut graph))?;
        }
        to.write_all(&graph)?;
        to.flush()
    }
}
