//! The runs of the experiment *scale*: measurements, and then the simulations and playbacks that use them.

use super::measured::{Measured, to_cell};
use crate::calibration::{Calibration, measure_nodes};
use crate::machine::RATE_HZ;
use crate::playback::{Pace, Playback, PlaybackStats, measure_playback};
use crate::record::Record;
use crate::run::Run;
use crate::session;
use crate::simulator::{DispatchPolicy, MoveCosts, simulate};
use crate::{Effort, LabError, Table};
use divisi::graph::shape;
use divisi::plan::{self, Dag, Link, MachineModel, MeasuredCosts, PlanOptions, Schedule};
use divisi::prelude::{Frames, Graph, SampleRate, Scheduler};
use divisi::units::Nanos;
use std::time::Duration;

pub(super) const BLOCK: Frames = Frames(128);
/// Time that an inner node burns per block, where it burns any.
const WORK_NS: f64 = 1000.0;

/// Every scheduler that is simulated, by its name on the command line.
pub(super) const SCHEDULERS: [&str; 11] = [
    "sequential",
    "hlfet",
    "etf",
    "cpfd",
    "random",
    PIPELINED,
    "global",
    "weighted",
    "stealing",
    "deadline",
    "mutex",
];

/// The pipeline, and the static scheduler of its halves.
const PIPELINED: &str = "pipelined";
const PIPELINE_SCHEDULER: &str = "hlfet";

/// A graph to simulate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TestGraph {
    name: &'static str,
    nodes: usize,
}

const fn of(name: &'static str, nodes: usize) -> TestGraph {
    TestGraph { name, nodes }
}

/// Lines of nodes that burn nothing: overheads are found from their difference.
const SHORT: TestGraph = of("empty line", 20);
const LONG: TestGraph = of("empty line", 300);

impl TestGraph {
    fn graph(self) -> Graph {
        let work_ns = Some(WORK_NS);
        let made = match self.name {
            "session" => return session::playing(),
            "rake" => shape::rake(self.nodes, work_ns),
            "light rake" => shape::rake(self.nodes, None),
            "diamond" => shape::diamond(self.nodes, work_ns),
            "random" => shape::random(self.nodes, 1, work_ns),
            "empty line" => shape::line(self.nodes, Some(0.0)),
            _ => shape::line(self.nodes, work_ns),
        };
        made.expect("the sizes below are sizes of these shapes")
    }
}

/// The graphs, by effort.
fn graphs(effort: Effort) -> &'static [TestGraph] {
    const FULL: [TestGraph; 6] = [
        of("line", 100),
        of("diamond", 636),
        of("rake", 1502),
        of("random", 1000),
        of("session", 500),
        of("light rake", 1502),
    ];
    const QUICK: [TestGraph; 4] = [
        of("line", 100),
        of("rake", 101),
        of("random", 200),
        of("session", 500),
    ];
    const MINIMAL: [TestGraph; 1] = [of("rake", 11)];
    effort.choose(&FULL, &QUICK, &MINIMAL)
}

/// Numbers of simulated cores, by effort.
fn core_counts(effort: Effort) -> &'static [usize] {
    effort.choose(
        &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128],
        &[1, 2, 4, 16, 128],
        &[1, 2],
    )
}

/// Subject of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    /// Transfer, claim, steal and wake between two cores.
    Machine,
    /// MeasuredCosts of a graph's nodes, by kind.
    Nodes,
    /// MeasuredCosts of an executor besides the nodes.
    Overhead,
    /// Duration of a cycle.
    Cycle,
}

/// One run.
#[derive(Clone, Copy, Debug)]
struct ScaleRun {
    subject: Subject,
    graph: TestGraph,
    scheduler: &'static str,
    cores: usize,
    ms: u64,
    effort: Effort,
}

/// Every run, in the order in which they need one another.
pub(super) fn runs(effort: Effort) -> Vec<Box<dyn Run>> {
    let mut all: Vec<Box<dyn Run>> = Vec::new();
    let mut add = |subject, graph, scheduler, cores| {
        all.push(Box::new(ScaleRun {
            subject,
            graph,
            scheduler,
            cores,
            ms: effort.choose(400, 40, 4),
            effort,
        }));
    };
    add(Subject::Machine, of("-", 0), "-", 0);
    for graph in graphs(effort).iter().chain([&LONG]) {
        add(Subject::Nodes, *graph, "-", 0);
    }
    // A line in two halves takes half the time: the overhead of a pipeline's tasks cannot be found from it.
    for scheduler in SCHEDULERS.into_iter().filter(|s| *s != PIPELINED) {
        add(Subject::Overhead, LONG, scheduler, 0);
    }
    for graph in graphs(effort) {
        for scheduler in SCHEDULERS {
            let max = if scheduler == "sequential" {
                1
            } else {
                usize::MAX
            };
            let counts = core_counts(effort).iter().filter(|cores| **cores <= max);
            counts.for_each(|cores| add(Subject::Cycle, *graph, scheduler, *cores));
        }
    }
    all
}

impl Run for ScaleRun {
    fn key(&self) -> Vec<String> {
        let subject = match self.subject {
            Subject::Machine => "machine",
            Subject::Nodes => "nodes",
            Subject::Overhead => "overhead",
            Subject::Cycle => "cycle",
        };
        vec![
            subject.to_owned(),
            self.graph.name.to_owned(),
            self.graph.nodes.to_string(),
            self.scheduler.to_owned(),
            self.cores.to_string(),
            self.ms.to_string(),
        ]
    }

    fn duration(&self) -> Duration {
        let playbacks = match self.subject {
            Subject::Machine => 3,
            Subject::Nodes => 1,
            Subject::Overhead => 2,
            Subject::Cycle => u64::from(self.is_played()),
        };
        Duration::from_millis(self.ms * playbacks + 5)
    }

    fn measure(
        &self,
        calibration: &mut Calibration,
        table: &Table,
        record: &mut Record,
    ) -> Result<(), LabError> {
        // Of what is not played, nothing was stolen.
        record.set("stolen_ms", "");
        match self.subject {
            Subject::Machine => record.set("facts", machine_times(calibration)),
            Subject::Nodes => record.set("facts", self.node_times()?),
            Subject::Overhead => record.set("facts", self.overhead(calibration, table)?),
            Subject::Cycle => self.cycle(calibration, table, record)?,
        }
        Ok(())
    }
}

/// Times between two cores, as a cell.
fn machine_times(calibration: &mut Calibration) -> String {
    let timings = calibration.core_timings();
    let link = timings.links.first().copied().unwrap_or_default();
    to_cell(&[
        ("base", link.base_ns),
        ("kib", link.per_kib_ns),
        ("claim", timings.claim_ns.unwrap_or(0.0)),
        ("steal", timings.steal_ns.unwrap_or(0.0)),
        ("wake", timings.wake_ns.unwrap_or(0.0)),
        ("woken", timings.woken_ns.unwrap_or(0.0)),
    ])
}

impl ScaleRun {
    /// Returns true if the machine has so many cores, up to two, and this version the executor.
    fn is_played(&self) -> bool {
        self.cores <= divisi::workers::cores().len().min(2) && self.executor().is_some()
    }

    fn executor(&self) -> Option<Scheduler> {
        self.scheduler.parse().ok()
    }

    /// MeasuredCosts of nodes by kind, as a cell.
    fn node_times(&self) -> Result<String, LabError> {
        let costs = measure_nodes(&self.graph.graph(), BLOCK, self.effort)?;
        let kinds = costs.kinds();
        let times = kinds
            .iter()
            .map(|k| (k.kind.as_str(), k.cost.warm.typical.0 as f64));
        Ok(to_cell(&times.collect::<Vec<_>>()))
    }

    /// Cost of a task besides its node, and of a cycle besides its tasks: from lines of two lengths, with a second
    /// worker that finds nothing to do. A line of n nodes takes `cycle + n * (task + node)`.
    fn overhead(&self, calibration: &mut Calibration, table: &Table) -> Result<String, LabError> {
        let mut median_ns = |graph| {
            let stats = self.play(calibration, graph, 2, MeasuredCosts::default())?;
            Ok::<_, LabError>(stats.cycle_ns.p50 as f64)
        };
        let (short_ns, long_ns) = (median_ns(SHORT)?, median_ns(LONG)?);
        let step_ns = (long_ns - short_ns) / (LONG.nodes - SHORT.nodes) as f64;
        let nodes = Measured::find(table, "nodes", LONG.name, "-");
        let node_ns = nodes.get("work").unwrap_or(0.0);
        Ok(to_cell(&[
            ("task", (step_ns - node_ns).max(0.0)),
            ("cycle", (short_ns - step_ns * SHORT.nodes as f64).max(0.0)),
        ]))
    }

    fn play(
        &self,
        calibration: &mut Calibration,
        graph: TestGraph,
        cores: usize,
        costs: MeasuredCosts,
    ) -> Result<PlaybackStats, LabError> {
        measure_playback(&Playback {
            graph: &graph.graph(),
            scheduler: self.executor().unwrap_or(Scheduler::Sequential),
            workers: cores,
            block: BLOCK,
            fuse: false,
            pace: Pace::Behind,
            core_timings: calibration.core_timings(),
            costs,
            duration: Duration::from_millis(self.ms),
        })
    }

    /// Simulates a cycle, and plays it where the machine can.
    fn cycle(
        &self,
        calibration: &mut Calibration,
        table: &Table,
        record: &mut Record,
    ) -> Result<(), LabError> {
        let graph = self.graph.graph();
        let costs = node_costs(table, self.graph, &graph);
        let dag = dag(&graph, &costs, u32::from(self.scheduler == PIPELINED))?;
        let moves = move_costs(table, self.scheduler);
        let schedule = static_schedule(self.scheduler, &dag, self.cores, moves.link);
        let policy = match (&schedule, self.scheduler) {
            (Some(schedule), _) => DispatchPolicy::Lanes(schedule),
            (None, "stealing") => DispatchPolicy::Stealing,
            (None, "deadline") => DispatchPolicy::Deadline,
            (None, "global") => DispatchPolicy::Global,
            (None, "weighted") => DispatchPolicy::Weighted,
            (None, "mutex") => DispatchPolicy::Mutex,
            _ => DispatchPolicy::Sequential,
        };
        let prediction = simulate(&dag, &moves, self.cores, &policy);
        record.set_number("predicted_us", prediction.cycle_ns / 1e3, 2);
        record.set("predicted_takes", prediction.takes);
        record.set_number("predicted_busy", prediction.busy, 3);
        if self.is_played() {
            let stats = self.play(calibration, self.graph, self.cores, costs)?;
            record.set_number("measured_us", stats.cycle_ns.p50 as f64 / 1e3, 2);
            record.set_number("worst_us", stats.cycle_ns.max as f64 / 1e3, 2);
            record.set_number("measured_takes", stats.takes, 1);
            record.set_number("waited", stats.waited, 3);
            record.set_number("stolen_ms", stats.stolen_ms, 0);
        }
        Ok(())
    }
}

/// The plan of a static scheduler; `None` for a dynamic one.
fn static_schedule(scheduler: &str, dag: &Dag, cores: usize, link: Link) -> Option<Schedule> {
    let machine = MachineModel::uniform(cores, link);
    match scheduler {
        PIPELINE_SCHEDULER | PIPELINED => Some(plan::hlfet(dag, cores)),
        "etf" => Some(plan::etf(dag, &machine)),
        "cpfd" => Some(plan::cpfd(dag, &machine)),
        "random" => Some(plan::random(dag, cores, 1)),
        _ => None,
    }
}

/// Measured costs of a graph's nodes, each by its kind.
fn node_costs(table: &Table, name: TestGraph, graph: &Graph) -> MeasuredCosts {
    let measured = Measured::find(table, "nodes", name.name, "-");
    let of_node = graph.nodes().filter_map(|(id, node)| {
        let ns = measured.get(&node.kind)?;
        Some((id, Nanos(ns.round() as u64)))
    });
    MeasuredCosts {
        by_node: of_node.collect(),
    }
}

/// The tasks of a cycle, of which the last may lag some blocks behind the first.
fn dag(graph: &Graph, costs: &MeasuredCosts, latency_blocks: u32) -> Result<Dag, LabError> {
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let mut options = PlanOptions::new(BLOCK, rate);
    options.costs = costs.clone();
    options.latency_blocks = latency_blocks;
    let compiled = plan::compile(graph, divisi::registry().catalogue(), &options);
    let plan = compiled.map_err(|error| LabError::Play(error.to_string()))?;
    Ok(Dag::from_plan(&plan))
}

/// MeasuredCosts of the moves of an executor, from the table's measurements.
fn move_costs(table: &Table, scheduler: &str) -> MoveCosts {
    let machine = Measured::find(table, "machine", "-", "-");
    let between_cores = |name| machine.get(name).unwrap_or(0.0);
    let overhead = |scheduler: &str| Measured::find(table, "overhead", LONG.name, scheduler);
    let measured_as = match scheduler {
        PIPELINED => PIPELINE_SCHEDULER,
        other => other,
    };
    // An executor that was not played is taken to cost as much as stealing.
    let known = [measured_as, "stealing"].map(overhead);
    let known = known.iter().find(|known| !known.is_empty());
    let own = |name| known.and_then(|known| known.get(name)).unwrap_or(0.0);
    let task = own("task");
    // A locked queue takes its lock twice a task: that is its overhead beyond the sequential executor's.
    let sequential_task = overhead("sequential").get("task").unwrap_or(0.0);
    let (dispatch, lock) = match scheduler {
        "mutex" => (sequential_task, (task - sequential_task).max(0.0) / 2.0),
        _ => (task, 0.0),
    };
    let nanos = |ns: f64| Nanos(ns.round() as u64);
    MoveCosts {
        dispatch,
        cycle: own("cycle"),
        link: Link {
            base: nanos(between_cores("base")),
            per_kib: nanos(between_cores("kib")),
        },
        claim: between_cores("claim"),
        steal: between_cores("steal"),
        lock,
        // Block after block all workers are awake.
        wake: (0.0, 0.0),
    }
}
