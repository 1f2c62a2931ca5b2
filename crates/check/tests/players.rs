//! Players, recorders and inputs keep every promise too; they need files, so they stand apart.

use divisi_check::alloc::Counting;
use divisi_check::conformance::{check, node};
use graph::ParamValue;
use media::{SampleFormat, Writer};
use processor::Registry;
use std::path::{Path, PathBuf};
use units::{Channels, SampleRate};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn number(value: f64) -> ParamValue {
    ParamValue::Number(value)
}

fn in_folder(test: &str, run: impl FnOnce(&Path)) {
    let name = format!("divisi-check-{}-{test}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    run(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
}

fn wav(path: PathBuf, channels: u16, frames: usize) -> ParamValue {
    let rate = SampleRate::new(48_000).unwrap();
    let mut writer = Writer::create(&path, rate, Channels(channels), SampleFormat::F32).unwrap();
    let samples: Vec<f32> = (0..frames * usize::from(channels))
        .map(|n| (n * 7919 % 65_521) as f32 / 65_536.0 - 0.5)
        .collect();
    writer.write_interleaved(&samples).unwrap();
    writer.finish().unwrap();
    ParamValue::Text(path.to_str().unwrap().into())
}

fn keeps_every_promise(kind: &str, params: &[(&str, ParamValue)]) {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    midi::register(&mut registry);
    check(&registry, &node(kind, params));
}

#[test]
fn a_player_of_a_short_file() {
    in_folder("short", |folder| {
        let file = wav(folder.join("f.wav"), 2, 4000);
        keeps_every_promise("player", &[("file", file), ("channels", number(2.0))]);
    });
}

#[test]
fn a_player_of_a_part_again_and_again() {
    in_folder("part", |folder| {
        let file = wav(folder.join("f.wav"), 1, 4000);
        let params = [
            ("file", file),
            ("channels", number(2.0)),
            ("loop", ParamValue::Flag(true)),
            ("start", number(0.01)),
            ("length", number(0.005)),
            ("at", number(0.002)),
            ("period", number(0.0071)),
            ("fade_in", number(0.0004)),
            ("fade_out", number(0.002)),
            ("gain_db", number(-3.0)),
        ];
        keeps_every_promise("player", &params);
    });
}

#[test]
fn a_recorder() {
    in_folder("take", |folder| {
        let file = ParamValue::Text(folder.join("take.wav").to_str().unwrap().into());
        keeps_every_promise("recorder", &[("file", file), ("channels", number(2.0))]);
    });
}

#[test]
fn a_midi_writer() {
    in_folder("midi", |folder| {
        let file = ParamValue::Text(folder.join("take.mid").to_str().unwrap().into());
        keeps_every_promise("midi_writer", &[("file", file)]);
    });
}

#[test]
fn an_input_without_a_device() {
    keeps_every_promise("input", &[("channels", number(2.0))]);
}
