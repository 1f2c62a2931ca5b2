//! The choice of a scheduler beside what is lived: an engine that turns out slower tries the sequential executor, and one whose
//! graph grows tries several workers, with the same bits.

use divisi::costs::MachineCosts;
use divisi_check::fixtures::graph;
use divisi_check::test_bench::{rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{
    ChoiceReason, ChooseOptions, Engine, EngineOptions, ScheduleChange, Scheduler, choose_scheduler,
};
use processor::Mode;
use std::sync::Arc;
use units::{Frames, Nanos, SampleRate};

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
    // On a busy machine it may have other notes too.
    let is_told = |note: &String| report.notes.iter().any(|told| told.ends_with(note));
    assert!(note.as_ref().is_none_or(is_told));
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
fn a_run_that_is_shorter_than_the_trials_tries_nothing() {
    let registry = Arc::new(registry());
    let graph = graph(SESSION, &registry);
    let reason = |blocks: u64, use_all_workers: bool| {
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate());
        options.mode = Mode::Offline;
        options.workers = 2;
        options.use_all_workers = use_all_workers;
        let mut options = ChooseOptions::new(options, "short");
        options.blocks = Some(blocks);
        let mut machine = MachineCosts::default();
        let choice = choose_scheduler(&graph, &registry, &options, &mut machine);
        choice.expect("the graph is valid").reason
    };
    assert_eq!(reason(8, false), ChoiceReason::RunTooShort);
    assert_ne!(reason(8, true), ChoiceReason::RunTooShort);
    assert_ne!(reason(1_000_000, false), ChoiceReason::RunTooShort);
}

#[test]
fn a_choice_that_keeps_its_promise_is_not_dropped() {
    // The load may be a reason of its own to play it otherwise: on a busy machine it changes.
    let (played, _, note) = play(Scheduler::Stealing, Some(Nanos(u64::MAX / 4)));
    assert_eq!(note, None);
    assert!(played == play(Scheduler::Sequential, None).0);
}

/// Bits of the output of a graph that grows by 400 nodes while it plays, and the changes of the schedule.
fn grow(is_chosen: bool) -> (Vec<u32>, Vec<ScheduleChange>, Vec<String>) {
    let registry = registry();
    // A long period, so that a busy machine leaves room for a trial.
    let rate = SampleRate::new(8_000).unwrap();
    let mut options = EngineOptions::new(Frames(BLOCK as u32), rate);
    options.scheduler = Scheduler::Sequential;
    (options.is_chosen, options.workers, options.max_workers) = (is_chosen, 1, 2);
    let graph = graph(SESSION, &registry);
    let (mut engine, mut callback) = Engine::new(graph, Arc::new(registry), options).unwrap();
    assert_eq!((engine.is_adaptive(), engine.workers()), (is_chosen, 1));
    let mut played = Vec::new();
    for cycle in 0..8 * 1024 {
        if cycle == 1536 {
            let sink = engine.graph().find("o").unwrap();
            let grown = engine.edit_with(|builder| {
                for line in 0..40 {
                    let pitch = (100.0 + f64::from(line)).into();
                    let mut last =
                        builder.add(&format!("source {line}"), "osc", &[("freq", pitch)])?;
                    for at in 0..9 {
                        let next = builder.add(
                            &format!("{line} {at}"),
                            "onepole",
                            &[("freq", 900.0.into())],
                        )?;
                        builder.connect((last, "out"), (next, "in"))?;
                        last = next;
                    }
                    builder.connect((last, "out"), (sink, "in"))?;
                }
                Ok(())
            });
            grown.unwrap();
        }
        let mut out = [0.0; BLOCK];
        callback.process(CallbackInfo::default(), &[], &mut [&mut out]);
        played.extend(out.map(f32::to_bits));
        if cycle % 32 == 0 {
            engine.update();
        }
    }
    let changes = engine.schedule_changes().to_vec();
    (played, changes, engine.report().notes)
}

#[test]
#[cfg_attr(
    tsan,
    ignore = "a trial needs room in the period, which the sanitizer takes"
)]
fn a_graph_that_grows_while_it_plays_has_another_schedule_tried_with_the_same_bits() {
    let (expected, none, _) = grow(false);
    let (played, changes, notes) = grow(true);
    assert!(none.is_empty() && played == expected);
    let first = changes
        .first()
        .expect("the graph is a hundred times as large");
    assert!(first.is_trial && first.workers == 2, "{changes:?}");
    assert!(first.reason.contains("on trial"), "{changes:?}");
    // What the trial shows depends on the machine; it does not go to and fro.
    assert!(changes.len() <= 4, "{changes:?}");
    assert!(
        notes.iter().any(|note| note.ends_with(&first.reason)),
        "{notes:?}"
    );
}
