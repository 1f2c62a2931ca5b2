//! Latency compensation: paths of different latencies meet to the frame, under every executor.

use divisi_check::fixtures::{add, graph, kind};
use divisi_check::impulse_files::ImpulseFiles;
use divisi_check::latency_node;
use divisi_check::rng::Rng;
use divisi_check::test_bench::{
    ALL_STRATEGIES, PIPELINED, RunConfig, TestBench, TestStrategy, registry,
};
use graph::{Graph, shape};
use processor::{Block, ProcessStatus, Registry};

const FRAMES: usize = 3000;

/// Sample of the source with this seed at a position: a small whole number, so that sums are exact in any order.
fn sample(seed: u64, position: u64) -> f32 {
    let mixed = (position + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ seed.wrapping_mul(0xd6e8_feb8_6659_fd93);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 40) % 201) as f32 - 100.0
}

/// Output of a `fold` for its inputs: whole again, and small.
fn folded(inputs: impl Iterator<Item = f32>) -> f32 {
    let sum = (1..).zip(inputs).map(|(k, x)| k as f32 * x).sum::<f32>();
    sum % 1009.0
}

/// The usual kinds, `latency_node`, and whole numbers: `whole` gives some, `fold` makes one of three.
fn kinds() -> Registry {
    let mut registry = registry();
    latency_node::add(&mut registry);
    let seed = |node: &graph::Node| -> u64 { node.name[1..].parse().expect("its name ends so") };
    add(&mut registry, kind("whole", (0, 1)), move |node| {
        let seed = seed(node);
        move |block: &mut Block<'_>| {
            let from = block.position();
            for (x, at) in block.output(0).channel(0).iter_mut().zip(from..) {
                *x = sample(seed, at);
            }
            ProcessStatus::Continue
        }
    });
    add(&mut registry, kind("fold", (3, 1)), |_| {
        |block: &mut Block<'_>| {
            for frame in 0..block.frames() {
                let inputs = (0..3).map(|port| block.input(port).channel(0)[frame]);
                let y = folded(inputs);
                block.output(0).channel(0)[frame] = y;
            }
            ProcessStatus::Continue
        }
    });
    registry
}

/// Returns true if channel 0 of the graph `text` is silent throughout.
fn is_silent(text: &str, config: RunConfig) -> bool {
    let registry = divisi_kinds();
    let mut bench = TestBench::new(&graph(text, &registry), &registry, config);
    let played = bench.render(1, FRAMES);
    played[0].iter().all(|bits| f32::from_bits(*bits) == 0.0)
}

/// All kinds that there are, and `latency_node`.
fn divisi_kinds() -> Registry {
    let mut registry = divisi::registry();
    latency_node::add(&mut registry);
    registry
}

/// Two paths from noise to a sink, the second one inverted; `node` is on the first.
fn parallel(node: &str) -> String {
    format!(
        r#"n = {{ kind: "noise", seed: 5, }}; x = {{ {node} }}; i = {{ kind: "gain", gain: "-1", }}; s = {{ kind: "sink", }};
        n.1 -> x.1 -> s.1; n.1 -> i.1 -> s.1;"#
    )
}

/// One that gives what it is given, and lags: each with its name, its text and the block of the graph.
fn lagging(folder: &ImpulseFiles) -> [(&'static str, String, u32); 3] {
    let one = folder.write_samples("one.wav", &[1.0]);
    let text = "[network]\nedges = [\"in -> low -> out\"]\n[network.nodes]\nin = { kind = \"input\" }\n\
        low = { kind = \"gain\", piece = 100 }\nout = { kind = \"output\" }\n";
    let network = folder.write_text("same.toml", text);
    let convolver = format!(
        r#"kind: "convolver", file: "{one}", method: "direct", block: 64, latency: "block","#
    );
    [
        ("convolver", convolver, 64),
        (
            "network",
            format!(r#"kind: "network", file: "{network}","#),
            64,
        ),
        ("late", r#"kind: "late", frames: 321,"#.into(), 100),
    ]
}

#[test]
fn a_way_through_a_node_that_lags_cancels_with_its_inverse_to_digital_silence() {
    let folder = ImpulseFiles::new("align");
    for (name, node, block) in lagging(&folder) {
        let text = parallel(&node);
        for way in ALL_STRATEGIES.into_iter().chain(PIPELINED) {
            assert!(
                is_silent(&text, RunConfig::new(way, 2, block)),
                "{name}, {way:?}"
            );
        }
        // Only the other path plays, and where it lags by itself too it does not cancel.
        let alone = text.replace("i.1 -> s.1;", "i.1;");
        assert!(
            !is_silent(&alone, RunConfig::new(TestStrategy::Sequential, 1, block)),
            "{name}"
        );
        let wrong = text.replace(
            "n.1 -> i.1 -> s.1;",
            r#"d = { kind: "delay", time: 0.001, }; n.1 -> i.1 -> d.1 -> s.1;"#,
        );
        assert!(
            !is_silent(&wrong, RunConfig::new(TestStrategy::Sequential, 1, block)),
            "{name}"
        );
    }
}

#[test]
fn two_sinks_hear_at_one_time() {
    let text = r#"n = { kind: "noise", seed: 5, }; x = { kind: "late", frames: 77, };
        s = { kind: "sink", }; t = { kind: "sink", }; n.1 -> x.1 -> s.1; n.1 -> t.1;"#;
    let registry = divisi_kinds();
    let graph = graph(text, &registry);
    for block in [16, 64, 100] {
        let played = TestBench::new(
            &graph,
            &registry,
            RunConfig::new(TestStrategy::Sequential, 1, block),
        )
        .render(2, FRAMES);
        assert!(played[0] == played[1], "{block}");
        assert!(played[0][..77].iter().all(|bits| *bits == 0));
        assert!(played[0][77..].iter().any(|bits| *bits != 0));
    }
}

/// A node of a random graph, with its input edges: (from, at its input).
struct Made {
    what: What,
    inputs: Vec<(usize, usize)>,
}

enum What {
    Whole(u64),
    Late(usize),
    Fold,
    Sink,
}

/// A number of nodes, each with inputs from earlier ones.
fn make_up(rng: &mut Rng, nodes: usize) -> Vec<Made> {
    let mut all = vec![Made {
        what: What::Whole(0),
        inputs: Vec::new(),
    }];
    for number in 1..nodes {
        let (what, ports) = match rng.below(8) {
            0 => (What::Whole(number as u64), 0),
            1..=3 => (What::Late(1 + rng.below(300)), 1),
            4 | 5 => (What::Fold, 3),
            6 => (What::Late(64), 1),
            _ => (What::Sink, 1),
        };
        let mut inputs = Vec::new();
        for port in 0..ports {
            for _ in 0..1 + rng.below(2) {
                let near = number.saturating_sub(1 + rng.below(5));
                if !matches!(all[near].what, What::Sink) {
                    inputs.push((near, port));
                }
            }
        }
        inputs.sort_unstable();
        inputs.dedup();
        all.push(Made { what, inputs });
    }
    all
}

fn text_of(all: &[Made]) -> String {
    let mut text = String::new();
    for (number, made) in all.iter().enumerate() {
        let kind = match made.what {
            What::Whole(_) => r#"kind: "whole","#.to_owned(),
            What::Late(frames) => format!(r#"kind: "late", frames: {frames},"#),
            What::Fold => r#"kind: "fold","#.to_owned(),
            What::Sink => r#"kind: "sink","#.to_owned(),
        };
        text += &format!("x{number} = {{ {kind} }};\n");
    }
    for (number, made) in all.iter().enumerate() {
        for (from, port) in &made.inputs {
            text += &format!("x{from}.1 -> x{number}.{};\n", port + 1);
        }
    }
    text
}

/// Expected output of the sinks: each path as late as the latest that it meets.
fn expected(all: &[Made], frames: usize) -> Vec<Vec<f32>> {
    let mut rendered = vec![0; all.len()];
    let mut given = vec![0; all.len()];
    for (number, made) in all.iter().enumerate() {
        rendered[number] = made
            .inputs
            .iter()
            .map(|(from, _)| given[*from])
            .max()
            .unwrap_or(0);
        let own = match made.what {
            What::Late(frames) => frames,
            _ => 0,
        };
        given[number] = rendered[number] + own;
    }
    let sinks = || (0..all.len()).filter(|at| matches!(all[*at].what, What::Sink));
    let latest = sinks().map(|at| rendered[at]).max().unwrap_or(0);
    sinks().for_each(|at| rendered[at] = latest);
    let mut played: Vec<Vec<f32>> = Vec::new();
    for (number, made) in all.iter().enumerate() {
        let input = |port: usize, frame: usize| {
            let edges = made.inputs.iter().filter(|(_, to)| *to == port);
            let at = |from: usize| (frame + given[from]).checked_sub(rendered[number]);
            let rendered = edges.map(|(from, _)| at(*from).map_or(0.0, |at| played[*from][at]));
            rendered.sum::<f32>()
        };
        let sound = (0..frames).map(|frame| match made.what {
            What::Whole(seed) => sample(seed, frame as u64),
            What::Late(late) => frame.checked_sub(late).map_or(0.0, |frame| input(0, frame)),
            What::Fold => folded((0..3).map(|port| input(port, frame))),
            What::Sink => input(0, frame),
        });
        let sound = sound.collect();
        played.push(sound);
    }
    sinks().map(|at| played[at].clone()).collect()
}

#[test]
fn random_graphs_are_aligned_to_the_frame_under_every_executor() {
    let registry = kinds();
    let (mut delayed, mut rendered, mut copies) = (0, 0, 0);
    for seed in 0..30 {
        let mut rng = Rng(seed);
        let nodes = 5 + rng.below(40);
        let made = make_up(&mut rng, nodes);
        let graph = graph(&text_of(&made), &registry);
        let expected = expected(&made, FRAMES);
        let sinks = expected.len() as u16;
        if sinks == 0 {
            continue;
        }
        for way in ALL_STRATEGIES.into_iter().chain(PIPELINED) {
            let config = RunConfig::new(way, 1 + rng.below(3), 1 + rng.below(200) as u32);
            let mut bench = TestBench::new(&graph, &registry, config);
            assert_eq!(bench.plan.validate(), Ok(()));
            delayed += bench.plan.delayed_edges.len();
            copies += bench.plan.steps.iter().filter(|step| step.copy > 0).count();
            let played = bench.render(sinks, FRAMES);
            for (channel, expected) in played.iter().zip(&expected) {
                let channel: Vec<f32> = channel.iter().map(|bits| f32::from_bits(*bits)).collect();
                assert!(channel == *expected, "seed {seed}, {config:?}");
                rendered += channel.iter().filter(|x| **x != 0.0).count();
            }
        }
    }
    assert!(delayed > 1000 && copies > 0, "{delayed}, {copies}");
    assert!(rendered > 1_000_000, "{rendered}");
}

#[test]
fn what_enters_a_cycle_enters_at_one_time_and_feedback_keeps_its_own() {
    let text = r#"x1 = { kind: "whole", }; x2 = { kind: "whole", }; l = { kind: "late", frames: 100, };
        m = { kind: "mix", in: 3, out: 1, }; g = { kind: "gain", gain: 0.5, }; d = { kind: "delay", time: 0.0004166, };
        s = { kind: "sink", }; t = { kind: "sink", };
        x1.1 -> l.1 -> m.1; x2.1 -> m.2; m.1 -> g.1 -> d.1 -> m.3; m.1 -> s.1; x2.1 -> t.1;"#;
    let registry = kinds();
    let graph = graph(text, &registry);
    let mut expected = [vec![0.0; FRAMES], vec![0.0; FRAMES]];
    for at in 100..FRAMES {
        let [a, b] = [1, 2].map(|seed| sample(seed, at as u64 - 100));
        // 20 frames; a round of the loop is no longer.
        expected[0][at] = a + b + 0.5 * expected[0][at - 20];
        expected[1][at] = b;
    }
    for way in ALL_STRATEGIES.into_iter().chain(PIPELINED) {
        for block in [1, 7, 64, 300] {
            let config = RunConfig::new(way, 2, block);
            let mut bench = TestBench::new(&graph, &registry, config);
            assert_eq!(
                bench.plan.delayed_edges.len(),
                2,
                "into the cycle, and to the other sink"
            );
            let played = bench.render(2, FRAMES);
            for (played, expected) in played.iter().zip(&expected) {
                let played: Vec<f32> = played.iter().map(|bits| f32::from_bits(*bits)).collect();
                assert!(played == *expected, "{config:?}");
            }
        }
    }
}

#[test]
fn a_graph_without_latencies_has_no_step_more() {
    let registry = kinds();
    for graph in [
        shape::random(100, 3, None).unwrap(),
        shape::diamond(156, None).unwrap(),
    ] {
        let bench = TestBench::new(
            &graph,
            &registry,
            RunConfig::new(TestStrategy::Stealing, 2, 64),
        );
        assert!(bench.plan.aligners.is_empty() && bench.plan.delayed_edges.is_empty());
        assert_eq!(bench.plan.steps.len(), steps_of(&graph));
    }
}

/// One a node.
fn steps_of(graph: &Graph) -> usize {
    graph.len()
}
