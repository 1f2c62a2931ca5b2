//! A node with deferred work: it gathers a part of its input, low-priority workers fold it in pieces, and the result is
//! its output two parts later.

use crate::fixtures;
use processor::{Block, ProcessStatus, Processor, Registry, Setup, Tail};
use rt::deferred::{DeferredJob, PiecewiseJob};
use std::cell::Cell;
use std::sync::Arc;

/// Frames in a part.
pub const PART: usize = 160;
/// Pieces of the work on one part.
pub const PIECES: usize = 8;

type Each = Arc<dyn Fn(bool) + Send + Sync>;

thread_local! {
    static IN_STEP: Cell<bool> = const { Cell::new(false) };
}

/// The deferred work.
struct Fold {
    input: Vec<f32>,
    output: Vec<f32>,
    at: usize,
    each: Each,
}

impl PiecewiseJob for Fold {
    fn run_piece(&mut self) -> bool {
        (self.each)(IN_STEP.get());
        for _ in 0..PART / PIECES {
            let last = self.at.checked_sub(1).map_or(0.0, |i| self.output[i]);
            self.output[self.at] = 0.5 * self.input[self.at] + 0.5 * last;
            self.at += 1;
        }
        self.at == PART
    }
}

struct Later {
    owner: DeferredJob<Fold>,
    input: Vec<f32>,
    output: Vec<f32>,
    /// True if the work that is out is for the next part.
    is_due: bool,
}

impl Later {
    fn turn(&mut self, block: &Block<'_>, now: u64) {
        let is_due = self.is_due;
        IN_STEP.set(true);
        let fold = block.take_deferred(&mut self.owner);
        IN_STEP.set(false);
        let Some(fold) = fold else {
            // A result that comes now is too late.
            self.is_due = false;
            return self.output.fill(0.0);
        };
        if is_due {
            self.output.copy_from_slice(&fold.output);
        } else {
            self.output.fill(0.0);
        }
        fold.input.copy_from_slice(&self.input);
        fold.at = 0;
        self.owner.start(now + PART as u64);
        self.is_due = true;
    }
}

impl Processor for Later {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        setup.services.defer(self.owner.job_runner());
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let input = block.input(0).channel(0);
        for (frame, (x, now)) in input.iter().zip(block.position()..).enumerate() {
            let at = now as usize % PART;
            if at == 0 && now > 0 {
                self.turn(block, now);
            }
            self.input[at] = *x;
            block.output(0).channel(0)[frame] = self.output[at];
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Frames(2 * PART as u64)
    }
}

/// Adds the kind `later`; `each` is called in every piece of its work, with true if it is the step that waits for the
/// work which runs it.
pub fn add(registry: &mut Registry, each: impl Fn(bool) + Send + Sync + 'static) {
    let each: Each = Arc::new(each);
    registry.add(fixtures::kind("later", (1, 1)), move |_| {
        let part = || vec![0.0; PART];
        let fold = Fold {
            input: part(),
            output: part(),
            at: 0,
            each: each.clone(),
        };
        Ok(Box::new(Later {
            owner: DeferredJob::new(fold),
            input: part(),
            output: part(),
            is_due: false,
        }))
    });
}
