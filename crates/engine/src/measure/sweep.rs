//! Caches as another program leaves them: full of what is of no use here.

use std::hint::black_box;
use std::path::Path;

/// Where the system says nothing: more than most second-level caches have.
const USUAL: usize = 2 << 20;
/// The largest that is believed.
const MOST: usize = 32 << 20;
/// The bytes of one line of cache.
const LINE: usize = 64;

/// A buffer twice as large as the second-level cache. Code that is read through that cache is swept with it; a third
/// level, which cores share, is not.
pub(crate) struct Sweep(Vec<u64>);

impl Sweep {
    /// For this machine.
    pub(crate) fn new() -> Self {
        let bytes = 2 * second_level();
        // Ones: zeroed memory may be one page, seen again and again.
        Self(vec![1; bytes / size_of::<u64>()])
    }

    /// How much it reads.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len() * size_of::<u64>()
    }

    /// Reads a word of every line.
    pub(crate) fn pollute(&self) {
        let words = self.0.iter().step_by(LINE / size_of::<u64>());
        black_box(words.fold(0_u64, |sum, word| sum.wrapping_add(*word)));
    }
}

/// What the system says that the second-level cache holds, in bytes.
fn second_level() -> usize {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let size = (0..8).find_map(|index| {
        let read =
            |what: &str| std::fs::read_to_string(folder.join(format!("index{index}/{what}")));
        let is_second = read("level").ok()?.trim() == "2";
        is_second.then(|| bytes(&read("size").ok()?)).flatten()
    });
    size.unwrap_or(USUAL).clamp(1 << 16, MOST)
}

/// As `2048K` is meant.
fn bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.trim_end_matches(['K', 'M']);
    let unit = match &text[digits.len()..] {
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => 1,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_system_writes_them() {
        assert_eq!(bytes("2048K\n"), Some(2 << 20));
        assert_eq!(bytes("1M"), Some(1 << 20));
        assert_eq!(bytes("64"), Some(64));
        assert_eq!(bytes("much"), None);
    }

    #[test]
    fn a_sweep_is_larger_than_the_cache() {
        let sweep = Sweep::new();
        assert!(sweep.bytes() >= 2 * second_level());
        sweep.pollute();
    }
}
