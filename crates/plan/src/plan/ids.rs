//! Indices into the arrays of a plan, and ranges of them.

/// Index into [`Plan::steps`](crate::Plan::steps).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

/// Index into [`Plan::tasks`](crate::Plan::tasks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// A slot: memory for one block of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u32);

/// An event buffer: each event or control output has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventBufferId(pub u32);

/// Index into [`Plan::delay_lines`](crate::Plan::delay_lines).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DelayLineId(pub u32);

/// Index into [`Plan::aligners`](crate::Plan::aligners).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlignerId(pub u32);

/// Index into [`Plan::stage_buffers`](crate::Plan::stage_buffers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageBufferId(pub u32);

/// Index into [`Plan::loops`](crate::Plan::loops).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

impl TaskId {
    /// As an index.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range of one of the plan's arrays, in eight bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexRange {
    /// First index.
    pub start: u32,
    /// One past the last index.
    pub end: u32,
}

impl IndexRange {
    /// The part of `array` that was added since its length was `start`.
    pub(crate) fn since<T>(array: &[T], start: usize) -> Self {
        Self {
            start: start as u32,
            end: array.len() as u32,
        }
    }

    /// The elements of `array` in this range.
    pub fn of<T>(self, array: &[T]) -> &[T] {
        &array[self.start as usize..self.end as usize]
    }

    /// Number of elements.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Returns true if there are no elements.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}
