//! Mistakes in graphs: message, place and help.

mod common;
use common::Patch;
use divisi_plan::{ChannelSource, PlanError, compile};
use graph::{Diagnostic, NodeId, ParamValue, Signal, SourceSpan};
use units::{Channels, Frames};

fn mistakes(patch: &Patch) -> Vec<Diagnostic> {
    let PlanError(all) =
        compile(&patch.graph, &patch.catalogue, &patch.options).expect_err("it is wrong");
    all
}

fn only_mistake(patch: &Patch) -> Diagnostic {
    let mut all = mistakes(patch);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn a_cycle_without_a_delay_is_named_node_by_node() {
    let mut patch = Patch::default();
    let [a, b, c] = ["mix", "mod", "mod"].map(|kind| patch.add(kind));
    patch.wire(a, b);
    patch.wire(b, c);
    patch.wire(c, a);
    let mistake = only_mistake(&patch);
    assert_eq!(
        mistake.message,
        "a cycle without a delay: `mix0 → mod1 → mod2 → mix0`"
    );
    assert_eq!(mistake.span, SourceSpan::new(1, 1, 1));
    assert_eq!(mistake.related.len(), 2);
    assert_eq!(mistake.help, "put a `delay` of at least one frame into it");
}

#[test]
fn a_graph_of_more_nodes_than_can_be_planned_is_refused_with_the_number() {
    let mut patch = Patch::default();
    (0..=divisi_plan::MAX_NODES).for_each(|_| {
        patch.add("mix");
    });
    let mistake = only_mistake(&patch);
    assert_eq!(
        mistake.message,
        "the graph has 262145 nodes; 262144 is the maximum"
    );
    assert_eq!(mistake.help, "play it as several sessions");
}

#[test]
fn a_node_that_feeds_itself_is_a_cycle() {
    let mut patch = Patch::default();
    let a = patch.add("mod");
    patch.wire(a, a);
    assert!(only_mistake(&patch).message.ends_with("`mod0 → mod0`"));
}

#[test]
fn a_delay_that_may_be_zero_does_not_cut_a_cycle() {
    let mut patch = Patch::default();
    let a = patch.add("mix");
    let delay = patch.add_with("delay", &[("time", 0.5), ("min_time", 0.0)]);
    patch.wire(a, delay);
    patch.wire(delay, a);
    let mistake = only_mistake(&patch);
    assert!(
        mistake.message.ends_with("`mix0 → delay1 → mix0`"),
        "{mistake:?}"
    );
    let why = "`delay1` may be shorter than a frame";
    assert!(mistake.related.iter().any(|(_, words)| words == why));
}

#[test]
fn each_cycle_is_told_of_beside_a_sound_one() {
    let mut patch = Patch::default();
    for _ in 0..2 {
        let [a, b] = ["mod", "mod"].map(|kind| patch.add(kind));
        patch.wire(a, b);
        patch.wire(b, a);
    }
    let mix = patch.add("mix");
    let delay = patch.add_with("delay", &[("time", 0.5)]);
    patch.wire(mix, delay);
    patch.wire(delay, mix);
    assert_eq!(mistakes(&patch).len(), 2);
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let mut patch = Patch::default();
    let osc = patch.add("osc");
    let sink = patch.add("sink");
    patch.add("oscc");
    let player = patch.add("player");
    patch.add("delay");
    patch.add_with("sink", &[("channel", 1025.0)]);
    patch.wire_ports((osc, 1), (sink, 0));
    patch.wire_ports((osc, 0), (sink, 7));
    patch.wire_ports((player, 0), (sink, 0));
    patch.wire(osc, NodeId(99));
    let all = mistakes(&patch);
    let words: Vec<&str> = all.iter().map(|m| m.message.as_str()).collect();
    assert_eq!(
        words,
        [
            "`oscc2` is of unknown kind `oscc`",
            "`delay4` needs `time`",
            "`channel` of `sink5` is not a whole number from 1 to 1024",
            "`osc0` has no output 2; it has 1",
            "`sink1` has no input 8; it has 1",
            "output `c` of `player3` carries control numbers, input `a` of `sink1` takes one channel of audio",
            "an edge names node 99, which does not exist",
        ]
    );
    assert_eq!(all[0].help, "did you mean `osc`?");
    assert_eq!(all[0].span, SourceSpan::new(3, 1, 1));
    assert_eq!(all[4].span, SourceSpan::new(1001, 1, 1));
}

#[test]
fn channels_must_be_equal_or_one_at_either_end() {
    let mut patch = Patch::default();
    let stereo = patch.add_with("osc", &[("channels", 2.0)]);
    let mono = patch.add("osc");
    let sink = patch.add_with("sink", &[("channels", 2.0)]);
    let one = patch.add("sink");
    patch.wire(stereo, sink);
    patch.wire(mono, sink);
    assert_eq!(patch.plan().validate(), Ok(()));
    // Two channels are added into one.
    patch.wire(stereo, one);
    let plan = patch.plan();
    assert_eq!(plan.validate(), Ok(()));
    let sums = plan.channel_sources.iter();
    let sums =
        sums.filter(|source| matches!(source, ChannelSource::Sum { from, .. } if from.len() == 2));
    assert_eq!(sums.count(), 3);
    let three = patch.add_with("sink", &[("channels", 3.0)]);
    patch.wire(stereo, three);
    let mistake = only_mistake(&patch);
    assert!(mistake.message.contains("2 channels of audio"));
    assert!(mistake.help.contains("`matrix`"));
}

#[test]
fn absurd_times_and_channels_are_refused_and_not_made_room_for() {
    for time in [1e9, 1e300, -1.0, f64::NAN, f64::INFINITY] {
        let mut patch = Patch::default();
        patch.add_with("delay", &[("time", time)]);
        assert_eq!(mistakes(&patch).len(), 1, "{time}");
    }
    for channel in [0.5, 1.5, -3.0, 1e9, f64::NAN] {
        let mut patch = Patch::default();
        patch.add_with("sink", &[("channel", channel)]);
        assert_eq!(mistakes(&patch).len(), 1, "{channel}");
    }
    let mut patch = Patch::default();
    let delay = patch.add_with("delay", &[("time", 1.0)]);
    let node = patch.graph.node_mut(delay).unwrap();
    node.set("max_time", ParamValue::Text("long".into()));
    assert_eq!(mistakes(&patch).len(), 1);
}

#[test]
fn a_delay_whose_smallest_time_exceeds_its_largest_is_refused() {
    let mut patch = Patch::default();
    let bounds = [("time", 0.1), ("min_time", 0.2), ("max_time", 0.05)];
    patch.add_with("delay", &bounds);
    assert_eq!(
        only_mistake(&patch).message,
        "`min_time` of `delay0` is 0.2 s, more than `max_time`, 0.05 s"
    );
}

#[test]
fn two_nodes_that_write_one_file_are_refused() {
    let mut patch = Patch::default();
    for file in [
        "takes/a.wav",
        "./takes//a.wav",
        "takes/b.wav",
        "takes/b.wav",
    ] {
        let id = patch.add("recorder");
        let node = patch.graph.node_mut(id).unwrap();
        node.set("file", ParamValue::Text(file.into()));
    }
    let last = patch.graph.find("recorder3").unwrap();
    patch.graph.node_mut(last).unwrap().enabled = false;
    assert_eq!(
        only_mistake(&patch).message,
        "`recorder0` and `recorder1` write the same file"
    );
}

#[test]
fn what_is_too_large_as_a_whole_is_refused_at_the_node_that_is_one_too_many() {
    let mut patch = Patch::default();
    for _ in 0..4 {
        patch.add_with("delay", &[("time", 1000.0)]);
    }
    // 2^26 samples each.
    assert_eq!(patch.plan().delay_lines.len(), 4);
    patch.add_with("delay", &[("time", 1000.0)]);
    assert_eq!(only_mistake(&patch).span, SourceSpan::new(5, 1, 1));
    for _ in 0..20 {
        patch.add_with("mix", &[("channels", 256.0), ("in", 1000.0)]);
    }
    assert_eq!(mistakes(&patch).len(), 2);
    for frames in [0, u32::MAX] {
        let mut patch = Patch::default();
        patch.options.block = Frames(frames);
        assert!(only_mistake(&patch).message.starts_with("a block has"));
    }
    let mut patch = Patch::default();
    patch.options.block = Frames(1 << 20);
    for _ in 0..513 {
        patch.add("osc");
    }
    assert_eq!(only_mistake(&patch).help, "take a shorter block");
}

#[test]
fn ports_that_no_reader_gives_are_refused_or_borne() {
    let mut patch = Patch::default();
    let odd = patch.add("osc");
    let sink = patch.add("sink");
    let taker = patch.add("mod");
    let delay = patch.add_with("delay", &[("time", 1.0)]);
    patch.wire(odd, taker);
    for (id, inputs) in [(odd, false), (taker, true)] {
        let node = patch.graph.node_mut(id).unwrap();
        let ports = if inputs {
            &mut node.inputs
        } else {
            &mut node.outputs
        };
        ports[0].signal = Signal::Audio(Channels(0));
    }
    assert_eq!(patch.plan().validate(), Ok(()));
    for id in [sink, delay] {
        patch.graph.node_mut(id).unwrap().inputs.clear();
    }
    assert_eq!(mistakes(&patch).len(), 2);
}
