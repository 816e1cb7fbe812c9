//! Bars of a ratio for each program, as SVG.

use crate::figures::{Figures, targets};
use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
/// Names are left of it.
const LEFT: f64 = 150.0;
const RIGHT: f64 = 840.0;
const STEP: f64 = 16.0;
/// What the axis shows, from the lowest to the highest, by its logarithm.
const RANGE: (f64, f64) = (0.1, 4.0);
const TICKS: [f64; 7] = [0.1, 0.2, 0.5, 0.75, 1.0, 2.0, 4.0];

fn x(ratio: f64) -> f64 {
    let (low, high) = RANGE;
    LEFT + (RIGHT - LEFT) * (ratio.clamp(low, high) / low).ln() / (high / low).ln()
}

/// The sets below one another, each by the ratio that its first target is about.
pub fn svg(figures: &Figures) -> String {
    let mut body = String::new();
    let mut y = 10.0;
    for set in figures.sets() {
        let target = &targets(set)[0];
        let list = figures.sorted(set, &target.ratio);
        let Some(summary) = figures.summary(set, &target.ratio) else { continue };
        y += 24.0;
        let heading = target.ratio.heading();
        let title = format!("{set}: time {heading}, geometric mean {:.2} of {} programs", summary.mean, summary.programs);
        let _ = writeln!(body, r#"<text x="10" y="{y}" class="title">{title}</text>"#);
        y += 22.0;
        let (top, bottom) = (y, y + STEP * list.len() as f64);
        for tick in TICKS {
            let (at, class) = (x(tick), if tick == 1.0 { "one" } else { "tick" });
            let _ = writeln!(body, r#"<line x1="{at:.1}" x2="{at:.1}" y1="{top}" y2="{bottom}" class="{class}"/>"#);
            let _ = writeln!(body, r#"<text x="{at:.1}" y="{}" text-anchor="middle">{tick}</text>"#, top - 5.0);
        }
        for (row, ratio) in list {
            let class = match ratio {
                r if r > target.worst => "above",
                r if r > 1.0 => "slower",
                _ => "faster",
            };
            let (from, to) = (x(1.0).min(x(ratio)), x(1.0).max(x(ratio)));
            let (text, width) = (y + 12.0, (to - from).max(1.0));
            let _ = writeln!(body, r#"<text x="{}" y="{text}" text-anchor="end">{}</text>"#, LEFT - 8.0, row.program);
            let height = STEP - 4.0;
            let bar = format!(r#"x="{from:.1}" y="{}" width="{width:.1}" height="{height}""#, y + 2.0);
            let _ = writeln!(body, r#"<rect {bar} class="{class}"/>"#);
            let _ = writeln!(body, r#"<text x="{}" y="{text}">{ratio:.2}</text>"#, RIGHT + 12.0);
            y += STEP;
        }
        let mean = x(summary.mean);
        let _ = writeln!(body, r#"<line x1="{mean:.1}" x2="{mean:.1}" y1="{top}" y2="{bottom}" class="mean"/>"#);
        y += 10.0;
    }
    let style = "text { font: 11px sans-serif; fill: #222 } .title { font-size: 14px; font-weight: bold } \
        .tick { stroke: #ddd } .one { stroke: #222 } .mean { stroke: #222; stroke-dasharray: 3 3 } \
        .faster { fill: #4a90c2 } .slower { fill: #e0a84c } .above { fill: #c8503c }";
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{y}\" viewBox=\"0 0 {WIDTH} {y}\">\n\
         <style>{style}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}
