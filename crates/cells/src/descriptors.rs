//! Descriptors that were left open when a program was started, as the kernel tells.
//!
//! All that a program of ours opens is closed by `exec`. So what is not has come from the one that started it.

use std::fs;
use std::io;

/// Flag of a descriptor that `exec` closes: all that this program opens has it.
const CLOSED_BY_EXEC: u32 = 0o2_000_000;

/// Descriptors that were left open when the program was started.
pub(crate) fn left_open() -> io::Result<Vec<u32>> {
    let mut left = Vec::new();
    for entry in fs::read_dir("/proc/self/fdinfo")? {
        let entry = entry?;
        let Some(number) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        // The folder's own has gone when it is looked at, or is closed by `exec`.
        let facts = fs::read_to_string(entry.path()).unwrap_or_default();
        let flags = facts.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|it| u32::from_str_radix(it.trim(), 8).ok());
        if number > 2 && flags.is_some_and(|flags| flags & CLOSED_BY_EXEC == 0) {
            left.push(number);
        }
    }
    Ok(left)
}
