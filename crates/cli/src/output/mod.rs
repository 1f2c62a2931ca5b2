//! Output to people and programs: messages, tables, progress, JSON and pictures.

pub(crate) mod json;
pub(crate) mod messages;
pub(crate) mod picture;
pub(crate) mod progress;
pub(crate) mod table;
