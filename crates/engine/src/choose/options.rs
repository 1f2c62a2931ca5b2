//! [`ChooseOptions`]: limits and wishes for the choice of a scheduler.

use crate::EngineOptions;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Options of [`choose_scheduler`](crate::choose_scheduler).
#[derive(Clone, Debug)]
pub struct ChooseOptions {
    /// Options of the engine; `workers` is the largest number that is tried. Its scheduler does not matter.
    pub engine: EngineOptions,
    /// Name of the graph in the costs file.
    pub patch: String,
    /// Time for trials, about. Offline it is shortened where there is little to gain.
    pub time_limit: Duration,
    /// Offline: number of blocks that will be played, where that is known.
    pub blocks: Option<u64>,
    /// True to try again though a choice is kept.
    pub ignore_cached: bool,
    /// Flag that ends the trials early: the choice is then [`ChoiceReason::Interrupted`](crate::ChoiceReason::Interrupted).
    pub stop: Option<Arc<AtomicBool>>,
}

impl ChooseOptions {
    /// Half a second, and a kept choice is taken.
    pub fn new(engine: EngineOptions, patch: impl Into<String>) -> Self {
        Self {
            engine,
            patch: patch.into(),
            time_limit: Duration::from_millis(500),
            blocks: None,
            ignore_cached: false,
            stop: None,
        }
    }

    /// Returns true if the trials are to end.
    pub(super) fn is_stopped(&self) -> bool {
        let is_set = |stop: &Arc<AtomicBool>| {
            // Relaxed: no data travels with it.
            stop.load(Ordering::Relaxed)
        };
        self.stop.as_ref().is_some_and(is_set)
    }
}
