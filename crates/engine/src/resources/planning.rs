//! From a graph to its plan, and from a plan to the executor that the scheduler asks for.

use super::EngineResources;
use crate::machine::{fusion_options, machine_model};
use crate::{EngineError, Scheduler};
use exec::{Binding, Executor};
use graph::{Graph, NodeId};
use plan::{Dag, FusionOptions, MachineModel, Plan, PlanOptions, PreviousDelays, PreviousStages};
use units::Frames;

impl EngineResources {
    /// The plan of `graph`, which follows a plan with the delays and stages `previous`.
    pub(crate) fn plan(
        &mut self,
        graph: &Graph,
        previous: (Option<PreviousDelays>, PreviousStages),
    ) -> Result<Plan, EngineError> {
        let graph = &*self.expanded(graph);
        let core_timings = &self.options.core_timings;
        let machine = machine_model(self.workers(), core_timings, self.options.transfer_time);
        let mut options = self.plan_options(&machine);
        (options.previous, options.previous_stages) = previous;
        if self.options.scheduler == Scheduler::Cpfd {
            return self.plan_with_copies(graph, options, &machine);
        }
        let compiled = plan::compile(graph, &self.catalogue, &options);
        let mut plan = compiled.map_err(|errors| EngineError::Graph(errors.0))?;
        plan.worker_tasks = match self.options.scheduler {
            Scheduler::Hlfet | Scheduler::Pipelined => {
                plan::hlfet(&Dag::from_plan(&plan), self.workers()).task_order()
            }
            Scheduler::Etf => plan::etf(&Dag::from_plan(&plan), &machine).task_order(),
            Scheduler::Random => {
                plan::random(&Dag::from_plan(&plan), self.workers(), 1).task_order()
            }
            _ => Vec::new(),
        };
        Ok(plan)
    }

    /// Returns true if a plan can be made of `graph`. No schedule is made.
    pub(crate) fn can_plan(&self, graph: &Graph) -> bool {
        let core_timings = &self.options.core_timings;
        let machine = machine_model(self.workers(), core_timings, self.options.transfer_time);
        let mut options = self.plan_options(&machine);
        options.fusion = None;
        plan::compile(graph, &self.catalogue, &options).is_ok()
    }

    /// Latency of `graph`, whose nodes are made.
    pub(crate) fn latency_of(&self, graph: &Graph) -> Result<Frames, EngineError> {
        let core_timings = &self.options.core_timings;
        let machine = machine_model(self.workers(), core_timings, self.options.transfer_time);
        let mut options = self.plan_options(&machine);
        options.fusion = None;
        let plan = plan::compile(&self.expanded(graph), &self.catalogue, &options);
        plan.map(|plan| plan.latency)
            .map_err(|errors| EngineError::Graph(errors.0))
    }

    /// A plan with copies of nodes, and their processors. Nodes whose processors allow no copies have none.
    fn plan_with_copies(
        &mut self,
        graph: &Graph,
        mut options: PlanOptions,
        machine: &MachineModel,
    ) -> Result<Plan, EngineError> {
        loop {
            options.not_duplicable.clone_from(&self.not_duplicable);
            let compiled = plan::compile_with_copies(graph, &self.catalogue, &options, machine);
            let plan = compiled.map_err(|errors| EngineError::Graph(errors.0))?;
            let missing = self.processors.retain_copies(&plan).into_iter();
            let refused: Vec<NodeId> = missing
                .filter(|copy| !self.add_copy(*copy))
                .map(|(node, _)| node)
                .collect();
            if refused.is_empty() {
                return Ok(plan);
            }
            self.not_duplicable.extend(refused);
        }
    }

    /// Makes the processor of a copy; returns false if it refuses to be one.
    fn add_copy(&mut self, (id, copy): (NodeId, u16)) -> bool {
        let setup = self.setup();
        let node = self.nodes.get(&id).map(|there| &there.made_of);
        let made = node.and_then(|node| self.make(node).ok());
        made.is_some_and(|made| self.processors.insert_copy((id, copy), made, setup))
    }

    pub(super) fn plan_options(&self, machine: &MachineModel) -> PlanOptions {
        let mut options = PlanOptions::new(self.options.block, self.options.rate);
        let latencies = self.nodes.iter().map(|(id, there)| (*id, there.latency));
        options.latencies = latencies.collect();
        options.compensate_latency = self.options.compensate_latency;
        options.costs = self.options.costs.clone();
        options.latency_blocks = self.options.pipeline_blocks(self.workers());
        let is_sequential = matches!(
            self.options.scheduler,
            Scheduler::Auto | Scheduler::Sequential
        );
        let fuses = self.options.fuse && !is_sequential;
        options.fusion = fuses.then(|| FusionOptions {
            use_all_workers: self.options.use_all_workers,
            ..fusion_options(machine)
        });
        options
    }

    /// The executor of `plan`.
    pub(crate) fn executor(&mut self, plan: &Plan) -> Box<dyn Executor> {
        let binding = Binding {
            plan,
            processors: &self.processors,
            delay_lines: &mut self.delay_lines,
            runtime: self.runtime.clone(),
            input_channels: self.options.input_channels,
        };
        match self.options.scheduler {
            // An engine that is to choose has chosen before it makes an executor.
            Scheduler::Auto | Scheduler::Sequential => exec::sequential(binding),
            Scheduler::Hlfet
            | Scheduler::Etf
            | Scheduler::Cpfd
            | Scheduler::Random
            | Scheduler::Pipelined => exec::static_schedule(binding, &self.pool),
            Scheduler::Global => exec::global(binding, &self.pool),
            Scheduler::Weighted => exec::weighted(binding, &self.pool),
            Scheduler::Stealing => exec::stealing(binding, &self.pool),
            Scheduler::Deadline => exec::deadline(binding, &self.pool),
            Scheduler::Mutex => exec::mutex(binding, &self.pool),
        }
    }
}
