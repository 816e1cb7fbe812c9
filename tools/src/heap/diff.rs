//! What has grown.

use super::graph::{Graph, Sum, short};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

/// Growth by type and name, largest first.
pub fn write(before: &Graph, after: &Graph, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    // Types may be numbered differently in the two files.
    let mut growth: HashMap<Cow<'_, str>, (Sum, Sum)> = HashMap::new();
    for (group, sum) in before.by_name() {
        growth.entry(before.group_title(group)).or_default().0 = sum;
    }
    for (group, sum) in after.by_name() {
        growth.entry(after.group_title(group)).or_default().1 = sum;
    }
    let change = |a: u64, b: u64| i128::from(b) - i128::from(a);
    let mut list: Vec<(Cow<'_, str>, i128, i128)> =
        growth.into_iter().map(|(t, (a, b))| (t, change(a.count, b.count), change(a.bytes, b.bytes))).collect();
    let all = list.iter().fold((0, 0), |s, g| (s.0 + g.1, s.1 + g.2));
    list.retain(|g| g.1 != 0 || g.2 != 0);
    list.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    writeln!(out, "{:>12} {:>15}", "objects", "bytes")?;
    writeln!(out, "{:>+12} {:>+15}  in all", all.0, all.1)?;
    writeln!(out)?;
    for (title, count, bytes) in list.iter().take(limit) {
        writeln!(out, "{count:>+12} {bytes:>+15}  {}", short(title))?;
    }
    Ok(())
}
