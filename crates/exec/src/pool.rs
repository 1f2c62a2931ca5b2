//! The processors, by node: they stay when a plan is swapped for another.
//!
//! A plan that is bound holds the residents it needs, so one that leaves the pool lives until the last plan that names
//! it is gone, and is dropped by the thread that drops that plan: never an audio thread.
//!
//! Where a plan has copies of a node, each has a processor of its own. All of them live and die together. A copy is
//! *unsettled* until it has taken up the original's state: it does that between two cycles, when it first plays and after a
//! cycle that was given up, in which perhaps not all of them have run.

use graph::NodeId;
use plan::{Plan, StepOp};
use processor::{BackgroundTask, Gauge, Mode, Processor, Setup, SetupServices, Tail};
use rt::deferred::JobRunner;
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Frames, SampleRate};

/// One processor and what belongs to it.
pub(crate) struct Resident {
    processor: UnsafeCell<Box<dyn Processor>>,
    /// It panicked or did not return, or one of its copies: nobody runs any of them again.
    dead: Arc<AtomicBool>,
    unsettled: AtomicBool,
    /// Room for the state that a copy takes up.
    state: UnsafeCell<Vec<u8>>,
    pub(crate) runners: Vec<JobRunner>,
    /// Into how many lanes it forks at most.
    pub(crate) lanes: u32,
}

// SAFETY: `processor` is reached only by a step of the executor that has the floor's turn, and a plan runs each copy of a
// node in one step (`crate::floor`); or, as `state`, by that executor's callback thread between two cycles (`take_up`). A
// `Processor` is `Send`.
unsafe impl Sync for Resident {}

impl Resident {
    /// Where the processor is, for the executor that has the turn.
    pub(crate) fn pointer(&self) -> *mut dyn Processor {
        // SAFETY: only an address is taken: the box does not move as long as the resident lives.
        unsafe { &raw mut **self.processor.get() }
    }

    pub(crate) fn is_dead(&self) -> bool {
        // Relaxed: nothing travels with it. Set under the turn; a copy may find out a cycle later.
        self.dead.load(Ordering::Relaxed)
    }

    /// Whether this call was the one that ended it.
    pub(crate) fn kill(&self) -> bool {
        // Relaxed: as above.
        !self.dead.swap(true, Ordering::Relaxed)
    }

    /// From now on it has to take up the original's state before it plays.
    pub(crate) fn unsettle(&self) {
        // Relaxed: written and read under the turn.
        self.unsettled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_unsettled(&self) -> bool {
        // Relaxed: as above.
        self.unsettled.load(Ordering::Relaxed)
    }

    /// Goes on from where `original` is; whether it could.
    ///
    /// # Safety
    ///
    /// The caller has the turn, and nobody has a step of either.
    ///
    /// Real-time: hot, as far as saving and loading are: there is room for twice the state that the copy had when it was
    /// made, and kinds that can be copied always save as much (`Processor::save`).
    pub(crate) unsafe fn take_up(&self, original: &Self) -> bool {
        // Relaxed: as in `unsettle`.
        self.unsettled.store(false, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        let (state, from, to) = unsafe {
            (
                &mut *self.state.get(),
                &**original.processor.get(),
                &mut **self.processor.get(),
            )
        };
        state.clear();
        let taken = catch_unwind(AssertUnwindSafe(|| {
            from.save(state);
            to.load(state).is_ok()
        }));
        taken.unwrap_or_else(|payload| {
            std::mem::forget(payload);
            false
        })
    }
}

/// What a saved state may grow by until the next is saved.
const STATE_MARGIN: usize = 4096;

/// Sets `processor` up.
fn set_up(
    processor: &mut dyn Processor,
    asked: &mut RequestedServices,
    (rate, block, mode): (SampleRate, Frames, Mode),
) {
    processor.setup(&mut Setup {
        rate,
        block,
        mode,
        services: asked,
    });
}

/// What a processor says of itself, once it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTiming {
    /// By how many frames its outputs lag behind its inputs.
    pub latency: Frames,
    /// How long they go on after them.
    pub tail: Tail,
    /// For a source that ends by itself, after how many frames.
    pub length: Option<u64>,
}

/// What a processor asked for in its setup, for the engine to take care of.
#[derive(Default)]
pub struct RequestedServices {
    /// Work that may wait.
    pub background: Vec<Box<dyn BackgroundTask>>,
    /// Numbers to show, by name.
    pub gauges: Vec<(String, Gauge)>,
    /// What the user should be told.
    pub notes: Vec<String>,
    runners: Vec<JobRunner>,
}

impl SetupServices for RequestedServices {
    fn defer(&mut self, work: JobRunner) {
        self.runners.push(work);
    }

    fn spawn_background(&mut self, task: Box<dyn BackgroundTask>) {
        self.background.push(task);
    }

    fn gauge(&mut self, name: &str) -> Gauge {
        let gauge = Gauge::default();
        self.gauges.push((name.to_owned(), gauge.clone()));
        gauge
    }

    fn notify_user(&mut self, told: String) {
        self.notes.push(told);
    }
}

/// The processors of one engine, by node.
#[derive(Default)]
pub struct ProcessorPool {
    residents: Vec<Option<Arc<Resident>>>,
    /// Copies of them, by node and number (from 1).
    copies: HashMap<(NodeId, u16), Arc<Resident>>,
}

impl ProcessorPool {
    /// Sets `processor` up and takes it in for `node`. One that was there is replaced.
    ///
    /// Real-time: setup.
    pub fn insert(
        &mut self,
        node: NodeId,
        mut processor: Box<dyn Processor>,
        told: (SampleRate, Frames, Mode),
    ) -> (RequestedServices, ProcessorTiming) {
        let mut asked = RequestedServices::default();
        set_up(&mut *processor, &mut asked, told);
        let facts = ProcessorTiming {
            latency: processor.latency(),
            tail: processor.tail(),
            length: processor.length(),
        };
        let lanes = processor.max_parallelism();
        let index = node.0 as usize;
        if self.residents.len() <= index {
            self.residents.resize(index + 1, None);
        }
        self.copies.retain(|(of, _), _| *of != node);
        self.residents[index] = Some(Arc::new(Resident {
            processor: UnsafeCell::new(processor),
            dead: Arc::default(),
            unsettled: AtomicBool::new(false),
            state: UnsafeCell::default(),
            runners: std::mem::take(&mut asked.runners),
            lanes,
        }));
        (asked, facts)
    }

    /// Sets `processor` up and takes it in as copy `copy` (from 1) of `node`, whose state it will take up before it
    /// plays. `false` where that cannot be: there is no original, the processor asks for background or deferred work, which
    /// is in no state, or its state can not be saved and loaded. `processor` must be made of the same words as the original
    /// was: what was turned since comes with the state.
    ///
    /// Real-time: setup.
    pub fn insert_copy(
        &mut self,
        (node, copy): (NodeId, u16),
        mut processor: Box<dyn Processor>,
        told: (SampleRate, Frames, Mode),
    ) -> bool {
        let Some(original) = self.residents.get(node.0 as usize).and_then(Option::as_ref) else {
            return false;
        };
        let mut asked = RequestedServices::default();
        set_up(&mut *processor, &mut asked, told);
        let mut state = Vec::new();
        processor.save(&mut state);
        let works_beside = !(asked.background.is_empty() && asked.runners.is_empty());
        if works_beside || processor.load(&state).is_err() {
            return false;
        }
        state.reserve(state.len() + STATE_MARGIN);
        let resident = Resident {
            lanes: processor.max_parallelism(),
            processor: UnsafeCell::new(processor),
            dead: original.dead.clone(),
            unsettled: AtomicBool::new(true),
            state: UnsafeCell::new(state),
            runners: Vec::new(),
        };
        self.copies.insert((node, copy), Arc::new(resident));
        true
    }

    /// Lets the copies go that `plan` has not, and says which ones it lacks. To be asked for each plan: a copy that did not
    /// play with the others does not know what they have played.
    ///
    /// Real-time: setup.
    pub fn retain_copies(&mut self, plan: &Plan) -> Vec<(NodeId, u16)> {
        let steps = plan.steps.iter().filter(|step| step.copy > 0);
        let wanted = steps.filter_map(|step| match step.op {
            StepOp::Process { node, .. } => Some((node, step.copy)),
            _ => None,
        });
        let wanted: HashSet<_> = wanted.collect();
        self.copies.retain(|copy, _| wanted.contains(copy));
        let lacks = |copy: &(NodeId, u16)| !self.copies.contains_key(copy);
        let mut missing: Vec<_> = wanted.into_iter().filter(lacks).collect();
        missing.sort_unstable();
        missing
    }

    /// Lets the processor of `node` go, once no plan names it.
    ///
    /// Real-time: setup.
    pub fn remove(&mut self, node: NodeId) {
        if let Some(place) = self.residents.get_mut(node.0 as usize) {
            *place = None;
        }
        self.copies.retain(|(of, _), _| *of != node);
    }

    /// Whether there is a processor for `node`.
    ///
    /// Real-time: setup.
    pub fn contains(&self, node: NodeId) -> bool {
        self.get(node, 0).is_some()
    }

    /// The processor of `node`, or of one of its copies.
    pub(crate) fn get(&self, node: NodeId, copy: u16) -> Option<&Arc<Resident>> {
        match copy {
            0 => self.residents.get(node.0 as usize)?.as_ref(),
            _ => self.copies.get(&(node, copy)),
        }
    }
}
