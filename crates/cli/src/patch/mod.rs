//! Pure Data patches on the command line: what `check` says, and the session that every other command plays.

mod check;
mod face;
mod in_session;
mod options;
mod session;
mod window;

pub(crate) use check::PatchCheck;
pub(crate) use in_session::SessionPatches;
pub(crate) use options::PatchOptions;
pub(crate) use session::PatchSession;
pub(crate) use window::window;
