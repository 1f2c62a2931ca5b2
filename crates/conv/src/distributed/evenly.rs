//! Hands that do some pieces of every line in each callback, as a [`CallbackSchedule`] says: no thread, and no callback with much
//! more to do than another.
//!
//! A line's work arrives when its period is complete and is due one period later, whatever the latency. The plan is made
//! once, from what the pieces weigh; in a callback a few numbers are read.

use super::spread::{CallbackSchedule, PeriodicJob};
use crate::fdl::Fdl;
use crate::hands::{Inline, LevelScheduler};
use crate::{Convolver, ConvolverOptions};
use rt::deferred::DeferredJob;

/// See the module. For the [`Convolver`] it was made for, and for no other.
#[derive(Clone, Debug)]
pub struct TimeDistributed {
    schedule: CallbackSchedule,
    /// Which callback of the plan comes next.
    at: usize,
    /// How many callbacks each line has for its work.
    periods: Box<[usize]>,
    /// How many pieces each line is to do in this callback; all zero in between.
    pieces: Box<[u32]>,
}

/// How many vector instructions a piece has at most, roughly, for one channel.
const PIECE: u32 = 1024;
/// The same for many channels: pieces may be heavier where there is more of everything.
const MOST_PIECE: u32 = 16384;

impl TimeDistributed {
    /// `options` with pieces that are light enough to be spread evenly for so many channels.
    ///
    /// Real-time: setup.
    pub fn adapt_options(options: &ConvolverOptions, channels: usize) -> ConvolverOptions {
        let piece = PIECE.saturating_mul(channels.clamp(1, 64) as u32);
        ConvolverOptions {
            max_piece_cost: piece.min(MOST_PIECE),
            stagger: false,
            ..options.clone()
        }
    }

    /// Spreads the work of `convolver`, none of which is out.
    ///
    /// Real-time: setup.
    pub fn new(convolver: &mut Convolver) -> Self {
        let block = convolver.block();
        let facts: Vec<_> = convolver.fdls().collect();
        let periods: Box<[usize]> = facts.iter().map(|line| line.size / block).collect();
        let mut always = 0;
        let mut jobs = Vec::with_capacity(facts.len());
        for (index, line) in facts.iter().enumerate() {
            let weights = convolver.piece_costs(index);
            if line.is_in_callback {
                always += weights.iter().sum::<u64>() / periods[index].max(1) as u64;
            }
            jobs.push(PeriodicJob {
                period: periods[index],
                piece_costs: if line.is_in_callback {
                    Vec::new()
                } else {
                    weights
                },
                after: line.takes_from,
            });
        }
        Self {
            schedule: CallbackSchedule::new(&jobs, always),
            // The first callback completes the first period of a block's length.
            at: 1,
            pieces: vec![0; periods.len()].into(),
            periods,
        }
    }

    /// The plan.
    pub fn schedule(&self) -> &CallbackSchedule {
        &self.schedule
    }
}

impl LevelScheduler for TimeDistributed {
    fn job_started(&mut self, line: usize, _work: &mut DeferredJob<Fdl>) {
        // All lines start together where the longest does; after a jump in time each start brings the plan nearer.
        let period = self.periods.get(line).copied().unwrap_or(1).max(1);
        self.at -= self.at % period;
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        Inline.finish(line, work)
    }

    fn after_block(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        let turns = self.schedule.runs(self.at);
        for turn in turns {
            self.pieces[turn.job as usize] = turn.count;
        }
        for (index, work) in lines {
            let pieces = self.pieces.get_mut(index).map(std::mem::take);
            for _ in 0..pieces.unwrap_or(0) {
                work.run_piece();
            }
        }
        self.at = (self.at + 1) % self.schedule.callbacks();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AddedLatency, Partition, Path};
    use fft::{Backend, Kernels, Packing, RealFft};

    /// Holds that nothing is left to do when it is due, and counts what is done.
    struct Watched {
        hands: TimeDistributed,
        unfinished: usize,
    }

    impl LevelScheduler for Watched {
        fn job_started(&mut self, line: usize, work: &mut DeferredJob<Fdl>) {
            self.hands.job_started(line, work);
        }

        fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
            self.unfinished += usize::from(!work.is_available());
            self.hands.finish(line, work)
        }

        fn after_block(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
            self.hands.after_block(lines);
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
    fn nothing_is_left_to_do_when_it_is_due_and_the_bits_are_those_of_the_callback() {
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
            let mut hands = Watched {
                hands: TimeDistributed::new(&mut even),
                unfinished: 0,
            };
            for callback in 0..150 {
                for channel in 0..channels {
                    let heard = noise(32, (callback * 31 + channel) as u32);
                    even.write_input(channel, &heard);
                    plain.write_input(channel, &heard);
                }
                even.process_block(&mut hands);
                plain.process_block(&mut Inline);
                for channel in 0..channels {
                    assert_eq!(even.output(channel), plain.output(channel));
                }
            }
            assert_eq!((hands.unfinished, even.late_count()), (0, 0), "{text}");
        }
    }

    #[test]
    fn after_a_jump_in_time_it_finds_its_step_again() {
        let mut even = convolver("7x32 6x128 2x512 3x1024", AddedLatency::None, 1);
        let mut hands = Watched {
            hands: TimeDistributed::new(&mut even),
            unfinished: 0,
        };
        for jump in [0, 32, 1000 * 32 + 96] {
            even.seek(jump);
            (0..64).for_each(|_| even.process_block(&mut hands));
            hands.unfinished = 0;
            (0..64).for_each(|_| even.process_block(&mut hands));
            assert_eq!(hands.unfinished, 0, "{jump}");
        }
    }

    /// Responses of 524288 frames, as far as the partition goes.
    fn long(channels: usize) -> Convolver {
        let text = "15x64 2x512 6x1024 6x4096 6x16384 7x65536";
        let partition = Partition::parse(64, AddedLatency::None, text).unwrap();
        let response: std::sync::Arc<[f32]> = vec![1.0; 10].into();
        let path = |i: usize| Path::new(i, i, response.clone());
        let paths: Vec<_> = (0..channels).map(path).collect();
        let options = TimeDistributed::adapt_options(&ConvolverOptions::new(partition), channels);
        Convolver::new(channels, channels, &paths, &options).unwrap()
    }

    /// What a transform of that size weighs.
    fn transform(size: usize) -> u64 {
        let fft = RealFft::new(size, Packing::Mono, Kernels::best(), Backend::Own).unwrap();
        (0..fft.pieces())
            .map(|i| u64::from(fft.piece_cost(i, true)))
            .sum()
    }

    #[test]
    fn no_callback_does_a_transform_of_a_long_level() {
        let mut convolver = long(1);
        let hands = TimeDistributed::new(&mut convolver);
        let lines: Vec<_> = convolver.fdls().collect();
        let whole: Vec<_> = lines.iter().map(|line| transform(line.size)).collect();
        let weights: Vec<_> = (0..lines.len()).map(|i| convolver.piece_costs(i)).collect();
        let mut done = vec![0; lines.len()];
        for callback in 0..hands.schedule().callbacks() {
            for (done, line) in done.iter_mut().zip(&lines) {
                if callback % (line.size / 64) == 0 {
                    *done = 0;
                }
            }
            for turn in hands.schedule().runs(callback) {
                let index = turn.job as usize;
                let pieces = done[index]..done[index] + turn.count as usize;
                done[index] = pieces.end;
                let load: u64 = weights[index][pieces].iter().sum();
                let size = lines[index].size;
                assert!(size < 4096 || load < whole[index], "{size}: {load}");
            }
        }
        let pieces: Vec<_> = weights.iter().map(Vec::len).collect();
        assert_eq!(done[1..], pieces[1..], "all is done in the end");
    }

    #[test]
    fn long_responses_load_all_callbacks_alike() {
        for channels in [1, 4, 32] {
            let mut convolver = long(channels);
            let hands = TimeDistributed::new(&mut convolver);
            let (worst, mean) = (
                hands.schedule().max_load() as f64,
                hands.schedule().mean_load(),
            );
            assert!(
                worst <= 1.5 * mean,
                "{channels} channels: {worst} of {mean}"
            );
        }
    }
}
