//! Delay lines that compensate latency: one for each output that some input reads with a delay. They outlive plans.
//!
//! An aligner delays one output, by a delay of its own for each of its *taps*. `crate::step::align` runs it.
//!
//! # When the plan is replaced
//!
//! A plan that delays the same output takes the line over, with its content. If it needs a longer line, the new one
//! begins empty. Positions before its beginning are read from the older line, which no thread writes any more, or from
//! the one before that. Lengths are powers of two and each line is longer than the one before, so a chain has at most
//! 31 lines, and all older lines together are shorter than the newest one.
//!
//! ```text
//! older line   |----------------|            no thread writes it any more
//! this line                     |------->    written since the swap
//!              ^                ^      ^
//!              known_from    begins_at next
//! ```
//!
//! A tap whose delay changes fades from the old delay to the new one, as soon as the line holds enough frames for the
//! new one. Until then it keeps the old delay. Events have no fade: each is delivered once, and an overdue one
//! immediately.
//!
//! # Who may touch what
//!
//! A line belongs to the aligner's step: the worker that has the claim on that step reads and writes it. Executors own
//! the runtime one after the other, so one step at a time has the line.

use super::ring::{DelayLineMemory, capacity};
use graph::{NodeId, Signal};
use plan::{Aligner, AlignerTap, DelayedEdge, FadeState, Plan};
use processor::{Event, RawDelayLine};
use std::cell::UnsafeCell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use units::Frames;

/// Duration of a fade, in seconds.
const FADE_S: f64 = 0.02;
/// A position that has not been reached.
pub(crate) const NEVER: u64 = u64::MAX;

// The plan's limit on delayed events counts on it.
const _: () = assert!(size_of::<(u64, Event)>() <= plan::SAMPLES_PER_EVENT * size_of::<f32>());

/// An output of a node: the node, and the output's port number.
type NodeOutput = (NodeId, u16);

/// The aligners' lines of one engine, and the positions at which their fades began.
#[derive(Default)]
pub(super) struct AlignerLines {
    lines: HashMap<NodeOutput, Weak<AlignerLine>>,
    fade_starts: HashMap<(NodeOutput, AlignerTap), Weak<AtomicU64>>,
}

/// Positions that bound a line's content. Positions are absolute frames.
#[derive(Clone, Copy)]
pub(crate) struct LineState {
    /// First position whose content is known, here or in an older line.
    pub(crate) known_from: u64,
    /// First position whose content is in this line.
    pub(crate) begins_at: u64,
    /// Position of the next block; [`NEVER`] for a line that was not written yet.
    pub(crate) next: u64,
    /// From this position on the content is silent.
    pub(crate) silent_from: u64,
}

/// One line.
pub(crate) struct AlignerLine {
    pub(crate) ring: DelayLineMemory,
    /// The shorter line that it took over from.
    older: Option<Arc<AlignerLine>>,
    pub(crate) state: UnsafeCell<LineState>,
    /// Events with their positions, in the order of these.
    pub(crate) events: UnsafeCell<VecDeque<(u64, Event)>>,
}

// SAFETY: the cells are reached only by the holder of the claim on the aligner's step, one executor after the other.
unsafe impl Sync for AlignerLine {}

impl AlignerLine {
    /// Line of `frames` frames of audio, or for `events` events.
    fn new((channels, frames): (u32, u32), events: usize, older: Option<Arc<Self>>) -> Self {
        let blank = Event {
            frame: 0,
            target: processor::EventTarget::Input(0),
            body: processor::EventBody::Value(0.0),
        };
        // Written once, so that every page is mapped.
        let mut waiting: VecDeque<_> = std::iter::repeat_n((0, blank), events).collect();
        waiting.clear();
        Self {
            ring: DelayLineMemory::new(channels, frames),
            older,
            state: UnsafeCell::new(LineState {
                known_from: 0,
                begins_at: 0,
                next: NEVER,
                silent_from: 0,
            }),
            events: UnsafeCell::new(waiting),
        }
    }

    /// The older lines that have been written, the newest first, with their states.
    ///
    /// # Safety
    ///
    /// The caller has the claim on the step of this line. Then no thread writes the older lines: their executors no
    /// longer own the runtime.
    pub(crate) unsafe fn older_lines(&self) -> impl Iterator<Item = (&Self, LineState)> {
        let all = std::iter::successors(self.older.as_deref(), |line| line.older.as_deref());
        // SAFETY: no thread writes it any more, by this function's contract.
        let all = all.map(|line| (line, unsafe { *line.state.get() }));
        all.filter(|(_, state)| state.next != NEVER)
    }
}

/// Operation of an aligner's step.
pub(crate) struct AlignerOp {
    pub(crate) line: Arc<AlignerLine>,
    pub(crate) ring: RawDelayLine,
    pub(crate) taps: Box<[DelayTap]>,
    /// Longest delay of its taps, in frames.
    pub(crate) max_delay: u64,
    /// Duration of a fade, in frames.
    pub(crate) fade: u64,
}

/// One delay of an aligner, in frames.
pub(crate) struct DelayTap {
    pub(crate) delay: u64,
    /// Delay before the last change.
    pub(crate) old_delay: u64,
    /// For a tap that changes: where the fade began, or for events the first block with the new delay.
    start: Option<Arc<AtomicU64>>,
}

impl DelayTap {
    /// Position at which the tap began to change; records `now` if it had not begun. `None` for a tap that does not
    /// change.
    pub(crate) fn change_start(&self, now: u64) -> Option<u64> {
        let start = self.start.as_ref()?;
        // Relaxed, both: written only by the step that has the line, one cycle after the other.
        let mut begun = start.load(Ordering::Relaxed);
        if begun == NEVER {
            begun = now;
            start.store(begun, Ordering::Relaxed);
        }
        Some(begun)
    }
}

impl AlignerLines {
    /// The operation of `aligner` in `plan`.
    pub(super) fn operation(&mut self, plan: &Plan, aligner: &Aligner) -> AlignerOp {
        let node_output = (aligner.node, aligner.output);
        let taps = aligner.taps.of(&plan.taps);
        let max_delay = taps
            .iter()
            .map(|tap| tap.max_frames())
            .max()
            .unwrap_or_default();
        let channels = match aligner.signal {
            Signal::Audio(channels) => u32::from(channels.0),
            Signal::Control | Signal::Event => 0,
        };
        let frames = capacity(max_delay, plan.block);
        let line = self.line(node_output, (channels, frames), plan.block);
        AlignerOp {
            ring: line.ring.raw(),
            line,
            taps: taps.iter().map(|tap| self.tap(node_output, *tap)).collect(),
            max_delay: u64::from(max_delay.0),
            fade: fade_frames(plan),
        }
    }

    /// The line of an output: the existing one if it is long enough, else a new one that takes over from it.
    fn line(
        &mut self,
        node_output: NodeOutput,
        (channels, frames): (u32, u32),
        block: Frames,
    ) -> Arc<AlignerLine> {
        let existing = self.lines.get(&node_output).and_then(Weak::upgrade);
        let existing = existing.filter(|line| line.ring.raw().channels == channels);
        match existing {
            Some(line) if line.ring.raw().capacity >= frames => line,
            older => {
                let events = match channels {
                    0 => plan::event_capacity(frames, block),
                    _ => 0,
                };
                let line = Arc::new(AlignerLine::new((channels, frames), events, older));
                self.lines.insert(node_output, Arc::downgrade(&line));
                line
            }
        }
    }

    fn tap(&mut self, node_output: NodeOutput, tap: AlignerTap) -> DelayTap {
        let start = tap.is_changing().then(|| {
            let existing = self
                .fade_starts
                .get(&(node_output, tap))
                .and_then(Weak::upgrade);
            existing.unwrap_or_else(|| {
                let start = Arc::new(AtomicU64::new(NEVER));
                self.fade_starts
                    .insert((node_output, tap), Arc::downgrade(&start));
                start
            })
        });
        DelayTap {
            delay: tap.frames.0.into(),
            old_delay: tap.previous.0.into(),
            start,
        }
    }

    /// Progress of the fade of `edge`, which `plan` delays, at `position`.
    pub(super) fn fade_state(&self, plan: &Plan, edge: &DelayedEdge, position: u64) -> FadeState {
        let (node_output, tap) = ((edge.from.node, edge.from.port), edge.tap);
        if !tap.is_changing() {
            return FadeState::Done;
        }
        let start = self
            .fade_starts
            .get(&(node_output, tap))
            .and_then(Weak::upgrade);
        // Relaxed: a number of its own. It may be a little old; then the fade is taken to be as far as it was.
        let start = start.map_or(NEVER, |start| start.load(Ordering::Relaxed));
        let fade = fade_frames(plan);
        // Events that were due before have been delivered by then too.
        let end = start.saturating_add(u64::from(tap.max_frames().0) + fade);
        let aligners = &plan.aligners;
        let aligner = aligners.binary_search_by_key(&node_output, |a| (a.node, a.output));
        let is_audio = aligner.is_ok_and(|at| matches!(aligners[at].signal, Signal::Audio(_)));
        if end <= position {
            FadeState::Done
        } else if is_audio && position < start.saturating_add(fade / 2) {
            FadeState::Fading(tap.previous)
        } else {
            FadeState::Fading(tap.frames)
        }
    }

    /// Forgets the lines and fades that `plan`, the newest one, does not have.
    pub(super) fn keep_those_of(&mut self, plan: &Plan) {
        let aligners = plan.aligners.iter();
        let aligners = aligners.map(|it| ((it.node, it.output), it.taps.of(&plan.taps)));
        let taps: HashMap<NodeOutput, &[AlignerTap]> = aligners.collect();
        self.lines.retain(|output, _| taps.contains_key(output));
        let has_tap = |(output, tap): &(NodeOutput, AlignerTap)| {
            taps.get(output).is_some_and(|taps| taps.contains(tap))
        };
        self.fade_starts.retain(|key, _| has_tap(key));
    }
}

/// Duration of a fade, in frames.
fn fade_frames(plan: &Plan) -> u64 {
    u64::from(Frames::from_seconds_ceil(FADE_S, plan.rate).0.max(1))
}
