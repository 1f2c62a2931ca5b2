//! The half that plays: one block a call, on the driver's thread.

use crate::notes::{Letter, Note, Posting, What};
use driver::{AudioCallback, CallbackInfo};
use exec::{CycleInfo, CycleResult, CycleStatus, ErrorCounts, Executor};
use rt::stamp::TickScale;
use rt::{mailbox, spsc, stamp};
use std::sync::Arc;
use units::{Frames, Nanos, SampleRate};
use workers::BackgroundThread;

/// After so many missed cycles in a row, each as long as its period, the engine falls silent for a while, to give the processor back.
const PATIENCE: u32 = 8;
/// For how long.
const SILENCE: Nanos = Nanos(100_000_000);
/// A cycle is given up after so many periods, but not before [`LEAST_WATCH`].
const PERIODS: u64 = 4;
const LEAST_WATCH: Nanos = Nanos(20_000_000);

/// The audio thread's end of everything.
pub(crate) struct Wires {
    pub(crate) letters: mailbox::Receiver<Letter>,
    pub(crate) retired: mailbox::Sender<Letter>,
    pub(crate) postings: spsc::Receiver<Posting>,
    pub(crate) notes: spsc::Sender<Note>,
    /// Offline: the work that may wait, done between blocks. None while somebody listens.
    pub(crate) background: Option<Arc<BackgroundThread>>,
}

/// The half of an engine that plays. A driver calls it once a block.
pub struct EngineCallback {
    executor: Box<dyn Executor>,
    /// The next one, while the last cannot go yet.
    next: Option<Letter>,
    wires: Wires,
    posting: Option<Posting>,
    scale: TickScale,
    block: Frames,
    rate: SampleRate,
    cycle: u64,
    position: u64,
    /// The frame at which the executor began.
    first: u64,
    missed_in_row: u32,
    silent_cycles: u64,
    /// A note found no room: what it counted is told by the next one, and that it was the first of an executor.
    untold: (u32, bool),
    /// What went wrong in executors that have been replaced.
    before: ErrorCounts,
}

impl EngineCallback {
    pub(crate) fn new(
        executor: Box<dyn Executor>,
        wires: Wires,
        scale: TickScale,
        (block, rate): (Frames, SampleRate),
    ) -> Self {
        Self {
            executor,
            next: None,
            wires,
            posting: None,
            scale,
            block,
            rate,
            cycle: 0,
            position: 0,
            first: 0,
            missed_in_row: 0,
            silent_cycles: 0,
            untold: (0, false),
            before: ErrorCounts::default(),
        }
    }

    /// Takes the next executor, if one has come and the last can go; whether it did. What is under way in the last one's
    /// pipeline is played into `outputs` then: the next one has nothing to play in its first cycle.
    fn swap(&mut self, (budget, start): (Option<Nanos>, u64), outputs: &mut [&mut [f32]]) -> bool {
        // A place for the last one first: it must not be freed here.
        if !self.wires.retired.is_empty() {
            return false;
        }
        let Some(next) = self.next.take().or_else(|| self.wires.letters.take()) else {
            return false;
        };
        if self.executor.latency_blocks() == 1 && self.position > self.first {
            let end = self.position;
            self.run(budget, start, (&[], end));
            self.listen(outputs);
            // Played once, whether the last one can go now or not.
            self.first = end;
        }
        if !self.executor.try_release() {
            self.next = Some(next);
            return false;
        }
        self.first = self.position;
        // Its last word: coming to rest may have cost it a node.
        self.before = self.before + self.executor.error_counts();
        let last = std::mem::replace(&mut self.executor, next);
        let full = self.wires.retired.put(last);
        // The box was empty, and only we fill it. Were it full all the same, better a leak than to free it here.
        if let Err(last) = full {
            std::mem::forget(last);
        }
        true
    }

    /// Hands events on. One that finds no room waits for the next block, and one for a node that is not here yet for the
    /// executor that is on its way: the event may have been seen before the letter that was put in first.
    fn deliver(&mut self) {
        while let Some(posting) = self.posting.take().or_else(|| self.wires.postings.pop()) {
            if self
                .executor
                .push_event(posting.node, posting.event)
                .is_err()
                && (self.executor.has_node(posting.node) || self.is_expecting())
            {
                self.posting = Some(posting);
                return;
            }
        }
    }

    /// Whether another executor is on its way.
    fn is_expecting(&self) -> bool {
        self.next.is_some() || self.wires.letters.is_full()
    }

    /// Adds what was played to `outputs`.
    fn listen(&self, outputs: &mut [&mut [f32]]) {
        for (channel, out) in (0..).zip(outputs.iter_mut()) {
            self.executor.add_output(channel, out);
        }
    }

    /// Runs the plan once, for blocks that begin before `end`.
    fn run(
        &mut self,
        budget: Option<Nanos>,
        start: u64,
        (inputs, end): (&[&[f32]], u64),
    ) -> CycleResult {
        let later = |time: Nanos| start.saturating_add(self.scale.ticks(time));
        let period = self.block.duration(self.rate);
        let watch = Nanos(period.0 * PERIODS).max(LEAST_WATCH);
        self.executor.run_cycle(&CycleInfo {
            position: self.position,
            first_frame: self.first,
            end_frame: end,
            cycle: self.cycle,
            inputs,
            abandon_at: budget.map_or(u64::MAX, |_| later(watch)),
            help_until: budget.map_or(u64::MAX, |b| later(Nanos(b.0 / 5 * 4))),
        })
    }

    /// Counts misses in a row, and falls silent for a while after too many. A miss counts where the cycle itself took its
    /// whole period or more: one that began too late is the driver's, and no processor is to be given back for it.
    fn judge(&mut self, what: What, took: Nanos) {
        let period = self.block.duration(self.rate);
        let is_too_much = match what {
            What::Missed => took >= period,
            What::Abandoned => true,
            _ => false,
        };
        self.missed_in_row = if is_too_much {
            self.missed_in_row + 1
        } else {
            0
        };
        if self.missed_in_row >= PATIENCE {
            self.silent_cycles = SILENCE.0.div_ceil(period.0.max(1));
            self.missed_in_row = 0;
        }
    }

    fn tell(&mut self, mut note: Note) {
        let (xruns, swapped) = self.untold;
        note.xruns = note.xruns.saturating_add(xruns);
        note.swapped |= swapped;
        self.untold = match self.wires.notes.push(note) {
            Ok(()) => (0, false),
            Err(note) => (note.xruns, note.swapped),
        };
    }

    /// Leaves a cycle out.
    fn stay_silent(&mut self, beat: CallbackInfo) {
        let first =
            self.silent_cycles == SILENCE.0.div_ceil(self.block.duration(self.rate).0.max(1));
        self.silent_cycles -= 1;
        let note = Note {
            cycle: self.cycle,
            took_ns: 0,
            what: if first {
                What::FellSilent
            } else {
                What::Silent
            },
            wakes: 0,
            acquisitions: 0,
            swapped: false,
            xruns: beat.xruns,
            counts: self.before + self.executor.error_counts(),
        };
        self.tell(note);
    }
}

impl AudioCallback for EngineCallback {
    fn process(&mut self, beat: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let start = stamp::now();
        outputs.iter_mut().for_each(|out| out.fill(0.0));
        if self.silent_cycles > 0 {
            return self.stay_silent(beat);
        }
        if let Some(background) = &self.wires.background {
            background.run_until_idle();
        }
        let swapped = self.swap((beat.budget, start), outputs);
        self.deliver();
        let ran = self.run(beat.budget, start, (inputs, u64::MAX));
        self.listen(outputs);
        let took = self.scale.between(start, stamp::now());
        let what = What::of(ran.status, beat.budget.is_some_and(|b| took > b));
        self.tell(Note {
            cycle: self.cycle,
            took_ns: took.0,
            what,
            wakes: ran.wakes,
            acquisitions: ran.acquisitions,
            swapped,
            xruns: beat.xruns,
            counts: self.before + self.executor.error_counts(),
        });
        if beat.budget.is_some() {
            self.judge(what, took);
        }
        self.cycle += 1;
        if ran.status == CycleStatus::Complete {
            self.position += u64::from(self.block.0);
        }
    }
}
