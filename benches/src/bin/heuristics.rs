//! Distance of each static scheduler from the optimum, or from the lower bound, over hundreds of random graphs; and the
//! time that scheduling takes. Prints Markdown.

use plan::{
    Dag, Link, MachineModel, Schedule, TaskId, cpfd, etf, hlfet, optimal, random, simulate,
};
use std::time::Instant;
use units::Nanos;

const FAMILIES: [&str; 6] = [
    "lines",
    "rakes",
    "diamonds",
    "fork-joins",
    "layered",
    "dense",
];
const HEURISTICS: [&str; 4] = ["random", "hlfet", "etf", "cpfd"];
/// Graphs of each family and size.
const GRAPHS: u64 = 60;
/// The most partial schedules that the search for the optimum visits.
const LIMIT: u64 = 400_000;

fn main() {
    println!("Ratios of makespans; each cell is mean / 90th percentile / maximum.\n");
    for (name, link) in [("cheap", link(100, 640)), ("costly", link(1000, 6400))] {
        let Link { base, per_kib } = link;
        let title = format!("{name} links: {} ns and {} ns a KiB", base.0, per_kib.0);
        small(&title, link);
        large(&title, link);
    }
    times();
}

fn link(base: u64, per_kib: u64) -> Link {
    Link {
        base: Nanos(base),
        per_kib: Nanos(per_kib),
    }
}

/// 6 to 10 tasks beside the optimum without duplicates.
fn small(title: &str, link: Link) {
    println!("## 6 to 10 tasks over the optimum without duplicates, {title}\n");
    head();
    for family in FAMILIES {
        for workers in [2, 3, 4] {
            let machine = MachineModel::uniform(workers, link);
            let graphs = (0..GRAPHS).map(|seed| graph(family, 6 + seed as usize % 5, seed));
            let known = graphs.filter_map(|dag| {
                let best = optimal(&dag, &machine, LIMIT)?;
                Some((dag, best.makespan))
            });
            row(family, workers, &machine, known.collect());
        }
    }
    println!();
}

/// 50 to 150 tasks beside the lower bound.
fn large(title: &str, link: Link) {
    println!(
        "## 50 to 150 tasks over the lower bound (critical path or equal share, without transfer costs), {title}\n"
    );
    head();
    for family in FAMILIES {
        for workers in [2, 3, 4, 8] {
            let machine = MachineModel::uniform(workers, link);
            let graphs = (0..GRAPHS).map(|seed| graph(family, 50 + 100 * seed as usize / 60, seed));
            let known = graphs
                .map(|dag| (dag.lower_bound(workers), dag))
                .map(|(b, d)| (d, b));
            row(family, workers, &machine, known.collect());
        }
    }
    println!();
}

fn head() {
    println!(
        "| graphs | count | workers | {} | duplicates |",
        HEURISTICS.join(" | ")
    );
    println!("|---|--:|--:|{}--:|", "--:|".repeat(HEURISTICS.len()));
}

fn row(family: &str, workers: usize, machine: &MachineModel, known: Vec<(Dag, Nanos)>) {
    let mut cells = Vec::new();
    let mut duplicates = 0.0;
    for heuristic in HEURISTICS {
        let ratios = known.iter().map(|(dag, best)| {
            let schedule = schedule(heuristic, dag, machine);
            duplicates += schedule.duplicate_count() as f64 / dag.len() as f64;
            schedule.makespan.0 as f64 / best.0 as f64
        });
        cells.push(spread(ratios.collect()));
    }
    let duplicates = 100.0 * duplicates / known.len().max(1) as f64;
    let (of, cells) = (known.len(), cells.join(" | "));
    println!("| {family} | {of} | {workers} | {cells} | {duplicates:.0} % |");
}

fn spread(mut ratios: Vec<f64>) -> String {
    if ratios.is_empty() {
        return "–".into();
    }
    ratios.sort_by(f64::total_cmp);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let max = ratios[ratios.len() - 1];
    let p90 = ratios[(ratios.len() - 1) * 9 / 10];
    format!("{mean:.2} / {p90:.2} / {max:.2}")
}

/// The schedule as simulated on the machine: transfers count even for schedulers that ignore them.
fn schedule(name: &str, dag: &Dag, machine: &MachineModel) -> Schedule {
    let workers = machine.workers();
    let schedule = match name {
        "hlfet" => hlfet(dag, workers),
        "random" => random(dag, workers, 1),
        "etf" => etf(dag, machine),
        _ => cpfd(&dag.clone().with_duplicable(|_| true), machine),
    };
    let replay = simulate(dag, machine, &schedule.task_order(), |t| dag.cost(t));
    replay.expect("a schedule comes to its end").to_schedule()
}

/// Prints the time that scheduling takes.
fn times() {
    println!(
        "## Time to schedule for 4 workers, cheap links, ms: minimum of 5 runs (1 run if it takes more than a second)\n"
    );
    println!("| graphs | tasks | edges | hlfet | etf | cpfd | complete |");
    println!("|---|--:|--:|--:|--:|--:|---|");
    let machine = MachineModel::uniform(4, link(100, 640));
    for family in FAMILIES {
        for nodes in [500, 10_000] {
            let dag = graph(family, nodes, 7).with_duplicable(|_| true);
            let edges: usize = dag.tasks().map(|t| dag.successors(t).len()).sum();
            let (h, _) = timed(|| hlfet(&dag, 4));
            let (e, _) = timed(|| etf(&dag, &machine));
            let (c, schedule) = timed(|| cpfd(&dag, &machine));
            let complete = if schedule.abridged {
                "abridged"
            } else {
                "complete"
            };
            let tasks = dag.len();
            println!("| {family} | {tasks} | {edges} | {h:.1} | {e:.1} | {c:.1} | {complete} |");
        }
    }
}

fn timed(make: impl Fn() -> Schedule) -> (f64, Schedule) {
    let mut min_ms = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let schedule = std::hint::black_box(make());
        min_ms = min_ms.min(start.elapsed().as_secs_f64() * 1e3);
        if min_ms > 1000.0 {
            return (min_ms, schedule);
        }
    }
    (min_ms, make())
}

/// A random graph of about `nodes` tasks, with costs from 100 ns to 10 µs. An edge transfers 256 or 512 bytes.
fn graph(family: &str, nodes: usize, seed: u64) -> Dag {
    let mut random = Random(seed.wrapping_mul(77) ^ nodes as u64);
    let mut made = GraphBuilder::default();
    match family {
        "lines" => {
            // One to three, side by side.
            let lines = 1 + random.below(3);
            for _ in 0..lines {
                made.line(nodes / lines, None);
            }
        }
        "rakes" => {
            let teeth = ((nodes - 2) / 3).max(1);
            let ends: Vec<u32> = (0..teeth)
                .map(|_| made.line(1 + random.below(5), None))
                .collect();
            let mix = made.after(&ends);
            made.after(&[mix]);
        }
        "diamonds" => {
            // Splits and joins; each half is a smaller diamond or a task.
            let mut last = made.after(&[]);
            while made.count() < nodes {
                // One of l levels has 6 * 2^l - 2 tasks.
                let fits = |levels: &usize| (6 << levels) - 2 <= nodes - made.count();
                let max_levels = (0..4).rev().find(fits).unwrap_or(0);
                let levels = random.below(max_levels + 1);
                last = made.diamond(last, levels);
            }
        }
        "fork-joins" => {
            let mut last = made.after(&[]);
            while made.count() < nodes {
                let branches = 2 + random.below((nodes / 5).clamp(2, 40));
                let ends: Vec<u32> = (0..branches).map(|_| made.after(&[last])).collect();
                last = made.after(&ends);
            }
        }
        "layered" => {
            let width = nodes.isqrt().max(2);
            for at in 0..nodes {
                let layer = at / width * width;
                let from = (0..1 + random.below(3)).filter(|_| layer > 0);
                let mut from: Vec<u32> = from
                    .map(|_| (layer - width + random.below(width)) as u32)
                    .collect();
                from.sort_unstable();
                from.dedup();
                made.after(&from);
            }
        }
        _ => {
            // An edge between any two tasks, with a probability of ten edges per task, or of a half.
            let probability = (10.0 / nodes as f64).min(0.5);
            for at in 0..nodes as u32 {
                let from = (0..at).filter(|_| random.unit() < probability);
                let from: Vec<u32> = from.collect();
                made.after(&from);
            }
        }
    }
    let costs = (0..made.count()).map(|_| Nanos((100.0 * 100f64.powf(random.unit())) as u64));
    let costs = costs.collect();
    let edges = made.edges.into_iter();
    let edges = edges.map(|(a, b)| (TaskId(a), TaskId(b), 256 << random.below(2)));
    Dag::new(costs, edges).expect("all edges lead forward")
}

#[derive(Default)]
struct GraphBuilder {
    count: u32,
    edges: Vec<(u32, u32)>,
}

impl GraphBuilder {
    fn count(&self) -> usize {
        self.count as usize
    }

    /// Adds a task after these.
    fn after(&mut self, from: &[u32]) -> u32 {
        let task = self.count;
        self.count += 1;
        self.edges.extend(from.iter().map(|f| (*f, task)));
        task
    }

    fn line(&mut self, nodes: usize, mut last: Option<u32>) -> u32 {
        for _ in 0..nodes.max(1) {
            last = Some(self.after(last.as_slice()));
        }
        last.expect("it has a task")
    }

    fn diamond(&mut self, from: u32, levels: usize) -> u32 {
        let split = self.after(&[from]);
        let halves = [(); 2].map(|()| match levels {
            0 => self.after(&[split]),
            _ => self.diamond(split, levels - 1),
        });
        self.after(&halves)
    }
}

/// The splitmix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
