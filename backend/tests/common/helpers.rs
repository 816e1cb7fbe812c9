//! Stand-ins for the VM's helpers.

use perilune_vm::ffi;
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;

const SCRATCH: usize = ofs::VM_SCRATCH / 8;
/// Scratch words: how often a helper was called, its number, its arguments, and what it is to return.
pub const CALLS: usize = SCRATCH + 4;
pub const WHO: usize = SCRATCH + 5;
pub const ARGS: usize = SCRATCH + 6;
pub const RESULT: usize = SCRATCH + 10;

/// The helper to call in traces for each row of the table.
pub fn address(helper: Helper) -> usize {
    match helper {
        Helper::Pow => pow as *const () as usize,
        Helper::I64Div => int64::<{ Helper::I64Div as u8 }> as *const () as usize,
        Helper::I64Rem => int64::<{ Helper::I64Rem as u8 }> as *const () as usize,
        Helper::I64Pow => int64::<{ Helper::I64Pow as u8 }> as *const () as usize,
        Helper::U64Div => int64::<{ Helper::U64Div as u8 }> as *const () as usize,
        Helper::U64Rem => int64::<{ Helper::U64Rem as u8 }> as *const () as usize,
        Helper::U64Pow => int64::<{ Helper::U64Pow as u8 }> as *const () as usize,
        Helper::Log => log as *const () as usize,
        Helper::Log2 => log2 as *const () as usize,
        Helper::Exp => exp as *const () as usize,
        Helper::Ldexp => ldexp as *const () as usize,
        Helper::StrToNum => str_to_num as *const () as usize,
        Helper::TabGetStr => words::<{ Helper::TabGetStr as u8 }> as *const () as usize,
        Helper::TabGetInt => words::<{ Helper::TabGetInt as u8 }> as *const () as usize,
        Helper::TabGet => words::<{ Helper::TabGet as u8 }> as *const () as usize,
        Helper::TabNewKey => words::<{ Helper::TabNewKey as u8 }> as *const () as usize,
        Helper::BarrierTable => clobber::<{ Helper::BarrierTable as u8 }> as *const () as usize,
        Helper::BarrierUpval => clobber::<{ Helper::BarrierUpval as u8 }> as *const () as usize,
        Helper::GcStep => clobber::<{ Helper::GcStep as u8 }> as *const () as usize,
        Helper::BufReset => buffer::<0> as *const () as usize,
        Helper::BufPut => buffer::<1> as *const () as usize,
        Helper::BufPutInt => buffer::<3> as *const () as usize,
        Helper::BufPutNum => buffer_num as *const () as usize,
        Helper::BufStr => buffer::<2> as *const () as usize,
        _ => words::<255> as *const () as usize,
    }
}

extern "C" fn int64<const WHO: u8>(_vm: *mut u64, a: i64, b: i64) -> i64 {
    let (x, y) = (a as u64, b as u64);
    match Helper::ALL[usize::from(WHO)] {
        Helper::I64Div => ffi::int64::div(a, b),
        Helper::I64Rem => ffi::int64::rem(a, b),
        Helper::I64Pow => ffi::int64::pow(a, b),
        Helper::U64Div => ffi::int64::unsigned_div(x, y) as i64,
        Helper::U64Rem => ffi::int64::unsigned_rem(x, y) as i64,
        _ => ffi::int64::unsigned_pow(x, y) as i64,
    }
}

unsafe fn note(vm: *mut u64, who: u8, args: [u64; 3]) -> u64 {
    // SAFETY: `vm` is the made-up VM of the test, which has all scratch words.
    unsafe {
        *vm.add(CALLS) += 1;
        *vm.add(WHO) = u64::from(who);
        for (i, a) in args.into_iter().enumerate() {
            *vm.add(ARGS + i) = a;
        }
        *vm.add(RESULT)
    }
}

unsafe extern "C" fn words<const WHO: u8>(vm: *mut u64, a: u64, b: u64, c: u64) -> u64 {
    // SAFETY: as in `note`.
    unsafe { note(vm, WHO, [a, b, c]) }
}

/// Uses many registers, as a real helper does.
unsafe extern "C" fn clobber<const WHO: u8>(vm: *mut u64, a: u64, b: u64, c: u64) -> u64 {
    let mut mess = core::hint::black_box([a as f64; 24]);
    for i in 1..24 {
        mess[i] = mess[i].mul_add(mess[i - 1], 1.5);
    }
    core::hint::black_box(mess);
    // SAFETY: as in `note`.
    unsafe { note(vm, WHO, [a, b, c]) }
}

/// The order of string buffer calls, as digits.
unsafe extern "C" fn buffer<const WHAT: u64>(vm: *mut u64, a: u64) -> u64 {
    // SAFETY: as in `note`.
    unsafe {
        let log = vm.add(ARGS);
        *log = *log * 10 + WHAT + 1;
        if WHAT == 1 || WHAT == 3 {
            *log = *log * 10 + a;
        }
        *vm.add(RESULT)
    }
}

/// Likewise, of a num.
unsafe extern "C" fn buffer_num(vm: *mut u64, n: f64) -> u64 {
    // SAFETY: as in `buffer`.
    unsafe { buffer::<3>(vm, n as u64) }
}

unsafe extern "C" fn str_to_num(vm: *mut u64, s: u64) -> i32 {
    // SAFETY: as in `note`.
    unsafe { *vm.add(SCRATCH) = 2.5f64.to_bits() };
    i32::from(s == 0x1000)
}

extern "C" fn pow(_: *mut u64, a: f64, b: f64) -> f64 {
    a.powf(b)
}
extern "C" fn log(_: *mut u64, a: f64) -> f64 {
    a.ln()
}
extern "C" fn log2(_: *mut u64, a: f64) -> f64 {
    a.log2()
}
extern "C" fn exp(_: *mut u64, a: f64) -> f64 {
    a.exp()
}
extern "C" fn ldexp(_: *mut u64, a: f64, e: i32) -> f64 {
    a * f64::from(e).exp2()
}
