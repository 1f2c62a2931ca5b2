//! The filters of a line, and the cross-fade from one set to another.

use super::filters::FilterSet;

/// Filters that are in use, and those that take their place or had it.
///
/// ```text
///              exchange              end_fade            take_retired
///   current ───────────▶ current ───────────▶ current ────────────▶ current
///                        next                 retired
/// ```
pub(super) struct ActiveFilters {
    current: FilterSet,
    next: Option<Fade>,
    /// Filters that are no longer in use.
    retired: Option<FilterSet>,
}

/// A cross-fade under way.
pub(super) struct Fade {
    pub(super) filters: FilterSet,
    /// Frames of it that have passed.
    pub(super) frame: usize,
}

/// Set that is in use, and how far a cross-fade to the other one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilterPhase {
    /// The set that the line was made with.
    pub(super) is_original: bool,
    /// Frames of the cross-fade that have passed.
    pub(super) fade: Option<usize>,
}

impl ActiveFilters {
    pub(super) fn new(current: FilterSet) -> Self {
        Self {
            current,
            next: None,
            retired: None,
        }
    }

    /// Filters in use.
    pub(super) fn current(&self) -> &FilterSet {
        &self.current
    }

    /// Cross-fade under way, if any.
    pub(super) fn fade(&self) -> Option<&Fade> {
        self.next.as_ref()
    }

    /// Returns true if a cross-fade is under way.
    pub(super) fn is_fading(&self) -> bool {
        self.next.is_some()
    }

    /// Returns true if a cross-fade can begin.
    pub(super) fn can_exchange(&self) -> bool {
        self.next.is_none() && self.retired.is_none()
    }

    /// Begins a cross-fade to `filters` with the next period.
    pub(super) fn exchange(&mut self, filters: FilterSet) {
        self.next = Some(Fade { filters, frame: 0 });
    }

    /// Takes the filters that a cross-fade has replaced, once it has ended.
    pub(super) fn take_retired(&mut self) -> Option<FilterSet> {
        self.retired.take()
    }

    /// Counts `frames` of a cross-fade of `fade_frames`, and ends it behind the last one.
    pub(super) fn advance(&mut self, frames: usize, fade_frames: usize) {
        let Some(fade) = &mut self.next else { return };
        fade.frame += frames;
        if fade.frame >= fade_frames
            && let Some(fade) = self.next.take()
        {
            self.retired = Some(std::mem::replace(&mut self.current, fade.filters));
        }
    }

    /// Filters that are in use, and how far a cross-fade is.
    pub(super) fn phase(&self) -> FilterPhase {
        FilterPhase {
            is_original: self.current.is_original(),
            fade: self.next.as_ref().map(|fade| fade.frame),
        }
    }

    /// Has these filters in use, and a cross-fade to the others so far. The set that is not in use comes in `spare`, or is left there;
    /// without one nothing changes.
    pub(super) fn set_phase(&mut self, phase: FilterPhase, spare: &mut Option<FilterSet>) {
        let coming = self.next.take().map(|fade| fade.filters);
        let other = coming.or_else(|| self.retired.take());
        let Some(mut other) = other.or_else(|| spare.take()) else {
            return;
        };
        if self.current.is_original() != phase.is_original {
            std::mem::swap(&mut self.current, &mut other);
        }
        match phase.fade {
            Some(frame) => {
                let filters = other;
                self.next = Some(Fade { filters, frame });
            }
            None => *spare = Some(other),
        }
    }

    /// Returns to the filters that the line was made with, at once. There are two sets in all: the other
    /// one comes in `spare` or is left there, unless the line keeps it.
    pub(super) fn restart(&mut self, spare: &mut Option<FilterSet>) {
        let coming = self.next.take().map(|fade| fade.filters);
        let kept = coming.or_else(|| self.retired.take());
        if let Some(set) = kept.or_else(|| spare.take()) {
            *spare = Some(match set.is_original() {
                true => std::mem::replace(&mut self.current, set),
                false => set,
            });
        }
    }
}

/// Blends `new` into `old`, from frame `at` of a fade over `fade_frames` frames of `width` samples. The two gains are linear
/// and sum to one.
///
/// Real-time: hot.
pub(crate) fn blend(old: &mut [f32], new: &[f32], at: usize, fade_frames: usize, width: usize) {
    let frames = old.chunks_exact_mut(width).zip(new.chunks_exact(width));
    for ((old, new), at) in frames.zip(at + 1..) {
        let gain = if at < fade_frames {
            at as f32 / fade_frames as f32
        } else {
            1.0
        };
        for (old, new) in old.iter_mut().zip(new) {
            *old = *old * (1.0 - gain) + *new * gain;
        }
    }
}
