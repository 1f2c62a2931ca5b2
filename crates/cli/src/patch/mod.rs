//! Pure Data patches on the command line: `check` and `render`.

mod check;
mod render;

pub(crate) use check::PatchCheck;
pub(crate) use render::{PatchMessage, PatchRender};
