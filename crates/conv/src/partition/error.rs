//! Reasons why a partition is invalid.

use super::{MAX_BLOCK, MAX_IR_FRAMES, MAX_PARTITION_SIZE, MIN_PARTITION_SIZE};
use std::fmt;

/// Reason why a partition is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartitionError {
    /// The block is no power of two from 1 to 4096: take one that is, and a [`ConvolverAdapter`](crate::ConvolverAdapter) for the host's blocks.
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
    /// Sizes do not grow from level to level.
    Order {
        /// Size of the level before.
        before: usize,
        /// Size that is not larger.
        size: usize,
    },
    /// A level without partitions.
    Empty(usize),
    /// A level starts too early for its output, or has some slack but less than a period.
    Start {
        /// The level's size.
        size: usize,
        /// Its start.
        start: usize,
        /// Start at which it runs in the callback.
        urgent: usize,
        /// First start at which it has a whole period.
        least: usize,
    },
    /// A level's start is no multiple of the block.
    Grid {
        /// Its start.
        start: usize,
        /// The block.
        block: usize,
    },
    /// There is neither a head nor a level.
    Nothing,
    /// It covers more frames than an impulse response may have.
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
