//! [`RingError`]: a ring could not be made or opened. [`ChunkError`]: a chunk could not be borrowed.

use std::io;

/// A ring that was not made, or an end of it that was not taken, with the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// No frames, no channels, or items without a size: ask for at least one of each.
    #[error("a ring has at least one frame, one channel, one byte")]
    ZeroSize,
    /// More bytes than an address can count: ask for fewer frames or channels.
    #[error(
        "a ring of {frames} frames with {channels} items of {item} bytes is larger than memory can be"
    )]
    TooLarge {
        /// Frames that were asked for.
        frames: usize,
        /// Items per frame.
        channels: usize,
        /// Bytes per item.
        item: usize,
    },
    /// The memory is not there: ask for less, or free some.
    #[error("no {bytes} bytes of memory for a ring")]
    Memory {
        /// Bytes that were asked for.
        bytes: usize,
        /// Error of the system.
        source: io::Error,
    },
    /// The addresses, in a row, are not free: ask for less.
    #[error("no {bytes} free addresses in a row for a ring")]
    Addresses {
        /// Addresses that were asked for, about twice the memory.
        bytes: usize,
        /// Error of the system.
        source: io::Error,
    },
    /// No huge pages are set aside: `sysctl vm.nr_hugepages=N` sets N of 2 MB aside.
    #[error("no huge pages for {bytes} bytes (`sysctl vm.nr_hugepages={}` sets them aside)", .bytes.div_ceil(2 << 20))]
    HugePages {
        /// Bytes that were asked for.
        bytes: usize,
        /// Error of the system.
        source: io::Error,
    },
    /// The descriptor is not of a ring, or of a ring with other items: the reason.
    #[error("this is not the ring that was expected: {0}")]
    Incompatible(&'static str),
    /// This end was taken already: a ring has one producer and one consumer.
    #[error("this end of the ring is taken")]
    Taken,
    /// The system cannot hand a ring to another process.
    #[error("this system hands no memory to another process")]
    Unsupported,
    /// The system refused something else.
    #[error("the system refused a ring")]
    System(#[source] io::Error),
}

/// Reason for which there is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// There are fewer frames than asked for. Ask again later, or wait.
    #[error("only {available} frames yet")]
    TooFewFrames {
        /// Number of frames that there are now.
        available: usize,
    },
    /// The other end has closed. A consumer can still read the frames that are left; nobody reads what a producer
    /// writes.
    #[error("the other end has closed, {left} frames are left")]
    Closed {
        /// Number of frames that a consumer can still read; 0 for a producer.
        left: usize,
    },
    /// The process of the other end is gone without having closed.
    #[error("the other process is gone, {left} frames are left")]
    PeerDead {
        /// Number of frames that a consumer can still read; 0 for a producer.
        left: usize,
    },
    /// More frames than the capacity: they will never be there at once.
    #[error("{asked} frames of a ring that has {capacity}")]
    ExceedsCapacity {
        /// Frames that were asked for.
        asked: usize,
        /// Capacity in frames.
        capacity: usize,
    },
    /// The other end's count is out of range: stop using the ring.
    #[error("the other end's count is out of range")]
    Corrupt,
}
