//! Functions that only the C library has: calendar time in the local time zone, and processor time.
#![allow(unsafe_code, reason = "C functions get pointers to memory that lives during the call")]

use crate::interrupt::Flag;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use libc::{c_char, c_int, time_t, tm};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A broken-down time.
#[derive(Copy, Clone)]
pub struct Calendar(tm);

/// The fields of a broken-down time as Lua counts them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Seconds.
    pub sec: i32,
    /// Minutes.
    pub min: i32,
    /// Hours.
    pub hour: i32,
    /// Day of the month, from 1.
    pub day: i32,
    /// Month, from 1.
    pub month: i32,
    /// Year.
    pub year: i32,
    /// Day of the week, Sunday is 1.
    pub wday: i32,
    /// Day of the year, from 1.
    pub yday: i32,
    /// Daylight saving time: negative if not known.
    pub isdst: i32,
}

impl Calendar {
    /// A time in UTC or the local time zone; `None` if the year does not fit.
    pub fn from_time(t: i64, utc: bool) -> Option<Calendar> {
        let mut out = MaybeUninit::<tm>::zeroed();
        let t = t as time_t;
        let convert = if utc { libc::gmtime_r } else { libc::localtime_r };
        // SAFETY: both functions read the time and fill in the structure; it is also valid when all zero.
        unsafe { if convert(&raw const t, out.as_mut_ptr()).is_null() { None } else { Some(Calendar(out.assume_init())) } }
    }
    /// A time from its fields, which need not be in their ranges.
    pub fn from_fields(f: &Fields) -> Calendar {
        // SAFETY: the structure consists of integers and a pointer that may be null.
        let mut t: tm = unsafe { MaybeUninit::zeroed().assume_init() };
        t.tm_sec = f.sec;
        t.tm_min = f.min;
        t.tm_hour = f.hour;
        t.tm_mday = f.day;
        t.tm_mon = f.month.wrapping_sub(1);
        t.tm_year = f.year.wrapping_sub(1900);
        t.tm_isdst = f.isdst;
        Calendar(t)
    }
    /// The fields.
    pub fn fields(&self) -> Fields {
        let t = &self.0;
        Fields {
            sec: t.tm_sec,
            min: t.tm_min,
            hour: t.tm_hour,
            day: t.tm_mday,
            month: t.tm_mon.wrapping_add(1),
            year: t.tm_year.wrapping_add(1900),
            wday: t.tm_wday + 1,
            yday: t.tm_yday + 1,
            isdst: t.tm_isdst,
        }
    }
    /// The time in the local time zone; `None` if it has no representation.
    pub fn to_time(mut self) -> Option<i64> {
        // mktime sets the day of the week unless it fails: so a failure differs from one second before the epoch, which is -1 as well.
        self.0.tm_wday = -1;
        // SAFETY: the function reads and normalises the structure.
        let t = unsafe { libc::mktime(&raw mut self.0) };
        if t == -1 && self.0.tm_wday == -1 { None } else { Some(t as i64) }
    }
    /// Formats like C's `strftime`; `None` if the result is empty or longer than `limit`.
    pub fn format(&self, format: &CStr, limit: usize) -> Option<Vec<u8>> {
        let mut out = vec![0u8; limit];
        // SAFETY: the buffer has `limit` bytes, the format is a C string, and the structure is filled in.
        let n = unsafe { libc::strftime(out.as_mut_ptr().cast::<c_char>(), limit, format.as_ptr(), &raw const self.0) };
        out.truncate(n);
        if n == 0 { None } else { Some(out) }
    }
}

/// Processor time used, in seconds.
pub fn processor_time() -> f64 {
    let mut t = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the function fills in the structure, which is also valid when all zero.
    let t = unsafe {
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, t.as_mut_ptr());
        t.assume_init()
    };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Opens a file, with flags as in C. While another process has to open the other end of a pipe, an interrupt that waits at `stop` ends that.
///
/// # Errors
/// Those of `open(2)`, and that the path contains a NUL.
pub fn open(path: &Path, flags: c_int, stop: &Flag) -> io::Result<File> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    loop {
        // SAFETY: the path ends with a NUL, and lives during the call.
        let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o666) };
        if fd >= 0 {
            // SAFETY: just opened, and nobody else's.
            return Ok(unsafe { File::from_raw_fd(fd) });
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted || stop.get().is_some() {
            return Err(e);
        }
    }
}

/// Does a file take bytes without a wait?
pub fn takes_bytes(file: &File) -> bool {
    let mut wanted = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: one entry, valid during the call.
    unsafe { libc::poll(&raw mut wanted, 1, 0) == 1 }
}

/// Has `f` called when the process exits in an orderly way.
pub fn at_exit(f: extern "C" fn()) {
    if cfg!(miri) {
        return;
    }
    // SAFETY: the function needs nothing but the process. If it cannot be registered, there is no remedy.
    let _ = unsafe { libc::atexit(f) };
}
