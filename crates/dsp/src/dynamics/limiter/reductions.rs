//! [`Reductions`]: the largest reduction of a window, released and averaged.

use super::Row;
use crate::kernel::{DelayLoop, FRAMES, Memory, line_sample};
use crate::sample::larger;
use crate::whole::above;

/// Reductions are whole numbers of this size: so their sum is exact.
const UNIT: f64 = 1.0 / 16_777_216.0;
/// Numbers that are summed at once.
const LANES: usize = 8;
/// A reduction below this is none.
const NO_REDUCTION: f64 = 1e-9;

/// The rings of a limiter's reductions in a memory's line: as detected, then as released.
#[derive(Clone, Copy)]
pub(super) struct Reductions {
    /// First sample in the line.
    pub(super) first: usize,
    /// W, at least 1.
    pub(super) window: usize,
}

impl Reductions {
    fn released(self) -> usize {
        self.first + self.window + 1
    }

    /// Index behind the last sample in the line.
    pub(super) fn end(self) -> usize {
        self.released() + self.window
    }

    /// The mean that was given last.
    ///
    /// Real-time: hot.
    pub(super) fn mean(self, memory: &Memory) -> f64 {
        memory.numbers[2] * UNIT / self.window as f64
    }

    /// Returns true if nothing was reduced for so long that the rings are zeros, and no mean is left: frames without a reduction
    /// change nothing then.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn is_at_rest(self, memory: &Memory) -> bool {
        let is_zero = |samples: &[f32]| samples.iter().fold(0, |bits, x| bits | x.to_bits()) == 0;
        memory.numbers.iter().all(|x| *x == 0.0) && is_zero(memory.samples(self.first..self.end()))
    }

    /// Replaces each reduction by the largest of the last W + 1 frames, in the time of a few comparisons (M. van Herk, *Pattern
    /// Recognition Letters* 13 (1992)). The ring is as long as the window. Behind its place it has what came in this round, and
    /// `numbers[0]` the largest of that; from its place on it has for each frame of the last round the largest from there to the
    /// round's end.
    #[inline(always)]
    pub(super) fn hold_largest(self, memory: &mut Memory, at: u64, mut reductions: &mut [f64]) {
        let length = self.window + 1;
        let mut place = (at % length as u64) as usize;
        while !reductions.is_empty() {
            if place == 0 {
                self.end_round(memory);
            }
            let some = reductions.len().min(length - place);
            let (part, rest) = reductions.split_at_mut(some);
            self.hold_part(memory, self.first + place, part);
            (reductions, place) = (rest, (place + some) % length);
        }
    }

    /// Frames of one round, whose first one is at `first` in the line.
    #[inline(always)]
    fn hold_part(self, memory: &mut Memory, first: usize, part: &mut [f64]) {
        let count = part.len().min(FRAMES);
        let (mut new, mut later) = ([0f32; FRAMES], [0f32; FRAMES]);
        for (new, reduction) in new.iter_mut().zip(&*part) {
            *new = line_sample(*reduction);
        }
        // What the last round has behind each place; nothing behind the last one.
        let behind = first + 1..(first + 1 + count).min(self.released());
        later[..behind.len()].copy_from_slice(memory.samples(behind));
        memory.write_samples(first, &new[..count]);
        let mut newest = memory.numbers[0] as f32;
        for new in &mut new[..count] {
            newest = larger(*new, newest);
            *new = newest;
        }
        memory.numbers[0] = f64::from(newest);
        for ((reduction, new), later) in part.iter_mut().zip(new).zip(later) {
            *reduction = f64::from(larger(new, later));
        }
    }

    /// Makes of what came in a round the largest from each frame to the round's end.
    #[inline(always)]
    fn end_round(self, memory: &mut Memory) {
        memory.numbers[0] = 0.0;
        let mut largest = 0f32;
        let (first, mut end) = (self.first, self.released());
        while end > first {
            let begin = end.saturating_sub(FRAMES).max(first);
            let mut row = [0f32; FRAMES];
            let row = &mut row[..end - begin];
            row.copy_from_slice(memory.samples(begin..end));
            for x in row.iter_mut().rev() {
                largest = larger(*x, largest);
                *x = largest;
            }
            memory.write_samples(begin, row);
            end = begin;
        }
    }

    /// Replaces each reduction by the mean of the last W ones, which fall with `release`.
    #[inline(always)]
    pub(super) fn smooth(
        self,
        memory: &mut Memory,
        at: u64,
        reductions: &mut [f64],
        release: &Row,
    ) {
        let mut covered = [0.0; FRAMES];
        for ((covered, reduction), release) in covered.iter_mut().zip(&mut *reductions).zip(release)
        {
            *reduction = if *reduction < NO_REDUCTION {
                0.0
            } else {
                *reduction
            };
            *covered = *reduction * (1.0 - release);
        }
        memory.numbers[1] = release_run(memory.numbers[1], reductions, &covered, release);
        let (mut wholes, mut samples) = ([0.0; FRAMES], [0f32; FRAMES]);
        for ((whole, sample), reduction) in wholes.iter_mut().zip(&mut samples).zip(&*reductions) {
            *whole = above(reduction.min(1.0) / UNIT);
            *sample = line_sample(*whole);
        }
        let count = reductions.len().min(FRAMES);
        let ring = DelayLoop {
            first: self.released(),
            length: self.window,
        };
        let mut old = [0f32; FRAMES];
        ring.read_run(memory, at, &mut old[..count]);
        ring.write_run(memory, at, &samples[..count]);
        let mut changes = [0.0; FRAMES];
        for (change, (whole, old)) in changes[..count].iter_mut().zip(wholes.iter().zip(old)) {
            *change = whole - f64::from(old);
        }
        let part = UNIT / self.window as f64;
        let mut sum = memory.numbers[2];
        for (row, to) in changes
            .as_chunks::<LANES>()
            .0
            .iter()
            .zip(reductions.chunks_mut(LANES))
        {
            // Sums of whole numbers are exact, in any order.
            let sums = running_sums(*row).map(|ahead| ahead + sum);
            sum = sums[LANES - 1];
            to.iter_mut()
                .zip(sums)
                .for_each(|(to, sum)| *to = sum * part);
        }
        memory.numbers[2] = sum;
    }
}

/// Goes from frame to frame: each reduction makes way for the released one. `covered` has its share after a frame. A function of its
/// own, since the compiler would take the wide comparisons of the vectors around it, for which each frame waits longer.
///
/// Real-time: hot.
#[inline(never)]
fn release_run(mut last: f64, reductions: &mut [f64], covered: &Row, release: &Row) -> f64 {
    for ((reduction, release), covered) in reductions.iter_mut().zip(release).zip(covered) {
        let released = larger(*reduction, covered + last * release);
        // Compared before it is known: shorter to wait for.
        last = if last < NO_REDUCTION {
            *reduction
        } else {
            released
        };
        *reduction = last;
    }
    last
}

/// The sum of each number and all before it.
#[inline(always)]
fn running_sums(row: [f64; LANES]) -> [f64; LANES] {
    let pairs = added(row, later::<1>(row));
    let fours = added(pairs, later::<2>(pairs));
    added(fours, later::<4>(fours))
}

/// The numbers that lie `BY` places before, or 0.
#[inline(always)]
fn later<const BY: usize>(row: [f64; LANES]) -> [f64; LANES] {
    std::array::from_fn(|i| if i >= BY { row[i - BY] } else { 0.0 })
}

#[inline(always)]
fn added(a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
    std::array::from_fn(|i| a[i] + b[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::MemorySize;

    #[test]
    fn it_rests_where_frames_without_a_reduction_change_nothing() {
        let reductions = Reductions {
            first: 0,
            window: 20,
        };
        let size = MemorySize {
            numbers: 3,
            counts: 0,
            line: reductions.end(),
        };
        let mut memory = Memory::new(0, size);
        assert!(reductions.is_at_rest(&memory));
        let mut resting = 0;
        for at in 0..200u64 {
            let was_resting = reductions.is_at_rest(&memory);
            let before = (
                memory.numbers.clone(),
                memory.samples(0..size.line).to_vec(),
            );
            // The second one is too small to count when it is released.
            let mut row = [match at {
                3 => 0.5,
                100 => 1e-10,
                _ => 0.0,
            }];
            reductions.hold_largest(&mut memory, at, &mut row);
            reductions.smooth(&mut memory, at, &mut row, &[0.1; FRAMES]);
            if was_resting && at != 3 && at != 100 {
                resting += 1;
                let after = (
                    memory.numbers.clone(),
                    memory.samples(0..size.line).to_vec(),
                );
                assert_eq!((row, before), ([0.0], after), "{at}");
            }
            // Held for a window, released, and averaged over another one.
            let is_busy = (3..3 + 41).contains(&at) || (100..=120).contains(&at);
            assert!(!is_busy || !reductions.is_at_rest(&memory), "{at}");
        }
        assert!((80..150).contains(&resting), "{resting}");
    }
}
