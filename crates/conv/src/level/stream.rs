//! [`LevelStream`]: the callback's side of a delay line. It collects the line's input, starts its jobs and delivers their
//! output.
//!
//! A stream's clock counts frames. Where it is a multiple kM of the level's size, job k starts on the period that is complete,
//! and job k - 1 is due (job k itself, where the level has no slack). The output of job k begins with frame kM + slack
//! (`README.md` has the drawing). Input and output travel by exchange of buffers: nothing is copied, and there is one owner
//! at any time.

use super::fdl::Fdl;
use super::spec::FdlSpec;
use fft::AlignedBuffer;
use rt::deferred::DeferredJob;

/// Description of one delay line: one level of one group of channels.
/// [`Convolver::fdls`](crate::Convolver::fdls) lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FdlInfo {
    /// Number of the level in the partition, from 0.
    pub level: usize,
    /// Frames in a partition, which is also the period.
    pub size: usize,
    /// Number of partitions.
    pub count: usize,
    /// Number of the group of channels, from 0.
    pub group: usize,
    /// Number of output channels.
    pub outputs: usize,
    /// Number of pieces of a period's work.
    pub piece_count: usize,
    /// True if the work must be done inside the callback.
    pub is_in_callback: bool,
    /// Frames by which its periods end later than those of phase 0 do.
    pub phase: usize,
}

/// Number of a job whose output is not wanted.
const UNWANTED: u64 = u64::MAX;

/// The callback's side of a delay line.
pub(crate) struct LevelStream {
    pub(crate) info: FdlInfo,
    pub(crate) job: DeferredJob<Fdl>,
    /// Channels side by side: 1 or 16.
    pub(crate) width: usize,
    block: usize,
    slack: usize,
    input_stride: usize,
    /// Input of the period that is being collected.
    input: AlignedBuffer,
    /// Frames at the beginning of `input` that count as silence.
    silent: usize,
    /// Frames of the period so far.
    position: usize,
    clock: u64,
    /// Number of the job whose output has not been collected; `None` if there is none.
    job_number: Option<u64>,
    /// Periods whose input was lost because a job was late.
    missed: usize,
    /// Output of the last jobs, in a ring.
    results: Box<[AlignedBuffer]>,
    /// True for each result that arrived in time.
    is_valid: Box<[bool]>,
    /// True if the current exchange has been offered to the line.
    pub(crate) is_offered: bool,
    /// True if the job was out when the convolver was reset: the line must still return to its original filters.
    pub(crate) needs_restart: bool,
    /// True if the new job was started before the callback's own work.
    pub(crate) is_started: bool,
}

impl LevelStream {
    /// Makes a stream before its first frame.
    ///
    /// Real-time: setup.
    pub(crate) fn new(
        info: FdlInfo,
        spec: &FdlSpec,
        slack: usize,
        inputs: usize,
        fdl: Fdl,
    ) -> Self {
        let depth = slack.div_ceil(spec.size).max(1);
        let result = || AlignedBuffer::new(info.outputs * spec.period_len());
        let mut stream = Self {
            info,
            job: DeferredJob::new(fdl),
            width: spec.width,
            block: spec.block,
            slack,
            input_stride: spec.input_stride(),
            input: AlignedBuffer::new(inputs * spec.input_stride()),
            silent: 0,
            position: 0,
            clock: 0,
            job_number: None,
            missed: 0,
            results: (0..depth).map(|_| result()).collect(),
            is_valid: vec![false; depth].into(),
            is_offered: false,
            needs_restart: false,
            is_started: false,
        };
        stream.seek(0);
        stream.missed = 0;
        stream
    }

    /// Forgets all sound, and goes on as if the next frame were frame `position`.
    ///
    /// Real-time: hot.
    pub(crate) fn seek(&mut self, position: u64) {
        self.clock = position + self.info.phase as u64;
        self.position = (self.clock % self.info.size as u64) as usize;
        self.silent = self.position;
        self.missed = usize::MAX;
        self.job_number = self.job_number.map(|_| UNWANTED);
        self.is_valid.fill(false);
    }

    /// Memory for the next block of input channel `input`.
    ///
    /// Real-time: hot.
    pub(crate) fn input_mut(&mut self, input: usize) -> &mut [f32] {
        let at = input * self.input_stride + self.position * self.width;
        &mut self.input[at..at + self.block * self.width]
    }

    /// Counts the block that has been written.
    ///
    /// Real-time: hot.
    pub(crate) fn advance(&mut self) {
        self.clock += self.block as u64;
        self.position += self.block;
        if self.position == self.info.size {
            self.position = 0;
        }
    }

    /// Returns true if a period has just become complete.
    ///
    /// Real-time: hot.
    pub(crate) fn is_period_end(&self) -> bool {
        self.position == 0
    }

    /// Number of the period that has just become complete.
    fn period(&self) -> u64 {
        self.clock / self.info.size as u64
    }

    /// Collects the output that is due now. Returns false if the job is not done: its output will be silence, and the
    /// period that has just become complete is lost.
    ///
    /// Real-time: hot.
    pub(crate) fn collect(&mut self) -> bool {
        let due = match self.info.is_in_callback {
            true => self.period(),
            false => self.period().wrapping_sub(1),
        };
        let slot = (due % self.results.len() as u64) as usize;
        self.is_valid[slot] = false;
        let Some(fdl) = self.job.get() else {
            self.missed = self.missed.saturating_add(1);
            return false;
        };
        if let Some(number) = self.job_number.take() {
            if number == due && !fdl.is_missing() {
                fdl.take_output(&mut self.results[slot]);
                self.is_valid[slot] = true;
            } else {
                fdl.drop_output();
            }
        }
        true
    }

    /// Starts the job for the period that has just become complete; the last one is done. `now` is the convolver's position.
    ///
    /// Real-time: hot.
    pub(crate) fn start_job(&mut self, now: u64) {
        let period = self.period();
        let Some(fdl) = self.job.get() else { return };
        let silent = std::mem::take(&mut self.silent);
        fdl.begin(&mut self.input, silent, self.missed, period);
        self.missed = 0;
        self.job_number = Some(period);
        let deadline = now + self.slack.min(self.info.size) as u64;
        self.job.start(deadline);
    }

    /// Block of output of channel `output`; `None` if it is silence.
    ///
    /// Real-time: hot.
    pub(crate) fn output(&self, output: usize) -> Option<&[f32]> {
        self.output_range(output, 1)
    }

    /// Blocks of all output channels, side by side; `None` if they are silence.
    ///
    /// Real-time: hot.
    pub(crate) fn all_outputs(&self) -> Option<&[f32]> {
        self.output_range(0, self.info.outputs)
    }

    fn output_range(&self, first: usize, outputs: usize) -> Option<&[f32]> {
        let size = self.info.size as u64;
        let at = self.clock.checked_sub(self.slack as u64)?;
        let slot = (at / size % self.results.len() as u64) as usize;
        let len = self.block * self.width;
        let block = (at % size) as usize / self.block;
        let from = (block * self.info.outputs + first) * len;
        self.is_valid[slot].then(|| &self.results[slot][from..from + outputs * len])
    }

    /// Runs the whole job of a level without slack.
    ///
    /// Real-time: hot.
    pub(crate) fn run_in_callback(&mut self, now: u64) {
        self.start_job(now);
        run_to_end(&mut self.job);
        self.collect();
    }

    /// Bytes of sound in memory.
    pub(crate) fn bytes(&self) -> usize {
        let results: usize = self.results.iter().map(|result| result.len()).sum();
        4 * (results + self.input.len())
    }
}

/// Runs all pieces of a job that are left. Returns false if the job has panicked.
///
/// Real-time: hot.
pub(crate) fn run_to_end(job: &mut DeferredJob<Fdl>) -> bool {
    while !job.is_available() {
        if job.has_panicked() {
            return false;
        }
        job.run_piece();
    }
    true
}
