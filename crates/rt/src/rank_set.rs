//! The tasks that are ready, most urgent first, for everybody: a set of ranks, of which each comes once a cycle at most.
//!
//! A rank is a bit. Bits stand in *words*, and a *summary* has a bit for each word that may hold one.
//!
//! | word | written by | says |
//! |---|---|---|
//! | a word | the host begins; who puts sets a bit; who takes clears one | epoch, and which of 32 ranks are there |
//! | a summary | the same, after the word | epoch, and which of 32 words to look into first |
//!
//! | call | who | when |
//! |---|---|---|
//! | `begin` | the host | when the cycle before is over: nobody is in a task of it, so nobody puts; some may still look |
//! | `put` | who ran a task of the epoch and has not counted it off yet | the cycle cannot end before |
//! | `take` | anyone | any time |
//!
//! A summary is a hint: who empties a word clears its bit there and looks at the word once more, and one that loses its
//! core in between has hidden a rank from those who go by the summary. So who finds nothing by it looks into every word
//! before saying so: one that holds nothing hides nothing. One who lingers in an old cycle takes nothing of a newer one:
//! every exchange names the epoch. What was done before a `put` travels by the word: `Release` there, `Acquire` in `take`.

use crate::sync::atomic::{AtomicU64, Ordering};

/// Ranks in a word, and words in a summary.
#[cfg(not(loom))]
const BITS: usize = 32;
#[cfg(loom)]
const BITS: usize = 2;

/// See the module.
pub struct RankSet {
    /// epoch: 32 bits | a bit a rank: 32.
    words: Box<[AtomicU64]>,
    /// epoch: 32 bits | a bit a word: 32.
    summaries: Box<[AtomicU64]>,
    /// The lower halves at the start of each cycle.
    first_words: Box<[u32]>,
    first_summaries: Box<[u32]>,
}

impl RankSet {
    /// Room for ranks below `ranks`; each cycle begins with those of `first`. Its epoch is 0, in which it is empty.
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

    /// Begins the cycle `epoch`. Host only, when the one before is over.
    ///
    /// Real-time: hot.
    pub fn begin(&self, epoch: u32) {
        let words = self.words.iter().zip(&self.first_words);
        let summaries = self.summaries.iter().zip(&self.first_summaries);
        for (word, first) in words.chain(summaries) {
            // Release pairs with `take`: what the host prepared, for whoever finds a first task by this word alone.
            word.store(of(epoch, *first), Ordering::Release);
        }
    }

    /// Adds `rank`, in the cycle that runs.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn insert(&self, rank: u32) {
        let word = rank as usize / BITS;
        // Release pairs with the load in `take`: what was done to make the task ready travels, and by the chain of
        // exchanges it stays visible whoever else puts and takes here.
        self.words[word].fetch_or(u64::from(bit(rank as usize)), Ordering::AcqRel);
        self.show(word);
    }

    /// Takes the lowest rank of the cycle `epoch`; `None` if there seems to be none.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn pop(&self, epoch: u32) -> Option<u32> {
        for (at, summary) in self.summaries.iter().enumerate() {
            // Relaxed: a hint.
            let mut shown = bits_of(summary.load(Ordering::Relaxed), epoch);
            while shown != 0 {
                let word = at * BITS + shown.trailing_zeros() as usize;
                if let Some(rank) = self.take_from(word, epoch) {
                    return Some(rank);
                }
                self.hide(word, epoch);
                shown &= shown - 1;
            }
        }
        self.search(epoch)
    }

    /// The lowest rank that seems to be there in the cycle `epoch`, by the summaries.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn peek(&self, epoch: u32) -> Option<u32> {
        // Relaxed throughout: a look, from which nothing follows but what to try.
        for (at, summary) in self.summaries.iter().enumerate() {
            let mut shown = bits_of(summary.load(Ordering::Relaxed), epoch);
            while shown != 0 {
                let word = at * BITS + shown.trailing_zeros() as usize;
                let ranks = bits_of(self.words[word].load(Ordering::Relaxed), epoch);
                if ranks != 0 {
                    return Some(rank_of(word, ranks));
                }
                shown &= shown - 1;
            }
        }
        None
    }

    /// Looks into every word.
    #[cold]
    fn search(&self, epoch: u32) -> Option<u32> {
        (0..self.words.len()).find_map(|word| {
            // Relaxed: `take_from` looks again.
            let looks_empty = bits_of(self.words[word].load(Ordering::Relaxed), epoch) == 0;
            (!looks_empty).then(|| self.take_from(word, epoch))?
        })
    }

    #[inline]
    fn take_from(&self, index: usize, epoch: u32) -> Option<u32> {
        let word = &self.words[index];
        // Relaxed: the exchange decides.
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let ranks = bits_of(seen, epoch);
            if ranks == 0 {
                return None;
            }
            let left = of(epoch, ranks & (ranks - 1));
            // Acquire pairs with `put` and `begin`. The epoch in it makes the claim of one who lingers fail.
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

    /// Says that a word holds something.
    #[inline]
    fn show(&self, word: usize) {
        let (summary, bit) = (&self.summaries[word / BITS], u64::from(bit(word)));
        // Relaxed, both: a hint. The line is not written where the bit is there already.
        if summary.load(Ordering::Relaxed) & bit == 0 {
            summary.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Says that a word holds nothing, unless it does now.
    fn hide(&self, word: usize, epoch: u32) {
        let (summary, bit) = (&self.summaries[word / BITS], u64::from(bit(word)));
        // Relaxed throughout: a hint.
        let seen = summary.load(Ordering::Relaxed);
        if epoch_of(seen) == epoch && seen & bit != 0 {
            let cleared = seen & !bit;
            // If it fails, somebody else changed the summary: the bit stays, and costs the next one a look.
            let _ = summary.compare_exchange(seen, cleared, Ordering::Relaxed, Ordering::Relaxed);
            if bits_of(self.words[word].load(Ordering::Relaxed), epoch) != 0 {
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

const fn of(epoch: u32, low: u32) -> u64 {
    (epoch as u64) << 32 | low as u64
}

const fn epoch_of(word: u64) -> u32 {
    (word >> 32) as u32
}

const fn bits_of(word: u64, epoch: u32) -> u32 {
    if epoch_of(word) == epoch {
        word as u32
    } else {
        0
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::Ranks;
    use crate::progress::CycleProgress;
    use crate::sync::{Arc, UnsafeCell};

    struct Shared {
        ranks: RankSet,
        progress: Progress,
        /// How often each was run. Loom sees to it that no two touch one at once.
        runs: Vec<UnsafeCell<u32>>,
    }

    /// One attempt, and what it took is run. Rank r releases r + 2 in the next word, for 0 and 1.
    fn play(s: &Shared, epoch: u32) -> bool {
        let Some(rank) = s.ranks.take(epoch) else {
            return false;
        };
        // SAFETY: taken for this epoch.
        s.runs[rank as usize].with_mut(|n| unsafe { *n += 1 });
        if rank < 2 {
            s.ranks.put(rank + 2);
        }
        s.progress.count_off(1);
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
            progress: Progress::new(),
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

    /// A worker that came for the first cycle, and may linger there.
    fn worker(s: &Arc<Shared>, tries: u32) -> loom::thread::JoinHandle<()> {
        let s = s.clone();
        loom::thread::spawn(move || {
            for _ in 0..tries {
                play(&s, 1);
            }
        })
    }

    #[test]
    fn two_workers_put_and_take_and_nothing_is_lost() {
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
    fn who_lingers_in_an_old_cycle_takes_nothing_of_a_newer_one_and_hides_nothing() {
        check(2, || {
            let shared = set_up();
            begin(&shared, 1);
            let late = worker(&shared, 1);
            while play(&shared, 1) {}
            if shared.progress.is_complete() {
                begin(&shared, 2);
                // Wherever the other lost its core, nobody waits for it.
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
        const RANKS: u32 = 3000;
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
}
