//! The naive scheme: a condition variable for each level, and another for each answer.

use super::Scheme;
use std::sync::{Condvar, Mutex, MutexGuard};

/// A call number that threads wait for.
#[derive(Default)]
struct Flag {
    value: Mutex<u32>,
    changed: Condvar,
}

impl Flag {
    fn value(&self) -> MutexGuard<'_, u32> {
        self.value.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn set(&self, value: u32) {
        *self.value() = value;
        self.changed.notify_one();
    }

    /// Waits until the number is at least `wanted`. Returns it.
    fn wait(&self, wanted: u32) -> u32 {
        let waited = self
            .changed
            .wait_while(self.value(), |value| *value < wanted);
        *waited.unwrap_or_else(|e| e.into_inner())
    }
}

/// The scheme: a flag in each direction for each level.
pub(super) struct Condvars {
    start: Vec<Flag>,
    done: Vec<Flag>,
}

impl Condvars {
    pub(super) fn new(levels: usize) -> Self {
        let flags = || (0..levels).map(|_| Flag::default()).collect();
        Self {
            start: flags(),
            done: flags(),
        }
    }
}

impl Scheme for Condvars {
    fn start(&self, call: u32, count: usize) {
        self.start
            .iter()
            .take(count)
            .for_each(|flag| flag.set(call + 1));
    }

    fn wait_done(&self, call: u32, count: usize) {
        self.done
            .iter()
            .take(count)
            .for_each(|flag| _ = flag.wait(call));
    }

    fn wait_start(&self, level: usize, call: u32, _: usize) -> bool {
        self.start[level].wait(call + 1) != u32::MAX
    }

    fn done(&self, level: usize, due: u32, _: usize) {
        self.done[level].set(due);
    }

    fn stop(&self) {
        self.start.iter().for_each(|flag| flag.set(u32::MAX));
    }
}
