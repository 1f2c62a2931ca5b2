//! The patch as plain data: nodes, typed ports, the edges between them, and edits.
//!
//! Takes edits, gives a [`Graph`]: possibly cyclic, possibly of unknown kinds, until a plan is made of it.
//! May: allocate. May not: know processors, threads, files or time; use `unsafe`.
#![forbid(unsafe_code)]

mod catalogue;
mod diagnostic;
mod edit;
mod kind;
mod node;
mod patch;
mod place;
pub mod shape;

pub use catalogue::{Catalogue, nearest};
pub use diagnostic::{Diagnostic, Severity};
pub use edit::{Edit, EditError};
pub use kind::{Kind, LineParams, Param, PortCount, PortSpec, Range, Role, Width};
pub use node::{Node, Port, Signal, Value};
pub use patch::{Edge, End, Graph, NodeId};
pub use place::Place;
