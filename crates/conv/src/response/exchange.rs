//! Exchange of impulse responses while the convolver runs (*filter exchange*, Wefers 2015, chapter 7): prepared on another
//! thread, faded in, taken back.
//!
//! A [`Preparer`] does everything that takes time or memory, on a thread that may wait. The convolver receives the result as
//! a box, fades to it, and returns another box with the old filters, to be dropped elsewhere.
//!
//! ```text
//!   other thread      Preparer::prepare ──▶ Exchange                                    drop
//!                                              │                                         ▲
//!   audio thread               Convolver::exchange ──▶ pending ──▶ active ──▶ retired ── take_retired
//! ```
//!
//! Both sets of filters work on the same input spectra, so the new responses have their full sound from the first frame.
//! Gains are linear and sum to one, so similar responses pass into each other without a dip or a bump. Each level begins its
//! fade with its next period: the head and short levels at once, long levels later. An exchange that comes during another one
//! waits until that has ended; of several that wait only the last counts.
//!
//! A convolver that is reset has its original filters at once. A line whose job is out gets them with
//! its next period, all others at once. The output is the same, since all earlier sound is forgotten.

use crate::convolver::layout::LevelLayout;
use crate::convolver::{ConvolverError, Path};
use crate::direct::{DirectConvolver, HeadFilters};
use crate::level::filters::{FilterSet, FilterTransformer, ScaledIr};
use crate::level::stream::LevelStream;
use std::sync::Arc;

/// Filters for every path of one convolver: new ones, ready for use, or the old ones that they replaced.
pub struct Exchange {
    layout: Arc<LevelLayout>,
    pub(crate) head: Option<HeadFilters>,
    /// One for each delay line; `None` while the line has it.
    pub(crate) sets: Box<[Option<FilterSet>]>,
}

impl Exchange {
    /// Returns true if the exchange was prepared for the convolver with this layout.
    ///
    /// Real-time: hot.
    pub(crate) fn is_for(&self, layout: &Arc<LevelLayout>) -> bool {
        Arc::ptr_eq(&self.layout, layout)
    }
}

/// Prepares exchanges for one convolver, on any thread.
#[derive(Clone)]
pub struct Preparer(pub(crate) Arc<LevelLayout>);

impl Preparer {
    /// Transforms an impulse response for each path, in the order of the paths that the convolver was made with. Inputs and
    /// outputs of `paths` are ignored.
    ///
    /// # Errors
    ///
    /// The number of paths is another one, or a response is empty, too long or not finite.
    ///
    /// Real-time: setup.
    pub fn prepare(&self, paths: &[Path]) -> Result<Box<Exchange>, ConvolverError> {
        let layout = &self.0;
        let ir = |path: &Path| ScaledIr {
            frames: path.ir.clone(),
            gain: path.gain,
        };
        let irs: Vec<ScaledIr> = paths.iter().map(ir).collect();
        layout.check_irs(&irs)?;
        let mut transformer = FilterTransformer::new(&irs);
        let fdls = layout.fdls.iter();
        let sets = fdls.map(|plan| Some(layout.filters(plan, &mut transformer)));
        Ok(Box::new(Exchange {
            sets: sets.collect(),
            head: Some(HeadFilters::new(layout.options.partition.head(), &irs)),
            layout: layout.clone(),
        }))
    }
}

/// The exchanges of a convolver: one waits, one is under way, one has ended.
#[derive(Default)]
pub(crate) struct ExchangeQueue {
    pending: Option<Box<Exchange>>,
    active: Option<Box<Exchange>>,
    /// Filters of the active exchange that have not come back: of the head and of each line.
    missing: usize,
    retired: Option<Box<Exchange>>,
    /// After a reset: the filters that the convolver was not made with.
    kept: Option<Box<Exchange>>,
}

impl ExchangeQueue {
    /// Returns the pending exchange that this one replaces.
    ///
    /// Real-time: hot.
    pub(crate) fn push(&mut self, next: Box<Exchange>) -> Option<Box<Exchange>> {
        self.pending.replace(next)
    }

    /// Takes an exchange that has ended.
    ///
    /// Real-time: hot.
    pub(crate) fn take_retired(&mut self) -> Option<Box<Exchange>> {
        self.retired.take()
    }

    /// Returns true if an exchange waits or is under way.
    ///
    /// Real-time: hot.
    pub(crate) fn is_busy(&self) -> bool {
        self.active.is_some() || self.pending.is_some()
    }

    /// Ends the active exchange if it is complete, and begins the pending one. To be called once a block. Returns the head's
    /// new filters when an exchange begins.
    ///
    /// Real-time: hot.
    pub(crate) fn advance(&mut self, streams: &mut [LevelStream]) -> Option<HeadFilters> {
        if self.active.is_some() && self.missing == 0 && self.retired.is_none() {
            self.retired = self.active.take();
        }
        if self.active.is_some() || self.pending.is_none() {
            return None;
        }
        self.active = self.pending.take();
        self.missing = streams.len() + 1;
        streams
            .iter_mut()
            .for_each(|stream| stream.is_offered = false);
        self.active.as_mut()?.head.take()
    }

    /// Gives a line whose job is not out its new filters, or takes its old ones back.
    ///
    /// Real-time: hot.
    pub(crate) fn offer(&mut self, index: usize, stream: &mut LevelStream) {
        let Some(fdl) = stream.job.get() else { return };
        if std::mem::take(&mut stream.needs_restart) {
            let other = self.kept.as_mut().or(self.active.as_mut());
            if let Some(other) = other.or(self.pending.as_mut()) {
                fdl.restart(&mut other.sets[index]);
            }
        }
        let Some(active) = &mut self.active else {
            return;
        };
        if let Some(old) = fdl.take_retired() {
            active.sets[index] = Some(old);
            self.missing -= 1;
        } else if !stream.is_offered && fdl.can_exchange() {
            if let Some(next) = active.sets[index].take() {
                fdl.exchange(next);
            }
            stream.is_offered = true;
        }
    }

    /// Returns everything to the original filters. There is at most one exchange, in `spare` or here; it is kept.
    ///
    /// Real-time: hot.
    pub(crate) fn restart(
        &mut self,
        spare: Option<Box<Exchange>>,
        head: &mut DirectConvolver,
        streams: &mut [LevelStream],
    ) {
        let queued = [&mut self.active, &mut self.pending, &mut self.retired].map(Option::take);
        let all = [spare, self.kept.take()].into_iter().chain(queued);
        for mut exchange in all.flatten() {
            debug_assert!(self.kept.is_none(), "there is one exchange");
            head.restart(&mut exchange.head);
            for (set, stream) in exchange.sets.iter_mut().zip(&mut *streams) {
                match stream.job.get() {
                    Some(fdl) => fdl.restart(set),
                    None => stream.needs_restart = true,
                }
            }
            self.kept = Some(exchange);
        }
    }

    /// Begins an exchange to the filters that were kept. Returns false if there are none.
    ///
    /// Real-time: hot.
    pub(crate) fn resume_kept(&mut self) -> bool {
        if self.kept.is_some() {
            self.pending = self.kept.take();
        }
        self.pending.is_some()
    }

    /// Takes the head's old filters when its fade has ended.
    ///
    /// Real-time: hot.
    pub(crate) fn head_faded(&mut self, old: HeadFilters) {
        if let Some(active) = &mut self.active {
            active.head = Some(old);
            self.missing -= 1;
        }
    }
}
