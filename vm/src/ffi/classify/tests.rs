use super::*;
use Place::{General, Stack, Vector};

fn int(size: u32) -> Passed {
    Passed { size, align: size, form: Form::Integer }
}
fn float(size: u32) -> Passed {
    Passed { size, align: size, form: Form::Float }
}
/// An aggregate of these members, each at its natural offset: `i4`, `f8`, `v16`.
fn aggregate(members: &str) -> Passed {
    let (mut end, mut align, mut m) = (0u32, 1, Members::default());
    for member in members.split_whitespace() {
        let size: u32 = member[1..].parse().expect("a size");
        let scalar = match &member[..1] {
            "i" => Scalar::Integer,
            "f" => Scalar::Float,
            _ => Scalar::Vector,
        };
        let offset = end.next_multiple_of(size);
        m.scalar(offset, size, scalar);
        m.align_to(size);
        end = offset + size;
        align = align.max(size);
    }
    Passed { size: end.next_multiple_of(align), align, form: Form::Aggregate(m) }
}
/// Where arguments of one call are, as text: `offset:size@place`, joined by `+`, `&` in front of an address.
fn locations<C: Convention>(arguments: &[Passed]) -> Vec<String> {
    let mut convention = C::default();
    arguments.iter().map(|a| convention.argument(a).map_or("unsupported".into(), |l| text(&l))).collect()
}
fn text(l: &Location) -> String {
    let pieces = l.pieces().iter().map(|p| {
        let place = match p.place {
            General(n) => format!("g{n}"),
            Vector(n) => format!("v{n}"),
            Stack(n) => format!("s{n}"),
        };
        format!("{}:{}@{place}", p.offset, p.size)
    });
    format!("{}{}", if l.by_reference { "&" } else { "" }, pieces.collect::<Vec<_>>().join("+"))
}
fn result<C: Convention>(value: &Passed) -> String {
    C::default().result(value).map_or("unsupported".into(), |l| text(&l))
}

#[test]
fn eightbytes() {
    let one = |members| locations::<SystemV>(&[aggregate(members)]).remove(0);
    assert_eq!(one("f8 i8"), "0:8@v0+8:8@g0");
    assert_eq!(one("f4 f4 f4"), "0:8@v0+8:4@v1");
    assert_eq!(one("f4 i4 f8"), "0:8@g0+8:8@v0");
    assert_eq!(one("i1 i1 i1"), "0:3@g0");
    assert_eq!(one("f8 f8 i1"), "0:24@s0");
    assert_eq!(one("v16"), "0:16@v0");
    assert_eq!(one("v8 f8"), "0:8@v0+8:8@v1");
    assert_eq!(one("f16"), "0:16@s0");
    let mut packed = Members::default();
    packed.scalar(0, 1, Scalar::Integer);
    packed.scalar(1, 8, Scalar::Float);
    let packed = Passed { size: 9, align: 1, form: Form::Aggregate(packed) };
    assert_eq!(locations::<SystemV>(&[packed]), ["0:9@s0"]);
    let mut bits = Members::default();
    bits.bits(60, 8);
    let bits = Passed { size: 9, align: 1, form: Form::Aggregate(bits) };
    assert_eq!(locations::<SystemV>(&[bits]), ["0:8@g0+8:1@g1"]);
}

/// An aggregate that does not fit into the registers that are left is on the stack as a whole; smaller arguments after it are not.
#[test]
fn system_v_registers_run_out() {
    let mut arguments = vec![int(8); 5];
    arguments.extend([aggregate("i8 i8"), int(4), aggregate("i8 i8"), float(4)]);
    assert_eq!(locations::<SystemV>(&arguments)[5..], ["0:16@s0", "0:4@g5", "0:16@s16", "0:4@v0"]);
    let mut arguments = vec![float(8); 7];
    arguments.extend([aggregate("f8 f8"), float(8), float(8)]);
    assert_eq!(locations::<SystemV>(&arguments)[7..], ["0:16@s0", "0:8@v7", "0:8@s16"]);
}

#[test]
fn system_v_results() {
    assert_eq!(result::<SystemV>(&aggregate("f8 i4")), "0:8@v0+8:8@g0");
    assert_eq!(result::<SystemV>(&aggregate("i8 i8")), "0:8@g0+8:8@g1");
    assert_eq!(result::<SystemV>(&aggregate("i8 i8 i8")), "&0:8@g0");
    assert_eq!(result::<SystemV>(&aggregate("f16")), "unsupported");
    assert_eq!(result::<SystemV>(&float(16)), "unsupported");
    let complex = |part| Passed { size: 2 * part, align: part, form: Form::Aggregate(Members::complex(part)) };
    assert_eq!(result::<SystemV>(&complex(4)), "0:8@v0");
    assert_eq!(result::<SystemV>(&complex(8)), "0:8@v0+8:8@v1");
    let mut convention = SystemV::default();
    assert!(convention.result(&aggregate("i8 i8 i8")).is_ok());
    assert_eq!(convention.argument(&int(8)).map(|l| text(&l)), Ok("0:8@g1".into()));
}

#[test]
fn homogeneous_aggregates() {
    let one = |members| locations::<Aapcs64>(&[aggregate(members)]).remove(0);
    assert_eq!(one("f4 f4 f4"), "0:4@v0+4:4@v1+8:4@v2");
    assert_eq!(one("f8 f8 f8 f8"), "0:8@v0+8:8@v1+16:8@v2+24:8@v3");
    assert_eq!(one("f8 f8 f8 f8 f8"), "&0:8@g0");
    assert_eq!(one("f4 f8"), "0:8@g0+8:8@g1");
    assert_eq!(one("v16 v16"), "0:16@v0+16:16@v1");
    assert_eq!(one("i4 i4 i4"), "0:8@g0+8:4@g1");
    let mut open = Members::default();
    open.scalar(0, 4, Scalar::Float);
    open.open_array();
    assert_eq!(locations::<Aapcs64>(&[Passed { size: 4, align: 4, form: Form::Aggregate(open) }]), ["0:4@g0"]);
}

/// After an argument on the stack no later one is in registers of the same kind.
#[test]
fn aapcs64_registers_run_out() {
    let mut arguments = vec![float(8); 7];
    arguments.extend([aggregate("f4 f4"), float(8), int(8)]);
    assert_eq!(locations::<Aapcs64>(&arguments)[7..], ["0:8@s0", "0:8@s8", "0:8@g0"]);
    let mut arguments = vec![int(4); 7];
    arguments.extend([aggregate("i8 i8"), int(4), aggregate("i8 i8 i8")]);
    assert_eq!(locations::<Aapcs64>(&arguments)[7..], ["0:16@s0", "0:4@s16", "&0:8@s24"]);
    let mut aligned = aggregate("i8 i8");
    // An attribute of the aggregate itself changes nothing.
    aligned.align = 16;
    assert_eq!(locations::<Aapcs64>(&[int(4), aligned.clone(), int(4)])[1..], ["0:8@g1+8:8@g2", "0:4@g3"]);
    if let Form::Aggregate(members) = &mut aligned.form {
        members.align_to(16);
    }
    assert_eq!(locations::<Aapcs64>(&[int(4), aligned, int(4)])[1..], ["0:8@g2+8:8@g3", "0:4@g4"]);
}

#[test]
fn aapcs64_results() {
    assert_eq!(result::<Aapcs64>(&aggregate("f8 f8 f8")), "0:8@v0+8:8@v1+16:8@v2");
    assert_eq!(result::<Aapcs64>(&aggregate("i8 i4")), "0:8@g0+8:8@g1");
    assert_eq!(result::<Aapcs64>(&aggregate("i8 i8 i8")), "&");
}

/// The plan of the function `f` of a declaration, as text: result, then arguments.
fn plan(declarations: &str) -> String {
    let mut types = crate::ffi::ctype::CTypeTable::new();
    crate::ffi::parse::declarations(&mut types, declarations.as_bytes(), &[]).expect("declared");
    let f = types.named(b"f", crate::ffi::ctype::kinds(&[crate::ffi::ctype::Ct::Func])).expect("a function");
    match CallPlan::new(&types, f) {
        Ok(plan) => {
            let result = plan.result.map_or("void".into(), |v| text(&v.location));
            let arguments = plan.arguments.iter().map(|v| text(&v.location));
            format!("{result} <- {}", arguments.collect::<Vec<_>>().join(" "))
        }
        Err(Unsupported) => "unsupported".into(),
    }
}

#[test]
fn functions_have_plans() {
    let structs = "typedef struct { float x, y, z; } v3; typedef struct { char c; double d; } cd; typedef struct { v3 a[1]; float w; } v4;
        typedef struct { int a : 3, b : 7; float f; } bits; typedef struct { long a, b, c; } large; typedef union { double d; long l; } either;
        typedef struct { float x; float rest[]; } open; typedef struct __attribute__((packed)) { char c; double d; } packed; ";
    let of = |function: &str| plan(&format!("{structs}{function}"));
    let (x64, arm64) = if cfg!(target_arch = "x86_64") { (true, false) } else { (false, true) };
    assert_eq!(of("void f(int, double, void *, ...);"), "void <- 0:4@g0 0:8@v0 0:8@g1");
    assert_eq!(of("char f(const char *(*)(int), int [4]);"), "0:1@g0 <- 0:8@g0 0:8@g1");
    assert_eq!(of("long double f(void);"), "unsupported");
    if x64 {
        assert_eq!(of("v3 f(cd, v4, bits);"), "0:8@v0+8:4@v1 <- 0:8@g0+8:8@v0 0:8@v1+8:8@v2 0:8@g1");
        assert_eq!(of("large f(either, open, packed);"), "&0:8@g0 <- 0:8@g1 0:4@v0 0:9@s0");
        assert_eq!(of("complex f(complex float);"), "0:8@v0+8:8@v1 <- 0:8@v0");
    }
    if arm64 {
        assert_eq!(of("v3 f(cd, v4, bits);"), "0:4@v0+4:4@v1+8:4@v2 <- 0:8@g0+8:8@g1 0:4@v0+4:4@v1+8:4@v2+12:4@v3 0:8@g2");
        assert_eq!(of("large f(either, open, packed);"), "& <- 0:8@g0 0:4@g1 0:8@g2+8:1@g3");
        assert_eq!(of("complex f(complex float);"), "0:8@v0+8:8@v1 <- 0:4@v0+4:4@v1");
    }
}
