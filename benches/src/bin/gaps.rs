//! Where a cycle's time goes: `gaps rake|diamond|random hlfet|stealing`, two workers, 1 µs nodes. Prints the marks of the
//! cycle that took the median time, and the steps that took half as long again as they should.

use divisi_benches::contestants::become_host;
use divisi_benches::hall::Hall;
use graph::shape;
use plan::{Mark, TraceRecord};
use rt::stamp::{Scale, now};
use std::time::Duration;
use workers::Wait;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, shape, way] = args.as_slice() else {
        eprintln!("gaps rake|diamond|random hlfet|stealing");
        std::process::exit(2);
    };
    let graph = match shape.as_str() {
        "rake" => shape::rake(500, None),
        "diamond" => shape::diamond(636, None),
        _ => shape::random(500, 1, None),
    };
    let _host = become_host();
    let graph = graph.expect("the size is right");
    let mut hall = Hall::new(
        &graph,
        way,
        1000,
        (Wait::Hybrid, workers::current_priority()),
    );
    hall.floor.trace(true);
    let mut cycles: Vec<(u64, Vec<TraceRecord>)> = (0..400).map(|n| cycle(&mut hall, n)).collect();
    cycles.sort_by_key(|(took, _)| *took);
    let (took, records) = &cycles[cycles.len() / 2];
    let scale = Scale::of_this_machine();
    println!("the median cycle took {} ns", scale.nanos(*took).0);
    let begin = records.iter().map(|r| r.stamp).min().unwrap_or(0);
    for worker in 0..2 {
        tell(worker, begin, records, scale);
    }
}

fn cycle(hall: &mut Hall, number: u64) -> (u64, Vec<TraceRecord>) {
    let begin = now();
    hall.run(number);
    let took = now() - begin;
    std::thread::sleep(Duration::from_micros(600));
    (took, hall.records())
}

fn tell(worker: u16, begin: u64, records: &[TraceRecord], scale: Scale) {
    let (mut last, mut busy, mut steps) = (begin, 0, 0);
    for record in records.iter().filter(|r| r.worker == worker) {
        let took = scale.between(last, record.stamp).0;
        let at = scale.between(begin, record.stamp).0;
        last = record.stamp;
        if record.mark != Mark::Step {
            println!("worker {worker}: {:?} at {at} (+{took})", record.mark);
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
