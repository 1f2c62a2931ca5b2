//! [`RingMemory`]: the memory of a ring, as both ends of one process hold it.

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use super::header::Header;
use super::layout::RingLayout;
use super::mapping::Mapping;
use crate::fence::AsymmetricFence;
use crate::wake::kernel::WordWait;

/// The memory of a ring, mapped, and how its two ends wake each other. It is unmapped after the last end of this
/// process.
pub(super) struct RingMemory {
    pub(super) mapping: Mapping,
    pub(super) layout: RingLayout,
    pub(super) fences: AsymmetricFence,
    pub(super) kernel: WordWait,
    /// Descriptor of the memory, where it can be handed to another process.
    pub(super) file: Option<OwnedFd>,
}

impl RingMemory {
    #[inline]
    pub(super) fn header(&self) -> &Header {
        header(&self.mapping)
    }

    /// Beginning of a channel; twice [`RingLayout::channel`] bytes are good from there on.
    #[inline]
    pub(super) fn channel(&self, channel: usize) -> NonNull<u8> {
        assert!(channel < self.layout.channels, "there is such a channel");
        let offset = self.layout.page + 2 * channel * self.layout.channel();
        // SAFETY: less than the span of the mapping, since there is such a channel.
        unsafe { self.mapping.start().add(offset) }
    }
}

#[inline]
pub(super) fn header(mapping: &Mapping) -> &Header {
    // SAFETY: a mapping begins with a page, which is aligned and large enough; any bits are a header, whose words are
    // all atomic.
    unsafe { mapping.start().cast::<Header>().as_ref() }
}

// The smallest pages are larger; loom's words are too.
#[cfg(not(loom))]
const _: () = assert!(size_of::<Header>() <= 4096 && align_of::<Header>() <= 4096);
