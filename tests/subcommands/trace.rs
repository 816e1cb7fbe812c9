//! `perilune trace` from outside: the data, the page, and what may go wrong.

use super::folder::Folder;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// LuaJIT's thresholds or less, and no limit to what compiling may cost.
const EAGER: &str = "hotloop=5,hotexit=3,budget=0";

impl Folder {
    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }
    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }
}

/// Runs the command in a folder.
fn trace(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
    command.arg("trace").args(arguments).current_dir(folder).output().unwrap()
}

/// The data of a program, as `p.lua` in a folder of its own.
fn explored(name: &str, source: &str, options: &[&str]) -> (Value, Output) {
    let f = Folder::new(&format!("explorer-{name}"));
    f.write("p.lua", source.as_bytes());
    let done = trace(f.path(), &[options, &["--json", "p.json", "-o", "p.html", "p.lua"]].concat());
    assert!(f.text("p.html").ends_with("</script>\n</body>\n</html>\n"), "the page is whole");
    (f.json("p.json"), done)
}

fn list(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], |l| l)
}

/// Masks what differs from run to run: times, samples, addresses, places in hash parts, shapes; and what depends on the processor.
fn mask(v: &mut Value) {
    match v {
        Value::Object(fields) => {
            for (name, v) in fields.iter_mut() {
                match name.as_str() {
                    "record_us" | "optimise_us" | "lower_us" | "mcode" | "arch" | "counters" | "time" | "timeline" | "share" => {
                        *v = Value::Null
                    }
                    "machine" => *v = Value::from(!list(v).is_empty()),
                    _ => mask(v),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::String(text) => {
            for start in ["0x", "@"] {
                let mut parts = text.split(start);
                let mut out = parts.next().unwrap_or_default().to_owned();
                for part in parts {
                    let end = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
                    out += start;
                    out += if end == 0 { "" } else { "?" };
                    out += &part[end..];
                }
                *text = out;
            }
            // Shapes have numbers that depend on how many the libraries have.
            if let Some((guard, n)) = text.split_once("  +")
                && guard.contains(" int EQ ")
                && n.len() > 2
            {
                *text = format!("{guard}  +?");
            }
        }
        _ => {}
    }
}

/// Traces whose code is in the listing.
const LISTED: usize = 2;

/// The data with one item of each list on a line.
fn listing(data: &Value) -> String {
    let mut out = String::new();
    for (name, v) in data.as_object().unwrap() {
        let Value::Array(items) = v else {
            let _ = writeln!(out, "{name}: {v}");
            continue;
        };
        let most = if name == "code" { LISTED } else { usize::MAX };
        for (i, item) in items.iter().enumerate().take(most) {
            let _ = writeln!(out, "{name}[{i}]:");
            for (field, v) in item.as_object().unwrap() {
                match v {
                    Value::Array(items) if items.iter().any(Value::is_object) => {
                        let _ = writeln!(out, "  {field}:");
                        items.iter().for_each(|item| writeln!(out, "    {item}").unwrap());
                    }
                    v => writeln!(out, "  {field}: {v}").unwrap(),
                }
            }
        }
    }
    out
}

fn folder_of_program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/subcommands/explorer")
}

/// The data of the program in the folder `explorer`.
fn program() -> Value {
    let f = Folder::new("explorer-program");
    let json = f.file("out.json");
    let done = trace(&folder_of_program(), &["-O", EAGER, "--no-samples", "--json", json.to_str().unwrap(), "program.lua"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    f.json("out.json")
}

#[test]
fn data_of_a_program() {
    let mut data = program();
    mask(&mut data);
    let text = listing(&data);
    let path = folder_of_program().join("program.out");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(want == text, "{} differs (BLESS=1 rewrites it):\n{text}", path.display());
}

#[test]
fn references_between_parts() {
    let data = program();
    let (traces, code) = (list(&data["traces"]), list(&data["code"]));
    assert_eq!((data["format"].as_str(), data["version"].as_u64()), (Some("perilune-traces"), Some(1)));
    assert_eq!(traces.len(), code.len());
    for (i, (t, c)) in traces.iter().zip(code).enumerate() {
        assert_eq!(t["id"], i + 1);
        assert_eq!(list(&c["exits"]).len() as u64, t["exits"].as_u64().unwrap());
        let places = list(&c["places"]).len() as u64;
        let rows = ["emitted", "optimised", "machine", "bytecode", "exits"].map(|part| list(&c[part]));
        assert!(rows.iter().all(|part| !part.is_empty()), "{c}");
        assert!(rows.iter().flat_map(|part| part.iter()).all(|row| row["place"].as_u64().is_none_or(|p| p < places)), "{c}");
        // Each machine instruction that is for one of the IR is for one that is there.
        let known = |r: &Value| list(&c["optimised"]).iter().any(|l| l["ref"] == *r);
        assert!(list(&c["machine"]).iter().filter(|m| m["ref"].is_string()).all(|m| known(&m["ref"])), "{c}");
    }
    let machine = list(&code[0]["machine"]);
    assert_eq!(machine.iter().filter(|m| m["head"] == true).count(), 1, "the loop begins once");
    assert!(machine.iter().any(|m| m["text"].as_str().unwrap().ends_with("->LOOP")), "and is gone back to");
    assert!(machine.iter().any(|m| m["text"].as_str().unwrap().contains("->exit ")), "exits have names");
    // The check of the limit of a loop with constants, for one, is not needed.
    assert!(list(&code[0]["asked"]).len() > list(&code[0]["emitted"]).iter().filter(|l| l["ref"].is_string()).count());
    let kinds: Vec<&str> = traces.iter().filter_map(|t| t["kind"].as_str()).collect();
    assert!(["root", "side", "stitch"].iter().all(|k| kinds.contains(k)), "{kinds:?}");
    let names: Vec<&str> = list(&data["files"]).iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["program.lua", "./shapes.lua"]);
    let lines = list(&data["files"][1]["lines"]);
    let states: Vec<(u64, &str)> = lines.iter().map(|l| (l["line"].as_u64().unwrap(), l["state"].as_str().unwrap())).collect();
    assert_eq!(states, [(1, "interpreted"), (2, "compiled"), (3, "interpreted"), (4, "interpreted")]);
}

#[test]
fn aborted_recordings() {
    let source = "local n = 0
for i = 1, 100 do
  n = n + 1
  debug.sethook()
  local t = setmetatable({}, {__gc = 1})
  if n > 1000 then break end
end
local function deep(k)
  if k == 0 then error('enough') end
  return deep(k - 1) + 1
end
for i = 1, 20 do pcall(deep, 3) end";
    let (data, done) = explored("aborts", source, &["-O", EAGER, "-O", "maxrecord=12"]);
    assert!(done.status.success());
    let aborts = list(&data["aborts"]);
    assert!(!aborts.is_empty());
    let too_long = aborts.iter().find(|a| a["reason"] == "trace too long").expect("one is too long");
    assert!(too_long["count"].as_u64().unwrap() > 0 && too_long["at"]["line"].as_u64().unwrap() > 0, "{too_long}");
    let index = aborts.iter().position(|a| a == too_long).unwrap();
    let line = list(&data["files"][0]["lines"]).iter().find(|l| l["line"] == too_long["at"]["line"]).unwrap();
    assert!(list(&line["aborts"]).iter().any(|i| *i == index) && line["state"] != "interpreted", "{line}");
}

#[test]
fn removed_traces() {
    let source = "for k = 1, 3 do
  local f = loadstring('local s = 0 for i = 1, 100 do s = s + i end return s', '=made')
  f()
  jit.flush()
end
local f = loadstring('local s = 0 for i = 1, 100 do s = s + i end return s', '=collected')
f()
f = nil
collectgarbage() collectgarbage()
for i = 1, 100 do f = i end";
    let (data, done) = explored("gone", source, &["-O", EAGER]);
    assert!(done.status.success());
    let fates: Vec<&str> = list(&data["traces"]).iter().filter_map(|t| t["fate"].as_str()).collect();
    assert_eq!(fates, ["flushed", "flushed", "flushed", "collected", "alive"]);
    assert_eq!(data["flushes"], 3);
    let entered: Vec<bool> = list(&data["traces"]).iter().map(|t| t["entries"].as_u64().unwrap() > 0).collect();
    assert_eq!(entered, [true; 5], "how they were used is told too");
    let made = list(&data["files"]).iter().find(|f| f["name"] == "made").unwrap();
    assert!(made["text"].is_null() && made["note"].is_string() && list(&made["lines"])[0]["state"] == "compiled", "{made}");
}

#[test]
fn programs_that_end_otherwise() {
    let loops = "for i = 1, 100 do x = i end\n";
    let (data, done) = explored("error", &format!("{loops}error('over')"), &["-O", EAGER]);
    assert_eq!((done.status.code(), &data["program"]["end"]["how"]), (Some(1), &Value::from("error")));
    assert_eq!(data["program"]["end"]["message"], "p.lua:2: over");
    assert!(String::from_utf8_lossy(&done.stderr).contains("perilune: p.lua:2: over"));
    let exit = format!("{loops}io.write('out') coroutine.wrap(function() pcall(os.exit, 3) end)()");
    let (data, done) = explored("exit", &exit, &["-O", EAGER]);
    assert_eq!((done.status.code(), &data["program"]["end"]), (Some(3), &serde_json::json!({"how": "exit", "status": 3})));
    assert_eq!((list(&data["traces"]).len(), &*done.stdout), (1, &b"out"[..]));
    let (data, done) = explored("syntax", "for", &[]);
    assert_eq!((done.status.code(), list(&data["traces"]).len()), (Some(1), 0));
    // Nothing but the options differs.
    let (data, _) = explored("off", &format!("jit.off() {loops}"), &["-O", EAGER]);
    assert_eq!(list(&data["traces"]).len(), 0);
}

/// The page is shown by the desktop's program for it.
#[test]
#[cfg(target_os = "linux")]
fn the_page_is_opened() {
    use std::os::unix::fs::PermissionsExt;
    let f = Folder::new("explorer-open");
    f.write("p.lua", b"print('ran')");
    let opener = f.write("xdg-open", b"#!/bin/sh\necho \"$1\" > opened.tmp && mv opened.tmp opened\n");
    std::fs::set_permissions(opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |path: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
        command.args(["trace", "--open", "-o", "p.html", "p.lua"]).current_dir(f.path()).env("PATH", path).output().unwrap()
    };
    let path = format!("{}:{}", f.path().display(), std::env::var("PATH").unwrap_or_default());
    assert!(run(&path).status.success());
    let begun = std::time::Instant::now();
    while !f.file("opened").exists() && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(f.text("opened"), "p.html\n");
    let none = run("/nonexistent");
    assert!(
        none.status.code() == Some(1) && String::from_utf8_lossy(&none.stderr).contains("cannot show p.html: xdg-open"),
        "{none:?}"
    );
}

#[test]
fn any_text_is_shown() {
    let f = Folder::new("explorer-text");
    f.write("p.lua", b"local s = '</script><!--<script>\xff\xfe\xe2\x80\xa8'\nfor i = 1, 100 do s = s .. '</script>' end\n");
    assert!(trace(f.path(), &["-O", EAGER, "-o", "p.html", "--json", "p.json", "p.lua"]).status.success());
    let text = f.json("p.json")["files"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("local s = '</script><!--<script>\u{fffd}\u{fffd}\u{2028}'\n"), "{text}");
    let page = f.text("p.html");
    // Only elements of the page end, and none of them in the text.
    let data = page.split("<script type=\"application/json\"").skip(1);
    assert_eq!(data.clone().count(), 1);
    for part in data {
        let (json, _) = part.split_once('>').unwrap().1.split_once("</script>").unwrap();
        serde_json::from_str::<Value>(json).unwrap();
    }
    // The code is packed.
    let (packed, _) = page.split_once("id=\"code-0\">").unwrap().1.split_once("</script>").unwrap();
    assert!(packed.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)));
    let addresses = page.matches("http").count() - page.matches("http-equiv").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count(), "nothing is loaded from elsewhere");
}

#[test]
fn errors() {
    let f = Folder::new("explorer-wrong");
    f.write("p.lua", b"print('ran')");
    let check = |arguments: &[&str], message: &str| {
        let done = trace(f.path(), arguments);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(1) && said.contains("perilune: ") && said.contains(message), "{done:?}");
        done
    };
    let done = check(&["-o", "no/such/folder.html", "p.lua"], "no/such/folder.html: No such file");
    assert!(done.stdout.is_empty(), "the script has not run");
    check(&["-o", "p.html", "missing.lua"], "missing.lua: No such file");
    assert!(!f.file("p.html").exists(), "and nothing is left behind");
    check(&["-o", "/dev/full", "p.lua"], "/dev/full: No space left on device");
    check(&["--json", "/dev/full", "p.lua"], "/dev/full: No space left on device");
    check(&["-O", "nonsense", "-o", "p.html", "p.lua"], "unknown or malformed optimization flag 'nonsense'");
    f.write("q.lua", b"for i = 1, 100 do x = i end io.write('ran') os.exit(0)");
    let done = check(&["-o", "/dev/full", "q.lua"], "/dev/full: No space left on device");
    assert_eq!(done.stdout, b"ran");
    assert_eq!(trace(f.path(), &["p.lua"]).status.code(), Some(1), "an output is wanted");
    let done = trace(f.path(), &["--json", "-", "p.lua"]);
    let json = done.stdout.strip_prefix(b"ran\n").expect("the script's output comes first");
    assert_eq!(serde_json::from_slice::<Value>(json).unwrap()["format"], "perilune-traces");
}

/// A program with thousands of traces: nothing is left out, and the page is written in time.
#[test]
fn thousands_of_traces() {
    let source = "local kept = {}
for i = 1, 1000 do
  local text = 'local x = 0 for j = 1, 60 do if j % ' .. i % 7 + 2 .. ' == 0 then x = x + j else x = x - 1 end end return x'
  local f = loadstring(text, '@gen' .. i % 20 .. '.lua')
  kept[i] = f
  f()
end";
    let begun = std::time::Instant::now();
    let (data, done) = explored("many", source, &["-O", EAGER, "-O", "maxtrace=4000"]);
    assert!(done.status.success());
    let (traces, code) = (list(&data["traces"]), list(&data["code"]));
    assert!(traces.len() >= 2000 && code.iter().all(Value::is_object), "{}", traces.len());
    assert!(data["left_out"].as_object().unwrap().values().all(|n| *n == 0));
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
