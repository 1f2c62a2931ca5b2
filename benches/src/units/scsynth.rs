//! SuperCollider's server, which renders one synth with copies of a unit offline (`scsynth -N`), blocks of 64.
//!
//! A second synth has the same sources and the same sums, with all inputs of the sums at one copy. The difference of the two processes
//! is the time of the other copies; starting, reading and writing count for nothing.

use super::rows::Row;
use super::synthdef::{SynthDef, Value};
use super::{BLOCK, Bench, RATE, children_time, hz, rms};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the copies hear.
pub struct Sources {
    pub noise: Vec<Value>,
    /// A square of 4 Hz from 0 to 1.
    pub gate: Value,
}

/// Adds one copy with a frequency. Returns the outputs that are summed.
pub type AddCopy = fn(&mut SynthDef, &Sources, f32) -> Vec<Value>;

struct ScsynthBench {
    copies: usize,
    folder: PathBuf,
    many: PathBuf,
    one: PathBuf,
}

/// Returns why scsynth cannot be run here, if it cannot.
pub fn refusal() -> Option<String> {
    let run = Command::new("scsynth").arg("-v").output();
    run.err()
        .map(|why| format!("scsynth: {why} (Debian's package supercollider-server)"))
}

/// The copies of `row` in scsynth, which writes its files to `folder`.
pub fn bench(row: &Row, add_copy: AddCopy, folder: &Path) -> Box<dyn Bench> {
    let write = |name: &str, copies| {
        let path = folder.join(format!("{name}.scsyndef"));
        let def = synth(row, add_copy, copies).encode("copies");
        std::fs::write(&path, def).expect("a folder that can be written");
        path
    };
    let name = row.name.replace(|c: char| !c.is_alphanumeric(), "-");
    Box::new(ScsynthBench {
        copies: row.copies,
        folder: folder.into(),
        many: write(&format!("{name}-many"), row.copies),
        one: write(&format!("{name}-one"), 1),
    })
}

/// A synth of `copies` copies, whose sums always have as many inputs as there are copies in `row`.
fn synth(row: &Row, add_copy: AddCopy, copies: usize) -> SynthDef {
    let mut def = SynthDef::default();
    let sources = Sources {
        noise: (0..row.noises)
            .map(|_| def.add("WhiteNoise", &[]))
            .collect(),
        gate: def.add("LFPulse", &[4.0, 0.0, 0.5].map(Value::from)),
    };
    let outputs: Vec<Vec<Value>> = (1..=copies)
        .map(|copy| add_copy(&mut def, &sources, hz(copy)))
        .collect();
    let all = outputs.iter().cycle().take(row.copies).flatten();
    let sum = def.sum(&all.copied().collect::<Vec<_>>());
    def.add_wide("Out", &[0.0.into(), sum], 0);
    def
}

impl ScsynthBench {
    /// Renders `blocks` blocks of a synth. Returns the processor time of the process.
    fn render(&self, def: &Path, blocks: usize) -> f64 {
        let score = self.folder.join("score.osc");
        std::fs::write(&score, encode_score(def, blocks)).expect("a folder that can be written");
        let begin = children_time();
        let output = Command::new("scsynth")
            .args([
                "-o", "1", "-i", "1", "-z", "64", "-w", "1024", "-m", "262144",
            ])
            .args(["-D", "0", "-N"])
            .arg(&score)
            .arg("_")
            .arg(self.sound())
            .args([RATE.to_string().as_str(), "WAV", "float"])
            .stdin(Stdio::null())
            .output()
            .expect("scsynth was found before");
        let time = children_time() - begin;
        let text = String::from_utf8_lossy(&output.stdout);
        let failed = ["FAILURE", "ERROR", "exception", "not installed"];
        let failed = failed.iter().any(|word| text.contains(word));
        assert!(output.status.success() && !failed, "{text}");
        time
    }

    fn sound(&self) -> PathBuf {
        self.folder.join("sound.wav")
    }
}

impl Bench for ScsynthBench {
    fn time(&mut self, blocks: usize) -> f64 {
        let many = self.render(&self.many, blocks);
        (many - self.render(&self.one, blocks)) / (self.copies - 1) as f64
    }

    fn level(&mut self) -> f32 {
        self.render(&self.many, RATE as usize / BLOCK);
        let wav = std::fs::read(self.sound()).expect("scsynth wrote it");
        let data = wav.windows(4).position(|word| word == b"data");
        let data = &wav[data.expect("a WAV file has data") + 8..];
        let sample = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
        rms(data.chunks_exact(4).map(sample))
    }
}

/// A score: load the synth, begin it, and end after `blocks` blocks.
fn encode_score(def: &Path, blocks: usize) -> Vec<u8> {
    let def = def.to_str().expect("a path of letters");
    let seconds = (blocks * BLOCK) as f64 / f64::from(RATE);
    let number = |number: i32| number.to_be_bytes().to_vec();
    let load = message("/d_load", ",s", &[text(def)]);
    let begin = message(
        "/s_new",
        ",siii",
        &[text("copies"), number(1000), number(0), number(0)],
    );
    let end = message("/c_set", ",ii", &[number(0), number(0)]);
    [
        bundle(0.0, &load),
        bundle(0.0, &begin),
        bundle(seconds, &end),
    ]
    .concat()
}

/// A bundle of Open Sound Control with one message, behind its length.
fn bundle(seconds: f64, message: &[u8]) -> Vec<u8> {
    // Seconds in units of 2^-32.
    let time = (seconds * 2f64.powi(32)) as u64;
    let mut bytes = b"#bundle\0".to_vec();
    bytes.extend(time.to_be_bytes());
    bytes.extend((message.len() as i32).to_be_bytes());
    bytes.extend(message);
    [&(bytes.len() as i32).to_be_bytes()[..], &bytes].concat()
}

fn message(address: &str, types: &str, arguments: &[Vec<u8>]) -> Vec<u8> {
    [text(address), text(types), arguments.concat()].concat()
}

/// A text of Open Sound Control: zeros up to a multiple of four bytes, at least one.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((text.len() / 4 + 1) * 4, 0);
    bytes
}
