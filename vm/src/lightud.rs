//! Light userdata: addresses of 64 bits in the 47 of a payload.
//!
//! Most addresses are their own payload. Those of more than 47 bits (which are usual on aarch64, and any number can be passed as one) have
//! payloads of a range that systems do not give to programs: there the upper bits are an index into a table of the process, as in LuaJIT, and the
//! lower bits are those of the address. Addresses inside of the range are encoded in the same way, so that each has one payload.

use crate::tag::PAYLOAD_MASK;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::Mutex;

/// The first payload that is not an address. Programs lie above the range, from 0x5555... on, and what they map lies below 2^47 on x86-64, or
/// above that on aarch64.
pub const FIRST_ENCODED: u64 = 1 << 45;
/// Number of payloads that are no addresses.
pub const ENCODED: u64 = 1 << (LOW_BITS + PART_BITS);
/// Bits of an address that are the same in its payload.
const LOW_BITS: u32 = 37;
/// Bits of the index of the other ones, as in LuaJIT: programs use very few ranges of 128 GB.
const PART_BITS: u32 = 8;

/// The error where there is no payload for an address.
pub const NO_PAYLOAD: &str = "bad light userdata pointer";

/// The upper bits of encoded addresses.
static PARTS: [AtomicU32; 1 << PART_BITS] = [const { AtomicU32::new(0) }; 1 << PART_BITS];
/// How many there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Held while there is one more.
static GROWING: Mutex<()> = Mutex::new(());

/// Is the payload not the address itself?
#[inline]
pub fn is_encoded(payload: u64) -> bool {
    payload.wrapping_sub(FIRST_ENCODED) < ENCODED
}

/// The payload of an address. `None`: addresses with too many different upper bits are in use.
#[inline]
pub fn payload(address: u64) -> Option<u64> {
    if address <= PAYLOAD_MASK && !is_encoded(address) { Some(address) } else { encode(address) }
}

/// The address of a payload.
#[inline]
pub fn address(payload: u64) -> u64 {
    if is_encoded(payload) { decode(payload) } else { payload }
}

#[cold]
fn encode(address: u64) -> Option<u64> {
    let part = (address >> LOW_BITS) as u32;
    let index = find(part).or_else(|| add(part))?;
    Some(FIRST_ENCODED + ((index as u64) << LOW_BITS | address & ((1 << LOW_BITS) - 1)))
}

fn find(part: u32) -> Option<usize> {
    PARTS[..COUNT.load(Ordering::Acquire)].iter().position(|p| p.load(Ordering::Relaxed) == part)
}

fn add(part: u32) -> Option<usize> {
    let _growing = GROWING.lock();
    // Another thread may have added it.
    find(part).or_else(|| {
        let n = COUNT.load(Ordering::Relaxed);
        PARTS.get(n)?.store(part, Ordering::Relaxed);
        COUNT.store(n + 1, Ordering::Release);
        Some(n)
    })
}

#[cold]
fn decode(payload: u64) -> u64 {
    let encoded = payload - FIRST_ENCODED;
    let part = PARTS[(encoded >> LOW_BITS) as usize].load(Ordering::Relaxed);
    u64::from(part) << LOW_BITS | encoded & ((1 << LOW_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each address has one payload, of 47 bits, and comes back from it. The table is that of the process, so one test fills it.
    #[test]
    fn addresses_come_back() {
        let usual = [0, 5, 0x5555_5555_5000, 0x7fff_ffff_f000, PAYLOAD_MASK, FIRST_ENCODED - 1, FIRST_ENCODED + ENCODED];
        let others = [
            FIRST_ENCODED,
            FIRST_ENCODED + ENCODED - 1,
            PAYLOAD_MASK + 1,
            0xffff_8000_1234,
            0xaaaa_0000_0001,
            u64::MAX,
            u64::MAX - 1,
            1 << 63,
        ];
        for (a, is_own) in usual.map(|a| (a, true)).into_iter().chain(others.map(|a| (a, false))) {
            let p = payload(a).expect("a payload");
            assert!(p <= PAYLOAD_MASK && is_encoded(p) != is_own && (p == a || !is_own), "{a:#x}");
            assert_eq!((payload(a), address(p)), (Some(p), a));
        }
        let all = (0..300).filter(|i| payload(0xff00_0000_0000_0000 + (i << LOW_BITS)).is_some()).count();
        assert!((240..256).contains(&all));
        assert_eq!(payload(u64::MAX).map(address), Some(u64::MAX));
    }
}
