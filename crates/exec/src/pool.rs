//! The processors, by node: they stay when a plan is swapped for another.
//!
//! A plan that is bound holds the residents it needs, so one that leaves the pool lives until the last plan that names
//! it is gone, and is dropped by the thread that drops that plan: never an audio thread.

use graph::NodeId;
use processor::{Background, Gauge, Mode, Processor, Services, Setup, Tail};
use rt::deferred::Runner;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Frames, SampleRate};

/// One processor and what belongs to it.
pub(crate) struct Resident {
    processor: UnsafeCell<Box<dyn Processor>>,
    /// It panicked or did not return: nobody runs it again.
    dead: AtomicBool,
    pub(crate) runners: Vec<Runner>,
    /// Into how many lanes it forks at most.
    pub(crate) lanes: u32,
}

// SAFETY: `processor` is reached only by a step of the executor that has the floor's turn, and a plan runs each node in
// one step at a time (`crate::floor`); a `Processor` is `Send`.
unsafe impl Sync for Resident {}

impl Resident {
    /// Where the processor is, for the executor that has the turn.
    pub(crate) fn pointer(&self) -> *mut dyn Processor {
        // SAFETY: only an address is taken: the box does not move as long as the resident lives.
        unsafe { &raw mut **self.processor.get() }
    }

    pub(crate) fn is_dead(&self) -> bool {
        // Relaxed: set under the turn, and read under it.
        self.dead.load(Ordering::Relaxed)
    }

    /// Whether this call was the one that ended it.
    pub(crate) fn kill(&self) -> bool {
        // Relaxed: as above.
        !self.dead.swap(true, Ordering::Relaxed)
    }
}

/// What a processor says of itself, once it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// By how many frames its outputs lag behind its inputs.
    pub latency: Frames,
    /// How long they go on after them.
    pub tail: Tail,
    /// For a source that ends by itself, after how many frames.
    pub length: Option<u64>,
}

/// What a processor asked for in its setup, for the engine to take care of.
#[derive(Default)]
pub struct Asked {
    /// Work that may wait.
    pub background: Vec<Box<dyn Background>>,
    /// Numbers to show, by name.
    pub gauges: Vec<(String, Gauge)>,
    runners: Vec<Runner>,
}

impl Services for Asked {
    fn defer(&mut self, work: Runner) {
        self.runners.push(work);
    }

    fn background(&mut self, task: Box<dyn Background>) {
        self.background.push(task);
    }

    fn gauge(&mut self, name: &str) -> Gauge {
        let gauge = Gauge::default();
        self.gauges.push((name.to_owned(), gauge.clone()));
        gauge
    }
}

/// The processors of one engine, by node.
#[derive(Default)]
pub struct Pool {
    residents: Vec<Option<Arc<Resident>>>,
}

impl Pool {
    /// Sets `processor` up and takes it in for `node`. One that was there is replaced.
    ///
    /// Real-time: setup.
    pub fn admit(
        &mut self,
        node: NodeId,
        mut processor: Box<dyn Processor>,
        (rate, block, mode): (SampleRate, Frames, Mode),
    ) -> (Asked, Facts) {
        let mut asked = Asked::default();
        processor.setup(&mut Setup {
            rate,
            block,
            mode,
            services: &mut asked,
        });
        let facts = Facts {
            latency: processor.latency(),
            tail: processor.tail(),
            length: processor.length(),
        };
        let lanes = processor.lanes();
        let index = node.0 as usize;
        if self.residents.len() <= index {
            self.residents.resize(index + 1, None);
        }
        self.residents[index] = Some(Arc::new(Resident {
            processor: UnsafeCell::new(processor),
            dead: AtomicBool::new(false),
            runners: std::mem::take(&mut asked.runners),
            lanes,
        }));
        (asked, facts)
    }

    /// Lets the processor of `node` go, once no plan names it.
    ///
    /// Real-time: setup.
    pub fn dismiss(&mut self, node: NodeId) {
        if let Some(place) = self.residents.get_mut(node.0 as usize) {
            *place = None;
        }
    }

    /// Whether there is a processor for `node`.
    ///
    /// Real-time: setup.
    pub fn has(&self, node: NodeId) -> bool {
        self.get(node).is_some()
    }

    pub(crate) fn get(&self, node: NodeId) -> Option<&Arc<Resident>> {
        self.residents.get(node.0 as usize)?.as_ref()
    }
}
