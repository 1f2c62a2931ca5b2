//! Other impulse responses while it plays: prepared elsewhere, faded in, taken back.
//!
//! Everything that takes time or memory is done by a [`Preparer`] on a thread that may wait. The convolver is handed the
//! result as a box, fades to it, and hands back another with what is no longer heard, to be dropped elsewhere.
//!
//! The two sets share the spectra of what was heard before, so that the new responses have their full sound from the
//! first frame; gains are linear and sum to one, so that responses that are alike pass into each other without a dip
//! or a bump. Each level begins with its next period: the head and short levels at once, long ones as late as their
//! period has it. An exchange that comes during another waits until that is over; of several that wait the last counts.
//!
//! A convolver that becomes as new hears at once what it was made with: each set, of responses to be heard and not to be
//! heard, goes to its place where its line is, and with the line's next period where somebody else works on it. Nothing of
//! that is heard, since everything before is forgotten.

use crate::head::{Head, HeadSet};
use crate::ir_set::{IrSet, Scaled};
use crate::line::Line;
use crate::recipe::{ConvolverError, Path, Recipe};
use std::sync::Arc;

/// Impulse responses for every path of one convolver, ready to be heard; or those that were.
pub struct Exchange {
    recipe: Arc<Recipe>,
    pub(crate) head: Option<HeadSet>,
    pub(crate) sets: Box<[Option<IrSet>]>,
}

impl Exchange {
    pub(crate) fn new(
        recipe: Arc<Recipe>,
        head: Option<HeadSet>,
        sets: Box<[Option<IrSet>]>,
    ) -> Self {
        Self { recipe, head, sets }
    }

    pub(crate) fn is_for(&self, recipe: &Arc<Recipe>) -> bool {
        Arc::ptr_eq(&self.recipe, recipe)
    }
}

/// Prepares exchanges for one convolver, on any thread.
#[derive(Clone)]
pub struct Preparer(pub(crate) Arc<Recipe>);

impl Preparer {
    /// Gets an impulse response for each path ready, in the order of the paths that the convolver was made with; where
    /// from and where to are as they were.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    ///
    /// Real-time: setup.
    pub fn prepare(&self, paths: &[Path]) -> Result<Box<Exchange>, ConvolverError> {
        self.0.press(&scaled(paths))
    }
}

pub(crate) fn scaled(paths: &[Path]) -> Vec<Scaled> {
    let scaled = |path: &Path| Scaled {
        frames: path.ir.clone(),
        gain: path.gain,
    };
    paths.iter().map(scaled).collect()
}

/// The convolver's end: which exchange is under way.
#[derive(Default)]
pub(crate) struct Exchanges {
    active: Option<Box<Exchange>>,
    /// How many parts of the active one have not come back.
    left: usize,
    pending: Option<Box<Exchange>>,
    over: Option<Box<Exchange>>,
    /// What was not made with the convolver, after that became as new.
    kept: Option<Box<Exchange>>,
}

impl Exchanges {
    /// Gives the one that will never be heard because of this one.
    ///
    /// Real-time: hot.
    pub(crate) fn put(&mut self, next: Box<Exchange>) -> Option<Box<Exchange>> {
        self.pending.replace(next)
    }

    /// Real-time: hot.
    pub(crate) fn take_over(&mut self) -> Option<Box<Exchange>> {
        self.over.take()
    }

    /// Real-time: hot.
    pub(crate) fn is_busy(&self) -> bool {
        self.active.is_some() || self.pending.is_some()
    }

    /// Once a block: ends what is done, begins what waits. Gives the new head when it is time for it.
    ///
    /// Real-time: hot.
    pub(crate) fn turn(&mut self, lines: &mut [Line]) -> Option<HeadSet> {
        if self.active.is_some() && self.left == 0 && self.over.is_none() {
            self.over = self.active.take();
        }
        if self.active.is_some() || self.pending.is_none() {
            return None;
        }
        self.active = self.pending.take();
        self.left = lines.len() + 1;
        lines.iter_mut().for_each(|line| line.is_offered = false);
        self.active.as_mut()?.head.take()
    }

    /// A line's job is here.
    ///
    /// Real-time: hot.
    pub(crate) fn meet(&mut self, index: usize, line: &mut Line) {
        let Some(work) = line.work.get() else { return };
        if std::mem::take(&mut line.is_strange) {
            let there = self.kept.as_mut().or(self.active.as_mut());
            if let Some(there) = there.or(self.pending.as_mut()) {
                work.restart(&mut there.sets[index]);
            }
        }
        let Some(active) = &mut self.active else {
            return;
        };
        if let Some(old) = work.take_retired() {
            active.sets[index] = Some(old);
            self.left -= 1;
        } else if !line.is_offered && work.may_exchange() {
            if let Some(next) = active.sets[index].take() {
                work.exchange(next);
            }
            line.is_offered = true;
        }
    }

    /// Everything hears what it was made with. There is one exchange at most, `back` or here; it is kept.
    ///
    /// Real-time: hot.
    pub(crate) fn restart(
        &mut self,
        back: Option<Box<Exchange>>,
        head: &mut Head,
        lines: &mut [Line],
    ) {
        let here = [&mut self.active, &mut self.pending, &mut self.over].map(Option::take);
        let all = [back, self.kept.take()].into_iter().chain(here).flatten();
        for mut one in all {
            debug_assert!(self.kept.is_none(), "there is one exchange");
            head.restart(&mut one.head);
            for (set, line) in one.sets.iter_mut().zip(&mut *lines) {
                match line.work.get() {
                    Some(work) => work.restart(set),
                    None => line.is_strange = true,
                }
            }
            self.kept = Some(one);
        }
    }

    /// Fades to what was kept; whether there is any.
    ///
    /// Real-time: hot.
    pub(crate) fn again(&mut self) -> bool {
        if self.kept.is_some() {
            self.pending = self.kept.take();
        }
        self.pending.is_some()
    }

    /// The head's fade is over.
    ///
    /// Real-time: hot.
    pub(crate) fn head_is_over(&mut self, old: HeadSet) {
        if let Some(active) = &mut self.active {
            active.head = Some(old);
            self.left -= 1;
        }
    }
}
