//! Nodes that are played ahead ([`crate::ahead`]): their choice, their second processors, and the executors of both parts.

use super::EngineResources;
use super::nodes::NodeResources;
use crate::ahead::{
    AheadCut, AheadExecutor, AheadRoom, AheadStatus, AheadWorker, Border, SignalBus, StandIn, cut,
    link,
};
use crate::{EngineError, Scheduler};
use exec::{Binding, DelayLines, Executor, ProcessorPool, STAND_IN, SharedRuntime};
use graph::{Graph, Node, NodeId, Role};
use plan::{Plan, PreviousDelays, PreviousStages, StepOp};
use processor::Mode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use units::{Frames, SampleRate};
use workers::BackgroundThread;

/// Largest state of a node that is played ahead: it is saved in each block. Long delays and reverbs have more.
const MAX_STATE: usize = 16 * 1024;
/// Records of a trace that nobody reads.
const TRACE_RECORDS: usize = 16;
/// Bytes by which a state may be longer than it was at first.
const STATE_MARGIN: usize = 4096;

/// The plan of a graph, or of its rest beside a part that is played ahead.
pub(crate) struct PlannedGraph {
    pub(crate) plan: Plan,
    ahead: Option<(AheadCut, Plan)>,
}

impl EngineResources {
    /// As [`plan`](Self::plan), in two parts if something is to be played ahead.
    pub(crate) fn plan_parts(
        &mut self,
        graph: &Graph,
        previous: (Option<PreviousDelays>, PreviousStages),
    ) -> Result<PlannedGraph, EngineError> {
        let cut = self.ahead_cut(graph);
        let ahead = cut.and_then(|cut| {
            let plan = self.ahead_plan(&cut)?;
            Some((cut, plan))
        });
        let Some((cut, ahead)) = ahead else {
            let plan = self.plan(graph, previous)?;
            return Ok(PlannedGraph { plan, ahead: None });
        };
        let mut plan = self.plan(&cut.rest, previous)?;
        mark_stand_ins(&mut plan, |id| cut.nodes.contains(&id));
        let ahead = Some((cut, ahead));
        Ok(PlannedGraph { plan, ahead })
    }

    /// The part of `graph` that is played ahead. `None` if there is none, or the scheduler cannot: in a pipeline and beside copies
    /// of nodes, nothing is.
    fn ahead_cut(&mut self, graph: &Graph) -> Option<AheadCut> {
        let scheduler = self.options.scheduler;
        let cannot = matches!(scheduler, Scheduler::Pipelined | Scheduler::Cpfd);
        if self.options.ahead_blocks == 0 || cannot {
            return None;
        }
        let graph = graph.without_bypasses();
        cut(&graph, |id, node| self.is_exact(id, node))
    }

    /// Returns true if a node can be played ahead: it goes on from a saved state with the same bits, and that is short.
    fn is_exact(&mut self, id: NodeId, node: &Node) -> bool {
        let Some(kind) = self.catalogue.get(node.effective_kind()) else {
            return false;
        };
        let is_plain = kind.duplicable && kind.role == Role::Inner && kind.delay.is_none();
        let is_single = !self.is_expanded(id) && !self.taps.contains(&id);
        let has_timing = node.enabled && node.every == 1;
        let has_no_work = self.nodes.get(&id).is_some_and(NodeResources::is_plain);
        if !(is_plain && is_single && has_timing && has_no_work) {
            return false;
        }
        // One of both has failed: the other one would go on without it.
        if self.processors.is_quarantined(id) || self.ahead.pool.is_quarantined(id) {
            return false;
        }
        if !self.ahead.state_bytes.contains_key(&id) {
            let bytes = self.add_second_processor(id);
            self.ahead.state_bytes.insert(id, bytes);
        }
        self.ahead.state_bytes.get(&id).is_some_and(Option::is_some)
    }

    /// Makes the processor of `id` that the thread plays; gives the length of its state.
    fn add_second_processor(&mut self, id: NodeId) -> Option<usize> {
        let made = self.make(&self.nodes.get(&id)?.made_of).ok()?;
        let setup = self.setup();
        let (requested, _) = self.ahead.pool.insert(id, made, setup);
        let has_work = !requested.background.is_empty() || self.ahead.pool.has_deferred();
        let state = self.ahead.pool.save(id).filter(|_| !has_work);
        let bytes = state.map(|state| state.len());
        let bytes = bytes.filter(|bytes| *bytes <= MAX_STATE);
        if bytes.is_none() {
            self.ahead.pool.remove(id);
        }
        bytes
    }

    /// Plan of the part that is played ahead; `None` if it has mistakes, which the whole graph then has too.
    fn ahead_plan(&self, cut: &AheadCut) -> Option<Plan> {
        let core_timings = &self.options.core_timings;
        let machine = crate::machine::machine_model(1, core_timings, self.options.transfer_time);
        let mut options = self.plan_options(&machine);
        (options.fusion, options.latency_blocks) = (None, 0);
        let mut plan = plan::compile(&cut.ahead, &self.catalogue, &options).ok()?;
        mark_stand_ins(&mut plan, |id| !cut.nodes.contains(&id));
        Some(plan)
    }

    /// The executor of `planned`. What was played ahead until now ends: from here on the callback plays it.
    pub(crate) fn executor_of(&mut self, planned: &PlannedGraph) -> Box<dyn Executor> {
        self.end_ahead();
        let Some((cut, plan)) = &planned.ahead else {
            return self.executor(&planned.plan);
        };
        let (setup, blocks) = (self.setup(), self.options.ahead_blocks);
        let frames = self.options.block.count();
        let [bus, worker_bus] = [(); 2].map(|()| SignalBus::new(cut.channels(), frames));
        let part = bind_part((plan, cut), (&mut self.processors, setup), &bus);
        let worker_part = bind_part((plan, cut), (&mut self.ahead.pool, setup), &worker_bus);
        for (node, outputs) in cut.stand_ins() {
            let bus = bus.clone();
            let stand_in = Box::new(StandIn { bus, outputs });
            self.processors.insert_stand_in(node, stand_in, setup);
        }
        let rest = self.executor(&planned.plan);
        self.processors.remove_stand_ins();
        let room = AheadRoom {
            samples: bus.samples(),
            processors: plan.steps.len(),
            state_bytes: self.state_bytes(cut),
        };
        let (callback, thread) = link(blocks, room);
        let transport = self.transport.clone();
        let worker_end = (thread, worker_bus, self.options.block);
        self.begin_ahead(AheadWorker::new(worker_part, worker_end, transport.clone()));
        self.ahead.nodes = cut.nodes.len();
        let shared = (transport, self.ahead.counts.clone());
        let callback = (callback, blocks);
        Box::new(AheadExecutor::new(rest, part, callback, bus, shared))
    }

    /// Room for the states of a part, and some more.
    fn state_bytes(&self, cut: &AheadCut) -> usize {
        let bytes = |id| self.ahead.state_bytes.get(id).copied().flatten();
        cut.nodes.iter().filter_map(bytes).sum::<usize>() + STATE_MARGIN
    }

    /// Has a thread play ahead: one of its own live, the callback offline.
    fn begin_ahead(&mut self, worker: AheadWorker) {
        let thread = match (&self.ahead.thread, self.options.mode) {
            (Some(thread), _) => thread.clone(),
            // Without a thread the callback plays all.
            (None, Mode::Live) => match BackgroundThread::new("divisi-ahead") {
                Ok(thread) => Arc::new(thread),
                Err(_) => return,
            },
            (None, _) => self.background.clone(),
        };
        self.ahead.task = Some(thread.add(Box::new(worker)));
        self.ahead.thread = Some(thread);
    }

    /// Ends the thread's half. The next one has the same processors.
    fn end_ahead(&mut self) {
        self.ahead.nodes = 0;
        if let (Some(thread), Some(task)) = (&self.ahead.thread, self.ahead.task.take()) {
            thread.remove(task);
        }
    }

    /// Forgets the second processor of a node that is removed.
    pub(super) fn remove_ahead(&mut self, id: NodeId) {
        if self.ahead.state_bytes.remove(&id).is_some() {
            self.ahead.pool.remove(id);
        }
    }

    /// What is played ahead; `None` if nothing is to be.
    pub(crate) fn ahead_status(&self) -> Option<AheadStatus> {
        let counts = &self.ahead.counts;
        (self.options.ahead_blocks > 0).then(|| AheadStatus {
            nodes: self.ahead.nodes,
            // Relaxed: numbers of their own.
            ahead: counts.ahead.load(Ordering::Relaxed),
            played: counts.played.load(Ordering::Relaxed),
        })
    }
}

/// Has the steps of the nodes that `is_stand_in` accepts take what stands in for their processors.
fn mark_stand_ins(plan: &mut Plan, is_stand_in: impl Fn(NodeId) -> bool) {
    for step in &mut plan.steps {
        if let StepOp::Process { node, .. } = step.op
            && is_stand_in(node)
        {
            step.copy = STAND_IN;
        }
    }
}

/// Binds the part that is played ahead to the processors of `pool`, with a runtime of its own.
fn bind_part(
    (plan, cut): (&Plan, &AheadCut),
    (pool, setup): (&mut ProcessorPool, (SampleRate, Frames, Mode)),
    bus: &Arc<SignalBus>,
) -> Box<dyn Executor> {
    for signal in &cut.signals {
        let (bus, first) = (bus.clone(), signal.first);
        pool.insert_stand_in(signal.border, Box::new(Border { bus, first }), setup);
    }
    let (trace, _) = rt::trace::ring(TRACE_RECORDS);
    let part = exec::sequential(Binding {
        plan,
        processors: pool,
        delay_lines: &mut DelayLines::default(),
        runtime: Arc::new(SharedRuntime::new(vec![trace])),
        input_channels: 0,
    });
    pool.remove_stand_ins();
    part
}
