//! Compares the cost of the embedding API with that of mlua on LuaJIT: the same operations, compiled against both crates, in one process.
//!
//! Without arguments all rows are measured; arguments choose those whose names contain one of them. `--only ours` and `--only mlua` run one
//! side only, for a profiler.

mod measure;
mod ours {
    use perilune as mlua;
    include!("rows.rs");
}
mod theirs {
    include!("rows.rs");
}

use measure::{Row, compare};

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let only = names.iter().position(|a| a == "--only").map(|i| {
        names.remove(i);
        names.remove(i)
    });
    let wanted = |row: &Row| names.is_empty() || names.iter().any(|n| row.name.contains(&**n));
    if let Some(side) = only {
        let rows = if side == "ours" { ours::rows() } else { theirs::rows() };
        for mut row in rows.into_iter().filter(wanted) {
            let ns = row.measure_alone();
            println!("{:36}{ns:12.1} ns", row.name);
        }
        return;
    }
    println!("{:36}{:>12}{:>12}{:>8}", "", "Perilune ns", "mlua ns", "ratio");
    let mut ratios = Vec::new();
    for (mut a, mut b) in ours::rows().into_iter().zip(theirs::rows()).filter(|(row, _)| wanted(row)) {
        let (a_ns, b_ns) = compare(&mut a, &mut b);
        println!("{:36}{a_ns:12.1}{b_ns:12.1}{:8.2}", a.name, a_ns / b_ns);
        ratios.push(a_ns / b_ns);
    }
    ratios.sort_by(f64::total_cmp);
    let above = ratios.iter().filter(|r| **r > 1.1).count();
    if let (Some(median), Some(worst)) = (ratios.get(ratios.len() / 2), ratios.last()) {
        println!("{} rows: median ratio {median:.2}, worst {worst:.2}, above 1.1: {above}", ratios.len());
    }
}
