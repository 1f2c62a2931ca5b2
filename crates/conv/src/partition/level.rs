//! [`Level`] of a partition.

/// A run of neighbouring partitions of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    pub(super) size: usize,
    pub(super) count: usize,
    pub(super) start: usize,
    pub(super) slack: usize,
}

impl Level {
    /// Frames in a partition, which is also the level's period.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of partitions.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Frame of the impulse response at which the first partition begins.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Frame of the impulse response behind the last partition.
    pub fn end(&self) -> usize {
        self.start + self.size * self.count
    }

    /// Frames from the callback in which the level's input is complete to the one in which its output is first needed: 0 (it runs
    /// inside the callback) or at least the level's size.
    pub fn slack(&self) -> usize {
        self.slack
    }

    /// Returns true if the level must run inside the callback.
    pub fn is_in_callback(&self) -> bool {
        self.slack == 0
    }
}
