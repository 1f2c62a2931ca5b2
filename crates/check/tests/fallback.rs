//! A chosen scheduler that turns out slower than in its trials: the engine changes to the sequential executor.

use divisi_check::fixtures::graph;
use divisi_check::test_bench::{rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use std::sync::Arc;
use units::{Frames, Nanos};

const BLOCK: usize = 16;
const CYCLES: usize = 4 * 1024;
const SESSION: &str = r#"
    a = { kind: "osc", freq: 220, out: 1, };
    b = { kind: "osc", freq: 331, out: 1, };
    both = { kind: "mix", in: 2, out: 1, };
    low = { kind: "onepole", freq: 900, in: 1, out: 1, };
    o = { kind: "sink", in: 1, };
    a.1 -> both.1; b.1 -> both.2; both.1 -> low.1; low.1 -> o.1;
"#;

/// Bits of the output, the scheduler at the end, and the note.
fn play(scheduler: Scheduler, sequential: Option<Nanos>) -> (Vec<u32>, String, Option<String>) {
    let registry = registry();
    let mut options = EngineOptions::new(Frames(BLOCK as u32), rate());
    options.scheduler = scheduler;
    options.workers = 2;
    options.sequential_mean = sequential;
    let graph = graph(SESSION, &registry);
    let (mut engine, mut callback) = Engine::new(graph, Arc::new(registry), options).unwrap();
    let mut played = Vec::with_capacity(CYCLES * BLOCK);
    for cycle in 0..CYCLES {
        let mut out = [0.0; BLOCK];
        callback.process(CallbackInfo::default(), &[], &mut [&mut out]);
        played.extend(out.map(f32::to_bits));
        if cycle % 64 == 0 {
            engine.update();
        }
    }
    let note = engine.fallback_note().map(str::to_owned);
    let report = engine.report();
    assert_eq!(report.notes.last(), note.as_ref());
    (played, report.scheduler, note)
}

#[test]
fn a_choice_that_turns_out_slower_ends_with_the_same_bits() {
    let (alone, _, _) = play(Scheduler::Sequential, None);
    for scheduler in [Scheduler::Stealing, Scheduler::Hlfet, Scheduler::Cpfd] {
        let (played, at_end, note) = play(scheduler, Some(Nanos(0)));
        assert_eq!(at_end, "sequential", "{scheduler}");
        assert!(note.unwrap().starts_with(scheduler.name()));
        assert!(played == alone, "{scheduler}");
    }
}

#[test]
fn a_choice_that_keeps_its_promise_stays() {
    let (_, at_end, note) = play(Scheduler::Stealing, Some(Nanos(u64::MAX / 4)));
    assert_eq!((at_end.as_str(), note), ("stealing", None));
}
