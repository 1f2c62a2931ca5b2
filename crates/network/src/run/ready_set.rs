//! [`ReadySet`]: the nodes that may be able to fire, and the worker that has each: a bit set, and two flags for each node.
//!
//! | state of a node | `ACTIVE` | `NOTIFIED` | in the set | who may touch it |
//! |---|---|---|---|---|
//! | idle | no | no | no | nobody |
//! | queued | yes | either | yes | nobody |
//! | running | yes | if notified since the last check | no | the worker that took it |
//!
//! ```text
//!              notify                 take                  release, not notified
//!     idle ───────────────▶ queued ─────────▶ running ────────────────────────────▶ idle
//!                             ▲                │  ▲ │ begin_check: clears NOTIFIED
//!                             └── requeue ─────┘  └─┘ release, notified: checks its queues again
//! ```
//!
//! | call | by | effect |
//! |---|---|---|
//! | [`ReadySet::notify`] | the worker of a neighbour that moved one of the node's queues | idle to queued; else sets `NOTIFIED` |
//! | [`ReadySet::take`] | a worker without a node | queued to running |
//! | [`ReadySet::begin_check`] | the node's worker | clears `NOTIFIED`; the worker looks at the queues after that |
//! | [`ReadySet::requeue`] | the node's worker | running to queued: other nodes come first |
//! | [`ReadySet::release`] | the node's worker, if the node is blocked | running to idle, unless it was notified |
//!
//! No notification is lost. Every change of a node's flags is one atomic operation, so a notification comes either before
//! `begin_check`, and the worker then sees what was moved, or after it, and `release` fails.
//!
//! Exactly one worker finds that all nodes are idle. A worker that notifies has a node itself, and `active` is raised before
//! that node is released. So `active` falls to 0 once, in one worker's `release`, and from then on all nodes are that
//! worker's, until it notifies one.

use crate::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use rt::pad::CachePadded;

/// The node is queued or running.
const ACTIVE: u32 = 1;
/// A queue of the node has moved since its last check.
const NOTIFIED: u32 = 2;
/// Nodes in a word of the set.
const WORD: usize = u64::BITS as usize;

/// The nodes that may be able to fire. See the module.
pub(crate) struct ReadySet {
    words: Box<[CachePadded<AtomicU64>]>,
    nodes: Box<[AtomicU32]>,
    /// Number of nodes that are not idle.
    active: CachePadded<AtomicUsize>,
}

/// Result of releasing a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Released {
    /// It was notified, and is still running.
    Notified,
    /// It is idle.
    Idle,
    /// It is idle, and so are all nodes: they are the caller's until it notifies one.
    LastIdle,
}

impl ReadySet {
    /// A set in which all nodes are idle.
    pub(crate) fn new(nodes: usize) -> Self {
        let words = nodes.div_ceil(WORD);
        Self {
            words: (0..words).map(|_| CachePadded(AtomicU64::new(0))).collect(),
            nodes: (0..nodes).map(|_| AtomicU32::new(0)).collect(),
            active: CachePadded(AtomicUsize::new(0)),
        }
    }

    /// Notifies a node that one of its queues has moved. Returns true if it was idle, and is queued now. The caller has a
    /// running node, or all nodes.
    #[inline]
    pub(crate) fn notify(&self, node: usize) -> bool {
        // Release: what was moved travels to the `begin_check` after it. Acquire pairs with `release`: the worker that had
        // the node is done with it.
        let before = self.nodes[node].fetch_or(ACTIVE | NOTIFIED, Ordering::AcqRel);
        if before & ACTIVE != 0 {
            return false;
        }
        // Relaxed: it only counts, and is raised while the caller has a node, which is counted too.
        self.active.fetch_add(1, Ordering::Relaxed);
        self.requeue(node);
        true
    }

    /// Notifies several nodes, by the worker that has all. Returns true if all nodes are idle again already, and still the
    /// caller's.
    pub(crate) fn notify_all(&self, nodes: &[usize]) -> bool {
        // Relaxed: it only counts. The caller counts as one active node, so no other worker sees 0 before all
        // are notified.
        self.active.fetch_add(1, Ordering::Relaxed);
        for node in nodes {
            self.notify(*node);
        }
        // AcqRel: as in `release`.
        self.active.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Puts a node that the caller runs into the set.
    #[inline]
    pub(crate) fn requeue(&self, node: usize) {
        // pairs with the `fetch_and` in `take_from_word`: all that was done to the node travels.
        self.words[node / WORD].fetch_or(1 << (node % WORD), Ordering::Release);
    }

    /// Takes a node out of the set: the first from `from` on, then the first of all.
    #[inline]
    pub(crate) fn take(&self, from: usize) -> Option<usize> {
        let (first, bit) = (from / WORD % self.words.len().max(1), from % WORD);
        let later = u64::MAX << bit;
        let round = (0..=self.words.len()).map(|i| {
            let word = (first + i) % self.words.len();
            let mask = match i {
                0 => later,
                i if i == self.words.len() => !later,
                _ => u64::MAX,
            };
            (word, mask)
        });
        { round }.find_map(|(word, mask)| self.take_from_word(word, mask))
    }

    fn take_from_word(&self, word: usize, mask: u64) -> Option<usize> {
        // Relaxed: the `fetch_and` below decides.
        let mut found = self.words[word].load(Ordering::Relaxed) & mask;
        while found != 0 {
            let bit = found & found.wrapping_neg();
            // pairs with the `fetch_or` in `requeue`.
            let before = self.words[word].fetch_and(!bit, Ordering::Acquire);
            if before & bit != 0 {
                return Some(word * WORD + bit.trailing_zeros() as usize);
            }
            found = before & mask;
        }
        None
    }

    /// Clears `NOTIFIED`. To be called before the node's queues are checked: a later change of a queue notifies again.
    #[inline]
    pub(crate) fn begin_check(&self, node: usize) {
        // Acquire pairs with `notify`: what was moved before is seen. Release: a later `notify` comes after this.
        self.nodes[node].swap(ACTIVE, Ordering::AcqRel);
    }

    /// Releases a blocked node, unless it was notified.
    #[inline]
    pub(crate) fn release(&self, node: usize) -> Released {
        // Release pairs with the acquire in `notify`: all that was done to the node travels to its next worker.
        let to_idle =
            self.nodes[node].compare_exchange(ACTIVE, 0, Ordering::Release, Ordering::Relaxed);
        if to_idle.is_err() {
            return Released::Notified;
        }
        // AcqRel: all that other workers did before they released their nodes travels to the last one.
        match self.active.fetch_sub(1, Ordering::AcqRel) {
            1 => Released::LastIdle,
            _ => Released::Idle,
        }
    }

    /// Returns true if there seems to be a node in the set.
    pub(crate) fn seems_nonempty(&self) -> bool {
        // Relaxed: a hint.
        self.words
            .iter()
            .any(|word| word.load(Ordering::Relaxed) != 0)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{ReadySet, Released};
    use crate::sync::UnsafeCell;
    use crate::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::Arc;

    /// A chain of nodes that pass tokens on, through queues of size 1.
    struct Chain {
        ready: ReadySet,
        /// Firings of each node; loom checks that no two threads touch one at once.
        nodes: Vec<UnsafeCell<u32>>,
        queues: Vec<AtomicU32>,
        /// Number of tokens.
        tokens: u32,
        times_idle: AtomicU32,
    }

    // SAFETY: the protocol under test gives a node to one thread at a time; loom would say if not.
    unsafe impl Sync for Chain {}
    // SAFETY: as above.
    unsafe impl Send for Chain {}

    impl Chain {
        fn new(nodes: usize, tokens: u32) -> Arc<Self> {
            Arc::new(Self {
                ready: ReadySet::new(nodes),
                nodes: (0..nodes).map(|_| UnsafeCell::new(0)).collect(),
                queues: (1..nodes).map(|_| AtomicU32::new(0)).collect(),
                tokens,
                times_idle: AtomicU32::new(0),
            })
        }

        /// Fires a node, if its queues allow it. Returns true if it fired.
        fn fire(&self, node: usize) -> bool {
            // SAFETY: the caller runs the node.
            let fired = self.nodes[node].with(|n| unsafe { *n });
            // Acquire and release, as the rings.
            let has = |i: usize| self.queues[i].load(Ordering::Acquire);
            let can = match node {
                0 => fired < self.tokens,
                n => has(n - 1) == 1,
            };
            if !can || (node < self.queues.len() && has(node) == 1) {
                return false;
            }
            // SAFETY: as above.
            self.nodes[node].with_mut(|n| unsafe { *n += 1 });
            if node > 0 {
                self.queues[node - 1].store(0, Ordering::Release);
                self.ready.notify(node - 1);
            }
            if node < self.queues.len() {
                self.queues[node].store(1, Ordering::Release);
                self.ready.notify(node + 1);
            }
            true
        }

        /// Takes and runs one node, as workers do. Returns false if the set is empty.
        fn run_one(&self) -> bool {
            let Some(node) = self.ready.take(0) else {
                return false;
            };
            loop {
                self.ready.begin_check(node);
                if self.fire(node) {
                    self.ready.requeue(node);
                    return true;
                }
                match self.ready.release(node) {
                    Released::Notified => {}
                    Released::Idle => return true,
                    Released::LastIdle => {
                        self.times_idle.fetch_add(1, Ordering::Relaxed);
                        self.check_all_done();
                        return true;
                    }
                }
            }
        }

        fn check_all_done(&self) {
            for node in &self.nodes {
                // SAFETY: all nodes are idle, and this thread found it.
                assert_eq!(node.with(|n| unsafe { *n }), self.tokens);
            }
        }
    }

    #[test]
    fn notify_all_is_not_overtaken_by_other_workers() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let chain = Chain::new(2, 1);
            let other = {
                let chain = chain.clone();
                loom::thread::spawn(move || while chain.run_one() {})
            };
            if chain.ready.notify_all(&[0, 1]) {
                chain.times_idle.fetch_add(1, Ordering::Relaxed);
                chain.check_all_done();
            }
            while chain.run_one() {}
            other.join().unwrap();
            while chain.run_one() {}
            assert_eq!(chain.times_idle.load(Ordering::Relaxed), 1);
        });
    }

    fn run_chain(nodes: usize, tokens: u32, workers: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let chain = Chain::new(nodes, tokens);
            chain.ready.notify(0);
            let work = |_| {
                let chain = chain.clone();
                loom::thread::spawn(move || while chain.run_one() {})
            };
            let others: Vec<_> = (1..workers).map(work).collect();
            while chain.run_one() {}
            others.into_iter().for_each(|other| other.join().unwrap());
            while chain.run_one() {}
            assert_eq!(
                chain.times_idle.load(Ordering::Relaxed),
                1,
                "one worker found all idle, once"
            );
        });
    }

    #[test]
    fn two_workers_run_a_chain_and_one_finds_all_idle() {
        run_chain(3, 2, 2);
    }

    #[test]
    fn three_workers_run_two_nodes_and_one_finds_all_idle() {
        run_chain(2, 1, 3);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{ReadySet, Released};

    #[test]
    fn take_begins_at_its_argument_and_wraps() {
        let ready = ReadySet::new(130);
        let notified: Vec<bool> = [3, 70, 129, 3]
            .into_iter()
            .map(|node| ready.notify(node))
            .collect();
        assert_eq!(notified, [true, true, true, false]);
        assert!(ready.seems_nonempty());
        let taken: Vec<_> = [71, 4, 4, 4]
            .into_iter()
            .map(|from| ready.take(from))
            .collect();
        assert_eq!(taken, [Some(129), Some(70), Some(3), None]);
        ready.notify(5);
        assert_eq!(
            (ready.take(6), ready.seems_nonempty()),
            (Some(5), false),
            "it wraps"
        );
    }

    #[test]
    fn a_notified_node_is_not_released_and_the_last_idle_one_is_reported() {
        let ready = ReadySet::new(2);
        ready.notify(0);
        ready.notify(1);
        assert_eq!((ready.take(0), ready.take(0)), (Some(0), Some(1)));
        ready.begin_check(0);
        ready.begin_check(1);
        ready.notify(0);
        assert_eq!(
            (ready.release(0), ready.release(1)),
            (Released::Notified, Released::Idle)
        );
        ready.begin_check(0);
        assert_eq!(ready.release(0), Released::LastIdle);
    }
}
