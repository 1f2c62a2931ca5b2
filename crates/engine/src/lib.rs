//! Owns a graph that plays: makes its plan and its executor, swaps them while it sounds, and counts what happens.
//!
//! Takes a graph and a registry, gives two halves: an [`Engine`], which stays with the user and may take its time, and
//! an [`EngineCallback`], which goes to the audio thread. May: start threads, allocate and wait in the engine's half.
//! May not: do any of that in the callback, use `unsafe`.
//!
//! # Threads and rings
//!
//! ```text
//!   control thread: Engine                      audio thread: EngineCallback
//!   ┌──────────────────────┐   executors (1)   ┌──────────────────────┐
//!   │ edit, set_param      ├──────────────────▶│ swap between blocks  │  process(), once a block
//!   │                      │   events (4096)   │                      │
//!   │                      ├──────────────────▶│ deliver to nodes     │◀──── driver
//!   │                      │   retired (1)     │                      │
//!   │ update: free, count, │◀──────────────────┤                      │
//!   │   trace, watchdog    │   cycles (32768)  │                      │
//!   │                      │◀──────────────────┤ one message a cycle  │
//!   └──────────▲───────────┘                   └──────────┬───────────┘
//!              │ trace rings, one a worker                │ run_cycle()
//!              │                               ┌──────────▼───────────┐
//!              └───────────────────────────────┤ workers 1.. (exec)   │
//!                                              └──────────────────────┘
//!   background thread: polls the processors' files, every 4 ms; offline the callback polls them itself
//! ```
//!
//! | folder | holds |
//! |---|---|
//! | `control` | [`Engine`]: edits, parameters, the regular [`Engine::update`], figures |
//! | `callback`, `schedule`, `transport`, `overload`, `messages`, `watchdog` | [`EngineCallback`], and what the two halves send each other |
//! | `midi`, `controllers` | live MIDI on the audio thread, and controllers that set parameters |
//! | `resources` | what outlives a plan: processors, delay lines, threads; the way from graph to plan to executor |
//! | `ahead` | what no live input reaches, played some blocks early |
//! | `choose` | [`choose_scheduler`]: tries schedulers on this graph |
//! | `measure` | [`measure_nodes`], [`measure_machine`]: costs for planning |
#![forbid(unsafe_code)]

mod ahead;
mod callback;
mod choose;
mod clock;
mod control;
mod controllers;
mod error;
mod machine;
mod measure;
mod messages;
mod midi;
mod options;
mod overload;
mod resources;
mod schedule;
mod summary;
mod transport;
mod watchdog;

pub use ahead::AheadStatus;
pub use callback::EngineCallback;
pub use choose::{
    ChoiceReason, ChooseOptions, SchedulerChoice, SchedulerTrial, choose_scheduler, forget_choice,
};
pub use control::{
    Engine, ScheduleChange, Tap, TransportPosition, WordsTicket, live_param, param_number,
};
pub use controllers::{ControllerBinding, ControllerSource, MAX_CONTROLLERS, RemoteParam};
pub use error::EngineError;
pub use exec::{HeldLine, StateVisitor};
pub use machine::machine_model;
pub use measure::{
    KindCost, MeasureOptions, MeasuredWork, NodeCost, NodeCosts, StepCost, StepTimes, machine_key,
    measure_machine, measure_nodes,
};
pub use messages::RampLaw;
pub use options::{EngineOptions, Scheduler, TransportStart};
pub use resources::{NodeState, WordsFate, expanded_graph};
