//! Measures operations in batches.

use std::time::Duration;

/// The processor time of this thread: what other programs take on a busy machine is not counted.
fn now() -> Duration {
    // SAFETY: all-zero is a value of the structure, whose address is valid during the call.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How long a batch takes, about.
const BATCH: Duration = Duration::from_millis(1);
/// Batches of each side.
const ROUNDS: usize = 61;

/// An operation.
pub struct Row {
    /// What is measured.
    pub name: &'static str,
    batch: Box<dyn FnMut(usize) -> Duration>,
}

impl Row {
    /// A row: `before` runs before each batch, `input` before each operation of it, outside of the measured time. What the operation gives is
    /// dropped outside of it, too.
    pub fn new<I, O>(
        name: &'static str,
        before: impl Fn() + 'static,
        mut input: impl FnMut() -> I + 'static,
        mut operation: impl FnMut(I) -> O + 'static,
    ) -> Row {
        let batch = move |n: usize| {
            before();
            let inputs: Vec<I> = (0..n).map(|_| input()).collect();
            let mut outputs = Vec::with_capacity(n);
            let start = now();
            for i in inputs {
                outputs.push(operation(i));
            }
            let time = now() - start;
            std::hint::black_box(&outputs);
            time
        };
        Row { name, batch: Box::new(batch) }
    }
    /// As many operations as make a batch long enough.
    fn batch_size(&mut self) -> usize {
        let mut n = 1;
        while n < 1 << 20 && (self.batch)(n) < BATCH {
            n *= 2;
        }
        n
    }
    /// Nanoseconds of one operation.
    pub fn measure_alone(&mut self) -> f64 {
        let n = self.batch_size();
        median((0..20 * ROUNDS).map(|_| (self.batch)(n).as_nanos() as f64 / n as f64).collect())
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Nanoseconds of one operation of each of two rows, which take turns.
pub fn compare(a: &mut Row, b: &mut Row) -> (f64, f64) {
    let (n, m) = (a.batch_size(), b.batch_size());
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        first.push((a.batch)(n).as_nanos() as f64 / n as f64);
        second.push((b.batch)(m).as_nanos() as f64 / m as f64);
    }
    (median(first), median(second))
}
