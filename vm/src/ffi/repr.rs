//! Types and numbers as text.

use super::ctype::{CHAR_SIGN, CType, CTypeId, CTypeTable, Ct, Info, NO_SIZE, attrib};
use crate::text::NumText;

/// The most bytes before the name of what is declared, or after it; longer types are shown as `?`, as in LuaJIT.
const LONGEST: usize = 256;

/// A declaration that is being built from the inside out.
#[derive(Default)]
struct Declaration {
    /// Words and marks before the name, the innermost first.
    before: Vec<Vec<u8>>,
    after: Vec<u8>,
    /// Does the next word need a blank after it?
    spaced: bool,
}

impl Declaration {
    fn word(&mut self, word: &[u8]) {
        if self.spaced {
            self.mark(b" ");
        }
        self.spaced = true;
        self.mark(word);
    }
    fn mark(&mut self, mark: &[u8]) {
        self.before.push(mark.to_vec());
    }
    fn qualifiers(&mut self, flags: u32) {
        if flags & Info::VOLATILE != 0 {
            self.word(b"volatile");
        }
        if flags & Info::CONST != 0 {
            self.word(b"const");
        }
    }
    /// A struct or enumeration by its name, or else its number.
    fn tagged(&mut self, ct: &CType, id: CTypeId, qual: u32, keyword: &[u8]) {
        match &ct.name {
            Some(name) => self.word(name),
            None => self.word(id.0.to_string().as_bytes()),
        }
        self.word(keyword);
        self.qualifiers(qual);
    }
    fn number(&mut self, info: Info, size: u32) {
        let unsigned = info.has(Info::UNSIGNED);
        if info.has(Info::BOOL) {
            self.word(b"bool");
        } else if info.has(Info::FP) {
            self.word(match size {
                8 => b"double",
                4 => b"float",
                _ => b"long double",
            });
        } else if size == 1 {
            let plain = info.0 & Info::UNSIGNED == CHAR_SIGN;
            self.word(match (plain, unsigned) {
                (true, _) => b"char",
                (false, true) => b"unsigned char",
                (false, false) => b"signed char",
            });
        } else if size < 8 {
            self.word(if size == 4 { b"int" } else { b"short" });
            if unsigned {
                self.word(b"unsigned");
            }
        } else {
            self.word(format!("{}int{}_t", if unsigned { "u" } else { "" }, size * 8).as_bytes());
        }
    }
    /// Parentheses around a pointer to an array or function.
    fn parenthesize(&mut self) {
        self.mark(b"(");
        self.after.push(b')');
    }
    fn into_text(self) -> Vec<u8> {
        let mut before = self.before.concat();
        before.clear();
        for piece in self.before.iter().rev() {
            before.extend_from_slice(piece);
        }
        if before.len() > LONGEST || self.after.len() > LONGEST {
            return b"?".to_vec();
        }
        before.extend_from_slice(&self.after);
        before
    }
}

impl CTypeTable {
    /// A type as text, as `tostring` and errors show it; with a name, the declaration of it.
    pub fn repr(&self, id: CTypeId, name: Option<&[u8]>) -> Vec<u8> {
        let mut d = Declaration::default();
        if let Some(name) = name {
            d.word(name);
        }
        let (mut id, mut qual, mut behind_pointer) = (id, 0, false);
        loop {
            let ct = self.get(id);
            let (info, size) = (ct.info, ct.size);
            match info.ct() {
                Ct::Num => {
                    d.number(info, size);
                    d.qualifiers(qual | info.0);
                    break;
                }
                Ct::Void => {
                    d.word(b"void");
                    d.qualifiers(qual | info.0);
                    break;
                }
                Ct::Struct => {
                    d.tagged(ct, id, qual, if info.has(Info::UNION) { b"union" } else { b"struct" });
                    break;
                }
                Ct::Enum if id == CTypeId::CTYPEID => {
                    d.word(b"ctype");
                    break;
                }
                Ct::Enum => {
                    d.tagged(ct, id, qual, b"enum");
                    break;
                }
                Ct::Array if info.has(Info::COMPLEX) => {
                    if size == 8 {
                        d.word(b"float");
                    }
                    d.word(b"complex");
                    break;
                }
                Ct::Attrib => {
                    if info.attrib() == attrib::QUAL {
                        qual |= size;
                    }
                }
                Ct::Ptr => {
                    if info.has(Info::REF) {
                        d.mark(b"&");
                    } else {
                        d.qualifiers(qual | info.0);
                        if size == 4 {
                            d.word(b"__ptr32");
                        }
                        d.mark(b"*");
                    }
                    qual = 0;
                    behind_pointer = true;
                    d.spaced = true;
                }
                Ct::Array if info.has(Info::VECTOR) => {
                    d.word(format!("__attribute__((vector_size({size})))").as_bytes());
                }
                Ct::Array => {
                    d.spaced = true;
                    if core::mem::take(&mut behind_pointer) {
                        d.parenthesize();
                    }
                    let element = self.get(info.child()).size;
                    let count = match size {
                        NO_SIZE if info.has(Info::VLA) => "?".to_owned(),
                        NO_SIZE => String::new(),
                        _ => size.checked_div(element).unwrap_or(0).to_string(),
                    };
                    d.after.extend_from_slice(format!("[{count}]").as_bytes());
                }
                Ct::Func => {
                    d.spaced = true;
                    if core::mem::take(&mut behind_pointer) {
                        d.parenthesize();
                    }
                    d.after.extend_from_slice(b"()");
                }
                Ct::Typedef | Ct::Field | Ct::Bitfield | Ct::Constval | Ct::Extern | Ct::Kw => {}
            }
            id = info.child();
        }
        d.into_text()
    }
}

/// A 64-bit integer with its suffix.
pub fn int64(bits: u64, unsigned: bool) -> String {
    if unsigned { format!("{bits}ULL") } else { format!("{}LL", bits as i64) }
}

/// A complex number with its suffix.
pub fn complex(re: f64, im: f64) -> Vec<u8> {
    let mut text = NumText::num(re).to_vec();
    if im.is_nan() || im.is_sign_positive() {
        text.push(b'+');
    }
    text.extend_from_slice(&NumText::num(im));
    // After a word (inf, nan) it is in capitals.
    let word = text.last().is_some_and(|c| *c >= b'a');
    text.push(if word { b'I' } else { b'i' });
    text
}
