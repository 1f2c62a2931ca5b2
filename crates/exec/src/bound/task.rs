//! The tasks that wait for another one.

/// A task that waits for another one.
///
/// It repeats what the releasing worker must know of the waiting task, so that the task's own cache lines stay where
/// they are.
#[derive(Clone, Copy)]
pub(crate) struct Successor {
    pub(crate) task: u32,
    /// First step of the task. Its `pending` count is the task's.
    pub(crate) first_step: u32,
    /// Number of tasks that it waits for in each cycle.
    pub(crate) dependencies: u32,
}

impl Successor {
    pub(crate) fn new(id: u32, task: &plan::Task) -> Self {
        Self {
            task: id,
            first_step: task.steps.start,
            dependencies: task.activation,
        }
    }
}
