//! `pitch_tracker`: the pitch of a sound of one voice, as a signal and as events.
//!
//! ```text
//! each 10 ms: the last 43 ms ──▶ deferred work (50 to 1500 Hz, `pitch_job`) ──▶ 10 ms later: freq, clarity, an event
//! ```
//!
//! The work is done outside the cycle by workers that are idle. It has a hop's time: its result takes effect at the next hop, at the
//! same frame under every scheduler. So `freq` is that of the sound 31 ms ago, in the middle. It stays while the sound is
//! not clear. The event is the frequency, sent where a clear one is another than before.
//!
//! P. McLeod, G. Wyvill, "A smarter way to find pitch", ICMC 2005.
//!
//! | | |
//! |---|---|
//! | ports | `in`, one channel; `freq` in Hz, 0 before the first; `clarity` from 0 to 1; `changes`, events |
//! | parameters | `clear` 0 to 1: the clarity from which a pitch counts |
//! | latency | 31 ms, not compensated: the outputs are no sound |
//! | tail | endless: `freq` stays |

use super::pitch_job::{PitchJob, PitchResult};
use crate::param::ParamSpec;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, KindPicture, PortSpec};
use processor::{
    Block, EventBody, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail,
};
use rt::deferred::{DeferredJob, PiecewiseJob};

const CLEAR: ParamSpec =
    ParamSpec::new(0, "clear", (0.0, 1.0), 0.8).doc("Clarity from which a pitch counts.");
/// Windows that begin in a second.
const HOPS: usize = 100;
/// Outputs.
const CHANGES: usize = 2;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("in")],
        outputs: vec![
            PortSpec::mono("freq"),
            PortSpec::mono("clarity"),
            PortSpec::events("changes"),
        ],
        params: vec![CLEAR.param()],
        typical_ns: 300,
        duplicable: false,
        picture: KindPicture::Step,
        ..Kind::new(
            "pitch_tracker",
            "The pitch of a sound of one voice, 31 ms later.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let clear = CLEAR.read(creation)?;
    Ok(Box::new(PitchTracker {
        initial: clear,
        clear,
        hop: 1,
        owner: DeferredJob::new(PitchJob::new(48_000.0)),
        ring: Vec::new(),
        frames: 0,
        is_due: false,
        is_lost: false,
        shown: PitchResult::default(),
    }))
}

struct PitchTracker {
    initial: f64,
    clear: f64,
    /// Frames from one window to the next.
    hop: usize,
    owner: DeferredJob<PitchJob>,
    /// The last window and the hop since: the last frames, in order from `frames` on.
    ring: Vec<f32>,
    /// Frames so far.
    frames: u64,
    /// True if work is out, whose result is due at the next hop.
    is_due: bool,
    /// True if its result is another's: a state was loaded since it began.
    is_lost: bool,
    shown: PitchResult,
}

impl PitchTracker {
    /// Copies the window that ended `ago` frames ago, and returns false if the work is not ours.
    fn fill(owner: &mut DeferredJob<PitchJob>, ring: &[f32], frames: u64, ago: usize) -> bool {
        let Some(job) = owner.get() else {
            return false;
        };
        let (length, width) = (ring.len(), job.window.len());
        let end = (frames % length as u64) as usize + 2 * length - ago;
        for (k, x) in job.window.iter_mut().enumerate() {
            *x = ring[(end - width + k) % length];
        }
        job.begin();
        true
    }

    /// Takes the result that is due in this frame, and begins with the next window.
    fn turn(&mut self, block: &mut Block<'_>, frame: usize) {
        if block.take_deferred(&mut self.owner).is_none() {
            // What comes now is too late, and the next window is left out.
            self.is_due = false;
            return;
        }
        if std::mem::take(&mut self.is_lost)
            && Self::fill(&mut self.owner, &self.ring, self.frames, self.hop)
            && let Some(job) = self.owner.get()
        {
            while !job.run_piece() {}
        }
        let result = self.owner.get().map(|job| job.result);
        if let Some(result) = result.filter(|_| self.is_due) {
            let is_clear = result.hz > 0.0 && result.clarity >= self.clear;
            let hz = if is_clear { result.hz } else { self.shown.hz };
            if hz != self.shown.hz {
                block.send_event(CHANGES, frame as u32, EventBody::Value(hz as f32));
            }
            self.shown = PitchResult { hz, ..result };
        }
        if Self::fill(&mut self.owner, &self.ring, self.frames, 0) {
            self.owner
                .start(block.position() + (frame + self.hop) as u64);
            self.is_due = true;
        }
    }

    fn process_frame(&mut self, block: &mut Block<'_>, frame: usize) {
        if self.frames > 0 && self.frames.is_multiple_of(self.hop as u64) {
            self.turn(block, frame);
        }
        let x = block.input(0).channel(0)[frame];
        let slot = (self.frames % self.ring.len() as u64) as usize;
        self.ring[slot] = x;
        self.frames = self.frames.wrapping_add(1);
        block.output(0).channel(0)[frame] = self.shown.hz as f32;
        block.output(1).channel(0)[frame] = self.shown.clarity as f32;
    }
}

impl Processor for PitchTracker {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        let rate = setup.rate.hz() as usize;
        let job = PitchJob::new(f64::from(setup.rate.hz()));
        self.hop = (rate / HOPS).max(1);
        self.ring = vec![0.0; job.window.len() + self.hop];
        self.owner = DeferredJob::new(job);
        setup.services.defer(self.owner.job_runner());
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => {
                    self.clear = CLEAR.value_of(&event).unwrap_or(self.clear);
                }
                BlockStep::Process(range) => {
                    range.for_each(|frame| self.process_frame(block, frame));
                }
                BlockStep::Cleanup => {}
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.clear = self.initial;
        self.ring.fill(0.0);
        (self.frames, self.shown) = (0, PitchResult::default());
        // The result of what is out belongs to what was before.
        (self.is_due, self.is_lost) = (false, false);
    }

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let numbers = [self.initial, self.clear, self.shown.hz, self.shown.clarity];
        state::put(bytes, numbers.map(f64::to_bits));
        state::put(bytes, [self.frames, u64::from(self.is_due)]);
        state::put(bytes, self.ring.iter().map(|x| u64::from(x.to_bits())));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 6 + self.ring.len())?;
        let [initial, clear, hz, clarity] = words.numbers(0)?;
        let sample = |at: usize| f32::from_bits(words.at(6 + at) as u32);
        if !(0..self.ring.len()).all(|at| sample(at).is_finite()) {
            return Err(StateError("a saved sample is not finite".into()));
        }
        for (at, x) in self.ring.iter_mut().enumerate() {
            *x = sample(at);
        }
        if initial == self.initial {
            self.clear = clear.clamp(CLEAR.min, CLEAR.max);
        }
        self.shown = PitchResult {
            hz: hz.clamp(0.0, 1e6),
            clarity: clarity.clamp(0.0, 1.0),
        };
        self.frames = words.at(4);
        self.is_due = words.at(5) != 0;
        self.is_lost = self.is_due;
        Ok(())
    }
}
