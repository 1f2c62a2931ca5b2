//! [`StateLayout`]: the saved state of a network that runs block by block.
//!
//! ```text
//!   │ 1 │ progress of each actor │ queue: frames in it │ its samples, room for all of it │ samples behind them │ queue … │
//! ```
//!
//! An actor sees nothing but its windows, so the queues are the state; beside them a number for each actor. All has its
//! place from the start, however full the queues are. The first word is 0 if the network has failed.
//!
//! Loaded bytes may be nonsense: lengths and samples are checked first. Numbers of frames that are possible, but not
//! together, let the network fail; then it begins anew.

use super::stream::Stream;
use crate::run::queue_ends::{InputEnd, OutputEnd};
use processor::StateError;

/// Bytes of a number.
const WORD: usize = 8;

/// A queue's place in a state, in bytes.
#[derive(Clone, Copy, Default)]
struct QueuePlace {
    at: usize,
    channels: usize,
    /// Most frames in it, and frames that are written behind them.
    size: usize,
    pending: usize,
}

impl QueuePlace {
    /// Bytes of a channel's samples, and of those behind them.
    fn parts(&self) -> [usize; 2] {
        [4 * self.size, 4 * self.pending]
    }

    fn len(&self) -> usize {
        WORD + self.channels * self.parts().iter().sum::<usize>()
    }

    /// The samples of a channel, or those behind them.
    fn samples<'a>(&self, state: &'a [u8], channel: usize, is_pending: bool) -> &'a [u8] {
        let [own, pending] = self.parts();
        let samples = self.at + WORD;
        let (first, len) = match is_pending {
            false => (samples + channel * own, own),
            true => (samples + self.channels * own + channel * pending, pending),
        };
        &state[first..first + len]
    }
}

/// Places of all queues, by their numbers.
#[derive(Default)]
pub(super) struct StateLayout {
    queues: Vec<QueuePlace>,
    actors: usize,
    len: usize,
}

impl StateLayout {
    /// The places of the queues of `stream`.
    ///
    /// Real-time: setup.
    pub(super) fn of(stream: &Stream) -> Self {
        let outputs = stream.nodes.iter().flat_map(|node| &node.outputs);
        let mut layout = Self {
            queues: Vec::new(),
            actors: stream.nodes.len(),
            len: WORD * (1 + stream.nodes.len()),
        };
        for end in outputs.chain([&stream.input]) {
            let (channels, pending) = end.shape();
            let place = QueuePlace {
                at: layout.len,
                channels,
                size: end.size(),
                pending,
            };
            let number = end.queue.0;
            if layout.queues.len() <= number {
                layout.queues.resize(number + 1, QueuePlace::default());
            }
            layout.queues[number] = place;
            layout.len += place.len();
        }
        layout
    }

    /// The number at a place.
    fn word(state: &[u8], at: usize) -> u64 {
        let bytes = state[at..].first_chunk::<WORD>();
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Checks all that can be checked of one part alone.
    fn check(&self, state: &[u8]) -> Result<(), StateError> {
        let refuse = |why: &str| Err(StateError(format!("a saved network {why}")));
        if state.len() != self.len {
            return refuse("of another length");
        }
        if Self::word(state, 0) != 1 {
            return refuse("that has failed");
        }
        for place in &self.queues {
            if Self::word(state, place.at) > place.size as u64 {
                return refuse("with too many frames in a queue");
            }
            let samples = &state[place.at + WORD..place.at + place.len()];
            let mut samples = samples.as_chunks::<4>().0.iter();
            if !samples.all(|bytes| f32::from_le_bytes(*bytes).is_finite()) {
                return refuse("with a sample that is not finite");
            }
        }
        Ok(())
    }
}

impl Stream {
    /// Appends its state.
    ///
    /// Real-time: hot if `state` has the capacity.
    pub(super) fn save(&mut self, state: &mut Vec<u8>) {
        let first = state.len();
        state.resize(first + self.layout.len, 0);
        let state = &mut state[first..];
        if self.has_failed {
            return;
        }
        let put = |state: &mut [u8], at: usize, word: u64| {
            state[at..at + WORD].copy_from_slice(&word.to_le_bytes());
        };
        put(state, 0, 1);
        for (number, node) in self.nodes.iter().enumerate() {
            put(state, WORD * (1 + number), node.actor.progress());
        }
        let inputs = self.nodes.iter_mut().flat_map(|node| &mut node.inputs);
        for end in inputs.chain([&mut self.output]) {
            let place = self.layout.queues[end.queue.0];
            put(state, place.at, end.fill() as u64);
            let mut at = place.at + WORD;
            end.show(|samples| {
                write(&mut state[at..], samples);
                at += place.parts()[0];
            });
        }
        let outputs = self.nodes.iter_mut().flat_map(|node| &mut node.outputs);
        for end in outputs.filter(|end| end.shape().1 > 0) {
            let place = self.layout.queues[end.queue.0];
            let mut at = place.at + WORD + place.channels * place.parts()[0];
            end.show_pending(place.pending, |samples| {
                write(&mut state[at..], samples);
                at += place.parts()[1];
            });
        }
    }

    /// Goes on from a state.
    ///
    /// # Errors
    ///
    /// It does not fit, or this network has failed. Then nothing has changed.
    ///
    /// Real-time: setup.
    pub(super) fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.layout.check(state)?;
        if self.has_failed || self.nodes.len() != self.layout.actors {
            return Err(StateError("the network has failed".into()));
        }
        let inputs = self.nodes.iter_mut().flat_map(|node| &mut node.inputs);
        inputs.chain([&mut self.output]).for_each(InputEnd::clear);
        let outputs = self.nodes.iter_mut().flat_map(|node| &mut node.outputs);
        for end in outputs.chain([&mut self.input]) {
            fill(end, self.layout.queues[end.queue.0], state);
        }
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let progress = StateLayout::word(state, WORD * (1 + number));
            node.actor.go_on_from(progress);
        }
        self.is_loaded = true;
        Ok(())
    }
}

/// Fills an empty queue with what was saved of it.
fn fill(end: &mut OutputEnd, place: QueuePlace, state: &[u8]) {
    end.push_silence(0);
    let frames = StateLayout::word(state, place.at) as usize;
    end.push(frames, |channel, to| {
        read(place.samples(state, channel, false), to);
    });
    let mut channel = 0;
    end.show_pending(place.pending, |to| {
        read(place.samples(state, channel, true), to);
        channel += 1;
    });
}

fn write(to: &mut [u8], samples: &[f32]) {
    let (to, _) = to.as_chunks_mut::<4>();
    let pairs = to.iter_mut().zip(samples);
    pairs.for_each(|(to, x)| *to = x.to_le_bytes());
}

fn read(from: &[u8], samples: &mut [f32]) {
    let (from, _) = from.as_chunks::<4>();
    let pairs = samples.iter_mut().zip(from);
    pairs.for_each(|(to, bytes)| *to = f32::from_le_bytes(*bytes));
}
