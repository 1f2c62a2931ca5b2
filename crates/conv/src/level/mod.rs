//! One level of a partition: a frequency-domain delay line for each group of channels.
//!
//! `README.md` in this folder explains what a level is, how a block goes through it and when its output is due, and lists
//! the files.

pub(crate) mod crossfade;
pub(crate) mod fdl;
pub(crate) mod filters;
mod history;
mod input;
pub mod lookahead;
mod pieces;
pub(crate) mod remote;
pub(crate) mod spec;
pub(crate) mod stream;

pub use fdl::Fdl;
pub use stream::FdlInfo;
