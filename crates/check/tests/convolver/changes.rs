//! Another response while it plays, and what is refused.

use crate::patch;
use divisi_check::hall::{Hall, Manner, registry};
use divisi_check::impulse::Impulses;
use divisi_check::unit::node;
use graph::Value;
use processor::{Body, Event, MakeError, Target};
use std::path::Path;

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
