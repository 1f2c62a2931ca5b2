//! Which nodes may have something to do, and who has which: a set of bits, and two bits for each node.
//!
//! | a node is | `HELD` | `NEWS` | in the set | who may touch it |
//! |---|---|---|---|---|
//! | at rest | no | no | no | nobody |
//! | waiting | yes | either | yes | nobody |
//! | in hand | yes | since its taker last looked | no | the worker that took it |
//!
//! | call | from | to |
//! |---|---|---|
//! | [`Ready::tell`], by who moved a queue of it | at rest | waiting |
//! | | waiting, in hand | the same, with news |
//! | [`Ready::take`] | waiting | in hand |
//! | [`Ready::look`], by who has it | in hand | in hand, without news: its queues are looked at after that |
//! | [`Ready::put_back`] | in hand | waiting |
//! | [`Ready::let_go`] | in hand, without news | at rest |
//! | | in hand, with news | the same: it looks again |
//!
//! Every change of a node's bits is one exchange, so a teller comes before the taker's `look`, which then sees what was
//! moved, or leaves news that keeps the node from its rest. Who tells has a node in hand itself, and the count of nodes
//! that are not at rest is raised before that one is let go: so it falls to nothing once, for one worker, and then all is
//! at rest and that worker's alone.

use crate::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use rt::pad::CachePadded;

const HELD: u32 = 1;
const NEWS: u32 = 2;
/// Nodes a word.
const WORD: usize = u64::BITS as usize;

/// See the module.
pub(crate) struct Ready {
    words: Box<[CachePadded<AtomicU64>]>,
    nodes: Box<[AtomicU32]>,
    /// Nodes that are not at rest.
    awake: CachePadded<AtomicUsize>,
}

/// What became of a node that was let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It has news, and is still in hand.
    News,
    /// It is at rest.
    Done,
    /// It is, and so are all: they are the caller's until it tells one.
    Last,
}

impl Ready {
    /// All nodes are at rest.
    pub(crate) fn new(nodes: usize) -> Self {
        let words = nodes.div_ceil(WORD);
        Self {
            words: (0..words).map(|_| CachePadded(AtomicU64::new(0))).collect(),
            nodes: (0..nodes).map(|_| AtomicU32::new(0)).collect(),
            awake: CachePadded(AtomicUsize::new(0)),
        }
    }

    /// Says that a node may have something to do; whether it was put into the set for that. Called by who has another
    /// node in hand, or all.
    #[inline]
    pub(crate) fn tell(&self, node: usize) -> bool {
        // Release: what was moved travels to the `look` after it. Acquire: a worker that let it go is done with it.
        let before = self.nodes[node].fetch_or(HELD | NEWS, Ordering::AcqRel);
        if before & HELD != 0 {
            return false;
        }
        // Relaxed: it only counts, and is raised while the caller has a node, which is counted.
        self.awake.fetch_add(1, Ordering::Relaxed);
        self.put_back(node);
        true
    }

    /// Tells several, by who has all; whether all have come to rest again meanwhile, and are the caller's.
    pub(crate) fn tell_all(&self, nodes: &[usize]) -> bool {
        // Relaxed: it only counts. As if the caller had one in hand: nobody else finds the count at nothing before all
        // are told.
        self.awake.fetch_add(1, Ordering::Relaxed);
        for node in nodes {
            self.tell(*node);
        }
        // AcqRel: as in `let_go`.
        self.awake.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Puts a node that the caller has in hand into the set.
    #[inline]
    pub(crate) fn put_back(&self, node: usize) {
        // pairs with the exchange in `take`: all that was done to the node travels.
        self.words[node / WORD].fetch_or(1 << (node % WORD), Ordering::Release);
    }

    /// Takes a node of the set, the first from `from` on, counted round.
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
        { round }.find_map(|(word, mask)| self.take_of(word, mask))
    }

    fn take_of(&self, word: usize, mask: u64) -> Option<usize> {
        // Relaxed: the exchange decides.
        let mut found = self.words[word].load(Ordering::Relaxed) & mask;
        while found != 0 {
            let bit = found & found.wrapping_neg();
            // pairs with `put_back`.
            let before = self.words[word].fetch_and(!bit, Ordering::Acquire);
            if before & bit != 0 {
                return Some(word * WORD + bit.trailing_zeros() as usize);
            }
            found = before & mask;
        }
        None
    }

    /// Before a node's queues are looked at: what is told from here on is news.
    #[inline]
    pub(crate) fn look(&self, node: usize) {
        // Acquire pairs with `tell`: what was moved before is seen. Release: whoever tells after comes after.
        self.nodes[node].swap(HELD, Ordering::AcqRel);
    }

    /// Lets a node go that had nothing to do, unless there is news.
    #[inline]
    pub(crate) fn let_go(&self, node: usize) -> Rest {
        // Release pairs with `tell`, which puts it into the set: all that was done to the node travels.
        let gone = self.nodes[node].compare_exchange(HELD, 0, Ordering::Release, Ordering::Relaxed);
        if gone.is_err() {
            return Rest::News;
        }
        // AcqRel: all that others did before they let theirs go travels to the last.
        match self.awake.fetch_sub(1, Ordering::AcqRel) {
            1 => Rest::Last,
            _ => Rest::Done,
        }
    }

    /// Whether there seems to be a node in the set.
    pub(crate) fn looks_full(&self) -> bool {
        // Relaxed: a hint.
        self.words
            .iter()
            .any(|word| word.load(Ordering::Relaxed) != 0)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{Ready, Rest};
    use crate::sync::UnsafeCell;
    use crate::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::Arc;

    /// A chain of nodes, each of which passes tokens on through a queue of one place.
    struct Chain {
        ready: Ready,
        /// How often each has fired; loom sees to it that no two touch one at once.
        nodes: Vec<UnsafeCell<u32>>,
        queues: Vec<AtomicU32>,
        /// How many tokens there are.
        tokens: u32,
        rests: AtomicU32,
    }

    // SAFETY: the protocol under test gives a node to one thread at a time; loom would say if not.
    unsafe impl Sync for Chain {}
    // SAFETY: as above.
    unsafe impl Send for Chain {}

    impl Chain {
        fn new(nodes: usize, tokens: u32) -> Arc<Self> {
            Arc::new(Self {
                ready: Ready::new(nodes),
                nodes: (0..nodes).map(|_| UnsafeCell::new(0)).collect(),
                queues: (1..nodes).map(|_| AtomicU32::new(0)).collect(),
                tokens,
                rests: AtomicU32::new(0),
            })
        }

        /// Whether the node can fire, as its queues say; then it does.
        fn fire(&self, node: usize) -> bool {
            // SAFETY: the caller has it in hand.
            let fired = self.nodes[node].with(|n| unsafe { *n });
            // As the rings: acquire and release.
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
                self.ready.tell(node - 1);
            }
            if node < self.queues.len() {
                self.queues[node].store(1, Ordering::Release);
                self.ready.tell(node + 1);
            }
            true
        }

        /// One turn, as workers take them.
        fn turn(&self) -> bool {
            let Some(node) = self.ready.take(0) else {
                return false;
            };
            loop {
                self.ready.look(node);
                if self.fire(node) {
                    self.ready.put_back(node);
                    return true;
                }
                match self.ready.let_go(node) {
                    Rest::News => {}
                    Rest::Done => return true,
                    Rest::Last => {
                        self.rests.fetch_add(1, Ordering::Relaxed);
                        self.all_is_done();
                        return true;
                    }
                }
            }
        }

        fn all_is_done(&self) {
            for node in &self.nodes {
                // SAFETY: all nodes are the last one's.
                assert_eq!(node.with(|n| unsafe { *n }), self.tokens);
            }
        }
    }

    #[test]
    fn who_tells_several_at_rest_is_not_overtaken() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let chain = Chain::new(2, 1);
            let other = {
                let chain = chain.clone();
                loom::thread::spawn(move || while chain.turn() {})
            };
            if chain.ready.tell_all(&[0, 1]) {
                chain.rests.fetch_add(1, Ordering::Relaxed);
                chain.all_is_done();
            }
            while chain.turn() {}
            other.join().unwrap();
            while chain.turn() {}
            assert_eq!(chain.rests.load(Ordering::Relaxed), 1);
        });
    }

    fn play(nodes: usize, tokens: u32, workers: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let chain = Chain::new(nodes, tokens);
            chain.ready.tell(0);
            let work = |_| {
                let chain = chain.clone();
                loom::thread::spawn(move || while chain.turn() {})
            };
            let others: Vec<_> = (1..workers).map(work).collect();
            while chain.turn() {}
            others.into_iter().for_each(|other| other.join().unwrap());
            while chain.turn() {}
            assert_eq!(
                chain.rests.load(Ordering::Relaxed),
                1,
                "all came to rest, once"
            );
        });
    }

    #[test]
    fn two_workers_play_a_chain_and_one_finds_all_at_rest() {
        play(3, 2, 2);
    }

    #[test]
    fn three_workers_play_two_nodes_and_one_finds_all_at_rest() {
        play(2, 1, 3);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Ready, Rest};

    #[test]
    fn nodes_are_taken_in_order_from_where_one_begins() {
        let ready = Ready::new(130);
        let told: Vec<bool> = [3, 70, 129, 3]
            .into_iter()
            .map(|node| ready.tell(node))
            .collect();
        assert_eq!(told, [true, true, true, false]);
        assert!(ready.looks_full());
        let taken: Vec<_> = [71, 4, 4, 4]
            .into_iter()
            .map(|from| ready.take(from))
            .collect();
        assert_eq!(taken, [Some(129), Some(70), Some(3), None]);
        ready.tell(5);
        assert_eq!(
            (ready.take(6), ready.looks_full()),
            (Some(5), false),
            "it goes round"
        );
    }

    #[test]
    fn news_keep_a_node_in_hand_and_the_last_to_rest_is_told() {
        let ready = Ready::new(2);
        ready.tell(0);
        ready.tell(1);
        assert_eq!((ready.take(0), ready.take(0)), (Some(0), Some(1)));
        ready.look(0);
        ready.look(1);
        ready.tell(0);
        assert_eq!((ready.let_go(0), ready.let_go(1)), (Rest::News, Rest::Done));
        ready.look(0);
        assert_eq!(ready.let_go(0), Rest::Last);
    }
}
