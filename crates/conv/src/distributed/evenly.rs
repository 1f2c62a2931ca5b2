//! Hands that do some pieces of every line in each callback, as a [`Spread`] says: no thread, and no callback with much
//! more to do than another.
//!
//! A line's work arrives when its period is complete and is due one period later, whatever the latency. The plan is made
//! once, from what the pieces weigh; in a callback a few numbers are read.

use super::spread::{Job, Spread};
use crate::fdl::Fdl;
use crate::hands::{Hands, Inline};
use crate::{Convolver, Options};
use rt::deferred::Owner;

/// See the module. For the [`Convolver`] it was made for, and for no other.
#[derive(Clone, Debug)]
pub struct Evenly {
    spread: Spread,
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

impl Evenly {
    /// `options` with pieces that are light enough to be spread evenly for so many channels.
    ///
    /// Real-time: setup.
    pub fn prepare(options: &Options, channels: usize) -> Options {
        let piece = PIECE.saturating_mul(channels.clamp(1, 64) as u32);
        Options {
            piece: piece.min(MOST_PIECE),
            stagger: false,
            ..options.clone()
        }
    }

    /// Spreads the work of `convolver`, none of which is out.
    ///
    /// Real-time: setup.
    pub fn new(convolver: &mut Convolver) -> Self {
        let block = convolver.block();
        let facts: Vec<_> = convolver.lines().collect();
        let periods: Box<[usize]> = facts.iter().map(|line| line.size / block).collect();
        let mut always = 0;
        let mut jobs = Vec::with_capacity(facts.len());
        for (index, line) in facts.iter().enumerate() {
            let weights = convolver.weights(index);
            if line.is_urgent {
                always += weights.iter().sum::<u64>() / periods[index].max(1) as u64;
            }
            jobs.push(Job {
                period: periods[index],
                pieces: if line.is_urgent { Vec::new() } else { weights },
                after: line.takes_from,
            });
        }
        Self {
            spread: Spread::new(&jobs, always),
            // The first callback completes the first period of a block's length.
            at: 1,
            pieces: vec![0; periods.len()].into(),
            periods,
        }
    }

    /// The plan.
    pub fn spread(&self) -> &Spread {
        &self.spread
    }
}

impl Hands for Evenly {
    fn started(&mut self, line: usize, _work: &mut Owner<Fdl>) {
        // All lines start together where the longest does; after a jump in time each start brings the plan nearer.
        let period = self.periods.get(line).copied().unwrap_or(1).max(1);
        self.at -= self.at % period;
    }

    fn finish(&mut self, line: usize, work: &mut Owner<Fdl>) -> bool {
        Inline.finish(line, work)
    }

    fn tend(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut Owner<Fdl>)>) {
        let turns = self.spread.turns(self.at);
        for turn in turns {
            self.pieces[turn.job as usize] = turn.pieces;
        }
        for (index, work) in lines {
            let pieces = self.pieces.get_mut(index).map(std::mem::take);
            for _ in 0..pieces.unwrap_or(0) {
                work.help();
            }
        }
        self.at = (self.at + 1) % self.spread.callbacks();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Latency, Partition, Path};
    use fft::{Backend, Kernels, Packing, RealFft};

    /// Holds that nothing is left to do when it is due, and counts what is done.
    struct Watched {
        hands: Evenly,
        unfinished: usize,
    }

    impl Hands for Watched {
        fn started(&mut self, line: usize, work: &mut Owner<Fdl>) {
            self.hands.started(line, work);
        }

        fn finish(&mut self, line: usize, work: &mut Owner<Fdl>) -> bool {
            self.unfinished += usize::from(!work.is_here());
            self.hands.finish(line, work)
        }

        fn tend(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut Owner<Fdl>)>) {
            self.hands.tend(lines);
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

    fn convolver(text: &str, latency: Latency, channels: usize) -> Convolver {
        let partition = Partition::parse(32, latency, text).unwrap();
        let path = |i: usize| Path::new(i, i, noise(partition.reach() - 9, i as u32));
        let paths: Vec<_> = (0..channels).map(path).collect();
        let options = Evenly::prepare(&Options::new(partition.clone()), channels);
        Convolver::new(channels, channels, &paths, &options).unwrap()
    }

    #[test]
    fn nothing_is_left_to_do_when_it_is_due_and_the_bits_are_those_of_the_callback() {
        for (text, latency, channels) in [
            ("7x32 6x128 2x512 3x1024", Latency::None, 1),
            ("6x32 6x128 2x512 3x1024", Latency::OneBlock, 3),
            ("7x32 6x128 2x512 3x1024", Latency::None, 17),
            ("5x32", Latency::None, 2),
        ] {
            let (mut even, mut plain) = (
                convolver(text, latency, channels),
                convolver(text, latency, channels),
            );
            let mut hands = Watched {
                hands: Evenly::new(&mut even),
                unfinished: 0,
            };
            for callback in 0..150 {
                for channel in 0..channels {
                    let heard = noise(32, (callback * 31 + channel) as u32);
                    even.hear(channel, &heard);
                    plain.hear(channel, &heard);
                }
                even.turn(&mut hands);
                plain.turn(&mut Inline);
                for channel in 0..channels {
                    assert_eq!(even.played(channel), plain.played(channel));
                }
            }
            assert_eq!((hands.unfinished, even.late()), (0, 0), "{text}");
        }
    }

    #[test]
    fn after_a_jump_in_time_it_finds_its_step_again() {
        let mut even = convolver("7x32 6x128 2x512 3x1024", Latency::None, 1);
        let mut hands = Watched {
            hands: Evenly::new(&mut even),
            unfinished: 0,
        };
        for jump in [0, 32, 1000 * 32 + 96] {
            even.seek(jump);
            (0..64).for_each(|_| even.turn(&mut hands));
            hands.unfinished = 0;
            (0..64).for_each(|_| even.turn(&mut hands));
            assert_eq!(hands.unfinished, 0, "{jump}");
        }
    }

    /// Responses of 524288 frames, as far as the partition goes.
    fn long(channels: usize) -> Convolver {
        let text = "15x64 2x512 6x1024 6x4096 6x16384 7x65536";
        let partition = Partition::parse(64, Latency::None, text).unwrap();
        let response: std::sync::Arc<[f32]> = vec![1.0; 10].into();
        let path = |i: usize| Path::new(i, i, response.clone());
        let paths: Vec<_> = (0..channels).map(path).collect();
        let options = Evenly::prepare(&Options::new(partition), channels);
        Convolver::new(channels, channels, &paths, &options).unwrap()
    }

    /// What a transform of that size weighs.
    fn transform(size: usize) -> u64 {
        let fft = RealFft::new(size, Packing::Mono, Kernels::best(), Backend::Own).unwrap();
        (0..fft.pieces())
            .map(|i| u64::from(fft.weight(i, true)))
            .sum()
    }

    #[test]
    fn no_callback_does_a_transform_of_a_long_level() {
        let mut convolver = long(1);
        let hands = Evenly::new(&mut convolver);
        let lines: Vec<_> = convolver.lines().collect();
        let whole: Vec<_> = lines.iter().map(|line| transform(line.size)).collect();
        let weights: Vec<_> = (0..lines.len()).map(|i| convolver.weights(i)).collect();
        let mut done = vec![0; lines.len()];
        for callback in 0..hands.spread().callbacks() {
            for (done, line) in done.iter_mut().zip(&lines) {
                if callback % (line.size / 64) == 0 {
                    *done = 0;
                }
            }
            for turn in hands.spread().turns(callback) {
                let index = turn.job as usize;
                let pieces = done[index]..done[index] + turn.pieces as usize;
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
            let hands = Evenly::new(&mut convolver);
            let (worst, mean) = (hands.spread().worst() as f64, hands.spread().mean());
            assert!(
                worst <= 1.5 * mean,
                "{channels} channels: {worst} of {mean}"
            );
        }
    }
}
