//! Idle time inside a cycle: `gaps rake|diamond|random hlfet|stealing`, two workers, 1 µs nodes. Prints the trace events of
//! the cycle of median duration, and the steps that took more than 1.5 µs.

use divisi_benches::runners::enter_callback_thread;
use divisi_benches::traced::TracedExecutor;
use graph::shape;
use plan::{TraceEvent, TraceRecord};
use rt::stamp::{TickScale, now};
use std::time::Duration;
use workers::WaitPolicy;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, shape, strategy] = args.as_slice() else {
        eprintln!("gaps rake|diamond|random hlfet|stealing");
        std::process::exit(2);
    };
    let graph = match shape.as_str() {
        "rake" => shape::rake(500, None),
        "diamond" => shape::diamond(636, None),
        _ => shape::random(500, 1, None),
    };
    let _host = enter_callback_thread();
    let graph = graph.expect("the size is right");
    let mut executor = TracedExecutor::new(
        &graph,
        strategy,
        1000,
        (WaitPolicy::Hybrid, workers::current_priority()),
    );
    executor.runtime.set_traced(true);
    let mut cycles: Vec<(u64, Vec<TraceRecord>)> =
        (0..400).map(|n| cycle(&mut executor, n)).collect();
    cycles.sort_by_key(|(took, _)| *took);
    let (took, records) = &cycles[cycles.len() / 2];
    let scale = TickScale::calibrated();
    println!("the median cycle took {} ns", scale.nanos(*took).0);
    let begin = records.iter().map(|r| r.stamp).min().unwrap_or(0);
    for worker in 0..2 {
        print_worker(worker, begin, records, scale);
    }
}

fn cycle(executor: &mut TracedExecutor, number: u64) -> (u64, Vec<TraceRecord>) {
    let begin = now();
    executor.run(number);
    let took = now() - begin;
    std::thread::sleep(Duration::from_micros(600));
    (took, executor.records())
}

fn print_worker(worker: u16, begin: u64, records: &[TraceRecord], scale: TickScale) {
    let (mut last, mut busy, mut steps) = (begin, 0, 0);
    for record in records.iter().filter(|r| r.worker == worker) {
        let took = scale.between(last, record.stamp).0;
        let at = scale.between(begin, record.stamp).0;
        last = record.stamp;
        if record.event != TraceEvent::Step {
            println!("worker {worker}: {:?} at {at} (+{took})", record.event);
            continue;
        }
        busy += took;
        steps += 1;
        if took > 1500 {
            println!(
                "worker {worker}: step {} took {took}, until {at}",
                record.index
            );
        }
    }
    println!(
        "worker {worker}: {steps} steps, {} ns each",
        busy / steps.max(1)
    );
}
