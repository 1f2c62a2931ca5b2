//! [`WorkerPoolOptions`]: number, priority, cores and waiting of a pool's workers.

use std::sync::Arc;

use units::Nanos;

use crate::system::lower_priority;
use crate::{CoreId, Priority, Refusal, cores};

/// Behaviour of workers between cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Sleep between cycles. Within a cycle the join spins.
    #[default]
    Hybrid,
    /// Sleep between cycles. Within a cycle nothing spins either.
    Sleep,
    /// Spin between cycles, without real-time priority.
    Spin,
}

/// Options of a [`WorkerPool`](crate::WorkerPool).
#[derive(Clone)]
pub struct WorkerPoolOptions {
    /// Number of workers, the caller's thread included.
    pub workers: usize,
    /// Priority of the threads that the pool starts.
    pub priority: Priority,
    /// Cores: worker w stays on the core at index w modulo their number. `None`: the system decides.
    pub pin: Option<Vec<CoreId>>,
    /// Behaviour of the workers between cycles.
    pub wait: WaitPolicy,
    /// Time for which a worker that has just worked spins before it sleeps, with [`WaitPolicy::Hybrid`]. Useful if one
    /// cycle follows the other at once (offline) and each worker has a core. 0 by default.
    pub spin_before_sleep: Nanos,
    /// Allows a [second pool of low priority](crate::WorkerPool::low_priority_pool).
    pub low_priority_pool: bool,
    /// Name of the threads in the system's lists; the worker's number follows it.
    pub name: String,
    /// Called by each thread, with its number, before its first cycle.
    pub on_thread_start: Option<Arc<dyn Fn(usize) + Send + Sync>>,
}

impl Default for WorkerPoolOptions {
    fn default() -> Self {
        Self {
            workers: cores().len(),
            priority: Priority::Ordinary,
            pin: None,
            wait: WaitPolicy::Hybrid,
            spin_before_sleep: Nanos(0),
            low_priority_pool: false,
            name: "divisi".into(),
            on_thread_start: None,
        }
    }
}

impl WorkerPoolOptions {
    /// The options of this pool's low-priority pool: one thread per core.
    pub(super) fn for_low_priority(&self) -> Self {
        let start = self.on_thread_start.clone();
        Self {
            workers: cores().len() + 1,
            pin: Some(cores().to_vec()),
            name: format!("{}-low", self.name),
            on_thread_start: Some(Arc::new(move |thread| {
                lower_priority();
                if let Some(start) = &start {
                    start(thread);
                }
            })),
            ..Self::default()
        }
    }

    /// Gives up real-time priority if other options conflict with it. Returns the reasons.
    pub(super) fn remove_conflicts(&mut self) -> Vec<Refusal> {
        let mut refused = Vec::new();
        let Priority::RealTime(level) = self.priority else {
            return refused;
        };
        self.priority = Priority::RealTime(level.clamp(1, 99));
        let (workers, cores) = (self.workers, cores().len());
        if workers > cores {
            refused.push(Refusal::MoreWorkersThanCores { workers, cores });
        }
        if self.wait == WaitPolicy::Spin {
            refused.push(Refusal::SpinAtRealTime);
        }
        if !refused.is_empty() {
            self.priority = Priority::Ordinary;
        }
        refused
    }
}
