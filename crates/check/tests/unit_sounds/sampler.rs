//! The sampler against the samples that it plays.

use crate::kit::*;
use processor::{Event, EventBody, EventTarget};

fn midi(frame: u32, bytes: [u8; 3]) -> Event {
    Event {
        frame,
        target: EventTarget::Input(0),
        body: EventBody::Midi(bytes),
    }
}

/// A folder of sounds and an SFZ file, removed when dropped.
struct Instrument(std::path::PathBuf);

impl Instrument {
    fn new(name: &str) -> Self {
        let folder = format!("divisi-sampler-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&path).expect("the folder for temporary files can be written");
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
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

fn heard(file: &str, params: &[(&str, graph::ParamValue)], events: &[Event]) -> Vec<f32> {
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
    // Half the velocity is 12 dB less.
    let out = heard(&file, &[("root", number(69.0))], &[midi(0, [0x90, 81, 64])]);
    let level = (64.0f64 / 127.0).powi(2);
    for k in 0..10_000 {
        near(f64::from(out[k]), level * f64::from(sound[2 * k]), 1e-6);
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
<region> sample=b.wav key=64 lovel=1 hivel=63 cutoff=100
<region> sample=c.wav key=64 lovel=64";
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
