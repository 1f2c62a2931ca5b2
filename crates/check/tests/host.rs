//! Promises to a program that embeds the engine: events at their frames, ids of added nodes, edits without a click,
//! nodes that fail named.

use divisi_check::fixtures::{add, graph, kind, pass};
use divisi_check::test_bench::{rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineError, EngineOptions, Scheduler};
use graph::{BuildError, Edit, Graph, GraphBuilder, NodeId};
use processor::{Block, Mode, ProcessStatus, Registry};
use std::sync::Arc;
use units::{Frames, Nanos};
use workers::AudioThread;

struct Host {
    engine: Engine,
    callback: EngineCallback,
    block: usize,
    played: Vec<f32>,
}

impl Host {
    fn new(
        graph: Graph,
        registry: Registry,
        block: u32,
        change: impl FnOnce(&mut EngineOptions),
    ) -> Self {
        let mut options = EngineOptions::new(Frames(block), rate());
        options.mode = Mode::Offline;
        options.scheduler = Scheduler::Sequential;
        options.latency_blocks = Some(1);
        change(&mut options);
        let (engine, callback) = Engine::new(graph, Arc::new(registry), options).unwrap();
        Self {
            engine,
            callback,
            block: block as usize,
            played: Vec::new(),
        }
    }

    fn play(&mut self, frames: usize) {
        for _ in 0..frames / self.block {
            let mut out = vec![0.0; self.block];
            let quiet = AudioThread::enter();
            self.callback
                .process(CallbackInfo::default(), &[], &mut [&mut out]);
            drop(quiet);
            self.played.extend(out);
            self.engine.update();
        }
    }

    fn id(&self, name: &str) -> NodeId {
        self.engine.graph().find(name).unwrap()
    }

    /// Largest step from one frame to the next.
    fn largest_jump(&self) -> f32 {
        let jumps = self.played.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        jumps.fold(0.0, f32::max)
    }

    fn bits(&self) -> Vec<u32> {
        self.played.iter().map(|x| x.to_bits()).collect()
    }
}

/// A tone of half amplitude; its largest step from frame to frame is 0.0144.
const TONE: &str =
    r#"o = { kind: "osc", freq: 220, volume: 0.5, }; s = { kind: "sink", }; o.1 -> s.1;"#;

fn tone(change: impl FnOnce(&mut EngineOptions)) -> Host {
    let registry = registry();
    Host::new(graph(TONE, &registry), registry, 64, change)
}

/// Puts a filter between the tone and the sink, whose output is far from its input.
fn insert_filter(host: &mut Host) -> NodeId {
    let (o, s) = (host.id("o"), host.id("s"));
    let added = host.engine.edit_with(|patch| {
        let filter = patch.add("f", "onepole", &[("freq", 30.0.into())])?;
        patch.disconnect((o, "out"), (s, "in"))?;
        patch.connect((o, "out"), (filter, "in"))?;
        patch.connect((filter, "out"), (s, "in"))?;
        Ok(filter)
    });
    added.unwrap()
}

type Change = fn(&mut Host);

/// Edits that would jump: each is made after some 5000 frames of sound.
const CHANGES: [(&str, Change); 6] = [
    ("insert", |host| {
        insert_filter(host);
    }),
    ("insert, and remove in the middle of the fade", |host| {
        let filter = insert_filter(host);
        host.play(256);
        let (o, s) = (host.id("o"), host.id("s"));
        let removed = host.engine.edit_with(|patch| {
            patch.remove(filter)?;
            patch.connect((o, "out"), (s, "in"))
        });
        removed.unwrap();
    }),
    ("disable", |host| {
        let o = host.id("o");
        host.engine.edit([Edit::Enable(o, false)]).unwrap();
        host.play(2048);
        host.engine.edit([Edit::Enable(o, true)]).unwrap();
    }),
    ("remove the source", |host| {
        let o = host.id("o");
        host.engine.edit([Edit::Remove(o)]).unwrap();
    }),
    ("remove the sink", |host| {
        let s = host.id("s");
        host.engine.edit([Edit::Remove(s)]).unwrap();
    }),
    ("add a voice under the name of one that goes", |host| {
        let (o, s) = (host.id("o"), host.id("s"));
        let added = host.engine.edit_with(|patch| {
            patch.remove(o)?;
            let o = patch.add(
                "o",
                "osc",
                &[("freq", 150.0.into()), ("volume", 0.5.into())],
            )?;
            patch.connect((o, "out"), (s, "in"))
        });
        added.unwrap();
    }),
];

#[test]
fn no_edit_makes_a_click_and_every_scheduler_gives_the_same_bits() {
    for (name, change) in CHANGES {
        let mut expected = None;
        for (scheduler, workers) in [
            (Scheduler::Sequential, 1),
            (Scheduler::Stealing, 3),
            (Scheduler::Hlfet, 2),
            (Scheduler::Cpfd, 2),
        ] {
            let mut host = tone(|options| {
                options.scheduler = scheduler;
                options.workers = workers;
            });
            // The tone is near its peak.
            host.play(4992);
            change(&mut host);
            host.play(2048);
            let jump = host.largest_jump();
            assert!(jump < 0.03, "{name}, {scheduler}: {jump}");
            // When the fade is over, only what the user asked for plays.
            let (plan, graph) = (host.engine.plan(), host.engine.graph());
            assert!(plan.steps.len() <= graph.len(), "{name}");
            let bits = expected.get_or_insert_with(|| host.bits());
            assert!(*bits == host.bits(), "{name}, {scheduler}");
        }
    }
}

#[test]
fn an_edit_without_a_fade_cuts_and_that_was_a_click() {
    let mut host = tone(|options| options.edit_fade = Nanos(0));
    host.play(4992);
    insert_filter(&mut host);
    host.play(2048);
    assert!(host.largest_jump() > 0.1, "{}", host.largest_jump());
}

#[test]
fn after_its_fade_an_edit_sounds_as_if_it_had_always_been_so() {
    let mut host = tone(|_| ());
    let registry = registry();
    host.play(4992);
    let filter = insert_filter(&mut host);
    host.play(2048);
    let (o, s) = (host.id("o"), host.id("s"));
    host.engine
        .edit_with(|patch| {
            patch.remove(filter)?;
            patch.connect((o, "out"), (s, "in"))
        })
        .unwrap();
    host.play(2048);
    let mut untouched = Host::new(graph(TONE, &registry), registry, 64, |_| ());
    untouched.play(host.played.len());
    let last = host.played.len() - 1024;
    assert!(host.bits()[last..] == untouched.bits()[last..]);
}

#[test]
fn an_edit_whose_graphs_cannot_play_together_is_made_all_the_same() {
    let registry = registry();
    let text = r#"o = { kind: "osc", freq: 220, }; a = { kind: "gain", }; b = { kind: "gain", }; s = { kind: "sink", };
        o.1 -> a.1 -> b.1 -> s.1;"#;
    let mut host = Host::new(graph(text, &registry), registry, 64, |_| ());
    host.play(640);
    let [o, a, b, s] = ["o", "a", "b", "s"].map(|name| host.id(name));
    host.engine
        .edit_with(|patch| {
            for (from, to) in [(o, a), (a, b), (b, s)] {
                patch.disconnect((from, "out"), (to, "in"))?;
            }
            for (from, to) in [(o, b), (b, a), (a, s)] {
                patch.connect((from, "out"), (to, "in"))?;
            }
            Ok(())
        })
        .unwrap();
    host.play(640);
    assert_eq!(host.engine.graph().edges().len(), 3);
    assert!(host.played[700..].iter().any(|x| *x != 0.0));
}

#[test]
fn an_edit_gives_the_ids_that_it_made_and_refuses_by_name() {
    let mut host = tone(|_| ());
    let node = |name: &str| {
        let registry = registry();
        let mut patch = GraphBuilder::new(registry.catalogue());
        let id = patch.add(name, "gain", &[]).unwrap();
        patch.graph().node(id).unwrap().clone()
    };
    let s = host.id("s");
    let edits = [
        Edit::Add(node("a")),
        Edit::Enable(s, true),
        Edit::Add(node("b")),
    ];
    let ids = host.engine.edit(edits).unwrap();
    assert_eq!(ids, [host.id("a"), host.id("b")]);
    let before = host.engine.graph().clone();
    let wrong = host.engine.edit_with(|patch| patch.add("c", "gian", &[]));
    let Err(EngineError::Build(BuildError::NoKind { nearest, .. })) = wrong else {
        panic!("{wrong:?}");
    };
    assert_eq!(nearest, Some("gain"));
    assert_eq!(*host.engine.graph(), before);
}

#[test]
fn a_value_out_of_range_is_called_that() {
    let mut host = tone(|_| ());
    let o = host.id("o");
    let wrong = host.engine.set_param(o, "freq", 1e9);
    assert!(
        matches!(&wrong, Err(EngineError::OutOfRange { param, value, .. }) if param == "freq" && *value == 1e9),
        "{wrong:?}"
    );
    let wrong = host.engine.set_param(o, "wave", 1.0);
    assert!(matches!(wrong, Err(EngineError::NoParam(_))), "{wrong:?}");
}

/// A number that follows its parameter, so that events can be seen.
const GATE: &str = r#"c = { kind: "envelope", attack: 0, sustain: 1, release: 0, }; s = { kind: "sink", }; c.1 -> s.1;"#;

#[test]
fn midi_opens_and_closes_at_its_frame_in_blocks_of_any_length() {
    for block in [16, 64, 240] {
        let registry = registry();
        let mut host = Host::new(graph(GATE, &registry), registry, block, |_| ());
        let c = host.id("c");
        let engine = &mut host.engine;
        engine.send_midi(c, "notes", [0x80, 60, 0], 1500).unwrap();
        engine.send_midi(c, "notes", [0x90, 60, 100], 1000).unwrap();
        engine.send_value(c, "notes", 1.0, 2000).unwrap();
        for wrong in [[0x40, 0, 0], [0x90, 0x80, 0], [0xf0, 0, 0]] {
            let refused = engine.send_midi(c, "notes", wrong, 0);
            assert!(matches!(refused, Err(EngineError::NotMidi(_))));
        }
        let refused = engine.send_midi(c, "gate", [0x90, 60, 100], 0);
        assert!(matches!(refused, Err(EngineError::NoParam(_))));
        host.play(4800);
        let open: Vec<bool> = host.played.iter().map(|x| *x > 0.5).collect();
        let expected: Vec<bool> = (0..4800)
            .map(|frame| (1000..1500).contains(&frame) || frame >= 2000)
            .collect();
        assert!(open == expected, "blocks of {block}");
    }
}

#[test]
fn a_ramp_begins_at_its_frame_and_has_the_same_bits_in_blocks_of_any_length() {
    let mut expected: Option<Vec<u32>> = None;
    for block in [16, 48, 64, 240] {
        let registry = registry();
        let text =
            r#"o = { kind: "osc", freq: 220, volume: 0, }; s = { kind: "sink", }; o.1 -> s.1;"#;
        let mut host = Host::new(graph(text, &registry), registry, block, |_| ());
        let o = host.id("o");
        host.engine
            .schedule_param(o, "volume", 1.0, 1001, Frames(4800))
            .unwrap();
        host.play(9600);
        assert!(host.played[..=1001].iter().all(|x| *x == 0.0));
        let peak = |frames: std::ops::Range<usize>| {
            host.played[frames]
                .iter()
                .fold(0.0_f32, |max, x| max.max(x.abs()))
        };
        let (middle, end) = (peak(3200..3600), peak(8000..9600));
        assert!((0.4..0.6).contains(&middle), "{middle}");
        assert!((0.99..=1.0).contains(&end), "{end}");
        assert!(host.largest_jump() < 0.04);
        assert!(
            *expected.get_or_insert_with(|| host.bits()) == host.bits(),
            "blocks of {block}"
        );
    }
}

#[test]
fn a_node_that_panicked_is_named() {
    let mut registry = registry();
    add(&mut registry, kind("bomb", (1, 1)), |_| {
        |block: &mut Block<'_>| {
            assert!(block.position() < 640, "a bomb goes off");
            pass(block);
            ProcessStatus::Continue
        }
    });
    let text = r#"o = { kind: "osc", freq: 220, }; b = { kind: "bomb", }; s = { kind: "sink", }; o.1 -> b.1 -> s.1;"#;
    let mut host = Host::new(graph(text, &registry), registry, 64, |_| ());
    host.play(1280);
    let named = host.engine.quarantined();
    assert!(
        named.len() == 1 && named[0].contains("`b` panicked"),
        "{named:?}"
    );
}

#[test]
fn the_report_has_the_kernels_and_partitions_of_all_nodes_and_the_driver_of_the_host() {
    let files = divisi_check::impulse_files::ImpulseFiles::new("settings");
    let file = files.write("one.wav", 1, 3000, 1);
    let registry = registry();
    let text = format!(
        r#"o = {{ kind: "osc", freq: 220, }}; s = {{ kind: "sink", }};
        a = {{ kind: "convolver", file: "{file}", partition: "7x64 11x256", block: 64, }};
        b = {{ kind: "convolver", file: "{file}", partition: "direct", block: 64, }};
        o.1 -> a.1 -> s.1; o.1 -> b.1 -> s.1;"#
    );
    let text = text.replace(r#"partition: "direct""#, r#"method: "direct""#);
    let mut host = Host::new(graph(&text, &registry), registry, 64, |options| {
        options.driver = "mine".into();
    });
    let report = host.engine.report();
    assert_eq!(report.driver, "mine");
    assert_eq!(report.kernels, fft::Kernels::best().name());
    let partition = report.partition.unwrap();
    assert!(
        partition.contains("7x64 11x256") && partition.contains(", "),
        "{partition}"
    );
    let report = tone(|_| ()).engine.report();
    assert_eq!((report.kernels.as_str(), report.partition), ("", None));
}

#[test]
fn an_engine_chooses_its_scheduler_unless_one_is_given() {
    let registry = registry();
    let graph = graph(TONE, &registry);
    let options = EngineOptions::new(Frames(64), rate());
    assert_eq!(options.scheduler, Scheduler::Auto);
    let (mut engine, _) = Engine::new(graph, Arc::new(registry), options).unwrap();
    let report = engine.report();
    assert_eq!(report.chosen_by, "auto");
    assert_eq!(report.scheduler, "sequential");
}
