//! Class libraries of every style, and objects of several classes in one loop.

use super::Grammar;
use crate::program::Node;

/// Ways of making classes. In each, `make(x)` makes an object with a number `x` and the methods `get(n)` and `set(n)`.
const STYLES: u32 = 10;

impl Grammar {
    /// Objects of one to four classes; loops over them, in which methods may be replaced.
    pub(super) fn scene_objects(&mut self, out: &mut Vec<Node>) {
        let rounds = *self.choose(&[1, 2, 3, 4, 6]);
        let count = *self.choose(&[2, 3, 5, 8]);
        if !self.affords(rounds * count * 12) {
            return;
        }
        self.cost += self.weight * rounds * count * 12;
        let nodes = self.in_called(false, 1, |g| g.objects(rounds, count));
        out.push(Node::block("P(pcall(function()", nodes, "end))"));
    }

    fn objects(&mut self, rounds: u64, count: u64) -> Vec<Node> {
        let mut nodes = Vec::new();
        let classes = self.rng.u64(1..=4);
        nodes.push(Node::line("local makers, objs = {}, {}"));
        for i in 1..=classes {
            let mut class = Vec::new();
            self.class_of_style(&mut class);
            class.push(Node::line(format!("makers[{i}] = make")));
            nodes.push(Node::block("do", class, "end"));
        }
        nodes.push(Node::line(format!("for i = 1, {count} do objs[i] = makers[i % {classes} + 1](i) end")));
        let mut uses = vec![Node::line("local o = objs[i]")];
        for _ in 0..self.rng.u32(1..4) {
            uses.push(Node::line(self.use_of_object()));
        }
        if self.chance(30) {
            uses.extend(self.in_loop(rounds * count, None, |g| g.body(1)));
        }
        let mut turn = vec![Node::block(format!("for i = 1, {count} do"), uses, "end")];
        if self.chance(50) {
            let when = self.rng.u64(1..=rounds);
            let what = self.change_of_class();
            turn.push(Node::line(format!("if r == {when} then local o = objs[{}] {what} end", self.rng.u64(1..=count))));
        }
        nodes.push(Node::block(format!("for r = 1, {rounds} do"), turn, "end"));
        nodes
    }

    /// What is done with the object `o` in the rounds `r`.
    fn use_of_object(&mut self) -> String {
        let n = self.number(2);
        match self.rng.u32(0..14) {
            0..=3 => format!("C(o:get({n}))"),
            4..=5 => "o:set(r + i)".into(),
            6 => "o.x = N(o.x) + 1".into(),
            7 => "C(o.x)".into(),
            8 => format!("local ok, v = pcall(o.get, o, {n}) C(v)"),
            9 => "local ok, v = pcall(function() return o + o end) C(ok) C(type(v) == \"table\" and v.x)".into(),
            10 => "local ok, v = pcall(function() return o.none, o.get == objs[1].get, o == objs[1] end) C(ok) C(v)".into(),
            11 => "o:set(o:get(1))".into(),
            12 => "local m = \"get\" C(o[m](o, r))".into(),
            _ => "if r % 2 == 0 then objs[i] = makers[1](r) end".into(),
        }
    }

    /// What is done to the class of `o` while methods are hot.
    fn change_of_class(&mut self) -> String {
        let n = self.number(2);
        match self.rng.u32(0..8) {
            0..=1 => format!("local m = getmetatable(o) if m and type(m.__index) == \"table\" then m.__index.get = function(self, n) return N(n) + {n} end end"),
            2 => format!("o.get = function(self, n) return {n} end"),
            3 => "local m = getmetatable(o) if m then local old = m.__index m.__index = function(t, k) if type(old) == \"function\" then return old(t, k) end return old[k] end end".into(),
            4 => "setmetatable(o, {__index = {get = function(self, n) return 3 end, set = function() end}})".into(),
            5 => "local m = getmetatable(o) if m then m.__newindex = function(t, k, v) rawset(t, k, N(v) + 1) end o.x = nil end".into(),
            6 => "local m = getmetatable(o) if m then m.__add = function(a, b) return {x = 5} end end".into(),
            _ => "for k = 1, 20 do o[\"f\" .. k] = k end".into(),
        }
    }

    /// Statements that define `make`.
    fn class_of_style(&mut self, out: &mut Vec<Node>) {
        let style = self.rng.u32(0..STYLES);
        let n = self.number(2);
        let get = format!("function(self, n) return N(self.x) + N(n) * {n} end");
        let set = "function(self, n) self.x = N(n) % 1000 end".to_owned();
        let lines: Vec<String> = match style {
            // A metatable for each object.
            0 => vec![format!("local function make(x) return setmetatable({{x = x}}, {{__index = {{get = {get}, set = {set}}}}}) end")],
            // One for each class, which is its own __index.
            1 => vec![
                "local Class = {} Class.__index = Class".into(),
                format!("Class.get = {get} Class.set = {set}"),
                "Class.__add = function(a, b) return setmetatable({x = N(a.x) + N(b.x)}, Class) end".into(),
                "local function make(x) return setmetatable({x = x}, Class) end".into(),
            ],
            2 => self.chain(&get, &set),
            // Closures as objects.
            3 => vec![format!(
                "local function make(x) local self = {{x = x}} function self.get(_, n) x = N(x) + 1 return x + N(n) end function self.set(_, n) x = N(n) % 1000 self.x = x end return self end"
            )],
            // A mixin copied into a class.
            4 => vec![
                format!("local Mixin = {{get = {get}, set = {set}, more = function() return 1 end}}"),
                "local Class = {} for k, v in pairs(Mixin) do Class[k] = v end Class.__index = Class".into(),
                "local function make(x) local o = setmetatable({}, Class) o.x = x return o end".into(),
            ],
            5 => middleclass(&get, &set),
            6 => thirty_lines(&get, &set),
            // Methods found by a function.
            7 => vec![
                format!("local methods = {{get = {get}, set = {set}}}"),
                "local mt = {__index = function(t, k) return methods[k] or rawget(t, \"y\") end}".into(),
                "local function make(x) return setmetatable({x = x, y = 1}, mt) end".into(),
            ],
            // Fields kept elsewhere: a proxy.
            8 => vec![
                format!("local methods = {{get = {get}, set = {set}}}"),
                "local function make(x) local store = {x = x} return setmetatable({}, {__index = function(_, k) local v = store[k] if v == nil then return methods[k] end return v end, __newindex = function(_, k, v) store[k] = v end}) end".into(),
            ],
            // Inheritance with calls of the method of the base.
            _ => vec![
                format!("local Base = {{}} Base.__index = Base Base.get = {get} Base.set = {set}"),
                "local Class = setmetatable({}, Base) Class.__index = Class".into(),
                "function Class:get(n) return Base.get(self, n) + 1 end function Class:set(...) return Base.set(self, ...) end".into(),
                "local function make(x) return setmetatable({x = x}, Class) end".into(),
            ],
        };
        out.extend(lines.into_iter().map(Node::line));
    }

    /// A chain of __index, of tables and functions.
    fn chain(&mut self, get: &str, set: &str) -> Vec<String> {
        let mut lines = vec![format!("local Class0 = {{get = {get}, set = {set}}}")];
        let levels = self.rng.u32(1..8);
        for i in 1..=levels {
            let below = i - 1;
            lines.push(match self.rng.u32(0..5) {
                0 => format!("local Class{i} = setmetatable({{}}, {{__index = function(t, k) return Class{below}[k] end}})"),
                1 => format!("local Class{i} = setmetatable({{set = {set}}}, {{__index = Class{below}}})"),
                2 => format!("local Class{i} = setmetatable({{}}, {{__index = Class{below}, __newindex = Class{below}}})"),
                _ => format!("local Class{i} = setmetatable({{}}, {{__index = Class{below}}})"),
            });
        }
        lines.push(format!("local mt = {{__index = Class{levels}}}"));
        lines.push("local function make(x) return setmetatable({x = x}, mt) end".into());
        lines
    }
}

/// As middleclass does it: dictionaries of instances that take over what their base gets.
fn middleclass(get: &str, set: &str) -> Vec<String> {
    vec![
        "local function index_of(class, f) if f == nil then return class.dict end return function(self, name) local v = class.dict[name] if v ~= nil then return v end if type(f) == \"function\" then return f(self, name) end return f[name] end end".into(),
        "local function spread(class, name, f) f = name == \"__index\" and index_of(class, f) or f class.dict[name] = f for i = 1, #class.subs do local sub = class.subs[i] if rawget(sub.declared, name) == nil then spread(sub, name, f) end end end".into(),
        "local function declare(class, name, f) class.declared[name] = f if f == nil and class.super then f = class.super.dict[name] end spread(class, name, f) end".into(),
        "local function create(super) local dict = {} dict.__index = dict local class = {super = super, dict = dict, declared = {}, subs = {}, static = {}} setmetatable(class.static, {__index = function(_, k) local v = rawget(dict, k) if v == nil and super then return super.static[k] end return v end}) return setmetatable(class, {__index = class.static, __call = function(self, ...) return self:new(...) end, __newindex = declare}) end".into(),
        "local Base = create() function Base.static:new(...) local o = setmetatable({class = self}, self.dict) o:initialize(...) return o end".into(),
        format!("function Base:initialize(x) self.x = x end Base.get = {get} Base.set = {set}"),
        "local Sub = create(Base) for k, f in pairs(Base.dict) do if k ~= \"__index\" then spread(Sub, k, f) end end Base.subs[1] = Sub".into(),
        "function Sub:initialize(...) Base.initialize(self, ...) self.y = 2 end".into(),
        "local turn = 0 local function make(x) turn = turn + 1 if turn % 2 == 0 then return Base(x) end return Sub(x) end".into(),
    ]
}

/// As 30log does it: a class is copied into those that extend it.
fn thirty_lines(get: &str, set: &str) -> Vec<String> {
    vec![
        "local function copy(from) local t = {} for k, v in pairs(from) do t[k] = v end return t end".into(),
        "local function class(fields) local c = copy(fields) c.__index = c c.extend = function(self, more) local sub = copy(self) for k, v in pairs(more) do sub[k] = v end sub.super = self sub.__index = sub return setmetatable(sub, getmetatable(self)) end return setmetatable(c, {__call = function(self, ...) local o = setmetatable({}, self) if self.init then self.init(o, ...) end return o end}) end".into(),
        format!("local Base = class({{x = 0, get = {get}, set = {set}}})"),
        "local Sub = Base:extend({init = function(self, x) self.x = x end})".into(),
        "local function make(x) local o = x % 2 == 0 and Sub(x) or Base(x) o.x = x return o end".into(),
    ]
}
