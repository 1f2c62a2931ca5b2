//! [`CellStatus`]: what the node of a cell and the monitor of its process tell each other.
//!
//! | word | stored by | read by |
//! |---|---|---|
//! | `blocks`, `lost`, `not_finite`, `lost_events`, `missed`, `overdue`, `waits` | the node | the monitor, reports |
//! | `work` | nodes whose work it does | reports |
//! | `corrupt` | the node: the number of the process whose ring holds nonsense | the monitor, which kills it if it still runs |
//! | `drill` | the node, in the block of a drill | the monitor, which sends the signal |
//! | `outage` | the node: blocks lost in a row, when the first one is back | the monitor, which tells it once for each process |
//! | `responses` | the node, without latency | the service, which empties them |
//! | `gone` | the monitor, when it starts the cell no more | the node, which waits no longer |
//! | `stopped` | the service and the monitor, from an order to stop until a process plays again | the node, to which no block is lost then |
//! | `throttled` | the monitor, while the budget is used up | the node, which sends nothing then |
//! | `memory`, `own` | the monitor, with each process | reports: its meters; the service: taps, fates of messages, what its patches receive. Behind locks that the node never takes |
//! | `process`, `starts`, `workers`, `used_ns`, `load`, `outside_ns` | the monitor | reports |
//!
//! Nothing else travels with any of these words, so all are relaxed; the rings travel through queues.

use crate::gauges::read_gauges;
use crate::own_params::OwnParams;
use crate::work::WorkCounts;
use rt::mirror::SharedWords;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::Nanos;

/// Parts of a block by which responses are counted.
pub(crate) const RESPONSE_PARTS: usize = 32;
/// Responses of which a p99 says something.
const MIN_RESPONSES: u64 = 100;

/// Memory of a process that plays, as it writes it.
pub(crate) struct ProcessMemory {
    /// Words before its checkpoints: meters, fates of messages, taps.
    pub(crate) head: SharedWords,
    /// All of it.
    pub(crate) file: File,
}

/// Figures and flags of one cell.
#[derive(Default)]
pub struct CellStatus {
    /// Blocks that were asked for.
    pub(crate) blocks: AtomicU64,
    /// Blocks of which no result came in time.
    pub(crate) lost: AtomicU64,
    /// Samples that were no finite numbers.
    pub(crate) not_finite: AtomicU64,
    /// Events that did not cross the border.
    pub(crate) lost_events: AtomicU64,
    /// Blocks lost in a row.
    pub(crate) missed: AtomicU32,
    /// Blocks in a row whose reply was due from the process that plays, and did not come.
    pub(crate) overdue: AtomicU32,
    /// Blocks lost in a row the last time that it was.
    pub(crate) outage: AtomicU32,
    /// True while the node waits without a deadline.
    pub(crate) waits: AtomicBool,
    pub(crate) corrupt: AtomicU32,
    pub(crate) drill: AtomicU32,
    pub(crate) gone: AtomicBool,
    pub(crate) stopped: AtomicBool,
    pub(crate) throttled: AtomicBool,
    /// Number of the process that plays; 0 for none.
    pub(crate) process: AtomicU32,
    /// Processes that were started.
    pub(crate) starts: AtomicU32,
    /// Workers of the last one.
    pub(crate) workers: AtomicU32,
    /// Processor time of all its processes.
    pub(crate) used_ns: AtomicU64,
    /// Cores that it has used in the last interval of the monitor, in thousandths.
    pub(crate) load: AtomicU32,
    /// Processor time while no window was open, or its budget was used up.
    pub(crate) outside_ns: AtomicU64,
    /// Responses within the block, by parts of it: [`RESPONSE_PARTS`] of a whole block.
    pub(crate) responses: [AtomicU32; RESPONSE_PARTS],
    /// Requests of work.
    pub(crate) work: WorkCounts,
    /// Memory of the process that plays. The node does not touch it.
    memory: Mutex<Option<ProcessMemory>>,
    /// Names that nodes of the process that plays receive. The node does not touch it.
    own: Mutex<Arc<OwnParams>>,
}

impl fmt::Debug for CellStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("CellStatus");
        shown
            .field("blocks", &self.blocks())
            .field("lost", &self.lost());
        shown
            .field("process", &self.process())
            .finish_non_exhaustive()
    }
}

impl CellStatus {
    /// Counts anew: what was asked for and lost so far was not heard.
    pub(crate) fn begin_count(&self) {
        for count in [
            &self.blocks,
            &self.lost,
            &self.not_finite,
            &self.lost_events,
        ] {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Adds the counts of a process whose place this one has taken.
    pub(crate) fn add_counts(&self, before: &Self) {
        let counts = |it: &Self| {
            let all = [&it.blocks, &it.lost, &it.not_finite, &it.lost_events];
            let all = all.into_iter().chain([&it.used_ns, &it.outside_ns]);
            all.map(|count| count.load(Ordering::Relaxed))
                .collect::<Vec<_>>()
        };
        let own = [
            &self.blocks,
            &self.lost,
            &self.not_finite,
            &self.lost_events,
        ];
        let own = own.into_iter().chain([&self.used_ns, &self.outside_ns]);
        for (count, before) in own.zip(counts(before)) {
            count.fetch_add(before, Ordering::Relaxed);
        }
    }

    /// Takes the memory of a process that plays.
    pub(crate) fn set_memory(&self, memory: Option<ProcessMemory>) {
        *self.memory.lock().unwrap_or_else(PoisonError::into_inner) = memory;
    }

    /// Shows the memory of the process that plays to `read`; `None` if there is none.
    pub(crate) fn with_memory<T>(&self, read: impl FnOnce(&ProcessMemory) -> T) -> Option<T> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.as_ref().map(read)
    }

    /// Takes what nodes of a process receive by name.
    pub(crate) fn set_own(&self, own: OwnParams) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(own);
    }

    /// Names that nodes of the last process receive.
    pub(crate) fn own(&self) -> Arc<OwnParams> {
        self.own
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Number of blocks that were asked for.
    ///
    /// Real-time: hot.
    pub fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    /// Counts of the work that it does for nodes elsewhere.
    ///
    /// Real-time: hot.
    pub fn work(&self) -> &WorkCounts {
        &self.work
    }

    /// Number of blocks of which no result came in time.
    ///
    /// Real-time: hot.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Number of samples that were not finite and became silence.
    ///
    /// Real-time: hot.
    pub fn not_finite(&self) -> u64 {
        self.not_finite.load(Ordering::Relaxed)
    }

    /// Number of events that did not cross its border: texts, nonsense, and those that found no room.
    ///
    /// Real-time: hot.
    pub fn lost_events(&self) -> u64 {
        self.lost_events.load(Ordering::Relaxed)
    }

    /// Returns true if the cell is started no more.
    ///
    /// Real-time: hot.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Number of the process that plays.
    ///
    /// Real-time: hot.
    pub fn process(&self) -> Option<u32> {
        Some(self.process.load(Ordering::Relaxed)).filter(|it| *it != 0)
    }

    /// Number of processes that were started after the first one.
    ///
    /// Real-time: hot.
    pub fn restarts(&self) -> u32 {
        self.starts.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// Workers of the process.
    ///
    /// Real-time: hot.
    pub fn workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed) as usize
    }

    /// Processor time that its processes have used while they played.
    ///
    /// Real-time: hot.
    pub fn used(&self) -> Nanos {
        Nanos(self.used_ns.load(Ordering::Relaxed))
    }

    /// Part of that time for which no window was open, or its budget was used up.
    ///
    /// Real-time: hot.
    pub fn used_outside(&self) -> Nanos {
        Nanos(self.outside_ns.load(Ordering::Relaxed))
    }

    /// Counts a response of `part` of `whole`.
    ///
    /// Real-time: hot.
    pub(crate) fn count_response(&self, part: Nanos, whole: Nanos) {
        let at = part.0.saturating_mul(RESPONSE_PARTS as u64) / whole.0.max(1);
        let at = (at as usize).min(RESPONSE_PARTS - 1);
        if let Some(count) = self.responses.get(at) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Upper bound on the p99 of the responses since it last gave one, as a share of a block; none where there are too few.
    ///
    /// Real-time: setup.
    pub(crate) fn take_response(&self) -> Option<f64> {
        let counts = self
            .responses
            .each_ref()
            .map(|it| it.load(Ordering::Relaxed));
        let all: u64 = counts.iter().map(|it| u64::from(*it)).sum();
        if all < MIN_RESPONSES {
            return None;
        }
        // What the node adds meanwhile is kept.
        for (count, taken) in self.responses.iter().zip(counts) {
            count.fetch_sub(taken, Ordering::Relaxed);
        }
        let mut above = 0;
        let at = counts.iter().rposition(|it| {
            above += u64::from(*it);
            above * 100 > all
        });
        at.map(|at| (at + 1) as f64 / RESPONSE_PARTS as f64)
    }

    /// The newest values of its meters, by node and name. Empty while no process plays.
    ///
    /// Real-time: setup.
    pub fn gauges(&self) -> BTreeMap<String, f32> {
        let found = self.with_memory(|memory| read_gauges(memory.head.words()));
        found.flatten().unwrap_or_default()
    }

    /// Cores that it has used of late: 0.5 is half of one.
    ///
    /// Real-time: hot.
    pub fn load(&self) -> f64 {
        f64::from(self.load.load(Ordering::Relaxed)) / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_p99_of_responses_is_bounded_from_above() {
        let status = CellStatus::default();
        assert_eq!(status.take_response(), None);
        for at in 0..1000 {
            let part = if at < 10 { 900 } else { at % 100 };
            status.count_response(Nanos(part), Nanos(1000));
        }
        // Ten of a thousand are above.
        assert_eq!(status.take_response(), Some(4.0 / 32.0));
        assert_eq!(status.take_response(), None, "they were taken");
        (0..1000).for_each(|at| status.count_response(Nanos(at * 1000), Nanos(1000)));
        assert_eq!(status.take_response(), Some(1.0));
    }
}
