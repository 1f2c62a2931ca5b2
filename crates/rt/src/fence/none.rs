//! A system without such a barrier, and loom's.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Process,
    Processes,
}

pub(super) fn register(_: Scope) -> Option<Scope> {
    None
}

pub(super) fn barrier(_: Scope) {}
