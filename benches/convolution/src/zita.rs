//! zita-convolver 4 as Debian builds it, with its usual settings: smallest partition the block, largest 8192, automatic
//! density, vector mode, measured FFTs.
//!
//! An instance has 64 channels at most; more channels are distributed over several instances. Each level but the first has
//! a thread. A level whose thread does not run yet would also be computed in the callback, so this waits for the threads
//! before the first block.

use crate::BLOCK;
use crate::engine::{Engine, Late, Workload};
use crate::system::threads;
use std::error::Error;
use std::ffi::{c_char, c_int, c_void};
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn zita_new(channels: u32, length: u32, block: u32, late_goes_on: c_int) -> *mut c_void;
    fn zita_response(it: *mut c_void, channel: u32, taps: *const f32, length: u32) -> c_int;
    fn zita_start(it: *mut c_void, priority: c_int) -> c_int;
    fn zita_input(it: *mut c_void, channel: u32) -> *mut f32;
    fn zita_output(it: *mut c_void, channel: u32) -> *const f32;
    fn zita_process(it: *mut c_void, waits: c_int) -> c_int;
    fn zita_tell(it: *mut c_void, text: *mut c_char, size: usize);
    fn zita_free(it: *mut c_void);
}

/// The most channels of an instance.
const MAX_CHANNELS: usize = 64;
/// Time limit for the start of its threads.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// As many instances as the channels need.
pub struct Zita(Vec<Part>);

/// An instance and its number of channels.
struct Part {
    it: *mut c_void,
    channels: usize,
}

impl Zita {
    /// Makes all instances and waits until their threads run.
    pub fn new(workload: &Workload<'_>) -> Result<Self, Box<dyn Error>> {
        let parts = workload.channels.div_ceil(MAX_CHANNELS);
        let mut all = Self(Vec::new());
        for part in 0..parts {
            let [begin, end] = [part, part + 1].map(|n| workload.channels * n / parts);
            all.0.push(Part::new(workload, begin, end)?);
        }
        for part in &all.0 {
            part.start(workload.priority)?;
        }
        Ok(all)
    }
}

impl Part {
    fn new(workload: &Workload<'_>, begin: usize, end: usize) -> Result<Self, Box<dyn Error>> {
        let length = u32::try_from(workload.length)?;
        let late_goes_on = c_int::from(workload.priority > 0);
        // SAFETY: the shim checks what it is given; what it makes is freed by `drop`.
        let it = unsafe { zita_new((end - begin) as u32, length, BLOCK as u32, late_goes_on) };
        if it.is_null() {
            return Err(
                "zita-convolver does not support this number of channels or this length".into(),
            );
        }
        let part = Self {
            it,
            channels: end - begin,
        };
        for channel in begin..end {
            let taps = (workload.response)(channel);
            // SAFETY: `it` is whole, and reads `length` taps, which are there.
            let refused = unsafe {
                zita_response(
                    it,
                    (channel - begin) as u32,
                    taps[..workload.length].as_ptr(),
                    length,
                )
            };
            if refused != 0 {
                return Err(format!("zita-convolver refuses a response: {refused}").into());
            }
        }
        Ok(part)
    }

    fn start(&self, priority: i32) -> Result<(), Box<dyn Error>> {
        let (before, _) = threads();
        let levels = self.tell().lines().count();
        // SAFETY: it is configured and stopped.
        if unsafe { zita_start(self.it, priority) } != 0 {
            return Err("zita-convolver does not start".into());
        }
        let begun = Instant::now();
        loop {
            let (all, asleep) = threads();
            // All threads but this one wait for their first task.
            if all + 1 >= before + levels && asleep + 1 >= all {
                return Ok(std::thread::sleep(Duration::from_millis(2)));
            }
            if begun.elapsed() > START_TIMEOUT {
                return Err("zita-convolver's threads do not start".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn tell(&self) -> String {
        let mut text = [0_u8; 1024];
        // SAFETY: it is whole, and writes into `text` no more than its size, with a zero behind.
        unsafe { zita_tell(self.it, text.as_mut_ptr().cast(), text.len()) };
        String::from_utf8_lossy(&text)
            .trim_end_matches('\0')
            .to_owned()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // SAFETY: made by `zita_new`, freed once, used by nobody after.
        unsafe { zita_free(self.it) };
    }
}

impl Engine for Zita {
    fn setting(&self) -> String {
        let told = self.0[0].tell();
        let number = |line: &str, name: &str| {
            let (_, rest) = line.split_once(name)?;
            let rest = rest.trim_start_matches([' ', '=']);
            Some(rest.split([',', ' ']).next()?.to_owned())
        };
        let levels = told.lines().filter_map(|line| {
            Some(format!(
                "{}x{}",
                number(line, "npar")?,
                number(line, "parsize")?
            ))
        });
        let levels: Vec<_> = levels.collect();
        let times = self.0.len();
        format!(
            "{}; {times} instances; threads; FFTW measured, vectors",
            levels.join(" ")
        )
    }

    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], waits: bool) -> Late {
        let mut late = Late::default();
        let mut inputs = inputs.iter();
        let mut outputs = output.chunks_exact_mut(BLOCK);
        for part in &self.0 {
            for (channel, input) in inputs.by_ref().take(part.channels).enumerate() {
                // SAFETY: it has room for a block there until it is told to process, and no thread of its reads there yet.
                unsafe {
                    std::slice::from_raw_parts_mut(zita_input(part.it, channel as u32), BLOCK)
                }
                .copy_from_slice(input);
            }
            // SAFETY: it runs.
            let flags = unsafe { zita_process(part.it, c_int::from(waits)) } as u32 & 0xffff;
            late.results += flags.count_ones();
            late.blocks = late
                .blocks
                .max(flags.checked_ilog2().map_or(0, |bit| 1 << bit));
            for (channel, output) in outputs.by_ref().take(part.channels).enumerate() {
                // SAFETY: a block is there until the next call, and only this thread writes there.
                output.copy_from_slice(unsafe {
                    std::slice::from_raw_parts(zita_output(part.it, channel as u32), BLOCK)
                });
            }
        }
        late
    }
}
