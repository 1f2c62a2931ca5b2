//! [`DrivenParam`]: one parameter that inputs of its node drive, with its base and what drives it.

use super::base::Base;
use super::formula::{DriveInput, DriveSignal, ParamLimits, evaluate, evaluate_one};
use crate::state::StateWords;
use crate::{Block, Content, MODULATION_INTERVAL, OwnParam, StateError};
use graph::{DelayParams, Kind, Law, Modulation, Node, Param, ParamRange, Port, Signal};

/// Path of a driven parameter to its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParamDelivery {
    /// As a signal, one value a frame: [`Block::param_signal`].
    Signal,
    /// As an event every [`MODULATION_INTERVAL`](crate::MODULATION_INTERVAL) frames.
    Interval,
    /// As an event every [`TICK`] frames: a parameter of the node's own.
    Tick,
    /// As an event at each event that drives it: no sound does.
    Events,
}

/// Frames between two values of a parameter of the node's own: the control rate of patches.
pub(super) const TICK: u32 = 64;

/// A driven parameter without its drives.
pub(super) struct DrivenKind {
    pub(super) index: u16,
    /// Minimum, maximum and value.
    pub(super) bounds: (f64, f64, f64),
    /// True if it is in dB.
    is_decibels: bool,
    /// Its path where sound drives it.
    of_sound: ParamDelivery,
    /// The value that its processor is made with, if that is known.
    pub(super) is_made_with: bool,
}

impl DrivenKind {
    /// Parameter `index` of a kind; `None` if it is no number.
    pub(super) fn new(node: &Node, kind: &Kind, index: u16) -> Option<Self> {
        let param = kind.params.get(usize::from(index))?;
        Some(Self {
            index,
            bounds: bounds(node, kind, param)?,
            is_decibels: param.unit == "dB",
            of_sound: match param.audio_rate {
                true => ParamDelivery::Signal,
                false => ParamDelivery::Interval,
            },
            is_made_with: true,
        })
    }

    /// A parameter of the node's own, behind those of its kind.
    pub(super) fn own(node: &Node, index: u16, own: &OwnParam) -> Self {
        let range = own.face.as_ref().and_then(|face| face.shown.range());
        let [low, high] = range.map_or([-MAX_OWN, MAX_OWN], |range| range.map(f64::from));
        let (min, max) = (low.min(high), low.max(high));
        let stated = node.number(&own.name);
        let value = stated.or_else(|| own.value().map(f64::from)).unwrap_or(0.0);
        Self {
            index,
            bounds: (min, max, value.max(min).min(max)),
            is_decibels: false,
            of_sound: ParamDelivery::Tick,
            is_made_with: false,
        }
    }
}

/// Largest value of a parameter of the node's own.
const MAX_OWN: f64 = 1e37;

/// One input that drives a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    /// Index among the node's inputs that drive parameters.
    pub(super) input: usize,
    law: Law,
    amount: f32,
    /// The last value, of an input for events; `None` for sound. NaN as long as it changes nothing.
    held: Option<f32>,
}

/// One driven parameter.
pub(super) struct DrivenParam {
    pub(super) index: u16,
    pub(super) delivery: ParamDelivery,
    pub(super) base: Base,
    pub(super) drives: Box<[Drive]>,
    range: ParamLimits,
    /// The value that its processor was sent last, or made with. Of a signal it is the one that the processor will have
    /// when all is silent, which it needs for its tail.
    pub(super) sent: f32,
    initial: f32,
}

impl DrivenParam {
    /// A parameter of `node`, with those of its inputs that drive it; `None` if none does.
    pub(super) fn new(
        node: &Node,
        of: DrivenKind,
        drives_it: impl Fn(&Port, Modulation) -> bool,
    ) -> Option<Self> {
        let (min, max, value) = of.bounds;
        let drives = (0..).zip(node.modulations());
        let drives = drives.filter(|(_, (port, it))| drives_it(port, *it));
        let drives: Box<[Drive]> = drives
            .map(|(input, (port, it))| {
                let (law, amount) = match it.law {
                    Law::Decibels if of.is_decibels => (Law::Add, it.amount),
                    Law::Decibels => (it.law, it.amount * std::f64::consts::LOG2_10 / 20.0),
                    law => (law, it.amount),
                };
                Drive {
                    input,
                    law,
                    amount: amount.clamp(f32::MIN.into(), f32::MAX.into()) as f32,
                    held: (!matches!(port.signal, Signal::Audio(_))).then_some(first_held(law)),
                }
            })
            .collect();
        let has_sound = drives.iter().any(|drive| drive.held.is_none());
        let delivery = match has_sound {
            _ if drives.is_empty() => return None,
            false => ParamDelivery::Events,
            true => of.of_sound,
        };
        let mut driven = Self {
            index: of.index,
            delivery,
            base: Base::new(value as f32),
            drives,
            range: ParamLimits {
                min: min as f32,
                max: max as f32,
            },
            sent: 0.0,
            initial: 0.0,
        };
        driven.initial = match of.is_made_with {
            true => driven.at_rest(),
            // Differs from every value that is sent.
            false => f32::NAN,
        };
        driven.reset();
        Some(driven)
    }

    /// Frames between two events that carry it, if those come at intervals.
    pub(super) fn interval(&self) -> Option<u32> {
        match self.delivery {
            ParamDelivery::Interval => Some(MODULATION_INTERVAL),
            ParamDelivery::Tick => Some(TICK),
            ParamDelivery::Signal | ParamDelivery::Events => None,
        }
    }

    /// The value while all that drives it is silent, and the base has arrived.
    pub(super) fn at_rest(&self) -> f32 {
        let silent = self
            .drives
            .iter()
            .filter(|drive| !drive.held.is_some_and(f32::is_nan))
            .map(|drive| drive.input(DriveSignal::Constant(drive.held.unwrap_or(0.0))));
        self.single(silent, self.base.target())
    }

    /// Becomes as new.
    pub(super) fn reset(&mut self) {
        self.base.reset();
        for drive in &mut self.drives {
            drive.held = drive.held.map(|_| first_held(drive.law));
        }
        self.sent = self.initial;
    }

    /// Sets the base at frame `at`. Where only events drive it the processor smooths the steps.
    pub(super) fn set_base(&mut self, value: f32, at: u64) {
        if value.is_nan() {
            return;
        }
        let value = self.range.hold(value);
        match self.delivery {
            ParamDelivery::Events => self.base.jump(value),
            _ => self.base.set_target(value, at),
        }
    }

    /// Takes a value of the event input `input`. Returns false if another parameter has that input.
    pub(super) fn set_held(&mut self, input: usize, value: f32) -> bool {
        let mut drives = self.drives.iter_mut();
        let Some(drive) = drives.find(|drive| drive.input == input) else {
            return false;
        };
        if drive.held.is_some() && value.is_finite() {
            drive.held = Some(value);
        }
        true
    }

    /// Value at `frame` of `block`, whose inputs from `first` on drive parameters.
    pub(super) fn value_at(&self, block: &Block<'_>, first: usize, frame: usize) -> f32 {
        let inputs = self.inputs(block, first).map(|input| DriveInput {
            source: input.source.at(frame),
            ..input
        });
        self.single(inputs, self.base.value(block.position() + frame as u64))
    }

    /// The values at the frames of `block` from `from` on. Gives what is known of them: [`Content::Silent`] if all are the same
    /// because all that drives it is silent or held.
    pub(super) fn fill(
        &self,
        (block, first): (&Block<'_>, usize),
        from: usize,
        values: &mut [f32],
        exponents: &mut [f32],
    ) -> Content {
        let (to, at) = (from + values.len(), block.position() + from as u64);
        let is_settled = self.base.is_settled(at);
        let mut inputs = self.inputs(block, first);
        if let (true, Some(input), None) = (is_settled, inputs.next(), inputs.next())
            && let DriveSignal::Signal(_) = input.source
        {
            let source = input.source.range(from..to);
            let input = DriveInput { source, ..input };
            evaluate_one(self.base.target(), input, self.range, values);
            return Content::Unknown;
        }
        if is_settled && self.is_constant(block, first) {
            values.fill(self.value_at(block, first, from));
            return match self.is_silent(block, first) {
                true => Content::Silent,
                false => Content::Constant,
            };
        }
        self.base.fill(at, values);
        let inputs = self.inputs(block, first).map(|input| DriveInput {
            source: input.source.range(from..to),
            ..input
        });
        evaluate(inputs, self.range, values, &mut exponents[..to - from]);
        Content::Unknown
    }

    /// Returns true if all sound that drives it is silent in `block`.
    fn is_silent(&self, block: &Block<'_>, first: usize) -> bool {
        let mut sounds = self.drives.iter().filter(|drive| drive.held.is_none());
        sounds.all(|drive| block.input(first + drive.input).is_silent())
    }

    /// Returns true if all that drives it is the same in every frame of `block`, without events.
    fn is_constant(&self, block: &Block<'_>, first: usize) -> bool {
        let mut inputs = self.inputs(block, first);
        inputs.all(|input| matches!(input.source, DriveSignal::Constant(_)))
    }

    /// Sources that drive it in `block`. An input without an edge has no channels and is left out.
    fn inputs<'a>(
        &'a self,
        block: &'a Block<'_>,
        first: usize,
    ) -> impl Iterator<Item = DriveInput<'a>> + Clone {
        self.drives.iter().filter_map(move |drive| {
            let source = match drive.held {
                Some(value) if value.is_nan() => return None,
                Some(value) => DriveSignal::Constant(value),
                None => {
                    let input = block.input(first + drive.input);
                    match input.channels().count() {
                        0 => return None,
                        _ => match input.constant(0) {
                            Some(value) => DriveSignal::Constant(value),
                            None => DriveSignal::Signal(input.channel(0)),
                        },
                    }
                }
            };
            Some(drive.input(source))
        })
    }

    fn single<'a>(&self, inputs: impl Iterator<Item = DriveInput<'a>> + Clone, base: f32) -> f32 {
        let (mut value, mut room) = ([base], [0.0]);
        evaluate(inputs, self.range, &mut value, &mut room);
        value[0]
    }

    /// Number of words of a saved state.
    pub(super) fn state_words(&self) -> usize {
        Base::STATE_WORDS + 1 + self.drives.len()
    }

    /// The state as [`load`](Self::load) takes it.
    pub(super) fn save(&self) -> impl Iterator<Item = u64> {
        let held = self.drives.iter().map(|drive| drive.held.unwrap_or(0.0));
        let numbers = std::iter::once(self.sent).chain(held);
        let numbers = numbers.map(|number| u64::from(number.to_bits()));
        self.base.state_words().into_iter().chain(numbers)
    }

    /// Checks a saved state.
    ///
    /// # Errors
    ///
    /// A saved value is not finite.
    pub(super) fn check(&self, words: StateWords<'_>) -> Result<(), StateError> {
        let number = |index: usize| f32::from_bits(words.at(Base::STATE_WORDS + index) as u32);
        let is_valid = |(index, drive): (usize, &Drive)| {
            let held = number(index);
            held.is_finite() || drive.law == Law::Set && held.is_nan()
        };
        if !number(0).is_finite() || !(1..).zip(&self.drives).all(is_valid) {
            return Err(StateError("a saved number is not finite".into()));
        }
        self.base.loaded(words).map(drop)
    }

    /// Continues from a saved state, which is checked.
    pub(super) fn load(&mut self, words: StateWords<'_>) {
        let number = |index: usize| f32::from_bits(words.at(Base::STATE_WORDS + index) as u32);
        self.base = self.base.loaded(words).unwrap_or(self.base);
        self.sent = number(0);
        for (index, drive) in (1..).zip(&mut self.drives) {
            drive.held = drive.held.map(|_| number(index));
        }
    }
}

impl Drive {
    fn input<'a>(&self, source: DriveSignal<'a>) -> DriveInput<'a> {
        DriveInput {
            law: self.law,
            amount: self.amount,
            source,
        }
    }
}

/// Value of an event input before its first event: NaN, no number, in place of the base.
fn first_held(law: Law) -> f32 {
    if law == Law::Set { f32::NAN } else { 0.0 }
}

/// Minimum, maximum and value of a number parameter. The time of a delay stays within the bounds of its line.
fn bounds(node: &Node, kind: &Kind, param: &Param) -> Option<(f64, f64, f64)> {
    let ParamRange::Number { min, max, default } = param.range else {
        return None;
    };
    let value = node.number(param.name).unwrap_or(default);
    let value = if value.is_nan() {
        min
    } else {
        value.clamp(min, max)
    };
    let line = |DelayParams { min, max, .. }: DelayParams| {
        let bound = |key| node.number(key).unwrap_or(value);
        (bound(min).min(value), bound(max).max(value))
    };
    let is_time = |delay: &DelayParams| delay.time == param.name;
    let (min, max) = kind.delay.filter(is_time).map_or((min, max), line);
    Some((min, max, value))
}
