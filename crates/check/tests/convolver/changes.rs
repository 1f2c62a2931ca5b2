//! Another response while it plays, and what is refused.

use crate::{alone, patch};
use divisi_check::hall::{Hall, Manner, registry};
use divisi_check::impulse::Impulses;
use divisi_check::rig::{Cut, Rig, Take};
use divisi_check::rng::Rng;
use divisi_check::unit::node;
use graph::Value;
use processor::{Body, Event, MakeError, Target};
use std::path::Path;
use units::SampleRate;

#[test]
fn a_change_while_it_plays_is_heard_and_comes_back() {
    let folder = Impulses::new("change");
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
    match registry().make(&node("convolver", params), Path::new("/nowhere")) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error,
    }
}

#[test]
fn what_cannot_be_played_is_refused_at_its_parameter() {
    let folder = Impulses::new("refused");
    let text = |text: &str| Value::Text(text.into());
    let three = text(&folder.write("three.wav", 3, 100, 0));
    let one = text(&folder.write("one.wav", 1, 100, 0));
    assert_eq!(refused(&[]).key, Some("file"));
    assert_eq!(refused(&[("file", text("nothing.wav"))]).key, Some("file"));
    let two = Value::Number(2.0);
    assert_eq!(
        refused(&[("file", three), ("channels", two)]).key,
        Some("file")
    );
    for (key, wrong) in [
        ("block", Value::Number(48.0)),
        ("partition", text("1x64 1x64")),
        ("partition", text("the best")),
        ("method", text("magic")),
        ("work", text("magic")),
        ("pin", text("down")),
        ("priority", Value::Number(99.0)),
        ("other", text("nothing.wav")),
    ] {
        let refused = refused(&[("file", one.clone()), (key, wrong)]);
        assert_eq!(refused.key, Some(key), "{refused}");
    }
}

#[test]
fn a_partition_is_taken_if_it_holds_the_response_with_some_block() {
    let folder = Impulses::new("partitions");
    let text = |text: &str| Value::Text(text.into());
    let one = text(&folder.write("one.wav", 1, 1000, 0));
    let cut = |partition: &str| [("file", one.clone()), ("partition", text(partition))];
    let short = refused(&cut("7x64"));
    assert_eq!(short.key, Some("partition"));
    assert!(short.message.contains("448 frames"), "{short}");
    // For graphs of 128 frames; and no others, where the node says so.
    let make = |params: &[(&str, Value)]| {
        let made = registry().make(&node("convolver", params), Path::new("/nowhere"));
        made.map(drop)
    };
    assert_eq!(make(&cut("8x128")), Ok(()));
    let of_block = |frames| {
        let [file, partition] = cut("8x128");
        make(&[file, partition, ("block", Value::Number(frames))])
    };
    assert_eq!(of_block(128.0), Ok(()));
    assert_eq!(of_block(64.0).unwrap_err().key, Some("partition"));
}

#[test]
fn after_a_reset_it_is_as_new_wherever_a_change_is() {
    let _alone = alone();
    let folder = Impulses::new("reset");
    let text = |text: &str| Value::Text(text.into());
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
    let take = |frames: usize, first: f32, turns: [u32; 2]| Take {
        inputs: vec![noise[..frames].to_vec()],
        events: (turns.into_iter().zip([1.0 - first, first]))
            .map(|(frame, value)| Event {
                frame,
                target: Target::Param(which),
                body: Body::Value(value),
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
            ("which", Value::Number(f64::from(first))),
            ("fade", Value::Number(0.02)),
            ("block", Value::Number(64.0)),
            ("partition", text("7x64 6x256 2x1024")),
            ("work", text(work)),
        ];
        let rate = SampleRate::new(48_000).unwrap();
        let rig = || Rig::new(&registry, &node("convolver", &params), rate);
        let again = take(6400, first, [100, 3000]);
        let new = rig().play(&again, Cut::Even(64));
        // Before a change, on the way of one, behind it, on the way back, and twice so.
        let mut used = rig();
        for before in [64, 192, 320, 1216, 2560, 6400, 4928, 1088] {
            used.play(&take(before, first, [128, 3712]), Cut::Even(64));
            used.reset();
            let played = used.play(&again, Cut::Even(64));
            assert!(played.bits == new.bits, "{work}, {before}");
            assert_eq!(played.allocations, 0, "{work}, {before}");
            used.reset();
        }
    }
}
