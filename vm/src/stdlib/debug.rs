//! The debug library: functions, variables and levels.

use super::env::set_function_env;
use super::levels;
use crate::Vm;
use crate::bc::{Ins, Op};
use crate::error::LuaResult;
use crate::interp::frames::Level;
use crate::interp::hook;
use crate::object::{Func, Gc, Table, Thread};
use crate::text::chunk::chunk_id;
use crate::text::number::to_i64;
use crate::text::until_nul;
use crate::value::Value;

/// `debug.getregistry()`
pub fn getregistry(vm: &mut Vm) -> LuaResult<u32> {
    let registry = Value::table(vm.realm.registry);
    vm.ret1(registry)
}

/// `debug.getmetatable(v)`
pub fn getmetatable(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.check_any(0)?;
    let mt = vm.metatable_of(v);
    vm.ret1(mt.map_or(Value::NIL, Value::table))
}

/// `debug.setmetatable(v, mt)`: of the type, for values without a metatable of their own.
pub fn setmetatable(vm: &mut Vm) -> LuaResult<u32> {
    let mt = vm.check_table_or_nil(1)?;
    let v = vm.arg(0);
    match v.as_table() {
        Some(t) => vm.check_writable(t)?,
        None if v.is_udata() => {}
        // Traces depend on the metatables of types.
        None => vm.check_not_finalizing()?,
    }
    vm.set_metatable_of(v, mt);
    vm.ret1(Value::TRUE)
}

impl Vm {
    /// The lines of a Lua function that have code, as the keys of a table.
    pub fn active_lines(&mut self, f: Gc<Func>) -> Option<Gc<Table>> {
        let p = f.proto()?;
        let lines = self.new_table(0, 2);
        // The first instruction is the function's header.
        for line in p.lines.iter().skip(1) {
            self.table_set_int(lines, *line as i32, Value::TRUE);
        }
        Some(lines)
    }
    /// Sets an upvalue, which exists.
    pub fn set_upvalue(&mut self, f: Gc<Func>, i: usize, v: Value) {
        if f.is_lua() {
            let uv = f.upvalues()[i].get();
            self.upvalue_changes(uv);
            // As for a local that is set: it may be one.
            self.compiled.invalidations = self.compiled.invalidations.wrapping_add(1);
            uv.set(v);
            self.barrier_forward(uv.header(), v);
        } else {
            // Traces take them for constants.
            self.constant_changed();
            f.native_upvalues()[i].set(v);
            self.barrier_forward(f.header(), v);
        }
    }
    /// Makes upvalue `i` of the Lua function `f` the variable that is upvalue `j` of the Lua function `g`.
    pub fn join_upvalues(&mut self, f: Gc<Func>, i: usize, g: Gc<Func>, j: usize) {
        if !core::mem::replace(&mut self.compiled.upvalues_joined, true) {
            // Until now, traces took two upvalues of a function for different variables.
            self.constant_changed();
        }
        let uv = g.upvalues()[j].get();
        self.upvalue_changes(f.upvalues()[i].get());
        f.upvalues()[i].set(uv);
        self.upvalue_changes(uv);
        self.barrier_forward(f.header(), Value::upval(uv));
    }
    /// Replaces the globals of the main coroutine.
    pub fn set_globals(&mut self, env: Gc<Table>) {
        self.set_thread_env(self.realm.main, env);
    }
    /// Replaces the globals of a coroutine.
    pub fn set_thread_env(&mut self, t: Gc<Thread>, env: Gc<Table>) {
        t.env.set(env);
        t.stack_changed();
        if t == self.realm.main {
            self.realm.globals = env;
        }
    }
    /// Sets or removes the metatable of a table or userdata, or that of the type of another value.
    pub fn set_metatable_of(&mut self, v: Value, mt: Option<Gc<Table>>) {
        if let Some(t) = v.as_table() {
            self.set_table_meta(t, mt);
        } else if let Some(u) = v.as_udata() {
            self.set_udata_meta(u, mt);
        } else {
            let before = self.realm.base_meta[v.type_index()];
            self.realm.base_meta[v.type_index()] = mt;
            if v.is_bool() {
                self.realm.base_meta[Value::TRUE.type_index()] = mt;
                self.realm.base_meta[Value::FALSE.type_index()] = mt;
            }
            if before != mt {
                self.constant_changed();
            }
        }
    }
}

/// `debug.getfenv(v)`
pub fn getfenv(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.check_any(0)?;
    let env = match (v.as_func(), v.as_udata(), v.as_thread()) {
        (Some(f), _, _) => Some(f.env.get()),
        (_, Some(u), _) => Some(u.env.get()),
        (_, _, Some(t)) => Some(t.env.get()),
        _ => None,
    };
    vm.ret1(env.map_or(Value::NIL, Value::table))
}

/// `debug.setfenv(v, env)`
pub fn setfenv(vm: &mut Vm) -> LuaResult<u32> {
    let env = vm.check_table(1)?;
    let v = vm.arg(0);
    if let Some(f) = v.as_func() {
        set_function_env(vm, f, env);
    } else if let Some(u) = v.as_udata() {
        u.env.set(env);
        vm.barrier_forward(u.header(), Value::table(env));
    } else if let Some(t) = v.as_thread() {
        vm.set_thread_env(t, env);
    } else {
        return Err(vm.rt_error("'setfenv' cannot change environment of given object"));
    }
    vm.ret1(v)
}

/// An optional coroutine as first argument, and the index of the next argument.
fn thread_arg(vm: &Vm) -> (Gc<Thread>, usize) {
    match vm.arg(0).as_thread() {
        Some(t) => (t, 1),
        None => (vm.cur, 0),
    }
}

/// A level given as a number, of which the lower 32 bits count; `None` if it is negative.
fn level_arg(v: Value) -> Option<usize> {
    usize::try_from(to_i64(v.as_number()?) as i32).ok()
}

/// The function that `getinfo` describes.
struct Subject {
    func: Gc<Func>,
    /// Its frame, if it was given by level.
    running: Option<(Gc<Thread>, usize, Option<u32>)>,
}

/// `debug.getinfo([thread,] f [, what])`
pub fn getinfo(vm: &mut Vm) -> LuaResult<u32> {
    let (thread, i) = thread_arg(vm);
    let what = vm.opt_str(i + 1)?;
    let what = what.as_ref().map_or(&b"flnSu"[..], |w| until_nul(w.bytes()));
    let v = vm.arg(i);
    let number = match v.as_str() {
        Some(s) => crate::meta::str_to_number(s),
        None => Some(v).filter(|v| v.is_number()),
    };
    let subject = if let Some(level) = number {
        let Some((n, l)) = level_arg(level).and_then(|n| Some((n, levels::at(vm, thread, n)?))) else {
            return vm.ret1(Value::NIL);
        };
        Subject { func: l.func, running: Some((thread, n, l.line)) }
    } else if let Some(func) = v.as_func() {
        Subject { func, running: None }
    } else {
        return Err(vm.arg_error(i, "function or level expected"));
    };
    if !what.iter().all(|c| b"SlunfL".contains(c)) {
        return Err(vm.arg_error(i + 1, "invalid option"));
    }
    let t = vm.new_table(0, 4);
    for c in what {
        put_info(vm, t, &subject, *c);
    }
    vm.ret1(Value::table(t))
}

/// Sets the fields that one option selects.
fn put_info(vm: &mut Vm, t: Gc<Table>, s: &Subject, option: u8) {
    match option {
        b'S' => put_source(vm, t, s.func),
        b'l' => {
            let line = s.running.and_then(|r| r.2).map_or(-1, i64::from);
            vm.set_field(t, b"currentline", Value::integer(line));
        }
        b'u' => {
            let (params, vararg) = s.func.proto().map_or((0, true), |p| (p.num_params() as i32, p.is_vararg()));
            vm.set_field(t, b"nups", Value::int(s.func.visible_upvalues() as i32));
            vm.set_field(t, b"nparams", Value::int(params));
            vm.set_field(t, b"isvararg", Value::bool(vararg));
        }
        b'n' => {
            let name = s.running.and_then(|(thread, level, _)| levels::name(vm, thread, level));
            let (kind, name) = name.map_or(("", None), |(kind, name)| (kind, Some(name)));
            let kind = vm.new_str(kind.as_bytes());
            vm.set_field(t, b"namewhat", Value::str(kind));
            if let Some(name) = name {
                let name = vm.new_str(&name);
                vm.set_field(t, b"name", Value::str(name));
            }
        }
        b'f' => vm.set_field(t, b"func", Value::func(s.func)),
        b'L' => {
            if let Some(lines) = vm.active_lines(s.func) {
                vm.set_field(t, b"activelines", Value::table(lines));
            }
        }
        _ => {}
    }
}

/// The definition of a function, as in `debug.getinfo`.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name of the chunk.
    pub source: Vec<u8>,
    /// The name as in error messages.
    pub short_src: Vec<u8>,
    /// "Lua", "C", or "main" for a whole chunk.
    pub what: &'static str,
    /// The first line; -1 if it is not known.
    pub first_line: i64,
    /// The last line; -1 if it is not known.
    pub last_line: i64,
}

impl Definition {
    /// The definition of a function.
    pub fn of(f: Gc<Func>) -> Definition {
        match f.proto() {
            Some(p) => Definition {
                source: p.chunkname.bytes().to_vec(),
                short_src: chunk_id(p.chunkname.bytes()),
                what: if p.is_main() { "main" } else { "Lua" },
                first_line: p.first_line.into(),
                last_line: p.last_line.into(),
            },
            None => {
                let (source, short_src, what) = match super::written_in_lua(f) {
                    Some(name) => (name.into(), format!("[builtin:{name}]").into_bytes(), "Lua"),
                    None => (b"=[C]".to_vec(), b"[C]".to_vec(), "C"),
                };
                Definition { source, short_src, what, first_line: -1, last_line: -1 }
            }
        }
    }
}

fn put_source(vm: &mut Vm, t: Gc<Table>, f: Gc<Func>) {
    let d = Definition::of(f);
    for (name, text) in [(&b"source"[..], &d.source[..]), (b"short_src", &d.short_src), (b"what", d.what.as_bytes())] {
        let text = vm.new_str(text);
        vm.set_field(t, name, Value::str(text));
    }
    vm.set_field(t, b"linedefined", Value::integer(d.first_line));
    vm.set_field(t, b"lastlinedefined", Value::integer(d.last_line));
}

/// `debug.getlocal([thread,] f, n)`
pub fn getlocal(vm: &mut Vm) -> LuaResult<u32> {
    let (thread, i) = thread_arg(vm);
    let n = vm.check_int(i + 1)?;
    if let Some(f) = vm.arg(i).as_func() {
        // For a function that does not run, only the names of the parameters are known.
        let name = f.proto().and_then(|p| {
            let slot = u32::try_from(n).ok()?.checked_sub(1)?;
            p.local_name(slot, 0).map(<[u8]>::to_vec)
        });
        return match name {
            Some(name) => vm.ret_str(&name),
            None => vm.ret1(Value::NIL),
        };
    }
    let level = check_level(vm, thread, i)?;
    match levels::local(vm, thread, level, n) {
        Some((name, v)) => {
            let name = vm.new_str(&name);
            vm.push(Value::str(name));
            vm.push(v);
            Ok(2)
        }
        None => vm.ret1(Value::NIL),
    }
}

/// A level that exists.
fn check_level(vm: &mut Vm, thread: Gc<Thread>, i: usize) -> LuaResult<usize> {
    let level = usize::try_from(vm.check_int(i)?).ok();
    match level.filter(|n| levels::at(vm, thread, *n).is_some()) {
        Some(n) => Ok(n),
        None => Err(vm.arg_error(i, "level out of range")),
    }
}

/// `debug.setlocal([thread,] level, n, v)`
pub fn setlocal(vm: &mut Vm) -> LuaResult<u32> {
    let (thread, i) = thread_arg(vm);
    let level = check_level(vm, thread, i)?;
    let v = vm.check_any(i + 2)?;
    let n = vm.check_int(i + 1)?;
    match levels::set_local(vm, thread, level, n, v) {
        Some(name) => vm.ret_str(&name),
        None => vm.ret1(Value::NIL),
    }
}

/// The index of the upvalue that arguments 1 and 2 select.
fn upvalue_index(f: Gc<Func>, n: i32) -> Option<usize> {
    let i = usize::try_from(n).ok()?.checked_sub(1)?;
    (i < f.visible_upvalues()).then_some(i)
}

/// The name of an upvalue; upvalues of builtins have none.
fn upvalue_name(f: Gc<Func>, i: usize) -> Vec<u8> {
    f.proto().and_then(|p| p.uv_names.get(i).map(|n| n.to_vec())).unwrap_or_default()
}

/// `debug.getupvalue(f, n)`
pub fn getupvalue(vm: &mut Vm) -> LuaResult<u32> {
    let n = vm.check_int(1)?;
    let f = vm.check_func(0)?;
    let Some(i) = upvalue_index(f, n) else { return Ok(0) };
    let v = if f.is_lua() { f.upvalues()[i].get().get() } else { f.native_upvalues()[i].get() };
    let name = vm.new_str(&upvalue_name(f, i));
    vm.push(Value::str(name));
    vm.push(v);
    Ok(2)
}

/// `debug.setupvalue(f, n, v)`
pub fn setupvalue(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.check_any(2)?;
    let n = vm.check_int(1)?;
    let f = vm.check_func(0)?;
    let Some(i) = upvalue_index(f, n) else { return Ok(0) };
    vm.set_upvalue(f, i, v);
    vm.ret_str(&upvalue_name(f, i))
}

/// A function and the index of one of its upvalues in arguments `i` and `i + 1`.
fn check_upvalue(vm: &mut Vm, i: usize, lua_only: bool) -> LuaResult<(Gc<Func>, usize)> {
    let f = vm.check_func(i)?;
    if lua_only && !f.is_lua() {
        return Err(vm.arg_error(i, "Lua function expected"));
    }
    let n = vm.check_int(i + 1)?;
    match upvalue_index(f, n) {
        Some(n) => Ok((f, n)),
        None => Err(vm.arg_error(i + 1, "index out of range")),
    }
}

/// `debug.upvalueid(f, n)`
pub fn upvalueid(vm: &mut Vm) -> LuaResult<u32> {
    let (f, i) = check_upvalue(vm, 0, false)?;
    let id = if f.is_lua() { f.upvalues()[i].get().addr() } else { core::ptr::from_ref(&f.native_upvalues()[i]).addr() as u64 };
    let id = vm.new_lightud(id)?;
    vm.ret1(id)
}

/// `debug.upvaluejoin(f1, n1, f2, n2)`
pub fn upvaluejoin(vm: &mut Vm) -> LuaResult<u32> {
    let (f, i) = check_upvalue(vm, 0, true)?;
    let (g, j) = check_upvalue(vm, 2, true)?;
    vm.join_upvalues(f, i, g, j);
    Ok(0)
}

/// The events and their letters in a mask.
const EVENTS: [(u8, u8); 3] = [(b'c', hook::CALL), (b'r', hook::RETURN), (b'l', hook::LINE)];

/// `debug.sethook([thread,] [hook, mask [, count]])`: the hook is the state's, not the coroutine's.
pub fn sethook(vm: &mut Vm) -> LuaResult<u32> {
    let (_, i) = thread_arg(vm);
    let mut f = vm.arg(i);
    let (mut mask, mut count) = (0, 0);
    if !f.is_nil() {
        let letters = vm.check_str(i + 1)?;
        vm.check_func(i)?;
        count = vm.opt_int(i + 2, 0)?.max(0);
        for (letter, event) in EVENTS {
            if letters.bytes().contains(&letter) {
                mask |= event;
            }
        }
        if count > 0 {
            mask |= hook::COUNT;
        }
    }
    if mask == 0 {
        f = Value::NIL;
    }
    let registry = vm.realm.registry;
    vm.set_field(registry, hook::FUNCTION, f);
    let last = last_position(vm).unwrap_or(core::ptr::null());
    vm.set_hook(mask, count, last);
    Ok(0)
}

/// The position after the caller's instruction, with which a first line event is compared. In LuaJIT this position is only known if it was
/// saved: by each instruction under a hook, and otherwise by instructions that allocate.
fn last_position(vm: &Vm) -> Option<*const Ins> {
    let caller = Level::running(vm)?.below()?;
    let (p, pc) = (caller.func.proto()?, caller.pc?);
    let saves = |i: &usize| p.ins(*i).is_some_and(|ins| matches!(ins.op(), Op::FNEW | Op::TNEW | Op::TDUP | Op::CAT));
    let saved = if vm.interp.hook.mask != 0 { pc } else { (0..pc).rev().find(saves)? };
    Some(p.code_ptr().wrapping_add(saved + 1).cast_const())
}

/// `debug.gethook([thread])`
pub fn gethook(vm: &mut Vm) -> LuaResult<u32> {
    let registry = vm.realm.registry;
    let f = vm.field(registry, hook::FUNCTION);
    let (mask, count) = (vm.interp.hook.mask, vm.interp.hook.count);
    let letters: Vec<u8> = EVENTS.iter().filter(|e| mask & e.1 != 0).map(|e| e.0).collect();
    let f = if vm.interp.hook.of_host { Value::str(vm.new_str(b"external hook")) } else { f };
    vm.push(f);
    let letters = vm.new_str(&letters);
    vm.push(Value::str(letters));
    vm.push(Value::int(count));
    Ok(3)
}

/// `debug.debug()`: runs lines from standard input until `cont`.
pub fn debug(vm: &mut Vm) -> LuaResult<u32> {
    loop {
        super::io::write_stderr(b"lua_debug> ");
        let mut line = Vec::new();
        if !super::io::read_line_stdin(vm, &mut line) || line == b"cont\n" {
            return Ok(0);
        }
        let result = match vm.load_chunk(&line, b"=(debug command)", None) {
            Ok(f) => vm.call1(Value::func(f), &[]).map_err(|_| vm.errors.value),
            Err(message) => Err(Value::str(message)),
        };
        if let Err(e) = result {
            let mut text = Vec::new();
            match e.as_str() {
                Some(s) => text.extend_from_slice(s.bytes()),
                None => text.extend_from_slice(b"(error object is not a string)"),
            }
            text.push(b'\n');
            super::io::write_stderr(&text);
        }
    }
}

/// `debug.traceback([thread,] [message [, level]])`
pub fn traceback(vm: &mut Vm) -> LuaResult<u32> {
    let (thread, i) = thread_arg(vm);
    let v = vm.arg(i);
    if !v.is_str() && !v.is_number() && vm.nargs() > i {
        return vm.ret1(v);
    }
    let message = vm.opt_str(i)?;
    let default = i32::from(thread == vm.cur);
    // There is no function at a negative level.
    let level = usize::try_from(vm.opt_int(i + 1, default)?).unwrap_or(usize::MAX);
    let text = super::traceback::traceback(vm, thread, message.as_ref().map(|m| m.bytes()), level);
    vm.ret_str(&text)
}
