//! [`EpochClaim`]: a claim on an object that belongs to one worker in each cycle, such as a list of tasks.
//!
//! | the word is | the object belongs to | who changes the word |
//! |---|---|---|
//! | an older epoch | nobody in this cycle | any worker, by an exchange to the epoch: [`EpochClaim::try_claim`] |
//! | the epoch of the cycle | the worker whose exchange succeeded | nobody until the next cycle |
//!
//! A cycle ends only after everything in it was claimed. So a worker that lost its core in an old cycle finds a newer
//! epoch and cannot claim any more. Epochs wrap around, so they are compared by their distance: an epoch is older if it
//! lies less than 2^31 behind.

use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU32, Ordering};

/// The epoch of the last claim.
pub struct EpochClaim(CachePadded<AtomicU32>);

impl EpochClaim {
    /// Claimed in `epoch`, the one before the first cycle.
    ///
    /// Real-time: setup.
    pub fn new(epoch: u32) -> Self {
        Self(CachePadded(AtomicU32::new(epoch)))
    }

    /// Tries to claim the object for the cycle `epoch`. Returns true if it now belongs to the caller.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn try_claim(&self, epoch: u32) -> bool {
        // Relaxed: the exchange decides.
        let last = self.0.load(Ordering::Relaxed);
        // Acquire pairs with the Release of the last claimer, which has finished with the thing: its cycle is over.
        is_before(last, epoch)
            && self
                .0
                .compare_exchange(last, epoch, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
    }

    /// Returns true if nobody seems to have claimed it for `epoch`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_free(&self, epoch: u32) -> bool {
        // Relaxed: a hint; `try_claim` decides.
        is_before(self.0.load(Ordering::Relaxed), epoch)
    }
}

/// Returns true if `last` lies less than 2^31 epochs before `epoch`: epochs wrap around.
fn is_before(last: u32, epoch: u32) -> bool {
    (epoch.wrapping_sub(last) as i32) > 0
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::EpochClaim;
    use crate::sync::Arc;

    #[test]
    fn a_cycle_has_one_claimer_and_a_late_worker_claims_nothing() {
        loom::model(|| {
            let claim = Arc::new(EpochClaim::new(0));
            let late = {
                let claim = claim.clone();
                loom::thread::spawn(move || u32::from(claim.try_claim(1)))
            };
            let first = u32::from(claim.try_claim(1));
            let second = claim.try_claim(2);
            let late = late.join().unwrap();
            // Epoch 1 was claimed once, and epoch 2 by the one who asked for it.
            assert_eq!((first + late, second), (1, true));
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::EpochClaim;

    #[test]
    fn epochs_wrap_around() {
        let claim = EpochClaim::new(0);
        assert!(claim.try_claim(0x7fff_ffff) && claim.try_claim(0xffff_fffe));
        assert!(!claim.try_claim(0xffff_fffe) && !claim.try_claim(0xffff_fff0));
        assert!(claim.is_free(3) && claim.try_claim(3));
    }
}
