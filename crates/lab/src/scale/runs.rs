//! The runs of the experiment *scale*: measurements, and then the simulations and playbacks that use them.

use super::measured::{Measured, to_cell};
use crate::calibration::{Calibration, measure_nodes};
use crate::machine::RATE_HZ;
use crate::playback::{Pace, Playback, PlaybackStats, measure_playback};
use crate::record::Record;
use crate::results::Variant;
use crate::run::Run;
use crate::session;
use crate::simulator::{DispatchPolicy, MoveCosts, simulate};
use crate::{Effort, LabError, Table};
use divisi::graph::shape;
use divisi::plan::{self, Dag, Link, MachineModel, MeasuredCosts, PlanOptions};
use divisi::prelude::{Frames, Graph, SampleRate, Scheduler};
use divisi::units::Nanos;
use std::fmt::Display;
use std::time::Duration;

pub(super) const BLOCK: Frames = Frames(128);
/// Time that an inner node burns per block, where it burns any.
const WORK_NS: f64 = 1000.0;

/// The static scheduler of the pipeline's halves.
const PIPELINE_SCHEDULER: Scheduler = Scheduler::Hlfet;

/// A graph to simulate: its shape, or `session`, and its number of nodes.
type TestGraph = (&'static str, usize);

/// Lines of nodes that burn nothing: overheads are found from their difference.
const SHORT: TestGraph = ("empty line", 20);
const LONG: TestGraph = ("empty line", 300);

fn make_graph((shape, nodes): TestGraph) -> Graph {
    let work_ns = Some(WORK_NS);
    let made = match shape {
        "session" => return session::playing(),
        "rake" => shape::rake(nodes, work_ns),
        "light rake" => shape::rake(nodes, None),
        "diamond" => shape::diamond(nodes, work_ns),
        "random" => shape::random(nodes, 1, work_ns),
        "empty line" => shape::line(nodes, Some(0.0)),
        _ => shape::line(nodes, work_ns),
    };
    made.expect("the sizes below are sizes of these shapes")
}

/// The graphs, by effort.
fn graphs(effort: Effort) -> &'static [TestGraph] {
    let full = &[
        ("line", 100),
        ("diamond", 636),
        ("rake", 1502),
        ("random", 1000),
        ("session", 500),
        ("light rake", 1502),
    ];
    let quick = &[
        ("line", 100),
        ("rake", 101),
        ("random", 200),
        ("session", 500),
    ];
    effort.choose(full, quick, &[("rake", 11)])
}

/// Numbers of simulated cores, by effort.
fn core_counts(effort: Effort) -> &'static [usize] {
    effort.choose(
        &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128],
        &[1, 2, 4, 16, 128],
        &[1, 2],
    )
}

/// A run of a graph: with a scheduler, on a number of cores.
#[derive(Clone, Copy, Debug)]
struct GraphRun {
    graph: TestGraph,
    scheduler: Scheduler,
    cores: usize,
    ms: u64,
}

/// Settings of a run: what it measures, the graph, the scheduler, and the number of cores.
pub(super) fn settings(
    what: &str,
    (graph, nodes): (&str, impl Display),
    scheduler: impl Display,
    cores: usize,
) -> String {
    format!("{what},{graph},{nodes},{scheduler},{cores}")
}

/// The measurements of a run; none where there is no such run.
fn measured(table: &Table, what: &str, graph: (&str, usize), scheduler: impl Display) -> Measured {
    let row = table.find(settings(what, graph, scheduler, 0));
    Measured::parse(row.map_or("", |row| row.text("facts")))
}

/// Every run, in the order in which they need one another: first what is measured, then what is simulated from that.
pub(super) fn runs(effort: Effort) -> Vec<Run> {
    let mut all = measurements(effort);
    let ms = effort.choose(400, 40, 4);
    for &graph in graphs(effort) {
        for scheduler in Scheduler::all() {
            let is_sequential = scheduler == Scheduler::Sequential;
            let max = if is_sequential { 1 } else { usize::MAX };
            for &cores in core_counts(effort).iter().filter(|cores| **cores <= max) {
                let run = GraphRun {
                    graph,
                    scheduler,
                    cores,
                    ms,
                };
                let cycle = settings("cycle", graph, scheduler, cores);
                let duration = duration(ms, u64::from(run.is_played()));
                let measure = move |c: &mut _, t: &_, r: &mut _| run.cycle(c, t, r);
                all.push(Run::new(cycle, ms, duration, measure));
            }
        }
    }
    all
}

/// Expected duration of a run that plays `playbacks` times.
fn duration(ms: u64, playbacks: u64) -> Duration {
    Duration::from_millis(ms * playbacks + 5)
}

/// Runs that measure the machine, nodes, and the overhead of executors.
fn measurements(effort: Effort) -> Vec<Run> {
    let ms = effort.choose(400, 40, 4);
    let machine = settings("machine", ("-", 0), "-", 0);
    let mut all = vec![Run::new(machine, ms, duration(ms, 3), |c, _, record| {
        record_times(record, &machine_times(c));
        Ok(())
    })];
    for &graph in graphs(effort).iter().chain([&LONG]) {
        let nodes = settings("nodes", graph, "-", 0);
        all.push(Run::new(nodes, ms, duration(ms, 1), move |_, _, record| {
            let costs = measure_nodes(&make_graph(graph), BLOCK, effort)?;
            let kinds = costs.kinds();
            let times = kinds.iter();
            let times = times.map(|k| (k.kind.as_str(), k.cost.warm.typical.0 as f64));
            record_times(record, &times.collect::<Vec<_>>());
            Ok(())
        }));
    }
    // A line in two halves takes half the time: the overhead of a pipeline's tasks cannot be found from it.
    for scheduler in Scheduler::all().filter(|s| *s != Scheduler::Pipelined) {
        let overhead = settings("overhead", LONG, scheduler, 0);
        let measure = move |c: &mut _, t: &_, record: &mut _| {
            record_times(record, &overhead_times(scheduler, ms, c, t)?);
            Ok(())
        };
        all.push(Run::new(overhead, ms, duration(ms, 2), measure));
    }
    all
}

/// Records times in ns by name. Of what is not played, nothing was stolen.
fn record_times(record: &mut Record, times: &[(&str, f64)]) {
    record.set("facts", to_cell(times));
    record.set("stolen_ms", "");
}

/// Times between two cores.
fn machine_times(calibration: &mut Calibration) -> [(&'static str, f64); 6] {
    let timings = calibration.core_timings();
    let link = timings.links.first().copied().unwrap_or_default();
    [
        ("base", link.base_ns),
        ("kib", link.per_kib_ns),
        ("claim", timings.claim_ns.unwrap_or(0.0)),
        ("steal", timings.steal_ns.unwrap_or(0.0)),
        ("wake", timings.wake_ns.unwrap_or(0.0)),
        ("woken", timings.woken_ns.unwrap_or(0.0)),
    ]
}

/// Cost of a task besides its node, and of a cycle besides its tasks: from lines of two lengths, with a second worker that
/// finds nothing to do. A line of n nodes takes `cycle + n * (task + node)`.
fn overhead_times(
    scheduler: Scheduler,
    ms: u64,
    calibration: &mut Calibration,
    table: &Table,
) -> Result<[(&'static str, f64); 2], LabError> {
    let mut median_ns = |graph| {
        let cores = 2;
        let run = GraphRun {
            graph,
            scheduler,
            cores,
            ms,
        };
        let stats = run.play(calibration, MeasuredCosts::default())?;
        Ok::<_, LabError>(stats.cycle_ns.p50 as f64)
    };
    let (short_ns, long_ns) = (median_ns(SHORT)?, median_ns(LONG)?);
    let step_ns = (long_ns - short_ns) / (LONG.1 - SHORT.1) as f64;
    let node_ns = measured(table, "nodes", LONG, "-")
        .get("work")
        .unwrap_or(0.0);
    Ok([
        ("task", (step_ns - node_ns).max(0.0)),
        ("cycle", (short_ns - step_ns * SHORT.1 as f64).max(0.0)),
    ])
}

impl GraphRun {
    /// Returns true if the machine has as many cores as the run, which are one or two.
    fn is_played(&self) -> bool {
        self.cores <= divisi::workers::cores().len().min(2)
    }

    fn play(
        &self,
        calibration: &mut Calibration,
        costs: MeasuredCosts,
    ) -> Result<PlaybackStats, LabError> {
        measure_playback(&Playback {
            graph: &make_graph(self.graph),
            variant: Variant::unfused(self.scheduler),
            workers: self.cores,
            block: BLOCK,
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
        let graph = make_graph(self.graph);
        let costs = node_costs(table, self.graph, &graph);
        let is_pipelined = self.scheduler == Scheduler::Pipelined;
        let dag = dag(&graph, &costs, u32::from(is_pipelined))?;
        let moves = move_costs(table, self.scheduler);
        let machine = MachineModel::uniform(self.cores, moves.link);
        let policy = match self.scheduler {
            Scheduler::Hlfet | Scheduler::Pipelined => {
                DispatchPolicy::Lanes(plan::hlfet(&dag, self.cores))
            }
            Scheduler::Etf => DispatchPolicy::Lanes(plan::etf(&dag, &machine)),
            Scheduler::Cpfd => DispatchPolicy::Lanes(plan::cpfd(&dag, &machine)),
            Scheduler::Random => DispatchPolicy::Lanes(plan::random(&dag, self.cores, 1)),
            Scheduler::Stealing => DispatchPolicy::Stealing,
            Scheduler::Deadline => DispatchPolicy::Deadline,
            Scheduler::Global => DispatchPolicy::Global,
            Scheduler::Weighted => DispatchPolicy::Weighted,
            Scheduler::Mutex => DispatchPolicy::Mutex,
            _ => DispatchPolicy::Sequential,
        };
        let prediction = simulate(&dag, &moves, self.cores, &policy);
        record.set_number("predicted_us", prediction.cycle_ns / 1e3, 2);
        record.set("predicted_takes", prediction.takes);
        record.set_number("predicted_busy", prediction.busy, 3);
        if self.is_played() {
            let stats = self.play(calibration, costs)?;
            record.set_number("measured_us", stats.cycle_ns.p50 as f64 / 1e3, 2);
            record.set_number("worst_us", stats.cycle_ns.max as f64 / 1e3, 2);
            record.set_number("measured_takes", stats.takes, 1);
            record.set_number("waited", stats.waited, 3);
            record.set_number("stolen_ms", stats.stolen_ms, 0);
        } else {
            record.set("stolen_ms", "");
        }
        Ok(())
    }
}

/// Measured costs of a graph's nodes, each by its kind.
fn node_costs(table: &Table, name: TestGraph, graph: &Graph) -> MeasuredCosts {
    let measured = measured(table, "nodes", name, "-");
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

/// Costs of the moves of an executor, from the table's measurements.
fn move_costs(table: &Table, scheduler: Scheduler) -> MoveCosts {
    let machine = measured(table, "machine", ("-", 0), "-");
    let between_cores = |name| machine.get(name).unwrap_or(0.0);
    let overhead = |scheduler| measured(table, "overhead", LONG, scheduler);
    let measured_as = match scheduler {
        Scheduler::Pipelined => PIPELINE_SCHEDULER,
        other => other,
    };
    // An executor that was not played is taken to cost as much as stealing.
    let known = [measured_as, Scheduler::Stealing].map(overhead);
    let known = known.iter().find(|known| !known.is_empty());
    let own = |name| known.and_then(|known| known.get(name)).unwrap_or(0.0);
    let task = own("task");
    // A locked queue takes its lock twice a task: that is its overhead beyond the sequential executor's.
    let sequential = overhead(Scheduler::Sequential);
    let sequential_task = sequential.get("task").unwrap_or(0.0);
    let (dispatch, lock) = match scheduler {
        Scheduler::Mutex => (sequential_task, (task - sequential_task).max(0.0) / 2.0),
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
