//! Reasons why a partition is invalid.

use super::{MAX_BLOCK, MAX_IR_FRAMES, MAX_PARTITION_SIZE, MIN_PARTITION_SIZE};

/// Reason why a partition is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// The block is no power of two from 1 to 4096: take one that is, and a [`ConvolverAdapter`](crate::ConvolverAdapter) for the host's blocks.
    #[error("a block of {0} is not a power of two from 1 to {MAX_BLOCK}")]
    Block(usize),
    /// A level's size is no power of two, below 16, or too large.
    #[error(
        "a size of {0} is not a power of two from {MIN_PARTITION_SIZE} to {MAX_PARTITION_SIZE}"
    )]
    Size(usize),
    /// A level's size is below the block.
    #[error("a size of {size} is below the block of {block}")]
    BelowBlock {
        /// The level's size.
        size: usize,
        /// The block.
        block: usize,
    },
    /// Sizes do not grow from level to level.
    #[error("a level of {size} after one of {before}: sizes must grow")]
    Order {
        /// Size of the level before.
        before: usize,
        /// Size that is not larger.
        size: usize,
    },
    /// A level without partitions.
    #[error("a level of {0} without partitions")]
    Empty(usize),
    /// A level starts too early for its output, or has some slack but less than a period.
    #[error(
        "a level of {size} cannot start at {start}: at {callback_start} it runs in the callback, from {min_start} on it has a period to itself"
    )]
    Start {
        /// The level's size.
        size: usize,
        /// Its start.
        start: usize,
        /// Start at which it runs in the callback.
        callback_start: usize,
        /// First start at which it has a whole period.
        min_start: usize,
    },
    /// A level's start is no multiple of the block.
    #[error("a level starts at {start}, which is no multiple of the block of {block}")]
    Grid {
        /// Its start.
        start: usize,
        /// The block.
        block: usize,
    },
    /// There is neither a head nor a level.
    #[error("there is neither a head nor a level")]
    Nothing,
    /// It covers more frames than an impulse response may have.
    #[error("{0} frames are more than the {MAX_IR_FRAMES} that can be played")]
    Long(usize),
    /// A text that is not of the form `7x64 6x256`, before which `31 +` may stand for the head.
    #[error("`{0}` is not of the form `7x64 6x256`")]
    Text(String),
}
