//! A thing that comes back with each cycle and is somebody's for that cycle: a list of tasks.
//!
//! The word holds the epoch for which it was claimed last. It is claimed for epoch e by the exchange that moves it there
//! from an older one; so it is claimed once a cycle, and one who lost its core in an old cycle cannot claim it for that
//! any more: a cycle ends only after everything in it has been claimed.

use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU32, Ordering};

/// See the module.
pub struct EpochClaim(CachePadded<AtomicU32>);

impl Default for EpochClaim {
    fn default() -> Self {
        Self::new()
    }
}

impl EpochClaim {
    /// Claimed for epoch 0.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self(CachePadded(AtomicU32::new(0)))
    }

    /// Whether it is the caller's for the cycle `epoch`, from now on.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn try_claim(&self, epoch: u32) -> bool {
        // Relaxed: the exchange decides.
        let last = self.0.load(Ordering::Relaxed);
        // Acquire pairs with the Release of the last claimer, whose use of the thing is over: the cycle has ended.
        is_before(last, epoch)
            && self
                .0
                .compare_exchange(last, epoch, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
    }

    /// Whether nobody seems to have claimed it for `epoch`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_free(&self, epoch: u32) -> bool {
        // Relaxed: a hint; `claim` decides.
        is_before(self.0.load(Ordering::Relaxed), epoch)
    }
}

/// Epochs wrap around after four billion cycles; older is what lies less than half of that behind.
fn is_before(last: u32, epoch: u32) -> bool {
    (epoch.wrapping_sub(last) as i32) > 0
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::Claim;
    use crate::sync::Arc;

    #[test]
    fn a_cycle_has_one_claimer_and_a_late_one_comes_too_late() {
        loom::model(|| {
            let claim = Arc::new(EpochClaim::new());
            let late = {
                let claim = claim.clone();
                loom::thread::spawn(move || u32::from(claim.claim(1)))
            };
            let first = u32::from(claim.claim(1));
            let second = claim.claim(2);
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
        let claim = EpochClaim::new();
        assert!(claim.try_claim(0x7fff_ffff) && claim.try_claim(0xffff_fffe));
        assert!(!claim.try_claim(0xffff_fffe) && !claim.try_claim(0xffff_fff0));
        assert!(claim.is_free(3) && claim.try_claim(3));
    }
}
