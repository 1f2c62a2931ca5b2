//! [`Engine`]: the half that stays with the user.
//!
//! | file | holds |
//! |---|---|
//! | `edit` | live edits: from the graph to the swap |
//! | `transition` | the graph that plays while the connections of an edit fade |
//! | `transport` | start, stop, locate, tempo |
//! | `taps` | signals of output ports for meters |
//! | `transaction` | several changes that reach the audio thread at one block |
//! | `controllers` | MIDI controllers that set parameters |
//! | `events` | parameters, ramps and MIDI, at once or at a frame |
//! | `node_states` | nodes that move from one engine to another |
//! | `update` | the regular call: messages of the audio thread, traces, stuck steps, retired executors |
//! | `adapt` | from one schedule to another, when what is lived asks for it |
//! | `stats` | figures for a display and for the report |

mod adapt;
mod controllers;
mod edit;
mod events;
mod node_states;
mod stats;
mod tap;
mod taps;
mod transaction;
mod transition;
mod transport;
mod update;

pub use adapt::ScheduleChange;
pub use events::{WordsTicket, live_param, param_number};

use crate::callback::EngineCallback;
use crate::messages::{ControlRings, rings};
use crate::midi::MidiEnd;
use crate::resources::EngineResources;
use crate::summary::Summary;
use crate::{ChooseOptions, EngineError, EngineOptions, Scheduler, choose_scheduler};
use adapt::Adaptation;
use costs::MachineCosts;
use exec::Watchdog;
use graph::{Graph, NodeId, PortRef};
use plan::Plan;
use processor::{Mode, OwnParam, Registry};
use report::{StepNames, Tracer};
use rt::stamp::TickScale;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
pub use tap::Tap;
use tap::TapSpec;
use transaction::Transaction;
use transition::Transition;
use workers::{DmaLatency, MemoryLock};

pub use transport::TransportPosition;

/// The half of an engine that stays with the user. Call [`update`](Self::update) every few milliseconds while it plays.
pub struct Engine {
    graph: Graph,
    /// The graph that plays in place of `graph` while connections fade.
    transition: Option<Transition>,
    /// The nodes that fade, in this transition and in the one before, each with the input behind it.
    fades: HashMap<NodeId, PortRef>,
    plan: Plan,
    resources: EngineResources,
    rings: ControlRings,
    controllers: controllers::Controllers,
    /// Own parameters of nodes that play elsewhere.
    remote_own_params: HashMap<NodeId, Vec<OwnParam>>,
    /// To the callback: the run is over for live MIDI.
    midi_end: Arc<MidiEnd>,
    /// The executor that plays, seen from outside; and the one that is on its way.
    watchdog: Watchdog,
    next: Option<(Watchdog, StepNames)>,
    /// The executor before has not come back yet: a pipeline drains for some blocks.
    has_retiring: bool,
    /// Processors may have left the graph since the last executor came back.
    has_unused: bool,
    tracer: Option<Tracer>,
    summary: Summary,
    /// Number of swaps so far.
    swaps: u32,
    /// Frames that have been played, as far as is known.
    position: u64,
    /// First frame of the last edit that the audio thread took.
    swap_frame: u64,
    /// True if the executor on its way ends the fades of an edit, or is the engine's own choice: no edit begins with it.
    is_later_swap: bool,
    /// Positions that are repeated, as they were set last.
    transport_loop: Option<std::ops::Range<u64>>,
    transaction: Transaction,
    taps: Vec<TapSpec>,
    /// Ids that taps have, or had: no other node gets one of them.
    tap_ids: Vec<NodeId>,
    quarantined: Vec<String>,
    refused: Vec<String>,
    /// The priorities of the callback and of the workers have been compared.
    has_compared_priorities: bool,
    /// `None` where no scheduler was chosen.
    adaptation: Option<Adaptation>,
    /// Nodes that panicked or did not return, as far as they are in `quarantined`.
    faulty: HashSet<NodeId>,
    seen_faults: u64,
    /// Held for as long as the engine lives.
    _dma_latency: Option<DmaLatency>,
    _memory_lock: Option<MemoryLock>,
}

impl Engine {
    /// Makes everything that `graph` needs, and the half that plays it.
    ///
    /// # Errors
    ///
    /// The graph's mistakes, each with its place; or the system starts no threads.
    ///
    /// Real-time: setup.
    pub fn new(
        mut graph: Graph,
        registry: Arc<Registry>,
        options: EngineOptions,
    ) -> Result<(Self, EngineCallback), EngineError> {
        let options = chosen(&graph, &registry, options)?;
        let scale = TickScale::calibrated();
        let spacing = options.mode.into();
        let mut resources = EngineResources::new(registry, options, spacing)?;
        resources.place_expansions(&mut graph)?;
        resources.add_nodes(&graph)?;
        let planned = resources.plan_parts(&graph, Default::default())?;
        let executor = resources.executor_of(&planned);
        let plan = planned.plan;
        let (control, callback) = rings();
        let options = &resources.options;
        let adaptation = Adaptation::new(options, resources.pool.workers(), &plan);
        let mut engine = Self {
            watchdog: executor.watchdog(),
            next: None,
            has_retiring: false,
            has_unused: false,
            tracer: None,
            summary: Summary::default(),
            swaps: 0,
            position: 0,
            swap_frame: 0,
            is_later_swap: false,
            transport_loop: None,
            transaction: Transaction::default(),
            taps: Vec::new(),
            tap_ids: Vec::new(),
            quarantined: Vec::new(),
            refused: Vec::new(),
            has_compared_priorities: false,
            adaptation,
            faulty: HashSet::new(),
            seen_faults: 0,
            _dma_latency: None,
            _memory_lock: None,
            transition: None,
            fades: HashMap::new(),
            graph,
            plan,
            rings: control,
            controllers: controllers::Controllers::default(),
            remote_own_params: HashMap::new(),
            midi_end: Arc::default(),
            resources,
        };
        engine.acquire(scale);
        let options = &engine.resources.options;
        let is_offline = options.mode != Mode::Live;
        let background = is_offline.then(|| engine.resources.background.clone());
        let format = (options.block, options.rate);
        let transport = engine.resources.transport().clone();
        let callback =
            EngineCallback::new(executor, callback, (background, transport), scale, format);
        let midi = engine.resources.midi_callback.take().unwrap_or_default();
        let callback = callback.with_midi(midi, engine.midi_end.clone());
        let callback = callback.with_clock(engine.clock_ports());
        Ok((engine, callback))
    }

    /// Acquires what is held while it plays, and starts the tracer.
    fn acquire(&mut self, scale: TickScale) {
        let options = &self.resources.options;
        let refused = self.resources.pool.status().refused.iter();
        self.refused = refused.map(|r| format!("{r}: {}", r.fix())).collect();
        if options.prevent_cpu_sleep && options.mode == Mode::Live {
            match DmaLatency::acquire() {
                Ok(held) => self._dma_latency = Some(held),
                Err(refusal) => self.refused.push(format!("{refusal}: {}", refusal.fix())),
            }
        }
        if options.lock_memory && options.mode == Mode::Live {
            match MemoryLock::acquire() {
                Ok(held) => self._memory_lock = Some(held),
                Err(refusal) => self.refused.push(format!("{refusal}: {}", refusal.fix())),
            }
        }
        if options.trace {
            let deadline = (options.mode == Mode::Live).then(|| options.period());
            let names = StepNames::from_plan(&self.plan, &self.resources.expanded(&self.graph));
            let tracer = Tracer::new(names, deadline, move |ticks| scale.nanos(ticks));
            self.tracer = Some(tracer);
        }
    }

    /// Live MIDI ports that lost messages because nobody took them in time, each with the number of messages.
    ///
    /// Real-time: setup.
    pub fn lost_midi(&self) -> Vec<(&str, u64)> {
        self.resources.midi_ports.lost()
    }

    /// Asks the callback to release the keys and sustain pedals that live MIDI outputs hold. After that nothing is sent to
    /// them: this is the end of a run.
    ///
    /// Real-time: setup.
    pub fn end_midi(&self) {
        self.midi_end.ask();
    }

    /// Returns true when the releases of [`end_midi`](Self::end_midi) have been sent; at once where there is no output.
    pub fn has_ended_midi(&self) -> bool {
        self.resources.options.midi.outputs.is_empty() || self.midi_end.is_done()
    }

    /// The graph that plays, or that is about to.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Absolute frame up to which it has played, as far as is known: some milliseconds behind the sound.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns true from an edit until the audio thread has taken it and a pipeline has played what was under way, as far
    /// as is known.
    pub fn is_swapping(&self) -> bool {
        self.next.is_some() || self.has_retiring
    }

    /// Returns true if no edit is under way, and what the last one removed plays no more, as far as is known.
    pub fn is_settled(&self) -> bool {
        !self.is_swapping() && self.transition.is_none()
    }

    /// First frame of the block from which on the last edit is heard.
    pub fn swap_frame(&self) -> u64 {
        self.swap_frame
    }

    /// The graph that the plan is of.
    fn playing_graph(&self) -> &Graph {
        let transition = self.transition.as_ref();
        transition.map_or(&self.graph, |transition| &transition.graph)
    }

    /// The plan of that graph, or of the graph with which an edit fades.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Number of threads that work under the schedule that plays, the callback's included.
    pub fn workers(&self) -> usize {
        self.resources.workers()
    }

    /// Delay of a pipeline's output, in frames. That many frames of silence come first; offline they are to be left
    /// out.
    pub fn pipeline_latency(&self) -> u64 {
        u64::from(self.plan.latency_blocks) * u64::from(self.plan.block.0)
    }

    /// Real-time guarantees that the system refused, each with what to do.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// Nodes that panicked or did not return so far, a sentence each. They are silent.
    pub fn quarantined(&self) -> &[String] {
        &self.quarantined
    }

    /// Frames in which everything fades out after the input has ended: the longest path of tails; endless ones are left out.
    pub fn tail(&self) -> u64 {
        self.resources.tail(&self.graph)
    }

    /// Counts frames from `position` on, as the callback does after [`EngineCallback::begin_at`](crate::EngineCallback::begin_at). To
    /// be called before the first block.
    ///
    /// Real-time: setup.
    pub fn begin_at(&mut self, position: u64) {
        self.position = position;
    }

    /// Length in frames after which everything has ended by itself: the longest path from the end of a player through the tails
    /// behind it. `None` for a graph that goes on for ever.
    pub fn length(&self) -> Option<u64> {
        self.resources.length(&self.graph)
    }
}

/// The options with a scheduler that was chosen, where it is to be.
fn chosen(
    graph: &Graph,
    registry: &Arc<Registry>,
    mut options: EngineOptions,
) -> Result<EngineOptions, EngineError> {
    if options.scheduler == Scheduler::Auto {
        let mut request = ChooseOptions::new(options.clone(), "");
        if !options.is_live() {
            // No pipeline that was not asked for: its output is late, and it may refuse edits.
            request.engine.latency_blocks.get_or_insert(0);
        }
        let choice = choose_scheduler(graph, registry, &request, &mut MachineCosts::default())?;
        choice.apply(&mut options);
    }
    Ok(options)
}
