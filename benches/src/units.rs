//! Equal units in Divisi, in fundsp and in scsynth, and the processor time of one of them.
//!
//! | file | holds |
//! |---|---|
//! | `rows.rs` | the units that are compared, with the same parameters in each program |
//! | `divisi.rs` | a session with copies of a unit, played by the engine |
//! | `fundsp.rs` | a loop over copies of a unit |
//! | `scsynth.rs` | SuperCollider's server, which renders copies of a unit offline |
//! | `synthdef.rs` | the file in which scsynth reads a graph of units |

pub mod divisi;
pub mod fundsp;
pub mod rows;
pub mod scsynth;
pub mod synthdef;

use std::mem::MaybeUninit;

/// Frames of a block, and frames a second.
pub const BLOCK: usize = 64;
pub const RATE: u32 = 48_000;

/// Copies of a unit in one program.
pub trait Bench {
    /// Plays `blocks` blocks. Returns the processor time of one copy, in seconds.
    fn time(&mut self, blocks: usize) -> f64;
    /// As [`time`](Self::time), from the least of `runs` runs: for a machine that is not at rest.
    fn least_time(&mut self, blocks: usize, runs: usize) -> f64 {
        (0..runs).fold(f64::INFINITY, |least, _| least.min(self.time(blocks)))
    }
    /// RMS of the sum of all copies, in the second that begins now.
    fn level(&mut self) -> f32;
}

/// Frequency of copy `copy`: no two are alike.
pub fn hz(copy: usize) -> f32 {
    110.0 + 7.0 * copy as f32
}

/// Root of the mean square.
fn rms(samples: impl Iterator<Item = f32>) -> f32 {
    let (sum, count) = samples.fold((0.0, 0u32), |(sum, count), x| {
        (sum + f64::from(x) * f64::from(x), count + 1)
    });
    (sum / f64::from(count.max(1))).sqrt() as f32
}

/// Seconds of processor time of this thread.
fn thread_time() -> f64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call writes the whole of `time` if it returns 0, which is asserted before it is read.
    let time = unsafe {
        let result = libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        assert_eq!(result, 0, "Linux has this clock");
        time.assume_init()
    };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds of processor time of the children that have ended.
fn children_time() -> f64 {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call writes the whole of `usage` if it returns 0, which is asserted before it is read.
    let usage = unsafe {
        let result = libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        assert_eq!(result, 0, "it takes this word");
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
