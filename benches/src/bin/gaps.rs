//! Where a cycle's time goes: `gaps SHAPE EXECUTOR`, two workers, 1 µs nodes; the median cycle of many, marks only.

use divisi_benches::contestants::{become_host, plan};
use divisi_benches::nodes::{of_ticks, registry};
use exec::*;
use graph::shape;
use plan::Mark;
use processor::Mode;
use std::sync::Arc;
use units::{Frames, SampleRate};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let graph = match args[1].as_str() {
        "rake" => shape::rake(500, None),
        "diamond" => shape::diamond(636, None),
        _ => shape::random(500, 1, None),
    };
    let graph = of_ticks(&graph.unwrap(), 1000);
    let _host = become_host();
    let registry = registry(1000);
    let plan = plan(&graph, 1000, 2);
    let crew = workers::Crew::new(workers::CrewOptions {
        workers: 2,
        priority: workers::current_priority(),
        pin: Some(workers::cores().to_vec()),
        ..Default::default()
    })
    .unwrap();
    let mut pool = Pool::default();
    for (id, node) in graph.nodes() {
        pool.admit(
            id,
            registry.make(node, std::path::Path::new(".")).unwrap(),
            (SampleRate::new(48000).unwrap(), Frames(64), Mode::Live),
        );
    }
    let (pens, mut readers): (Vec<_>, Vec<_>) = (0..2).map(|_| rt::trace::ring(1 << 14)).unzip();
    let floor = Arc::new(Floor::new(pens));
    floor.trace(true);
    let mut lines = Lines::default();
    let binding = Binding {
        plan: &plan,
        pool: &pool,
        lines: &mut lines,
        floor,
        inputs: 0,
    };
    let mut ex = if args[2] == "hlfet" {
        exec::fixed(binding, &crew)
    } else {
        exec::stealing(binding, &crew)
    };
    let scale = rt::stamp::Scale::of_this_machine();
    let mut all: Vec<(u64, Vec<plan::TraceRecord>)> = Vec::new();
    for cycle in 0..400 {
        let start = rt::stamp::now();
        ex.run(&Now {
            position: cycle * 64,
            cycle,
            device: &[],
            give_up: u64::MAX,
            help_until: u64::MAX,
        });
        let took = rt::stamp::now() - start;
        std::thread::sleep(std::time::Duration::from_micros(600));
        let mut records = Vec::new();
        for r in &mut readers {
            r.drain(|x| records.push(x));
        }
        all.push((took, records));
    }
    all.sort_by_key(|x| x.0);
    let (took, records) = &all[all.len() / 2];
    let t0 = records
        .iter()
        .filter(|r| r.mark == Mark::Begin)
        .map(|r| r.stamp)
        .min()
        .unwrap();
    println!("took {} ns", scale.nanos(*took).0);
    for w in 0..2u16 {
        let mut last = t0;
        let mut busy = 0;
        let mut n = 0;
        for r in records.iter().filter(|r| r.worker == w) {
            let d = scale.nanos(r.stamp - last).0;
            if r.mark == Mark::Step {
                busy += d;
                n += 1;
                if d > 1500 {
                    println!(
                        "  w{w} slow step {} {d} at {}",
                        r.index,
                        scale.nanos(r.stamp - t0).0
                    );
                }
            } else {
                println!(
                    "w{w} {:?} at {} (+{d})",
                    r.mark,
                    scale.nanos(r.stamp.saturating_sub(t0)).0
                );
            }
            last = r.stamp;
        }
        println!("w{w}: {n} steps, {} ns each", busy / n.max(1));
    }
}
