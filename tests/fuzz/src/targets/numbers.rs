//! Numbers and text. What `tonumber` makes of a text is what C's `strtod` does where both read the same grammar; what is printed is
//! what C's `printf` prints; and 17 digits are enough to come back to the same double.

use crate::input::Input;
use crate::states::{Kept, string};
use perilune_vm::bc::KNum;
use perilune_vm::syntax::number::scan_number;
use perilune_vm::text::NumText;
use perilune_vm::text::float::put_float;
use perilune_vm::text::format::put_integer;
use perilune_vm::text::spec::{Conv, Spec};
use std::ffi::CString;

/// Longest text, its runs of zeros written out.
const LONGEST: usize = 2 << 20;
/// Exponents from here on are refused.
const EXPONENTS: i32 = 1 << 20;

thread_local! {
    static STATE: Kept = const {
        // Only the text that says so is not a number.
        Kept::new("return function(s, base) local ok, n = pcall(tonumber, s, base) \
            assert(not ok or not n or n == n or s:lower():find('nan', 1, true)) end", "numbers")
    };
}

/// Runs the target.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.byte() % 4 {
        0 | 1 => scan(&text(input.rest())),
        2 => print(&mut input),
        _ => bases(&mut input),
    }
}

/// The text of some bytes: those from 0x80 on are runs of zeros, which may be long.
fn text(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for &b in bytes {
        match b {
            0x80.. => {
                let zeros = 1usize << ((b & 0x1f) % 20);
                text.resize((text.len() + zeros + usize::from(b >> 5)).min(LONGEST), b'0');
            }
            _ => text.push(b),
        }
    }
    text
}

fn double(n: KNum) -> f64 {
    match n {
        KNum::Int(i) => f64::from(i),
        KNum::Num(x) => x,
    }
}

/// A text that `tonumber` and `strtod` read alike: digits with a point, perhaps hexadecimal, and an exponent within the limits.
fn is_common(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let (hex, text) = match text {
        [b'0', b'x' | b'X', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let end = text.iter().position(|c| matches!(c, b'p' | b'P') || !hex && matches!(c, b'e' | b'E'));
    let (mantissa, exponent) = text.split_at(end.unwrap_or(text.len()));
    let digits = mantissa.iter().filter(|c| if hex { c.is_ascii_hexdigit() } else { c.is_ascii_digit() }).count();
    let points = mantissa.iter().filter(|c| **c == b'.').count();
    let number = exponent.get(1..).is_none_or(|e| {
        let e = core::str::from_utf8(e).ok().and_then(|e| e.parse::<i32>().ok());
        e.is_some_and(|e| e.unsigned_abs() < EXPONENTS as u32)
    });
    digits > 0
        && points <= 1
        && digits + points == mantissa.len()
        && number
        && (hex || !exponent.starts_with(b"p"))
        && (hex || !exponent.starts_with(b"P"))
}

fn scan(text: &[u8]) {
    let found = scan_number(text).map(double);
    if !is_common(text) {
        return;
    }
    let c = CString::new(text).expect("digits");
    // SAFETY: a text with its end.
    let expected = unsafe { libc::strtod(c.as_ptr(), core::ptr::null_mut()) };
    let shown = || String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
    let found = found.unwrap_or_else(|| panic!("refused: {} ({} bytes)", shown(), text.len()));
    assert!(found.to_bits() == expected.to_bits(), "{} ({} bytes): {found:e}, not {expected:e}", shown(), text.len());
}

/// What C prints; it has no precision beyond what we accept.
fn c_text(format: &str, put: impl Fn(*mut libc::c_char, usize, *const libc::c_char) -> libc::c_int) -> Vec<u8> {
    let mut out = vec![0u8; 600];
    let format = CString::new(format).expect("no NUL");
    let n = put(out.as_mut_ptr().cast(), out.len(), format.as_ptr());
    out.truncate(usize::try_from(n).expect("formatted"));
    out
}

fn print(input: &mut Input) {
    let n = input.number();
    let flags = input.byte();
    let mut spec = Spec::new(input.of(&[Conv::Exp, Conv::Fixed, Conv::General, Conv::General, Conv::Int, Conv::Hex, Conv::Oct]));
    (spec.left, spec.plus, spec.space) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    (spec.alt, spec.zero, spec.upper) = (flags & 8 != 0, flags & 16 != 0, flags & 32 != 0);
    spec.width = input.below(100) as u8;
    spec.prec = (flags & 64 != 0).then(|| input.below(100) as u8);
    let letter = match spec.conv {
        Conv::Exp => 'e',
        Conv::Fixed => 'f',
        Conv::General => 'g',
        Conv::Int => 'd',
        Conv::Hex => 'x',
        _ => 'o',
    };
    let is_float = matches!(spec.conv, Conv::Exp | Conv::Fixed | Conv::General);
    // The one letter that has no other case is that of octal and decimal digits.
    spec.upper &= is_float || spec.conv == Conv::Hex;
    let letter = if spec.upper { letter.to_ascii_uppercase() } else { letter };
    let mut format = String::from("%");
    format.extend(
        [(spec.left, '-'), (spec.plus, '+'), (spec.space, ' '), (spec.alt, '#'), (spec.zero, '0')]
            .iter()
            .filter(|f| f.0)
            .map(|f| f.1),
    );
    if spec.width != 0 {
        format += &spec.width.to_string();
    }
    if let Some(prec) = spec.prec {
        format += &format!(".{prec}");
    }
    let mut out = Vec::new();
    let expected = if is_float {
        if !n.is_finite() {
            put_float(&mut out, &spec, n);
            return;
        }
        put_float(&mut out, &spec, n);
        format.push(letter);
        // SAFETY: the buffer has this size, and the format takes one double.
        c_text(&format, |to, size, format| unsafe { libc::snprintf(to, size, format, n) })
    } else {
        let k = n.to_bits();
        put_integer(&mut out, &spec, k);
        format += "ll";
        format.push(letter);
        if spec.alt && spec.conv == Conv::Oct {
            // LuaJIT puts its zero in front of the others, C makes the precision one more.
            return;
        }
        // SAFETY: as above, and one 64-bit integer.
        c_text(&format, |to, size, format| unsafe { libc::snprintf(to, size, format, k) })
    };
    let [shown, wanted] = [&out, &expected].map(|t| String::from_utf8_lossy(t).into_owned());
    assert_eq!(shown, wanted, "{format} of {n:e}");
    if n.is_finite() {
        come_back(n);
    }
}

/// Prints a double in enough digits to be itself again, and as `tostring` does.
fn come_back(n: f64) {
    let mut text = Vec::new();
    put_float(&mut text, &Spec { prec: Some(17), ..Spec::new(Conv::General) }, n);
    let again = scan_number(&text).map(double);
    assert!(again.is_some_and(|x| x.to_bits() == n.to_bits()), "{n:e} comes back as {again:?}");
    // SAFETY: as in `print`.
    let c = c_text("%.14g", |to, size, format| unsafe { libc::snprintf(to, size, format, n) });
    assert_eq!(String::from_utf8_lossy(&NumText::num(n)), String::from_utf8_lossy(&c), "tostring");
}

/// `tonumber` with a base: an error, nil, or a number.
fn bases(input: &mut Input) {
    let base = i32::from(input.byte() as i8);
    let text = input.rest();
    STATE.with(|s| {
        s.with(|lua, f| f.call::<()>((string(lua, text), base)).unwrap_or_else(|e| panic!("{e}")));
    });
    if !(2..=36).contains(&base) || base == 10 {
        return;
    }
    let digits = core::str::from_utf8(text).ok().filter(|t| t.bytes().all(|c| c.is_ascii_alphanumeric()));
    let Some(expected) = digits.and_then(|t| u64::from_str_radix(t, base as u32).ok()) else { return };
    STATE.with(|s| {
        s.with(|lua, _| {
            let f: perilune::Function = lua.load("tonumber").eval().expect("it is there");
            let found: Option<f64> = f.call((string(lua, text), base)).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(found, Some(expected as f64), "tonumber of {digits:?} in base {base}");
        });
    });
}
