//! Where the interactive mode has its lines from: a terminal, with editing, completion and a history that is kept; or anything else.
#![allow(unsafe_code, reason = "the line editor has borrowed the state, and completes only while it reads a line")]

use super::complete::complete;
use super::highlight::highlight;
use crate::cli::style;
use core::cell::Cell;
use perilune_vm::Vm;
use perilune_vm::stdlib::io::{flush_stdout, read_line_stdin, write_stdout};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::io::IsTerminal;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Entries of the history that are kept.
const HISTORY: usize = 1000;

/// What reading a line gives.
pub enum Line {
    Text(Vec<u8>),
    /// Ctrl-C: what came before is dropped.
    Cancel,
    End,
}

/// Where lines come from.
pub struct Lines {
    /// The terminal's; `None` if there is none.
    editor: Option<Box<Editor<Chunk, FileHistory>>>,
    /// The file of the history.
    history: Option<PathBuf>,
}

/// Completes names, and colours what is typed.
struct Chunk {
    /// The state, while a line is read; else null.
    vm: *const Vm,
    /// The lines of the chunk that were read before.
    before: String,
    colours: bool,
    /// Is the line being edited? The last time that it is drawn, no bracket is marked.
    editing: Cell<bool>,
}

impl Helper for Chunk {}
impl Validator for Chunk {}
impl Hinter for Chunk {
    type Hint = String;
}
impl Highlighter for Chunk {
    fn highlight<'l>(&self, line: &'l str, pos: usize) -> Cow<'l, str> {
        if self.colours { highlight(&self.before, line, self.editing.get().then_some(pos)).into() } else { line.into() }
    }
    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.editing.set(kind != CmdKind::ForcedRefresh);
        self.colours
    }
}
impl Completer for Chunk {
    type Candidate = String;
    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        // SAFETY: `Lines::read` has borrowed the state, and uses it for nothing else meanwhile.
        Ok(unsafe { self.vm.as_ref() }.map_or((pos, Vec::new()), |vm| complete(vm, line, pos)))
    }
}

impl Lines {
    /// `keeps`: may the history be kept?
    pub fn open(keeps: bool) -> Lines {
        if !std::io::stdin().is_terminal() {
            return Lines { editor: None, history: None };
        }
        let config = Config::builder().completion_type(CompletionType::List).max_history_size(HISTORY).map(|c| c.build());
        let mut editor = config.and_then(Editor::with_config).ok().map(Box::new);
        let history = history_file().filter(|_| keeps);
        if let Some(editor) = &mut editor {
            let colours = style::stdout_has_colours();
            editor.set_helper(Some(Chunk { vm: core::ptr::null(), before: String::new(), colours, editing: Cell::new(false) }));
            if let Some(file) = &history {
                // There is none before the first time.
                let _ = editor.load_history(file);
            }
        }
        Lines { editor, history }
    }
    /// Is there a terminal?
    pub fn is_terminal(&self) -> bool {
        self.editor.is_some()
    }
    /// A line without its newline. `before` are the lines of the same chunk that were read already.
    pub fn read(&mut self, vm: &Vm, prompt: &[u8], before: &[u8]) -> Line {
        let Some(editor) = &mut self.editor else {
            write_stdout(prompt);
            flush_stdout();
            let mut line = Vec::new();
            if !read_line_stdin(vm, &mut line) {
                return Line::End;
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            return Line::Text(line);
        };
        flush_stdout();
        if let Some(h) = editor.helper_mut() {
            h.vm = vm;
            h.before = String::from_utf8_lossy(before).into_owned();
            if !before.is_empty() {
                h.before.push('\n');
            }
        }
        let line = editor.readline(&*String::from_utf8_lossy(prompt));
        editor.helper_mut().into_iter().for_each(|h| h.vm = core::ptr::null());
        match line {
            Ok(line) => Line::Text(line.into_bytes()),
            Err(ReadlineError::Interrupted) => Line::Cancel,
            Err(_) => Line::End,
        }
    }
    /// Remembers a complete chunk.
    pub fn remember(&mut self, chunk: &[u8]) {
        let Some(editor) = self.editor.as_mut().filter(|_| !chunk.is_empty()) else { return };
        // A history that is full, wants no duplicates or cannot be written is no error.
        let added = editor.add_history_entry(String::from_utf8_lossy(chunk)).unwrap_or(false);
        if let Some(file) = self.history.as_ref().filter(|_| added) {
            let _ = make_folder(file).and_then(|()| editor.append_history(file).map_err(std::io::Error::other));
        }
    }
}

/// `perilune/history` in the XDG state directory.
fn history_file() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("perilune/history"))
}

/// Makes the folder of a file, for nobody else to look into.
fn make_folder(file: &Path) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), |folder| std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder))
}
