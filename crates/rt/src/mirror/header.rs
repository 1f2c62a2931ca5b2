//! [`Header`]: the first page of the memory, with the description of the ring, the two counts and the two bells.

use super::bell::Bell;
use super::layout::RingLayout;
use crate::pad::CachePadded;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The counts and bells of the two ends. Whatever another process writes here is a value of its type.
#[repr(C)]
pub(super) struct Header {
    pub(super) description: Description,
    /// Frames ever committed. The producer stores it.
    pub(super) written: CachePadded<AtomicU64>,
    /// Frames ever released. The consumer stores it.
    pub(super) released: CachePadded<AtomicU64>,
    pub(super) producer: CachePadded<Bell>,
    pub(super) consumer: CachePadded<Bell>,
}

/// The description of a ring, for a process that opens it. Each word is read once.
#[repr(C)]
pub(super) struct Description {
    magic: AtomicU64,
    tag: AtomicU64,
    frames: AtomicU64,
    channels: AtomicU64,
    item: AtomicU64,
    page: AtomicU64,
}

/// "DIVISIR" and the version.
const MAGIC: u64 = u64::from_le_bytes(*b"DIVISIR\x01");

impl Header {
    /// A header of a ring with no frames and no ends.
    pub(super) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            description: Description {
                magic: zero(),
                tag: zero(),
                frames: zero(),
                channels: zero(),
                item: zero(),
                page: zero(),
            },
            written: CachePadded(zero()),
            released: CachePadded(zero()),
            producer: CachePadded(Bell::new()),
            consumer: CachePadded(Bell::new()),
        }
    }
}

impl Description {
    /// Writes the description, before another process has the ring.
    pub(super) fn write(&self, layout: &RingLayout, tag: u64) {
        // Relaxed: the ring is handed over by the system or by an `Arc`, which orders this before it.
        let store = |word: &AtomicU64, value: usize| word.store(value as u64, Ordering::Relaxed);
        store(&self.frames, layout.frames);
        store(&self.channels, layout.channels);
        store(&self.item, layout.item);
        store(&self.page, layout.page);
        self.tag.store(tag, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Relaxed);
    }

    /// Reads what another process claims, if its items are of this tag. Nothing of it is true until it is checked.
    pub(super) fn read(&self, tag: u64) -> Result<Claim, &'static str> {
        // Relaxed: as in `write`.
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed);
        if load(&self.magic) != MAGIC {
            return Err("it does not begin like one of this version");
        }
        if load(&self.tag) != tag {
            return Err("its items are of another type");
        }
        let size = |word| usize::try_from(load(word)).map_err(|_| "its sizes are too large");
        Ok(Claim {
            frames: size(&self.frames)?,
            channels: size(&self.channels)?,
            item: size(&self.item)?,
            page: size(&self.page)?,
        })
    }
}

/// The sizes that a header claims.
pub(super) struct Claim {
    pub(super) frames: usize,
    pub(super) channels: usize,
    pub(super) item: usize,
    pub(super) page: usize,
}
