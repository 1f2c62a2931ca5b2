//! Every example that makes sound by itself sounds: it is read without diagnostics, is neither silent nor clipped, and has a usual
//! loudness; a session that ends by itself has its length.

use divisi::prelude::*;
use std::f64::consts::PI;
use std::path::PathBuf;
use std::sync::Arc;

const RATE_HZ: u32 = 48_000;
const BLOCK: usize = 64;

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Two channels of the first `seconds` of an example, and its length if it ends by itself.
fn render(name: &str, seconds: usize) -> ([Vec<f32>; 2], Option<u64>) {
    let bytes = std::fs::read(examples().join(name)).unwrap();
    let registry = Arc::new(divisi::registry());
    let parsed = divisi::text::read_by_extension(name, &bytes, registry.catalogue());
    let source = String::from_utf8(bytes).unwrap();
    let reported = divisi::text::render_diagnostics(name, &source, &parsed.diagnostics);
    assert!(parsed.diagnostics.is_empty(), "{reported}");
    assert!(
        source.starts_with(['#', '/']),
        "{name} says first what it shows"
    );
    let rate = SampleRate::new(RATE_HZ).unwrap();
    let mut options = EngineOptions::new(Frames(BLOCK as u32), rate);
    options.mode = Mode::Offline;
    options.scheduler = Scheduler::Sequential;
    options.folder = examples();
    let engine = Engine::new(parsed.session.graph, registry, options);
    let (engine, mut callback) = engine.unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut sound = [Vec::new(), Vec::new()];
    for _ in 0..seconds * RATE_HZ as usize / BLOCK {
        let (mut left, mut right) = ([0.0; BLOCK], [0.0; BLOCK]);
        callback.process(CallbackInfo::default(), &[], &mut [&mut left, &mut right]);
        sound[0].extend(left);
        sound[1].extend(right);
    }
    (sound, engine.length())
}

/// One biquad over a channel.
fn filtered(samples: &[f64], [b0, b1, b2]: [f64; 3], [a1, a2]: [f64; 2]) -> Vec<f64> {
    let (mut s1, mut s2) = (0.0, 0.0);
    let filter = |x: &f64| {
        let y = b0 * x + s1;
        s1 = b1 * x - a1 * y + s2;
        s2 = b2 * x - a2 * y;
        y
    };
    samples.iter().map(filter).collect()
}

/// Integrated loudness in LUFS, without gates: Rec. ITU-R BS.1770, whose filters are stated for 48 kHz.
fn loudness(sound: &[Vec<f32>; 2]) -> f64 {
    let powers = sound.iter().map(|channel| {
        let samples: Vec<f64> = channel.iter().map(|x| f64::from(*x)).collect();
        let shelf = filtered(
            &samples,
            [1.53512485958697, -2.69169618940638, 1.19839281085285],
            [-1.69065929318241, 0.73248077421585],
        );
        let high = filtered(
            &shelf,
            [1.0, -2.0, 1.0],
            [-1.99004745483398, 0.99007225036621],
        );
        high.iter().map(|x| x * x).sum::<f64>() / high.len().max(1) as f64
    });
    -0.691 + 10.0 * powers.sum::<f64>().log10()
}

/// Asserts that an example sounds, on both sides unless it is mono, and gives its loudness.
fn sounds(name: &str, seconds: usize) -> Option<u64> {
    let (sound, length) = render(name, seconds);
    let all = || sound.iter().flatten();
    assert!(all().all(|x| x.is_finite()), "{name}");
    let peak = all().fold(0.0_f32, |peak, x| peak.max(x.abs()));
    assert!((0.05..0.999).contains(&peak), "{name}: peak {peak}");
    let loudness = loudness(&sound);
    assert!(
        (-36.0..-9.0).contains(&loudness),
        "{name}: {loudness:.1} LUFS, peak {peak}"
    );
    // Nothing stops on the way.
    for (second, part) in sound[0].chunks(2 * RATE_HZ as usize).enumerate() {
        let power: f64 = part.iter().map(|x| f64::from(*x * *x)).sum();
        assert!(power > 0.0, "{name}: silent at {} s", 2 * second);
    }
    let mean = sound[0].iter().map(|x| f64::from(*x)).sum::<f64>() / sound[0].len() as f64;
    assert!(mean.abs() < 0.02, "{name}: an offset of {mean}");
    println!("{name}: {loudness:.1} LUFS, peak {peak:.2}");
    length
}

#[test]
fn a_loudness_is_that_of_the_standard() {
    // A sine of 997 Hz and full scale on one channel: -3.01 LUFS.
    let sine = |n: usize| (2.0 * PI * 997.0 * n as f64 / f64::from(RATE_HZ)).sin() as f32;
    let sound = [(0..2 * RATE_HZ as usize).map(sine).collect(), Vec::new()];
    assert!(
        (loudness(&sound) + 3.01).abs() < 0.02,
        "{}",
        loudness(&sound)
    );
}

#[test]
fn the_beep_sounds_until_it_is_stopped() {
    assert_eq!(sounds("01-beep.ag", 4), None);
}

#[test]
fn the_session_of_64_tracks_sounds() {
    sounds("05-session-64.toml", 8);
}

#[test]
fn the_poly_synth_plays_its_midi_file() {
    sounds("07-poly-synth.toml", 20);
}

#[test]
fn the_drum_machine_sounds() {
    sounds("08-drum-machine.toml", 10);
}

#[test]
fn the_generative_piece_sounds() {
    sounds("09-generative.toml", 30);
}
