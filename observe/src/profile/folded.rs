//! Folded stacks: a line for each stack, the frames from the outermost on with semicolons between them, a space and the count. What
//! flame graphs are drawn from (Brendan Gregg's `stackcollapse` scripts and inferno have the format).

use super::model::{Profile, View};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The lines of a profile, in alphabetical order.
pub fn lines(profile: &Profile, view: View) -> Vec<String> {
    let shown = profile.shown(view);
    let labels: Vec<String> = shown.frames.iter().map(|f| clean(&f.label)).collect();
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, count) in &shown.stacks {
        let mut line = String::with_capacity(stack.len() * 24);
        for (i, &f) in stack.iter().enumerate() {
            line.push_str(if i == 0 { "" } else { ";" });
            line.push_str(&labels[f as usize]);
        }
        *stacks.entry(line).or_insert(0) += count;
    }
    stacks.into_iter().map(|(stack, count)| format!("{stack} {count}")).collect()
}

/// Writes a profile.
pub fn write(profile: &Profile, view: View, to: &mut dyn Write) -> io::Result<()> {
    lines(profile, view).iter().try_for_each(|line| writeln!(to, "{line}"))
}

/// A label without what separates labels and lines.
fn clean(label: &str) -> String {
    label.replace(';', ",").replace(|c: char| c.is_control(), " ")
}
