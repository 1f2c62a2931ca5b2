//! Threads of the lowest priority, which do deferred work that is due later, while all workers play.

use divisi_check::deferred_node;
use divisi_check::fixtures::{add, graph, kind, pass};
use divisi_check::test_bench::{RunConfig, TestBench, TestStrategy, registry};
use exec::ErrorCounts;
use processor::{Block, ProcessStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};
use workers::WaitPolicy;

#[test]
fn work_that_is_due_within_the_reserved_frames_is_never_run_by_a_floor() {
    let on_a_floor = Arc::new(AtomicU32::new(0));
    let mut registry = registry();
    let counted = on_a_floor.clone();
    deferred_node::add(&mut registry, move |_| {
        counted.fetch_add(u32::from(is_floor()), SeqCst);
    });
    let text = r#"o = { kind: "osc", freq: 440, }; h = { kind: "later", }; s = { kind: "sink", };
        o.1 -> h.1 -> s.1;"#;
    let graph = graph(text, &registry);
    let config = RunConfig::new(TestStrategy::Deadline, 1, 32);
    let mut bench = TestBench::new(&graph, &registry, config);
    bench.limit = Some(u64::MAX / 4);
    bench.reserved_frames = deferred_node::PART as u64 + 32;
    for _ in 0..200 {
        bench.render(1, 32);
        std::thread::sleep(Duration::from_micros(200));
    }
    assert_eq!(on_a_floor.load(SeqCst), 0);
    assert_eq!(bench.counts(), ErrorCounts::default());
}

fn is_floor() -> bool {
    let thread = std::thread::current();
    thread.name().is_some_and(|n| n.contains("-low"))
}

#[test]
fn floors_do_deferred_work_beside_busy_workers_and_every_bit_is_right() {
    let on_a_floor = Arc::new(AtomicU32::new(0));
    let mut registry = registry();
    let counted = on_a_floor.clone();
    deferred_node::add(&mut registry, move |_| {
        counted.fetch_add(u32::from(is_floor()), SeqCst);
    });
    let mut busy = kind("busy", (1, 1));
    busy.typical_ns = 20_000;
    add(&mut registry, busy, |_| {
        |block: &mut Block<'_>| {
            (0..2_000).for_each(|_| std::hint::spin_loop());
            pass(block);
            ProcessStatus::Continue
        }
    });
    let mut text =
        String::from(r#"m = { kind: "mix", in: 8, out: 1, }; s = { kind: "sink", }; m.1 -> s.1;"#);
    for n in 1..=8 {
        text += &format!(
            r#"o{n} = {{ kind: "osc", freq: {n}10, }}; b{n} = {{ kind: "busy", }}; h{n} = {{ kind: "later", }};
            o{n}.1 -> b{n}.1 -> h{n}.1 -> m.{n};"#
        );
    }
    let graph = graph(&text, &registry);
    let config = |way, workers| RunConfig {
        strategy: way,
        workers,
        block: 32,
        wait: WaitPolicy::Hybrid,
    };
    for workers in [1, 2, 3] {
        on_a_floor.store(0, SeqCst);
        let mut bench = TestBench::new(&graph, &registry, config(TestStrategy::Deadline, workers));
        let mut alone = TestBench::new(&graph, &registry, config(TestStrategy::Sequential, 1));
        let deadline = Instant::now() + Duration::from_secs(60);
        while on_a_floor.load(SeqCst) < 100 {
            assert!(Instant::now() < deadline, "{workers}: floors do nothing");
            assert!(bench.render(1, 3200) == alone.render(1, 3200), "{workers}");
        }
        assert_eq!(bench.counts(), ErrorCounts::default(), "{workers}");
    }
}
