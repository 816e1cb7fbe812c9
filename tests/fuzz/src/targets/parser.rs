//! The parser: any bytes are a program or a syntax error. The dump of a program is read, and is the dump of what was read.

use perilune_vm::Vm;

/// Longer texts are left alone.
const MOST: usize = 1 << 16;

/// Runs the target.
pub fn run(data: &[u8]) {
    // What begins like a binary chunk is for the target of that name.
    if data.len() > MOST || data.first() == Some(&0x1b) {
        return;
    }
    let mut vm = Vm::new();
    let Ok(f) = vm.load_chunk(data, b"=text", None) else { return };
    for strip in [false, true] {
        let dump = vm.dump(f, strip).unwrap_or_else(|| panic!("a chunk is written in Lua"));
        let again = vm.load_chunk(&dump, b"=text", None);
        let again = again.unwrap_or_else(|e| panic!("its dump is refused: {}", e.to_str_lossy()));
        assert!(vm.dump(again, strip).is_some_and(|second| second == dump), "the dump of what was read is another one");
    }
}
