//! Nodes that have copies: what is told to one is told to all, and all go on from one state.

use crate::stage::Stage;
use processor::Event;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Stage {
    /// The steps of the copies of the node whose original's step is `original`.
    fn copies_of(&self, original: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.copies.partition_point(|(o, _)| *o < original);
        let copies = self.copies[from..].iter();
        copies
            .take_while(move |(o, _)| *o == original)
            .map(|(_, copy)| *copy)
    }

    /// Leaves `event`, for which the original had room, for the copies too: their inboxes are alike.
    ///
    /// # Safety
    ///
    /// The caller is alone (rule 1 of `crate::stage`).
    pub(crate) unsafe fn post_to_copies(&self, original: u32, event: Event) {
        for copy in self.copies_of(original) {
            // SAFETY: we are alone.
            let own = unsafe { &mut *self.steps[copy as usize].own.get() };
            if own.inbox.len() < own.inbox.capacity() {
                own.inbox.push(event);
                own.has_post = true;
            }
        }
    }

    /// After a cycle that was given up: some copies may have run in it and others not.
    pub(crate) fn unsettle(&self) {
        for (_, copy) in &self.copies {
            if let Some(resident) = &self.steps[*copy as usize].rare.resident {
                resident.unsettle();
            }
        }
    }

    /// Has copies that do not know it yet take up where their originals are, with what was posted to them.
    ///
    /// # Safety
    ///
    /// The caller is alone (rule 1 of `crate::stage`), and has the turn.
    ///
    /// Real-time: hot.
    pub(crate) unsafe fn take_up(&self) {
        for (original, copy) in &self.copies {
            let [from, to] = [original, copy].map(|step| &self.steps[*step as usize]);
            let (Some(first), Some(second)) = (&from.rare.resident, &to.rare.resident) else {
                continue;
            };
            if !second.is_unsettled() || second.is_dead() {
                continue;
            }
            // SAFETY: we are alone, and whoever is stuck in a step for good is dead.
            let (from, to) = unsafe { (&*from.own.get(), &mut *to.own.get()) };
            to.asleep = from.asleep;
            to.has_post = from.has_post;
            to.inbox.clear();
            to.inbox.extend_from_slice(&from.inbox);
            // SAFETY: as above.
            if unsafe { !second.take_up(Arc::as_ref(first)) } && second.kill() {
                // Relaxed: only a count.
                self.troubles.faults.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
