//! Fills the second-level cache with something else, so that what runs next finds nothing of its own there.

use std::fs;
use std::hint::black_box;

/// Where the size is not told.
const USUAL: usize = 2 << 20;
/// What a system may tell at most.
const MOST: usize = 64 << 20;
/// Words in a cache line.
const LINE: usize = 8;

/// Memory that has nothing to do with what is measured.
pub(super) struct Sweep(Vec<u64>);

impl Sweep {
    /// Twice as large as the second-level cache.
    pub(super) fn new() -> Self {
        let told = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size");
        let bytes = told.ok().and_then(|text| size(&text)).unwrap_or(USUAL);
        Self(vec![1; 2 * bytes.min(MOST) / 8])
    }

    /// Bytes that are swept.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * 8
    }

    /// Reads and writes every line.
    pub(super) fn run(&mut self) {
        for word in self.0.iter_mut().step_by(LINE) {
            *word = word.wrapping_mul(3).wrapping_add(1);
        }
        black_box(&mut self.0);
    }
}

/// As the system writes it: `2048K`.
fn size(text: &str) -> Option<usize> {
    let text = text.trim();
    let (digits, unit) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => (text.strip_suffix('M')?, 1 << 20),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_system_writes_them() {
        assert_eq!(size("2048K\n"), Some(2 << 20));
        assert_eq!(size("4M"), Some(4 << 20));
        assert_eq!(size("99999999999999999999K"), None);
        assert_eq!(size("K"), None);
        let mut sweep = Sweep::new();
        sweep.run();
        assert_eq!(sweep.0[LINE], 4);
    }
}
