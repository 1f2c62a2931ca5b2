//! A condition variable for each level and another for each answer: the naive scheme.

use super::Scheme;
use std::sync::{Condvar, Mutex, MutexGuard};

/// A number that can be waited for.
#[derive(Default)]
struct Flag {
    value: Mutex<u32>,
    bell: Condvar,
}

impl Flag {
    fn value(&self) -> MutexGuard<'_, u32> {
        self.value.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn ring(&self, value: u32) {
        *self.value() = value;
        self.bell.notify_one();
    }

    /// Waits until the number is at least `wanted`; gives it.
    fn wait(&self, wanted: u32) -> u32 {
        let waited = self.bell.wait_while(self.value(), |value| *value < wanted);
        *waited.unwrap_or_else(|e| e.into_inner())
    }
}

/// The scheme.
pub(super) struct Condvars {
    go: Vec<Flag>,
    done: Vec<Flag>,
}

impl Condvars {
    pub(super) fn new(levels: usize) -> Self {
        let flags = || (0..levels).map(|_| Flag::default()).collect();
        Self {
            go: flags(),
            done: flags(),
        }
    }
}

impl Scheme for Condvars {
    fn start(&self, call: u32, count: usize) {
        self.go
            .iter()
            .take(count)
            .for_each(|flag| flag.ring(call + 1));
    }

    fn finish(&self, call: u32, count: usize) {
        self.done
            .iter()
            .take(count)
            .for_each(|flag| _ = flag.wait(call));
    }

    fn begins(&self, me: usize, call: u32, _: usize) -> bool {
        self.go[me].wait(call + 1) != u32::MAX
    }

    fn done(&self, me: usize, due: u32, _: usize) {
        self.done[me].ring(due);
    }

    fn stop(&self) {
        self.go.iter().for_each(|flag| flag.ring(u32::MAX));
    }
}
