//! [`Successor`]: a task that waits for another one, as the worker that releases it sees it.

/// A task that waits for another one.
///
/// It repeats the fields of the waiting task that the releasing worker needs. So that worker does not fetch the task's
/// own cache lines.
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
