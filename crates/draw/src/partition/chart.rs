//! The data of a chart of partitions.

/// Partitions of an impulse response to compare, and the deadlines of one of them. Positions are in frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionChart {
    /// The title.
    pub title: String,
    /// A line below the title. May be empty.
    pub note: String,
    /// Length of the impulse response.
    pub length: u64,
    /// Frames in a block.
    pub block: u64,
    /// Frames in a second; with 0, times are shown in frames only.
    pub rate_hz: u32,
    /// The partitions from top to bottom; the first 12 are drawn.
    pub rows: Vec<PartitionRow>,
    /// Index of the row whose deadlines are drawn; none if there is no such row.
    pub deadlines_of: Option<usize>,
}

/// One partition of the impulse response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionRow {
    /// Its name.
    pub name: String,
    /// Text after the name. May be empty.
    pub note: String,
    /// Its levels, from the shortest parts to the longest; the first 32 are drawn.
    pub levels: Vec<PartitionLevel>,
}

/// One level: parts of one size, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionLevel {
    /// Its first frame in the impulse response.
    pub start: u64,
    /// Frames in each part, and frames between two deadlines.
    pub size: u64,
    /// Number of parts.
    pub count: u64,
    /// True if all of its work is done inside one callback: it is due at once.
    pub in_callback: bool,
}

impl PartitionLevel {
    /// The first frame after it.
    pub(super) fn end(self) -> u64 {
        let length = self.size.saturating_mul(self.count);
        self.start.saturating_add(length)
    }

    pub(super) fn tooltip(self) -> String {
        format!(
            "{} partitions of {} frames\nframes {} to {}",
            self.count,
            self.size,
            self.start,
            self.end()
        )
    }
}
