//! Whether what edits changed in the delays of edges has been gone over to: then the next plan need not know of it.

use crate::notes::{Note, What};
use graph::Graph;
use plan::{Before, Plan};
use units::Frames;

/// What is left to play until the last change is over.
#[derive(Default)]
pub(crate) struct Fades {
    /// Swaps so far.
    turn: u32,
    /// Frames until all is over; counted from the swap on.
    left: u64,
    /// The swap is still to come.
    is_coming: bool,
}

impl Fades {
    /// What is delayed now, for the plan that comes next.
    pub(crate) fn before(&self, graph: &Graph, plan: &Plan) -> Before {
        Before::new(graph, &plan.delayed, self.turn + 1, self.left == 0)
    }

    /// `plan` is on its way.
    pub(crate) fn swaps(&mut self, plan: &Plan) {
        self.turn += 1;
        let changes = plan.delayed.iter().filter(|it| it.tap.changes());
        let longest = changes.map(|it| it.tap.most()).max();
        // The fade lasts 20 ms; a pipeline ends later.
        let fade = plan.rate.hz() / 40 + plan.block.0.saturating_mul(plan.ahead + 1);
        self.left = longest.map_or(0, |Frames(most)| u64::from(most) + u64::from(fade));
        self.is_coming = true;
    }

    /// Counts what has been played.
    pub(crate) fn add(&mut self, note: &Note, block: Frames) {
        self.is_coming &= !note.swapped;
        let is_played = matches!(note.what, What::Played | What::Missed);
        if is_played && !self.is_coming {
            self.left = self.left.saturating_sub(block.0.into());
        }
    }
}
