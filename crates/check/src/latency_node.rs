//! Nodes with latency: sound and events come out later by the frames that they state.

use crate::fixtures;
use graph::{Kind, Param, PortCount, PortSignal, PortSpec};
use processor::{Block, Event, ProcessStatus, Processor, Registry, Setup, StateError, Tail};
use std::collections::VecDeque;
use units::Frames;

/// The most that a node lags.
pub const MOST: usize = 20_000;
/// Events that can be on their way through one node.
const EVENTS: usize = 1024;

/// Delays its input by this number of frames.
struct Late {
    frames: usize,
    /// The last frames, the newest at `at`.
    ring: Vec<f32>,
    at: usize,
    /// Frames at which the received events are due.
    events: VecDeque<(u64, Event)>,
}

impl Processor for Late {
    fn setup(&mut self, _setup: &mut Setup<'_>) {
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let (from, frames) = (block.position(), block.frames());
        if block.output_count() == 2 {
            for event in block.events().iter() {
                let due = from + u64::from(event.frame) + self.frames as u64;
                self.events.push_back((due, event));
            }
            let end = from + frames as u64;
            while let Some((due, event)) = self.events.pop_front_if(|(due, _)| *due < end) {
                block.send_event(1, (due - from) as u32, event.body);
            }
        }
        let input = block.input(0).channel(0);
        for (frame, x) in input.iter().enumerate() {
            self.ring[self.at] = *x;
            self.at = (self.at + 1) % self.ring.len();
            block.output(0).channel(0)[frame] = self.ring[self.at];
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.ring.fill(0.0);
        self.at = 0;
        self.events.clear();
    }

    fn latency(&self) -> Frames {
        Frames(self.frames as u32)
    }

    fn tail(&self) -> Tail {
        Tail::Frames(self.frames as u64)
    }

    fn save(&self, state: &mut Vec<u8>) {
        state.extend((self.at as u32).to_le_bytes());
        state.extend(self.ring.iter().flat_map(|x| x.to_le_bytes()));
    }

    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        let (words, rest) = state.as_chunks::<4>();
        if words.len() != self.ring.len() + 1 || !rest.is_empty() {
            return Err(StateError("it is of another length".into()));
        }
        self.at = u32::from_le_bytes(words[0]) as usize % self.ring.len();
        let samples = words[1..].iter().map(|word| f32::from_le_bytes(*word));
        self.ring
            .iter_mut()
            .zip(samples)
            .for_each(|(to, x)| *to = x);
        Ok(())
    }
}

/// Adds the kinds `late`, with one input and one output, and `late_events`, which has events beside; `frames` says by how
/// much they lag.
pub fn add(registry: &mut Registry) {
    let frames = || Param::number("frames", (0.0, MOST as f64), 0.0).doc("by how much it lags");
    let sound = Kind {
        params: vec![frames()],
        duplicable: true,
        typical_ns: 100,
        ..fixtures::kind("late", (1, 1))
    };
    let event = |name| PortSpec {
        name,
        signal: PortSignal::Event,
        count: PortCount::One,
    };
    let both = Kind {
        inputs: vec![PortSpec::audio("in"), event("events")],
        outputs: vec![PortSpec::audio("out"), event("sent")],
        params: vec![frames()],
        ..Kind::new("late_events", "Lags, and so do its events.")
    };
    for kind in [sound, both] {
        registry.add(kind, |creation| {
            let frames = creation.number("frames")? as usize;
            Ok(Box::new(Late {
                frames,
                ring: vec![0.0; frames + 1],
                at: 0,
                events: VecDeque::with_capacity(EVENTS),
            }))
        });
    }
}
