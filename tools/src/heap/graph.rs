//! A graph of objects as the commands see it, whichever file it is from. There may be many millions of them: so each has a few numbers
//! in arrays, and texts are made when they are shown.

use super::text::Texts;
use std::borrow::Cow;
use std::collections::HashMap;

/// How the name of a reference is made from its number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Style {
    /// The text with the number.
    Text,
    /// A field by that name.
    Field,
    /// An element.
    Element,
    /// An element of a table's array.
    Array,
    /// An upvalue of a function.
    Upvalue,
    /// A constant of a function.
    Constant,
    /// A function within a function.
    Prototype,
    /// A slot of a stack.
    Slot,
    /// A slot that is a variable by the name with the number.
    Variable,
    /// The key of an entry.
    Key,
    /// The value of an entry, whose key is the reference before.
    OfKey,
    /// The value of an entry whose key is not an object.
    OfPlainKey,
}

/// How the file writes ids.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum IdForm {
    /// `@` and a number.
    #[default]
    Number,
    /// Addresses: `0x` and a number of 16s. Others are texts: [`IdForm::ODD`] and a number among [`Graph::odd`].
    Address,
}

impl IdForm {
    /// Marks what is not an address.
    pub const ODD: u64 = 1 << 63;
}

/// Objects and references; by number.
#[derive(Default, Debug)]
pub struct Graph {
    /// Names of types.
    pub types: Vec<String>,
    /// What keeps objects alive: a name and an object.
    pub roots: Vec<(String, u32)>,
    /// Names of objects and references.
    pub texts: Texts,
    /// Texts that come up while [`Graph::texts`] is not known yet.
    pub odd: Texts,
    /// How ids are written.
    pub form: IdForm,
    /// Of objects: the type,
    pub kinds: Vec<u16>,
    /// the number of the name,
    pub names: Vec<u32>,
    /// the id,
    pub ids: Vec<u64>,
    /// bytes,
    pub sizes: Vec<u64>,
    /// the first reference; the last one is in front of the next object's.
    pub firsts: Vec<u32>,
    /// Of references: how the name is made from the number, and is it one that does not keep alive?
    pub styles: Vec<(Style, bool)>,
    /// the number,
    pub labels: Vec<u32>,
    /// the object that it leads to.
    pub targets: Vec<u32>,
}

/// How many, and bytes.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Sum {
    /// Objects.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The key of an object in lists by name: its type, and its name.
pub type Group<'a> = (u16, &'a str);

impl Graph {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }
    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The nodes that are objects. A number without a size is not: it stands for what is written in the objects that refer to it.
    pub fn objects(&self) -> impl Iterator<Item = usize> + '_ {
        let number = self.types.iter().position(|t| t == "number");
        (0..self.len()).filter(move |&i| self.sizes[i] != 0 || number != Some(self.kinds[i].into()))
    }
    /// Adds an object, whose references follow.
    pub fn add(&mut self, kind: u16, name: u32, id: u64, size: u64, first: u32) {
        self.kinds.push(kind);
        self.names.push(name);
        self.ids.push(id);
        self.sizes.push(size);
        self.firsts.push(first);
    }
    /// Adds a reference.
    pub fn refer(&mut self, style: Style, label: u32, to: u32, weak: bool) {
        self.styles.push((style, weak));
        self.labels.push(label);
        self.targets.push(to);
    }
    /// The references of an object.
    pub fn edges_of(&self, node: usize) -> core::ops::Range<usize> {
        let end = self.firsts.get(node + 1).map_or(self.targets.len(), |n| *n as usize);
        self.firsts[node] as usize..end
    }
    /// The object that has a reference.
    pub fn owner_of(&self, edge: usize) -> usize {
        self.firsts.partition_point(|first| *first as usize <= edge).saturating_sub(1)
    }
    /// The name of an object.
    pub fn name(&self, node: usize) -> &str {
        self.texts.get(self.names[node] as usize)
    }
    /// The id of an object, as the file has it.
    pub fn id(&self, node: usize) -> String {
        let id = self.ids[node];
        match self.form {
            IdForm::Number => format!("@{id}"),
            IdForm::Address if id & IdForm::ODD != 0 => self.odd.get((id & !IdForm::ODD) as usize).to_owned(),
            IdForm::Address => format!("{id:#x}"),
        }
    }
    /// The object with an id.
    pub fn by_id(&self, id: &str) -> Option<usize> {
        let wanted = match self.form {
            IdForm::Number => id.strip_prefix('@').and_then(|n| n.parse().ok()),
            IdForm::Address => {
                address(id).or_else(|| (0..self.odd.len()).find(|i| self.odd.get(*i) == id).map(|i| IdForm::ODD | i as u64))
            }
        }?;
        self.ids.iter().position(|id| *id == wanted)
    }
    /// The name of a reference.
    pub fn edge_name(&self, edge: usize) -> String {
        let n = self.labels[edge];
        let text = || self.texts.get(n as usize);
        match self.styles[edge].0 {
            Style::Text => text().to_owned(),
            Style::Field => format!(".{}", text()),
            Style::Element => format!("[{n}]"),
            Style::Array => format!("array element {n}"),
            Style::Upvalue => format!("upvalue {n}"),
            Style::Constant => format!("constant {n}"),
            Style::Prototype => format!("prototype {n}"),
            Style::Slot => format!("stack {n}"),
            Style::Variable => format!("stack {}", text()),
            Style::Key => "key".to_owned(),
            Style::OfKey => {
                let key = self.targets[edge - 1] as usize;
                if self.types[self.kinds[key] as usize] == "string" {
                    format!(".{}", self.name(key))
                } else {
                    format!("[{}]", self.id(key))
                }
            }
            Style::OfPlainKey => "[a number or boolean]".to_owned(),
        }
    }
    /// "type name" of an object.
    pub fn title(&self, node: usize) -> Cow<'_, str> {
        self.group_title((self.kinds[node], self.name(node)))
    }
    /// Sums by type.
    pub fn by_type(&self) -> HashMap<Group<'_>, Sum> {
        self.sums(|node| (self.kinds[node], ""))
    }
    /// Sums by type and name. Strings are all one: each is there only once.
    pub fn by_name(&self) -> HashMap<Group<'_>, Sum> {
        let string = self.types.iter().position(|t| t == "string");
        self.sums(|node| {
            let kind = self.kinds[node];
            (kind, if string == Some(kind.into()) { "" } else { self.name(node) })
        })
    }
    fn sums<'a>(&'a self, key: impl Fn(usize) -> Group<'a>) -> HashMap<Group<'a>, Sum> {
        let mut sums: HashMap<Group<'a>, Sum> = HashMap::new();
        for node in self.objects() {
            sums.entry(key(node)).or_default().add(self.sizes[node]);
        }
        sums
    }
    /// The words for a key.
    pub fn group_title<'a>(&'a self, (kind, name): Group<'a>) -> Cow<'a, str> {
        let kind = self.types[kind as usize].as_str();
        if name.is_empty() || name == kind { kind.into() } else { format!("{kind} {name}").into() }
    }
}

impl Sum {
    /// Adds an object of so many bytes.
    pub fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The number of an address, if it is written as [`IdForm::Address`] says.
pub fn address(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").filter(|d| d.len() == 1 || !d.starts_with('0'))?;
    let plain = digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    u64::from_str_radix(digits, 16).ok().filter(|n| plain && n & IdForm::ODD == 0)
}

/// A text on one line of sensible length.
pub fn short(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let start: String = chars.by_ref().take(LENGTH).collect();
    if chars.next().is_some() { format!("{start}...") } else { start }
}
