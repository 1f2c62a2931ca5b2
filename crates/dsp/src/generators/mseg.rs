//! `mseg`: an envelope of many segments, of which one may be held and some may repeat.
//!
//! ```text
//! 0.01 1; 0.2 0.4 -4; hold; 0.5 0 -4                 attack, decay to 0.4, held until the gate shuts, release
//! 0.5 1; loop; 0.1 0.2 s-curve; 0.1 1; hold; 1 0      between 1 and 0.2 while the gate is open
//! 0.001 1; 0.3 0 -6                                   without `hold` it runs to its end
//! ```
//!
//! Segments end with `;` or with their line: a duration in seconds, a level, and how the level is reached from the one `a` before.
//! With `x` from 0 to 1 over the duration and `b` the level:
//!
//! | word | level |
//! |---|---|
//! | `linear`, or none | `a + (b - a) x` |
//! | a number `c` from -20 to 20 | `a + (b - a) (1 - e^(c x)) / (1 - e^c)`; below 0 fast at first, above 0 slow at first |
//! | `s-curve` | `a + (b - a) x² (3 - 2 x)` |
//! | `step` | `a`, and `b` at its end |
//!
//! The gate ([`NoteGate`]) begins the first segment at the present level. It stays at `hold` while the gate is open, or repeats from
//! `loop` on; when the gate shuts it goes on behind `hold`, wherever it is. The levels of a note are multiplied by
//! `1 - velocity (1 - v)`, where `v` is its velocity. A note that is choked ends at once. At the end the last level stays.
//!
//! | | |
//! |---|---|
//! | ports | `gate`, one channel; `notes`, events; `out`, one channel |
//! | parameters | `points`; `time` 0.01 to 100, a factor of the durations that begin; `velocity` 0 to 1 |
//! | latency | none |
//! | tail | the segments behind `hold`, or all; endless while a note is held, and where the last level is not 0 |

mod plan;

use self::plan::{MAX_LEVEL, PlannedSegment, SegmentPlan, SegmentShape, parse};
use crate::generators::note_gate::{GateChange, NoteGate};
use crate::param::ParamSpec;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, KindPicture, Param, PortSpec};
use processor::{
    Block, Event, EventTarget, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError,
    Tail, state,
};
use std::sync::Arc;

/// Index of the event input among all inputs.
const NOTES: u16 = 1;

const TIME: ParamSpec = ParamSpec::new(0, "time", (0.01, 100.0), 1.0)
    .doc("Factor of the durations; a segment that has begun keeps its own.");
const VELOCITY: ParamSpec = ParamSpec::new(1, "velocity", (0.0, 1.0), 0.0)
    .doc("Share of a note's velocity in its levels: 0 none, 1 all.");
const PARAMS: [ParamSpec; 2] = [TIME, VELOCITY];

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = PARAMS.iter().map(ParamSpec::param).collect();
    params.push(Param::text("points").doc(
        "A segment each line: seconds, level, and linear, s-curve, step or a curvature; or `hold`, or `loop`.",
    ));
    Kind {
        inputs: vec![PortSpec::mono("gate"), PortSpec::events("notes")],
        outputs: vec![PortSpec::mono("out")],
        params,
        typical_ns: 250,
        picture: KindPicture::Step,
        ..Kind::new("mseg", "An envelope of many segments, held or repeated.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let text = creation
        .node
        .text("points")
        .unwrap_or("0.01 1; hold; 0.2 0");
    let plan = parse(text).map_err(|message| MakeError::param("points", message))?;
    let mut initial = [0.0; 2];
    for (value, param) in initial.iter_mut().zip(&PARAMS) {
        *value = param.read(creation)?;
    }
    Ok(Box::new(MultiEnvelope {
        plan: Arc::new(plan),
        initial,
        params: initial,
        rate: 1.0,
        state: SegmentState::default(),
    }))
}

#[derive(Clone)]
struct MultiEnvelope {
    plan: Arc<SegmentPlan>,
    initial: [f64; 2],
    params: [f64; 2],
    rate: f64,
    state: SegmentState,
}

/// Place in the segments.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SegmentState {
    gate: NoteGate,
    /// The segment that runs; their number at the end.
    index: usize,
    /// True while it stays at `hold`.
    waits: bool,
    /// Frames of the segment that have passed, and all of them.
    frame: u64,
    frames: u64,
    /// Level before the segment, at its end, and now.
    from: f64,
    to: f64,
    level: f64,
    /// e^(c x) now, its factor from frame to frame, and 1 / (e^c - 1).
    grown: f64,
    growth: f64,
    scale: f64,
}

impl Default for SegmentState {
    fn default() -> Self {
        Self {
            gate: NoteGate::default(),
            index: usize::MAX,
            waits: false,
            frame: 0,
            frames: 0,
            from: 0.0,
            to: 0.0,
            level: 0.0,
            grown: 1.0,
            growth: 1.0,
            scale: 0.0,
        }
    }
}

/// `x` held from 0 to 1; 0 if a damaged state has made it no number.
#[inline(always)]
fn unit(x: f64) -> f64 {
    match x > 0.0 {
        true => x.min(1.0),
        false => 0.0,
    }
}

impl SegmentState {
    /// Words of a saved state.
    const STATE_WORDS: usize = 10 + NoteGate::STATE_WORDS;

    /// Begins segment `index` at the present level; segments without a duration are over at once. `rate` is in frames a
    /// stated second.
    fn begin(&mut self, plan: &SegmentPlan, index: usize, rate: f64) {
        self.index = index;
        self.waits = false;
        // Each segment comes once: what `loop` repeats has a duration.
        for _ in 0..=2 * plan.segments.len() {
            if plan.hold == Some(self.index) && self.gate.is_open {
                match plan.repeat {
                    Some(repeat) if repeat < self.index => self.index = repeat,
                    _ => {
                        self.waits = true;
                        return;
                    }
                }
            }
            let Some(segment) = plan.segments.get(self.index) else {
                return;
            };
            let frames = (segment.seconds * rate + 0.5) as u64;
            (self.frame, self.frames) = (0, frames);
            (self.from, self.to) = (self.level, segment.level * f64::from(self.gate.peak));
            if frames > 0 {
                if let SegmentShape::Curvature(c) = segment.shape {
                    let growth = libm::exp(c / frames as f64);
                    (self.grown, self.growth, self.scale) = (1.0, growth, 1.0 / libm::expm1(c));
                }
                return;
            }
            self.level = self.to;
            self.index += 1;
        }
    }

    #[inline(always)]
    fn next(&mut self, gate: f32, plan: &SegmentPlan, rate: f64) -> f32 {
        match self.gate.next(gate) {
            Some(GateChange::Opens) => self.begin(plan, 0, rate),
            Some(GateChange::Shuts) => match plan.hold {
                Some(hold) if self.waits || self.index < hold => self.begin(plan, hold, rate),
                _ => {}
            },
            None => {}
        }
        if !self.waits
            && let Some(segment) = plan.segments.get(self.index)
        {
            self.advance(plan, segment.shape, rate);
        }
        self.level as f32
    }

    /// Moves on by a frame of the segment.
    #[inline(always)]
    fn advance(&mut self, plan: &SegmentPlan, shape: SegmentShape, rate: f64) {
        // A saved frame may be any.
        self.frame = self.frame.saturating_add(1);
        if self.frame >= self.frames {
            self.level = self.to;
            return self.begin(plan, self.index + 1, rate);
        }
        let x = self.frame as f64 / self.frames as f64;
        let way = match shape {
            SegmentShape::Linear => x,
            SegmentShape::SCurve => x * x * (3.0 - 2.0 * x),
            SegmentShape::Step => 0.0,
            SegmentShape::Curvature(_) => {
                self.grown *= self.growth;
                unit(self.scale * (self.grown - 1.0))
            }
        };
        self.level = self.from + (self.to - self.from) * way;
    }

    fn words(&self) -> [u64; Self::STATE_WORDS] {
        let [held, peak, is_open] = self.gate.state_words();
        let levels = [self.from, self.to, self.level].map(f64::to_bits);
        let curve = [self.grown, self.growth, self.scale].map(f64::to_bits);
        let ([from, to, level], [grown, growth, scale]) = (levels, curve);
        let (index, waits) = (self.index as u64, u64::from(self.waits));
        [
            from,
            to,
            level,
            grown,
            growth,
            scale,
            held,
            peak,
            is_open,
            index,
            waits,
            self.frame,
            self.frames,
        ]
    }

    fn from_words(words: state::StateWords<'_>) -> Result<Self, StateError> {
        let [from, to, level, grown, growth, scale] = words.numbers(0)?;
        let gate = NoteGate::from_words([6, 7, 8].map(|word| words.at(word)));
        let is_level = |level: &f64| level.abs() <= MAX_LEVEL;
        let Some(gate) = gate.filter(|_| [from, to, level].iter().all(is_level)) else {
            return Err(StateError("a saved level is outside its range".into()));
        };
        Ok(Self {
            gate,
            index: words.at(9) as usize,
            waits: words.at(10) != 0,
            frame: words.at(11),
            frames: words.at(12),
            from,
            to,
            level,
            grown,
            growth,
            scale,
        })
    }
}

impl MultiEnvelope {
    /// Frames in a second of the text.
    fn time_rate(&self) -> f64 {
        self.rate * self.params[0]
    }

    /// Returns true if it changes only by its gate.
    fn is_at_rest(&self) -> bool {
        self.state.waits || self.state.index >= self.plan.segments.len()
    }

    fn handle_event(&mut self, event: &Event) {
        if event.target == EventTarget::Input(NOTES) {
            let amount = self.params[1] as f32;
            if self.state.gate.handle(event.body, amount) {
                let gate = self.state.gate;
                self.state = SegmentState {
                    gate,
                    ..SegmentState::default()
                };
            }
            return;
        }
        for (value, param) in self.params.iter_mut().zip(&PARAMS) {
            *value = param.value_of(event).unwrap_or(*value);
        }
    }

    /// The level of all frames of a block in which nothing changes.
    fn constant(&self, block: &Block<'_>) -> Option<f32> {
        if !self.is_at_rest() || !block.is_constant() {
            return None;
        }
        let gate = block.input(0).constant(0)?;
        let mut next = self.state.gate;
        next.next(gate).is_none().then_some(self.state.level as f32)
    }
}

impl Processor for MultiEnvelope {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = f64::from(setup.rate.hz());
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let is_idle = self.is_at_rest() && !self.state.gate.is_open && self.state.level == 0.0;
        if is_idle && block.is_silent() && block.events().is_empty() && !self.state.gate.is_held() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        if let Some(level) = self.constant(block) {
            block.output(0).channel(0)[0] = level;
            block.hold_first_frame();
            return ProcessStatus::Continue;
        }
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.handle_event(&event),
                BlockStep::Process(range) => {
                    let rate = self.time_rate();
                    let gate = &block.input(0).channel(0)[range.clone()];
                    let mut output = block.output(0);
                    for (y, x) in output.channel(0)[range].iter_mut().zip(gate) {
                        *y = self.state.next(*x, &self.plan, rate);
                    }
                }
                BlockStep::Cleanup => {}
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.params = self.initial;
        self.state = SegmentState::default();
    }

    fn tail(&self) -> Tail {
        let ends_silent = self
            .plan
            .segments
            .last()
            .is_none_or(|last| last.level == 0.0);
        if self.state.gate.is_held() || !ends_silent {
            return Tail::Infinite;
        }
        let behind = &self.plan.segments[self.plan.hold.unwrap_or(0)..];
        let frames = |segment: &PlannedSegment| segment.seconds * self.time_rate() + 1.0;
        let seconds: f64 = behind.iter().map(frames).sum();
        // A segment that has begun keeps its duration.
        let begun = self.state.frames.saturating_sub(self.state.frame);
        Tail::Frames((seconds as u64).saturating_add(begun).saturating_add(2))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let params = self.initial.into_iter().chain(self.params);
        state::put(bytes, params.map(f64::to_bits));
        state::put(bytes, self.state.words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 4 + SegmentState::STATE_WORDS)?;
        let [initial, params] = [words.numbers::<2>(0)?, words.numbers(2)?];
        self.state = SegmentState::from_words(words.from(4))?;
        if initial == self.initial {
            for ((value, saved), param) in self.params.iter_mut().zip(params).zip(&PARAMS) {
                *value = saved.clamp(param.min, param.max);
            }
        }
        Ok(())
    }
}
