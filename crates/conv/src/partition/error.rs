//! Why there is no such partition.

use super::{MAX_BLOCK, MAX_IR_FRAMES, MAX_PARTITION_SIZE, MIN_PARTITION_SIZE};
use std::fmt;

/// Why there is no such partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartitionError {
    /// The block is no power of two from 1 to 4096: take one that is, and an adapter for the host's.
    Block(usize),
    /// A level's size is no power of two, below 16, or too large.
    Size(usize),
    /// A level's size is below the block.
    BelowBlock {
        /// The level's size.
        size: usize,
        /// The block.
        block: usize,
    },
    /// Sizes must grow from level to level.
    Order {
        /// The size before.
        before: usize,
        /// The size that is not above it.
        size: usize,
    },
    /// A level without partitions.
    Empty(usize),
    /// A level starts where its output would be too late, or is left without a whole period.
    Start {
        /// The level's size.
        size: usize,
        /// Where it starts.
        start: usize,
        /// The start at which it runs in the callback.
        urgent: usize,
        /// The least start at which it has a whole period.
        least: usize,
    },
    /// A level starts off the block's grid.
    Grid {
        /// Where it starts.
        start: usize,
        /// The block.
        block: usize,
    },
    /// There is neither a head nor a level.
    Nothing,
    /// It reaches further than anything that is played.
    Long(usize),
    /// A text that is not of the form `7x64 6x256`, before which `31 +` may stand for the head.
    Text(String),
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(block) => write!(
                f,
                "a block of {block} is not a power of two from 1 to {MAX_BLOCK}"
            ),
            Self::Size(size) => write!(
                f,
                "a size of {size} is not a power of two from {MIN_PARTITION_SIZE} to {MAX_PARTITION_SIZE}"
            ),
            Self::BelowBlock { size, block } => {
                write!(f, "a size of {size} is below the block of {block}")
            }
            Self::Order { before, size } => {
                write!(
                    f,
                    "a level of {size} after one of {before}: sizes must grow"
                )
            }
            Self::Empty(size) => write!(f, "a level of {size} without partitions"),
            Self::Start {
                size,
                start,
                urgent,
                least,
            } => write!(
                f,
                "a level of {size} cannot start at {start}: at {urgent} it runs in the callback, from {least} on it \
                 has a period to itself"
            ),
            Self::Grid { start, block } => write!(
                f,
                "a level starts at {start}, which is no multiple of the block of {block}"
            ),
            Self::Nothing => write!(f, "there is neither a head nor a level"),
            Self::Long(frames) => write!(
                f,
                "{frames} frames are more than the {MAX_IR_FRAMES} that can be played"
            ),
            Self::Text(text) => write!(f, "`{text}` is not of the form `7x64 6x256`"),
        }
    }
}

impl std::error::Error for PartitionError {}
