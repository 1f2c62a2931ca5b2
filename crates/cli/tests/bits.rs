//! The output is a function of the session and nothing else: not of scheduler, workers, driver or timing.

mod common;

use common::{Folder, wav};

const SCHEDULERS: [&str; 12] = [
    "auto",
    "sequential",
    "random",
    "hlfet",
    "etf",
    "cpfd",
    "global",
    "weighted",
    "stealing",
    "deadline",
    "pipelined",
    "mutex",
];

#[test]
fn the_help_names_every_scheduler() {
    let here = Folder::new();
    for command in ["play", "render"] {
        let help = here.well(&format!("{command} --help")).out;
        for name in SCHEDULERS {
            assert!(help.contains(name), "{command}: {name}");
        }
    }
    let known = here.call("play x.ag --scheduler no").err;
    let known = known.split_once("one of ").expect("it lists them").1;
    let known = known.lines().next().unwrap().replace(" or ", " ");
    let mut known: Vec<&str> = known.split([',', ' ']).filter(|w| !w.is_empty()).collect();
    known.sort_unstable();
    let mut here = SCHEDULERS;
    here.sort_unstable();
    assert_eq!(known, here);
}

#[test]
fn every_scheduler_and_any_number_of_workers_render_the_same_file() {
    let here = Folder::new();
    here.well("shape random --nodes 80 --seed 5 -o graph.ag");
    let render = "render graph.ag --seconds 0.3 -o";
    here.well(&format!("{render} first.wav --scheduler sequential"));
    let first = here.read("first.wav");
    assert!(wav(&first).1.iter().any(|bits| *bits != 0));
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 3] {
            here.well(&format!(
                "{render} again.wav --scheduler {scheduler} --workers {workers}"
            ));
            assert!(here.read("again.wav") == first, "{scheduler} on {workers}");
        }
    }
    for scheduler in SCHEDULERS {
        here.well(&format!(
            "{render} again.wav --scheduler {scheduler} --workers 3 --fuse off --force-workers"
        ));
        assert!(here.read("again.wav") == first, "{scheduler}, bare");
    }
    for wait in ["hybrid", "sleep", "spin"] {
        here.well(&format!("{render} again.wav --workers 2 --wait {wait}"));
        assert!(here.read("again.wav") == first, "{wait}");
    }
}

/// Plays and returns the recording. Repeats if cycles were left out: a machine that stalls for 100 ms plays silence and reports it.
fn played(here: &Folder, line: &str) -> Vec<u8> {
    for _ in 0..5 {
        here.well(&format!(
            "play {line} --driver clock --record played.wav --json report.json"
        ));
        let report = here.json("report.json");
        let left_out =
            ["late", "abandoned", "faults", "muted"].map(|name| report[name].as_u64().unwrap());
        if left_out == [0; 4] {
            break;
        }
    }
    here.read("played.wav")
}

#[test]
fn play_and_render_give_the_same_file() {
    let here = Folder::new();
    here.well("shape diamond --nodes 76 -o graph.ag");
    let how = "graph.ag --seconds 0.61 --block 1024 --workers 2";
    here.well(&format!("render {how} -o rendered.wav"));
    let rendered = here.read("rendered.wav");
    assert_eq!(wav(&rendered).1.len(), 29_280);
    assert!(played(&here, how) == rendered);
}

#[test]
fn an_input_file_replaces_the_device_bit_for_bit() {
    let here = Folder::new();
    here.well("shape rake --nodes 8 -o graph.ag");
    here.well("render graph.ag -o in.wav --seconds 0.4");
    let session = "edges = [\"ear -> left\", \"ear2 -> right\"]\n[nodes.ear]\nkind = \"input\"\n[nodes.ear2]\n\
        kind = \"input\"\nchannel = 2\n[nodes.left]\nkind = \"sink\"\n[nodes.right]\nkind = \"sink\"\n";
    here.write("through.toml", session);
    let how = "through.toml --input in.wav --seconds 0.5 --block 1024";
    here.well(&format!("render {how} -o rendered.wav"));
    let (_, input) = wav(&here.read("in.wav"));
    let (channels, samples) = wav(&here.read("rendered.wav"));
    assert_eq!((channels, samples.len()), (2, 48_000));
    let (left, right): (Vec<u32>, Vec<u32>) = samples.chunks(2).map(|f| (f[0], f[1])).unzip();
    assert!(
        left[..input.len()] == input,
        "the file's only channel is input 1"
    );
    assert!(
        left[input.len()..].iter().all(|bits| *bits == 0),
        "then silence"
    );
    assert!(right.iter().all(|bits| *bits == 0), "there is no input 2");
    assert!(played(&here, how) == here.read("rendered.wav"));
}
