//! [`Partition`] of an impulse response: a head that is convolved directly, then levels of ever larger partitions.
//!
//! A level of size M transforms the last 2M input frames once in M frames. The time from the moment when a level's input is
//! complete to the moment when its output is first needed is its [slack](Level::slack). With blocks of B frames, a level that
//! starts at frame M - B of the response has none: it runs inside the callback. One that starts at 2M - B has a whole period,
//! and can be computed beside the callback (Gardner 1995, section 2.3). With one block of latency both starts are B less.
//!
//! ```text
//!            0        448                1984     4032
//!  block 64  7 x 64   6 x 256            2 x 1024 7 x 2048
//!            slack 0  256 - (256 - 64)   ...      each a period
//! ```

mod error;
mod level;

pub use error::PartitionError;
pub use level::Level;

use std::fmt;

/// Smallest size of a level: what is shorter belongs to the head.
pub const MIN_PARTITION_SIZE: usize = 16;
/// Largest size of a level.
pub const MAX_PARTITION_SIZE: usize = 1 << 20;
/// Largest internal block.
pub const MAX_BLOCK: usize = 4096;
/// Frames of the longest impulse response.
pub const MAX_IR_FRAMES: usize = 1 << 26;

/// Latency from input to output, beyond the callback itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddedLatency {
    /// No latency.
    #[default]
    None,
    /// One internal block: even the first level then has a whole period.
    OneBlock,
}

/// A direct head, then levels of partitions. Valid by construction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partition {
    block: usize,
    latency: AddedLatency,
    head: usize,
    levels: Vec<Level>,
}

impl Partition {
    /// Makes a direct head of `head` frames (0: none), then levels of (size, count), one behind the other.
    ///
    /// # Errors
    ///
    /// The block or a size is out of range, sizes do not grow, or a level has neither no slack nor a whole period.
    ///
    /// Real-time: setup.
    pub fn new(
        block: usize,
        latency: AddedLatency,
        head: usize,
        levels: &[(usize, usize)],
    ) -> Result<Self, PartitionError> {
        if !block.is_power_of_two() || block > MAX_BLOCK {
            return Err(PartitionError::Block(block));
        }
        if head == 0 && levels.is_empty() {
            return Err(PartitionError::Nothing);
        }
        let mut partition = Self {
            block,
            latency,
            head,
            levels: Vec::with_capacity(levels.len()),
        };
        for &(size, count) in levels {
            partition.add(size, count)?;
        }
        if partition.max_ir_frames() > MAX_IR_FRAMES {
            return Err(PartitionError::Long(partition.max_ir_frames()));
        }
        Ok(partition)
    }

    fn add(&mut self, size: usize, count: usize) -> Result<(), PartitionError> {
        if !size.is_power_of_two() || !(MIN_PARTITION_SIZE..=MAX_PARTITION_SIZE).contains(&size) {
            return Err(PartitionError::Size(size));
        }
        if size < self.block {
            let block = self.block;
            return Err(PartitionError::BelowBlock { size, block });
        }
        if count == 0 {
            return Err(PartitionError::Empty(size));
        }
        let before = self.levels.last().map_or(0, Level::size);
        if size <= before {
            return Err(PartitionError::Order { before, size });
        }
        let start = self.max_ir_frames();
        if count > MAX_IR_FRAMES / size || start > MAX_IR_FRAMES {
            return Err(PartitionError::Long(
                start.saturating_add(size.saturating_mul(count)),
            ));
        }
        let slack = self.slack(size, start)?;
        self.levels.push(Level {
            size,
            count,
            start,
            slack,
        });
        Ok(())
    }

    fn slack(&self, size: usize, start: usize) -> Result<usize, PartitionError> {
        if !start.is_multiple_of(self.block) {
            let block = self.block;
            return Err(PartitionError::Grid { start, block });
        }
        let slack = (start + self.lead()).checked_sub(size);
        // With a block of latency a first level of the block's size starts at 0 and still has a whole period.
        slack
            .filter(|slack| *slack == 0 || *slack >= size)
            .ok_or(PartitionError::Start {
                size,
                start,
                callback_start: size.saturating_sub(self.lead()),
                min_start: Self::min_start(self.block, self.latency, size),
            })
    }

    /// First frame at which a level of `size` can start and have a whole period: 2M - B, or 2M - 2B with a block of latency.
    pub fn min_start(block: usize, latency: AddedLatency, size: usize) -> usize {
        (2 * size).saturating_sub(lead(block, latency))
    }

    /// A head only: direct convolution.
    ///
    /// # Errors
    ///
    /// The block or the length is out of range.
    pub fn direct(block: usize, length: usize) -> Result<Self, PartitionError> {
        Self::new(block, AddedLatency::None, length.max(1), &[])
    }

    /// One level, of the block's size: uniform partitioned convolution. With blocks below 16 frames there is a head too.
    ///
    /// # Errors
    ///
    /// The block or the length is out of range.
    pub fn uniform(
        block: usize,
        latency: AddedLatency,
        length: usize,
    ) -> Result<Self, PartitionError> {
        let size = block.max(MIN_PARTITION_SIZE);
        let head = size.saturating_sub(lead(block, latency));
        let count = length.saturating_sub(head).div_ceil(size);
        if count == 0 {
            return Self::new(block, latency, length.max(1), &[]);
        }
        Self::new(block, latency, head, &[(size, count)])
    }

    /// A good partition for a machine of which nothing is known: each level is four times as large as the one before, with as
    /// few partitions as the next one's start allows.
    ///
    /// # Errors
    ///
    /// The block or the length is out of range.
    pub fn typical(
        block: usize,
        latency: AddedLatency,
        length: usize,
    ) -> Result<Self, PartitionError> {
        /// Number of partitions above which a larger size pays for its transforms.
        const MANY: usize = 10;
        let start = |size| Self::min_start(block, latency, size);
        let first = block.max(64);
        // With small blocks a head fills the gap to the first level with a whole period; else the first level runs in the callback.
        let head = if block < first { start(first) } else { 0 };
        if length <= head.max(MIN_PARTITION_SIZE) {
            return Self::new(block, latency, length.max(1), &[]);
        }
        let (mut levels, mut size, mut at) = (Vec::new(), first, head);
        while at < length {
            let rest = (length - at).div_ceil(size);
            let next = 4 * size;
            let up_to_next = start(next).saturating_sub(at).div_ceil(size);
            let is_last = rest <= MANY.max(up_to_next) || next > MAX_PARTITION_SIZE;
            let count = if is_last { rest } else { up_to_next };
            levels.push((size, count));
            at += size * count;
            size = next;
        }
        Self::new(block, latency, head, &levels)
    }

    /// Parses a partition: `7x64 6x256`, or with a head `31 + 4x16`.
    ///
    /// # Errors
    ///
    /// The text has another form, or says a partition that [`new`](Self::new) refuses.
    pub fn parse(block: usize, latency: AddedLatency, text: &str) -> Result<Self, PartitionError> {
        let wrong = || PartitionError::Text(text.chars().take(80).collect());
        let (head, rest) = match text.split_once('+') {
            Some((head, rest)) => (head.trim().parse().map_err(|_| wrong())?, rest),
            None => match text.trim().parse() {
                Ok(head) => (head, ""),
                Err(_) => (0, text),
            },
        };
        let level = |word: &str| {
            let (count, size) = word.split_once('x')?;
            Some((size.parse().ok()?, count.parse().ok()?))
        };
        let levels: Option<Vec<_>> = rest.split_whitespace().map(level).collect();
        Self::new(block, latency, head, &levels.ok_or_else(wrong)?)
    }

    /// Frames of the internal block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Added latency.
    pub fn latency(&self) -> AddedLatency {
        self.latency
    }

    /// Added latency in frames.
    pub fn latency_frames(&self) -> usize {
        self.lead() - self.block
    }

    /// Frames that are convolved directly, from the start; 0 for none.
    pub fn head(&self) -> usize {
        self.head
    }

    /// The levels, from small to large.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Frames of an impulse response that it covers.
    pub fn max_ir_frames(&self) -> usize {
        self.levels.last().map_or(self.head, Level::end)
    }

    /// Frames from the beginning of a callback's output to the end of its input.
    pub(crate) fn lead(&self) -> usize {
        lead(self.block, self.latency)
    }
}

fn lead(block: usize, latency: AddedLatency) -> usize {
    match latency {
        AddedLatency::None => block,
        AddedLatency::OneBlock => 2 * block,
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels = self
            .levels
            .iter()
            .map(|l| format!("{}x{}", l.count, l.size));
        let levels = levels.collect::<Vec<_>>().join(" ");
        match (self.head, levels.is_empty()) {
            (0, _) => f.write_str(&levels),
            (head, true) => write!(f, "{head}"),
            (head, false) => write!(f, "{head} + {levels}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(partition: &Partition) -> Vec<(usize, usize)> {
        let levels = partition.levels().iter();
        levels.map(|l| (l.start(), l.slack())).collect()
    }

    #[test]
    fn levels_without_latency_start_two_sizes_less_a_block_behind() {
        let text = "7x64 6x256 2x1024 7x2048";
        let partition = Partition::parse(64, AddedLatency::None, text).unwrap();
        let expected = [(0, 0), (448, 256), (1984, 1024), (4032, 2048)];
        assert_eq!(starts(&partition), expected);
        assert_eq!(
            (partition.max_ir_frames(), partition.latency_frames()),
            (18368, 0)
        );
        assert_eq!(partition.to_string(), text);
    }

    #[test]
    fn with_a_block_of_latency_the_classic_partitions_are_valid() {
        let doubling = "2x128 2x256 2x512 2x1024 2x2048 2x4096";
        for text in [doubling, "14x128 14x1024"] {
            let partition = Partition::parse(128, AddedLatency::OneBlock, text).unwrap();
            assert_eq!(partition.max_ir_frames(), 16128);
            assert!(partition.levels().iter().all(|l| l.slack() == l.size()));
        }
    }

    #[test]
    fn invalid_partitions_are_refused_with_the_reason() {
        use PartitionError as E;
        let new =
            |block, head, levels: &[_]| Partition::new(block, AddedLatency::None, head, levels);
        assert_eq!(new(48, 0, &[(64, 1)]), Err(E::Block(48)));
        assert_eq!(new(8, 8, &[(8, 1)]), Err(E::Size(8)));
        let (size, block) = (32, 64);
        assert_eq!(new(64, 0, &[(32, 1)]), Err(E::BelowBlock { size, block }));
        assert_eq!(new(64, 0, &[(64, 0)]), Err(E::Empty(64)));
        let (before, size) = (64, 64);
        assert_eq!(
            new(64, 0, &[(64, 3), (64, 1)]),
            Err(E::Order { before, size })
        );
        assert_eq!(new(64, 0, &[]), Err(E::Nothing));
        let (start, block) = (30, 4);
        assert_eq!(new(4, 30, &[(16, 1)]), Err(E::Grid { start, block }));
        let late = E::Start {
            size: 256,
            start: 64,
            callback_start: 192,
            min_start: 448,
        };
        assert_eq!(new(64, 0, &[(64, 1), (256, 1)]), Err(late));
        assert!(matches!(new(64, 0, &[(64, usize::MAX)]), Err(E::Long(_))));
        assert!(matches!(
            Partition::parse(64, AddedLatency::None, "7y64"),
            Err(E::Text(_))
        ));
    }

    #[test]
    fn there_is_a_partition_for_any_length_and_block() {
        for block in (0..=12).map(|bits| 1 << bits) {
            for latency in [AddedLatency::None, AddedLatency::OneBlock] {
                for length in
                    (0..=20).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1])
                {
                    for make in [Partition::typical, Partition::uniform] {
                        let partition = make(block, latency, length).unwrap();
                        assert!(
                            partition.max_ir_frames() >= length,
                            "{block} {length}: {partition}"
                        );
                        let again = partition.to_string();
                        assert_eq!(Partition::parse(block, latency, &again).unwrap(), partition);
                    }
                }
            }
        }
    }
}
