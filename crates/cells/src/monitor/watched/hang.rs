//! A cell that does not answer.

use super::WatchedCell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Live, a cell that lost blocks for so long hangs.
const HANG_LIVE: Duration = Duration::from_millis(50);
/// Blocks in a row whose reply was due and did not come, before that counts.
const MAX_MISSED: u32 = 3;
/// Offline, a cell that does not answer for so long hangs.
const HANG_OFFLINE: Duration = Duration::from_secs(10);
/// Offline, under a drill that makes a cell hang, nobody needs to wait for that.
const HANG_DRILL: Duration = Duration::from_millis(200);
impl WatchedCell {
    /// Returns true if the cell has not answered for too long.
    pub(super) fn hangs(&mut self) -> bool {
        let (waits, blocks) = (
            self.status.waits.load(Ordering::Relaxed),
            self.status.blocks(),
        );
        if blocks != self.asked.0 {
            self.asked = (blocks, Instant::now());
        }
        let loses = self.status.overdue.load(Ordering::Relaxed) >= MAX_MISSED;
        let block = match waits {
            true => blocks,
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
        // Live, time counts up to the last block that was asked for: where the supervisor hangs, no cell does.
        let now = if waits { Instant::now() } else { self.asked.1 };
        now.saturating_duration_since(since) > limit
    }
}
