//! Steps of later stages of a pipeline: they play an older block than the cycle's.

use crate::hand::Facts;
use crate::stage::{Bound, EVENTS_A_STEP, Own, Stage};
use processor::{Event, ProcessInfo};
use std::cell::UnsafeCell;

/// What a step of a later stage has beside the others.
pub(crate) struct Lagged {
    /// By how many cycles it lags.
    pub(crate) by: u32,
    /// Events that the user posted, with the position of the block for which they are; [`UNDATED`] until that is known.
    posts: UnsafeCell<Vec<(u64, Event)>>,
}

const UNDATED: u64 = u64::MAX;

impl Lagged {
    pub(crate) fn new(by: u32) -> Self {
        let room = EVENTS_A_STEP * (by as usize + 1);
        Self {
            by,
            posts: UnsafeCell::new(Vec::with_capacity(room)),
        }
    }
}

impl Stage {
    /// Whether some steps have nothing to play in this cycle.
    pub(crate) fn is_partial(&self, facts: &Facts) -> bool {
        let lag = u64::from(self.ahead) * u64::from(self.block.0);
        self.ahead > 0
            && (facts.position < facts.first.saturating_add(lag) || facts.end <= facts.position)
    }

    /// Whether the last stage, where the sinks are, has a block to play in this cycle. If not, they hold an older one still.
    pub(crate) fn is_heard(&self, facts: &Facts) -> bool {
        self.has_block(self.ahead, facts)
    }

    /// Whether `step` has a block to play in this cycle.
    pub(crate) fn plays(&self, step: u32, facts: &Facts) -> bool {
        let lagged = self.steps[step as usize].rare.lagged.as_ref();
        self.has_block(lagged.map_or(0, |l| l.by), facts)
    }

    /// Whether who lags by so many cycles has a block to play in this one.
    fn has_block(&self, lag: u32, facts: &Facts) -> bool {
        let lag = u64::from(lag) * u64::from(self.block.0);
        let position = facts.position.checked_sub(lag);
        position.is_some_and(|p| facts.first <= p && p < facts.end)
    }

    /// The moment of a step that lags: an older block's.
    pub(crate) fn earlier<'a>(&self, lagged: &Lagged, moment: &ProcessInfo<'a>) -> ProcessInfo<'a> {
        let lag = u64::from(lagged.by);
        ProcessInfo {
            position: moment
                .position
                .saturating_sub(lag * u64::from(self.block.0)),
            cycle: moment.cycle.saturating_sub(lag),
            ..*moment
        }
    }

    /// Leaves `event` for the block that the next cycle begins, which a step that lags plays later.
    ///
    /// # Safety
    ///
    /// The caller is alone (rule 1 of `crate::stage`).
    pub(crate) unsafe fn post_later(
        &self,
        step: u32,
        lagged: &Lagged,
        event: Event,
    ) -> Result<(), Event> {
        // SAFETY: we are alone.
        let (posts, undated) = unsafe { (&mut *lagged.posts.get(), &mut *self.undated.get()) };
        let is_first = posts.last().is_none_or(|(at, _)| *at != UNDATED);
        let of_this_block = posts.iter().filter(|(at, _)| *at == UNDATED).count();
        if of_this_block == EVENTS_A_STEP || is_first && undated.len() == undated.capacity() {
            return Err(event);
        }
        if is_first {
            undated.push(step);
        }
        posts.push((UNDATED, event));
        Ok(())
    }

    /// Says which block all that was posted since the last cycle is for.
    ///
    /// # Safety
    ///
    /// The caller is alone (rule 1).
    pub(crate) unsafe fn date_posts(&self, position: u64) {
        // SAFETY: we are alone.
        let undated = unsafe { &mut *self.undated.get() };
        for at in undated.drain(..) {
            let step = match at.checked_sub(self.len()) {
                Some(inner) => &self.inner[inner as usize],
                None => &self.steps[at as usize],
            };
            if let Some(lagged) = &step.rare.lagged {
                // SAFETY: as above.
                let posts = unsafe { &mut *lagged.posts.get() };
                let new = posts.iter_mut().filter(|(at, _)| *at == UNDATED);
                new.for_each(|(at, _)| *at = position);
            }
        }
    }

    /// Moves what was posted for the block at `position` to the inboxes of a step, or of a loop's members.
    ///
    /// # Safety
    ///
    /// Rule 2: the step is the caller's.
    pub(crate) unsafe fn take_posts(&self, step: &Bound, position: u64) {
        for member in self.members(step) {
            if let Some(lagged) = &member.rare.lagged {
                // SAFETY: the caller's promise.
                self.count_lost(unsafe { lagged.take(&mut *member.own.get(), position) });
            }
        }
    }
}

impl Lagged {
    /// How many found no room.
    ///
    /// # Safety
    ///
    /// As [`Stage::take_posts`].
    unsafe fn take(&self, own: &mut Own, position: u64) -> u64 {
        // SAFETY: the caller's promise.
        let posts = unsafe { &mut *self.posts.get() };
        let mut lost = 0;
        posts.retain(|(at, event)| {
            let is_due = *at <= position;
            if is_due && own.inbox.len() < own.inbox.capacity() {
                own.inbox.push(*event);
                own.has_post = true;
            } else if is_due {
                lost += 1;
            }
            !is_due
        });
        lost
    }
}
