//! A proof that any executor can follow a plan. It reads the plan alone and shares no code with the compiler.
//!
//! | file | proves |
//! |---|---|
//! | `arrays` | ranges lie in their arrays, ids exist, counts are right, steps are in topological order |
//! | `slots` | which steps must be ordered because of slots and event buffers |
//! | `delay_lines` | the same for delay lines |
//! | `dependencies` | that they are ordered: these claims against the graph of successors |
//! | `aligners`, `stages`, `tasks`, `schedule` | the rules for each of them |

mod aligners;
mod arrays;
mod delay_lines;
mod dependencies;
mod schedule;
mod slots;
mod stages;
mod tasks;

use crate::Plan;

impl Plan {
    /// Proves that the plan can be followed, on any number of workers and in any order that its successors allow:
    ///
    /// - its ranges and counts are right, and steps are stored in topological order;
    /// - no two steps that may run at the same time touch a slot that one of them writes;
    /// - every step reads what a step before it wrote, never what is left of another;
    /// - outputs that must outlast the cycle (of sinks, and of steps that do not run in every cycle) have slots of their
    ///   own;
    /// - delay lines are written and read as [`DelayLine`](crate::DelayLine) demands;
    /// - every aligner has one step, in every cycle, with an output for each tap;
    /// - stages of a pipeline exchange data through stage buffers only, and those are as long as the stages are apart;
    /// - tasks are runs of the steps, every step in one, and depend on each other as their steps do;
    /// - the static schedule has every task once, and workers cannot wait for each other in a cycle.
    ///
    /// Exact for plans of any size. The time grows with the number of steps times their width over 256; 100,000 steps take
    /// well under a second.
    ///
    /// # Errors
    ///
    /// A sentence for each fault.
    ///
    /// Real-time: setup.
    pub fn validate(&self) -> Result<(), Vec<String>> {
        // With wrong ranges or ids nothing else can be looked up.
        arrays::check(self)?;
        let mut faults = Vec::new();
        let mut claims = Vec::new();
        slots::check(self, &mut claims, &mut faults);
        delay_lines::check(self, &mut claims, &mut faults);
        faults.extend(dependencies::refuted(self, claims).map(|c| c.message()));
        aligners::check(self, &mut faults);
        stages::check(self, &mut faults);
        tasks::check(self, &mut faults);
        if faults.is_empty() {
            schedule::check(self, &mut faults);
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }
}
