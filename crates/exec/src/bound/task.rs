//! Tasks: runs of steps that a strategy gives to workers as a whole.

/// A run of steps. One worker runs all of them, in order.
#[derive(Clone, Copy)]
pub(crate) struct BoundTask {
    /// First step.
    pub(crate) from: u32,
    /// Step after the last one.
    pub(crate) to: u32,
    /// Range of its successors in `BoundPlan::successors`.
    pub(crate) successors: (u32, u32),
    /// Number of tasks that it waits for in each cycle.
    pub(crate) dependencies: u32,
}

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

impl From<&plan::Task> for BoundTask {
    fn from(task: &plan::Task) -> Self {
        Self {
            from: task.steps.start,
            to: task.steps.end,
            successors: (task.successors.start, task.successors.end),
            dependencies: task.activation,
        }
    }
}

impl Successor {
    pub(crate) fn new(id: plan::TaskId, task: &plan::Task) -> Self {
        Self {
            task: id.0,
            first_step: task.steps.start,
            dependencies: task.activation,
        }
    }
}
