//! [`RingLayout`]: sizes and offsets in a ring's memory.
//!
//! ```text
//!   memory   │ header │ channel 0 │ channel 1 │ …            one page, then whole pages per channel
//!   mapped   │ header │ channel 0 │ channel 0 │ channel 1 │ channel 1 │ …
//! ```

use super::RingError;

/// The sizes of a ring, checked against overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingLayout {
    pub(super) frames: usize,
    pub(super) channels: usize,
    /// Bytes per item.
    pub(super) item: usize,
    /// Bytes per page.
    pub(super) page: usize,
}

impl RingLayout {
    /// The layout for at least `frames` frames, rounded up to whole pages.
    pub(super) fn new(
        frames: usize,
        channels: usize,
        item: usize,
        page: usize,
    ) -> Result<Self, RingError> {
        if frames == 0 || channels == 0 || item == 0 {
            return Err(RingError::ZeroSize);
        }
        // The smallest number of items that fills whole pages.
        let group = page / units::gcd(page as u128, item as u128) as usize;
        let too_large = RingError::TooLarge {
            frames,
            channels,
            item,
        };
        let Some(frames) = frames.checked_next_multiple_of(group) else {
            return Err(too_large);
        };
        let layout = Self {
            frames,
            channels,
            item,
            page,
        };
        match layout.checked_span() {
            Some(span) if isize::try_from(span).is_ok() => Ok(layout),
            _ => Err(too_large),
        }
    }

    fn checked_span(&self) -> Option<usize> {
        let channel = self.frames.checked_mul(self.item)?;
        let channels = channel.checked_mul(2)?.checked_mul(self.channels)?;
        channels.checked_add(2 * self.page)
    }

    /// Bytes per channel.
    pub(super) fn channel(&self) -> usize {
        self.frames * self.item
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.page + self.channels * self.channel()
    }

    /// Bytes of addresses that the mapping takes: each channel twice.
    pub(super) fn span(&self) -> usize {
        self.page + 2 * self.channels * self.channel()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{RingError, RingLayout};

    #[test]
    fn sizes_are_rounded_up_to_pages() {
        let frames = |frames, item| RingLayout::new(frames, 2, item, 4096).unwrap().frames;
        assert_eq!(
            [frames(1, 1), frames(4097, 1), frames(1, 4)],
            [4096, 8192, 1024]
        );
        assert_eq!(frames(1, 12), 1024, "three pages");
        let layout = RingLayout::new(1, 3, 4, 4096).unwrap();
        assert_eq!((layout.memory(), layout.span()), (4 * 4096, 7 * 4096));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_numbers() {
        assert!(matches!(
            RingLayout::new(0, 1, 1, 4096),
            Err(RingError::ZeroSize)
        ));
        assert!(matches!(
            RingLayout::new(1, 0, 1, 4096),
            Err(RingError::ZeroSize)
        ));
        assert!(matches!(
            RingLayout::new(1, 1, 0, 4096),
            Err(RingError::ZeroSize)
        ));
        for frames in [usize::MAX, usize::MAX / 4, usize::MAX / 16 + 1] {
            let refused = RingLayout::new(frames, 2, 4, 4096).unwrap_err().to_string();
            assert!(refused.contains(&frames.to_string()), "{refused}");
        }
    }
}
