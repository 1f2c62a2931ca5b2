//! The callback's side of a line of work: gathers a level's input, starts its job, plays what the job before gave.
//!
//! A line's clock counts frames. Where it is a multiple k M of the level's size, job k is started on the period that is
//! complete, and job k - 1 is due (job k itself, where the level is urgent); what job k gives is heard from k M + slack
//! on. Input and output travel by exchange of memory: nothing is copied, and who works owns what he works on.

use crate::fdl::Fdl;
use crate::hands::{FdlInfo, LevelScheduler};
use crate::shape::Shape;
use fft::AlignedBuffer;
use rt::deferred::DeferredJob;

pub(crate) struct Line {
    pub(crate) facts: FdlInfo,
    pub(crate) work: DeferredJob<Fdl>,
    pub(crate) width: usize,
    block: usize,
    slack: usize,
    stride: usize,
    incoming: AlignedBuffer,
    /// Frames at the begin of `incoming` that count as silence.
    incoming_from: usize,
    at: usize,
    clock: u64,
    /// How often sound has been forgotten.
    jumps: u64,
    /// The number of the job that is out, or whose result nobody wants any more.
    job: Option<u64>,
    /// How many periods have been lost to the job.
    missed: usize,
    heard: Box<[AlignedBuffer]>,
    has: Box<[bool]>,
    /// Whether the present exchange has reached it.
    pub(crate) is_offered: bool,
    /// Whether it was out when the convolver became as new, and is to hear what that was made with.
    pub(crate) is_strange: bool,
    /// Whether its new job was started before the callback's own work.
    pub(crate) is_done: bool,
}

impl Line {
    /// A line before its first frame.
    ///
    /// Real-time: setup.
    pub(crate) fn new(
        facts: FdlInfo,
        shape: &Shape,
        slack: usize,
        inputs: usize,
        work: Fdl,
    ) -> Self {
        let depth = slack.div_ceil(shape.size).max(1);
        let heard = || AlignedBuffer::new(facts.outputs * shape.half());
        let mut line = Self {
            facts,
            work: DeferredJob::new(work),
            width: shape.width,
            block: shape.block,
            slack,
            stride: shape.stride(),
            incoming: AlignedBuffer::new(inputs * shape.stride()),
            incoming_from: 0,
            at: 0,
            clock: 0,
            jumps: 0,
            job: None,
            missed: 0,
            heard: (0..depth).map(|_| heard()).collect(),
            has: vec![false; depth].into(),
            is_offered: false,
            is_strange: false,
            is_done: false,
        };
        line.seek(0);
        line.missed = 0;
        line
    }

    /// Forgets all sound, and goes on as if the next frame were frame `position`.
    ///
    /// Real-time: hot.
    pub(crate) fn seek(&mut self, position: u64) {
        self.clock = position + self.facts.phase as u64;
        self.jumps += 1;
        self.at = (self.clock % self.facts.size as u64) as usize;
        self.incoming_from = self.at;
        self.missed = usize::MAX;
        self.job = self.job.map(|_| u64::MAX);
        self.has.fill(false);
    }

    /// Where the next block of input channel `input` goes.
    ///
    /// Real-time: hot.
    pub(crate) fn place(&mut self, input: usize) -> &mut [f32] {
        let at = input * self.stride + self.at * self.width;
        &mut self.incoming[at..at + self.block * self.width]
    }

    /// Counts the block that has been put in its place.
    ///
    /// Real-time: hot.
    pub(crate) fn advance(&mut self) {
        self.clock += self.block as u64;
        self.at += self.block;
        if self.at == self.facts.size {
            self.at = 0;
        }
    }

    /// Whether a period has just become complete.
    ///
    /// Real-time: hot.
    pub(crate) fn is_full(&self) -> bool {
        self.at == 0
    }

    /// Whether its job is not out.
    ///
    /// Real-time: hot.
    pub(crate) fn is_here(&self) -> bool {
        self.work.is_available()
    }

    /// Takes what the job has given that is due now. `false`: it is not there, and its time will be silence.
    ///
    /// Real-time: hot.
    pub(crate) fn settle(&mut self) -> bool {
        let now = self.clock / self.facts.size as u64;
        let due = if self.facts.is_in_callback {
            now
        } else {
            now.wrapping_sub(1)
        };
        let slot = (due % self.heard.len() as u64) as usize;
        self.has[slot] = false;
        let Some(work) = self.work.get() else {
            // The period that has just become complete will never be heard.
            self.missed = self.missed.saturating_add(1);
            return false;
        };
        if let Some(job) = self.job.take() {
            if job == due {
                work.give(&mut self.heard[slot]);
                self.has[slot] = true;
            } else {
                work.skip();
            }
        }
        true
    }

    /// Starts the job on the period that has just become complete; it is here.
    ///
    /// Real-time: hot.
    pub(crate) fn start(&mut self, now: u64) {
        let Some(work) = self.work.get() else { return };
        let period = self.clock / self.facts.size as u64;
        let from = std::mem::take(&mut self.incoming_from);
        work.set_jumps(self.jumps);
        work.begin(&mut self.incoming, from, self.missed, period);
        self.missed = 0;
        self.job = Some(period);
        self.work
            .start(now + self.slack.min(self.facts.size) as u64);
    }

    /// What output channel `output` gives in this block; nothing where it has nothing to give.
    ///
    /// Real-time: hot.
    pub(crate) fn heard(&self, output: usize) -> Option<&[f32]> {
        self.part(output, 1)
    }

    /// The same for all output channels, side by side.
    ///
    /// Real-time: hot.
    pub(crate) fn all_heard(&self) -> Option<&[f32]> {
        let outputs = self.facts.outputs;
        self.part(0, outputs)
    }

    fn part(&self, output: usize, outputs: usize) -> Option<&[f32]> {
        let size = self.facts.size as u64;
        let at = self.clock.checked_sub(self.slack as u64)?;
        let slot = (at / size % self.heard.len() as u64) as usize;
        let run = self.block * self.width;
        let block = (at % size) as usize / self.block;
        let from = (block * self.facts.outputs + output) * run;
        self.has[slot].then(|| &self.heard[slot][from..from + outputs * run])
    }

    /// Does an urgent level's work, all of it now.
    ///
    /// Real-time: hot.
    pub(crate) fn play_now(&mut self, now: u64) {
        self.start(now);
        crate::Inline.finish(0, &mut self.work);
        self.settle();
    }

    /// Bytes of sound in memory.
    pub(crate) fn bytes(&self) -> usize {
        let heard: usize = self.heard.iter().map(|h| h.len()).sum();
        4 * (heard + self.incoming.len())
    }
}
