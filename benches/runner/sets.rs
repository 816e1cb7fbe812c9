//! The sets of programs: our own, and what the manifests of `benches/public` list.

use std::path::{Path, PathBuf};

/// A program as it is started.
pub struct Program {
    pub name: String,
    /// It is started there.
    pub folder: PathBuf,
    /// What follows the engine's own options.
    pub args: Vec<String>,
    pub stdin: Option<PathBuf>,
}

impl Program {
    /// How much it is to do, where its last argument is a number.
    pub fn size(&self) -> Option<u64> {
        self.args.last().and_then(|text| text.parse().ok())
    }
}

pub struct Set {
    pub name: &'static str,
    pub programs: Vec<Program>,
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))
}

/// The programs of `benches/programs`, at their full size.
pub fn own(benches: &Path) -> Result<Set, String> {
    let folder = benches.join("programs");
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let file = entry.map_err(|e| e.to_string())?.path();
        if file.extension().is_none_or(|e| e != "lua") {
            continue;
        }
        let text = read(&file)?;
        let size = text.lines().find_map(|line| line.strip_prefix("local n = tonumber(arg and arg[1]) or "));
        let size = size.ok_or(format!("{}: no full size", file.display()))?.trim().to_owned();
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        programs.push(Program { args: vec![format!("{name}.lua"), size], name, folder: folder.clone(), stdin: None });
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Set { name: "own", programs })
}

/// The programs of a manifest, whose lines are `name | folder | arguments | file to read`; `$HERE` is the folder of the manifest,
/// `$PEERS` that of the checkouts.
pub fn listed(name: &'static str, benches: &Path, checkouts: &Path) -> Result<Set, String> {
    let here = benches.join("public");
    let text = read(&here.join(name).with_extension("manifest"))?;
    let full = |part: &str| part.replace("$HERE", &here.to_string_lossy()).replace("$PEERS", &checkouts.to_string_lossy());
    let mut programs = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[name, folder, args, ref rest @ ..] = &parts[..] else { return Err(format!("{name}.manifest: {line}")) };
        programs.push(Program {
            name: name.to_owned(),
            folder: full(folder).into(),
            args: args.split_whitespace().map(full).collect(),
            stdin: rest.first().map(|file| full(file).into()),
        });
    }
    Ok(Set { name, programs })
}

/// What of the checkouts a program wants and is not there.
pub fn missing(program: &Program, checkouts: &Path) -> Option<PathBuf> {
    let paths = program.args.iter().map(PathBuf::from).chain([program.folder.clone()]);
    paths.filter(|path| path.starts_with(checkouts)).find(|path| !path.exists())
}
