//! Graphs played by any executor, for tests that compare them.

use exec::{Binding, Counts, Executor, Floor, Lines, Now, Outcome, Pool};
use graph::{Graph, NodeId};
use plan::{Fuse, Link, Machine, Options, Plan, TraceRecord};
use processor::{Background, Event, Mode, Registry, Turn};
use rt::trace::Reader;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use units::{Frames, Nanos, SampleRate};
use workers::{Crew, CrewOptions, Wait};

/// The ways of executing that there are. A new one is done when a line here makes every suite green.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The reference.
    Sequential,
    /// The plan's own schedule.
    Fixed,
    /// The plan's own schedule, with nodes copied to where their data would come too late.
    Copied,
    /// One queue for all.
    Global,
    /// Batches by weight.
    Weighted,
    /// Work stealing.
    Stealing,
    /// Due steps by their latest start.
    Deadline,
    /// One locked queue.
    Mutex,
    /// The plan's own schedule of fused tasks.
    FusedFixed,
    /// Work stealing with fused tasks.
    FusedStealing,
    /// A pipeline on one worker.
    PipedSequential,
    /// A pipeline, by a schedule of fused tasks.
    PipedFixed,
    /// A pipeline, by work stealing.
    PipedStealing,
}

/// All of them.
pub const WAYS: [Way; 10] = [
    Way::Sequential,
    Way::Fixed,
    Way::Global,
    Way::Weighted,
    Way::Stealing,
    Way::Deadline,
    Way::Mutex,
    Way::FusedFixed,
    Way::FusedStealing,
    Way::Copied,
];

/// Ways through a plan that is a pipeline: what they play is heard [`AHEAD`] blocks later.
pub const PIPELINES: [Way; 3] = [Way::PipedSequential, Way::PipedFixed, Way::PipedStealing];

/// By how many blocks the last stage of a pipeline lags.
pub const AHEAD: u32 = 2;

impl Way {
    /// An executor that goes this way.
    pub fn executor(self, binding: Binding<'_>, crew: &Crew) -> Box<dyn Executor> {
        match self {
            Self::Sequential | Self::PipedSequential => exec::sequential(binding),
            Self::Fixed | Self::FusedFixed | Self::PipedFixed | Self::Copied => {
                exec::fixed(binding, crew)
            }
            Self::Stealing | Self::FusedStealing | Self::PipedStealing => {
                exec::stealing(binding, crew)
            }
            Self::Global => exec::global(binding, crew),
            Self::Weighted => exec::weighted(binding, crew),
            Self::Deadline => exec::deadline(binding, crew),
            Self::Mutex => exec::mutex(binding, crew),
        }
    }

    /// Whether cheap steps are given out together: even where handing over costs nothing, so that there are many tasks.
    fn fuse(self, workers: usize) -> Option<Fuse> {
        let fuses = matches!(
            self,
            Self::FusedFixed | Self::FusedStealing | Self::PipedFixed
        );
        fuses.then_some(Fuse {
            workers: workers.max(2),
            task: Nanos(0),
            crossing: Nanos(0),
            start: Nanos(0),
            spread: false,
        })
    }

    /// By how many blocks its last stage lags.
    pub fn ahead(self) -> u32 {
        if PIPELINES.contains(&self) { AHEAD } else { 0 }
    }
}

/// How to play.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// With which executor.
    pub way: Way,
    /// How many workers, this thread included.
    pub workers: usize,
    /// Frames in a block.
    pub block: u32,
    /// What workers do between cycles.
    pub wait: Wait,
}

impl Manner {
    /// As workers wait where nobody says otherwise.
    pub fn new(way: Way, workers: usize, block: u32) -> Self {
        Self {
            way,
            workers,
            block,
            wait: Wait::Hybrid,
        }
    }

    /// One worker in the plan's order: the reference.
    pub fn reference(block: u32) -> Self {
        Self {
            way: Way::Sequential,
            workers: 1,
            block,
            wait: Wait::Hybrid,
        }
    }
}

/// Frames a second in every hall.
pub fn rate() -> SampleRate {
    SampleRate::new(48_000).expect("48000 is not zero")
}

/// The kinds that this workspace has.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    conv::register(&mut registry);
    registry
}

/// A graph that plays.
pub struct Hall {
    /// What plays it.
    pub executor: Box<dyn Executor>,
    /// What it plays by.
    pub plan: Plan,
    /// Where.
    pub floor: Arc<Floor>,
    /// Who is there.
    pub pool: Pool,
    /// Their lines.
    pub lines: Lines,
    /// The other workers.
    pub crew: Crew,
    /// What each worker wrote into the trace, if the floor's is on.
    pub traces: Vec<Reader<TraceRecord>>,
    /// The next cycle's number.
    pub cycle: u64,
    /// The stamps a cycle may take; none for as long as it takes.
    pub limit: Option<u64>,
    /// For how many stamps of a cycle late deferred work is helped; none for as long as it takes.
    pub help: Option<u64>,
    background: Vec<Box<dyn Background>>,
    manner: Manner,
    latencies: HashMap<NodeId, Frames>,
}

impl Hall {
    /// Sets up every node of `graph` and makes an executor, with a crew of its own.
    pub fn new(graph: &Graph, registry: &Registry, manner: Manner) -> Self {
        let crew = Crew::new(CrewOptions {
            workers: manner.workers,
            wait: manner.wait,
            floors: manner.way == Way::Deadline,
            ..CrewOptions::default()
        });
        let crew = crew.expect("threads can be started");
        Self::with(graph, registry, manner, crew)
    }

    /// As [`new`](Self::new), with this crew.
    pub fn with(graph: &Graph, registry: &Registry, manner: Manner, crew: Crew) -> Self {
        let rings = (0..manner.workers).map(|_| rt::trace::ring(1 << 16));
        let (pens, traces) = rings.unzip();
        let floor = Arc::new(Floor::new(pens));
        if manner.wait == Wait::Sleep {
            floor.set_idle(exec::Idle::Sleep);
        }
        let mut pool = Pool::default();
        let mut lines = Lines::default();
        let mut background = Vec::new();
        let mut latencies = HashMap::new();
        for (id, node) in graph.nodes() {
            let made = registry.make(node, Path::new("."));
            let made = made.expect("the test's parameters are right");
            let setting = (rate(), Frames(manner.block), Mode::Offline);
            let (asked, facts) = pool.admit(id, made, setting);
            background.extend(asked.background);
            latencies.insert(id, facts.latency);
        }
        let plan = plan(graph, registry, (manner, &latencies));
        make_copies(&mut pool, (&plan, graph), registry, manner);
        let binding = Binding {
            plan: &plan,
            pool: &pool,
            lines: &mut lines,
            floor: floor.clone(),
            inputs: 2,
        };
        let executor = manner.way.executor(binding, &crew);
        Self {
            executor,
            plan,
            floor,
            pool,
            lines,
            crew,
            traces,
            cycle: 0,
            limit: None,
            help: None,
            background,
            manner,
            latencies,
        }
    }

    /// Has another executor take over, which goes `way` and plays `graph`, whose nodes this hall must know; what played
    /// so far.
    pub fn change(&mut self, way: Way, graph: &Graph, registry: &Registry) -> Box<dyn Executor> {
        self.plan = plan(graph, registry, (self.manner, &self.latencies));
        make_copies(&mut self.pool, (&self.plan, graph), registry, self.manner);
        let binding = Binding {
            plan: &self.plan,
            pool: &self.pool,
            lines: &mut self.lines,
            floor: self.floor.clone(),
            inputs: 2,
        };
        let next = way.executor(binding, &self.crew);
        assert!(self.executor.rest(), "an executor comes to rest");
        std::mem::replace(&mut self.executor, next)
    }

    /// Plays one block; how it went.
    pub fn run(&mut self, device: &[&[f32]]) -> Outcome {
        for task in &mut self.background {
            while task.turn() == Turn::Again {}
        }
        let until = |span: Option<u64>| span.map_or(u64::MAX, |s| rt::stamp::now() + s);
        let now = Now {
            position: self.cycle * u64::from(self.manner.block),
            first: 0,
            end: u64::MAX,
            cycle: self.cycle,
            device,
            give_up: until(self.limit),
            help_until: until(self.help),
        };
        self.cycle += 1;
        self.executor.run(&now).outcome
    }

    /// The bits of what the output channels below `channels` play, for at least `frames` frames.
    pub fn play(&mut self, channels: u16, frames: usize) -> Vec<Vec<u32>> {
        let block = self.manner.block as usize;
        for _ in self.cycle..u64::from(self.manner.way.ahead()) {
            assert_eq!(self.run(&[]), Outcome::Done);
        }
        let mut played = vec![Vec::new(); channels.into()];
        while played[0].len() < frames {
            assert_eq!(self.run(&[]), Outcome::Done);
            for (channel, played) in (0..channels).zip(&mut played) {
                let mut out = vec![0.0_f32; block];
                self.executor.output(channel, &mut out);
                played.extend(out.iter().map(|x| x.to_bits()));
            }
        }
        played.iter_mut().for_each(|p| p.truncate(frames));
        played
    }

    /// Gives a node an event for the next block.
    pub fn post(&mut self, node: NodeId, event: Event) {
        self.executor.post(node, event).expect("there is room");
    }

    /// What went wrong.
    pub fn counts(&self) -> Counts {
        self.executor.counts()
    }
}

fn plan(
    graph: &Graph,
    registry: &Registry,
    (manner, latencies): (Manner, &HashMap<NodeId, Frames>),
) -> Plan {
    let mut options = Options::new(Frames(manner.block), rate());
    options.lanes = manner.workers;
    options.fuse = manner.way.fuse(manner.workers);
    options.ahead = manner.way.ahead();
    options.latencies.clone_from(latencies);
    let catalogue = registry.catalogue();
    let plan = match manner.way {
        Way::Copied => {
            // So dear that there are copies.
            let link = Link {
                base: Nanos(2_000),
                per_kib: Nanos(0),
            };
            let machine = Machine::uniform(manner.workers, link);
            plan::compile_with_copies(graph, catalogue, &options, &machine)
        }
        _ => plan::compile(graph, catalogue, &options),
    };
    plan.expect("the test's graph is right")
}

/// Makes the processors of copies that `plan` has.
fn make_copies(
    pool: &mut Pool,
    (plan, graph): (&Plan, &Graph),
    registry: &Registry,
    manner: Manner,
) {
    for (id, copy) in pool.keep_copies(plan) {
        let node = graph.node(id).expect("the plan is of this graph");
        let made = registry.make(node, Path::new("."));
        let made = made.expect("the test's parameters are right");
        let told = (rate(), Frames(manner.block), Mode::Offline);
        assert!(pool.admit_copy((id, copy), made, told), "it is duplicable");
    }
}
