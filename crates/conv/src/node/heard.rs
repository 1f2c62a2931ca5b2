//! [`HeardInput`]: the input of the last time, from which a node in another process computes all spectra anew.
//!
//! A ring for each input, in absolute frames. It is kept from the first time on that somebody asks for it: a node that plays in
//! no cell has none.
//!
//! | bound | holds |
//! |---|---|
//! | 0, 1 | the frames from which and to which the samples are true |
//! | 2 | 1 if the other response was asked for, plus 2 if the adapter adds latency |
//! | 3 | nothing |

use crate::ConvolverAdapter;
use crate::level::lookahead::MAX_PERIODS;
use processor::Past;

/// Bits of the bound with index 2.
const OTHER: u64 = 1;
const DELAYED: u64 = 2;

/// The input that still sounds.
pub(super) struct HeardInput {
    samples: Box<[f32]>,
    capacity: usize,
    /// Frames that are computed anew, and a number of which their first one is a multiple.
    needed: u64,
    period: u64,
    /// The frame from which the samples are true; `None` before the first one.
    from: Option<u64>,
    to: u64,
}

/// From which frame on a node computes anew, and what it has to set before.
pub(super) struct Replay {
    pub(super) from: u64,
    pub(super) wants_other: bool,
    pub(super) is_delayed: bool,
    /// False if nothing sounds: the node slept.
    pub(super) is_needed: bool,
}

impl HeardInput {
    /// Rings for what `adapter` hears on `inputs` channels. `None` if they would be longer than memory.
    ///
    /// Real-time: setup.
    pub(super) fn new(adapter: &ConvolverAdapter, inputs: usize) -> Option<Self> {
        let levels = adapter.convolver().partition().levels();
        let period = levels.iter().map(|level| level.size()).max().unwrap_or(1);
        let period = period.max(adapter.convolver().block()) as u64;
        // Sums that were made ahead are old by so many periods.
        let needed = adapter.tail() + MAX_PERIODS as u64 * period;
        let capacity = usize::try_from(needed + period).ok()?;
        let capacity = capacity.checked_next_power_of_two()?;
        Some(Self {
            samples: vec![0.0; capacity.checked_mul(inputs)?].into(),
            capacity,
            needed,
            period,
            from: None,
            to: 0,
        })
    }

    /// Forgets all: the next frame is the first one that counts.
    ///
    /// Real-time: hot.
    pub(super) fn clear(&mut self) {
        (self.from, self.to) = (None, 0);
    }

    /// Keeps frames of an input, which begin at absolute frame `position`.
    ///
    /// Real-time: hot.
    pub(super) fn write(&mut self, channel: usize, position: u64, frames: &[f32]) {
        self.from.get_or_insert(position);
        self.to = position + frames.len() as u64;
        let ring = &mut self.samples[channel * self.capacity..][..self.capacity];
        let at = (position % self.capacity as u64) as usize;
        // A block is shorter than a ring, which has room for the tail of two.
        let first = frames.len().min(self.capacity - at);
        ring[at..at + first].copy_from_slice(&frames[..first]);
        let rest = &frames[first..];
        ring[..rest.len()].copy_from_slice(rest);
    }

    /// Copies the frames of an input from absolute frame `position` on.
    ///
    /// Real-time: setup.
    pub(super) fn read(&self, channel: usize, position: u64, frames: &mut [f32]) {
        let ring = &self.samples[channel * self.capacity..][..self.capacity];
        let at = (position % self.capacity as u64) as usize;
        let turned = ring[at..].iter().chain(&ring[..at]);
        frames.iter_mut().zip(turned).for_each(|(to, x)| *to = *x);
    }

    /// Knowledge that another process needs.
    ///
    /// Real-time: hot.
    pub(super) fn past(&mut self, wants_other: bool, is_delayed: bool) -> Past<'_> {
        let other = if wants_other { OTHER } else { 0 };
        let delayed = if is_delayed { DELAYED } else { 0 };
        Past {
            capacity: self.capacity,
            bounds: [self.from.unwrap_or(u64::MAX), self.to, other | delayed, 0],
            samples: &mut self.samples,
        }
    }

    /// The frames to be computed anew up to `position`, if these bounds can be true. Nobody believes that they are.
    ///
    /// Real-time: setup.
    pub(super) fn replay(
        &mut self,
        [from, to, flags, rest]: [u64; 4],
        position: u64,
    ) -> Option<Replay> {
        let is_right = from <= to && to <= position && flags <= (OTHER | DELAYED) && rest == 0;
        if !is_right {
            return None;
        }
        let is_needed = to == position;
        if is_needed {
            (self.from, self.to) = (Some(from), to);
        }
        let first = position.saturating_sub(self.needed);
        Some(Replay {
            from: from.max(first - first % self.period),
            wants_other: flags & OTHER != 0,
            is_delayed: flags & DELAYED != 0,
            is_needed,
        })
    }
}
