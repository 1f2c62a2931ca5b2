//! A proof, independent of how the plan was made, that any executor can follow it.

mod aligners;
mod ancestry;
mod lanes;
mod lines;
mod shape;
mod stages;
mod tasks;
mod traffic;

use crate::Plan;

impl Plan {
    /// Proves that the plan can be followed, on any number of workers and in any order that its successors allow:
    ///
    /// - its arrays and counts are sound, and steps stand after those that they wait for;
    /// - no two steps that may run together touch a slot that one of them writes;
    /// - every step reads what a step before it wrote, never what is left of another;
    /// - what must outlast the cycle (sinks, steps that run seldom) has slots of its own;
    /// - lines are written and read as [`DelayLine`](crate::Line) demands;
    /// - aligners have one step each, in every cycle, that gives what it hears once for each tap;
    /// - stages of a pipeline meet in passages only, and those are as long as the stages are apart;
    /// - tasks are runs of the steps, every step in one, and wait for each other as their steps do;
    /// - lanes have every task once and cannot wait for each other in a circle.
    ///
    /// Exact for plans of any size. The time grows with the steps times their width over 256; 100,000 steps take well
    /// under a second.
    ///
    /// # Errors
    ///
    /// A sentence for each fault.
    ///
    /// Real-time: setup.
    pub fn validate(&self) -> Result<(), Vec<String>> {
        // Beyond a broken shape nothing can be looked up.
        shape::check(self)?;
        let mut wrong = Vec::new();
        let mut claims = Vec::new();
        traffic::check(self, &mut claims, &mut wrong);
        lines::check(self, &mut claims, &mut wrong);
        wrong.extend(ancestry::refuted(self, claims).map(|c| c.words()));
        aligners::check(self, &mut wrong);
        stages::check(self, &mut wrong);
        tasks::check(self, &mut wrong);
        if wrong.is_empty() {
            lanes::check(self, &mut wrong);
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}
