//! A system without such a barrier, and loom's.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Process,
    Processes,
}

pub(super) fn register(_: Reach) -> Option<Reach> {
    None
}

pub(super) fn barrier(_: Reach) {}
