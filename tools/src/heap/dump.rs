//! Reading the JSON dump of Luau's form, as a stream, object by object.

use super::graph::{Graph, IdForm, Style, address};
use super::source::Source;
use super::{Spot, Wrong};
use core::fmt::Formatter;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::collections::HashMap;
use std::io::Read;

/// What names an object.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Address {
    Number(u64),
    Odd(Box<str>),
}

impl Address {
    fn new(text: &str) -> Address {
        address(text).map_or_else(|| Address::Odd(text.into()), Address::Number)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Address, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Address;
            fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
                f.write_str("an address")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Address, E> {
                Ok(Address::new(text))
            }
        }
        d.deserialize_str(Text)
    }
}

#[derive(Deserialize)]
struct Object {
    #[serde(rename = "type")]
    kind: String,
    size: u64,
    data: Option<String>,
    name: Option<String>,
    source: Option<String>,
    line: Option<i64>,
    #[serde(default)]
    pairs: Vec<Option<Address>>,
    #[serde(default)]
    array: Vec<Address>,
    #[serde(default)]
    upvalues: Vec<Address>,
    #[serde(default)]
    constants: Vec<Address>,
    #[serde(default)]
    protos: Vec<Address>,
    #[serde(default)]
    stack: Vec<Address>,
    #[serde(default)]
    stacknames: Vec<Option<String>>,
    metatable: Option<Address>,
    env: Option<Address>,
    proto: Option<Address>,
    object: Option<Address>,
    resumer: Option<Address>,
    anchor: Option<Address>,
}

/// What is being read. References lead to numbers of ids until all objects are known.
#[derive(Default)]
struct Reading {
    graph: Graph,
    /// Numbers of ids, in the order in which they are mentioned, and the objects that have them, or [`UNKNOWN`].
    numbers: HashMap<u64, u32, foldhash::fast::RandomState>,
    objects: Vec<u32>,
    /// An id that two objects have.
    twice: Option<u64>,
    /// Numbers of names that many objects or references have.
    names: HashMap<String, u32>,
    odd: HashMap<Box<str>, u64>,
    roots: Option<HashMap<String, Address>>,
    other_roots: Vec<Address>,
    had_objects: bool,
}

/// No object, so far.
const UNKNOWN: u32 = u32::MAX;

/// Reads a dump. The error says what is wrong, and with what.
pub fn read<R: Read>(source: &mut Source<R>) -> Result<Graph, Wrong> {
    let mut reading = Reading::default();
    reading.graph.form = IdForm::Address;
    let mut json = serde_json::Deserializer::from_reader(&mut *source);
    json.deserialize_map(&mut reading).and_then(|()| json.end()).map_err(|e| source.wrong(&e))?;
    reading.link()
}

impl Reading {
    fn text(&mut self, text: &str) -> u32 {
        // More than that many texts do not fit any memory; they would get wrong names.
        self.graph.texts.push(text) as u32
    }
    fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let n = self.text(name);
        self.names.insert(name.to_owned(), n);
        n
    }
    fn id(&mut self, address: Address) -> u64 {
        match address {
            Address::Number(n) => n,
            Address::Odd(text) => {
                let odd = &mut self.graph.odd;
                *self.odd.entry(text).or_insert_with_key(|text| IdForm::ODD | odd.push(text) as u64)
            }
        }
    }
    fn number(&mut self, address: Address) -> u32 {
        let id = self.id(address);
        *self.numbers.entry(id).or_insert_with(|| {
            self.objects.push(UNKNOWN);
            self.objects.len() as u32 - 1
        })
    }
    fn refer(&mut self, style: Style, label: u32, to: Address) {
        let to = self.number(to);
        self.graph.refer(style, label, to, false);
    }
    fn object(&mut self, address: Address, o: Object) {
        let kind = self.graph.types.iter().position(|t| *t == o.kind).unwrap_or_else(|| {
            self.graph.types.push(o.kind.clone());
            self.graph.types.len() - 1
        });
        let name = match (&o.data, &o.name, &o.source, o.line) {
            (Some(data), ..) => self.text(data),
            (None, Some(name), ..) => self.name(name),
            (None, None, Some(source), Some(line)) => self.name(&format!("{}:{line}", source.trim_start_matches(['@', '=']))),
            _ => self.name(""),
        };
        let id = self.id(address.clone());
        let number = self.number(address) as usize;
        if self.objects[number] != UNKNOWN {
            self.twice.get_or_insert(id);
        }
        self.objects[number] = self.graph.len() as u32;
        let first = self.graph.targets.len() as u32;
        self.graph.add(kind.min(usize::from(u16::MAX)) as u16, name, id, o.size, first);
        self.references(o);
    }
    fn references(&mut self, o: Object) {
        let mut pairs = o.pairs.into_iter();
        while let Some(key) = pairs.next() {
            let style = if key.is_some() { Style::OfKey } else { Style::OfPlainKey };
            if let Some(key) = key {
                self.refer(Style::Key, 0, key);
            }
            if let Some(value) = pairs.next().flatten() {
                self.refer(style, 0, value);
            }
        }
        let lists =
            [(Style::Array, o.array), (Style::Upvalue, o.upvalues), (Style::Constant, o.constants), (Style::Prototype, o.protos)];
        for (style, list) in lists {
            for (i, a) in list.into_iter().enumerate() {
                self.refer(style, i as u32, a);
            }
        }
        for (i, a) in o.stack.into_iter().enumerate() {
            let (style, label) = match o.stacknames.get(i) {
                Some(Some(name)) => (Style::Variable, self.name(name)),
                _ => (Style::Slot, i as u32),
            };
            self.refer(style, label, a);
        }
        let singles = [
            ("metatable", o.metatable),
            ("env", o.env),
            ("prototype", o.proto),
            ("value", o.object),
            ("resumer", o.resumer),
            ("anchor", o.anchor),
        ];
        for (name, a) in singles {
            if let Some(a) = a {
                let label = self.name(name);
                self.refer(Style::Text, label, a);
            }
        }
    }
    /// Has references lead to objects.
    fn link(mut self) -> Result<Graph, Wrong> {
        let mut roots: Vec<(String, u32)> = Vec::new();
        for (name, address) in self.roots.take().unwrap_or_default() {
            roots.push((name, self.number(address)));
        }
        for address in core::mem::take(&mut self.other_roots) {
            roots.push(("root".to_owned(), self.number(address)));
        }
        if u32::try_from(self.graph.targets.len().max(self.objects.len())).is_err() {
            return Err(Wrong::new("there are more references than can be read".to_owned()));
        }
        if let Some(id) = self.twice {
            return Err(self.mentioned(id, "object", " is there twice"));
        }
        let missing = |this: &Reading, number: u32| {
            let id = this.numbers.iter().find(|(_, n)| **n == number).map_or(0, |(id, _)| *id);
            this.mentioned(id, "there is no object", "")
        };
        for i in 0..self.graph.targets.len() {
            let number = self.graph.targets[i];
            self.graph.targets[i] = self.objects[number as usize];
            if self.graph.targets[i] == UNKNOWN {
                return Err(missing(&self, number));
            }
        }
        for (name, number) in roots {
            match self.objects[number as usize] {
                UNKNOWN => return Err(missing(&self, number)),
                to => self.graph.roots.push((name, to)),
            }
        }
        // What is named first is the shorter way to say it.
        self.graph.roots.sort_by_key(|(name, _)| ["registry", "mainthread"].iter().position(|n| n == name).unwrap_or(2));
        Ok(self.graph)
    }
    /// That something is wrong with the object of an id.
    fn mentioned(&self, id: u64, what: &str, end: &str) -> Wrong {
        let address = match id & IdForm::ODD {
            0 => format!("{id:#x}"),
            _ => self.graph.odd.get((id & !IdForm::ODD) as usize).to_owned(),
        };
        Wrong { message: format!("{what} {address}{end}"), spot: Spot::Mention(address) }
    }
}

impl<'de> Visitor<'de> for &mut Reading {
    type Value = ();
    fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str("a heap dump")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "objects" if self.had_objects => return Err(A::Error::duplicate_field("objects")),
                "objects" => {
                    self.had_objects = true;
                    map.next_value_seed(Objects(self))?;
                }
                "roots" => self.roots = Some(map.next_value()?),
                "otherroots" => self.other_roots = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if !self.had_objects {
            return Err(A::Error::missing_field("objects"));
        }
        if self.roots.is_none() { Err(A::Error::missing_field("roots")) } else { Ok(()) }
    }
}

/// The objects, by address.
struct Objects<'a>(&'a mut Reading);

impl<'de> DeserializeSeed<'de> for Objects<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Objects<'_> {
    type Value = ();
    fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str("objects by address")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((address, object)) = map.next_entry()? {
            self.0.object(address, object);
        }
        Ok(())
    }
}
