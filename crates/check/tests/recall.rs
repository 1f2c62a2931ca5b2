//! A worker that has left a cycle to sleep is woken when there is a task for it.

use divisi_check::fixtures::{add, graph, kind, pass};
use divisi_check::test_bench::{RunConfig, TestBench, TestStrategy, registry};
use processor::{Block, ProcessStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};
use workers::WaitPolicy;

#[test]
fn who_has_left_a_cycle_of_weighted_batches_is_called_back() {
    let on_a_worker = Arc::new(AtomicU32::new(0));
    let mut registry = registry();
    // Long enough for a worker to leave, and to the plan as cheap as a sink.
    add(&mut registry, kind("slow", (0, 1)), |_| {
        |block: &mut Block<'_>| {
            std::thread::sleep(Duration::from_millis(2));
            block.output(0).channel(0).fill(0.5);
            ProcessStatus::Continue
        }
    });
    let mut dear = kind("dear", (1, 1));
    dear.typical_ns = 1_000_000;
    let counted = on_a_worker.clone();
    add(&mut registry, dear, move |_| {
        let counted = counted.clone();
        move |block: &mut Block<'_>| {
            std::thread::sleep(Duration::from_micros(300));
            let thread = std::thread::current();
            let is_worker = thread.name().is_some_and(|n| n.starts_with("divisi-"));
            counted.fetch_add(u32::from(is_worker), SeqCst);
            pass(block);
            ProcessStatus::Continue
        }
    });
    let mut text = String::from(r#"a = { kind: "slow", };"#);
    for n in 1..=8 {
        text += &format!(
            r#"d{n} = {{ kind: "dear", }}; s{n} = {{ kind: "sink", }}; a.1 -> d{n}.1 -> s{n}.1;"#
        );
    }
    let graph = graph(&text, &registry);
    let config = RunConfig {
        strategy: TestStrategy::Weighted,
        workers: 2,
        block: 64,
        wait: WaitPolicy::Hybrid,
    };
    let expected = TestBench::new(&graph, &registry, RunConfig::reference(64)).render(8, 64);
    let mut bench = TestBench::new(&graph, &registry, config);
    let deadline = Instant::now() + Duration::from_secs(60);
    // Half of the dear ones are put where the worker looks, when it has long gone.
    while on_a_worker.load(SeqCst) < 10 {
        assert!(Instant::now() < deadline, "nobody came back");
        assert!(bench.render(8, 64) == expected);
    }
}
