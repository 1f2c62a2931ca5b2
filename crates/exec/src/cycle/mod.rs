//! A cycle: start, join, and what happens if a step does not return. `README.md` in this folder has the protocol.
//!
//! | file | what is in it |
//! |---|---|
//! | [`info`] | `CycleInfo` and `CycleResult`: what goes in and what comes out |
//! | [`context`] | `CycleContext`: what the threads of one executor share |
//! | [`slot`] | `WorkerSlot`: what others see of a worker |
//! | [`worker`], [`wait`] | `WorkerContext`: one worker in one cycle; how it runs tasks, and how it waits for them |
//! | [`strategy`] | the trait `Strategy`: who runs which task |
//! | [`parallel`] | `ParallelExecutor`: start and join |
//! | [`idle_plan`] | `IdlePlan`: what the host does while no step runs |
//! | [`outputs`] | what the sinks hold, on its way to the device |
//! | [`states`] | `StateVisitor`: what the nodes hold, between two cycles |
//! | [`abandoned`] | an abandoned cycle, until no worker is in it |
//! | [`watchdog`] | steps that do not return, seen from a control thread |

mod abandoned;
mod context;
mod idle_plan;
mod info;
mod outputs;
mod parallel;
mod slot;
mod states;
mod strategy;
mod wait;
mod watchdog;
mod worker;

pub(crate) use context::CycleContext;
pub(crate) use idle_plan::IdlePlan;
pub use info::{CycleInfo, CycleResult, CycleStatus};
pub(crate) use parallel::ParallelExecutor;
pub(crate) use slot::NONE;
pub use states::{HeldLine, StateVisitor};
pub(crate) use strategy::Strategy;
pub(crate) use wait::{WaitCounts, never_leave};
pub use watchdog::{StuckStep, Watchdog};
pub(crate) use worker::WorkerContext;
