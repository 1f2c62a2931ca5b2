//! A processor whose float mode we do not know: denormals stay.

pub(super) type Mode = ();

pub(super) const CAN_FLUSH: bool = false;

pub(super) fn flushing(mode: Mode) -> Mode {
    mode
}

pub(super) fn get() -> Mode {}

pub(super) fn set(_mode: Mode) {}
