//! `osc`: an oscillator with a sine, or a band-limited saw, square or triangle.
//!
//! ```text
//! y = volume × wave(phase)        phase += freq / rate, a fraction of a cycle in 64 bits
//! ```
//!
//! The steps of saw and square and the corners of the triangle are band-limited by adding a polynomial residual over six
//! samples (`residual.rs`; the *polyBLEP* method): Välimäki, Pekonen and Nam, "Perceptually informed synthesis of
//! bandlimited classical waveforms using integrated polynomial interpolation", *J. Acoust. Soc. Am.* 131 (2012). Below
//! 10 kHz, aliases of a saw or square of 5 kHz lie more than 90 dB below its fundamental (at 48 kHz); near half the rate,
//! those of a 2.5 kHz saw lie 46 dB below. The spectrum droops by 0.2 dB at 5 kHz and 1.4 dB at 10 kHz. The phase says
//! where the next edge is, so no sample waits for it: there is no latency.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, one channel, within ±1.08 times `volume`: band-limited edges overshoot |
//! | parameters | `freq` in Hz, held below half the rate (a change keeps the phase); `volume`, a factor (changes in a ramp of 5 ms); `wave`; `phase` in cycles |
//! | latency | none |
//! | tail | endless |
//! | driven | `freq` and `volume` at audio rate. While a driven one is 0 it is silent and its phase stands still; it sleeps if what drives it is silent |

mod driven;

use crate::generators::driven::is_driven;
use crate::generators::residual::Edges;
use crate::generators::sine::{Phase, sine};
use crate::param::ParamSpec;
use crate::smoother::Smoother;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use driven::DrivenOsc;
use graph::{Kind, Param, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use rt::vectors::{Wide, WideWork};
use units::SampleRate;

const WAVES: &[&str] = &["sine", "saw", "square", "triangle"];

pub(crate) const FREQ: ParamSpec = ParamSpec::new(0, "freq", (0.0, 384_000.0), f64::NAN)
    .unit("Hz")
    .doc("Frequency; held below half the sample rate.");

pub(crate) const VOLUME: ParamSpec =
    ParamSpec::new(1, "volume", (-100.0, 100.0), 1.0).doc("Peak level, as a factor.");

pub(crate) fn kind() -> Kind {
    let phase = "Phase at the start.";
    Kind {
        outputs: vec![PortSpec::mono("out")],
        params: vec![
            FREQ.audio_rate().param(),
            VOLUME.audio_rate().param(),
            Param::choice("wave", WAVES).doc("Waveform."),
            Param::number("phase", (-1.0, 1.0), 0.0)
                .unit("cycles")
                .doc(phase),
        ],
        typical_ns: 80,
        ..Kind::new("osc", "A sine, or a band-limited saw, square or triangle.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let wave = match creation.choice("wave")? {
        0 => Wave::Sine,
        1 => Wave::Saw,
        2 => Wave::Square,
        _ => Wave::Triangle,
    };
    let core = OscillatorCore::new(creation, creation.number("phase")?)?;
    let wide = Wide::best();
    match is_driven(creation) {
        true => Ok(Box::new(DrivenOsc { wave, core, wide })),
        false => Ok(Box::new(Osc { wave, core, wide })),
    }
}

/// A running phase and a volume with their parameters: what the oscillator and the ring modulator share.
#[derive(Clone)]
pub(crate) struct OscillatorCore {
    initial: (f64, f64),
    hz: f64,
    pub(crate) rate: Option<SampleRate>,
    pub(crate) phase: Phase,
    pub(crate) volume: Smoother,
}

impl OscillatorCore {
    pub(crate) fn new(creation: &MakeContext<'_>, phase: f64) -> Result<Self, MakeError> {
        let hz = FREQ.read(creation)?;
        Ok(Self {
            initial: (hz, phase),
            hz,
            rate: None,
            phase: Phase::at(phase),
            volume: Smoother::new(VOLUME.read(creation)? as f32),
        })
    }

    pub(crate) fn setup(&mut self, rate: SampleRate) {
        self.rate = Some(rate);
        self.volume.setup(rate);
        self.reset();
    }

    /// Becomes as new.
    ///
    /// Real-time: hot.
    pub(crate) fn reset(&mut self) {
        self.volume.reset();
        self.phase = Phase::at(self.initial.1);
        self.set_frequency(self.initial.0);
    }

    /// Handles a change of `freq` or `volume`.
    ///
    /// Real-time: hot.
    pub(crate) fn handle_event(&mut self, event: &processor::Event) {
        if let Some(hz) = FREQ.value_of(event) {
            self.set_frequency(hz);
        }
        if let Some(volume) = VOLUME.value_of(event) {
            self.volume.follow(event, volume as f32);
        }
    }

    fn set_frequency(&mut self, hz: f64) {
        self.hz = hz;
        if let Some(rate) = self.rate {
            self.phase.set_frequency(hz, rate);
        }
    }

    pub(crate) fn save(&self, bytes: &mut Vec<u8>) {
        let hz = [self.initial.0.to_bits(), self.hz.to_bits()];
        state::put(bytes, hz.into_iter().chain([self.phase.at]));
        state::put(bytes, self.volume.state_words());
    }

    pub(crate) fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 3 + Smoother::STATE_WORDS)?;
        let (initial, hz) = (words.number(0)?, words.number(1)?);
        self.volume.load(words.from(3))?;
        self.phase.at = words.at(2);
        if initial == self.initial.0 {
            self.set_frequency(hz);
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Wave {
    Sine,
    Saw,
    Square,
    Triangle,
}

#[derive(Clone)]
struct Osc {
    wave: Wave,
    core: OscillatorCore,
    wide: Wide,
}

/// Frames of an oscillator.
struct OscWork<'a> {
    osc: &'a mut Osc,
    out: &'a mut [f32],
}

impl WideWork for OscWork<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.osc.generate(self.out);
    }
}

impl Osc {
    #[inline(always)]
    fn generate(&mut self, out: &mut [f32]) {
        let phase = &mut self.core.phase;
        // In units of 2^-32 cycles; with a frequency of 0 every edge is as far away as can be.
        let edges = Edges::new(phase.step.max(1 << 32) as f32 / 4_294_967_296.0);
        // One loop for each wave, so that each runs in vectors.
        match (self.wave, edges.is_crowded()) {
            (Wave::Sine, _) => fill(out, phase, sine),
            (Wave::Saw, false) if phase.step <= MAX_SPARSE_STEP => sparse_saw(phase, edges, out),
            (Wave::Saw, false) => fill(out, phase, |at| saw::<false>(at, edges)),
            (Wave::Saw, true) => fill(out, phase, |at| saw::<true>(at, edges)),
            (Wave::Square, false) => fill(out, phase, |at| square::<false>(at, edges)),
            (Wave::Square, true) => fill(out, phase, |at| square::<true>(at, edges)),
            (Wave::Triangle, false) => fill(out, phase, |at| triangle::<false>(at, edges)),
            (Wave::Triangle, true) => fill(out, phase, |at| triangle::<true>(at, edges)),
        }
        self.core.volume.apply_to_clean(out);
    }
}

/// Largest step for which a saw looks for its falls: a 16th of a cycle a frame.
const MAX_SPARSE_STEP: u64 = 1 << 60;

/// A saw of a low frequency: straight lines, and [`saw`] only for the frames around a fall, where it differs.
fn sparse_saw(phase: &mut Phase, edges: Edges, out: &mut [f32]) {
    let first = *phase;
    for y in out.iter_mut() {
        *y = line(phase.next());
    }
    // Frames that are less than three steps away from phase 0, and one more for the rounding.
    let near = first.step.max(1 << 32) * 4;
    let mut at = 0;
    while let Some(rest) = out.get_mut(at..).filter(|rest| !rest.is_empty()) {
        let mut here = first;
        here.skip(at);
        let to_window = here.at.wrapping_neg().saturating_sub(near);
        if here.at >= near && to_window > 0 {
            // In the middle of a line.
            at += (to_window / first.step.max(1)).clamp(1, out.len() as u64) as usize;
            continue;
        }
        rest[0] = saw::<false>(here.next(), edges);
        at += 1;
    }
}

/// [`saw`] far from its falls.
#[inline(always)]
fn line(phase: u32) -> f32 {
    phase as f32 * (2.0 * PER_CYCLE) - 1.0
}

#[inline(always)]
fn fill(out: &mut [f32], phase: &mut Phase, wave: impl Fn(u32) -> f32) {
    out.iter_mut().for_each(|y| *y = wave(phase.next()));
}

const PER_CYCLE: f32 = 1.0 / 4_294_967_296.0;

/// Rises from -1 to 1, and falls at phase 0.
#[inline(always)]
fn saw<const CROWDED: bool>(phase: u32, edges: Edges) -> f32 {
    line(phase) - 2.0 * edges.step::<CROWDED>(phase)
}

/// 1 in the first half, -1 in the second.
#[inline(always)]
fn square<const CROWDED: bool>(phase: u32, edges: Edges) -> f32 {
    let half = phase.wrapping_add(1 << 31);
    let plain = if phase < 1 << 31 { 1.0 } else { -1.0 };
    plain + 2.0 * (edges.step::<CROWDED>(phase) - edges.step::<CROWDED>(half))
}

/// From 0 up to 1 at a quarter of the cycle, and down to -1 at three quarters, as a sine.
#[inline(always)]
fn triangle<const CROWDED: bool>(phase: u32, edges: Edges) -> f32 {
    let p = phase as i32;
    let folded = if (p ^ (p << 1)) < 0 {
        i32::MIN.wrapping_sub(p)
    } else {
        p
    };
    let plain = folded as f32 * (4.0 * PER_CYCLE);
    let top = edges.corner::<CROWDED>(phase.wrapping_sub(1 << 30));
    let low = edges.corner::<CROWDED>(phase.wrapping_sub(3 << 30));
    plain + 8.0 * edges.cycles() * (low - top)
}

impl Processor for Osc {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.core.setup(setup.rate);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.core.handle_event(&event),
                BlockStep::Process(range) => self.wide.run(OscWork {
                    osc: self,
                    out: &mut block.output(0).channel(0)[range],
                }),
                BlockStep::Cleanup => {}
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.core.reset();
    }

    fn tail(&self) -> processor::Tail {
        processor::Tail::Infinite
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.core.save(bytes);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        self.core.load(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saw_of_lines_has_the_bits_of_a_saw() {
        let rate = SampleRate::new(48_000).unwrap();
        for (i, hz) in [0.0, 1e-9, 0.3, 55.0, 440.1, 2000.7, 2999.9]
            .into_iter()
            .enumerate()
        {
            let mut phase = Phase::at(0.13 * i as f64);
            phase.set_frequency(hz, rate);
            let edges = Edges::new(phase.step.max(1 << 32) as f32 / 4_294_967_296.0);
            assert!(phase.step <= MAX_SPARSE_STEP);
            let mut plain = phase;
            for frames in [1, 7, 64, 33].repeat(60) {
                let mut out = vec![0.0; frames];
                sparse_saw(&mut phase, edges, &mut out);
                for y in out {
                    assert_eq!(
                        y.to_bits(),
                        saw::<false>(plain.next(), edges).to_bits(),
                        "{hz}"
                    );
                }
            }
            assert_eq!(phase, plain);
        }
    }
}
