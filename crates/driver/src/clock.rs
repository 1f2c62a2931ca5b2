//! A real-time beat without a device: a thread and the system's clock.
//!
//! Block k begins at exactly k blocks after the first, in rational arithmetic: the period never drifts. Behind by up to
//! [`MAX_LATE_BLOCKS`] blocks it catches up; further behind it leaves beats out and counts each as an xrun, as a device would.

#[cfg(target_os = "linux")]
#[path = "clock/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "clock/other.rs"]
mod system;

mod thread;

use units::{Frames, Nanos, SampleRate};

use crate::recycle::{Inputs, Outputs};
use crate::{AudioCallback, CallbackInfo, DriverConfig, DriverError, DriverInfo, OpenDriver};

pub use system::SystemClock;

/// The rate of a request that names none.
pub const DEFAULT_RATE: SampleRate = SampleRate::new(48_000).expect("48000 is not zero");

/// How many blocks late a beat may come before beats are left out.
pub const MAX_LATE_BLOCKS: u64 = 2;

/// What tells the time and waits for it. Tests drive their own by hand.
pub trait Clock: Send + 'static {
    /// Time since some fixed moment.
    ///
    /// Real-time: hot.
    fn now(&mut self) -> Nanos;

    /// Returns at `moment` or later, at once if it is past.
    ///
    /// Real-time: waits, until `moment`.
    fn sleep_until(&mut self, moment: Nanos);
}

/// Opens the clock driver: its thread exists, with the priority it will play at, and waits for the player.
///
/// Real-time: setup.
pub fn open(request: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    request.check()?;
    thread::open(request, SystemClock)
}

/// As [`open`], on another clock, and at ordinary priority.
///
/// Real-time: setup.
pub fn open_with_clock(
    request: &DriverConfig,
    clock: impl Clock,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    request.check()?;
    let ordinary = DriverConfig {
        priority: None,
        ..request.clone()
    };
    thread::open(&ordinary, clock)
}

/// Which beat is due, and when.
#[derive(Clone, Copy, Debug)]
struct Score {
    block: Frames,
    rate: SampleRate,
    origin: Nanos,
    next: u64,
}

impl Score {
    /// When block `beat` begins, rounded down.
    fn begin(&self, beat: u64) -> Nanos {
        let frames = u128::from(beat) * u128::from(self.block.0);
        let since = frames * 1_000_000_000 / u128::from(self.rate.hz());
        Nanos(self.origin.0.saturating_add(since as u64))
    }

    /// The last block that has begun at `now`.
    fn playing(&self, now: Nanos) -> u64 {
        let since = u128::from(now.0.saturating_sub(self.origin.0));
        // `begin` rounds down, so a block has begun up to one nanosecond before its exact time: look one ahead.
        let frames = since * u128::from(self.rate.hz()) / 1_000_000_000;
        let beat = (frames / u128::from(self.block.0)) as u64;
        if self.begin(beat + 1) <= now {
            beat + 1
        } else {
            beat
        }
    }

    /// The beat to play at `now`; beats that are too long past are left out and counted.
    fn take(&mut self, now: Nanos) -> CallbackInfo {
        let behind = self.playing(now).saturating_sub(self.next);
        let left_out = if behind > MAX_LATE_BLOCKS { behind } else { 0 };
        let beat = self.next + left_out;
        self.next = beat + 1;
        CallbackInfo {
            budget: Some(Nanos(self.begin(self.next).0.saturating_sub(now.0))),
            xruns: u32::try_from(left_out).unwrap_or(u32::MAX),
        }
    }
}

/// The player with the buffers it plays between: silence in, nowhere out.
struct Stage {
    score: Score,
    inputs: Vec<Box<[f32]>>,
    outputs: Vec<Box<[f32]>>,
    input_list: Inputs,
    output_list: Outputs,
}

impl Stage {
    fn new(request: &DriverConfig, rate: SampleRate) -> Self {
        let channel = || vec![0.0; request.block.count()].into_boxed_slice();
        Self {
            score: Score {
                block: request.block,
                rate,
                origin: Nanos(0),
                next: 0,
            },
            inputs: (0..request.inputs).map(|_| channel()).collect(),
            outputs: (0..request.outputs).map(|_| channel()).collect(),
            input_list: Inputs::new(request.inputs.into()),
            output_list: Outputs::new(request.outputs.into()),
        }
    }

    fn begin(&mut self, clock: &mut impl Clock) {
        self.score.origin = clock.now();
        self.score.next = 0;
    }

    /// Waits for the next beat and plays it.
    fn beat(&mut self, clock: &mut impl Clock, player: &mut dyn AudioCallback) {
        clock.sleep_until(self.score.begin(self.score.next));
        let beat = self.score.take(clock.now());
        let outputs = self.outputs.iter_mut().map(|channel| &mut channel[..]);
        self.input_list
            .with(self.inputs.iter().map(|channel| &channel[..]), |inputs| {
                self.output_list
                    .with(outputs, |outputs| player.process(beat, inputs, outputs))
            });
    }

    fn facts(&self, priority: Option<i32>, refused: Vec<String>) -> DriverInfo {
        DriverInfo {
            name: "clock",
            server: String::new(),
            rate: self.score.rate,
            buffer_size: self.score.block,
            adapter_latency: Frames(0),
            device_latency: Frames(0),
            priority,
            refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(block: u32, rate: u32) -> Score {
        Score {
            block: Frames(block),
            rate: SampleRate::new(rate).unwrap(),
            origin: Nanos(1_000),
            next: 0,
        }
    }

    #[test]
    fn the_period_does_not_drift() {
        let score = score(64, 44_100);
        let day = 86_400 * 44_100 / 64; // whole: 59_535_000 blocks
        assert_eq!(score.begin(day), Nanos(1_000 + 86_400_000_000_000));
    }

    #[test]
    fn each_block_has_begun_at_its_own_beginning() {
        let score = score(64, 44_100);
        for beat in [0, 1, 2, 3, 1_000, 59_535_001, 10_000_000_019] {
            let begin = score.begin(beat);
            assert_eq!(score.playing(begin), beat);
            assert_eq!(score.playing(Nanos(begin.0 - 1)), beat.saturating_sub(1));
        }
    }

    #[test]
    fn a_beat_in_time_has_a_whole_period_and_a_late_one_the_rest() {
        let mut score = score(48, 48_000);
        assert_eq!(score.take(Nanos(1_000)).budget, Some(Nanos(1_000_000)));
        let late = score.take(Nanos(1_000 + 1_400_000));
        assert_eq!((late.budget, late.xruns), (Some(Nanos(600_000)), 0));
    }

    #[test]
    fn a_short_delay_is_caught_up_and_a_long_one_left_out() {
        let mut score = score(48, 48_000);
        let at = |ms: u64| Nanos(1_000 + ms * 1_000_000);
        score.take(at(0));
        // Block 1 at the time of block 3: caught up, with nothing of its time left.
        let caught = score.take(at(3));
        assert_eq!((caught.budget, caught.xruns), (Some(Nanos(0)), 0));
        assert_eq!(score.next, 2);
        // Block 2 at the time of block 5: three are left out.
        let skipped = score.take(at(5));
        assert_eq!((skipped.budget, skipped.xruns), (Some(Nanos(1_000_000)), 3));
        assert_eq!(score.next, 6);
    }
}
