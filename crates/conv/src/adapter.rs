//! Blocks of any length from a host, blocks of one length inside.
//!
//! Where every host block is a whole number of internal ones nothing is added. Any other, odd or changing, costs one
//! internal block: what is played is what the turn before has given. One that was promised to fit and does not makes
//! the adapter go over to that, with one gap of silence.

use crate::{Convolver, Exchange, LevelScheduler};
use fft::AlignedBuffer;

/// What a sample may be at most: far beyond any sound, and still finite after every transform.
const MOST: f32 = 1e15;

/// A convolver for blocks of any length. In each host block, until it is used up: ask how much [room](Self::room) there
/// is, [hear](Self::hear) so much of every input, [advance](Self::advance), and take what is [played](Self::played).
pub struct ConvolverAdapter {
    convolver: Convolver,
    /// How much of the internal block has been heard.
    filled: usize,
    is_late: bool,
    /// What the turn before has given; used where it is late.
    before: AlignedBuffer,
    /// The part that has just been heard.
    part: (usize, usize),
    misfit_count: u64,
}

impl ConvolverAdapter {
    /// For a host whose blocks all have `host` frames, or are whole blocks of so many; `None` where they may be any.
    ///
    /// Real-time: setup.
    pub fn new(convolver: Convolver, host: Option<usize>) -> Self {
        let fits = host.is_some_and(|host| host > 0 && host.is_multiple_of(convolver.block()));
        Self {
            before: AlignedBuffer::new(convolver.outputs() * convolver.block()),
            convolver,
            filled: 0,
            is_late: !fits,
            part: (0, 0),
            misfit_count: 0,
        }
    }

    /// How many frames the outputs lag behind the inputs.
    ///
    /// Real-time: hot.
    pub fn latency(&self) -> usize {
        let own = if self.is_late {
            self.convolver.block()
        } else {
            0
        };
        own + self.convolver.latency()
    }

    /// The convolver within.
    ///
    /// Real-time: hot.
    pub fn convolver(&self) -> &Convolver {
        &self.convolver
    }

    /// The same, to exchange its impulse responses.
    ///
    /// Real-time: hot.
    pub fn convolver_mut(&mut self) -> &mut Convolver {
        &mut self.convolver
    }

    /// How many blocks did not fit although that had been promised.
    ///
    /// Real-time: hot.
    pub fn misfit_count(&self) -> u64 {
        self.misfit_count
    }

    /// The frame that is heard next.
    ///
    /// Real-time: hot.
    pub fn position(&self) -> u64 {
        self.convolver.position() + self.filled as u64
    }

    /// For how many frames after the last sound it must be played before it is silent.
    ///
    /// Real-time: hot.
    pub fn tail(&self) -> u64 {
        self.convolver.tail() + 2 * self.convolver.block() as u64
    }

    /// Forgets all sound, and goes on as if the next frame were frame `position`.
    ///
    /// Real-time: hot.
    pub fn seek(&mut self, position: u64) {
        self.filled = (position % self.convolver.block() as u64) as usize;
        self.convolver.seek(position - self.filled as u64);
        self.convolver.silence();
        self.before.fill(0.0);
        self.part = (0, 0);
    }

    /// Becomes as new, at once; `back` as for [`Convolver::restart`].
    ///
    /// Real-time: hot.
    pub(crate) fn restart(&mut self, back: Option<Box<Exchange>>) {
        self.seek(0);
        self.convolver.restart(back);
    }

    /// How many of the host block's last `frames` frames can be heard at once.
    ///
    /// Real-time: hot.
    pub fn begin_chunk(&mut self, frames: usize) -> usize {
        let block = self.convolver.block();
        if !self.is_late && (frames < block || self.filled > 0) {
            self.is_late = true;
            self.misfit_count += 1;
            // What the turn before gave has been played already.
            self.convolver.silence();
        }
        let take = frames.min(block - self.filled);
        self.part = (self.filled, self.filled + take);
        take
    }

    /// Hears the next frames of input `channel`, as many as there is room for. What is no number is silence.
    ///
    /// Real-time: hot.
    pub fn write_input(&mut self, channel: usize, frames: &[f32]) {
        let (from, to) = self.part;
        let place = &mut self.convolver.place(channel)[from..to];
        for (to, x) in place.iter_mut().zip(frames) {
            let held = x.clamp(-MOST, MOST);
            *to = if x.is_nan() { 0.0 } else { held };
        }
    }

    /// Counts what has been heard, and convolves where a block is complete.
    ///
    /// Real-time: hot, wakes.
    pub fn process(&mut self, hands: &mut dyn LevelScheduler) {
        self.filled = self.part.1;
        if self.filled < self.convolver.block() {
            return;
        }
        self.filled = 0;
        if self.is_late {
            self.before.copy_from_slice(self.convolver.all_played());
        }
        self.convolver.process_block(hands);
    }

    /// What output `channel` plays in the frames that were heard last.
    ///
    /// Real-time: hot.
    pub fn output(&self, channel: usize) -> &[f32] {
        let (from, to) = self.part;
        let all = match (self.is_late, self.filled) {
            (true, 0) => &self.before[channel * self.convolver.block()..],
            _ => self.convolver.output(channel),
        };
        &all[from..to]
    }
}
