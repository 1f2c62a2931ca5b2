//! [`Disturbance`]: finds out if other programs disturbed the trials.
//!
//! Where others take the second core, every parallel candidate loses, and what is chosen holds for the busy machine only.

use std::time::{Duration, Instant};
use workers::{MachineTime, cores, load_average};

/// Share of the cores' time (1/10) that others may take in quiet trials, and the time that they may take in any case: two
/// ticks of the system's clock.
const MAX_SHARE: f64 = 0.1;
const MIN_TIME: Duration = Duration::from_millis(20);
/// Load average for each core up to which the machine counts as quiet. It falls below that two minutes after a busy time.
const QUIET_LOAD: f64 = 0.25;

/// Time of other programs since it began.
pub(super) struct Disturbance {
    since: Instant,
    before: MachineTime,
}

impl Disturbance {
    /// From now on.
    pub(super) fn begin() -> Self {
        Self {
            since: Instant::now(),
            before: MachineTime::so_far(),
        }
    }

    /// Returns true if others took much of the machine since it began; false where the system does not say.
    pub(super) fn was_large(&self) -> bool {
        let now = MachineTime::so_far();
        let others = now.others_since(self.before) + now.stolen_since(self.before);
        is_large(others, self.since.elapsed(), cores().len())
    }
}

fn is_large(others: Duration, elapsed: Duration, cores: usize) -> bool {
    let allowed = elapsed.mul_f64(MAX_SHARE * cores as f64);
    others > allowed + MIN_TIME
}

/// Returns true if few other programs ran in the last minute; false where the system does not say.
pub(super) fn is_quiet() -> bool {
    load_average().is_some_and(|load| load <= QUIET_LOAD * cores().len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_cores_disturbs_and_a_tick_does_not() {
        let ms = Duration::from_millis;
        for (others, elapsed, cores, expected) in [
            (20, 10, 2, false),
            (110, 500, 2, false),
            (130, 500, 2, true),
            (500, 500, 128, false),
            (0, 500, 2, false),
        ] {
            let found = is_large(ms(others), ms(elapsed), cores);
            assert_eq!(found, expected, "{others} of {elapsed} on {cores}");
        }
    }
}
