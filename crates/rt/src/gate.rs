//! One start, one finish: who may touch a plan's cycle, and when nobody does any more.
//!
//! One word holds the cycle's epoch, whether the gate is open, and how many workers are inside. The host (the callback
//! thread) opens and closes; workers enter and leave. The host itself is not counted.
//!
//! | gate | workers inside | who may do what |
//! |---|---|---|
//! | closed | none | the host is alone |
//! | closed | some | they finish what they hold, and leave |
//! | open for e | any | who entered for e takes part in e; who lingers from an older epoch takes nothing new |
//!
//! A worker enters epoch e by an exchange on the word that carries e: one that wakes up too late finds another epoch or
//! a closed gate and stays out. The host need not wait for those inside before it opens again: one that lost its core
//! while it held nothing would hold up everybody. That it takes nothing of a newer epoch is the executors' part: each
//! thing that can be taken carries its epoch ([`crate::claim`], [`crate::deque`]).
//!
//! Entering is `Acquire` and pairs with the `Release` in [`Gate::open`] (what the host prepared travels); leaving is
//! `Release` and pairs with the `Acquire` in [`Gate::is_empty`] (what the workers did travels).

use crate::pad::Padded;
use crate::sync::atomic::{AtomicU64, Ordering};

const OPEN: u64 = 1 << 31;
const INSIDE: u64 = OPEN - 1;

/// See the module.
pub struct Gate {
    word: Padded<AtomicU64>,
}

/// Inside, until it is dropped.
pub struct Inside<'a>(&'a Gate);

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Closed, at epoch 0, with nobody inside.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self {
            word: Padded(AtomicU64::new(0)),
        }
    }

    /// Opens the gate for `epoch`. Only the host may.
    ///
    /// Real-time: hot; tries again when a worker leaves at the same instant, at most once for each.
    pub fn open(&self, epoch: u32) {
        let open = u64::from(epoch) << 32 | OPEN;
        // Relaxed: nothing is read on the strength of it.
        let mut word = self.word.load(Ordering::Relaxed);
        // Release pairs with the exchange in `enter`: what the host prepared is seen by whoever gets in. Relaxed on
        // failure: we try again.
        while let Err(now) = self.word.compare_exchange_weak(
            word,
            open | word & INSIDE,
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            word = now;
        }
    }

    /// Lets a worker in, if the gate is open for `epoch`.
    ///
    /// Real-time: hot.
    pub fn enter(&self, epoch: u32) -> Option<Inside<'_>> {
        // Relaxed: nothing is read on the strength of it; the exchange decides.
        let mut word = self.word.load(Ordering::Relaxed);
        while word >> 32 == u64::from(epoch) && word & OPEN != 0 {
            // Acquire pairs with `open`.
            match self.word.compare_exchange_weak(
                word,
                word + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(Inside(self)),
                Err(now) => word = now,
            }
        }
        None
    }

    /// Lets nobody in any more. Only the host may.
    ///
    /// Real-time: hot.
    pub fn close(&self) {
        // Relaxed: it gives nothing away and takes nothing; `is_empty` does.
        self.word.fetch_and(!OPEN, Ordering::Relaxed);
    }

    /// Whether everybody has left a closed gate: then all that was done inside is seen.
    ///
    /// Real-time: hot.
    pub fn is_empty(&self) -> bool {
        // pairs with the drop of `Inside`. Every change of the word since is an exchange of it, so the release sequence
        // of each worker that left is unbroken.
        self.word.load(Ordering::Acquire) & (OPEN | INSIDE) == 0
    }

    /// The epoch for which the gate was opened last.
    ///
    /// Real-time: hot.
    pub fn epoch(&self) -> u32 {
        // Relaxed: a number to look at.
        (self.word.load(Ordering::Relaxed) >> 32) as u32
    }

    /// How many workers are inside now.
    ///
    /// Real-time: hot.
    pub fn inside(&self) -> u32 {
        // Relaxed: a number to look at.
        (self.word.load(Ordering::Relaxed) & INSIDE) as u32
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // pairs with the load in `is_empty`: what we did inside is seen by the host.
        self.0.word.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::Gate;
    use crate::sync::{Arc, UnsafeCell};

    #[test]
    fn the_host_is_alone_once_the_gate_is_closed_and_empty() {
        loom::model(|| {
            let shared = Arc::new((Gate::new(), UnsafeCell::new(0u32)));
            let worker = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    // A worker that wakes for epoch 1 at any time, perhaps in epoch 2.
                    if let Some(_inside) = shared.0.enter(1) {
                        // SAFETY: the only worker, and inside: the host stays out until we leave.
                        shared.1.with_mut(|n| unsafe { *n += 1 });
                    }
                })
            };
            for epoch in 1..=2 {
                // SAFETY: closed and empty: ours alone.
                shared.1.with_mut(|n| unsafe { *n += 10 });
                shared.0.open(epoch);
                shared.0.close();
                while !shared.0.is_empty() {
                    loom::thread::yield_now();
                }
            }
            // SAFETY: as above.
            let n = shared.1.with(|n| unsafe { *n });
            assert!(n == 20 || n == 21);
            worker.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Gate;

    #[test]
    fn a_late_worker_stays_out() {
        let gate = Gate::new();
        gate.open(1);
        let inside = gate.enter(1).unwrap();
        assert!(gate.enter(2).is_none());
        gate.close();
        assert!(gate.enter(1).is_none() && !gate.is_empty());
        drop(inside);
        assert!(gate.is_empty());
        gate.open(2);
        assert!(gate.enter(1).is_none());
        assert!(gate.enter(2).is_some());
    }
}
