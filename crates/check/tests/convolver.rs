//! Convolvers in graphs: their long partitions are deferred work, and the bits are the same whoever does it.

// The sanitizer's shadow of the memory cannot be held in place.
#![cfg(not(tsan))]

use divisi_check::alloc::{Counting, audio_calls};
use divisi_check::hall::{Hall, Manner, WAYS, registry};
use graph::{Graph, Value};
use media::{Format, Writer};
use processor::{Body, Event, MakeError, Target};
use std::path::{Path, PathBuf};
use units::{Channels, SampleRate};
use workers::{AudioThread, Wait};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("divisi-check-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// Noise that dies away.
    fn response(&self, name: &str, channels: u16, frames: usize, seed: usize) -> String {
        let path = self.0.join(name);
        let rate = SampleRate::new(48_000).unwrap();
        let mut writer = Writer::create(&path, rate, Channels(channels), Format::F32).unwrap();
        let samples = frames * usize::from(channels);
        let sample = |n: usize| {
            let noise = ((n + seed) * 7919 % 65_521) as f32 / 65_536.0 - 0.5;
            noise * (1.0 - n as f32 / samples as f32) * 0.05
        };
        let samples: Vec<f32> = (0..samples).map(sample).collect();
        writer.write_interleaved(&samples).unwrap();
        writer.finish().unwrap();
        path.to_str().unwrap().replace('\\', "/")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The count of calls, once it stands still: threads that have just been started still tidy up.
fn settled() -> u64 {
    loop {
        let before = audio_calls();
        std::thread::sleep(std::time::Duration::from_millis(5));
        if audio_calls() == before {
            return before;
        }
    }
}

fn manner(way: divisi_check::hall::Way, workers: usize, block: u32) -> Manner {
    Manner {
        way,
        workers,
        block,
        wait: Wait::Hybrid,
    }
}

/// Three convolvers beside each other: short and long, one that changes, one with a block of latency, one cut by hand.
fn patch(folder: &Folder) -> Graph {
    let one = folder.response("one.wav", 1, 9000, 1);
    let other = folder.response("other.wav", 1, 9000, 77);
    let short = folder.response("short.wav", 1, 5000, 5);
    let text = format!(
        r#"edges = ["n -> a", "a -> s", "o -> b", "b -> t", "w -> c", "c -> u"]
        [nodes]
        n = {{ kind = "noise", seed = 3 }}
        o = {{ kind = "osc", freq = 333 }}
        w = {{ kind = "noise", seed = 9 }}
        a = {{ kind = "convolver", file = "{one}", other = "{other}", block = 64, fade = 0.01 }}
        b = {{ kind = "convolver", file = "{one}", latency = "block", block = 64, predelay = 0.01 }}
        c = {{ kind = "convolver", file = "{short}", block = 64, partition = "7x64 6x256 5x1024" }}
        s = {{ kind = "sink" }}
        t = {{ kind = "sink" }}
        u = {{ kind = "sink" }}"#
    );
    let reading = text::toml::read(&text, registry().catalogue());
    assert!(!reading.has_errors(), "{:?}", reading.diagnostics);
    reading.session.graph
}

#[test]
fn every_executor_gives_the_same_bits_and_none_takes_memory() {
    let folder = Folder::new("ways");
    let (graph, registry) = (patch(&folder), registry());
    let reference = Hall::new(&graph, &registry, Manner::reference(64)).play(3, 20_000);
    assert!(
        reference
            .iter()
            .all(|channel| channel.iter().any(|x| *x != 0))
    );
    for way in WAYS {
        for workers in 1..=3 {
            let mut hall = Hall::new(&graph, &registry, manner(way, workers, 64));
            let before = settled();
            let plays = AudioThread::begin();
            let played = (0..20_000 / 64).map(|_| {
                assert_eq!(hall.run(&[]), exec::Outcome::Done);
            });
            played.for_each(drop);
            drop(plays);
            assert_eq!(settled(), before, "{way:?} {workers}");
            let mut hall = Hall::new(&graph, &registry, manner(way, workers, 64));
            assert!(hall.play(3, 20_000) == reference, "{way:?} {workers}");
            assert_eq!(hall.counts(), exec::Counts::default());
        }
    }
}

#[test]
fn blocks_of_many_internal_ones_give_the_same_bits() {
    let folder = Folder::new("blocks");
    let (graph, registry) = (patch(&folder), registry());
    let play = |block| Hall::new(&graph, &registry, Manner::reference(block)).play(3, 12_288);
    let small = play(64);
    for block in [128, 1024] {
        assert!(play(block) == small, "{block}");
    }
}

#[test]
fn a_change_while_it_plays_is_heard_and_comes_back() {
    let folder = Folder::new("change");
    let (graph, registry) = (patch(&folder), registry());
    let mut still = Hall::new(&graph, &registry, Manner::reference(64));
    let mut hall = Hall::new(&graph, &registry, Manner::reference(64));
    let (node, _) = graph.nodes().find(|(_, node)| node.name == "a").unwrap();
    let kind = registry.catalogue().get("convolver").unwrap();
    let (which, _) = kind.param("which").unwrap();
    let turn = |value| Event {
        frame: 0,
        target: Target::Param(which),
        body: Body::Value(value),
    };
    let mut alike = |hall: &mut Hall, frames| still.play(1, frames) == hall.play(1, frames);
    assert!(alike(&mut hall, 6400));
    hall.post(node, turn(1.0));
    assert!(!alike(&mut hall, 19_200));
    hall.post(node, turn(0.0));
    assert!(!alike(&mut hall, 19_200));
    // Spectra of what was heard are the same all along, and so is the sound in the end.
    assert!(alike(&mut hall, 6400));
}

fn refused(params: &[(&str, Value)]) -> MakeError {
    let node = divisi_check::unit::node("convolver", params);
    match registry().make(&node, Path::new("/nowhere")) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error,
    }
}

#[test]
fn what_cannot_be_played_is_refused_at_its_parameter() {
    let folder = Folder::new("refused");
    let text = |text: &str| Value::Text(text.into());
    let three = text(&folder.response("three.wav", 3, 100, 0));
    let one = text(&folder.response("one.wav", 1, 100, 0));
    assert_eq!(refused(&[]).key, Some("file"));
    assert_eq!(refused(&[("file", text("nothing.wav"))]).key, Some("file"));
    let two = Value::Number(2.0);
    assert_eq!(
        refused(&[("file", three), ("channels", two)]).key,
        Some("file")
    );
    let odd = [("file", one.clone()), ("block", Value::Number(48.0))];
    assert_eq!(refused(&odd).key, Some("block"));
    let cut = [("file", one.clone()), ("partition", text("1x64 1x64"))];
    assert_eq!(refused(&cut).key, Some("partition"));
    let method = [("file", one.clone()), ("method", text("magic"))];
    assert_eq!(refused(&method).key, Some("method"));
    let other = [("file", one), ("other", text("nothing.wav"))];
    assert_eq!(refused(&other).key, Some("other"));
}
