//! `pitch_tracker`: the pitch of a sound of one voice, as a signal and as events.
//!
//! ```text
//! each 10 ms: the last 43 ms ──▶ deferred work (50 to 1500 Hz, `pitch_job`) ──▶ 10 ms later: freq, clarity, an event
//! ```
//!
//! So `freq` is that of the sound 31 ms ago, in the middle. It stays while the sound is not clear. The event is the frequency,
//! sent where a clear one is another than before.
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
use super::window_tracker::{Listener, WindowJob, WindowTracker};
use crate::param::ParamSpec;
use crate::state;
use graph::{Kind, KindPicture, PortSpec};
use processor::state::StateWords;
use processor::{Event, MakeContext, MakeError, Processor, StateError};

const CLEAR: ParamSpec =
    ParamSpec::new(0, "clear", (0.0, 1.0), 0.8).doc("Clarity from which a pitch counts.");

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
        picture: KindPicture::Glide,
        ..Kind::new(
            "pitch_tracker",
            "The pitch of a sound of one voice, 31 ms later.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let clear = CLEAR.read(creation)?;
    let listener = PitchListener {
        initial: clear,
        clear,
        shown: PitchResult::default(),
    };
    Ok(WindowTracker::make(listener, creation.work_seat()))
}

struct PitchListener {
    initial: f64,
    clear: f64,
    shown: PitchResult,
}

impl WindowJob for PitchJob {
    fn window(&mut self) -> &mut [f32] {
        &mut self.window
    }

    fn begin(&mut self) {
        self.begin();
    }
}

impl Listener for PitchListener {
    type Job = PitchJob;
    const SIGNALS: usize = 2;

    fn job(&mut self, rate: f64) -> PitchJob {
        PitchJob::new(rate)
    }

    fn take(&mut self, job: &mut PitchJob, _: u64) -> Option<f32> {
        let result = job.result;
        let is_clear = result.hz > 0.0 && result.clarity >= self.clear;
        let hz = if is_clear { result.hz } else { self.shown.hz };
        let is_other = hz != self.shown.hz;
        self.shown = PitchResult { hz, ..result };
        is_other.then_some(hz as f32)
    }

    fn signals(&self) -> [f32; 2] {
        [self.shown.hz as f32, self.shown.clarity as f32]
    }

    fn handle_event(&mut self, event: &Event) {
        self.clear = CLEAR.value_of(event).unwrap_or(self.clear);
    }

    fn reset(&mut self) {
        self.clear = self.initial;
        self.shown = PitchResult::default();
    }

    fn state_words(&self) -> usize {
        4
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let numbers = [self.initial, self.clear, self.shown.hz, self.shown.clarity];
        state::put(bytes, numbers.map(f64::to_bits));
    }

    fn load(&mut self, words: StateWords<'_>) -> Result<(), StateError> {
        let [initial, clear, hz, clarity] = words.numbers(0)?;
        if initial == self.initial {
            self.clear = clear.clamp(CLEAR.min, CLEAR.max);
        }
        self.shown = PitchResult {
            hz: hz.clamp(0.0, 1e6),
            clarity: clarity.clamp(0.0, 1.0),
        };
        Ok(())
    }
}
