//! The sampler against the samples that it plays.

use crate::kit::*;
use processor::{Event, EventBody, EventTarget};
use std::f64::consts::TAU;

pub(crate) fn midi(frame: u32, bytes: [u8; 3]) -> Event {
    Event {
        frame,
        target: EventTarget::Input(0),
        body: EventBody::Midi(bytes),
    }
}

/// A folder of sounds and an SFZ file, removed when dropped.
pub(crate) struct Instrument(std::path::PathBuf);

impl Instrument {
    pub(crate) fn new(name: &str) -> Self {
        let folder = format!("divisi-sampler-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&path).expect("the folder for temporary files can be written");
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("the folder is ours");
        path.to_str().expect("a path of letters").into()
    }
}

impl Drop for Instrument {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn heard(
    file: &str,
    params: &[(&str, graph::ParamValue)],
    events: &[Event],
) -> Vec<f32> {
    let params = [&[("file", word(file))], params].concat();
    play(&mut bench("sampler", &params), &[], events).swap_remove(0)
}

#[test]
fn a_note_at_the_root_is_the_sample_and_an_octave_above_twice_as_fast() {
    let here = Instrument::new("root");
    let sound = noise(4, 20_000);
    let file = here.write("noise.wav", &wav(&sound));
    let out = heard(
        &file,
        &[("root", number(69.0))],
        &[midi(100, [0x90, 69, 127])],
    );
    assert!(out[..100].iter().all(|x| *x == 0.0));
    assert_eq!(&out[100..20_100], &sound[..]);
    assert!(out[20_100..].iter().all(|x| *x == 0.0));
    // Half the velocity is 12 dB less. Below 10 kHz the copy for the octave is the sample.
    let sound = sine(3000.0, 0.5, 20_000);
    let file = here.write("sine.wav", &wav(&sound));
    let out = heard(&file, &[("root", number(69.0))], &[midi(0, [0x90, 81, 64])]);
    let level = (64.0f64 / 127.0).powi(2);
    for k in 100..9900 {
        near(f64::from(out[k]), level * f64::from(sound[2 * k]), 2e-6);
    }
    assert!(out[10_000..].iter().all(|x| *x == 0.0));
}

#[test]
fn a_sampled_sine_has_the_frequency_of_its_key_and_follows_the_wheel() {
    let here = Instrument::new("sine");
    let file = here.write("sine.wav", &wav(&sine(440.0, 0.5, 4 * RATE)));
    let params = [
        ("root", number(69.0)),
        ("loop", graph::ParamValue::Flag(true)),
    ];
    for (key, wheel, hz) in [
        (69, 64, 440.0),
        (76, 64, 659.255),
        (57, 64, 220.0),
        (69, 0, 391.995),
    ] {
        let notes = [midi(0, [0xe0, 0, wheel]), midi(0, [0x90, key, 127])];
        let out = heard(&file, &params, &notes);
        near(sine_db(&out[4800..], hz), db(0.5), 0.2);
    }
}

#[test]
fn zones_loops_turns_and_groups_of_an_sfz_file_are_played() {
    let here = Instrument::new("sfz");
    for (name, level) in [("a.wav", 0.1), ("b.wav", 0.2), ("c.wav", 0.4)] {
        here.write(name, &wav(&vec![level; 4800]));
    }
    let mut ramp: Vec<f32> = (0..2000).map(|n| n as f32 / 2000.0).collect();
    ramp.resize(2400, -0.5);
    here.write("ramp.wav", &wav(&ramp));
    let text = "<global> amp_veltrack=0 ampeg_release=0
<region> sample=a.wav key=60 seq_length=2 seq_position=1 loop_mode=one_shot
<region> sample=b.wav key=60 seq_length=2 seq_position=2 loop_mode=one_shot
<region> sample=c.wav key=61 group=1 off_by=2 loop_mode=one_shot
<region> sample=a.wav key=62 group=2 volume=-20 pan=-100
<region> sample=ramp.wav key=63 loop_mode=loop_sustain loop_start=1000 loop_end=1999
<region> sample=b.wav key=64 lovel=1 hivel=63
<region> sample=c.wav key=64 lovel=64
<region> sample=c.wav key=66 group=2 end=-1";
    let file = here.write("kit.sfz", text.as_bytes());
    let note = |frame, key| midi(frame, [0x90, key, 100]);
    let at = |out: &[f32], frame: usize| f64::from(out[frame]);

    let turns = heard(
        &file,
        &[],
        &[note(0, 60), note(10_000, 60), note(20_000, 60)],
    );
    near(at(&turns, 100), 0.1, 1e-6);
    near(at(&turns, 10_100), 0.2, 1e-6);
    near(at(&turns, 20_100), 0.1, 1e-6);

    let group = heard(&file, &[], &[note(0, 61), note(1000, 62)]);
    near(at(&group, 999), 0.4, 1e-6);
    near(at(&group, 2000), 0.01, 1e-4);

    // A zone without an end is silent, and ends the voices of its group.
    let silent = heard(&file, &[], &[note(0, 61), note(1000, 66)]);
    near(at(&silent, 999), 0.4, 1e-6);
    assert!(silent[2000..].iter().all(|x| *x == 0.0));

    let looped = heard(&file, &[], &[note(0, 63), midi(5500, [0x80, 63, 0])]);
    for frame in [1500, 2500, 3500, 4500, 5499] {
        near(
            at(&looped, frame),
            (1000 + frame % 1000) as f64 / 2000.0,
            1e-3,
        );
    }

    for (velocity, level) in [(10, 0.2), (63, 0.2), (64, 0.4), (127, 0.4)] {
        let out = heard(&file, &[], &[midi(0, [0x90, 64, velocity])]);
        near(at(&out, 100), level, 1e-6);
    }
    assert!(heard(&file, &[], &[note(0, 65)]).iter().all(|x| *x == 0.0));
}

#[test]
fn a_pedal_holds_notes_and_too_many_voices_end_the_oldest() {
    let here = Instrument::new("pedal");
    let file = here.write("one.wav", &wav(&vec![0.25; RATE]));
    let params = [
        ("release", number(0.001)),
        ("loop", graph::ParamValue::Flag(true)),
    ];
    let events = [
        midi(0, [0xb0, 64, 127]),
        midi(0, [0x90, 60, 127]),
        midi(1000, [0x80, 60, 0]),
        midi(20_000, [0xb0, 64, 0]),
    ];
    let out = heard(&file, &params, &events);
    assert_eq!(out[19_999], 0.25);
    assert!(out[21_000..].iter().all(|x| *x == 0.0));

    let two = [&params[..], &[("voices", number(2.0))]].concat();
    let notes = [60, 61, 62].map(|key| midi(1000 * u32::from(key - 59), [0x90, key, 127]));
    let out = heard(&file, &two, &notes);
    assert_eq!(out[2500], 0.5);
    near(f64::from(out[RATE - 1]), 0.5, 1e-6);
}

#[test]
fn zones_fade_into_each_other_by_key_and_velocity() {
    let here = Instrument::new("fades");
    here.write("a.wav", &wav(&vec![0.1; 4800]));
    here.write("b.wav", &wav(&vec![0.2; 4800]));
    here.write(
        "more.sfz",
        b"<region> sample=a.wav xfout_lovel=$LOW xfout_hivel=80\n<region> sample=b.wav xfin_lovel=$LOW xfin_hivel=80",
    );
    let text = "#define $LOW 40\n<global> amp_veltrack=0 pitch_keytrack=0
<group> lokey=60 hikey=60 #include \"more.sfz\"
<group> key=61 xf_velcurve=gain #include \"./more.sfz\"
<group> lokey=70 hikey=90 xf_keycurve=gain
<region> sample=a.wav xfout_lokey=75 xfout_hikey=85 <region> sample=b.wav xfin_lokey=75 xfin_hikey=85";
    let file = here.write("fades.sfz", text.as_bytes());
    let level =
        |key, velocity| f64::from(heard(&file, &[], &[midi(0, [0x90, key, velocity])])[1000]);
    for velocity in [1u8, 39, 40, 50, 60, 70, 80, 127] {
        let share = ((f64::from(velocity) - 40.0) / 40.0).clamp(0.0, 1.0);
        near(level(61, velocity), 0.1 * (1.0 - share) + 0.2 * share, 1e-6);
        let power = 0.1 * (1.0 - share).sqrt() + 0.2 * share.sqrt();
        near(level(60, velocity), power, 1e-6);
    }
    for key in [70u8, 75, 77, 80, 85, 90] {
        let share = ((f64::from(key) - 75.0) / 10.0).clamp(0.0, 1.0);
        near(level(key, 100), 0.1 * (1.0 - share) + 0.2 * share, 1e-6);
    }
}

#[test]
fn the_end_of_a_note_plays_its_sample_when_the_pedal_lets_it() {
    let here = Instrument::new("release");
    here.write("a.wav", &wav(&vec![0.5; RATE]));
    here.write("r.wav", &wav(&vec![0.125; 2400]));
    here.write("k.wav", &wav(&vec![0.25; 2400]));
    let text = "<global> amp_veltrack=0 pitch_keytrack=0 ampeg_release=0
<region> sample=a.wav key=60 <region> sample=r.wav key=60 trigger=release loop_mode=loop_continuous
<region> sample=a.wav key=61 <region> sample=k.wav key=61 trigger=release_key
<region> sample=a.wav key=62 <region> sample=r.wav key=62 trigger=release rt_decay=20";
    let file = here.write("release.sfz", text.as_bytes());
    let (on, off) = (
        |frame, key| midi(frame, [0x90, key, 100]),
        |frame, key| midi(frame, [0x80, key, 0]),
    );
    let pedal = |frame, value| midi(frame, [0xb0, 64, value]);
    let at = |out: &[f32], frame: usize| f64::from(out[frame]);

    let out = heard(&file, &[], &[on(0, 60), off(5000, 60)]);
    near(at(&out, 4999), 0.5, 1e-6);
    near(at(&out, 7000), 0.125, 1e-4);
    assert!(out[7500..].iter().all(|x| *x == 0.0), "it is not repeated");

    let held = [pedal(0, 127), on(10, 60), off(1000, 60), pedal(9000, 0)];
    let out = heard(&file, &[], &held);
    near(at(&out, 8999), 0.5, 1e-6);
    near(at(&out, 11_000), 0.125, 1e-4);

    let held = [pedal(0, 127), on(10, 61), off(1000, 61), pedal(9000, 0)];
    let out = heard(&file, &[], &held);
    near(at(&out, 2000), 0.75, 1e-6);
    near(at(&out, 5000), 0.5, 1e-6);
    assert!(out[12_000..].iter().all(|x| *x == 0.0));

    // 10 dB in half a second, and nothing where all sound ends.
    let out = heard(&file, &[], &[on(0, 62), off(24_000, 62)]);
    near(at(&out, 26_000), 0.125 * 10f64.powf(-0.5), 1e-4);
    let out = heard(
        &file,
        &[],
        &[on(0, 62), midi(1000, [0xb0, 120, 0]), off(4000, 62)],
    );
    assert!(out[4000..].iter().all(|x| *x == 0.0));
}

#[test]
fn the_filter_of_a_zone_has_the_response_of_its_formula() {
    let here = Instrument::new("filter");
    let mut click = impulse(4800);
    click[0] = 0.5;
    here.write("click.wav", &wav(&click));
    let zone = |key: u8, more: &str| {
        format!("<region> sample=click.wav lokey={key} hikey={key} pitch_keytrack=0 {more}\n")
    };
    let text = "<global> amp_veltrack=0\n".to_owned()
        + &zone(60, "cutoff=1000")
        + &zone(61, "cutoff=2000 fil_type=hpf_2p resonance=12")
        + &zone(62, "cutoff=3000 fil_type=bpf_2p resonance=6")
        + &zone(63, "cutoff=500 fil_type=brf_2p")
        + &zone(84, "cutoff=500 fil_keytrack=100 fil_veltrack=1200")
        + &zone(65, "cutoff=400 fil_keytrack=50 fil_keycenter=53")
        + &zone(66, "cutoff=700 fil_type=lpf_1p resonance=20")
        + &zone(67, "cutoff=700 fil_type=hpf_1p")
        + &zone(68, "cutoff=1500 fil_type=lpf_4p resonance=9")
        + &zone(69, "cutoff=1500 fil_type=hpf_4p")
        + &zone(70, "cutoff=1200 fil_type=lpf_6p resonance=3")
        + &zone(71, "cutoff=1200 fil_type=hpf_6p");
    let file = here.write("filter.sfz", text.as_bytes());
    let (low, high, band, notch) = (0, 1, 2, 3);
    let (low_one, high_one, low_four, high_four) = (4, 5, 6, 7);
    let (low_six, high_six) = (8, 9);
    for (key, velocity, kind, cutoff, resonance_db) in [
        (60, 100, low, 1000.0, 0.0),
        (61, 100, high, 2000.0, 12.0),
        (62, 100, band, 3000.0, 6.0),
        (63, 100, notch, 500.0, 0.0),
        (84, 127, low, 4000.0, 0.0),
        (65, 100, low, 400.0 * 2f64.sqrt(), 0.0),
        (66, 100, low_one, 700.0, 20.0),
        (67, 100, high_one, 700.0, 0.0),
        (68, 100, low_four, 1500.0, 9.0),
        (69, 100, high_four, 1500.0, 0.0),
        (70, 100, low_six, 1200.0, 3.0),
        (71, 100, high_six, 1200.0, 0.0),
    ] {
        let out = heard(&file, &[], &[midi(0, [0x90, key, velocity])]);
        let q = 10f64.powf(resonance_db / 20.0);
        for hz in [100.0, 450.0, 1000.0, 2300.0, 4000.0, 9000.0, 18_000.0] {
            // The analog filter at a frequency as the trapezoidal rule bends it.
            let bent = |hz: f64| (std::f64::consts::PI * hz / RATE as f64).tan();
            let s = bent(hz) / bent(cutoff);
            let two_poles = |q: f64| 1.0 / (1.0 - s * s).hypot(s / q);
            let butterworth = |share: f64| 0.5 / (std::f64::consts::PI / share).cos();
            let four = {
                let gentle = butterworth(8.0);
                two_poles(gentle) * two_poles(q / gentle)
            };
            let six = {
                let (gentle, middle) = (butterworth(12.0), butterworth(4.0));
                two_poles(gentle) * two_poles(middle) * two_poles(q / (gentle * middle))
            };
            let want = db(0.5
                * match kind {
                    0 => two_poles(q),
                    1 => s * s * two_poles(q),
                    2 => s / q * two_poles(q),
                    3 => (1.0 - s * s).abs() * two_poles(q),
                    4 => 1.0 / 1f64.hypot(s),
                    5 => s / 1f64.hypot(s),
                    6 => four,
                    7 => s.powi(4) * four,
                    8 => six,
                    _ => s.powi(6) * six,
                });
            // Below that single samples round.
            if want > -110.0 {
                near(response_db(&out, hz), want, 0.01);
            }
        }
    }
    // A filter sounds on behind the end of its sample.
    here.write("one.wav", &wav(&[0.5]));
    for kind in ["lpf_2p", "lpf_4p", "lpf_6p"] {
        let ringing = format!(
            "<region> sample=one.wav key=60 cutoff=300 resonance=24 amp_veltrack=0 fil_type={kind}"
        );
        let file = here.write("ring.sfz", ringing.as_bytes());
        let out = heard(&file, &[], &[midi(0, [0x90, 60, 100])]);
        assert!(peak(&out[2000..2400]) > 1e-3 && out[RATE - 1] == 0.0);
    }
}

#[test]
fn aliases_of_notes_far_above_the_root_lie_60_db_below_up_to_16_khz() {
    let here = Instrument::new("octaves");
    // Harmonics of `hz` up to half the rate, in a loop without a seam.
    let saw = |hz: usize, frames: usize| -> Vec<f32> {
        let at =
            |n: usize, k: usize| (TAU * (hz * k * n % RATE) as f64 / RATE as f64).sin() / k as f64;
        let sum = |n: usize| {
            (1..)
                .take_while(|k| 2 * k * hz < RATE)
                .map(|k| at(n, k))
                .sum::<f64>()
        };
        (0..frames).map(|n| sum(n) as f32 * 0.5).collect()
    };
    here.write("long.wav", &wav(&saw(404, RATE)));
    // A loop that is much shorter than the filters: one cycle.
    here.write("short.wav", &wav(&saw(400, 120)));
    for (name, hz) in [("long.wav", 404), ("short.wav", 400)] {
        for times in [1.5, 2.0, 2.5, 3.0, 5.0, 7.0, 16.0] {
            let tune = 1200.0 * f64::log2(times);
            let text = format!(
                "<region> sample={name} lokey=60 hikey=60 tune={tune} loop_mode=loop_continuous"
            );
            let file = here.write("saw.sfz", text.as_bytes());
            let out = heard(&file, &[], &[midi(0, [0x90, 60, 127])]);
            let (out, hz) = (&out[RATE / 2..], (times * f64::from(hz)) as usize);
            for k in (1..).take_while(|k| k * hz < 10_000) {
                near(sine_db(out, (k * hz) as f64), db(0.5 / k as f64), 0.5);
            }
            // What folds, and what the quintic leaves around multiples of the rate at which a copy is read.
            let copy = (times * 0.75).log2().ceil() as usize;
            let read = (times * RATE as f64) as usize >> (copy - 1);
            let folded = (0..6).flat_map(|n| {
                (1..120).flat_map(move |k| [n * read + k * hz, (n * read).abs_diff(k * hz)])
            });
            let folded = folded.map(|at| (at % RATE).min(RATE - at % RATE));
            let aliases = folded.filter(|at| *at < 16_000 && at % hz != 0);
            let aliases: std::collections::BTreeSet<usize> = aliases.collect();
            let worst = aliases
                .iter()
                .map(|at| sine_db(out, *at as f64))
                .fold(-200.0, f64::max);
            println!("{name} {times}: {:.1} dB", worst - db(0.5));
            assert!(worst - db(0.5) < -60.0, "{name} {times}: {worst}");
        }
    }
}
