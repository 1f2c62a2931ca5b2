//! Owns a graph that plays: makes its plan and its executor, swaps them while it sounds, and counts what happens.
//!
//! Takes a graph and a registry, gives two halves: an [`Engine`], which stays with the user and may take its time, and a
//! [`Player`], which goes to the audio thread. May: start threads, allocate and wait in the engine's half. May not: do
//! any of that in the player's, use `unsafe`.
#![forbid(unsafe_code)]

mod choose;
mod control;
mod error;
mod machine;
mod measure;
mod notes;
mod options;
mod player;
mod setting;
mod summary;

pub use choose::{Choice, ChooseOptions, Tried, Why, choose};
pub use control::Engine;
pub use error::EngineError;
pub use machine::machine;
pub use measure::{
    Cost, KindCost, MeasureOptions, NodeCost, NodeCosts, Times, machine_key, measure,
    measure_machine,
};
pub use options::{EngineOptions, Scheduler};
pub use player::Player;
