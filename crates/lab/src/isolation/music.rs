//! The music application: eight parallel blocks, all with the same input, each with an output of its own.

use super::packet::{BLOCKS, CHANNELS, FRAMES, SAMPLES};
use divisi::driver::{AudioCallback, BlockAdapter, CallbackInfo};
use divisi::engine::TransportStart;
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Frames, Mode, SampleRate, Scheduler};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Name of the patch in its folder.
pub(super) const PATCH_FILE: &str = "isolation.pd";
/// The eight blocks as a patch.
pub(super) const PATCH: &str = include_str!("isolation.pd");

/// The session whose node plays [`PATCH`].
const PATCH_SESSION: &str = r#"
edges = [
  "in -> patch.in1",
  "patch.out1 -> out1", "patch.out2 -> out2", "patch.out3 -> out3", "patch.out4 -> out4",
  "patch.out5 -> out5", "patch.out6 -> out6", "patch.out7 -> out7", "patch.out8 -> out8",
]
[nodes]
in = { kind = "input", channels = 1 }
patch = { kind = "pd", file = "isolation.pd", in = 1, out = 8 }
out1 = { kind = "sink" }
out2 = { kind = "sink" }
out3 = { kind = "sink" }
out4 = { kind = "sink" }
out5 = { kind = "sink" }
out6 = { kind = "sink" }
out7 = { kind = "sink" }
out8 = { kind = "sink" }
"#;

/// The eight blocks as a session.
const SESSION: &str = r#"
edges = [
  "in -> ring.in1", "sine -> ring.in2", "ring -> out1",
  "in -> gated.in1", "steps -> shape.notes", "shape -> gated.in2", "gated -> out2",
  "in -> delay -> out3", "in -> chorus -> out4", "in -> flanger -> out5",
  "in -> phaser -> out6", "in -> saturate -> out7", "in -> compressor -> out8",
]
[nodes]
in = { kind = "input", channels = 1 }
sine = { kind = "osc", freq = 440 }
ring = { kind = "multiply" }
steps = { kind = "steps", pattern = "C3 E3 G3 . A3 G3 E3 ." }
shape = { kind = "envelope" }
gated = { kind = "multiply" }
delay = { kind = "delay", time = 0.01 }
chorus = { kind = "chorus" }
flanger = { kind = "flanger" }
phaser = { kind = "phaser" }
saturate = { kind = "saturate" }
compressor = { kind = "compressor" }
out1 = { kind = "sink" }
out2 = { kind = "sink" }
out3 = { kind = "sink" }
out4 = { kind = "sink" }
out5 = { kind = "sink" }
out6 = { kind = "sink" }
out7 = { kind = "sink" }
out8 = { kind = "sink" }
"#;

/// Frames that a patch plays at once.
const PATCH_BLOCK: Frames = Frames(64);

/// Form of the music application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MusicApp {
    /// A session of units.
    Session,
    /// A patch of Pure Data.
    Patch,
}

impl MusicApp {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Session, Self::Patch];

    /// Its name in the table and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Patch => "patch",
        }
    }

    /// The application of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// The application, ready to play.
pub(super) struct Music {
    _engine: Engine,
    callback: EngineCallback,
    /// A patch plays 64 frames at once: then each second packet is answered with what two have brought.
    adapter: BlockAdapter,
    input: Vec<f32>,
    outputs: Vec<Vec<f32>>,
}

impl Music {
    /// Makes the engine. A patch is in `folder`.
    pub(super) fn new(app: MusicApp, folder: &Path) -> io::Result<Self> {
        let registry = Arc::new(divisi::registry());
        let text = match app {
            MusicApp::Session => SESSION,
            MusicApp::Patch => PATCH_SESSION,
        };
        let read = divisi::text::toml::read(text, registry.catalogue());
        if let Some(mistake) = read.diagnostics.iter().find(|found| found.is_error()) {
            return Err(io::Error::other(mistake.message.clone()));
        }
        let rate = SampleRate::new(44_100).expect("it is not zero");
        let packet = Frames(FRAMES as u32);
        let block = match app {
            MusicApp::Session => packet,
            MusicApp::Patch => PATCH_BLOCK,
        };
        let mut options = EngineOptions::new(block, rate);
        options.folder = folder.to_owned();
        options.scheduler = Scheduler::Sequential;
        options.workers = 1;
        options.mode = Mode::Live;
        options.input_channels = 1;
        options.prevent_cpu_sleep = false;
        options.transport = Some(TransportStart {
            position: 0,
            is_rolling: true,
        });
        let made = Engine::new(read.session.graph, registry, options);
        let (engine, callback) = made.map_err(io::Error::other)?;
        Ok(Self {
            _engine: engine,
            callback,
            adapter: BlockAdapter::new(block, packet, 1, BLOCKS as u16),
            input: vec![0.0; FRAMES],
            outputs: vec![vec![0.0; FRAMES]; BLOCKS],
        })
    }

    /// Plays a packet: its first channel feeds all blocks, whose outputs are its first [`BLOCKS`] channels afterwards.
    ///
    /// Real-time: hot.
    pub(super) fn process(&mut self, packet: &mut [u32; SAMPLES]) {
        let samples = self.input.iter_mut().zip(packet.iter());
        samples.for_each(|(sample, word)| *sample = f32::from_bits(*word));
        let mut outputs = self.outputs.iter_mut();
        let mut outputs: [&mut [f32]; BLOCKS] =
            std::array::from_fn(|_| &mut **outputs.next().expect("as many"));
        let callback = &mut self.callback;
        let inputs = [&self.input[..]];
        (self.adapter).exchange(FRAMES, &inputs, &mut outputs, |inputs, outputs| {
            callback.process(CallbackInfo::default(), inputs, outputs);
        });
        let samples = self.outputs.iter().flatten();
        let words = packet.iter_mut().zip(samples);
        words.for_each(|(word, sample)| *word = sample.to_bits());
    }
}

const _: () = assert!(BLOCKS <= CHANNELS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_eight_blocks_answers_the_same_input_in_its_own_way() {
        let name = format!("divisi-lab-isolation-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(PATCH_FILE), PATCH).unwrap();
        for app in MusicApp::ALL {
            let mut music = Music::new(app, &folder).unwrap();
            let mut outputs = vec![Vec::new(); BLOCKS];
            for at in 0..400u32 {
                let mut packet = [0; SAMPLES];
                for (frame, word) in packet[..FRAMES].iter_mut().enumerate() {
                    let phase = (at as usize * FRAMES + frame) as f32 * 0.05;
                    *word = (0.8 * phase.sin()).to_bits();
                }
                music.process(&mut packet);
                for (output, words) in outputs.iter_mut().zip(packet.chunks(FRAMES)) {
                    output.extend_from_slice(words);
                }
            }
            for (at, output) in outputs.iter().enumerate() {
                let peak = output
                    .iter()
                    .map(|it| f32::from_bits(*it).abs())
                    .fold(0.0, f32::max);
                assert!(peak > 0.001 && peak < 10.0, "{app:?} {at}: {peak}");
                assert!(!outputs[..at].contains(output), "{app:?} {at}");
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
