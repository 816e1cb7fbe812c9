//! The embedding API as a state machine: the bytes are operations on handles. What handles are known to hold is compared.
//!
//! Left alone is what docs/conformance.md and the documentation forbid: handles of another state, and payloads, writers and
//! conversions that reach the state while it is borrowed.

use crate::input::Input;
use perilune::observe::memprof;
use perilune::{Error, Function, Lua, LuaString, MultiValue, Result, Table, Value};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

/// Handles that are kept.
const HANDLES: usize = 12;
/// Operations of one input, nested ones included.
const MOST: u32 = if cfg!(miri) { 60 } else { 400 };
/// Calls of Rust functions inside of one another.
const DEPTH: u32 = 12;

/// Chunks that operations load.
const CHUNKS: &[&str] = &[
    "return 1, 'two', nil, {}",
    "local t = {} for i = 1, 50 do t[i] = { i, tostring(i) } end return t",
    "local f, n = ... local s = 0 for i = 1, 30 do s = s + (tonumber(n) or i) if i % 10 == 0 and type(f) == 'function' then f(i, s) end end return s",
    "local f = ... return coroutine.wrap(function(...) local x = coroutine.yield(...) return f and f(x) end)",
    "local a, b = ... return setmetatable({ a }, { __index = b, __newindex = b, __len = a, __gc = 1, __call = a })",
    "local t = setmetatable({}, { __mode = 'kv' }) for i, v in ipairs { ... } do t[v] = v end collectgarbage() return t",
    "error({ ... })",
    "error(tostring((...)))",
    "return pcall(...)",
    "local f = ... local ok, e = pcall(f) return ok, e",
    "return ('x'):rep(100000), string.rep('ab', 3)",
    "syntax error here",
    "for i = 1, 200 do kept = { kept, i } if i % 50 == 0 then kept = nil end end return collectgarbage('count')",
    "local f = ... local function g(n) if n == 0 then return f and f() end return g(n - 1) end return g(60)",
    "local t = ... if type(t) == 'table' then for k, v in pairs(t) do t[k] = v end end return t",
    "local t = ... if type(t) == 'table' then for i = 1, 40 do rawset(t, i, i) end return #t, t end",
    "return string.gsub('hello world', 'o', ...)",
    "local t = { 3, 1, 2 } table.sort(t, ...) return table.concat(t)",
    "newproxy(true) local u = newproxy(true) getmetatable(u).__gc = ... return u",
    "local f, n = ..., 0 if type(f) ~= 'function' then return load(f) end \
     return load(function() n = n + 1 if n < 50 then return f() end end)",
];

/// What a handle is known to hold.
#[derive(Clone)]
enum Expected {
    Nothing,
    Number(f64),
    Bytes(Vec<u8>),
}

struct Machine {
    lua: Lua,
    handles: RefCell<Vec<(Value, Expected)>>,
    /// The operations, and where the next one is: nested calls go on with them.
    bytes: Vec<u8>,
    at: Cell<usize>,
    left: Cell<u32>,
    depth: Cell<u32>,
}

/// Runs the target.
pub fn run(data: &[u8]) {
    // SAFETY: that nothing a script does breaks memory is what the target tests.
    let lua = unsafe { Lua::unsafe_new() };
    lua.set_memory_limit(16 << 20).expect("there is a limit");
    // Everything hot is compiled at once, or nothing is.
    let mut input = Input::new(data);
    if input.byte().is_multiple_of(2) && !cfg!(miri) {
        lua.jit_option("hotloop=2").and_then(|()| lua.jit_option("hotexit=2")).expect("options that there are");
    } else {
        lua.set_jit(false);
    }
    let machine = Rc::new(Machine {
        lua,
        handles: RefCell::new(vec![(Value::Nil, Expected::Nothing); HANDLES]),
        bytes: input.rest().to_vec(),
        at: Cell::new(0),
        left: Cell::new(MOST),
        depth: Cell::new(0),
    });
    while machine.goes_on() {
        let _ = machine.operation(&machine.lua.clone());
        machine.compare();
    }
    machine.lua.set_memory_limit(0).expect("there is a limit");
}

impl Machine {
    fn goes_on(&self) -> bool {
        self.left.get() > 0 && self.at.get() < self.bytes.len()
    }
    /// Takes something from the operations.
    fn take<R>(&self, f: impl FnOnce(&mut Input) -> R) -> R {
        let mut input = Input::new(&self.bytes[self.at.get()..]);
        let taken = f(&mut input);
        self.at.set(self.bytes.len() - input.len());
        taken
    }
    fn byte(&self) -> u8 {
        self.take(|input| input.byte())
    }
    fn piece(&self, most: usize) -> Vec<u8> {
        self.take(|input| input.piece(most).to_vec())
    }
    /// Some handle.
    fn get(&self) -> Value {
        let i = usize::from(self.byte()) % HANDLES;
        self.handles.borrow()[i].0.clone()
    }
    /// Some handle that is a table; any if there is none.
    fn table(&self) -> Result<Table> {
        let from = usize::from(self.byte());
        let handles = self.handles.borrow();
        let tables =
            (0..HANDLES).filter_map(|i| if let Value::Table(t) = &handles[(from + i) % HANDLES].0 { Some(t) } else { None });
        tables.into_iter().next().cloned().ok_or_else(|| Error::runtime("no table"))
    }
    fn function(&self) -> Result<Function> {
        let from = usize::from(self.byte());
        let handles = self.handles.borrow();
        let mut all = (0..HANDLES).map(|i| &handles[(from + i) % HANDLES].0);
        all.find_map(|v| if let Value::Function(f) = v { Some(f.clone()) } else { None })
            .ok_or_else(|| Error::runtime("no function"))
    }
    fn put(&self, v: Value, expected: Expected) {
        let i = usize::from(self.byte()) % HANDLES;
        // The old handle is dropped after the borrow.
        let old = core::mem::replace(&mut self.handles.borrow_mut()[i], (v, expected));
        drop(old);
    }
    fn put_any(&self, v: Value) {
        let expected = match &v {
            Value::Number(n) => Expected::Number(*n),
            Value::String(s) => Expected::Bytes(s.as_bytes().to_vec()),
            _ => Expected::Nothing,
        };
        self.put(v, expected);
    }
    /// Handles hold what they were made with.
    fn compare(&self) {
        for (v, expected) in self.handles.borrow().iter() {
            match (v, expected) {
                (Value::Number(n), Expected::Number(k)) => assert_eq!(n.to_bits(), k.to_bits()),
                (Value::String(s), Expected::Bytes(bytes)) => assert_eq!(*s.as_bytes(), **bytes),
                (_, Expected::Nothing) => {}
                _ => panic!("a handle has another type"),
            }
        }
    }
    fn arguments(&self) -> MultiValue {
        let n = self.byte() % 5;
        MultiValue::from((0..n).map(|_| self.get()).collect::<Vec<_>>())
    }

    fn operation(self: &Rc<Self>, lua: &Lua) -> Result<()> {
        let Some(left) = self.left.get().checked_sub(1) else { return Ok(()) };
        self.left.set(left);
        match self.byte() % 32 {
            0 => self.put_any(Value::Number(self.take(|input| input.number()))),
            1 => self.put_any(Value::String(lua.create_string(self.piece(60))?)),
            2 => self.put_any(Value::Table(lua.create_table()?)),
            3 | 4 => self.create_function(lua)?,
            5 | 6 => self.set()?,
            7 | 8 => self.get_field()?,
            9 => self.length()?,
            10..=13 => self.call()?,
            14..=16 => self.load(lua)?,
            17 => lua.gc_collect()?,
            18 => self.put(Value::Nil, Expected::Nothing),
            19 => self.put_any(self.get()),
            20 => {
                let meta = self.table().ok().filter(|_| !self.byte().is_multiple_of(4));
                self.table()?.set_metatable(meta)?;
            }
            21 => self.put_any(self.table()?.metatable().map_or(Value::Nil, Value::Table)),
            22 => self.iterate(lua)?,
            23 => self.convert(lua),
            24 => self.globals(lua)?,
            25 => {
                let bytes = usize::from(self.byte()) << 16;
                lua.set_memory_limit(if bytes == 0 { 16 << 20 } else { lua.used_memory() + bytes })?;
            }
            26 => lua.set_jit(self.byte().is_multiple_of(2) && !cfg!(miri)),
            27 => self.observe(lua),
            28 => {
                let items: Vec<f64> = (0..self.byte() % 40).map(f64::from).collect();
                self.put_any(Value::Table(lua.create_sequence_from(items)?));
            }
            29 => return Err(Error::runtime(String::from_utf8_lossy(&self.piece(10)))),
            30 => self.table()?.push(self.get())?,
            _ => {
                self.put_any(Value::Boolean(self.byte().is_multiple_of(2)));
                assert!(lua.jit_option("nonsense").is_err());
            }
        }
        Ok(())
    }

    /// A function that runs operations, and returns handles or an error.
    fn create_function(self: &Rc<Self>, lua: &Lua) -> Result<()> {
        let machine: Weak<Machine> = Rc::downgrade(self);
        let steps = self.byte() % 6;
        let fails = self.byte().is_multiple_of(8);
        let f = lua.create_function(move |lua, args: MultiValue| {
            // The state is being closed: finalizers call it.
            let Some(m) = machine.upgrade() else { return Ok(MultiValue::default()) };
            if m.depth.get() == DEPTH {
                return Err(Error::runtime("too deep"));
            }
            m.depth.set(m.depth.get() + 1);
            if let Some(v) = args.front() {
                m.put_any(v.clone());
            }
            for _ in 0..steps {
                if m.goes_on() {
                    let _ = m.operation(lua);
                }
            }
            m.compare();
            m.depth.set(m.depth.get() - 1);
            if fails { Err(Error::runtime("as told")) } else { Ok(m.arguments()) }
        })?;
        self.put_any(Value::Function(f));
        Ok(())
    }
    fn set(&self) -> Result<()> {
        let (t, k, v) = (self.table()?, self.get(), self.get());
        if self.byte().is_multiple_of(2) {
            return t.set(k, v);
        }
        let left = self.left.get();
        t.raw_set(k.clone(), v.clone())?;
        let found: Value = t.raw_get(k.clone())?;
        // An error becomes a new object each time it is passed; a finalizer that ran operations may have changed the table.
        let comparable = !matches!((&k, &v), (Value::Error(_), _) | (_, Value::Error(_))) && self.left.get() == left;
        let same = found == v || matches!((&found, &v), (Value::Number(a), Value::Number(b)) if a.is_nan() && b.is_nan());
        assert!(same || !comparable, "{found:?} is read at {k:?} where {v:?} was stored");
        Ok(())
    }
    fn get_field(&self) -> Result<()> {
        let (t, k) = (self.table()?, self.get());
        let v: Value = if self.byte().is_multiple_of(2) { t.get(k)? } else { t.raw_get(k)? };
        self.put_any(v);
        Ok(())
    }
    fn length(&self) -> Result<()> {
        let t = self.table()?;
        let n = if self.byte().is_multiple_of(2) { t.len()? as usize } else { t.raw_len() };
        let _ = t.is_empty();
        self.put_any(Value::Number(n as f64));
        Ok(())
    }
    fn call(&self) -> Result<()> {
        let results: MultiValue = self.function()?.call(self.arguments())?;
        for v in results.into_vec().into_iter().take(4) {
            self.put_any(v);
        }
        Ok(())
    }
    fn load(&self, lua: &Lua) -> Result<()> {
        let n = usize::from(self.byte());
        let source = CHUNKS.get(n % (CHUNKS.len() + 2)).map_or_else(|| self.piece(40), |s| s.as_bytes().to_vec());
        let chunk = lua.load(source).set_name(String::from_utf8_lossy(&self.piece(6)));
        if n & 0x80 != 0 {
            self.put_any(chunk.eval::<Value>()?);
        } else {
            self.put_any(Value::Function(chunk.into_function()?));
        }
        Ok(())
    }
    /// Goes through a table, which operations may change meanwhile.
    fn iterate(self: &Rc<Self>, lua: &Lua) -> Result<()> {
        let t = self.table()?;
        let mut left = 20;
        if self.byte().is_multiple_of(2) {
            for pair in t.pairs::<Value, Value>() {
                let (k, v) = pair?;
                self.put_any(if left % 2 == 0 { k } else { v });
                if self.byte().is_multiple_of(4) {
                    let _ = self.operation(lua);
                }
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        } else {
            for v in t.sequence_values::<Value>().take(left) {
                self.put_any(v?);
            }
        }
        Ok(())
    }
    fn convert(&self, lua: &Lua) {
        let v = self.get();
        macro_rules! try_all {
            ($($t:ty)*) => { $(let _: Result<$t> = perilune::FromLua::from_lua(v.clone(), lua);)* };
        }
        try_all! { bool i8 u8 i32 u32 i64 u64 f32 f64 String LuaString Option<i16> Vec<Value> Vec<f64> Table Function }
        let _ = format!("{v:?} {}", v.type_name());
        if let Value::String(s) = &v {
            let _ = s.to_str();
        }
    }
    fn globals(&self, lua: &Lua) -> Result<()> {
        const NAMES: [&str; 8] = ["a", "b", "string", "debug", "jit", "pcall", "coroutine", "tostring"];
        let name = NAMES[usize::from(self.byte()) % NAMES.len()];
        if name.len() == 1 {
            lua.globals().set(name, self.get())
        } else {
            self.put_any(lua.globals().get(name)?);
            Ok(())
        }
    }
    fn observe(&self, lua: &Lua) {
        let mut sink = std::io::sink();
        match self.byte() % 9 {
            0 => lua.dump_heap(&mut sink).expect("a sink takes all"),
            1 => lua.snapshot_heap(&mut sink).expect("a sink takes all"),
            2 => drop(lua.metrics()),
            3 => drop(lua.heap_walk()),
            4 => drop(lua.jit_state_snapshot()),
            5 => drop(lua.frames_for_profile()),
            6 => drop(lua.start_memprof(memprof::Options::new(std::io::sink()).lines(true))),
            7 => drop(lua.stop_memprof()),
            _ => {
                lua.start_explorer();
                drop(lua.explore());
            }
        }
    }
}
