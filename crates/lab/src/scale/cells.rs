//! Which runs the experiment *scale* has: what is measured, what is calculated from it, and both beside each other.

use super::{KEYS, facts};
use crate::bench::{Bench, measure};
use crate::figures::Figures;
use crate::machine::{RATE_HZ, now};
use crate::play::{Pace, Run, play};
use crate::run::Cell;
use crate::session;
use crate::simulator::{DispatchPolicy, MoveCosts, Prediction, simulate};
use crate::{Effort, LabError, Table};
use divisi::graph::shape;
use divisi::plan::{self, Dag, Link, MachineModel, MeasuredCosts, PlanOptions, Schedule};
use divisi::prelude::{Frames, Graph, SampleRate, Scheduler};
use divisi::units::Nanos;
use std::sync::Arc;
use std::time::Duration;

/// Frames in a block.
pub(crate) const BLOCK: Frames = Frames(128);
/// What an inner node burns in a block, in ns, where it burns anything.
const WORK_NS: f64 = 1000.0;

/// Every way that is calculated, by its name on the command line.
pub(crate) const WAYS: [&str; 11] = [
    "sequential",
    "hlfet",
    "etf",
    "cpfd",
    "random",
    "pipelined",
    "global",
    "weighted",
    "stealing",
    "deadline",
    "mutex",
];

/// The halves of a pipeline are played by a static schedule.
const PIPELINED: (&str, &str) = ("pipelined", "hlfet");

/// A graph to calculate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) name: &'static str,
    pub(crate) nodes: usize,
}

impl Piece {
    fn graph(self) -> Graph {
        let work = Some(WORK_NS);
        let made = match self.name {
            "session" => return session::playing(),
            "rake" => shape::rake(self.nodes, work),
            "light rake" => shape::rake(self.nodes, None),
            "diamond" => shape::diamond(self.nodes, work),
            "random" => shape::random(self.nodes, 1, work),
            "empty line" => shape::line(self.nodes, Some(0.0)),
            _ => shape::line(self.nodes, work),
        };
        made.expect("the sizes below are sizes of these shapes")
    }
}

/// What overheads are found from: lines of nodes that burn nothing.
const SHORT: Piece = of("empty line", 20);
const LONG: Piece = of("empty line", 300);

const fn of(name: &'static str, nodes: usize) -> Piece {
    Piece { name, nodes }
}

/// The graphs, by effort.
pub(crate) fn pieces(effort: Effort) -> &'static [Piece] {
    const FULL: [Piece; 6] = [
        of("line", 100),
        of("diamond", 636),
        of("rake", 1502),
        of("random", 1000),
        of("session", 500),
        of("light rake", 1502),
    ];
    const QUICK: [Piece; 4] = [
        of("line", 100),
        of("rake", 101),
        of("random", 200),
        of("session", 500),
    ];
    const LEAST: [Piece; 1] = [of("rake", 11)];
    effort.choose(&FULL, &QUICK, &LEAST)
}

/// How many cores, by effort.
pub(crate) fn cores(effort: Effort) -> &'static [usize] {
    effort.choose(
        &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128],
        &[1, 2, 4, 16, 128],
        &[1, 2],
    )
}

/// What a cell finds out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    /// What moves between cores cost.
    Machine,
    /// What the nodes of a graph cost, by kind.
    Nodes,
    /// What a way of playing costs besides the nodes.
    Overhead,
    /// How long a cycle takes.
    Cycle,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScaleCell {
    pub(crate) what: What,
    pub(crate) piece: Piece,
    pub(crate) way: &'static str,
    pub(crate) cores: usize,
    pub(crate) ms: u64,
    pub(crate) effort: Effort,
}

/// Every run, in the order in which they need one another.
pub(crate) fn cells(effort: Effort) -> Vec<ScaleCell> {
    let cell = |what, piece, way, cores| ScaleCell {
        what,
        piece,
        way,
        cores,
        ms: effort.choose(400, 40, 4),
        effort,
    };
    let mut all = vec![cell(What::Machine, of("-", 0), "-", 0)];
    let pieces = pieces(effort).iter();
    all.extend(
        pieces
            .clone()
            .chain([&LONG])
            .map(|piece| cell(What::Nodes, *piece, "-", 0)),
    );
    // A line in two halves is done in half the time: what a pipeline's tasks cost cannot be told from it.
    let played = WAYS.into_iter().filter(|way| *way != PIPELINED.0);
    all.extend(played.map(|way| cell(What::Overhead, LONG, way, 0)));
    for piece in pieces {
        for way in WAYS {
            let most = if way == "sequential" { 1 } else { usize::MAX };
            let cores = cores(effort).iter().filter(|cores| **cores <= most);
            all.extend(cores.map(|cores| cell(What::Cycle, *piece, way, *cores)));
        }
    }
    all
}

/// The executor of a way, if this version has it.
pub(crate) fn scheduler(way: &str) -> Option<Scheduler> {
    way.parse().ok()
}

impl Cell for ScaleCell {
    fn key(&self) -> Vec<String> {
        let what = match self.what {
            What::Machine => "machine",
            What::Nodes => "nodes",
            What::Overhead => "overhead",
            What::Cycle => "cycle",
        };
        let key = [
            what.to_owned(),
            self.piece.name.to_owned(),
            self.piece.nodes.to_string(),
            self.way.to_owned(),
            self.cores.to_string(),
            self.ms.to_string(),
        ];
        debug_assert_eq!(key.len(), KEYS);
        key.into()
    }

    fn is_loaded(&self) -> bool {
        false
    }

    fn lasts(&self) -> Duration {
        let runs = match self.what {
            What::Machine => 3,
            What::Nodes => 1,
            What::Overhead => 2,
            What::Cycle if self.is_played() => 1,
            What::Cycle => 0,
        };
        Duration::from_millis(self.ms * runs + 5)
    }

    fn run(&self, bench: &mut Bench, table: &Table) -> Result<Vec<String>, LabError> {
        let mut found = Found {
            date: now(),
            ..Found::default()
        };
        match self.what {
            What::Machine => found.facts = moves_of(bench),
            What::Nodes => found.facts = self.nodes()?,
            What::Overhead => found.facts = self.overhead(bench, table)?,
            What::Cycle => self.cycle(bench, table, &mut found)?,
        }
        Ok(found.cells())
    }
}

/// What a run found, as it stands in the table.
#[derive(Default)]
struct Found {
    date: String,
    facts: String,
    predicted: Option<Prediction>,
    measured: Option<Figures>,
}

impl Found {
    fn cells(self) -> Vec<String> {
        let us = |ns: f64| format!("{:.2}", ns / 1e3);
        let told =
            |of: &dyn Fn(&Prediction) -> String| self.predicted.as_ref().map_or(String::new(), of);
        let seen =
            |of: &dyn Fn(&Figures) -> String| self.measured.as_ref().map_or(String::new(), of);
        vec![
            self.date.clone(),
            self.facts.clone(),
            told(&|p| us(p.cycle_ns)),
            told(&|p| p.takes.to_string()),
            told(&|p| format!("{:.3}", p.busy)),
            seen(&|f| us(f.took.p50 as f64)),
            seen(&|f| us(f.took.max as f64)),
            seen(&|f| format!("{:.1}", f.takes)),
            seen(&|f| format!("{:.3}", f.waited)),
            seen(&|f| format!("{:.0}", f.stolen_ms)),
        ]
    }
}

/// What moves cost here, in words for the table.
fn moves_of(bench: &mut Bench) -> String {
    let known = bench.facts();
    let link = known.links.first().copied().unwrap_or_default();
    facts::write(&[
        ("base", link.base_ns),
        ("kib", link.per_kib_ns),
        ("claim", known.claim_ns.unwrap_or(0.0)),
        ("steal", known.steal_ns.unwrap_or(0.0)),
        ("wake", known.wake_ns.unwrap_or(0.0)),
        ("woken", known.woken_ns.unwrap_or(0.0)),
    ])
}

impl ScaleCell {
    /// Whether there are as many cores here, and an executor, so that it can be played too.
    pub(crate) fn is_played(&self) -> bool {
        self.cores <= divisi::workers::cores().len().min(2) && scheduler(self.way).is_some()
    }

    /// What nodes cost, by kind.
    fn nodes(&self) -> Result<String, LabError> {
        let costs = measure(&self.piece.graph(), BLOCK, self.effort)?;
        let kinds = costs.kinds();
        let all = kinds
            .iter()
            .map(|k| (k.kind.as_str(), k.cost.warm.typical.0 as f64));
        Ok(facts::write(&all.collect::<Vec<_>>()))
    }

    /// What a task costs besides its node, and a cycle besides its tasks: from lines of two lengths, where a second
    /// worker is there and finds nothing to do.
    fn overhead(&self, bench: &mut Bench, table: &Table) -> Result<String, LabError> {
        let short = self.median_ns(bench, SHORT, 2)?;
        let long = self.median_ns(bench, LONG, 2)?;
        let nodes = (LONG.nodes - SHORT.nodes) as f64;
        let a_node = (long - short) / nodes;
        let known = facts::read(table, "nodes", LONG.name, "-");
        let node = facts::get(&known, "work").unwrap_or(0.0);
        Ok(facts::write(&[
            ("task", (a_node - node).max(0.0)),
            ("cycle", (short - a_node * SHORT.nodes as f64).max(0.0)),
        ]))
    }

    fn median_ns(&self, bench: &mut Bench, piece: Piece, cores: usize) -> Result<f64, LabError> {
        let seen = self.played(bench, piece, cores, MeasuredCosts::default())?;
        Ok(seen.took.p50 as f64)
    }

    fn played(
        &self,
        bench: &mut Bench,
        piece: Piece,
        cores: usize,
        costs: MeasuredCosts,
    ) -> Result<Figures, LabError> {
        let scheduler = scheduler(self.way).unwrap_or(Scheduler::Sequential);
        play(Run {
            graph: &piece.graph(),
            scheduler,
            workers: cores,
            block: BLOCK,
            fuse: false,
            pace: Pace::Behind,
            facts: bench.facts(),
            costs,
            time: Duration::from_millis(self.ms),
        })
    }

    /// Calculates, and plays where it can.
    fn cycle(&self, bench: &mut Bench, table: &Table, found: &mut Found) -> Result<(), LabError> {
        let graph = self.piece.graph();
        let costs = costs(table, self.piece, &graph);
        let dag = dag(&graph, &costs, u32::from(self.way == PIPELINED.0))?;
        let moves = moves(table, self.way);
        let schedule = lanes(self.way, &dag, self.cores, moves.link);
        let way = match (&schedule, self.way) {
            (Some(schedule), _) => DispatchPolicy::Lanes(schedule),
            (None, "stealing") => DispatchPolicy::Stealing,
            (None, "deadline") => DispatchPolicy::Deadline,
            (None, "global") => DispatchPolicy::Global,
            (None, "weighted") => DispatchPolicy::Weighted,
            (None, "mutex") => DispatchPolicy::Mutex,
            _ => DispatchPolicy::Sequential,
        };
        found.predicted = Some(simulate(&dag, &moves, self.cores, &way));
        if self.is_played() {
            found.measured = Some(self.played(bench, self.piece, self.cores, costs)?);
        }
        Ok(())
    }
}

/// The lanes of a static schedule; `None` for what has none.
fn lanes(way: &str, dag: &Dag, cores: usize, link: Link) -> Option<Schedule> {
    let machine = MachineModel::uniform(cores, link);
    match way {
        "hlfet" | "pipelined" => Some(plan::hlfet(dag, cores)),
        "etf" => Some(plan::etf(dag, &machine)),
        "cpfd" => Some(plan::cpfd(dag, &machine)),
        "random" => Some(plan::random(dag, cores, 1)),
        _ => None,
    }
}

/// What nodes were measured to cost, each as its kind.
fn costs(table: &Table, piece: Piece, graph: &Graph) -> MeasuredCosts {
    let known = facts::read(table, "nodes", piece.name, "-");
    let of_node = graph.nodes().filter_map(|(id, node)| {
        let ns = facts::get(&known, &node.kind)?;
        Some((id, Nanos(ns.round() as u64)))
    });
    MeasuredCosts {
        by_node: of_node.collect(),
    }
}

/// The tasks of a cycle, the last of them so many blocks behind the first.
fn dag(graph: &Graph, costs: &MeasuredCosts, ahead: u32) -> Result<Dag, LabError> {
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let mut options = PlanOptions::new(BLOCK, rate);
    options.costs = costs.clone();
    options.latency_blocks = ahead;
    let registry = Arc::new(divisi::registry());
    let compiled = plan::compile(graph, registry.catalogue(), &options);
    let plan = compiled.map_err(|wrong| LabError::Play(wrong.to_string()))?;
    Ok(Dag::from_plan(&plan))
}

/// What moves cost under one way of playing, from the table.
fn moves(table: &Table, way: &str) -> MoveCosts {
    let machine = facts::read(table, "machine", "-", "-");
    let fact = |name| facts::get(&machine, name).unwrap_or(0.0);
    let overhead = |way: &str| facts::read(table, "overhead", LONG.name, way);
    let alike = if way == PIPELINED.0 { PIPELINED.1 } else { way };
    // What was not played is taken to cost what stealing does.
    let known = [alike, "stealing"].map(overhead);
    let known = known.iter().find(|known| !known.is_empty());
    let of_way = |name| {
        known
            .and_then(|known| facts::get(known, name))
            .unwrap_or(0.0)
    };
    let alone = facts::get(&overhead("sequential"), "task").unwrap_or(0.0);
    let task = of_way("task");
    let nanos = |ns: f64| Nanos(ns.round() as u64);
    // The lock is taken twice for each task; what that costs is held against all others.
    let (dispatch, lock) = match way {
        "mutex" => (alone, (task - alone).max(0.0) / 2.0),
        _ => (task, 0.0),
    };
    MoveCosts {
        dispatch,
        cycle: of_way("cycle"),
        link: Link {
            base: nanos(fact("base")),
            per_kib: nanos(fact("kib")),
        },
        claim: fact("claim"),
        steal: fact("steal"),
        lock,
        // Block after block everybody is awake.
        wake: (0.0, 0.0),
    }
}
