//! The processors of one engine, by node. They stay when a plan is replaced by another.
//!
//! A bound plan holds its processors by `Arc`. One that is removed from the pool lives until the last plan that names
//! it is gone, and is dropped by the thread that drops that plan: never an audio thread.
//!
//! # Duplicates
//!
//! If a plan runs a node on several workers (CPFD), each duplicate has a processor of its own. The original and its
//! duplicates are quarantined together. A duplicate is *stale* until it has copied the original's state. It does that
//! between two cycles: before its first cycle, and after an abandoned cycle, in which perhaps only some of them ran.

use graph::NodeId;
use plan::{Plan, StepOp};
use processor::{
    BackgroundTask, BankKind, FileLog, Gauge, MidiPorts, Mode, Processor, RowKind, Setup,
    SetupServices, StateError, Tail, Transport,
};
use rt::deferred::{JobRunner, WaitingJobs};
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::{Frames, SampleRate};

/// Number of bytes by which the next saved state may be longer than this one.
const STATE_MARGIN: usize = 4096;

/// Number of the copy of a node that plays what another executor has computed.
pub const STAND_IN: u16 = u16::MAX;

/// No plan: the processor is awake.
pub(crate) const AWAKE: u64 = 0;

/// One processor, and what belongs to it.
pub(crate) struct ProcessorEntry {
    processor: UnsafeCell<Box<dyn Processor>>,
    /// The processor, or a duplicate of it, panicked or did not return: none of them runs again. Shared by all of them.
    is_quarantined: Arc<AtomicBool>,
    is_stale: AtomicBool,
    /// ID of the plan in which the processor fell asleep, or [`AWAKE`]. The next plan leaves it asleep. It may be out of
    /// date: a plan that takes the processor for awake, and is right, does not write it. So it holds for the next plan alone.
    asleep_in: AtomicU64,
    /// Buffer for the state that a duplicate copies.
    state: UnsafeCell<Vec<u8>>,
    pub(crate) runners: Vec<JobRunner>,
    /// Maximum number of lanes that the processor forks into.
    pub(crate) lanes: u32,
    /// The way in which it is computed side by side with others.
    pub(crate) bank: Option<BankKind>,
    /// The way in which it is processed in a row, which is one of its type.
    pub(crate) row: Option<RowKind>,
}

// SAFETY: `processor` is reached only by the holder of the claim on its step (`crate::step::StepClaim`), in the
// executor that owns the runtime: a plan runs each duplicate in one step. Otherwise `processor` and `state` are reached
// by that executor's callback thread while no step runs (`sync_state`). A `Processor` is `Send`.
unsafe impl Sync for ProcessorEntry {}

impl ProcessorEntry {
    fn new(processor: Box<dyn Processor>) -> Self {
        Self {
            lanes: processor.max_parallelism(),
            bank: processor.bank(),
            row: processor.row().filter(|row| row.is_of(&*processor)),
            processor: UnsafeCell::new(processor),
            is_quarantined: Arc::default(),
            is_stale: AtomicBool::new(false),
            asleep_in: AtomicU64::new(AWAKE),
            state: UnsafeCell::default(),
            runners: Vec::new(),
        }
    }

    /// Address of the processor, which stays the same as long as the entry lives.
    pub(crate) fn pointer(&self) -> *mut dyn Processor {
        // SAFETY: only an address is taken.
        unsafe { &raw mut **self.processor.get() }
    }

    pub(crate) fn is_quarantined(&self) -> bool {
        // Relaxed: no other memory depends on it. A duplicate may see it a cycle later.
        self.is_quarantined.load(Ordering::Relaxed)
    }

    /// Quarantines the processor and its duplicates. Returns true if this call was the first to do so.
    pub(crate) fn quarantine(&self) -> bool {
        // Relaxed: no other memory depends on it.
        !self.is_quarantined.swap(true, Ordering::Relaxed)
    }

    /// ID of the plan in which the processor fell asleep, or [`AWAKE`].
    pub(crate) fn asleep_in(&self) -> u64 {
        // Relaxed: a binder may see an old value, which is looked at again in the first cycle. Then the owner of the
        // runtime has changed, and with it everything that the last one wrote is seen.
        self.asleep_in.load(Ordering::Relaxed)
    }

    /// Records the plan in which the processor fell asleep, or [`AWAKE`].
    pub(crate) fn set_asleep_in(&self, plan: u64) {
        // Relaxed: as in `asleep_in`.
        self.asleep_in.store(plan, Ordering::Relaxed);
    }

    /// Makes the duplicate copy the original's state before it runs again.
    pub(crate) fn mark_stale(&self) {
        // Relaxed: written and read by callback threads, one owner of the runtime after the other.
        self.is_stale.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stale(&self) -> bool {
        // Relaxed: as in `mark_stale`.
        self.is_stale.load(Ordering::Relaxed)
    }

    /// Copies the state of `original`, by save and load. Returns false if that fails.
    ///
    /// # Safety
    ///
    /// The caller's executor owns the runtime, and no worker runs a step of either processor.
    ///
    /// Real-time: hot if the processor's `save` and `load` are. The buffer holds the state that the duplicate had when
    /// it was made, and a margin; kinds that can be duplicated always save the same amount (`Processor::save`).
    pub(crate) unsafe fn sync_state(&self, original: &Self) -> bool {
        // Relaxed: as in `mark_stale`.
        self.is_stale.store(false, Ordering::Relaxed);
        // SAFETY: no other thread reaches either processor or this buffer now, by this function's contract.
        let (state, from, to) = unsafe {
            (
                &mut *self.state.get(),
                &**original.processor.get(),
                &mut **self.processor.get(),
            )
        };
        state.clear();
        let synced = catch_unwind(AssertUnwindSafe(|| {
            from.save(state);
            to.load(state).is_ok()
        }));
        synced.unwrap_or_else(|payload| {
            std::mem::forget(payload);
            false
        })
    }
}

/// Latency, tail and length of a processor, known once it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTiming {
    /// Delay of its outputs relative to its inputs.
    pub latency: Frames,
    /// Duration of its outputs after its inputs have ended.
    pub tail: Tail,
    /// Frames until a source ends by itself; `None` if it does not.
    pub length: Option<u64>,
}

/// Services that a processor requested in its setup, for the engine to provide.
#[derive(Default)]
pub struct RequestedServices {
    /// Tasks for the background thread.
    pub background: Vec<Box<dyn BackgroundTask>>,
    /// Values to display, by name.
    pub gauges: Vec<(String, Gauge)>,
    /// Messages to the user.
    pub notes: Vec<String>,
    /// Log of problems with the processor's files.
    pub file_log: FileLog,
    /// Settings that the processor found for itself, by name.
    pub settings: Vec<(&'static str, String)>,
    runners: Vec<JobRunner>,
    waiting: WaitingJobs,
    transport: Arc<Transport>,
    midi_ports: Arc<MidiPorts>,
}

impl SetupServices for RequestedServices {
    fn defer(&mut self, job: JobRunner) {
        job.attach(&self.waiting);
        self.runners.push(job);
    }

    fn spawn_background(&mut self, task: Box<dyn BackgroundTask>) {
        self.background.push(task);
    }

    fn gauge(&mut self, name: &str) -> Gauge {
        let gauge = Gauge::default();
        self.gauges.push((name.to_owned(), gauge.clone()));
        gauge
    }

    fn file_log(&mut self) -> FileLog {
        self.file_log.clone()
    }

    fn transport(&mut self) -> Arc<Transport> {
        self.transport.clone()
    }

    fn midi_ports(&mut self) -> Arc<MidiPorts> {
        self.midi_ports.clone()
    }

    fn publish_setting(&mut self, name: &'static str, value: String) {
        self.settings.push((name, value));
    }

    fn notify_user(&mut self, message: String) {
        self.notes.push(message);
    }
}

/// The processors of one engine, by node.
#[derive(Default)]
pub struct ProcessorPool {
    originals: Vec<Option<Arc<ProcessorEntry>>>,
    /// Counts the deferred jobs that wait for a worker.
    pub(crate) waiting: WaitingJobs,
    pub(crate) transport: Arc<Transport>,
    midi_ports: Arc<MidiPorts>,
    /// By node and number of the copy, from 1.
    copies: HashMap<(NodeId, u16), Arc<ProcessorEntry>>,
}

impl ProcessorPool {
    /// An empty pool, whose processors follow `transport` and reach `midi_ports`.
    pub fn new(transport: Arc<Transport>, midi_ports: Arc<MidiPorts>) -> Self {
        Self {
            transport,
            midi_ports,
            ..Self::default()
        }
    }

    /// Returns true if some processor has deferred work.
    pub fn has_deferred(&self) -> bool {
        let mut all = self.originals.iter().flatten();
        all.any(|entry| !entry.runners.is_empty())
    }

    /// Frame at which the last deferred work that waits now is due; `None` if none waits.
    pub fn last_deferred_deadline(&self) -> Option<u64> {
        let all = self.originals.iter().flatten();
        let runners = all.flat_map(|entry| &entry.runners);
        runners.filter_map(JobRunner::deadline).max()
    }

    /// The deferred jobs of each node that has some.
    pub fn deferred(&self) -> impl Iterator<Item = (NodeId, &[JobRunner])> {
        let all = (0..).zip(&self.originals);
        let all = all.filter_map(|(node, entry)| Some((NodeId(node), &*entry.as_ref()?.runners)));
        all.filter(|(_, runners)| !runners.is_empty())
    }

    /// Sets `processor` up and inserts it for `node`. It replaces the one that was there, and its duplicates.
    ///
    /// Real-time: setup.
    pub fn insert(
        &mut self,
        node: NodeId,
        mut processor: Box<dyn Processor>,
        format: (SampleRate, Frames, Mode),
    ) -> (RequestedServices, ProcessorTiming) {
        let mut requested = self.set_up(&mut *processor, format);
        let timing = ProcessorTiming {
            latency: processor.latency(),
            tail: processor.tail(),
            length: processor.length(),
        };
        let index = node.0 as usize;
        if self.originals.len() <= index {
            self.originals.resize(index + 1, None);
        }
        self.copies.retain(|(of, _), _| *of != node);
        self.originals[index] = Some(Arc::new(ProcessorEntry {
            runners: std::mem::take(&mut requested.runners),
            ..ProcessorEntry::new(processor)
        }));
        (requested, timing)
    }

    /// Sets `processor` up and inserts it as duplicate `copy` (from 1) of `node`. Before its first cycle it copies the
    /// original's state; so `processor` must be made from the same node description as the original.
    ///
    /// Returns false if the node cannot be duplicated: it has no original, it requests background or deferred work
    /// (which no saved state contains), or its state cannot be saved and loaded.
    ///
    /// Real-time: setup.
    pub fn insert_copy(
        &mut self,
        (node, copy): (NodeId, u16),
        mut processor: Box<dyn Processor>,
        format: (SampleRate, Frames, Mode),
    ) -> bool {
        let Some(original) = self.get(node, 0) else {
            return false;
        };
        let is_quarantined = original.is_quarantined.clone();
        let requested = self.set_up(&mut *processor, format);
        let mut state = Vec::new();
        processor.save(&mut state);
        let has_other_work = !(requested.background.is_empty() && requested.runners.is_empty());
        if has_other_work || processor.load(&state).is_err() {
            return false;
        }
        state.reserve(state.len() + STATE_MARGIN);
        let entry = ProcessorEntry {
            is_quarantined,
            is_stale: AtomicBool::new(true),
            state: UnsafeCell::new(state),
            ..ProcessorEntry::new(processor)
        };
        self.copies.insert((node, copy), Arc::new(entry));
        true
    }

    /// Inserts `processor` in the place of `node`'s in plans whose step of it has the copy number [`STAND_IN`]: another
    /// executor plays the node.
    ///
    /// Real-time: setup.
    pub fn insert_stand_in(
        &mut self,
        node: NodeId,
        mut processor: Box<dyn Processor>,
        format: (SampleRate, Frames, Mode),
    ) {
        self.set_up(&mut *processor, format);
        let entry = Arc::new(ProcessorEntry::new(processor));
        self.copies.insert((node, STAND_IN), entry);
    }

    /// Removes all stand-ins. Plans that have been bound keep theirs.
    ///
    /// Real-time: setup.
    pub fn remove_stand_ins(&mut self) {
        self.copies.retain(|(_, copy), _| *copy != STAND_IN);
    }

    /// Removes the duplicates that `plan` does not use and returns those that it needs and that are missing. Call it
    /// for every plan: a duplicate that one plan did not use no longer has the original's state.
    ///
    /// Real-time: setup.
    pub fn retain_copies(&mut self, plan: &Plan) -> Vec<(NodeId, u16)> {
        let steps = plan.steps.iter().filter(|step| step.copy > 0);
        let needed = steps.filter_map(|step| match step.op {
            StepOp::Process { node, .. } => Some((node, step.copy)),
            _ => None,
        });
        let needed: HashSet<_> = needed.collect();
        self.copies.retain(|copy, _| needed.contains(copy));
        let is_missing = |copy: &(NodeId, u16)| !self.copies.contains_key(copy);
        let mut missing: Vec<_> = needed.into_iter().filter(is_missing).collect();
        missing.sort_unstable();
        missing
    }

    /// Removes the processor of `node` and its duplicates. Plans that name them keep them alive.
    ///
    /// Real-time: setup.
    pub fn remove(&mut self, node: NodeId) {
        if let Some(original) = self.originals.get_mut(node.0 as usize) {
            *original = None;
        }
        self.copies.retain(|(of, _), _| *of != node);
    }

    /// The state of the processor of `node`, which no plan names any more. `None` if there is no processor, if it is
    /// quarantined, or if a plan names it.
    ///
    /// Real-time: setup.
    pub fn save(&mut self, node: NodeId) -> Option<Vec<u8>> {
        let entry = self.originals.get_mut(node.0 as usize)?.as_mut()?;
        let entry = Arc::get_mut(entry).filter(|entry| !entry.is_quarantined())?;
        let processor = entry.processor.get_mut();
        catch_unwind(AssertUnwindSafe(|| {
            let mut state = Vec::new();
            processor.save(&mut state);
            state
        }))
        .ok()
    }

    /// Has the processor of `node`, which no plan names yet, continue from `state`.
    ///
    /// # Errors
    ///
    /// The state does not fit, or there is no such processor.
    ///
    /// Real-time: setup.
    pub fn load(&mut self, node: NodeId, state: &[u8]) -> Result<(), StateError> {
        let entry = self.originals.get_mut(node.0 as usize);
        let entry = entry.and_then(|entry| Arc::get_mut(entry.as_mut()?));
        let entry = entry.ok_or_else(|| StateError("the node plays already".into()))?;
        let processor = entry.processor.get_mut();
        let loaded = catch_unwind(AssertUnwindSafe(|| processor.load(state)));
        loaded.unwrap_or_else(|_| Err(StateError("the processor panicked".into())))
    }

    /// Returns true if the processor of `node` panicked or did not return: it never runs again.
    ///
    /// Real-time: setup.
    pub fn is_quarantined(&self, node: NodeId) -> bool {
        self.get(node, 0)
            .is_some_and(|entry| entry.is_quarantined())
    }

    /// Returns true if there is a processor for `node`.
    ///
    /// Real-time: setup.
    pub fn contains(&self, node: NodeId) -> bool {
        self.get(node, 0).is_some()
    }

    /// Sets `processor` up and returns the services that it requested.
    fn set_up(
        &self,
        processor: &mut dyn Processor,
        (rate, block, mode): (SampleRate, Frames, Mode),
    ) -> RequestedServices {
        let mut requested = RequestedServices {
            waiting: self.waiting.clone(),
            transport: self.transport.clone(),
            midi_ports: self.midi_ports.clone(),
            ..RequestedServices::default()
        };
        processor.setup(&mut Setup {
            rate,
            block,
            mode,
            services: &mut requested,
        });
        requested
    }

    /// The processor of `node` (copy 0), or of one of its duplicates.
    pub(crate) fn get(&self, node: NodeId, copy: u16) -> Option<&Arc<ProcessorEntry>> {
        match copy {
            0 => self.originals.get(node.0 as usize)?.as_ref(),
            _ => self.copies.get(&(node, copy)),
        }
    }
}
