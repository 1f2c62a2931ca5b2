//! A system without such a barrier, and loom's.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierScope {
    Process,
    Processes,
}

pub(super) fn register(_: BarrierScope) -> Option<BarrierScope> {
    None
}

pub(super) fn barrier(_: BarrierScope) {}
