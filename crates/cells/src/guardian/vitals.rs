//! [`Vitals`]: a supervisor that is stopped, or whose threads beat no more.
//!
//! | sign | seen after |
//! |---|---|
//! | it is stopped (SIGSTOP) | [`STOPPED`] looks |
//! | in one block | [`SILENT`] looks, and the time of eight blocks |
//! | in none: the device asks for none | [`IDLE`] looks: a server waits for a client that it has lost, and begins anew |
//! | no look of the monitor of cells | [`MONITOR`] looks |
//! | no look of the main thread | [`MAIN`] looks: a change of a large session takes time |
//!
//! Looks are counted, not time: on a busy machine the guardian is late too. If it was itself stopped, it begins to count anew.

use super::LOOK;
use super::pulse::{Pulse, PulseWord};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::time::{Duration, Instant};

const STOPPED: u32 = 5;
const SILENT: u32 = 30;
const IDLE: u32 = 1000;
const MONITOR: u32 = 300;
const MAIN: u32 = 2000;
/// A guardian that looks so late was stopped, or got no core.
const LATE: Duration = LOOK.saturating_mul(5);

/// One sign of life.
#[derive(Default)]
struct Sign {
    last: u64,
    /// Looks since it changed.
    looks: u32,
}

impl Sign {
    fn look(&mut self, now: u64) -> u32 {
        self.looks = match std::mem::replace(&mut self.last, now) == now {
            true => self.looks + 1,
            false => 0,
        };
        self.looks
    }
}

/// The signs of life of one supervisor.
pub(super) struct Vitals {
    looked: Instant,
    stopped: u32,
    blocks: Sign,
    monitor: Sign,
    main: Sign,
}

impl Vitals {
    pub(super) fn new() -> Self {
        Self {
            looked: Instant::now(),
            stopped: 0,
            blocks: Sign::default(),
            monitor: Sign::default(),
            main: Sign::default(),
        }
    }

    /// Gives the reason for which the supervisor must be replaced.
    pub(super) fn look(&mut self, pulse: &Pulse, process: u32) -> Option<&'static str> {
        let since = self.looked.elapsed();
        if since < LOOK {
            return None;
        }
        self.looked = Instant::now();
        self.look_after(since, pulse, is_stopped(process))
    }

    /// The same, for a look that comes `since` after the one before.
    fn look_after(
        &mut self,
        since: Duration,
        pulse: &Pulse,
        is_stopped: bool,
    ) -> Option<&'static str> {
        if since > LATE {
            (self.stopped, self.blocks.looks) = (0, 0);
            (self.monitor.looks, self.main.looks) = (0, 0);
            return None;
        }
        self.stopped = match is_stopped {
            true => self.stopped + 1,
            false => 0,
        };
        if self.stopped >= STOPPED {
            return Some("it is stopped");
        }
        let period = pulse.get(PulseWord::Period);
        if period == 0 {
            return None;
        }
        let eight = 8 * period / LOOK.as_nanos() as u64;
        let silent = u64::from(self.blocks.look(pulse.get(PulseWord::Blocks)));
        let monitor = self.monitor.look(pulse.get(PulseWord::Monitor));
        let main = self.main.look(pulse.get(PulseWord::Main));
        let limit = match pulse.get(PulseWord::Inside) {
            0 => IDLE,
            _ => SILENT,
        };
        let hangs = silent > eight.max(u64::from(limit)) || monitor > MONITOR || main > MAIN;
        hangs.then_some("it hangs")
    }
}

fn is_stopped(process: u32) -> bool {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let Some(process) = Pid::from_raw(process as i32) else {
        return false;
    };
    matches!(waitid(WaitId::Pid(process), options), Ok(Some(status)) if status.stopped())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_counts_the_looks_since_it_changed() {
        let mut beat = Sign::default();
        let looks: Vec<u32> = [1, 1, 1, 2, 2, 3]
            .into_iter()
            .map(|it| beat.look(it))
            .collect();
        assert_eq!(looks, [0, 1, 2, 0, 1, 0]);
    }

    #[test]
    fn a_supervisor_without_blocks_hangs_only_once_it_plays() {
        let (pulse, _file) = Pulse::create().unwrap();
        let mut vitals = Vitals::new();
        let mut look = |pulse: &Pulse, beats: bool| {
            if beats {
                pulse.add(PulseWord::Monitor, 1);
                pulse.add(PulseWord::Main, 1);
            }
            vitals.look_after(LOOK, pulse, false)
        };
        for _ in 0..3 * MAIN {
            assert_eq!(look(&pulse, false), None);
        }
        pulse.set(PulseWord::Period, 1_000_000);
        pulse.set(PulseWord::Inside, 1);
        for _ in 0..SILENT {
            assert_eq!(look(&pulse, true), None);
        }
        assert_eq!(look(&pulse, true), Some("it hangs"));
        // A device that asks for no block is waited for.
        pulse.set(PulseWord::Inside, 0);
        pulse.add(PulseWord::Blocks, 1);
        for _ in 0..=IDLE {
            assert_eq!(look(&pulse, true), None);
        }
        assert_eq!(look(&pulse, true), Some("it hangs"));
        pulse.set(PulseWord::Inside, 1);
        // Blocks of a second are waited for longer.
        pulse.add(PulseWord::Blocks, 1);
        pulse.set(PulseWord::Period, 1_000_000_000);
        for _ in 0..MONITOR - 40 {
            assert_eq!(look(&pulse, true), None);
        }
    }
}
