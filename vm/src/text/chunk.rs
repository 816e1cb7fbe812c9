//! How the name of a chunk is shown in messages.

/// Longest name shown, plus one.
const ID_SIZE: usize = 60;

/// The display form of a chunk name up to a NUL: a name after `=` unchanged, the end of a file name after `@`, the first line of a source
/// text.
pub fn chunk_id(name: &[u8]) -> Vec<u8> {
    match super::until_nul(name) {
        [b'=', rest @ ..] => rest[..rest.len().min(ID_SIZE - 1)].to_vec(),
        [b'@', rest @ ..] if rest.len() >= ID_SIZE => [b"...", &rest[rest.len() - (ID_SIZE - 4)..]].concat(),
        [b'@', rest @ ..] => rest.to_vec(),
        source => {
            const LINE: usize = ID_SIZE - 12;
            let head = &source[..source.len().min(LINE)];
            let line = head.iter().position(|c| *c < b' ').unwrap_or(head.len());
            if line == source.len() {
                [b"[string \"", source, b"\"]"].concat()
            } else {
                [b"[string \"", &source[..line.min(ID_SIZE - 15)], b"...\"]"].concat()
            }
        }
    }
}
