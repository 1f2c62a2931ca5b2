//! Changes of the response while the graph plays, and refused nodes.

use crate::{alone, patch};
use divisi_check::conformance::node;
use divisi_check::impulse_files::ImpulseFiles;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput};
use divisi_check::rng::Rng;
use divisi_check::test_bench::{RunConfig, TestBench, registry};
use graph::ParamValue;
use processor::{Event, EventBody, EventTarget, MakeError};
use std::path::Path;
use units::SampleRate;

#[test]
fn a_change_while_it_plays_takes_effect_and_can_be_undone() {
    let folder = ImpulseFiles::new("change");
    let (graph, registry) = (patch(&folder), registry());
    let mut still = TestBench::new(&graph, &registry, RunConfig::reference(64));
    let mut bench = TestBench::new(&graph, &registry, RunConfig::reference(64));
    let (node, _) = graph.nodes().find(|(_, node)| node.name == "a").unwrap();
    let kind = registry.catalogue().get("convolver").unwrap();
    let (which, _) = kind.param("which").unwrap();
    let turn = |value| Event {
        frame: 0,
        target: EventTarget::Param(which),
        body: EventBody::Value(value),
    };
    let mut alike =
        |bench: &mut TestBench, frames| still.render(1, frames) == bench.render(1, frames);
    assert!(alike(&mut bench, 6400));
    bench.send_event(node, turn(1.0));
    assert!(!alike(&mut bench, 19_200));
    bench.send_event(node, turn(0.0));
    assert!(!alike(&mut bench, 19_200));
    // The spectra of the input are the same throughout, and so is the sound in the end.
    assert!(alike(&mut bench, 6400));
}

#[test]
fn after_an_abandoned_cycle_convolvers_keep_their_tails() {
    let _alone = alone();
    let folder = ImpulseFiles::new("abandoned");
    let (one, registry) = (folder.write("one.wav", 1, 9000, 1), registry());
    // Equal latencies: no aligner writes the repeated block over the abandoned one.
    let graph = crate::graph(&format!(
        r#"edges = ["n -> a -> s", "n -> b -> s"]
        [nodes]
        n = {{ kind = "noise", seed = 3 }}
        a = {{ kind = "convolver", file = "{one}", block = 64 }}
        b = {{ kind = "convolver", file = "{one}", block = 64, partition = "7x64 6x256 8x1024" }}
        s = {{ kind = "sink" }}"#
    ));
    for block in [64, 48, 256] {
        let mut still = TestBench::new(&graph, &registry, RunConfig::reference(block));
        let mut bench = TestBench::new(&graph, &registry, RunConfig::reference(block));
        let frames = 40 * block as usize;
        assert_eq!(still.render(1, frames), bench.render(1, frames));
        // After an abandoned cycle the same position comes again, with the sources' next block.
        bench.cycle -= 1;
        let (expected, played) = (still.render(1, 2 * frames), bench.render(1, 2 * frames));
        let wrong = (0..expected[0].len()).find(|at| expected[0][*at] != played[0][*at]);
        assert_eq!(wrong, None, "blocks of {block}");
    }
}

fn refused(params: &[(&str, ParamValue)]) -> MakeError {
    match registry().make(&node("convolver", params), Path::new("/nowhere")) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error,
    }
}

#[test]
fn what_cannot_be_played_is_refused_at_its_parameter() {
    let folder = ImpulseFiles::new("refused");
    let text = |text: &str| ParamValue::Text(text.into());
    let three = text(&folder.write("three.wav", 3, 100, 0));
    let one = text(&folder.write("one.wav", 1, 100, 0));
    assert_eq!(refused(&[]).key, Some("file"));
    assert_eq!(refused(&[("file", text("nothing.wav"))]).key, Some("file"));
    let two = ParamValue::Number(2.0);
    assert_eq!(
        refused(&[("file", three), ("channels", two)]).key,
        Some("file")
    );
    for (key, wrong) in [
        ("block", ParamValue::Number(48.0)),
        ("partition", text("1x64 1x64")),
        ("partition", text("the best")),
        ("method", text("magic")),
        ("work", text("magic")),
        ("pin", text("down")),
        ("priority", ParamValue::Number(99.0)),
        ("other", text("nothing.wav")),
    ] {
        let refused = refused(&[("file", one.clone()), (key, wrong)]);
        assert_eq!(refused.key, Some(key), "{refused}");
    }
}

#[test]
fn a_partition_is_taken_if_it_holds_the_response_with_some_block() {
    let folder = ImpulseFiles::new("partitions");
    let text = |text: &str| ParamValue::Text(text.into());
    let one = text(&folder.write("one.wav", 1, 1000, 0));
    let cut = |partition: &str| [("file", one.clone()), ("partition", text(partition))];
    let short = refused(&cut("7x64"));
    assert_eq!(short.key, Some("partition"));
    assert!(short.message.contains("448 frames"), "{short}");
    // For graphs of 128 frames; and no others, where the node says so.
    let make = |params: &[(&str, ParamValue)]| {
        let made = registry().make(&node("convolver", params), Path::new("/nowhere"));
        made.map(drop)
    };
    assert_eq!(make(&cut("8x128")), Ok(()));
    let of_block = |frames| {
        let [file, partition] = cut("8x128");
        make(&[file, partition, ("block", ParamValue::Number(frames))])
    };
    assert_eq!(of_block(128.0), Ok(()));
    assert_eq!(of_block(64.0).unwrap_err().key, Some("partition"));
}

#[test]
fn after_a_reset_it_is_as_new_wherever_a_change_is() {
    let _alone = alone();
    let folder = ImpulseFiles::new("reset");
    let text = |text: &str| ParamValue::Text(text.into());
    let one = text(&folder.write("one.wav", 1, 4000, 1));
    let other = text(&folder.write("other.wav", 1, 4000, 77));
    let registry = registry();
    let (which, _) = registry
        .catalogue()
        .get("convolver")
        .and_then(|kind| kind.param("which"))
        .unwrap();
    let mut rng = Rng(11);
    let noise: Vec<f32> = (0..6400).map(|_| rng.sample()).collect();
    // A change to the response that it did not begin with, and one back.
    let take = |frames: usize, first: f32, turns: [u32; 2]| TestInput {
        inputs: vec![noise[..frames].to_vec()],
        events: (turns.into_iter().zip([1.0 - first, first]))
            .map(|(frame, value)| Event {
                frame,
                target: EventTarget::Param(which),
                body: EventBody::Value(value),
            })
            .collect(),
        frames,
    };
    for (work, first) in [
        ("deferred", 0.0),
        ("threads", 0.0),
        ("spread", 1.0),
        ("callback", 0.0),
    ] {
        let params = [
            ("file", one.clone()),
            ("other", other.clone()),
            ("which", ParamValue::Number(f64::from(first))),
            ("fade", ParamValue::Number(0.02)),
            ("block", ParamValue::Number(64.0)),
            ("partition", text("7x64 6x256 2x1024")),
            ("work", text(work)),
        ];
        let rate = SampleRate::new(48_000).unwrap();
        let rig = || ProcessorBench::new(&registry, &node("convolver", &params), rate);
        let again = take(6400, first, [100, 3000]);
        let new = rig().process(&again, BlockSplit::Even(64));
        // Before a change, during it, after it, during the change back, and all that twice.
        let mut used = rig();
        for before in [64, 192, 320, 1216, 2560, 6400, 4928, 1088] {
            used.process(&take(before, first, [128, 3712]), BlockSplit::Even(64));
            used.reset();
            let played = used.process(&again, BlockSplit::Even(64));
            assert!(played.bits == new.bits, "{work}, {before}");
            assert_eq!(played.allocations, 0, "{work}, {before}");
            used.reset();
        }
    }
}
