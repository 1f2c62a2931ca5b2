//! The ready tasks of a cycle, most urgent first, for all workers: a set of ranks, each of which comes at most once a
//! cycle.
//!
//! A rank is a bit. Bits stand in *words*; a *summary* has one bit for each word that may hold a rank. It is the
//! two-level bitmap of a priority queue, as in the O(1) scheduler of Linux 2.6, with the epoch in every word:
//!
//! ```text
//!   summary 0   epoch │ 0 1 0 1 … │        bit w: word w may hold a rank
//!                         │   │
//!           ┌─────────────┘   └──────────────┐
//!           ▼                                ▼
//!   word 1  epoch │ 0 0 1 0 … │      word 3  epoch │ 1 0 0 0 … │
//!                       │                          │
//!                   rank 32 + 2                rank 96
//! ```
//!
//! | word | written by | holds |
//! |---|---|---|
//! | a word | the host begins; `insert` sets a bit; `pop` clears one | epoch, and which of 32 ranks are in the set |
//! | a summary | the same, after the word | epoch, and which of 32 words to look into first |
//!
//! | call | thread | when |
//! |---|---|---|
//! | `begin` | the host | the cycle before is over: no worker is in a task of it, so none inserts; some may still look |
//! | `insert` | a worker that ran a task of the epoch and has not counted it yet | the cycle cannot end before |
//! | `pop` | anyone | any time |
//!
//! A summary is a hint. The thread that empties a word clears its bit there and looks at the word once more. A worker that
//! loses its core in between has hidden a rank from those that go by the summary. So `pop` looks into every word before
//! it answers that there is nothing, and a worker that is in no task hides nothing.
//!
//! A worker that is still in an old cycle takes nothing of a newer one: every exchange names the epoch. What was done
//! before an `insert` travels by the word: `Release` there, `Acquire` in `pop`.

use crate::epoch::{self, low_in};
use crate::sync::atomic::{AtomicU64, Ordering};

/// Ranks in a word, and words in a summary.
#[cfg(not(loom))]
const BITS: usize = 32;
#[cfg(loom)]
const BITS: usize = 2;

/// A set of ready ranks for all workers, filled anew in each cycle.
pub struct RankSet {
    /// epoch (32 bits) | a bit per rank (32).
    words: Box<[AtomicU64]>,
    /// epoch (32 bits) | a bit per word (32).
    summaries: Box<[AtomicU64]>,
    /// The lower halves of both at the start of each cycle.
    first_words: Box<[u32]>,
    first_summaries: Box<[u32]>,
}

impl RankSet {
    /// A set for ranks below `ranks`; each cycle begins with those of `first`. It is in epoch 0, and empty.
    ///
    /// Real-time: setup.
    pub fn new(ranks: usize, first: impl IntoIterator<Item = u32>) -> Self {
        let words = ranks.div_ceil(BITS);
        let summaries = words.div_ceil(BITS);
        let (mut first_words, mut first_summaries) = (vec![0; words], vec![0; summaries]);
        for rank in first {
            let word = rank as usize / BITS;
            first_words[word] |= bit(rank as usize);
            first_summaries[word / BITS] |= bit(word);
        }
        let empty = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            words: empty(words),
            summaries: empty(summaries),
            first_words: first_words.into_boxed_slice(),
            first_summaries: first_summaries.into_boxed_slice(),
        }
    }

    /// Begins the cycle `epoch`. Host only, when the cycle before is over.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32) {
        let words = self.words.iter().zip(&self.first_words);
        let summaries = self.summaries.iter().zip(&self.first_summaries);
        for (word, first) in words.chain(summaries) {
            // Release pairs with `pop`: what the host prepared travels to the thread that finds a first task by this word alone.
            word.store(epoch::pack(epoch, *first), Ordering::Release);
        }
    }

    /// Inserts `rank` into the set of the current cycle.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn insert(&self, rank: u32) {
        let word = rank as usize / BITS;
        // Release pairs with the exchange in `pop_from`: what was done to make the task ready travels, and by the chain
        // of exchanges it stays visible, whichever threads insert and pop here.
        self.words[word].fetch_or(u64::from(bit(rank as usize)), Ordering::AcqRel);
        self.show(word);
    }

    /// Removes and returns the lowest rank of the cycle `epoch`; `None` if there seems to be none.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn pop(&self, epoch: u32) -> Option<u32> {
        for (at, summary) in self.summaries.iter().enumerate() {
            // Relaxed: a hint.
            let mut shown = low_in(summary.load(Ordering::Relaxed), epoch);
            while shown != 0 {
                let word = at * BITS + shown.trailing_zeros() as usize;
                if let Some(rank) = self.pop_from(word, epoch) {
                    return Some(rank);
                }
                self.hide(word, epoch);
                shown &= shown - 1;
            }
        }
        self.search(epoch)
    }

    /// The lowest rank of the cycle `epoch` that the summaries show.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn peek(&self, epoch: u32) -> Option<u32> {
        // Relaxed throughout: a hint; `pop` decides.
        for (at, summary) in self.summaries.iter().enumerate() {
            let mut shown = low_in(summary.load(Ordering::Relaxed), epoch);
            while shown != 0 {
                let word = at * BITS + shown.trailing_zeros() as usize;
                let ranks = low_in(self.words[word].load(Ordering::Relaxed), epoch);
                if ranks != 0 {
                    return Some(rank_of(word, ranks));
                }
                shown &= shown - 1;
            }
        }
        None
    }

    /// Looks into every word, for a rank that the summaries hide.
    #[cold]
    fn search(&self, epoch: u32) -> Option<u32> {
        (0..self.words.len()).find_map(|word| {
            // Relaxed: `pop_from` looks again.
            let looks_empty = low_in(self.words[word].load(Ordering::Relaxed), epoch) == 0;
            (!looks_empty).then(|| self.pop_from(word, epoch))?
        })
    }

    #[inline]
    fn pop_from(&self, index: usize, epoch: u32) -> Option<u32> {
        let word = &self.words[index];
        // Relaxed: the exchange decides.
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let ranks = low_in(seen, epoch);
            if ranks == 0 {
                return None;
            }
            let left = epoch::pack(epoch, ranks & (ranks - 1));
            // Acquire pairs with `insert` and `begin`. The epoch in it makes a late worker's exchange fail.
            match word.compare_exchange_weak(seen, left, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    if left as u32 == 0 {
                        self.hide(index, epoch);
                    }
                    return Some(rank_of(index, ranks));
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Sets the bit of a word that holds a rank.
    #[inline]
    fn show(&self, word: usize) {
        let (summary, bit) = (&self.summaries[word / BITS], u64::from(bit(word)));
        // Relaxed, both: a hint. The line is not written where the bit is there already.
        if summary.load(Ordering::Relaxed) & bit == 0 {
            summary.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Clears the bit of a word that holds nothing, unless it holds a rank by now.
    fn hide(&self, word: usize, epoch: u32) {
        let (summary, bit) = (&self.summaries[word / BITS], u64::from(bit(word)));
        // Relaxed throughout: a hint.
        let seen = summary.load(Ordering::Relaxed);
        if epoch::of(seen) == epoch && seen & bit != 0 {
            let cleared = seen & !bit;
            // If it fails, another worker changed the summary: the bit stays, and costs the next one a look.
            let _ = summary.compare_exchange(seen, cleared, Ordering::Relaxed, Ordering::Relaxed);
            if low_in(self.words[word].load(Ordering::Relaxed), epoch) != 0 {
                self.show(word);
            }
        }
    }
}

const fn bit(index: usize) -> u32 {
    1 << (index % BITS)
}

const fn rank_of(word: usize, ranks: u32) -> u32 {
    word as u32 * BITS as u32 + ranks.trailing_zeros()
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::RankSet;
    use crate::progress::CycleProgress;
    use crate::sync::{Arc, UnsafeCell};

    struct Shared {
        ranks: RankSet,
        progress: CycleProgress,
        /// Number of runs of each rank. Loom reports two that touch one at once.
        runs: Vec<UnsafeCell<u32>>,
    }

    /// Pops a rank and runs it. Ranks 0 and 1 release r + 2, which is in the next word.
    fn play(s: &Shared, epoch: u32) -> bool {
        let Some(rank) = s.ranks.pop(epoch) else {
            return false;
        };
        // SAFETY: taken for this epoch.
        s.runs[rank as usize].with_mut(|n| unsafe { *n += 1 });
        if rank < 2 {
            s.ranks.insert(rank + 2);
        }
        s.progress.finish(1);
        true
    }

    fn check(bound: usize, model: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(bound);
        builder.check(model);
    }

    fn set_up() -> Arc<Shared> {
        Arc::new(Shared {
            ranks: RankSet::new(4, [0, 1]),
            progress: CycleProgress::new(),
            runs: (0..4).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    fn begin(s: &Shared, epoch: u32) {
        s.progress.begin(epoch, 4);
        s.ranks.begin(epoch);
    }

    fn all_have_run(s: &Shared, times: u32) {
        assert!(s.progress.is_complete());
        for cell in &s.runs {
            // SAFETY: all cycles are complete.
            assert_eq!(cell.with(|n| unsafe { *n }), times);
        }
    }

    /// A worker that came for the first cycle, and may stay in it for long.
    fn worker(s: &Arc<Shared>, tries: u32) -> loom::thread::JoinHandle<()> {
        let s = s.clone();
        loom::thread::spawn(move || {
            for _ in 0..tries {
                play(&s, 1);
            }
        })
    }

    #[test]
    fn two_workers_insert_and_pop_and_nothing_is_lost() {
        check(3, || {
            let shared = set_up();
            begin(&shared, 1);
            let other = worker(&shared, 2);
            play(&shared, 1);
            play(&shared, 1);
            other.join().unwrap();
            while play(&shared, 1) {}
            all_have_run(&shared, 1);
        });
    }

    #[test]
    fn a_worker_in_an_old_cycle_takes_nothing_of_a_newer_one_and_hides_nothing() {
        check(2, || {
            let shared = set_up();
            begin(&shared, 1);
            let late = worker(&shared, 1);
            while play(&shared, 1) {}
            if shared.progress.is_complete() {
                begin(&shared, 2);
                // Wherever the other worker lost its core, no thread waits for it.
                while play(&shared, 2) {}
                all_have_run(&shared, 2);
            }
            late.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::RankSet;

    #[test]
    fn the_lowest_comes_first() {
        let ranks = RankSet::new(10_000, [9_999, 40, 31]);
        ranks.begin(1);
        assert_eq!((ranks.pop(2), ranks.peek(2)), (None, None));
        assert_eq!((ranks.peek(1), ranks.pop(1)), (Some(31), Some(31)));
        [5, 1_024, 63]
            .into_iter()
            .for_each(|rank| ranks.insert(rank));
        let taken: Vec<_> = std::iter::from_fn(|| ranks.pop(1)).collect();
        assert_eq!(taken, [5, 40, 63, 1_024, 9_999]);
        assert_eq!(ranks.peek(1), None);
        ranks.insert(7);
        ranks.begin(2);
        let taken: Vec<_> = std::iter::from_fn(|| ranks.pop(2)).collect();
        assert_eq!(taken, [31, 40, 9_999]);
    }

    #[test]
    fn two_threads_take_each_rank_once_a_cycle() {
        // Miri is some thousand times slower.
        const RANKS: u32 = if cfg!(miri) { 64 } else { 3000 };
        let ranks = RankSet::new(2 * RANKS as usize, 0..RANKS);
        for epoch in 1..=20 {
            ranks.begin(epoch);
            let play = || {
                let mut taken = Vec::new();
                while let Some(rank) = ranks.pop(epoch) {
                    taken.push(rank);
                    if rank < RANKS {
                        ranks.insert(2 * RANKS - 1 - rank);
                    }
                }
                taken
            };
            let mut taken = std::thread::scope(|scope| {
                let other = scope.spawn(play);
                let mut taken = play();
                taken.extend(other.join().unwrap());
                taken
            });
            taken.sort_unstable();
            assert!(taken.into_iter().eq(0..2 * RANKS));
        }
    }

    #[test]
    fn epochs_wrap_around() {
        let ranks = RankSet::new(100, [70]);
        for epoch in [u32::MAX - 1, u32::MAX, 0, 1] {
            ranks.begin(epoch);
            ranks.insert(5);
            assert_eq!(ranks.pop(epoch.wrapping_sub(1)), None);
            assert_eq!(
                (ranks.pop(epoch), ranks.pop(epoch), ranks.pop(epoch)),
                (Some(5), Some(70), None)
            );
        }
    }
}
