//! [`RingError`]: a ring could not be made or opened. [`ChunkError`]: a chunk could not be borrowed.

use std::{fmt, io};

/// Why a ring was not made, or an end of it not taken.
#[derive(Debug)]
#[non_exhaustive]
pub enum RingError {
    /// No frames, no channels, or items without a size: ask for at least one of each.
    ZeroSize,
    /// More bytes than an address can count: ask for fewer frames or channels.
    TooLarge {
        /// Frames that were asked for.
        frames: usize,
        /// Items per frame.
        channels: usize,
        /// Bytes per item.
        item: usize,
    },
    /// The memory is not there: ask for less, or free some.
    Memory {
        /// Bytes that were asked for.
        bytes: usize,
        /// Error of the system.
        source: io::Error,
    },
    /// The addresses, in a row, are not free: ask for less.
    Addresses {
        /// Addresses that were asked for, about twice the memory.
        bytes: usize,
        /// Error of the system.
        source: io::Error,
    },
    /// No huge pages are set aside: `sysctl vm.nr_hugepages=N` sets N of 2 MB aside.
    HugePages {
        /// Bytes that were asked for.
        bytes: usize,
        /// Error of the system.
        source: io::Error,
    },
    /// The descriptor is not of a ring, or of a ring with other items: the reason.
    Incompatible(&'static str),
    /// This end was taken already: a ring has one producer and one consumer.
    Taken,
    /// The system cannot hand a ring to another process.
    Unsupported,
    /// The system refused something else.
    System(io::Error),
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroSize => write!(f, "a ring has at least one frame, one channel, one byte"),
            Self::TooLarge {
                frames,
                channels,
                item,
            } => write!(
                f,
                "a ring of {frames} frames with {channels} items of {item} bytes is larger than memory can be"
            ),
            Self::Memory { bytes, .. } => write!(f, "no {bytes} bytes of memory for a ring"),
            Self::Addresses { bytes, .. } => {
                write!(f, "no {bytes} free addresses in a row for a ring")
            }
            Self::HugePages { bytes, .. } => write!(
                f,
                "no huge pages for {bytes} bytes (`sysctl vm.nr_hugepages={}` sets them aside)",
                bytes.div_ceil(2 << 20)
            ),
            Self::Incompatible(reason) => {
                write!(f, "this is not the ring that was expected: {reason}")
            }
            Self::Taken => write!(f, "this end of the ring is taken"),
            Self::Unsupported => write!(f, "this system hands no memory to another process"),
            Self::System(_) => write!(f, "the system refused a ring"),
        }
    }
}

impl std::error::Error for RingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Memory { source, .. }
            | Self::Addresses { source, .. }
            | Self::HugePages { source, .. }
            | Self::System(source) => Some(source),
            _ => None,
        }
    }
}

/// Why there is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkError {
    /// There are fewer frames than asked for. Ask again later, or wait.
    TooFewFrames {
        /// Number of frames that there are now.
        available: usize,
    },
    /// The other end has closed. A consumer can still read the frames that are left; nobody reads what a producer
    /// writes.
    Closed {
        /// Number of frames that a consumer can still read; 0 for a producer.
        left: usize,
    },
    /// The process of the other end is gone without having closed.
    PeerDead {
        /// Number of frames that a consumer can still read; 0 for a producer.
        left: usize,
    },
    /// More frames than the capacity: they will never be there at once.
    ExceedsCapacity {
        /// Frames that were asked for.
        asked: usize,
        /// Capacity in frames.
        capacity: usize,
    },
    /// The other end's count is out of range: stop using the ring.
    Corrupt,
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewFrames { available } => write!(f, "only {available} frames yet"),
            Self::Closed { left } => write!(f, "the other end has closed, {left} frames are left"),
            Self::PeerDead { left } => {
                write!(f, "the other process is gone, {left} frames are left")
            }
            Self::ExceedsCapacity { asked, capacity } => {
                write!(f, "{asked} frames of a ring that has {capacity}")
            }
            Self::Corrupt => write!(f, "the other end's count is out of range"),
        }
    }
}

impl std::error::Error for ChunkError {}
