//! Owns a graph that plays: makes its plan and its executor, swaps them while it sounds, and counts what happens.
//!
//! Takes a graph and a registry, gives two halves: an [`Engine`], which stays with the user and may take its time, and
//! a [`EngineCallback`], which goes to the audio thread. May: start threads, allocate and wait in the engine's half.
//! May not: do any of that in the player's, use `unsafe`.
#![forbid(unsafe_code)]

mod callback;
mod choose;
mod control;
mod error;
mod machine;
mod measure;
mod messages;
mod options;
mod overload;
mod resources;
mod summary;
mod watchdog;

pub use callback::EngineCallback;
pub use choose::{ChoiceReason, ChooseOptions, SchedulerChoice, SchedulerTrial, choose_scheduler};
pub use control::Engine;
pub use error::EngineError;
pub use machine::machine_model;
pub use measure::{
    KindCost, MeasureOptions, NodeCost, NodeCosts, StepCost, StepTimes, machine_key,
    measure_machine, measure_nodes,
};
pub use options::{EngineOptions, Scheduler};
