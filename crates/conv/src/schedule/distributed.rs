//! [`TimeDistributed`]: some pieces of every line in each callback, by a [`CallbackSchedule`]. There is no thread, and
//! all callbacks have nearly the same load (seed 000, section 4, for any number of levels).
//!
//! A job arrives when its period is complete and is due one period later, whatever the level's slack. The schedule is made
//! once, from the estimated costs of the pieces; a callback only reads it.

use super::callback_schedule::{CallbackSchedule, PeriodicJob};
use super::{Inline, LevelScheduler};
use crate::convolver::{Convolver, ConvolverOptions};
use crate::level::Fdl;
use rt::deferred::DeferredJob;

/// Scheduler that does some pieces of every line in each callback. It serves only the [`Convolver`] it was made for.
#[derive(Clone, Debug)]
pub struct TimeDistributed {
    schedule: CallbackSchedule,
    /// Number of the next callback in the schedule.
    next_callback: usize,
    /// Period of each line, in callbacks.
    periods: Box<[usize]>,
    /// Pieces of each line to do in this callback; all zero between callbacks.
    pieces: Box<[u32]>,
}

/// Largest cost of a piece for one channel.
const PIECE_COST: u32 = 1024;
/// Largest cost of a piece for many channels: with more work in all, larger pieces still give an even load.
const MAX_PIECE_COST: u32 = 16384;

impl TimeDistributed {
    /// Returns `options` with pieces small enough to be distributed evenly for `channels` channels.
    ///
    /// Real-time: setup.
    pub fn adapt_options(options: &ConvolverOptions, channels: usize) -> ConvolverOptions {
        let cost = PIECE_COST.saturating_mul(channels.clamp(1, 64) as u32);
        ConvolverOptions {
            max_piece_cost: cost.min(MAX_PIECE_COST),
            stagger: false,
            ..options.clone()
        }
    }

    /// Makes a schedule for `convolver`, none of whose jobs is out.
    ///
    /// Real-time: setup.
    pub fn new(convolver: &mut Convolver) -> Self {
        let block = convolver.block();
        let fdls: Vec<_> = convolver.fdls().collect();
        let periods: Box<[usize]> = fdls.iter().map(|fdl| fdl.size / block).collect();
        let mut base_load = 0;
        let mut jobs = Vec::with_capacity(fdls.len());
        for (index, fdl) in fdls.iter().enumerate() {
            let costs = convolver.piece_costs(index);
            if fdl.is_in_callback {
                base_load += costs.iter().sum::<u64>() / periods[index].max(1) as u64;
            }
            jobs.push(PeriodicJob {
                period: periods[index],
                piece_costs: if fdl.is_in_callback {
                    Vec::new()
                } else {
                    costs
                },
            });
        }
        Self {
            schedule: CallbackSchedule::new(&jobs, base_load),
            // The first callback completes the first period of a level of the block's size.
            next_callback: 1,
            pieces: vec![0; periods.len()].into(),
            periods,
        }
    }

    /// The schedule.
    pub fn schedule(&self) -> &CallbackSchedule {
        &self.schedule
    }
}

impl LevelScheduler for TimeDistributed {
    fn job_started(&mut self, fdl: usize, _job: &mut DeferredJob<Fdl>) {
        // Jobs of all lines start together where the longest one starts. After a jump in time each start aligns the schedule with
        // one more period.
        let period = self.periods.get(fdl).copied().unwrap_or(1).max(1);
        self.next_callback -= self.next_callback % period;
    }

    fn finish(&mut self, fdl: usize, job: &mut DeferredJob<Fdl>) -> bool {
        Inline.finish(fdl, job)
    }

    fn after_block(&mut self, jobs: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        for run in self.schedule.runs(self.next_callback) {
            self.pieces[run.job as usize] = run.count;
        }
        for (fdl, job) in jobs {
            let pieces = self.pieces.get_mut(fdl).map(std::mem::take);
            for _ in 0..pieces.unwrap_or(0) {
                job.run_piece();
            }
        }
        self.next_callback = (self.next_callback + 1) % self.schedule.callbacks();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convolver::Path;
    use crate::partition::{AddedLatency, Partition};
    use fft::{Kernels, Packing, RealFft};

    /// Counts jobs that are not done when they are due.
    struct Watched {
        scheduler: TimeDistributed,
        unfinished: usize,
    }

    impl LevelScheduler for Watched {
        fn job_started(&mut self, fdl: usize, job: &mut DeferredJob<Fdl>) {
            self.scheduler.job_started(fdl, job);
        }

        fn finish(&mut self, fdl: usize, job: &mut DeferredJob<Fdl>) -> bool {
            self.unfinished += usize::from(!job.is_available());
            self.scheduler.finish(fdl, job)
        }

        fn after_block(&mut self, jobs: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
            self.scheduler.after_block(jobs);
        }
    }

    fn noise(frames: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..frames).map(|_| next()).collect()
    }

    fn convolver(text: &str, latency: AddedLatency, channels: usize) -> Convolver {
        let partition = Partition::parse(32, latency, text).unwrap();
        let path = |i: usize| Path::new(i, i, noise(partition.max_ir_frames() - 9, i as u32));
        let paths: Vec<_> = (0..channels).map(path).collect();
        let options =
            TimeDistributed::adapt_options(&ConvolverOptions::new(partition.clone()), channels);
        Convolver::new(channels, channels, &paths, &options).unwrap()
    }

    #[test]
    fn every_job_is_done_when_it_is_due_and_the_bits_are_those_of_inline() {
        for (text, latency, channels) in [
            ("7x32 6x128 2x512 3x1024", AddedLatency::None, 1),
            ("6x32 6x128 2x512 3x1024", AddedLatency::OneBlock, 3),
            ("7x32 6x128 2x512 3x1024", AddedLatency::None, 17),
            ("5x32", AddedLatency::None, 2),
        ] {
            let (mut even, mut plain) = (
                convolver(text, latency, channels),
                convolver(text, latency, channels),
            );
            let mut watched = Watched {
                scheduler: TimeDistributed::new(&mut even),
                unfinished: 0,
            };
            for callback in 0..150 {
                for channel in 0..channels {
                    let block = noise(32, (callback * 31 + channel) as u32);
                    even.write_input(channel, &block);
                    plain.write_input(channel, &block);
                }
                even.process_block(&mut watched);
                plain.process_block(&mut Inline);
                for channel in 0..channels {
                    assert_eq!(even.output(channel), plain.output(channel));
                }
            }
            assert_eq!((watched.unfinished, even.late_count()), (0, 0), "{text}");
        }
    }

    #[test]
    fn after_a_jump_in_time_the_schedule_is_aligned_again() {
        let mut even = convolver("7x32 6x128 2x512 3x1024", AddedLatency::None, 1);
        let mut watched = Watched {
            scheduler: TimeDistributed::new(&mut even),
            unfinished: 0,
        };
        for jump in [0, 32, 1000 * 32 + 96] {
            even.seek(jump);
            (0..64).for_each(|_| even.process_block(&mut watched));
            watched.unfinished = 0;
            (0..64).for_each(|_| even.process_block(&mut watched));
            assert_eq!(watched.unfinished, 0, "{jump}");
        }
    }

    /// A convolver with the partition of a response of 524288 frames.
    fn long(channels: usize) -> Convolver {
        let text = "15x64 2x512 6x1024 6x4096 6x16384 7x65536";
        let partition = Partition::parse(64, AddedLatency::None, text).unwrap();
        let response: std::sync::Arc<[f32]> = vec![1.0; 10].into();
        let path = |i: usize| Path::new(i, i, response.clone());
        let paths: Vec<_> = (0..channels).map(path).collect();
        let options = TimeDistributed::adapt_options(&ConvolverOptions::new(partition), channels);
        Convolver::new(channels, channels, &paths, &options).unwrap()
    }

    /// Cost of a transform of that size.
    fn transform_cost(size: usize) -> u64 {
        let fft = RealFft::new(size, Packing::Mono, Kernels::best()).unwrap();
        (0..fft.pieces())
            .map(|i| u64::from(fft.piece_cost(i, true)))
            .sum()
    }

    #[test]
    fn no_callback_does_a_transform_of_a_long_level() {
        let mut convolver = long(1);
        let scheduler = TimeDistributed::new(&mut convolver);
        let lines: Vec<_> = convolver.fdls().collect();
        let whole: Vec<_> = lines.iter().map(|line| transform_cost(line.size)).collect();
        let costs: Vec<_> = (0..lines.len()).map(|i| convolver.piece_costs(i)).collect();
        let mut done = vec![0; lines.len()];
        for callback in 0..scheduler.schedule().callbacks() {
            for (done, line) in done.iter_mut().zip(&lines) {
                if callback % (line.size / 64) == 0 {
                    *done = 0;
                }
            }
            for run in scheduler.schedule().runs(callback) {
                let index = run.job as usize;
                let pieces = done[index]..done[index] + run.count as usize;
                done[index] = pieces.end;
                let load: u64 = costs[index][pieces].iter().sum();
                let size = lines[index].size;
                assert!(size < 4096 || load < whole[index], "{size}: {load}");
            }
        }
        let pieces: Vec<_> = costs.iter().map(Vec::len).collect();
        assert_eq!(done[1..], pieces[1..], "all is done in the end");
    }

    #[test]
    fn long_responses_load_all_callbacks_evenly() {
        for channels in [1, 4, 32] {
            let mut convolver = long(channels);
            let scheduler = TimeDistributed::new(&mut convolver);
            let (max, mean) = (
                scheduler.schedule().max_load() as f64,
                scheduler.schedule().mean_load(),
            );
            assert!(max <= 1.5 * mean, "{channels} channels: {max} of {mean}");
        }
    }
}
