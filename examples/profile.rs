//! A profile of a script, as folded stacks (for flame graphs) and as a summary.
//!
//! ```text
//! cargo run --release --example profile [SCRIPT]
//! ```

use perilune::Lua;
use perilune::observe::profile::model::View;
use perilune::observe::profile::{Options, folded};
use std::error::Error;
use std::time::Duration;

const SCRIPT: &str = "
local function words(n)
  local list = {}
  for i = 1, n do list[i] = ('%d bottles'):format(i) end
  return list
end
local function letters(list)
  local count = 0
  for _, word in ipairs(list) do
    for _ in word:gmatch '%a' do count = count + 1 end
  end
  return count
end
local total = 0
for round = 1, 30 do total = total + letters(words(2000)) end
return total
";

fn main() -> Result<(), Box<dyn Error>> {
    let script = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(file)?,
        None => SCRIPT.to_owned(),
    };
    let lua = Lua::new();
    lua.start_profile(Options::new().interval(Duration::from_micros(500)))?;
    let result = lua.load(script.as_str()).set_name("=script").exec();
    // The profile is complete even if the script has failed.
    let profile = lua.stop_profile()?;
    result?;

    println!("{} samples", profile.total());
    for (activity, samples) in profile.by_doing() {
        println!("  {:18} {samples}", activity.name());
    }
    for (function, samples) in profile.by_function().into_iter().take(5) {
        println!("  {function}: {samples}");
    }
    folded::write(&profile, View::default(), &mut std::io::stdout())?;
    Ok(())
}
