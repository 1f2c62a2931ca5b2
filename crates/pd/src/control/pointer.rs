//! [`Pointer`]: a value that leads to a scalar or an element of an array (`data`).

/// A place in a list or in an array. It is found as long as nothing was taken away there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub(super) stamp: u32,
    pub(super) item: u32,
}
