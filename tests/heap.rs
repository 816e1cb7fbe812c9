//! Heap dumps and snapshots say what is on the heap; looking at a state changes nothing.

use perilune::Lua;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

fn dump(lua: &Lua) -> Value {
    let mut out = Vec::new();
    lua.dump_heap(&mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// A snapshot: nodes as (type, name, id, size), edges as (type, name, target) by node.
struct Snapshot {
    nodes: Vec<(u64, String, u64, u64)>,
    edges: Vec<Vec<(u64, String, usize)>>,
}

fn snapshot(lua: &Lua) -> Snapshot {
    let mut out = Vec::new();
    lua.snapshot_heap(&mut out).unwrap();
    let s: Value = serde_json::from_slice(&out).unwrap();
    let numbers = |name: &str| s[name].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>();
    let (flat, flat_edges) = (numbers("nodes"), numbers("edges"));
    let string = |n: u64| s["strings"][n as usize].as_str().unwrap().to_owned();
    let nodes: Vec<_> = flat.chunks(7).map(|n| (n[0], string(n[1]), n[2], n[3])).collect();
    assert_eq!(s["snapshot"]["node_count"], nodes.len());
    assert_eq!(s["snapshot"]["edge_count"], flat_edges.len() / 3);
    let mut rest = flat_edges.chunks(3);
    let edge = |e: &[u64]| {
        assert_eq!(e[2] % 7, 0);
        (e[0], if e[0] == 1 { e[1].to_string() } else { string(e[1]) }, e[2] as usize / 7)
    };
    let edges = flat.chunks(7).map(|n| rest.by_ref().take(n[4] as usize).map(edge).collect()).collect();
    assert!(rest.next().is_none());
    Snapshot { nodes, edges }
}

impl Snapshot {
    /// The nodes that are reached from the first by edges that keep alive.
    fn reached(&self) -> HashSet<usize> {
        let mut seen = HashSet::from([0]);
        let mut work = vec![0];
        while let Some(n) = work.pop() {
            for (kind, _, to) in &self.edges[n] {
                if *kind != WEAK && seen.insert(*to) {
                    work.push(*to);
                }
            }
        }
        seen
    }
    /// Where a path of edges leads, from the globals.
    fn follow(&self, path: &[&str]) -> usize {
        let mut at = self.nodes.iter().position(|n| n.1 == "globals").unwrap();
        for name in path {
            at = self.edges[at]
                .iter()
                .find(|e| e.1 == *name)
                .unwrap_or_else(|| panic!("{name} of {path:?}: {:?}", self.edges[at]))
                .2;
        }
        at
    }
}

const WEAK: u64 = 6;
/// Types of nodes.
const OBJECT: u64 = 3;
const NUMBER: u64 = 7;

const PROGRAM: &str = "
    Account = {__name = 'bank account'} Account.__index = Account
    local count = 0
    function open(n) count = count + 1 return setmetatable({id = n, list = {n, {n}}}, Account) end
    all = {} for i = 1, 300 do all[i] = open(i) end
    odd = {[1.5] = {}, [true] = {}, [-3] = {}, [all] = {}}
    weak = setmetatable({all[1], key = all[2]}, {__mode = 'v'})
    ephemeral = setmetatable({[all[3]] = 1}, {__mode = 'k'})
    waiting = coroutine.create(function(n) local held = {n} coroutine.yield() return held end)
    coroutine.resume(waiting, 1)
    text = 'a \"quoted\" \\\\ text\\n\\0\\255'
    large = ('x'):rep(100000) .. 'y'
    function touch() for i = 1, 3000 do all[i % 300 + 1].list[1] = i end end for i = 1, 10 do touch() end
";

/// Cdata: in tables, in a variable, with finalizers, made by compiled code.
const CDATA: &str = "
    local ffi = require 'ffi'
    local point = ffi.metatype('struct { double x, y; }', { __index = { zero = {} }, __gc = function() end })
    points, boxes = {}, {}
    for i = 1, 3000 do points[i % 300 + 1] = point(i, 1) boxes[i % 300 + 1] = 1LL * i end
    for i = 1, 300 do boxes[i] = ffi.gc(ffi.new('int[?]', i), function() return { i } end) end
    large = ffi.new('char[100000]')
    -- The first collection calls finalizers, the second one frees what had them.
    collectgarbage() collectgarbage()
";

/// A state with cdata on its heap besides.
fn state_with_cdata() -> Lua {
    // SAFETY: the programs use no pointers.
    let lua = run(unsafe { Lua::unsafe_new() });
    lua.load(CDATA).set_name("@cdata.lua").exec().unwrap();
    lua
}

fn state() -> Lua {
    run(Lua::new())
}

fn run(lua: Lua) -> Lua {
    // Short loops are to be compiled.
    lua.jit_option("budget=0").unwrap();
    lua.load(PROGRAM).set_name("@program.lua").exec().unwrap();
    lua
}

#[test]
fn a_dump_has_every_object_and_no_other() {
    check_dump(&state());
    let lua = state_with_cdata();
    check_dump(&lua);
    let cdata = lua.heap_walk().buckets.into_iter().find(|b| b.type_name == "cdata").unwrap();
    assert!(cdata.count >= 601 && cdata.bytes > 100_000 + 4 * 300 * 150, "{cdata:?}");
}

fn check_dump(lua: &Lua) {
    let d = dump(lua);
    let objects = d["objects"].as_object().unwrap();
    assert_eq!(d["stats"]["size"], lua.used_memory());
    assert_eq!(objects.len(), lua.heap_walk().total_objects);
    let mut references = 0;
    let mut check = |v: &Value| {
        if let Some(address) = v.as_str() {
            assert!(objects.contains_key(address), "{address} is not there");
            references += 1;
        }
    };
    for o in objects.values() {
        for list in ["pairs", "array", "upvalues", "constants", "protos", "stack"] {
            o[list].as_array().into_iter().flatten().for_each(&mut check);
        }
        for one in ["metatable", "env", "proto", "object", "resumer", "anchor", "chunkname"] {
            check(&o[one]);
        }
        assert_eq!(o["stack"].as_array().map(Vec::len), o["stacknames"].as_array().map(Vec::len));
    }
    d["roots"].as_object().unwrap().values().for_each(&mut check);
    d["otherroots"].as_array().unwrap().iter().for_each(&mut check);
    assert!(references > 2000);
    assert_eq!(objects[d["roots"]["mainthread"].as_str().unwrap()]["type"], "thread");
    let mut kinds: HashMap<&str, (usize, u64)> = HashMap::new();
    for o in objects.values() {
        let k = kinds.entry(o["type"].as_str().unwrap()).or_default();
        *k = (k.0 + 1, k.1 + o["size"].as_u64().unwrap());
    }
    for b in lua.heap_walk().buckets {
        assert_eq!(kinds[b.type_name], (b.count, b.bytes as u64), "{}", b.type_name);
    }
    let texts: HashSet<&str> = objects.values().filter_map(|o| o["data"].as_str()).collect();
    assert!(texts.contains("a \"quoted\" \\ text\n\0?"));
    let locals = objects.values().flat_map(|o| o["stacknames"].as_array().into_iter().flatten()).filter_map(Value::as_str);
    assert!(locals.clone().any(|n| n == "held") && locals.clone().any(|n| n.starts_with("frame:@program.lua:9:")));
}

#[test]
fn all_objects_of_a_snapshot_are_reachable_from_its_root() {
    check_snapshot(&state());
    check_snapshot(&state_with_cdata());
}

fn check_snapshot(lua: &Lua) {
    let s = snapshot(lua);
    let objects = lua.heap_walk().total_objects;
    let traces = s.nodes.iter().filter(|n| n.1.starts_with("trace ")).count();
    let values = s.nodes.iter().filter(|n| n.0 == NUMBER).count();
    assert_eq!(s.nodes.len(), 1 + objects + traces + values);
    assert!(traces > 0, "compiled code keeps objects alive");
    let code: u64 = s.nodes.iter().filter(|n| n.1.starts_with("trace ")).map(|n| n.3).sum();
    assert_eq!(s.nodes.iter().map(|n| n.3).sum::<u64>() - code, lua.used_memory() as u64);
    let reached = s.reached();
    let lost: Vec<_> = (0..s.nodes.len()).filter(|n| !reached.contains(n)).map(|n| &s.nodes[n]).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let ids: HashSet<u64> = s.nodes.iter().map(|n| n.2).collect();
    assert_eq!(ids.len(), s.nodes.len(), "ids are unique");
    assert!(ids.iter().all(|id| *id <= u64::from(u32::MAX)));
}

#[test]
fn names_are_those_of_the_program() {
    let lua = state();
    let s = snapshot(&lua);
    assert_eq!(s.nodes.iter().filter(|n| (n.0, n.1.as_str()) == (3, "bank account")).count(), 300);
    let name = |path: &[&str]| s.nodes[s.follow(path)].1.clone();
    assert_eq!(name(&["all", "7", "list"]), "array");
    assert_eq!(name(&["open"]), "open program.lua:4");
    assert_eq!(name(&["open", "count"]), "upvalue");
    assert_eq!(name(&["waiting"]), "thread at program.lua:9");
    assert_eq!(name(&["waiting", "held"]), "array");
    assert_eq!(name(&["string", "rep"]), "builtin string.rep");
    for key in ["[1.5]", "[true]", "[-3]"] {
        assert_eq!(name(&["odd", key]), "table");
    }
    assert_eq!(s.nodes[s.follow(&["large"])].1.len(), 1024);
    let weak = &s.edges[s.follow(&["weak"])];
    assert_eq!(weak.iter().filter(|e| e.0 == WEAK).count(), 2, "{weak:?}");
    let ephemeral = &s.edges[s.follow(&["ephemeral"])];
    assert_eq!(ephemeral.iter().filter(|e| e.0 == WEAK).count(), 1, "{ephemeral:?}");
}

#[test]
fn an_object_has_the_same_id_in_each_snapshot() {
    let lua = state();
    let before = snapshot(&lua);
    lua.load("for i = 301, 400 do all[i] = open(i) end for i = 1, 50 do all[i] = false end").exec().unwrap();
    let after = snapshot(&lua);
    for i in [51, 200, 300] {
        let id = |s: &Snapshot| s.nodes[s.follow(&["all", &i.to_string()])].2;
        assert_eq!(id(&before), id(&after));
    }
}

#[test]
fn an_object_never_has_the_id_of_another() {
    let lua = Lua::new();
    let make = "kept = {} for i = 1, 1500 do kept[i] = setmetatable({i}, {__name = 'made'}) end";
    lua.load(make).exec().unwrap();
    let ids = |s: &Snapshot| s.nodes.iter().filter(|n| n.0 == OBJECT && n.1 == "made").map(|n| n.2).collect::<HashSet<_>>();
    let first = ids(&snapshot(&lua));
    // The memory of 500 dead objects is used by others; DevTools calls what has a higher odd id "allocated since".
    lua.load("for i = 1, 500 do kept[i] = false end collectgarbage() for i = 1501, 3500 do kept[i] = setmetatable({i}, {__name = 'made'}) end")
        .exec()
        .unwrap();
    let second = ids(&snapshot(&lua));
    assert_eq!((first.len(), second.difference(&first).count(), first.difference(&second).count()), (1500, 2000, 500));
    let highest = first.iter().max().unwrap();
    assert!(second.difference(&first).all(|id| id > highest && id % 2 == 1));
    let third = ids(&snapshot(&lua));
    assert_eq!(second, third, "nothing has changed");
}

#[test]
fn lists_are_objects_of_their_own() {
    let lua = Lua::new();
    lua.load("leak = {} for i = 1, 5000 do leak[i] = {i, i, i} end").exec().unwrap();
    let s = snapshot(&lua);
    let lists = s.nodes.iter().filter(|n| (n.0, &*n.1) == (OBJECT, "array") && n.3 > 0);
    assert!(lists.count() >= 5000);
    assert!(s.nodes.iter().all(|n| n.0 != 1), "the developer tools fold nodes of the type of arrays into their owners");
}

#[test]
fn classes_have_the_names_of_local_variables() {
    let lua = Lua::new();
    let program = "
        local Task = {} Task.__index = Task
        function Task.new() return setmetatable({state = 'new'}, Task) end
        local methods = {}
        function define() local Stack = {} Stack.__index = Stack function Stack:push() end methods.one = setmetatable({}, Stack) end
        define()
        function methods.stack() return setmetatable({}, getmetatable(methods.one)) end
        tasks = {} for i = 1, 7 do tasks[i] = Task.new() end
        stacks = {} for i = 1, 5 do stacks[i] = methods.stack() end
        waiting = coroutine.create(function() local Held = {} held = {setmetatable({}, Held), setmetatable({}, Held)}
            coroutine.yield() return Held end)
        coroutine.resume(waiting)";
    lua.load(program).exec().unwrap();
    let s = snapshot(&lua);
    let count = |name: &str| s.nodes.iter().filter(|n| (n.0, &*n.1) == (OBJECT, name)).count();
    // By an upvalue; by a method, as no function has the variable any more; by a local variable of a coroutine.
    assert_eq!((count("Task"), count("Stack"), count("Held")), (7, 6, 2));
}

#[test]
fn numbers_and_booleans_are_seen_in_objects() {
    let lua = Lua::new();
    let program = "
        local hits = 41
        function hit() hits = hits + 1 end
        account = {balance = 12.5, open = true, closed = false, [7] = 8, history = {1, 2, 3}}
        big = {} for i = 1, 5000 do big[i] = i end
        hit()";
    lua.load(program).exec().unwrap();
    let s = snapshot(&lua);
    let value = |path: &[&str]| {
        let n = &s.nodes[s.follow(path)];
        assert_eq!((n.0, n.3), (NUMBER, 0), "{path:?}");
        n.1.clone()
    };
    assert_eq!(value(&["account", "balance"]), "12.5");
    assert_eq!((value(&["account", "open"]), value(&["account", "closed"])), ("true".into(), "false".into()));
    assert_eq!(value(&["account", "[7]"]), "8");
    assert_eq!(value(&["account", "history", "2"]), "2");
    assert_eq!(value(&["hit", "hits", "value"]), "42");
    let shown = s.edges[s.follow(&["big"])].len();
    assert!((90..=110).contains(&shown), "a large array shows its beginning: {shown}");
}

#[test]
fn a_dump_does_not_say_that_weak_tables_hold_their_values() {
    let lua = Lua::new();
    let program = "
        kept = {} for i = 1, 10 do kept[i] = {} end
        cache = setmetatable({__name = 'text', kept[1], kept[2], key = kept[3]}, {__mode = 'v'})
        of = setmetatable({[kept[4]] = kept[5]}, {__mode = 'k'})";
    lua.load(program).exec().unwrap();
    let d = dump(&lua);
    let objects = d["objects"].as_object().unwrap();
    let field = |t: &Value, name: &str| {
        let pairs: Vec<&Value> = t["pairs"].as_array().unwrap().iter().collect();
        let key = |k: &Value| k.as_str().is_some_and(|k| objects[k]["data"] == name);
        pairs.chunks(2).find(|p| key(p[0])).map(|p| p[1].clone())
    };
    let globals =
        objects.values().find(|o| o["type"] == "table" && o["pairs"].is_array() && field(o, "cache").is_some()).unwrap();
    let global = |name: &str| &objects[field(globals, name).unwrap().as_str().unwrap()];
    let (cache, of) = (global("cache"), global("of"));
    assert!(cache["array"].is_null(), "{cache}");
    assert_eq!(field(cache, "key"), Some(Value::Null));
    assert!(field(cache, "__name").unwrap().is_string(), "strings are kept");
    let pairs = of["pairs"].as_array().unwrap();
    assert!(pairs.len() == 2 && pairs[0].is_null() && pairs[1].is_string(), "{of}");
    assert_eq!(global("kept")["array"].as_array().unwrap().len(), 10);
}

#[test]
fn lua_writes_both_files_anywhere() {
    let folder = std::env::temp_dir().join(format!("perilune-heap-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let lua = Lua::new();
    lua.load("require 'misc'").exec().unwrap();
    lua.globals().set("folder", folder.to_str().unwrap()).unwrap();
    let program = "
        local n = 0
        local function both() n = n + 1
            assert(misc.heapdump(folder .. '/' .. n .. '.json')) assert(misc.heapsnapshot(folder .. '/' .. n .. '.heapsnapshot'))
        end
        both()
        coroutine.wrap(both)()
        getmetatable(newproxy(true)).__gc = both
        collectgarbage() collectgarbage()
        assert(n == 3)
        for i = 1, 300 do if i > 298 then both() end end
        string.gsub('x', 'x', both)
        return n";
    assert_eq!(lua.load(program).eval::<i32>().unwrap(), 6);
    for i in 1..=6 {
        for kind in ["json", "heapsnapshot"] {
            let text = std::fs::read(folder.join(format!("{i}.{kind}"))).unwrap();
            serde_json::from_slice::<Value>(&text).unwrap();
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn frames_are_those_of_lua_deepest_last() {
    let lua = Lua::new();
    let frames = lua
        .create_function(|lua, ()| {
            let list = lua.frames_for_profile();
            Ok(list.iter().map(|f| format!("{}:{}:{}", f.source, f.line, f.line_defined)).collect::<Vec<_>>().join(" "))
        })
        .unwrap();
    lua.globals().set("frames", frames).unwrap();
    let program = "local function inner()\nreturn (frames())\nend\nlocal co = coroutine.wrap(function()\nlocal ok, f = pcall(inner)\n\
        return f\nend)\nlocal all\nlocal t = setmetatable({}, {__index = function() all = co() end})\nlocal _ = t.x\nreturn all";
    let text: String = lua.load(program).set_name("@p").eval().unwrap();
    assert_eq!(text, "@p:10:0 @p:9:9 @p:5:4 @p:2:1");
    assert!(lua.frames_for_profile().is_empty());
}

#[test]
fn the_state_of_the_compiler_is_seen_while_it_records() {
    let lua = Lua::new();
    let before = lua.jit_state_snapshot();
    assert!(before.enabled && before.trace_enabled && before.active_trace_len.is_none());
    assert_eq!((before.trace_closed_count, before.trace_aborted_count, before.trace_compiled_count), (0, 0, 0));
    lua.jit_option("budget=0").unwrap();
    let look = lua.create_function(|lua, ()| {
        let s = lua.jit_state_snapshot();
        Ok(s.active_trace_head.map(|(source, line)| format!("{source}:{line} {}", s.active_trace_len.unwrap_or(0) > 0)))
    });
    lua.globals().set("look", look.unwrap()).unwrap();
    let program = "local seen\njit.attach(function() seen = look() or seen end, 'record')\nlocal s = 0\nfor i = 1, 20000 do\ns = s + i\nend\n\
        jit.attach(function() end)\nreturn seen";
    assert_eq!(lua.load(program).set_name("@p").eval::<String>().unwrap(), "@p:4 true");
    let after = lua.jit_state_snapshot();
    assert!(after.trace_closed_count > 0 && after.trace_compiled_count > 0 && after.trace_dispatched_count > 0);
    lua.set_jit(false);
    assert!(!lua.jit_state_snapshot().trace_enabled);
}

#[test]
fn metrics_are_those_of_the_heap() {
    let lua = state();
    lua.load("require 'misc'").exec().unwrap();
    lua.gc_collect().expect("a collection");
    let m = lua.metrics();
    let walk = lua.heap_walk();
    let count = |kind: &str| walk.buckets.iter().find(|b| b.type_name == kind).map_or(0, |b| b.count as u64);
    assert_eq!((m.gc_strnum, m.gc_tabnum, m.gc_udatanum), (count("string"), count("table"), count("userdata")));
    assert_eq!((m.gc_total, m.gc_allocated - m.gc_freed), (lua.used_memory() as u64, lua.used_memory() as u64));
    let steps = "local a = misc.getmetrics() collectgarbage() local b = misc.getmetrics()
        local function d(k) return b['gc_steps_' .. k] - a['gc_steps_' .. k] end
        assert(d'propagate' >= 1 and d'sweep' >= 1 and d'sweepstring' >= 1)
        return d'pause', d'atomic', d'finalize'";
    assert_eq!(lua.load(steps).eval::<(i32, i32, i32)>().unwrap(), (1, 1, 0));
    let strings =
        "local a = misc.getmetrics() local b = misc.getmetrics() local _ = 'str' .. 'hash_hit' local c = misc.getmetrics()
        local _ = 'brand new ' .. 'string' local d = misc.getmetrics()
        return b.strhash_hit - a.strhash_hit, b.strhash_miss - a.strhash_miss, d.strhash_miss - c.strhash_miss, 'strhash_hit',
            c.strhash_hit - b.strhash_hit";
    assert_eq!(lua.load(strings).eval::<(i32, i32, i32, String, i32)>().unwrap(), (19, 0, 1, "strhash_hit".into(), 20));
    let traces =
        "jit.flush() collectgarbage() local a = misc.getmetrics() for i = 1, 20000 do local x = i end return a.jit_trace_num,
        a.jit_mcode_size, misc.getmetrics().jit_trace_num";
    assert_eq!(lua.load(traces).eval::<(i32, i32, i32)>().unwrap(), (0, 0, 1));
}

#[test]
fn stops_for_the_collector_are_counted() {
    let lua = state();
    let source = "local misc = require 'misc'
        for i = 1, 1e5 do local t = { i } end
        local p, n = misc.getpauses(), 0
        for _, some in ipairs(p.lengths) do n = n + some end
        assert(p.count > 0 and p.longest <= p.total and n == p.count)
        return n";
    let n: u64 = lua.load(source).eval().unwrap();
    let p = lua.gc_pauses();
    assert!(p.count >= n && p.by_length.iter().sum::<u64>() == p.count);
}

#[test]
fn a_writer_may_fail_at_any_byte() {
    let lua = state();
    type Write = fn(&Lua, &mut dyn std::io::Write) -> std::io::Result<()>;
    for write in [Lua::dump_heap as Write, Lua::snapshot_heap] {
        let mut whole = Vec::new();
        write(&lua, &mut whole).unwrap();
        for end in (0..whole.len()).step_by(whole.len() / 100).chain([whole.len() - 1]) {
            let mut room = vec![0; end];
            write(&lua, &mut &mut room[..]).unwrap_err();
        }
        let mut again = Vec::new();
        write(&lua, &mut again).unwrap();
        assert_eq!(again.len(), whole.len());
    }
    assert_eq!(lua.heap_walk().total_bytes, lua.used_memory());
}
