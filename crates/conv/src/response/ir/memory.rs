//! Free memory, as the system reports it.

use std::fs::read_to_string;

/// Bytes that this process can allocate without swapping; `None` if the system does not report it.
///
/// Real-time: waits, on files of the kernel.
pub(crate) fn free() -> Option<u64> {
    let machine = read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(available);
    let group = |name| read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let group = left(group("memory.max"), group("memory.current"));
    machine.into_iter().chain(group).min()
}

/// Available bytes by `/proc/meminfo`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Bytes below a container's limit; `None` if it has none.
fn left(limit: Option<String>, used: Option<String>) -> Option<u64> {
    let number = |text: Option<String>| text?.trim().parse::<u64>().ok();
    Some(number(limit)?.saturating_sub(number(used)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_files_are_read() {
        let meminfo = "MemTotal:  16 kB\nMemFree:  1 kB\nMemAvailable:    12 kB\n";
        assert_eq!(available(meminfo), Some(12 * 1024));
        assert_eq!(available("MemTotal: 16 kB"), None);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(left(text("100\n"), text("30\n")), Some(70));
        assert_eq!(left(text("max\n"), text("30\n")), None);
        assert_eq!(left(None, text("30\n")), None);
    }
}
