//! [`CacheSweep`]: evicts this core's second-level cache, so that the next measurement starts with a cold cache.
//!
//! Measurements of costs use it (of nodes in `engine`, of convolution levels in `conv`): between two cycles of a live
//! graph other programs use the caches too, so a cost that is measured with warm caches alone is too low.

use std::hint::black_box;
use std::path::Path;

/// Assumed size of a second-level cache if the system does not report it, in bytes: larger than most.
const DEFAULT_BYTES: usize = 2 << 20;
/// Smallest and largest plausible size, in bytes.
const MIN_BYTES: usize = 64 << 10;
const MAX_BYTES: usize = 64 << 20;
/// Words in a cache line of 64 bytes.
const WORDS_PER_LINE: usize = 64 / size_of::<u64>();

/// A buffer twice as large as the second-level cache. Code that was read through that cache is evicted with the data; a
/// third level, which cores share, is not swept.
pub struct CacheSweep(Vec<u64>);

impl Default for CacheSweep {
    fn default() -> Self {
        Self::new()
    }
}

impl CacheSweep {
    /// A buffer for this machine.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        // Ones: zeroed memory may be one page that is mapped again and again.
        Self(vec![1; 2 * second_level_bytes() / size_of::<u64>()])
    }

    /// Size of the buffer in bytes.
    pub fn bytes(&self) -> usize {
        self.0.len() * size_of::<u64>()
    }

    /// Reads a word of every line: the cache is full of clean lines then.
    pub fn read(&self) {
        let words = self.0.iter().step_by(WORDS_PER_LINE);
        black_box(words.fold(0_u64, |sum, word| sum.wrapping_add(*word)));
    }

    /// Changes a word of every line: the cache is full of dirty lines then, which cost a write when they are evicted.
    pub fn write(&mut self) {
        for word in self.0.iter_mut().step_by(WORDS_PER_LINE) {
            *word = word.wrapping_mul(3).wrapping_add(1);
        }
        black_box(&mut self.0);
    }
}

/// Size of the second-level cache as Linux reports it, in bytes.
fn second_level_bytes() -> usize {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let reported = (0..8).find_map(|index| {
        let read =
            |name: &str| std::fs::read_to_string(folder.join(format!("index{index}/{name}"))).ok();
        let is_second = read("level")?.trim() == "2";
        is_second.then(|| parse_bytes(&read("size")?)).flatten()
    });
    reported
        .unwrap_or(DEFAULT_BYTES)
        .clamp(MIN_BYTES, MAX_BYTES)
}

/// Number of bytes in a text such as `2048K`.
fn parse_bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.trim_end_matches(['K', 'M']);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_system_writes_them() {
        assert_eq!(parse_bytes("2048K\n"), Some(2 << 20));
        assert_eq!(parse_bytes("1M"), Some(1 << 20));
        assert_eq!(parse_bytes("64"), Some(64));
        for wrong in ["much", "K", "99999999999999999999K"] {
            assert_eq!(parse_bytes(wrong), None);
        }
    }

    #[test]
    fn the_buffer_is_twice_the_cache_and_every_line_is_touched() {
        let mut sweep = CacheSweep::new();
        assert_eq!(sweep.bytes(), 2 * second_level_bytes());
        sweep.read();
        sweep.write();
        assert_eq!((sweep.0[0], sweep.0[1], sweep.0[WORDS_PER_LINE]), (4, 1, 4));
    }
}
