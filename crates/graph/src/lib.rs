//! The patch as plain data: nodes, typed ports, the edges between them, and edits.
//!
//! Takes edits, gives a [`Graph`]: possibly cyclic, possibly of unknown kinds, until a plan is made of it.
//! May: allocate. May not: know processors, threads, files or time; use `unsafe`.
#![forbid(unsafe_code)]

mod adjacency;
mod build_error;
mod builder;
mod bypass;
mod catalogue;
mod channels;
mod diagnostic;
mod difference;
mod edit;
mod gains;
mod kind;
mod layout;
mod modulation;
mod node;
mod number;
mod patch;
mod place;
mod position;
pub mod shape;
mod tempo;

pub use adjacency::Adjacency;
pub use build_error::BuildError;
pub use builder::GraphBuilder;
pub use catalogue::{Catalogue, nearest};
pub use channels::{CHANNELS_HELP, ChannelProbe, Widths, channel_sums, inferred_channels};
pub use diagnostic::{Diagnostic, Severity, error_chain};
pub use difference::{edits_back, edits_between, edits_by_id};
pub use edit::{Edit, EditError};
pub use gains::{Gains, GainsError};
pub use kind::{
    DelayParams, Kind, KindPicture, Param, ParamRange, PortCount, PortSignal, PortSpec, Role,
    series_len,
};
pub use layout::{LFE, Layout, Speaker};
pub use modulation::{Amount, AmountError, Law, MAX_MODULATIONS, Modulation};
pub use node::{Node, ParamValue, Port, Signal};
pub use number::number_text;
pub use patch::{Edge, Graph, NodeId, PortRef};
pub use place::SourceSpan;
pub use position::{PiecePosition, PositionError};
pub use tempo::{MetrePoint, TempoError, TempoMap, TempoPoint, nearest_frame};
