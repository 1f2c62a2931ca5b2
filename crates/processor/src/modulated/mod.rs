//! [`Modulated`]: a processor whose parameters are driven by inputs of its node.
//!
//! The registry puts it around the processor of a node that has such inputs. The processor itself sees the inputs of its
//! kind alone, and its parameters as it always does, or as signals:
//!
//! ```text
//!                      ┌ Modulated ─────────────────────────────────────────┐
//!  in ─────────────────┼──────────────────────────────▶ ┌───────────┐       │
//!  lfo ──▶ freq ───────┼─▶ base ┐                       │ processor ├───────┼──▶ out
//!  env ──▶ freq (2) ───┼─▶      ├ formula ──▶ signal ─▶ │           │       │
//!  user's `freq` ──────┼─▶ base ┘         └─▶ events ─▶ └───────────┘       │
//!                      └────────────────────────────────────────────────────┘
//! ```
//!
//! | parameter | driven by sound | by events alone |
//! |---|---|---|
//! | [`audio_rate`](graph::Param::audio_rate) | [`Block::param_signal`]: one value a frame | [`EventBody::Value`] at the frame of each event |
//! | other live numbers | [`EventBody::Glide`] every 16 frames, counted from the start of playback | the same |
//! | of the node's own | [`EventBody::Value`] every 64 frames: the control rate of a patch | the same |
//!
//! The formula is that of [`graph::Modulation`]. A base that the user sets moves along a straight line of 5 ms. An input for
//! events holds the last number, and is 0 before the first. All of it is a function of the absolute frame, so the bits do
//! not depend on the blocks. A value is sent only when it differs from the last one, so what is silent lets the processor
//! sleep.
//!
//! | file | holds |
//! |---|---|
//! | `base` | the value that the user sets |
//! | `formula` | the formula, over a range of frames |
//! | `param` | one driven parameter |

mod base;
mod formula;
mod param;

use self::param::{DrivenKind, DrivenParam, ParamDelivery};
use crate::block::InnerIo;
use crate::{
    Block, Content, Event, EventBody, EventTarget, MODULATION_INTERVAL, MakeError, OwnParam, Past,
    ProcessStatus, Processor, Setup, StateError, Tail, state,
};
use graph::{Kind, Modulation, Node, ParamValue, Port};
use units::Frames;

/// Place of the inputs that drive parameters, among those of a step.
#[derive(Clone, Copy)]
enum DrivingInputs {
    /// The last ones, as many: the step of a delay that reads has no others.
    Last(usize),
    /// From this one on: others of the step may follow.
    From(usize),
}

impl DrivingInputs {
    fn first(self, block: &Block<'_>) -> usize {
        match self {
            Self::Last(count) => block.input_count().saturating_sub(count),
            Self::From(first) => first,
        }
    }
}

/// The most events that a step can receive in a block of `frames`: twice what a port can send (see [`Block::send_event`]).
const fn max_received(frames: usize) -> usize {
    2 * (128 + frames / 2)
}

/// A processor whose parameters are driven.
pub(crate) struct Modulated {
    inner: Box<dyn Processor>,
    params: Box<[DrivenParam]>,
    inputs: DrivingInputs,
    outputs: usize,
    /// True if some parameter is sent every 16 frames.
    has_intervals: bool,
    io: InnerIo,
    exponents: Box<[f32]>,
}

impl Modulated {
    /// The processor of `node`, which `make` makes of the node without these inputs, with the driven parameters as they are
    /// in silence, and with the indices of those that are signals.
    ///
    /// # Errors
    ///
    /// As for `make`.
    pub(crate) fn make(
        node: &Node,
        kind: &Kind,
        make: impl FnOnce(&Node, &[u16]) -> Result<Box<dyn Processor>, MakeError>,
    ) -> Result<Box<dyn Processor>, MakeError> {
        let driven = |index| {
            let of = DrivenKind::new(node, kind, index)?;
            DrivenParam::new(node, of, |_, it| it.param == index)
        };
        let params = (0..kind.params.len() as u16).filter_map(driven);
        let params: Box<[DrivenParam]> = params.collect();
        let mut bare = node.clone();
        bare.inputs.truncate(node.kind_inputs().len());
        for param in &params {
            let there = &kind.params[usize::from(param.index)];
            let graph::ParamRange::Number { min, max, .. } = there.range else {
                continue;
            };
            if param.sent.to_bits() != param.base.target().to_bits() {
                let value = f64::from(param.sent).clamp(min, max);
                bare.set(there.name, ParamValue::Number(value));
            }
        }
        let inner = make(&bare, &signals(&params))?;
        Ok(Box::new(Self::around(
            inner,
            params,
            DrivingInputs::Last(node.inputs.len() - bare.inputs.len()),
            node.outputs.len(),
        )))
    }

    /// `inner` with the parameters of its node's own driven, whose indices follow those of the kind. Each gets a value every 64 frames
    /// where sound drives it. The step has `outputs` outputs.
    pub(crate) fn of_own(
        inner: Box<dyn Processor>,
        (node, kind): (&Node, &Kind),
        own: &[OwnParam],
        outputs: usize,
    ) -> Box<dyn Processor> {
        let driven = (kind.params.len() as u16..).zip(own);
        let driven = driven.filter_map(|(index, own)| {
            let is_it = |port: &Port, it: Modulation| {
                it.param == Kind::OWN && port.driven_name() == own.name
            };
            DrivenParam::new(node, DrivenKind::own(node, index, own), is_it)
        });
        let params = driven.collect();
        let inputs = DrivingInputs::From(node.kind_inputs().len());
        Box::new(Self::around(inner, params, inputs, outputs))
    }

    fn around(
        inner: Box<dyn Processor>,
        params: Box<[DrivenParam]>,
        inputs: DrivingInputs,
        outputs: usize,
    ) -> Self {
        let is_at_interval = |it: &DrivenParam| it.interval().is_some();
        Self {
            inner,
            inputs,
            outputs,
            has_intervals: params.iter().any(is_at_interval),
            io: InnerIo::new(0, &[], 0, 0),
            exponents: Box::default(),
            params,
        }
    }

    /// Sends `value` of parameter `at` to the processor at `frame`, if it differs from the last one.
    fn send(&mut self, at: usize, value: f32, frame: usize) {
        let param = &mut self.params[at];
        if value.to_bits() == param.sent.to_bits() {
            return;
        }
        param.sent = value;
        self.io.push(Event {
            frame: frame as u32,
            target: EventTarget::Param(param.index),
            body: match param.delivery {
                ParamDelivery::Interval => EventBody::Glide(value),
                ParamDelivery::Signal | ParamDelivery::Events | ParamDelivery::Tick => {
                    EventBody::Value(value)
                }
            },
        });
    }

    /// Handles an event: one that sets a base or drives a parameter, or one for the processor.
    fn handle_event(&mut self, block: &Block<'_>, first: usize, done: &mut usize, event: Event) {
        let frame = event.frame as usize;
        let value = match event.body {
            EventBody::Value(value) | EventBody::Glide(value) => Some(value),
            _ => None,
        };
        let at = match event.target {
            EventTarget::Param(index) => self.params.iter().position(|param| param.index == index),
            EventTarget::Input(port) => {
                let Some(input) = usize::from(port).checked_sub(first) else {
                    return self.io.push(event);
                };
                let is_driven =
                    |param: &DrivenParam| param.drives.iter().any(|drive| drive.input == input);
                let Some(at) = self.params.iter().position(is_driven) else {
                    return;
                };
                if let Some(value) = value {
                    self.fill_signals(block, first, done, frame);
                    self.params[at].set_held(input, value);
                    self.changed(at, frame);
                }
                return;
            }
        };
        match (at, value) {
            (Some(at), Some(value)) => {
                self.fill_signals(block, first, done, frame);
                self.params[at].set_base(value, block.position() + frame as u64);
                self.changed(at, frame);
            }
            _ => self.io.push(event),
        }
    }

    /// Sends what follows at once from a change of the base or of a held value.
    fn changed(&mut self, at: usize, frame: usize) {
        if self.params[at].interval().is_none() {
            let value = self.params[at].at_rest();
            self.send(at, value, frame);
        }
    }

    /// Fills the signals of `block` from frame `done` to `frame`.
    fn fill_signals(&mut self, block: &Block<'_>, first: usize, done: &mut usize, frame: usize) {
        let from = std::mem::replace(done, frame);
        if from == frame {
            return;
        }
        let of_signal = |param: &&DrivenParam| param.delivery == ParamDelivery::Signal;
        for (at, param) in self.params.iter().filter(of_signal).enumerate() {
            let (all, signal) = self.io.signal(at);
            let before = from.checked_sub(1).map(|last| all[last].to_bits());
            let values = &mut all[from..frame];
            let content = param.fill((block, first), from, values, &mut self.exponents);
            let is_zero = content == Content::Silent && values[0] == 0.0;
            signal.is_zero = is_zero && (from == 0 || signal.is_zero);
            let goes_on =
                before.is_none_or(|last| signal.is_constant && last == values[0].to_bits());
            signal.is_constant = content != Content::Unknown && goes_on;
        }
    }

    /// Sends the parameters that are not signals, at a frame of their grid.
    fn send_at_interval(&mut self, block: &Block<'_>, first: usize, frame: usize) {
        if !self.has_intervals {
            return;
        }
        let position = block.position() + frame as u64;
        for at in 0..self.params.len() {
            if (self.params[at].interval())
                .is_some_and(|every| position.is_multiple_of(u64::from(every)))
            {
                let value = self.params[at].value_at(block, first, frame);
                self.send(at, value, frame);
            }
        }
    }

    /// Returns true if the processor has all values that it will have as long as everything is silent.
    fn is_at_rest(&self, end: u64) -> bool {
        let mut waiting = self.params.iter();
        waiting.all(|param| match param.delivery {
            ParamDelivery::Interval | ParamDelivery::Tick => {
                let is_sent = param.at_rest().to_bits() == param.sent.to_bits();
                is_sent && param.base.is_settled(end)
            }
            ParamDelivery::Signal | ParamDelivery::Events => true,
        })
    }
}

/// Indices of the parameters that are signals.
fn signals(params: &[DrivenParam]) -> Vec<u16> {
    let signals = params
        .iter()
        .filter(|param| param.delivery == ParamDelivery::Signal);
    signals.map(|param| param.index).collect()
}

impl Processor for Modulated {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.inner.setup(setup);
        let block = setup.block.count();
        for param in &mut self.params {
            param.base.setup(setup.rate);
            param.reset();
        }
        let sent = block.div_ceil(MODULATION_INTERVAL as usize) + 1;
        let events = max_received(block) + self.params.len() * sent;
        self.io = InnerIo::new(self.outputs, &signals(&self.params), events, block);
        self.exponents = vec![0.0; block].into();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let (frames, position) = (block.frames(), block.position());
        let first = self.inputs.first(block);
        self.io.bind(block, first);
        let interval = u64::from(MODULATION_INTERVAL);
        let mut next = ((interval - position % interval) % interval) as usize;
        let mut done = 0;
        for event in block.events().iter() {
            while next < event.frame as usize {
                self.send_at_interval(block, first, next);
                next += MODULATION_INTERVAL as usize;
            }
            self.handle_event(block, first, &mut done, event);
        }
        while next < frames {
            self.send_at_interval(block, first, next);
            next += MODULATION_INTERVAL as usize;
        }
        self.fill_signals(block, first, &mut done, frames);
        let status = self.io.process(block, self.inner.as_mut());
        match status {
            ProcessStatus::Sleep if self.is_at_rest(position + frames as u64) => status,
            _ => ProcessStatus::Continue,
        }
    }

    fn reset(&mut self) {
        self.inner.reset();
        self.params.iter_mut().for_each(DrivenParam::reset);
    }

    fn latency(&self) -> Frames {
        self.inner.latency()
    }

    fn tail(&self) -> Tail {
        self.inner.tail()
    }

    fn max_parallelism(&self) -> u32 {
        self.inner.max_parallelism()
    }

    fn length(&self) -> Option<u64> {
        self.inner.length()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.params.iter().flat_map(DrivenParam::save));
        self.inner.save(bytes);
    }

    fn unsaved(&self) -> usize {
        self.inner.unsaved()
    }

    fn keep_past(&mut self) {
        self.inner.keep_past();
    }

    fn past(&mut self) -> Option<Past<'_>> {
        self.inner.past()
    }

    fn load_past(&mut self, bounds: [u64; 4], position: u64) {
        self.inner.load_past(bounds, position);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let count: usize = self.params.iter().map(DrivenParam::state_words).sum();
        let own = bytes.split_at_checked(count * 8);
        let (own, inner) = own.ok_or_else(|| StateError("a saved state is too short".into()))?;
        let words = state::words(own, count)?;
        let mut at = 0;
        for param in &self.params {
            param.check(words.from(at))?;
            at += param.state_words();
        }
        self.inner.load(inner)?;
        let mut at = 0;
        for param in &mut self.params {
            param.load(words.from(at));
            at += param.state_words();
        }
        Ok(())
    }
}
