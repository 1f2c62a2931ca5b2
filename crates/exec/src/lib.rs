//! A plan and its processors to blocks of sound: one file per way of executing.
//!
//! Takes a [`Plan`](plan::Plan), a [`Pool`] of processors and a [`Floor`], gives an [`Executor`]:
//! [`sequential`], [`fixed`], [`stealing`], [`global`], [`weighted`], [`deadline`], [`mutex`].
//! May: allocate when an executor is made; use `unsafe`, by the rules at the head of `stage.rs`. May not: decide anything,
//! allocate, lock or wait (but for the join) afterwards; the executor `mutex` is exempt, and there for comparison.

mod aligners;
mod bind;
mod copies;
mod deadline;
mod deal;
mod executor;
mod fixed;
mod floor;
mod global;
mod hand;
mod lines;
mod mutex;
mod parallel;
mod passages;
mod pipeline;
mod pool;
mod sequential;
mod stage;
mod stealing;
mod step;
mod sum;
mod table;
mod watch;
mod weighted;

pub use bind::Binding;
pub use deadline::deadline;
pub use executor::{Counts, Executor, Now, Outcome, Ran};
pub use fixed::fixed;
pub use floor::{Floor, Idle};
pub use global::global;
pub use lines::Lines;
pub use mutex::mutex;
pub use pool::{Asked, Facts, Pool};
pub use sequential::sequential;
pub use stealing::stealing;
pub use watch::{Stuck, Watch};
pub use weighted::weighted;
