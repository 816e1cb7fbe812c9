//! The events of a profile added up by place, the way Tarantool's parser does it.

use perilune_observe::stream::read::{Event, Location, Memory, Symbol};
use std::collections::{BTreeMap, HashMap};

/// Number of a place. Places of one name are different if they are in different functions.
pub type PlaceId = usize;

/// What happened to memory that an earlier event had allocated.
#[derive(Copy, Clone, Default, Debug)]
pub struct Owned {
    /// Bytes that it has now.
    pub allocated: u64,
    /// Bytes that it had.
    pub freed: u64,
    /// Events.
    pub count: u64,
}

/// The events of one kind at one place.
#[derive(Clone, Default, Debug)]
pub struct Events {
    /// How many.
    pub count: u64,
    /// Bytes allocated.
    pub allocated: u64,
    /// Bytes freed.
    pub freed: u64,
    /// Whose memory it was, by the place that had allocated it.
    pub overrides: BTreeMap<PlaceId, Owned>,
}

/// What a place holds at the end.
#[derive(Copy, Clone, Default, Debug)]
pub struct Held {
    /// Bytes allocated less bytes freed. Negative if there was memory from before.
    pub bytes: i128,
    /// Allocations.
    pub allocs: u64,
    /// Frees of what was allocated there.
    pub frees: u64,
}

/// Events by place.
pub type ByPlace = BTreeMap<PlaceId, Events>;

/// A profile.
#[derive(Default)]
pub struct Profile {
    /// Allocations.
    pub allocs: ByPlace,
    /// Changes of size.
    pub reallocs: ByPlace,
    /// Frees.
    pub frees: ByPlace,
    /// Texts of chunks that are called by another name, in order.
    pub aliases: Vec<String>,
    /// What is alive: by address its size and place.
    heap: HashMap<u64, (u64, PlaceId)>,
    names: Vec<String>,
    known: HashMap<Location, PlaceId>,
    protos: HashMap<u64, String>,
    natives: BTreeMap<u64, String>,
    traces: HashMap<u64, (u64, u64)>,
}

impl Profile {
    /// Adds an event.
    pub fn add(&mut self, event: Event) {
        match event {
            Event::Symbol(symbol) => self.symbol(symbol),
            Event::Alloc(at, memory) => {
                let place = self.place(at);
                let e = self.allocs.entry(place).or_default();
                e.count += 1;
                e.allocated = e.allocated.saturating_add(memory.1);
                self.heap.insert(memory.0, (memory.1, place));
            }
            Event::Free(at, memory) => {
                let place = self.place(at);
                let e = self.frees.entry(place).or_default();
                gone(e, &mut self.heap, memory, 0);
            }
            Event::Realloc(at, from, to) => {
                let place = self.place(at);
                let e = self.reallocs.entry(place).or_default();
                gone(e, &mut self.heap, from, to.1);
                e.allocated = e.allocated.saturating_add(to.1);
                self.heap.insert(to.0, (to.1, place));
            }
        }
    }
    fn symbol(&mut self, symbol: Symbol) {
        // Addresses and numbers may be used again: what was known of them is not true any more.
        match symbol {
            Symbol::Proto { address, chunk, .. } => {
                let chunk = String::from_utf8_lossy(&chunk).into_owned();
                let name = if chunk.contains('\n') { self.alias(chunk) } else { chunk };
                if self.protos.insert(address, name).is_some() {
                    self.known.clear();
                }
            }
            Symbol::Native { address, name } => {
                self.natives.insert(address, String::from_utf8_lossy(&name).into_owned());
                self.known.clear();
            }
            Symbol::Trace { number, proto, line } => {
                self.traces.insert(number, (proto, line));
                self.known.remove(&Location::Trace(number));
            }
        }
    }
    fn alias(&mut self, chunk: String) -> String {
        let at = self.aliases.iter().position(|a| *a == chunk).unwrap_or_else(|| {
            self.aliases.push(chunk);
            self.aliases.len() - 1
        });
        format!("function_alias_{}", at + 1)
    }
    fn place(&mut self, at: Location) -> PlaceId {
        if let Some(place) = self.known.get(&at) {
            return *place;
        }
        self.names.push(self.describe(at));
        let place = self.names.len() - 1;
        self.known.insert(at, place);
        place
    }
    fn describe(&self, at: Location) -> String {
        match at {
            Location::Internal => "INTERNAL".to_owned(),
            Location::Trace(n) => match self.traces.get(&n) {
                Some(&(proto, line)) => format!("TRACE [{n}] started at {}", self.function(proto, line)),
                None => format!("TRACE [{n}]"),
            },
            Location::Lua(proto, line) => self.function(proto, line),
            Location::Native(address) => self.native(address),
        }
    }
    fn function(&self, proto: u64, line: u64) -> String {
        match self.protos.get(&proto) {
            Some(chunk) => format!("{chunk}:{line}"),
            None => self.native(proto),
        }
    }
    fn native(&self, address: u64) -> String {
        match self.natives.range(..=address).next_back() {
            Some((start, name)) => format!("{name}:{start:#x}"),
            None => format!("CFUNC {address:#x}"),
        }
    }
    /// Name of a place.
    pub fn name(&self, place: PlaceId) -> &str {
        &self.names[place]
    }
    /// What the places of each name hold, those that hold most first; names that hold nothing are left out.
    pub fn held(&self) -> Vec<(&str, Held)> {
        let mut held: BTreeMap<&str, Held> = BTreeMap::new();
        for (place, e) in &self.allocs {
            let h = held.entry(self.name(*place)).or_default();
            h.bytes += i128::from(e.allocated);
            h.allocs += e.count;
        }
        for (place, o) in self.reallocs.values().chain(self.frees.values()).flat_map(|e| &e.overrides) {
            let h = held.entry(self.name(*place)).or_default();
            h.bytes += i128::from(o.allocated) - i128::from(o.freed);
            h.allocs += if o.allocated > 0 { o.count } else { 0 };
            h.frees += if o.freed > 0 { o.count } else { 0 };
        }
        let mut held: Vec<(&str, Held)> = held.into_iter().filter(|h| h.1.bytes > 0).collect();
        held.sort_by_key(|h| std::cmp::Reverse(h.1.bytes));
        held
    }
    /// Events, most frequent first.
    pub fn sorted<'a>(&'a self, events: &'a ByPlace) -> Vec<(PlaceId, &'a Events)> {
        let mut list: Vec<(PlaceId, &Events)> = events.iter().map(|(p, e)| (*p, e)).collect();
        list.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| self.name(a.0).cmp(self.name(b.0))));
        list
    }
}

/// Memory is freed, or has another size `now`.
fn gone(e: &mut Events, heap: &mut HashMap<u64, (u64, PlaceId)>, (address, size): Memory, now: u64) {
    e.count += 1;
    e.freed = e.freed.saturating_add(size);
    if let Some((size, owner)) = heap.remove(&address) {
        let o = e.overrides.entry(owner).or_default();
        o.allocated = o.allocated.saturating_add(now);
        o.freed = o.freed.saturating_add(size);
        o.count += 1;
    }
}
