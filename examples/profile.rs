//! A host that runs scripts in turn and watches them: where their time goes, by script and by function, and what they keep in memory. With a
//! folder, it writes the stacks there for a flame graph.
//!
//! ```text
//! cargo run --release --example profile [FOLDER]
//! ```

use perilune::observe::profile::model::View;
use perilune::observe::profile::{Options, Profile, folded};
use perilune::{Function, Lua};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

const SCRIPTS: [(&str, &str); 3] = [
    (
        "words",
        "local function words(n)
           local list = {}
           for i = 1, n do list[i] = ('%d bottles'):format(i) end
           return list
         end
         return function()
           local count = 0
           for _, word in ipairs(words(2000)) do
             for _ in word:gmatch '%a' do count = count + 1 end
           end
           return count
         end",
    ),
    (
        "cache",
        "local cache = {}
         return function()
           for i = 1, 500 do cache[#cache + 1] = { id = #cache, text = ('x'):rep(50) } end
           return #cache
         end",
    ),
    ("idle", "return function() return 0 end"),
];

/// Rounds between two reports.
const ROUNDS: usize = 40;

/// Samples by script: that of the function at the bottom of the stack.
fn by_script(profile: &Profile) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for line in folded::lines(profile, View::default()) {
        let Some((stack, count)) = line.rsplit_once(' ') else { continue };
        let bottom = stack.split(';').next().unwrap_or_default();
        let script = SCRIPTS.iter().find(|(name, _)| bottom.contains(&format!("({name}"))).map_or("the host", |(name, _)| name);
        *all.entry(script.to_owned()).or_default() += count.parse::<u64>().unwrap_or_default();
    }
    all
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let lua = Lua::new();
    let load = |&(name, source): &(&'static str, &str)| Ok((name, lua.load(source).set_name(format!("={name}")).eval()?));
    let scripts: Vec<(&str, Function)> = SCRIPTS.iter().map(load).collect::<perilune::Result<_>>()?;

    for report in 1..=2 {
        lua.start_profile(Options::new().interval(Duration::from_micros(500)))?;
        for _ in 0..ROUNDS {
            for (_, script) in &scripts {
                script.call::<f64>(())?;
            }
        }
        let profile = lua.stop_profile()?;
        let mut kept = BTreeMap::new();
        // What a script has let go of does not count: garbage is collected before and after.
        for (name, script) in &scripts {
            lua.gc_collect()?;
            let before = lua.used_memory();
            script.call::<f64>(())?;
            lua.gc_collect()?;
            kept.insert(*name, lua.used_memory().saturating_sub(before));
        }

        println!("report {report}: {} samples", profile.total());
        for (script, samples) in by_script(&profile) {
            println!("  {script}: {samples} samples");
        }
        for (activity, samples) in profile.by_doing() {
            println!("  {}: {samples}", activity.name());
        }
        for (function, samples) in profile.by_function().into_iter().take(3) {
            println!("  function {function}: {samples}");
        }
        for (name, bytes) in kept {
            println!("  {name} keeps {bytes} bytes more after each call");
        }
        if let Some(folder) = &folder {
            folded::write(&profile, View::default(), &mut File::create(folder.join(format!("report{report}.folded")))?)?;
        }
    }
    Ok(())
}
