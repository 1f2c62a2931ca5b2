//! A cell that does not answer.

use super::WatchedCell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Live, a cell that lost blocks for so long hangs.
const HANG_LIVE: Duration = Duration::from_millis(50);
/// Blocks lost in a row before that counts.
const MAX_MISSED: u32 = 3;
/// Offline, a cell that does not answer for so long hangs.
const HANG_OFFLINE: Duration = Duration::from_secs(10);
/// Offline, under a drill that makes a cell hang, nobody needs to wait for that.
const HANG_DRILL: Duration = Duration::from_millis(200);
impl WatchedCell {
    /// Returns true if the cell has not answered for too long.
    pub(super) fn hangs(&mut self) -> bool {
        let waits = self.status.waits.load(Ordering::Relaxed);
        let loses = self.status.missed.load(Ordering::Relaxed) >= MAX_MISSED;
        let block = match waits {
            true => self.status.blocks(),
            false => u64::MAX,
        };
        if !waits && !loses {
            self.stuck = None;
            return false;
        }
        let (known, since) = *self.stuck.get_or_insert((block, Instant::now()));
        if known != block {
            self.stuck = None;
            return false;
        }
        let limit = match (waits, self.hangs_on_purpose) {
            (false, _) => HANG_LIVE,
            (true, true) => HANG_DRILL,
            (true, false) => HANG_OFFLINE,
        };
        since.elapsed() > limit
    }
}
