//! [`WindowTracker`]: a processor that looks at the last frames a hundred times a second, by deferred work.

use crate::state;
use crate::steps::{BlockStep, block_steps};
use processor::state::StateWords;
use processor::{
    Block, DeferredWork, Event, EventBody, Mode, ProcessStatus, Processor, Setup, StateError, Tail,
    WordJob, WorkSeat,
};
use rt::deferred::PiecewiseJob;
use std::ops::Range;

/// Windows that begin in a second.
const WINDOWS_PER_S: usize = 100;

/// Frames from one window to the next, at a rate in Hz.
pub(super) fn hop(rate: f64) -> usize {
    (rate as usize / WINDOWS_PER_S).max(1)
}

/// The work on one window.
pub(super) trait WindowJob: WordJob {
    /// The frames to look at, which the tracker writes.
    fn window(&mut self) -> &mut [f32];

    /// Begins with the window as it is.
    ///
    /// Real-time: hot.
    fn begin(&mut self);
}

/// The part of a tracker that knows what is looked for. It is called on the audio thread.
pub(super) trait Listener: Send + 'static {
    type Job: WindowJob;
    /// Signals that it shows, one or two; the output after them is that of events.
    const SIGNALS: usize;

    /// The work for a rate in Hz. It is called in the set-up.
    fn job(&mut self, rate: f64) -> Self::Job;

    /// Gives a job what it needs beside the window.
    fn prepare(&mut self, _: &mut Self::Job) {}

    /// Takes the result of a job, which began a hop before `frame`, the number of frames so far. Returns the value of an event.
    fn take(&mut self, job: &mut Self::Job, frame: u64) -> Option<f32>;

    /// Goes on without the result that was due: it came too late.
    fn miss(&mut self) {}

    /// The next event that is due by itself in `frames`: its frame, and its value.
    fn due(&mut self, _frames: Range<u64>) -> Option<(u64, f32)> {
        None
    }

    /// What it shows.
    fn signals(&self) -> [f32; 2];

    fn handle_event(&mut self, event: &Event);

    /// Becomes as new.
    fn reset(&mut self);

    /// Number of words of its state.
    fn state_words(&self) -> usize;

    fn save(&self, bytes: &mut Vec<u8>);

    /// Loads a state, or changes nothing where it is refused.
    fn load(&mut self, words: StateWords<'_>) -> Result<(), StateError>;
}

/// A processor of one input.
pub(super) struct WindowTracker<L: Listener> {
    listener: L,
    owner: DeferredWork<L::Job>,
    seat: WorkSeat,
    hop: usize,
    /// The last window and the hop since: the last frames, in order from `frames` on.
    ring: Vec<f32>,
    /// Frames so far.
    frames: u64,
    /// True if work is out, whose result is due at the next hop.
    is_due: bool,
    /// True if its result is another's: a state was loaded since it began.
    is_lost: bool,
}

impl<L: Listener> WindowTracker<L> {
    /// Real-time: setup.
    pub(super) fn make(mut listener: L, seat: WorkSeat) -> Box<dyn Processor> {
        let job = listener.job(48_000.0);
        Box::new(Self {
            listener,
            owner: DeferredWork::new(job),
            seat,
            hop: 1,
            ring: Vec::new(),
            frames: 0,
            is_due: false,
            is_lost: false,
        })
    }

    /// Gives the job the window that ended `ago` frames ago. Returns `None` if the work is not ours.
    fn fill(&mut self, ago: usize) -> Option<&mut L::Job> {
        let job = self.owner.get()?;
        let window = job.window();
        let (length, width) = (self.ring.len(), window.len());
        let end = (self.frames % length as u64) as usize + length - ago;
        let first = (end + length - width) % length;
        let before_wrap = width.min(length - first);
        window[..before_wrap].copy_from_slice(&self.ring[first..][..before_wrap]);
        window[before_wrap..].copy_from_slice(&self.ring[..width - before_wrap]);
        self.listener.prepare(job);
        job.begin();
        Some(job)
    }

    /// Takes the result that is due in this frame, and begins with the next window.
    fn turn(&mut self, block: &mut Block<'_>, frame: usize) {
        if block.take_work(&mut self.owner).is_none() {
            // What comes now is too late, and the next window is left out.
            if std::mem::take(&mut self.is_due) {
                self.listener.miss();
            }
            return;
        }
        // Once after a state was loaded, on this thread: a tempo takes half a millisecond. A state without the result of the work
        // that was out would be shorter by the whole window.
        if std::mem::take(&mut self.is_lost)
            && let Some(job) = self.fill(self.hop)
        {
            while !job.run_piece() {}
        }
        if self.is_due
            && let Some(job) = self.owner.get()
            && let Some(value) = self.listener.take(job, self.frames)
        {
            block.send_event(L::SIGNALS, frame as u32, EventBody::Value(value));
        }
        self.is_due = self.fill(0).is_some();
        if self.is_due {
            let due = block.position() + (frame + self.hop) as u64;
            self.owner.start(due);
        }
    }

    /// Sends the events that are due by themselves while `range` is played.
    fn send_due(&mut self, block: &mut Block<'_>, range: &Range<usize>) {
        let mut frames = self.frames..self.frames + range.len() as u64;
        while let Some((at, value)) = self.listener.due(frames.clone()) {
            let frame = range.start + (at - self.frames) as usize;
            block.send_event(L::SIGNALS, frame as u32, EventBody::Value(value));
            frames.start = at + 1;
        }
    }

    /// Keeps the input of `range`, in which no window begins but at its start, and shows the signals.
    fn keep(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let input = &block.input(0).channel(0)[range.clone()];
        let first = (self.frames % self.ring.len() as u64) as usize;
        let before_wrap = input.len().min(self.ring.len() - first);
        self.ring[first..][..before_wrap].copy_from_slice(&input[..before_wrap]);
        self.ring[..input.len() - before_wrap].copy_from_slice(&input[before_wrap..]);
        self.frames = self.frames.wrapping_add(input.len() as u64);
        let signals = self.listener.signals();
        for (port, signal) in signals[..L::SIGNALS].iter().enumerate() {
            block.output(port).channel(0)[range.clone()].fill(*signal);
        }
    }

    fn process_range(&mut self, block: &mut Block<'_>, mut range: Range<usize>) {
        while !range.is_empty() {
            let since = (self.frames % self.hop as u64) as usize;
            if since == 0 && self.frames > 0 {
                self.turn(block, range.start);
            }
            let end = range.end.min(range.start + self.hop - since);
            let part = range.start..end;
            self.send_due(block, &part);
            self.keep(block, part);
            range.start = end;
        }
    }
}

impl<L: Listener> Processor for WindowTracker<L> {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let rate = f64::from(setup.rate.hz());
        let mut job = self.listener.job(rate);
        self.hop = hop(rate);
        self.ring = vec![0.0; job.window().len() + self.hop];
        self.owner = DeferredWork::new(job);
        // A result that is due in the block of its request would come late.
        if setup.mode != Mode::DryRun && self.hop >= setup.block.count() {
            self.owner.travel(&self.seat);
        }
        let runner = self.owner.job_runner();
        runner.into_iter().for_each(|it| setup.services.defer(it));
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.listener.handle_event(&event),
                BlockStep::Process(range) => self.process_range(block, range),
                BlockStep::Cleanup => {}
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.listener.reset();
        self.ring.fill(0.0);
        self.frames = 0;
        // The result of what is out belongs to what was before.
        (self.is_due, self.is_lost) = (false, false);
    }

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.frames, u64::from(self.is_due)]);
        state::put(bytes, self.ring.iter().map(|x| u64::from(x.to_bits())));
        self.listener.save(bytes);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let before = 2 + self.ring.len();
        let words = state::words(bytes, before + self.listener.state_words())?;
        let sample = |at: usize| f32::from_bits(words.at(2 + at) as u32);
        if !(0..self.ring.len()).all(|at| sample(at).is_finite()) {
            return Err(StateError("a saved sample is not finite".into()));
        }
        self.listener.load(words.from(before))?;
        for (at, x) in self.ring.iter_mut().enumerate() {
            *x = sample(at);
        }
        self.frames = words.at(0);
        self.is_due = words.at(1) != 0;
        self.is_lost = self.is_due;
        Ok(())
    }
}
