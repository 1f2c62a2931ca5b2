//! [`ConvolverAdapter`]: host blocks of any length for a convolver whose blocks have one length.
//!
//! If every host block is a whole number of internal blocks, no latency is added. Other host blocks, odd or changing, add one
//! internal block: the output is that of the internal block before.
//!
//! ```text
//!   host blocks      │  100   │  100   │  100   │             chunks that one internal block can take:
//!   internal blocks  │  64 │  64 │  64 │  64 │  64 │          64, 36, 28, 64, 8, ...
//! ```
//!
//! A host that promised whole blocks and sends another one makes the adapter add that latency from then on, with one gap of
//! silence.

use super::Convolver;
use crate::response::exchange::Exchange;
use crate::schedule::LevelScheduler;
use fft::AlignedBuffer;

/// Largest input sample: far beyond any sound, and still finite after every transform.
const MAX_SAMPLE: f32 = 1e15;

/// Convolver for host blocks of any length. For each host block, until it is used up: [begin a chunk](Self::begin_chunk),
/// [write](Self::write_input) that part of every input, [process](Self::process), and read every [output](Self::output).
pub struct ConvolverAdapter {
    convolver: Convolver,
    /// Frames of the internal block that have been written.
    filled: usize,
    /// True if one internal block of latency is added.
    is_delayed: bool,
    /// Output of the internal block before, where latency is added.
    last_output: AlignedBuffer,
    /// Frames of the internal block that the chunk takes.
    chunk: (usize, usize),
    misfit_count: u64,
}

impl ConvolverAdapter {
    /// Makes an adapter for a host whose blocks are whole multiples of `host` frames; `None` if they may have any length.
    ///
    /// Real-time: setup.
    pub fn new(convolver: Convolver, host: Option<usize>) -> Self {
        let fits = host.is_some_and(|host| host > 0 && host.is_multiple_of(convolver.block()));
        Self {
            last_output: AlignedBuffer::new(convolver.outputs() * convolver.block()),
            convolver,
            filled: 0,
            is_delayed: !fits,
            chunk: (0, 0),
            misfit_count: 0,
        }
    }

    /// The convolver alone.
    ///
    /// Real-time: setup.
    pub(crate) fn into_convolver(self) -> Convolver {
        self.convolver
    }

    /// Delay of the outputs behind the inputs, in frames.
    ///
    /// Real-time: hot.
    pub fn latency(&self) -> usize {
        let own = if self.is_delayed {
            self.convolver.block()
        } else {
            0
        };
        own + self.convolver.latency()
    }

    /// The inner convolver.
    ///
    /// Real-time: hot.
    pub fn convolver(&self) -> &Convolver {
        &self.convolver
    }

    /// The inner convolver, to exchange its impulse responses.
    ///
    /// Real-time: hot.
    pub fn convolver_mut(&mut self) -> &mut Convolver {
        &mut self.convolver
    }

    /// Returns true if one internal block of latency is added.
    ///
    /// Real-time: hot.
    pub(crate) fn is_delayed(&self) -> bool {
        self.is_delayed
    }

    /// Adds one internal block of latency, as after a block that broke the promise of [`new`](Self::new).
    ///
    /// Real-time: hot.
    pub(crate) fn add_latency(&mut self) {
        self.is_delayed = true;
    }

    /// Number of host blocks that broke the promise of [`new`](Self::new): they were no whole multiples.
    ///
    /// Real-time: hot.
    pub fn misfit_count(&self) -> u64 {
        self.misfit_count
    }

    /// Number of the next input frame, in the host's count.
    ///
    /// Real-time: hot.
    pub fn position(&self) -> u64 {
        self.convolver.position() + self.filled as u64
    }

    /// Number of frames that must be processed after the last sound until the output is silent.
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
        self.convolver.clear_blocks();
        self.last_output.fill(0.0);
        self.chunk = (0, 0);
    }

    /// Moves the position back by `frames` frames and keeps all sound: the host repeats a position with new input.
    ///
    /// Real-time: hot.
    pub(crate) fn rewind(&mut self, frames: u64) {
        self.convolver.rewind(frames);
    }

    /// Returns to the state after [`new`](Self::new), at once; `spare` as for [`Convolver::restart`].
    ///
    /// Real-time: hot.
    pub(crate) fn restart(&mut self, spare: Option<Box<Exchange>>) {
        self.seek(0);
        self.convolver.restart(spare);
    }

    /// Begins a chunk; returns the number of its frames, where the host block has `frames` left.
    ///
    /// Real-time: hot.
    pub fn begin_chunk(&mut self, frames: usize) -> usize {
        let block = self.convolver.block();
        if !self.is_delayed && (frames < block || self.filled > 0) {
            self.is_delayed = true;
            self.misfit_count += 1;
            // The output of the block before has been read already.
            self.convolver.clear_blocks();
        }
        let take = frames.min(block - self.filled);
        self.chunk = (self.filled, self.filled + take);
        take
    }

    /// Writes the chunk of input `channel`. A sample that is NaN becomes silence.
    ///
    /// Real-time: hot.
    pub fn write_input(&mut self, channel: usize, frames: &[f32]) {
        let (from, to) = self.chunk;
        let input = &mut self.convolver.input_mut(channel)[from..to];
        for (to, x) in input.iter_mut().zip(frames) {
            let clamped = x.clamp(-MAX_SAMPLE, MAX_SAMPLE);
            *to = if x.is_nan() { 0.0 } else { clamped };
        }
    }

    /// Ends the chunk, and convolves if the internal block is complete.
    ///
    /// Real-time: hot, wakes.
    pub fn process(&mut self, scheduler: &mut dyn LevelScheduler) {
        self.filled = self.chunk.1;
        if self.filled < self.convolver.block() {
            return;
        }
        self.filled = 0;
        if self.is_delayed {
            self.last_output
                .copy_from_slice(self.convolver.all_outputs());
        }
        self.convolver.process_block(scheduler);
    }

    /// Output `channel` of the chunk.
    ///
    /// Real-time: hot.
    pub fn output(&self, channel: usize) -> &[f32] {
        let (from, to) = self.chunk;
        let all = match (self.is_delayed, self.filled) {
            (true, 0) => &self.last_output[channel * self.convolver.block()..],
            _ => self.convolver.output(channel),
        };
        &all[from..to]
    }
}
