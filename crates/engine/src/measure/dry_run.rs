//! [`DryRun`]: plays a graph with processors of its own, without a device, and changes nothing outside.

use crate::resources::EngineResources;
use crate::{EngineError, EngineOptions};
use exec::{CycleInfo, Executor, SharedRuntime};
use graph::{Graph, NodeId};
use plan::{Plan, TraceRecord};
use processor::{Mode, Registry};
use rt::stamp;
use rt::trace::TraceReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Amplitude of the noise that is played as the device's input, so that nodes have something to do.
const NOISE_AMPLITUDE: f32 = 0.1;

/// A graph that is played without a device.
pub(crate) struct DryRun {
    executor: Box<dyn Executor>,
    pub(crate) plan: Plan,
    resources: EngineResources,
    reader: Option<TraceReader<TraceRecord>>,
    device: Vec<Vec<f32>>,
    cycle: u64,
    /// Ticks after the start of a cycle until which deferred work is done; `u64::MAX` for no limit.
    deferred_ticks: u64,
}

impl DryRun {
    /// Makes all that `graph` needs, as `options` say. All of it is new.
    pub(crate) fn new(
        graph: &Graph,
        registry: Arc<Registry>,
        options: &EngineOptions,
    ) -> Result<Self, EngineError> {
        let mut options = options.clone();
        // The requested mode, not that of the dry run, says how the workers wait.
        let spacing = options.mode.into();
        options.mode = Mode::DryRun;
        options.trace = false;
        let (block, inputs) = (options.block, options.input_channels);
        let mut resources = EngineResources::new(registry, options, spacing)?;
        let mut graph = graph.clone();
        resources.place_expansions(&mut graph)?;
        let graph = &graph;
        resources.add_nodes(graph)?;
        let plan = resources.plan(graph, Default::default())?;
        let executor = resources.executor(&plan);
        Ok(Self {
            executor,
            plan,
            resources,
            reader: None,
            device: (0..inputs).map(|seed| noise(seed, block.count())).collect(),
            cycle: 0,
            deferred_ticks: u64::MAX,
        })
    }

    /// The same on one worker, with every step's time recorded, in a ring that is no larger than one cycle needs.
    pub(crate) fn traced(
        graph: &Graph,
        registry: Arc<Registry>,
        options: &EngineOptions,
    ) -> Result<Self, EngineError> {
        let mut options = options.clone();
        options.scheduler = crate::Scheduler::Sequential;
        options.workers = 1;
        let mut this = Self::new(graph, registry, &options)?;
        let (writer, reader) = rt::trace::ring(this.plan.steps.len() + 16);
        let runtime = SharedRuntime::new(vec![writer]);
        runtime.set_traced(true);
        this.resources.runtime = Arc::new(runtime);
        this.executor = this.resources.executor(&this.plan);
        this.reader = Some(reader);
        Ok(this)
    }

    /// Plays one block, and returns its time in ticks, without the background work between two blocks.
    pub(crate) fn cycle(&mut self) -> u64 {
        self.resources.background.run_until_idle();
        let device: Vec<&[f32]> = self.device.iter().map(Vec::as_slice).collect();
        let block = u64::from(self.resources.options.block.0);
        let start = stamp::now();
        let until = start.saturating_add(self.deferred_ticks);
        let info = CycleInfo {
            help_until: until,
            spare_until: until,
            ..CycleInfo::unlimited(self.cycle * block, self.cycle)
        };
        self.executor.run_cycle(&info, &device);
        let took = stamp::now().saturating_sub(start);
        self.cycle += 1;
        took
    }

    /// From now on deferred work is done for `ticks` of each cycle, as with a driver's deadline.
    pub(crate) fn limit_deferred_work(&mut self, ticks: u64) {
        self.deferred_ticks = ticks;
    }

    /// Returns true if some node has deferred work.
    pub(crate) fn has_deferred(&self) -> bool {
        self.resources.has_deferred()
    }

    /// Does all deferred work that waits: `prepare` is called before each job. `each` gets the node, the number of the job among those
    /// of the node, the ticks that it took, and the blocks from its request until its result is due.
    pub(crate) fn run_deferred(
        &self,
        prepare: impl Fn(),
        mut each: impl FnMut((NodeId, usize), u64, u64),
    ) {
        let block = u64::from(self.resources.options.block.0.max(1));
        for (node, jobs) in self.resources.deferred() {
            for (number, job) in jobs.iter().enumerate() {
                let Some(deadline) = job.deadline() else {
                    continue;
                };
                prepare();
                let begin = stamp::now();
                // A job whose piece panics never waits again, as in a cycle.
                let all = AssertUnwindSafe(|| while job.run_piece() {});
                if let Err(payload) = catch_unwind(all) {
                    std::mem::forget(payload);
                }
                let took = stamp::now().saturating_sub(begin);
                let due = (deadline / block + 1).saturating_sub(self.cycle);
                each((node, number), took, due.max(1));
            }
        }
    }

    /// Number of blocks until the last deferred work that waits now is due; 0 if none waits.
    pub(crate) fn deferred_blocks(&self) -> u64 {
        let block = u64::from(self.resources.options.block.0.max(1));
        let due = self.resources.last_deferred_deadline();
        due.saturating_sub(self.cycle * block).div_ceil(block)
    }

    /// Number of blocks after which everything has ended by itself; `None` if it goes on for ever.
    pub(crate) fn blocks(&self, graph: &Graph) -> Option<u64> {
        let block = u64::from(self.resources.options.block.0.max(1));
        Some(self.resources.length(graph)?.div_ceil(block))
    }

    /// Passes the trace records since the last call to `each`.
    pub(crate) fn records(&mut self, each: impl FnMut(TraceRecord)) {
        if let Some(reader) = &mut self.reader {
            reader.drain(each);
        }
    }
}

/// White noise, the same for the same seed.
fn noise(seed: u16, frames: usize) -> Vec<f32> {
    let mut state = u32::from(seed) + 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..frames).map(|_| NOISE_AMPLITUDE * next()).collect()
}
