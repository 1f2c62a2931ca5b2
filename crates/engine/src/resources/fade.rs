//! The node that an edit puts into a connection to fade it in or out: its kind and its processor.

use graph::{Kind, Node, Param, ParamRange, ParamValue, Port, PortSpec, Signal};
use processor::{Block, Event, EventBody, EventTarget, ProcessStatus, Processor, Setup};

/// Its name. No session can have it: names of kinds in sessions have no space.
pub(crate) const KIND: &str = "edit fade";
/// Index of the parameter that says where the gain goes: 1 in, 0 out.
pub(crate) const TARGET: EventTarget = EventTarget::Param(0);

/// Description for plans.
pub(super) fn kind() -> Kind {
    let target = Param {
        name: "target",
        unit: "",
        range: ParamRange::Number {
            min: 0.0,
            max: 1.0,
            default: 1.0,
        },
        live: true,
        audio_rate: false,
        doc: "Where the gain goes.",
    };
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![target],
        duplicable: false,
        typical_ns: 40,
        ..Kind::new(KIND, "Fades a connection in or out, after an edit.")
    }
}

/// A node that carries `signal`. Its gain begins at 0 and goes to 1, or the reverse.
pub(crate) fn node(name: String, signal: Signal, is_in: bool) -> Node {
    let port = |name: &str| Port::new(name, signal);
    let mut node = Node::new(name, KIND);
    node.inputs = vec![port("in")];
    node.outputs = vec![port("out")];
    if let Signal::Audio(channels) = signal {
        node.channels = channels;
    }
    node.set("target", ParamValue::Number(if is_in { 1.0 } else { 0.0 }));
    node
}

/// The processor: gain `done / frames`, one step a frame towards the target.
pub(super) struct Fade {
    is_in: bool,
    starts_in: bool,
    done: u32,
    frames: u32,
}

impl Fade {
    /// The processor of `node`, for a fade of `frames` frames.
    pub(super) fn new(node: &Node, frames: u32) -> Self {
        let is_in = node.number("target") == Some(1.0);
        let mut fade = Self {
            is_in,
            starts_in: is_in,
            done: 0,
            frames: frames.max(1),
        };
        fade.reset();
        fade
    }

    /// `to` = `from` times the gain; returns the number of steps after it.
    fn scale(&self, from: &[f32], to: &mut [f32]) -> u32 {
        let mut done = self.done;
        for (y, x) in to.iter_mut().zip(from) {
            // Exactly 1 at its end, which leaves the bits as they are.
            *y = x * (done as f32 / self.frames as f32);
            done = match self.is_in {
                true => (done + 1).min(self.frames),
                false => done.saturating_sub(1),
            };
        }
        done
    }

    fn process_range(&mut self, block: &mut Block<'_>, (from, to): (usize, usize)) {
        let (input, mut output) = (block.input(0), block.output(0));
        let mut done = self.done;
        for c in 0..output.channels().count() {
            done = self.scale(
                &input.channel(c)[from..to],
                &mut output.channel(c)[from..to],
            );
        }
        self.done = done;
    }

    fn handle_event(&mut self, event: &Event) {
        if let (TARGET, EventBody::Value(target)) = (event.target, event.body) {
            self.is_in = target > 0.5;
        }
    }
}

impl Processor for Fade {
    fn setup(&mut self, _setup: &mut Setup<'_>) {
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let is_out = !self.is_in && self.done == 0;
        if block.events().is_empty() && is_out {
            block.silence_outputs();
            return ProcessStatus::Continue;
        }
        let mut at = 0;
        for event in block.events().iter() {
            let to = event.frame as usize;
            self.process_range(block, (at, to));
            self.handle_event(&event);
            at = to;
        }
        let frames = block.frames();
        self.process_range(block, (at, frames));
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.is_in = self.starts_in;
        self.done = if self.is_in { 0 } else { self.frames };
    }
}
