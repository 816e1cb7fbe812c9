//! Unit tests of the text helpers. Expected texts are what LuaJIT prints.

use super::format::{put_address, put_char, put_integer, put_quoted, put_str};
use super::number::{NumText, to_i32, to_i64, to_u64};
use super::spec::{Conv, Piece, Pieces, Spec};
use super::{compare, find_byte, find_plain, float, same};

fn num(n: f64) -> String {
    String::from_utf8(NumText::num(n).to_vec()).unwrap()
}

#[test]
fn numbers() {
    let cases: &[(f64, &str)] = &[
        (0.0, "0"),
        (-0.0, "-0"),
        (1e14, "1e+14"),
        (99999999999999.0, "99999999999999"),
        (-1e15, "-1e+15"),
        (0.1, "0.1"),
        (1.0 / 3.0, "0.33333333333333"),
        (2.0 / 3.0, "0.66666666666667"),
        (0.1 + 0.2, "0.3"),
        (123456789012345.0, "1.2345678901234e+14"),
        (12345678901234.5, "12345678901234"),
        (123456789012345.5, "1.2345678901235e+14"),
        (0.00012345678901234567, "0.00012345678901235"),
        (1e-4, "0.0001"),
        (1e-5, "1e-05"),
        (1.5e-5, "1.5e-05"),
        (9.9999999999999e-5, "9.9999999999999e-05"),
        (0.99999999999999999, "1"),
        (0.999999999999999, "1"),
        (99999999999999.9, "1e+14"),
        (9999999999999.96, "10000000000000"),
        (5e-324, "4.9406564584125e-324"),
        (f64::MAX, "1.7976931348623e+308"),
        (std::f64::consts::PI, "3.1415926535898"),
        (18454937.6, "18454937.6"),
        (100.5, "100.5"),
        (1e21, "1e+21"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
        (-f64::NAN, "nan"),
        (9007199254740992.0, "9.007199254741e+15"),
    ];
    for (n, s) in cases {
        assert_eq!(num(*n), *s);
    }
    assert_eq!(&*NumText::int(i32::MIN), b"-2147483648");
    assert_eq!(&*NumText::int(907), b"907");
    assert_eq!(&*NumText::int64(i64::MIN), b"-9223372036854775808");
}

/// `%.{prec}g` by the standard library's formats.
fn reference(n: f64, prec: usize) -> String {
    let scientific = format!("{n:.*e}", prec - 1);
    let (mantissa, exp) = scientific.split_once('e').unwrap();
    let exp: i32 = exp.parse().unwrap();
    let trimmed = |s: &str| if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').into() } else { s.to_owned() };
    if exp < -4 || exp >= prec as i32 {
        let sign = if exp < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exp.unsigned_abs());
    }
    trimmed(&format!("{n:.*}", (prec as i32 - 1 - exp) as usize))
}

/// The fast paths agree with the general ones.
#[test]
fn numbers_agree() {
    let mut x = 0x2545_f491_4f6c_dd1du64;
    for i in 0..200_000 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        let n = match i % 4 {
            0 => f64::from_bits(x),
            // Few decimals, and the doubles next to those.
            1 => f64::from_bits(
                ((x >> (20 + i % 40)) as f64 / 1000.0).to_bits().wrapping_add_signed([0, 0, 1, -1][i as usize / 4 % 4]),
            ),
            2 => (x >> 11) as f64 * 2f64.powi(-(i % 90)),
            _ => (x >> 20) as f64 * 0.5f64.powi(i % 30),
        };
        if n.is_finite() {
            assert_eq!(num(n), reference(n, 14), "{n:?}");
            let prec = i % 20;
            let format = |conv| {
                let spec = Spec { prec: Some(prec as u8), ..Spec::new(conv) };
                String::from_utf8(float::text(&spec, n).to_vec()).unwrap()
            };
            assert_eq!(format(Conv::General), reference(n, (prec as usize).max(1)), "%.{prec}g of {n:?}");
            assert_eq!(format(Conv::Fixed), format!("{n:.*}", prec as usize), "%.{prec}f of {n:?}");
        }
    }
}

#[test]
fn conversions() {
    assert_eq!(to_i32(3.99), 3);
    assert_eq!(to_i32(-2147483648.9), i32::MIN);
    assert_eq!(to_i32(2147483648.0), i32::MIN);
    assert_eq!(to_i32(f64::NAN), i32::MIN);
    assert_eq!(to_i64(1e300), i64::MIN);
    assert_eq!(to_u64(-1.0), u64::MAX);
    assert_eq!(to_u64(1e19), 10_000_000_000_000_000_000);
    assert_eq!(to_u64(18446744073709551616.0), 0);
}

enum Arg {
    F(f64),
    I(i64),
    S(&'static str),
}

fn format(fmt: &str, args: &[Arg]) -> String {
    let mut out = Vec::new();
    let mut args = args.iter();
    for piece in Pieces::new(fmt.as_bytes()) {
        match piece {
            Piece::Literal(s) => out.extend_from_slice(s),
            Piece::Bad(s) => return format!("bad {}", String::from_utf8_lossy(s)),
            Piece::Spec(spec) => match args.next().unwrap() {
                Arg::F(n) => float::put_float(&mut out, &spec, *n),
                Arg::I(k) if spec.conv == Conv::Char => put_char(&mut out, &spec, *k as u8),
                Arg::I(k) => put_integer(&mut out, &spec, *k as u64),
                Arg::S(s) => put_str(&mut out, &spec, s.as_bytes()),
            },
        }
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn formats() {
    use Arg::{F, I, S};
    let cases: &[(&str, &[Arg], &str)] = &[
        ("a%%b%d%%", &[I(5)], "a%b5%"),
        ("%5d|%-5d|%05d|%+d|% d|%+ d", &[I(42), I(42), I(-42), I(42), I(42), I(42)], "   42|42   |-0042|+42| 42|+42"),
        ("%5.3d|%-8.3d|%08d|%+08d", &[I(5), I(5), I(-5), I(5)], "  005|005     |-0000005|+0000005"),
        ("%x|%X|%#X|%#o|%#x|%#o", &[I(255), I(255), I(255), I(8), I(0), I(0)], "ff|FF|0XFF|010|0|0"),
        ("%.0d|%.0x|%#.0o|%5.0d|", &[I(0), I(0), I(0), I(0)], "||0|     |"),
        ("%u %x", &[I(-1), I(-1)], "18446744073709551615 ffffffffffffffff"),
        ("%c|%3c|%-3c|", &[I(65), I(66), I(67)], "A|  B|C  |"),
        ("%s|%5.1s|%-5s|%.20s|%.0s", &[S("a"), S("abc"), S("x"), S("abc"), S("q")], "a|    a|x    |abc|"),
        ("%g %g %G %#g %#.3g", &[F(1e20), F(1e-10), F(1e-10), F(1.0), F(1.5)], "1e+20 1e-10 1E-10 1.00000 1.50"),
        ("%.3g %.17g %.0g %#.0g", &[F(1234567.0), F(0.1), F(15.0), F(15.0)], "1.23e+06 0.10000000000000001 2e+01 2.e+01"),
        ("%e %E %.0e %#.0e", &[F(12345.678), F(1e100), F(5.0), F(5.0)], "1.234568e+04 1.000000E+100 5e+00 5.e+00"),
        ("%.0f %.0f %.0f %.1f %#.0f", &[F(0.5), F(1.5), F(2.5), F(0.25), F(3.0)], "0 2 2 0.2 3."),
        (
            "%10.2f|%-10.2f|%+.2f|% .2f|%010.2f",
            &[F(3.26159), F(3.26159), F(3.26159), F(3.26159), F(-3.26159)],
            "      3.26|3.26      |+3.26| 3.26|-000003.26",
        ),
        (
            "%010g|%-6g|%+g|% g|%+g|%F",
            &[F(f64::INFINITY), F(f64::NEG_INFINITY), F(f64::NAN), F(f64::NAN), F(f64::INFINITY), F(f64::INFINITY)],
            "       inf|-inf  |nan| nan|+inf|INF",
        ),
        (
            "%a %a %a %a %a",
            &[F(0.0), F(-0.0), F(1e-310), F(5e-324), F(255.5)],
            "0x0p+0 -0x0p+0 0x1.2688b70e62bp-1030 0x1p-1074 0x1.ffp+7",
        ),
        (
            "%.1a %.15a %+a %#.0a %A %.0a|%20a|%020a",
            &[F(1.99), F(1.0), F(1.0), F(1.0), F(0.1), F(1.5), F(2.0), F(-2.0)],
            "0x2.0p+0 0x1.000000000000000p+0 +0x1p+0 0x1.p+0 0X1.999999999999AP-4 0x2p+0|              0x1p+1|-0x00000000000001p+1",
        ),
        ("%y", &[], "bad %y"),
        ("%", &[], "bad %"),
        ("%100d", &[], "bad %100"),
        ("%.100d", &[], "bad %.100"),
        ("%5%", &[], "bad %5%"),
        ("%ll", &[], "bad %l"),
        ("%\u{1}", &[], "bad %"),
    ];
    for (fmt, args, expected) in cases {
        assert_eq!(format(fmt, args), *expected, "{fmt}");
    }
    assert_eq!(format("%.99f", &[F(f64::MAX)]).len(), 309 + 100);
}

#[test]
fn quoted_and_addresses() {
    let mut out = Vec::new();
    put_quoted(&mut out, b"a\nb\r\x001\x00\xc8\"\\\t\x7f");
    assert_eq!(out, b"\"a\\\nb\\13\\0001\\0\xc8\\\"\\\\\\9\\127\"");
    for (a, s) in [(0, "NULL"), (0x1234, "0x00001234"), (0x1_0000_0000, "0x0100000000"), (0x7fe2_eebf_f8e8, "0x7fe2eebff8e8")] {
        let mut out = Vec::new();
        put_address(&mut out, a);
        assert_eq!(out, s.as_bytes());
    }
}

#[test]
fn plain_search() {
    let hay: Vec<u8> = (0..200u8).collect();
    for i in 0..200u8 {
        assert_eq!(find_byte(&hay, i), Some(i as usize));
        assert_eq!(find_byte(&hay[..i as usize], i), None);
    }
    // Bytes that carry into the next one, and the zeros that follow a short text in its word.
    let bytes = [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff];
    for len in 0..80 {
        let hay: Vec<u8> = (0..len).map(|i| bytes[i * i * 7 % 13 % bytes.len()]).collect();
        for start in 0..len {
            for byte in bytes {
                assert_eq!(
                    find_byte(&hay[start..], byte),
                    hay[start..].iter().position(|b| *b == byte),
                    "{hay:?} {start} {byte}"
                );
            }
        }
    }
    assert_eq!(find_plain(b"hello", b""), Some(0));
    assert_eq!(find_plain(b"hello", b"lo"), Some(3));
    assert_eq!(find_plain(b"hello", b"hello!"), None);
    assert_eq!(find_plain(b"aaab", b"aab"), Some(1));
    assert_eq!(find_plain(b"", b"x"), None);
    // Near and far, and where the search method changes.
    for n in [0, 1, 62, 63, 64, 65, 254, 255, 256, 257, 1000] {
        let hay = [&b"ab".repeat(n)[..n], b"abc", &b"ab".repeat(40)].concat();
        let expected = hay.windows(3).position(|w| w == b"abc");
        assert_eq!(find_plain(&hay, b"abc"), expected, "{n}");
        assert_eq!(find_byte(&hay, b'c'), expected.map(|i| i + 2), "{n}");
        assert_eq!(find_plain(&hay, b"abd"), None, "{n}");
    }
}

#[test]
fn order_and_equality() {
    let long = b"\0abcdefgh\xff0123456789";
    let texts: Vec<Vec<u8>> = (0..=long.len())
        .flat_map(|n| (0..=n).map(move |at| (n, at)))
        .map(|(n, at)| {
            // One byte differs, or none does.
            let mut text = long[..n].to_vec();
            if let Some(c) = text.get_mut(at) {
                *c ^= 0x80;
            }
            text
        })
        .collect();
    for a in &texts {
        for b in &texts {
            assert_eq!(compare(a, b), a.cmp(b), "{a:?} {b:?}");
            assert_eq!(same(a, b), a == b, "{a:?} {b:?}");
        }
    }
}

#[test]
fn chunk_ids() {
    use super::chunk::chunk_id;
    let long = "x".repeat(70);
    let cases = [
        ("=stdin".to_string(), "stdin".to_string()),
        ("@a.lua".to_string(), "a.lua".to_string()),
        (format!("@{long}"), format!("...{}", "x".repeat(56))),
        (format!("={long}"), "x".repeat(59)),
        ("return 1".to_string(), "[string \"return 1\"]".to_string()),
        ("a = 1\nb = 2".to_string(), "[string \"a = 1...\"]".to_string()),
        ("x".repeat(48), format!("[string \"{}\"]", "x".repeat(48))),
        ("x".repeat(49), format!("[string \"{}...\"]", "x".repeat(45))),
    ];
    for (name, shown) in cases {
        assert_eq!(chunk_id(name.as_bytes()), shown.as_bytes());
    }
}
