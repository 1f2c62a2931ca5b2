//! The output of a convolver is the convolution, on all paths, in blocks of any length, with the latency that it states.

use crate::{alone, graph};
use divisi_check::conformance::node;
use divisi_check::impulse_files::ImpulseFiles;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput};
use divisi_check::rng::Rng;
use divisi_check::test_bench::{RunConfig, TestBench, registry};
use graph::{ParamValue, Signal};
use std::path::Path;
use units::{Channels, Frames, SampleRate};

const FRAMES: usize = 3200;

fn rate() -> SampleRate {
    SampleRate::new(48_000).unwrap()
}

fn rig(params: &[(&str, ParamValue)]) -> ProcessorBench {
    ProcessorBench::new(&registry(), &node("convolver", params), rate())
}

fn text(text: &str) -> ParamValue {
    ParamValue::Text(text.into())
}

fn noise(channels: usize) -> TestInput {
    let mut rng = Rng(5);
    let mut channel = || (0..FRAMES).map(|_| rng.sample()).collect();
    TestInput {
        inputs: (0..channels).map(|_| channel()).collect(),
        events: Vec::new(),
        frames: FRAMES,
    }
}

/// Channel `c` of a response of `channels` channels.
fn response(channels: u16, frames: usize, seed: usize, c: usize) -> Vec<f32> {
    let all = ImpulseFiles::noise(channels, frames, seed);
    all.into_iter().skip(c).step_by(channels.into()).collect()
}

/// Adds the convolution of `input` and `response`, `late` frames late, in double precision.
fn convolve(sum: &mut [f64], input: &[f32], response: &[f32], late: usize) {
    for (n, y) in sum.iter_mut().enumerate().skip(late) {
        let n = n - late;
        for (k, h) in response.iter().enumerate().take(n + 1) {
            *y += f64::from(input[n - k]) * f64::from(*h);
        }
    }
}

/// RMS of the output's error relative to that of the truth, in dB.
fn wrong_db(played: &[f32], truth: &[f64]) -> f64 {
    let error: f64 = (played.iter().zip(truth))
        .map(|(a, b)| (f64::from(*a) - b).powi(2))
        .sum();
    let power: f64 = truth.iter().map(|x| x * x).sum();
    10.0 * (error / power).log10()
}

/// Asserts that the output is exact to 120 dB.
fn holds(played: &[f32], truth: &[f64], how: &str) {
    let db = wrong_db(played, truth);
    assert!(db <= -120.0, "{how}: {db:.1} dB");
}

#[test]
fn true_stereo_is_four_convolutions() {
    let _alone = alone();
    let folder = ImpulseFiles::new("stereo");
    let file = folder.write("four.wav", 4, 1500, 9);
    let take = noise(2);
    let mut truth = [vec![0.0; FRAMES], vec![0.0; FRAMES]];
    for (path, (from, to)) in [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().enumerate() {
        let response = response(4, 1500, 9, path);
        convolve(&mut truth[to], &take.inputs[from], &response, 0);
    }
    for work in ["deferred", "threads", "spread", "callback"] {
        let mut rig = rig(&[
            ("file", text(&file)),
            ("channels", ParamValue::Number(2.0)),
            ("block", ParamValue::Number(64.0)),
            ("work", text(work)),
        ]);
        let played = rig.process(&take, BlockSplit::Even(64));
        for (c, truth) in truth.iter().enumerate() {
            holds(&played.channel(c), truth, work);
        }
    }
}

#[test]
fn one_response_is_for_all_channels_and_two_are_for_each_its_own() {
    let folder = ImpulseFiles::new("straight");
    let take = noise(2);
    for channels in [1, 2] {
        let file = folder.write("straight.wav", channels, 1200, 3);
        let mut rig = rig(&[
            ("file", text(&file)),
            ("channels", ParamValue::Number(2.0)),
            ("block", ParamValue::Number(64.0)),
        ]);
        let played = rig.process(&take, BlockSplit::Even(64));
        for c in 0..2 {
            let mut truth = vec![0.0; FRAMES];
            let response = response(channels, 1200, 3, c % usize::from(channels));
            convolve(&mut truth, &take.inputs[c], &response, 0);
            holds(&played.channel(c), &truth, "straight");
        }
    }
}

#[test]
fn half_precision_is_had_from_the_size_that_is_said_and_within_its_bound() {
    let folder = ImpulseFiles::new("half");
    let file = folder.write("one.wav", 1, 3000, 2);
    let (take, response) = (noise(1), response(1, 3000, 2, 0));
    let mut truth = vec![0.0; FRAMES];
    convolve(&mut truth, &take.inputs[0], &response, 0);
    let play = |half: f64, work: &str| {
        let mut rig = rig(&[
            ("file", text(&file)),
            ("block", ParamValue::Number(64.0)),
            ("partition", text("7x64 11x256")),
            ("half", ParamValue::Number(half)),
            ("work", text(work)),
        ]);
        rig.process(&take, BlockSplit::Even(64)).channel(0)
    };
    let plain = play(0.0, "deferred");
    holds(&plain, &truth, "none");
    assert!(play(512.0, "deferred") == plain, "there are none so large");
    for from in [64.0, 256.0] {
        let halved = play(from, "deferred");
        let db = wrong_db(&halved, &truth);
        assert!((-110.0..=-70.0).contains(&db), "{from}: {db:.1} dB");
        assert!(play(from, "spread") == halved, "{from}");
    }
}

#[test]
fn latency_is_none_or_one_internal_block_and_what_is_played_is_as_late_as_that() {
    let folder = ImpulseFiles::new("latency");
    let file = folder.write("one.wav", 1, 1500, 2);
    let (take, response) = (noise(1), response(1, 1500, 2, 0));
    // The graph's block, the node's (0: its own choice), whether a block of latency is asked for; what it comes to.
    for (host, block, latency, expected) in [
        (64, 0, "none", 0),
        (1024, 64, "none", 0),
        (48, 0, "none", 0),
        (1, 0, "none", 0),
        (100, 0, "none", 64),
        (441, 0, "none", 64),
        (441, 128, "none", 128),
        (64, 256, "none", 256),
        (64, 0, "block", 64),
        (100, 0, "block", 128),
        (96, 0, "block", 32),
    ] {
        let how = format!("{host} {block} {latency}");
        let mut rig = rig(&[
            ("file", text(&file)),
            ("block", ParamValue::Number(f64::from(block))),
            ("latency", text(latency)),
        ]);
        rig.set_up_for(rate(), Frames(host));
        let late = rig.processor.latency().count();
        assert_eq!(late, expected, "{how}");
        let frames = FRAMES / host as usize * host as usize;
        let played = rig.process(
            &TestInput {
                frames,
                ..take.clone()
            },
            BlockSplit::Even(host as usize),
        );
        let mut truth = vec![0.0; frames];
        convolve(&mut truth, &take.inputs[0], &response, late);
        holds(&played.channel(0), &truth, &how);
        assert_eq!(rig.processor.latency().count(), late);
    }
}

#[test]
fn changing_blocks_give_the_bits_of_even_ones() {
    let folder = ImpulseFiles::new("changing");
    let file = folder.write("one.wav", 1, 1500, 2);
    let take = noise(1);
    let play = |cut| {
        let mut rig = rig(&[("file", text(&file))]);
        rig.set_up_for(rate(), Frames(441));
        let played = rig.process(&take, cut);
        assert_eq!(rig.processor.latency(), Frames(64));
        played.bits
    };
    let even = play(BlockSplit::Even(441));
    for seed in 0..8 {
        assert!(play(BlockSplit::Random(Rng(seed))) == even);
        assert!(play(BlockSplit::Parts(Rng(seed))) == even);
    }
    assert!(play(BlockSplit::Even(1)) == even);
}

#[test]
fn a_block_that_is_shorter_than_was_promised_costs_one_gap_and_is_reported() {
    let folder = ImpulseFiles::new("shorter");
    let file = folder.write("one.wav", 1, 1500, 2);
    let take = noise(1);
    let mut rig = rig(&[("file", text(&file)), ("block", ParamValue::Number(64.0))]);
    let whole = rig.process(&take, BlockSplit::Even(64)).channel(0);
    assert_eq!(rig.processor.latency(), Frames(0));
    rig.reset();
    let parts = rig.process(&take, BlockSplit::Even(100)).channel(0);
    assert_eq!(rig.processor.latency(), Frames(64));
    assert!(parts[..64] == whole[..64]);
    assert!(parts[64..128].iter().all(|x| *x == 0.0));
    assert!(parts[128..] == whole[64..FRAMES - 64]);
}

#[test]
fn a_graph_in_odd_blocks_plays_the_same_bits_one_internal_block_later() {
    let folder = ImpulseFiles::new("odd");
    let file = folder.write("one.wav", 1, 5000, 1);
    let graph = graph(&format!(
        r#"edges = ["n -> a", "a -> s"]
        [nodes]
        n = {{ kind = "noise", seed = 3 }}
        a = {{ kind = "convolver", file = "{file}", block = 64 }}
        s = {{ kind = "sink" }}"#
    ));
    let play =
        |block| TestBench::new(&graph, &registry(), RunConfig::reference(block)).render(1, 9000);
    let even = play(64);
    for block in [100, 441] {
        let odd = play(block);
        assert!(odd[0][..64].iter().all(|x| *x == 0));
        assert!(odd[0][64..] == even[0][..9000 - 64], "{block}");
    }
}

#[test]
fn a_configuration_of_jconvolver_is_a_node_as_wide_as_it_declares() {
    let folder = ImpulseFiles::new("jconvolver");
    folder.write("two.wav", 2, 1500, 9);
    let conf = "/convolver/new 2 3 64 4096\n/impulse/read 1 1 1 0 0 0 1 two.wav\n/impulse/read 2 2 0.5 100 0 0 2 two.wav\n\
        /impulse/dirac 1 3 0.5 0\n/impulse/dirac 2 3 -0.25 7\n";
    let file = folder.write_text("room.conf", conf);
    let registry = registry();
    let mut node = node(
        "jconvolver",
        &[("file", text(&file)), ("block", ParamValue::Number(64.0))],
    );
    let widths = registry.probe(&node, Path::new("/")).unwrap();
    registry.catalogue().set_widths(&mut node, widths);
    let signals = [node.inputs[0].signal, node.outputs[0].signal];
    assert_eq!(signals, [2, 3].map(|width| Signal::Audio(Channels(width))));
    let take = noise(2);
    let mut truth = vec![vec![0.0; FRAMES]; 3];
    let half: Vec<f32> = response(2, 1500, 9, 1).iter().map(|x| 0.5 * x).collect();
    convolve(&mut truth[0], &take.inputs[0], &response(2, 1500, 9, 0), 0);
    convolve(&mut truth[1], &take.inputs[1], &half, 100);
    convolve(&mut truth[2], &take.inputs[0], &[0.5], 0);
    convolve(&mut truth[2], &take.inputs[1], &[-0.25], 7);
    let mut rig = ProcessorBench::new(&registry, &node, rate());
    let played = rig.process(&take, BlockSplit::Even(64));
    for (c, truth) in truth.iter().enumerate() {
        holds(&played.channel(c), truth, "jconvolver");
    }
}

#[test]
fn a_wrong_configuration_refuses_its_node_with_the_place() {
    let folder = ImpulseFiles::new("jconvolver-wrong");
    let file = folder.write_text(
        "bad.conf",
        "/convolver/new 1 1 64 4096\n/impulse/read 1 1 1 0 0 0 1 no.wav\n",
    );
    let node = node("jconvolver", &[("file", text(&file))]);
    let refused = registry()
        .make(&node, Path::new("/"))
        .map(drop)
        .unwrap_err();
    assert_eq!(refused.key, Some("file"));
    assert!(
        refused.message.contains("bad.conf:2: "),
        "{}",
        refused.message
    );
    let file = folder.write_text(
        "wide.conf",
        "/convolver/new 2 1 64 4096\n/impulse/dirac 1 1 1 0\n",
    );
    let node = divisi_check::conformance::node("jconvolver", &[("file", text(&file))]);
    let refused = registry()
        .make(&node, Path::new("/"))
        .map(drop)
        .unwrap_err();
    assert_eq!(refused.message, "it takes 2 channels, and the node has 1");
}
