//! The half that stays with the user: edits, the watch, and the count of what happened.

use crate::notes::{Letter, Note, Posting, What};
use crate::player::{EngineCallback, Wires};
use crate::setting::Setting;
use crate::summary::Summary;
use crate::{EngineError, EngineOptions};
use exec::Watchdog;
use graph::{Edit, Graph, NodeId, ParamRange, ParamValue};
use plan::{DelayedEdge, Plan, PreviousDelays};
use processor::{Event, EventBody, EventTarget, Mode, Registry};
use report::{CycleTrace, LiveStats, Report, StepNames, Tracer};
use rt::stamp::TickScale;
use rt::{mailbox, spsc};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use units::Nanos;
use workers::DmaLatency;

/// Notes that fit before the control thread must have come: several seconds of the shortest blocks.
const NOTES: usize = 1 << 15;
/// Events on their way to the audio thread.
const POSTINGS: usize = 1 << 12;

/// How many of the nodes that were late a glance names.
const WORST: usize = 16;

/// An engine's half that stays with the user. [`tend`](Self::tend) it every few milliseconds while it plays.
pub struct Engine {
    graph: Graph,
    plan: Plan,
    setting: Setting,
    letters: mailbox::Sender<Letter>,
    retired: mailbox::Receiver<Letter>,
    postings: spsc::Sender<Posting>,
    notes: spsc::Receiver<Note>,
    /// The executor that plays, seen from outside; and the one that is on its way.
    watch: Watchdog,
    next: Option<(Watchdog, StepNames)>,
    tracer: Option<Tracer>,
    summary: Summary,
    /// Swaps so far.
    set_param: u32,
    /// Frames that have been played, as far as is known.
    position: u64,
    quarantined: Vec<String>,
    refused: Vec<String>,
    _latency: Option<DmaLatency>,
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
        graph: Graph,
        registry: Arc<Registry>,
        options: EngineOptions,
    ) -> Result<(Self, EngineCallback), EngineError> {
        let scale = TickScale::calibrated();
        let follows = options.mode.into();
        let mut setting = Setting::new(registry, options, follows)?;
        setting.admit(&graph)?;
        let plan = setting.plan(&graph, None)?;
        let executor = setting.executor(&plan);
        let (letters, letters_in) = mailbox::mailbox();
        let (retired_out, retired) = mailbox::mailbox();
        let (postings, postings_in) = spsc::channel(POSTINGS);
        let (notes_out, notes) = spsc::channel(NOTES);
        let offline = setting.options.mode != Mode::Live;
        let mut engine = Self {
            watch: executor.watchdog(),
            next: None,
            tracer: None,
            summary: Summary::default(),
            set_param: 0,
            position: 0,
            quarantined: Vec::new(),
            refused: Vec::new(),
            _latency: None,
            graph,
            plan,
            letters,
            retired,
            postings,
            notes,
            setting,
        };
        engine.begin(scale);
        let wires = Wires {
            letters: letters_in,
            retired: retired_out,
            postings: postings_in,
            notes: notes_out,
            background: offline.then(|| engine.setting.background.clone()),
        };
        let options = &engine.setting.options;
        let player = EngineCallback::new(executor, wires, scale, (options.block, options.rate));
        Ok((engine, player))
    }

    /// What is held and counted while it plays.
    fn begin(&mut self, scale: TickScale) {
        let options = &self.setting.options;
        let refused = self.setting.crew.status().refused.iter();
        self.refused = refused.map(|r| format!("{r}: {}", r.fix())).collect();
        if options.prevent_cpu_sleep && options.mode == Mode::Live {
            match DmaLatency::acquire() {
                Ok(held) => self._latency = Some(held),
                Err(refusal) => self.refused.push(format!("{refusal}: {}", refusal.fix())),
            }
        }
        if options.trace {
            let deadline =
                (options.mode == Mode::Live).then(|| options.block.duration(options.rate));
            let steps = StepNames::from_plan(&self.plan, &self.graph);
            self.tracer = Some(Tracer::new(steps, deadline, move |ticks| {
                scale.nanos(ticks)
            }));
        }
    }

    /// The graph that plays, or is about to.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What it is played by.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many threads work, the callback's included.
    pub fn workers(&self) -> usize {
        self.setting.workers()
    }

    /// By how many frames a pipeline's output lags. So many frames of silence come first; offline they are to be left out.
    pub fn pipeline_latency(&self) -> u64 {
        u64::from(self.plan.latency_blocks) * u64::from(self.plan.block.0)
    }

    /// Real-time guarantees that were refused, each with what to do.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// What has been quarantined so far, in words.
    pub fn quarantined(&self) -> &[String] {
        &self.quarantined
    }

    /// What meters show, by node and name.
    pub fn gauges(&self) -> BTreeMap<String, f32> {
        self.setting.gauges(&self.graph)
    }

    /// What was done for nodes that nobody asked for, in words: a file that was brought to another rate.
    pub fn notes(&self) -> Vec<String> {
        self.setting.notes(&self.graph)
    }

    /// After how many frames everything has ended by itself: the longest player, and all tails behind it. `None` for a
    /// graph that goes on forever.
    pub fn length(&self) -> Option<u64> {
        self.setting.length(&self.graph)
    }

    /// Makes changes to the graph; they are heard together, from one block on. What stays keeps its state.
    ///
    /// # Errors
    ///
    /// What is wrong with them; then nothing has changed. A parameter that is set must be one that may change while it
    /// plays, as for [`turn`](Self::turn), unless its node is new. [`EngineError::Busy`] while the last change is on its way,
    /// [`EngineError::PipelineTooDeep`] where a pipeline has more than two stages.
    ///
    /// Real-time: setup.
    pub fn edit(&mut self, edits: impl IntoIterator<Item = Edit>) -> Result<(), EngineError> {
        if self.plan.latency_blocks > 1 {
            return Err(EngineError::PipelineTooDeep);
        }
        let mut graph = self.graph.clone();
        let mut postings = Vec::new();
        for edit in edits {
            if let Edit::Set(id, name, value) = &edit
                && self.graph.node(*id).is_some()
            {
                let ParamValue::Number(value) = value else {
                    return Err(EngineError::NoParam(name.clone()));
                };
                postings.push(self.turned(*id, name, *value as f32)?);
                hold_line(&mut graph, &self.setting, *id);
            }
            graph.apply(edit).map_err(EngineError::Edit)?;
        }
        if self.postings.room() < postings.len() {
            return Err(EngineError::Busy);
        }
        self.replace(graph)?;
        for posting in postings {
            let posted = self.postings.push(posting);
            debug_assert!(posted.is_ok(), "there was room, and only we fill it");
        }
        Ok(())
    }

    fn replace(&mut self, graph: Graph) -> Result<(), EngineError> {
        self.collect();
        if self.next.is_some() || !self.letters.is_empty() {
            return Err(EngineError::Busy);
        }
        let prepared = self.setting.admit(&graph);
        let is_late = self.setting.is_late() || !self.plan.delayed_edges.is_empty();
        let before = is_late.then(|| self.before());
        let plan = match prepared.and_then(|()| self.setting.plan(&graph, before)) {
            Ok(plan) => plan,
            Err(error) => {
                self.setting.dismiss(&self.graph);
                return Err(error);
            }
        };
        let executor = self.setting.executor(&plan);
        self.set_param += 1;
        let watch = executor.watchdog();
        let put = self.letters.put(executor);
        debug_assert!(put.is_ok(), "the box was empty, and only we fill it");
        self.next = Some((watch, StepNames::from_plan(&plan, &graph)));
        self.graph = graph;
        self.plan = plan;
        Ok(())
    }

    /// What is delayed now, for the plan that comes next.
    fn before(&self) -> PreviousDelays {
        let plan = &self.plan;
        let gone = |it: &DelayedEdge| self.setting.gone(plan, it, self.position);
        PreviousDelays::new(&self.graph, &plan.delayed_edges, self.set_param + 1, gone)
    }

    /// Turns a knob: from the next block on the parameter `name` of `node` goes to `value`.
    ///
    /// # Errors
    ///
    /// It is no parameter that can change while it plays, or `value` is out of its range. [`EngineError::Busy`] while
    /// too many turns are on their way.
    ///
    /// Real-time: setup.
    pub fn set_param(&mut self, node: NodeId, name: &str, value: f32) -> Result<(), EngineError> {
        let posting = self.turned(node, name, value)?;
        self.postings.push(posting).map_err(|_| EngineError::Busy)?;
        hold_line(&mut self.graph, &self.setting, node);
        if let Some(there) = self.graph.node_mut(node) {
            there.set(name, ParamValue::Number(f64::from(value)));
        }
        Ok(())
    }

    /// What tells `node` of a parameter's new value, if it may change so while it plays.
    fn turned(&self, node: NodeId, name: &str, value: f32) -> Result<Posting, EngineError> {
        let wrong = || EngineError::NoParam(name.to_owned());
        let there = self.graph.node(node).ok_or_else(wrong)?;
        let kind = self
            .setting
            .registry
            .catalogue()
            .get(there.effective_kind());
        let kind = kind.ok_or_else(wrong)?;
        let (index, param) = kind.param(name).ok_or_else(wrong)?;
        let wanted = f64::from(value);
        let mut fits = match param.range {
            ParamRange::Number {
                min: least,
                max: most,
                ..
            } => (least..=most).contains(&wanted),
            _ => true,
        };
        if let Some(line) = kind.delay.filter(|line| line.time == name) {
            let made = there.number(line.time);
            let bound = |key| there.number(key).or(made);
            // To the precision of the event: the processor clamps.
            fits &= bound(line.min).is_none_or(|least| wanted >= least - 1e-6);
            fits &= bound(line.max).is_none_or(|most| wanted <= most + 1e-6);
        }
        if !param.live || !fits {
            return Err(wrong());
        }
        let event = Event {
            frame: 0,
            target: EventTarget::Param(index),
            body: EventBody::Value(value),
        };
        Ok(Posting { node, event })
    }

    /// Reads what the audio threads have told, frees what they have put away, and looks whether one of them is stuck.
    ///
    /// Real-time: setup.
    pub fn update(&mut self) {
        self.update_with(None);
    }

    /// As [`tend`](Self::tend); with a trace, each cycle that is over goes to `tell`, in their order. A cycle is put together
    /// when all that belongs to it has come: after the last one, call this twice.
    ///
    /// Real-time: setup.
    pub fn update_with(&mut self, tell: Option<&mut dyn FnMut(&CycleTrace)>) {
        self.collect();
        let mut dropped = 0;
        for reader in &mut self.setting.readers {
            match &mut self.tracer {
                Some(tracer) => reader.drain(|record| tracer.feed(record)),
                None => reader.drain(drop),
            };
            dropped += reader.dropped();
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.end_pass_with(dropped, tell);
        }
        if self.setting.options.mode == Mode::Live {
            self.look();
        }
    }

    /// Frees what was put away, and counts what was noted.
    fn collect(&mut self) {
        while let Some(note) = self.notes.pop() {
            if note.swapped {
                self.swapped(note.cycle);
            }
            if note.what == What::Missed
                && let Some(tracer) = &mut self.tracer
            {
                tracer.mark_missed(note.cycle as u32);
            }
            self.summary.add(&note);
            if matches!(note.what, What::Played | What::Missed) {
                self.position += u64::from(self.setting.options.block.0);
            }
        }
        drop(self.retired.take());
    }

    fn swapped(&mut self, cycle: u64) {
        if let Some((watch, steps)) = self.next.take() {
            self.watch = watch;
            // Only now: what has left the graph played on, and its background work with it.
            self.setting.dismiss(&self.graph);
            if let Some(tracer) = &mut self.tracer {
                tracer.swap(cycle as u32, steps);
            }
        }
    }

    /// Looks whether a step has not returned for too long. Then a plan without its node is prepared.
    fn look(&mut self) {
        let options = &self.setting.options;
        let period = options.block.duration(options.rate);
        let limit = Nanos(period.0 * 4).max(Nanos(20_000_000));
        for stuck in self.watch.find_stuck(Duration::from_nanos(limit.0)) {
            let Some(id) = stuck.node else { continue };
            let Some(node) = self.graph.node_mut(id) else {
                continue;
            };
            node.enabled = false;
            let worker = stuck.worker;
            let said = format!(
                "`{}` did not return on worker {worker}: it is silent now",
                node.name
            );
            self.quarantined.push(said);
            let without = self.graph.clone();
            // If a change is on its way already, the executor finds the dead processor by itself.
            let _ = self.replace(without);
        }
    }

    /// How it goes now. Cheap enough for several times a second.
    ///
    /// Real-time: setup.
    pub fn live_stats(&self) -> LiveStats {
        let options = &self.setting.options;
        let mut glance = self.summary.glance();
        glance.period_ns = options.block.duration(options.rate).0;
        glance.gauges = self.gauges();
        if let Some(tracer) = &self.tracer {
            glance.load = tracer.load().clone();
            glance.misses_by_node = tracer.late_nodes(WORST);
        }
        let readers = self.setting.readers.iter();
        glance.trace_dropped = readers.map(|reader| reader.dropped()).sum();
        glance
    }

    /// With a trace: the slowest cycle so far that was not given up.
    pub fn slowest(&self) -> Option<&CycleTrace> {
        self.tracer.as_ref()?.slowest()
    }

    /// What happened so far. What only the driver knows is left empty.
    ///
    /// Real-time: setup.
    pub fn report(&mut self) -> Report {
        self.update();
        let options = &self.setting.options;
        let mut report = Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scheduler: options.scheduler.name().to_owned(),
            chosen_by: if options.is_chosen { "auto" } else { "call" }.to_owned(),
            workers: self.setting.workers() as u32,
            block: options.block.0,
            rate: options.rate.hz(),
            kernels: "scalar".to_owned(),
            nodes: self.graph.len() as u64,
            refused: self.refused.clone(),
            notes: self.notes(),
            speedup_bound: self.speedup_bound(),
            ..Report::default()
        };
        report.latency_frames.graph = self.plan.latency.0;
        if options.mode == Mode::Live {
            report.deadline_ns = Some(options.block.duration(options.rate).0);
        }
        self.summary.write(&mut report);
        if let Some(tracer) = &self.tracer {
            report.set_trace(&tracer.findings());
        }
        report
    }

    fn speedup_bound(&self) -> f64 {
        let path = self.plan.lower_bound(usize::MAX).0;
        self.plan.total_cost().0 as f64 / path.max(1) as f64
    }
}

/// Writes down what a delay's time may become, before that changes: its processor was made for that, and a plan must not
/// take the new time for the bound.
fn hold_line(graph: &mut Graph, setting: &Setting, id: NodeId) {
    let Some(node) = graph.node_mut(id) else {
        return;
    };
    let kind = setting.registry.catalogue().get(node.effective_kind());
    let Some((line, time)) = kind.and_then(|k| Some((k.delay?, node.number(k.delay?.time)?)))
    else {
        return;
    };
    for key in [line.min, line.max] {
        if node.param(key).is_none() {
            node.set(key, ParamValue::Number(time));
        }
    }
}
