//! [`FrameValues`]: the values of the frames of a step, one for all of them where no parameter moves.

use std::ops::Range;

/// The values of some frames.
#[derive(Clone, Copy)]
pub(crate) struct FrameValues<'a, V> {
    all: &'a [V],
    frames: usize,
}

impl<'a, V> FrameValues<'a, V> {
    /// The values of `frames` frames: as many, or one that stands for all.
    pub(crate) fn new(all: &'a [V], frames: usize) -> Self {
        Self { all, frames }
    }

    /// Number of frames.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.frames
    }

    /// The values of all frames, if one stands for all.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn constant(self) -> Option<&'a V> {
        match self.all {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The values of the frames of `range`.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        let frames = range.len();
        let all = match self.all {
            [_] => self.all,
            all => &all[range],
        };
        Self { all, frames }
    }

    /// The values of each frame.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a V> {
        let stride = usize::from(self.all.len() > 1);
        (0..self.frames).map(move |i| &self.all[i * stride])
    }
}
