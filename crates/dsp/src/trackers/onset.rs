//! `onset_tracker`: the beginnings of notes and strokes in a sound, as events.
//!
//! ```text
//! each 10 ms: spectral flux of the last 21 ms (`flux`), as deferred work
//! onset: flux > the one before, ≥ the one after, ≥ the two before that, ≥ mean of the ten before + threshold, `gap` after the last onset
//! ```
//!
//! The flux is the mean rise of the levels of the bands, in powers of ten: 0.3 if each band doubles. The event is the flux of the
//! onset. It comes 24 to 34 ms after the beginning of the sound: some of a window, ten for the work, and ten to see that the flux falls again.
//!
//! S. Böck, F. Krebs, M. Schedl, "Evaluating the online capabilities of onset detection methods", ISMIR 2012.
//!
//! | | |
//! |---|---|
//! | ports | `in`, one channel; `flux`, a signal; `onsets`, events |
//! | parameters | `threshold` 0 to 3, in powers of ten; `gap` 0.02 to 2 s: shortest time between onsets |
//! | latency | 24 to 34 ms, not compensated: the outputs are no sound |
//! | tail | endless |

use super::flux::FluxJob;
use super::window_tracker::{Listener, WindowTracker, hop};
use crate::param::ParamSpec;
use crate::state;
use graph::{Kind, KindPicture, PortSpec};
use processor::state::StateWords;
use processor::{Event, MakeContext, MakeError, Processor, StateError};

const THRESHOLD: ParamSpec = ParamSpec::new(0, "threshold", (0.0, 3.0), 0.15)
    .doc("Flux of an onset above the mean of those before, in powers of ten.");
const GAP: ParamSpec = ParamSpec::new(1, "gap", (0.02, 2.0), 0.05)
    .unit("s")
    .doc("Shortest time between two onsets.");
/// Fluxes that are looked at: the newest, the one that may be an onset, and twelve before.
const PAST: usize = 14;
/// Those in the mean.
const MEAN: std::ops::Range<usize> = 2..12;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("in")],
        outputs: vec![PortSpec::mono("flux"), PortSpec::events("onsets")],
        params: vec![THRESHOLD.param(), GAP.param()],
        typical_ns: 100,
        duplicable: false,
        picture: KindPicture::Step,
        ..Kind::new(
            "onset_tracker",
            "The beginnings of notes and strokes, some 30 ms later.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let initial = [THRESHOLD.read(creation)?, GAP.read(creation)?];
    let listener = OnsetListener {
        initial,
        params: initial,
        rate: 48_000.0,
        past: [0.0; PAST],
        since: u64::MAX,
    };
    Ok(WindowTracker::make(listener, creation.work_seat()))
}

struct OnsetListener {
    initial: [f64; 2],
    params: [f64; 2],
    rate: f64,
    /// The last fluxes, the newest first.
    past: [f64; PAST],
    /// Hops since the last onset.
    since: u64,
}

impl OnsetListener {
    fn push(&mut self, flux: f64) {
        self.past.rotate_right(1);
        self.past[0] = flux;
        self.since = self.since.saturating_add(1);
    }

    /// True if the flux before the newest is that of an onset.
    fn is_onset(&self) -> bool {
        let [after, here, before, ..] = self.past;
        let is_top = here > before && here >= after && here >= self.past[3] && here >= self.past[4];
        let mean = self.past[MEAN].iter().sum::<f64>() / MEAN.len() as f64;
        let [threshold, gap] = self.params;
        let hop_s = hop(self.rate) as f64 / self.rate;
        // An onset has a rise at least, whatever the threshold is.
        is_top && here >= (mean + threshold).max(0.01) && self.since as f64 * hop_s >= gap
    }
}

impl Listener for OnsetListener {
    type Job = FluxJob;
    const SIGNALS: usize = 1;

    fn job(&mut self, rate: f64) -> FluxJob {
        self.rate = rate;
        FluxJob::new(rate)
    }

    fn take(&mut self, job: &mut FluxJob, _: u64) -> Option<f32> {
        self.push(job.flux);
        if !self.is_onset() {
            return None;
        }
        self.since = 0;
        Some(self.past[1] as f32)
    }

    fn miss(&mut self) {
        // As if it had not changed: no onset begins or ends there.
        self.push(self.past[0]);
    }

    fn signals(&self) -> [f32; 2] {
        [self.past[0] as f32, 0.0]
    }

    fn handle_event(&mut self, event: &Event) {
        let [threshold, gap] = &mut self.params;
        *threshold = THRESHOLD.value_of(event).unwrap_or(*threshold);
        *gap = GAP.value_of(event).unwrap_or(*gap);
    }

    fn reset(&mut self) {
        self.params = self.initial;
        (self.past, self.since) = ([0.0; PAST], u64::MAX);
    }

    fn state_words(&self) -> usize {
        4 + PAST + 1
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let numbers = self.initial.iter().chain(&self.params).chain(&self.past);
        state::put(bytes, numbers.map(|number| number.to_bits()));
        state::put(bytes, [self.since]);
    }

    fn load(&mut self, words: StateWords<'_>) -> Result<(), StateError> {
        let [first, second, threshold, gap] = words.numbers(0)?;
        let past = words.numbers::<PAST>(4)?;
        if [first, second] == self.initial {
            let threshold = threshold.clamp(THRESHOLD.min, THRESHOLD.max);
            self.params = [threshold, gap.clamp(GAP.min, GAP.max)];
        }
        self.past = past.map(|flux| flux.clamp(0.0, 100.0));
        self.since = words.at(4 + PAST);
        Ok(())
    }
}
