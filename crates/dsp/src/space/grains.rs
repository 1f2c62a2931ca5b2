//! `grains`: a granular player: many short pieces of a sound file at once.
//!
//! ```text
//! each 1 / density s a grain begins, (r - 1/2) jitter / density s off        r: random, from 0 to 1, another for each use
//! it begins at position × length of the file + (r - 1/2) spread, and takes size seconds
//! y = Σ w(age / size) × file[begin + age × 2^(pitch / 12)] / √(max(1, density × size))        w(x) = sin²(π x)
//! ```
//!
//! Curtis Roads, *Microsound* (2001), chapter 3. A grain keeps the size and the pitch that it began with. The file is read on the
//! cubic through four frames; what lies outside it is silent. 64 grains sound at most: one more is left out. The file is
//! converted to the rate of the graph and held in memory: 15 minutes of two channels at 48 kHz at most.
//!
//! | | |
//! |---|---|
//! | ports | `out`, as wide as `channels` says; a file of one channel plays on all |
//! | parameters | `position` 0 to 1, `size` 0.002 to 2 s, `density` 0 to 1000 grains a second, `pitch` ±48 semitones, `spread` 0 to 60 s, `jitter` 0 to 1; `file`, `seed`, `channels` |
//! | latency | none |
//! | length | endless |
//! | driven | all live ones at audio rate |

use crate::generators::sine::sine;
use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, cubic};
use crate::param::ParamSpec;
use crate::sample::to_sample;
use graph::{Kind, KindPicture, Param, PortSpec, error_chain};
use media::Sound;
use processor::{FileProblem, MakeContext, MakeError, Processor, SetupServices, Tail};
use std::path::PathBuf;
use std::sync::Arc;
use units::{SampleRate, SplitMix64};

const POSITION: ParamSpec = ParamSpec::new(0, "position", (0.0, 1.0), 0.0)
    .doc("Where in the file grains begin: 0 its begin, 1 its end.")
    .audio_rate();
const SIZE: ParamSpec = ParamSpec::new(1, "size", (0.002, 2.0), 0.1)
    .unit("s")
    .doc("Duration of a grain.")
    .audio_rate();
const DENSITY: ParamSpec = ParamSpec::new(2, "density", (0.0, 1000.0), 20.0)
    .unit("Hz")
    .doc("Grains that begin in a second.")
    .audio_rate();
const PITCH: ParamSpec = ParamSpec::new(3, "pitch", (-48.0, 48.0), 0.0)
    .unit("semitones")
    .doc("Shift of a grain's pitch.")
    .audio_rate();
const SPREAD: ParamSpec = ParamSpec::new(4, "spread", (0.0, 60.0), 0.0)
    .unit("s")
    .doc("Width of the range around the position in which grains begin by chance.")
    .audio_rate();
const JITTER: ParamSpec = ParamSpec::new(5, "jitter", (0.0, 1.0), 0.0)
    .doc("Chance in the time between grains: 0 a steady pulse, 1 none.")
    .audio_rate();

/// Grains at once.
const GRAINS: usize = 64;
/// Farthest place that is looked for, in frames.
const MAX_PLACE: f64 = 1e15;
/// Largest file, in samples of all channels.
const MAX_SAMPLES: u64 = 86_400_000;

// Counts of the memory: the phase between two grains in units of 2^-64, the number of grains so far, and for each grain its age
// and its length in frames; a length of 0 is no grain. Numbers: for each grain its begin in the file and its step, in frames.
const FIRST_GRAIN: usize = 2;

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Grains::PARAMS.iter().map(ParamSpec::param).collect();
    params.extend([
        Param::file("file", true).doc("A WAV, AIFF or FLAC file, from the session's folder."),
        Param::number("seed", (0.0, 4_294_967_295.0), 0.0)
            .doc("Another number gives other chances."),
        Param::number("channels", (1.0, 256.0), 1.0)
            .doc("Channels of the output; without it those of the file."),
    ]);
    Kind {
        outputs: vec![PortSpec::audio("out")],
        params,
        typical_ns: 3000,
        duplicable: false,
        picture: KindPicture::Note,
        ..Kind::new("grains", "A granular player of a sound file.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let Some(file) = creation.node.text("file").filter(|file| !file.is_empty()) else {
        return Err(MakeError::param("file", "`grains` needs `file`"));
    };
    let path = creation.folder.join(file);
    // Read in `setup`, when the rate is known; but errors are reported now.
    let opened = media::open(&path);
    let opened = opened.map_err(|error| MakeError::param("file", error_chain(&error)))?;
    let samples = opened.frames().unwrap_or(0) * opened.channels().count() as u64;
    if samples > MAX_SAMPLES {
        let message = format!("{file} has {samples} samples; `grains` holds {MAX_SAMPLES} at most");
        return Err(MakeError::param("file", message));
    }
    let kernel = Grains {
        path,
        seed: SplitMix64::mix(creation.number("seed")? as u64),
        rate: 0.0,
        sound: None,
        problem: None,
    };
    KernelNode::make(creation, kernel)
}

struct Grains {
    path: PathBuf,
    seed: u64,
    rate: f64,
    sound: Option<Arc<Sound>>,
    /// What was wrong with the file when it was read.
    problem: Option<String>,
}

#[derive(Clone, Copy)]
struct GrainValues {
    position: f64,
    /// In frames.
    size: u64,
    /// Grains a frame, in units of 2^-64.
    density: u64,
    /// Frames of the file a frame.
    step: f64,
    /// In frames.
    spread: f64,
    jitter: f64,
    level: f64,
}

impl Grains {
    /// A number from 0 to 1: the `use_of`th of grain `number`.
    fn chance(&self, number: u64, use_of: u64) -> f64 {
        SplitMix64(self.seed ^ SplitMix64::mix(number.wrapping_mul(2).wrapping_add(use_of))).unit()
    }

    /// Begins grain `number` at the first place that is free, and returns the number of places up to it.
    fn begin(&self, memory: &mut Memory, number: u64, values: &GrainValues, frames: f64) -> usize {
        let Some(grain) = (0..GRAINS).find(|grain| is_free(memory, *grain)) else {
            return 0;
        };
        let off = (self.chance(number, 0) - 0.5) * values.spread;
        memory.numbers[2 * grain] = values.position * frames + off;
        memory.numbers[2 * grain + 1] = values.step;
        memory.counts[FIRST_GRAIN + 2 * grain] = 0;
        memory.counts[FIRST_GRAIN + 2 * grain + 1] = values.size;
        grain + 1
    }

    /// Begins the grain that is due in this frame, and returns the number of places up to it, or 0.
    #[inline(always)]
    fn begin_due(&self, memory: &mut Memory, values: &GrainValues, sound: &Sound) -> usize {
        let before = memory.counts[0];
        let number = memory.counts[1];
        memory.counts[0] = before.wrapping_add(values.density);
        // A grain begins where the phase passes a place in its cycle, that of the middle without chance.
        let off = (self.chance(number, 1) - 0.5) * values.jitter;
        let place = ((0.5 + off).clamp(0.0, 1.0 - 1e-9) * 2f64.powi(64)) as u64;
        let (passed, wrapped) = (memory.counts[0], memory.counts[0] < before);
        if wrapped {
            memory.counts[1] = number.wrapping_add(1);
        }
        match before <= place && (place < passed || wrapped) {
            true => self.begin(memory, number, values, sound.frames() as f64),
            false => 0,
        }
    }
}

fn is_free(memory: &Memory, grain: usize) -> bool {
    memory.counts[FIRST_GRAIN + 2 * grain + 1] == 0
}

/// The value of `samples` at a place between frames; silence outside.
#[inline(always)]
fn read(samples: &[f32], place: f64) -> f64 {
    // A saved place may be any.
    let place = place.clamp(-MAX_PLACE, MAX_PLACE);
    let whole = libm::floor(place);
    let first = whole as i64;
    let at = |i: i64| {
        let sample = usize::try_from(first.saturating_add(i))
            .ok()
            .and_then(|i| samples.get(i));
        f64::from(sample.copied().unwrap_or(0.0))
    };
    cubic([at(-1), at(0), at(1), at(2)], place - whole)
}

impl UnitKernel for Grains {
    type Values = GrainValues;
    const PARAMS: &'static [ParamSpec] = &[POSITION, SIZE, DENSITY, PITCH, SPREAD, JITTER];
    const LINKED: bool = true;
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        let loaded = SampleRate::new(rate as u32).map(|rate| {
            // A file at a lower rate has more frames here.
            Sound::load(&self.path, rate, 8 * MAX_SAMPLES)
        });
        (self.sound, self.problem) = match loaded {
            Some(Ok(Some(sound))) => {
                let damage = sound.damage().map(str::to_owned);
                (Some(sound), damage)
            }
            Some(Ok(None)) => (None, Some("it is too long to be held in memory".into())),
            Some(Err(error)) => (None, Some(error_chain(&error))),
            None => (None, None),
        };
        MemorySize {
            numbers: 2 * GRAINS,
            counts: FIRST_GRAIN + 2 * GRAINS,
            line: 0,
        }
    }

    fn values(&self, params: &[f64]) -> GrainValues {
        let overlap = (params[1] * params[2]).max(1.0);
        GrainValues {
            position: params[0],
            size: (params[1] * self.rate + 0.5) as u64,
            density: ((params[2] / self.rate).min(0.5) * 2f64.powi(64)) as u64,
            step: libm::exp2(params[3] / 12.0),
            spread: params[4] * self.rate,
            jitter: params[5],
            level: 1.0 / overlap.sqrt(),
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, GrainValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let channels = io.output(0).len();
        for c in 0..channels {
            io.output(0)[c][..values.len()].fill(0.0);
        }
        let Some(sound) = &self.sound else {
            return;
        };
        let width = sound.channels().count();
        let last = (0..GRAINS).rev().find(|grain| !is_free(memory, *grain));
        let mut places = last.map_or(0, |last| last + 1);
        for (i, values) in values.iter().enumerate() {
            places = places.max(self.begin_due(memory, values, sound));
            for grain in 0..places {
                let [age, length] = [0, 1].map(|k| memory.counts[FIRST_GRAIN + 2 * grain + k]);
                if age >= length {
                    memory.counts[FIRST_GRAIN + 2 * grain + 1] = 0;
                    continue;
                }
                memory.counts[FIRST_GRAIN + 2 * grain] = age + 1;
                let share = (age as f64 + 0.5) / length as f64;
                let weight = f64::from(sine((share * 2f64.powi(31)) as u32)).powi(2);
                let place = memory.numbers[2 * grain] + age as f64 * memory.numbers[2 * grain + 1];
                for c in 0..channels {
                    let from = if width == 1 { 0 } else { c };
                    if from < width {
                        let sum = f64::from(io.output(0)[c][i]);
                        let y = weight * values.level * read(sound.channel(from), place);
                        io.output(0)[c][i] = to_sample(sum + y);
                    }
                }
            }
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Infinite
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        if let Some(problem) = self.problem.take() {
            services.file_log().report(FileProblem::Damaged(problem));
        }
    }
}
