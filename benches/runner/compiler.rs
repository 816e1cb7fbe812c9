//! What compiling costs: its share of each program's processor time, and the memory of the code.

use crate::child::{self, Outcome};
use crate::{Options, Program};
use std::process::{Command, Stdio};

/// Prints the compiler's counters as the last line, when the state is closed.
const COUNT: &str = "local counters, guard = require 'jit.util'.counters, newproxy(true) \
    getmetatable(guard).__gc = function() \
      local c = counters() \
      io.write('\\ncounters ', c.record_ns, ' ', c.compile_ns, ' ', c.closed, ' ', c.mcode, '\\n') \
    end \
    _G[guard] = guard";

/// One run of a program.
struct Cost {
    seconds: f64,
    record: f64,
    compile: f64,
    traces: u64,
    bytes: u64,
}

impl Cost {
    /// Of the processor time.
    fn share(&self) -> f64 {
        (self.record + self.compile) / self.seconds.max(1e-6)
    }
}

fn measure(program: &Program, options: &Options) -> Result<Cost, String> {
    let file = program.file.to_string_lossy();
    let args = if options.small { vec![&*file, &*program.small] } else { vec![&*file] };
    let mut runs = Vec::new();
    for _ in 0..options.runs {
        let mut command = Command::new(&options.ours);
        command.args(["-e", COUNT]).args(&args).stdin(Stdio::null());
        let Outcome::Done { usage, output } = child::run(&mut command, options.timeout) else {
            return Err(format!("{}: no result", program.name));
        };
        let seconds = child::seconds(usage.ru_utime) + child::seconds(usage.ru_stime);
        let text = String::from_utf8_lossy(&output);
        let line = text.lines().next_back().and_then(|l| l.strip_prefix("counters "));
        let numbers: Vec<u64> = line.unwrap_or_default().split(' ').filter_map(|n| n.parse().ok()).collect();
        let [record, compile, traces, bytes] = numbers[..] else { return Err(format!("{}: no counters", program.name)) };
        let ns = |n: u64| n as f64 * 1e-9;
        runs.push(Cost { seconds, record: ns(record), compile: ns(compile), traces, bytes });
    }
    runs.sort_by(|a, b| a.share().total_cmp(&b.share()));
    Ok(runs.swap_remove(runs.len() / 2))
}

/// Prints the table; of several runs, that with the median share.
pub fn table(programs: &[Program], options: &Options) -> Result<(), String> {
    println!(
        "{:<15}{:>10}{:>12}{:>12}{:>9}{:>8}{:>10}",
        "", "seconds", "record, ms", "compile, ms", "share", "traces", "code, KB"
    );
    let (mut share, mut bytes): (f64, u64) = (0.0, 0);
    for program in programs {
        let c = measure(program, options)?;
        (share, bytes) = (share.max(c.share()), bytes.max(c.bytes));
        let (record, compile, kb) = (c.record * 1e3, c.compile * 1e3, c.bytes as f64 / 1024.0);
        let percent = c.share() * 100.0;
        println!("{:<15}{:>10.3}{record:>12.2}{compile:>12.2}{percent:>8.1}%{:>8}{kb:>10.1}", program.name, c.seconds, c.traces);
    }
    println!("{:<15}{:>43.1}%{:>18.1}", "most", share * 100.0, bytes as f64 / 1024.0);
    Ok(())
}
