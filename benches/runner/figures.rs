//! The figures of a run, what follows from them, and their file.

use std::fmt::Write as _;
use std::path::Path;

/// What one program took.
pub struct Row {
    pub set: String,
    pub program: String,
    /// By engine: the least processor time of all runs, or what went wrong.
    pub cells: Vec<Result<f64, String>>,
}

pub struct Figures {
    /// The engines. Ours are `perilune` and `perilune-joff`, those of reference `luajit` and `luajit-joff`.
    pub labels: Vec<String>,
    pub rows: Vec<Row>,
}

/// What a program's times are divided by.
#[derive(Clone, PartialEq, Eq)]
pub enum Ratio {
    /// By those of an engine.
    To(String),
    /// By those of LuaJIT in the better of its modes.
    Better,
    /// By our own without the compiler.
    Compiler,
}

/// What is wanted of a set: of which ratio, at most which geometric mean, and at most how much for each program.
pub struct Target {
    pub ratio: Ratio,
    pub mean: Option<f64>,
    pub worst: f64,
}

/// The targets of a set.
pub fn targets(set: &str) -> Vec<Target> {
    let compiler = Target { ratio: Ratio::Compiler, mean: None, worst: 1.03 };
    match set {
        "public" => vec![Target { ratio: Ratio::To("luajit".into()), mean: Some(0.75), worst: 1.2 }, compiler],
        "open" => vec![Target { ratio: Ratio::Better, mean: Some(0.80), worst: 1.15 }, compiler],
        "allocation" => vec![Target { ratio: Ratio::Better, mean: Some(0.60), worst: 0.9 }],
        "allocation, MB" => vec![Target { ratio: Ratio::To("luajit".into()), mean: None, worst: 1.0 }],
        _ => vec![compiler],
    }
}

impl Ratio {
    pub fn heading(&self) -> String {
        match self {
            Ratio::To(label) => format!("/ {label}"),
            Ratio::Better => "/ better".into(),
            Ratio::Compiler => "on / off".into(),
        }
    }
}

/// The mean of the ratios of a set, and the largest.
pub struct Summary<'a> {
    pub mean: f64,
    pub worst: (&'a str, f64),
    pub programs: usize,
}

impl Figures {
    pub fn ratios(&self) -> Vec<Ratio> {
        let known = ["perilune", "perilune-joff", "luajit", "luajit-joff"];
        let others = self.labels.iter().filter(|label| !known.contains(&label.as_str()));
        let mut list = vec![Ratio::To("luajit".into()), Ratio::Better, Ratio::Compiler];
        list.extend(others.cloned().map(Ratio::To));
        list
    }

    fn seconds(&self, row: &Row, label: &str) -> Option<f64> {
        let column = self.labels.iter().position(|l| l == label)?;
        row.cells[column].as_ref().ok().map(|seconds| seconds.max(0.001))
    }

    pub fn ratio(&self, row: &Row, ratio: &Ratio) -> Option<f64> {
        let under = match ratio {
            Ratio::To(label) => self.seconds(row, label)?,
            Ratio::Compiler => self.seconds(row, "perilune-joff")?,
            Ratio::Better => {
                let compiled = self.seconds(row, "luajit")?;
                self.seconds(row, "luajit-joff").map_or(compiled, |interpreted| compiled.min(interpreted))
            }
        };
        Some(self.seconds(row, "perilune")? / under)
    }

    /// The rows of a set that have this ratio, the largest first.
    pub fn sorted(&self, set: &str, ratio: &Ratio) -> Vec<(&Row, f64)> {
        let rows = self.rows.iter().filter(|row| row.set == set);
        let mut list: Vec<_> = rows.filter_map(|row| Some((row, self.ratio(row, ratio)?))).collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        list
    }

    pub fn summary(&self, set: &str, ratio: &Ratio) -> Option<Summary<'_>> {
        let list = self.sorted(set, ratio);
        let worst = list.first().map(|&(row, value)| (&*row.program, value))?;
        let mean = (list.iter().map(|(_, value)| value.ln()).sum::<f64>() / list.len() as f64).exp();
        Some(Summary { mean, worst, programs: list.len() })
    }

    /// In the order in which they were run.
    pub fn sets(&self) -> Vec<&str> {
        let mut list: Vec<&str> = self.rows.iter().map(|row| &*row.set).collect();
        list.dedup();
        list
    }

    pub fn heading(&self) -> String {
        let mut line = format!("{:<18}", "program");
        for name in self.labels.iter().cloned().chain(self.ratios().iter().map(Ratio::heading)) {
            let _ = write!(line, " {name:>14}");
        }
        line
    }

    pub fn line(&self, row: &Row) -> String {
        let mut line = format!("{:<18}", row.program);
        for cell in &row.cells {
            let _ = match cell {
                Ok(seconds) => write!(line, " {seconds:>14.3}"),
                Err(why) => write!(line, " {:>14}", why.split(':').next().unwrap_or("")),
            };
        }
        for ratio in self.ratios() {
            let _ = match self.ratio(row, &ratio) {
                Some(value) => write!(line, " {value:>14.2}"),
                None => write!(line, " {:>14}", "-"),
            };
        }
        line
    }

    /// A line for each ratio of a set.
    pub fn means_text(&self, set: &str) -> String {
        let mut text = String::new();
        for ratio in self.ratios() {
            let Some(Summary { mean, worst: (name, worst), programs }) = self.summary(set, &ratio) else { continue };
            let heading = ratio.heading();
            let _ = writeln!(text, "{set} {heading}: geometric mean {mean:.3} of {programs}, worst {name} {worst:.2}");
        }
        text
    }

    /// A line for each target of a set.
    pub fn targets_text(&self, set: &str) -> String {
        targets(set).iter().map(|target| self.target_text(set, target)).collect()
    }

    fn target_text(&self, set: &str, target: &Target) -> String {
        let Some(summary) = self.summary(set, &target.ratio) else { return String::new() };
        let above: Vec<String> = self
            .sorted(set, &target.ratio)
            .into_iter()
            .take_while(|(_, value)| *value > target.worst)
            .map(|(row, value)| format!("{} {value:.2}", row.program))
            .collect();
        let held = |good: bool| if good { "held" } else { "missed" };
        let heading = target.ratio.heading();
        let mean =
            target.mean.map_or(String::new(), |wanted| format!("mean at most {wanted:.2} {}, ", held(summary.mean <= wanted)));
        let list = if above.is_empty() { String::new() } else { format!(": {}", above.join(", ")) };
        format!("{set} {heading}: target {mean}none above {:.2} {}{list}\n", target.worst, held(above.is_empty()))
    }

    /// One line for each program, with tabs between its columns.
    pub fn save(&self, file: &Path) -> Result<(), String> {
        let mut text = format!("set\tprogram\t{}\n", self.labels.join("\t"));
        for row in &self.rows {
            let _ = write!(text, "{}\t{}", row.set, row.program);
            for cell in &row.cells {
                let _ = match cell {
                    Ok(seconds) => write!(text, "\t{seconds:.3}"),
                    Err(why) => write!(text, "\t{}", why.replace(['\t', '\n'], " ")),
                };
            }
            text.push('\n');
        }
        std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
    }

    /// What `save` has written.
    pub fn load(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut lines = text.lines().map(|line| line.split('\t'));
        let labels = lines.next().into_iter().flatten().skip(2).map(str::to_owned).collect();
        let mut rows = Vec::new();
        for mut parts in lines {
            let (Some(set), Some(program)) = (parts.next(), parts.next()) else { continue };
            let cells = parts.map(|cell| cell.parse().map_err(|_| cell.to_owned())).collect();
            rows.push(Row { set: set.to_owned(), program: program.to_owned(), cells });
        }
        Ok(Figures { labels, rows })
    }

    /// The tables of docs/performance.md: a set after the other, the largest ratio first.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for set in self.sets() {
            let ratios = self.ratios();
            let heads = ratios.iter().map(Ratio::heading).collect::<Vec<_>>().join(" | ");
            let _ = writeln!(text, "### {set}\n\n| program | {} | {heads} |", self.labels.join(" | "));
            let _ = writeln!(text, "|---|{}", "---:|".repeat(self.labels.len() + ratios.len()));
            let by = &targets(set)[0].ratio;
            let sorted = self.sorted(set, by);
            let others = self.rows.iter().filter(|row| row.set == set && self.ratio(row, by).is_none());
            for row in sorted.iter().map(|(row, _)| *row).chain(others) {
                let cells = row.cells.iter().map(|cell| match cell {
                    Ok(seconds) => format!("{seconds:.2}"),
                    Err(why) => why.split(':').next().unwrap_or("").to_owned(),
                });
                let values = ratios.iter().map(|r| self.ratio(row, r).map_or("-".into(), |value| format!("{value:.2}")));
                let _ = writeln!(text, "| {} | {} |", row.program, cells.chain(values).collect::<Vec<_>>().join(" | "));
            }
            let means = ratios.iter().map(|r| self.summary(set, r).map_or("-".into(), |s| format!("**{:.2}**", s.mean)));
            let means = means.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(text, "| **geometric mean** | {}{means} |\n", " | ".repeat(self.labels.len()));
        }
        text
    }
}
