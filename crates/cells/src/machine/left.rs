//! Groups and clock rates that supervisors have left which ended without undoing them.

use super::MachineFiles;
use super::grant::PREFIX;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Attempts to remove a group, whose last process the kernel may still hold, and the time between two.
const MAX_REMOVALS: u32 = 50;
const REMOVAL_INTERVAL: Duration = Duration::from_millis(2);

impl MachineFiles {
    /// Takes a process out of the groups of supervisors that have ended, and removes these: their cores are not free before.
    pub(super) fn leave_groups(&self, parent: &Path, process: u32) {
        let process = process.to_string();
        for group in self.left_in(parent) {
            let there = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            if there.lines().any(|it| it.trim() == process) {
                let _ = fs::write(parent.join("cgroup.procs"), &process);
                remove_group(&group);
            } else if there.trim().is_empty() {
                let _ = remove_folder(&group);
            }
        }
    }

    /// Undoes what supervisors that have ended left. Gives a line for each.
    ///
    /// Real-time: setup.
    pub fn clean(&self) -> Vec<String> {
        let mut done = Vec::new();
        for folder in ["sys/fs/cgroup", "sys/fs/cgroup/cpuset", "sys/fs/resctrl"] {
            for group in self.left(folder) {
                if remove_folder(&group).is_ok() {
                    done.push(format!(
                        "removed {}, which a supervisor that has ended left",
                        group.display()
                    ));
                }
            }
        }
        for note in self.left("run") {
            let text = fs::read_to_string(&note).unwrap_or_default();
            for (rate, file) in text.lines().filter_map(|line| line.split_once(' ')) {
                // Others may have written the note: it names clock rates of cores alone.
                let is_rate = Path::new(file).starts_with(self.path("sys/devices/system/cpu"))
                    && file.ends_with("/cpufreq/scaling_max_freq")
                    && !file.contains("..");
                if is_rate && rate.parse::<u64>().is_ok() && fs::write(file, rate).is_ok() {
                    done.push(format!(
                        "set {file} to {rate} again, which a supervisor that has ended had changed"
                    ));
                }
            }
            let _ = fs::remove_file(&note);
        }
        done
    }

    /// Files that supervisors that have ended left in `folder`.
    fn left(&self, folder: &str) -> Vec<PathBuf> {
        self.left_in(&self.path(folder))
    }

    fn left_in(&self, folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_left = |path: &PathBuf| {
            let name = path.file_name().and_then(|it| it.to_str());
            let rest = name.and_then(|it| it.strip_prefix(PREFIX));
            let owner = rest.and_then(|it| it.split('-').next()?.parse::<u32>().ok());
            owner.is_some_and(|it| !self.path(&format!("proc/{it}")).exists())
        };
        paths.filter(is_left).collect()
    }
}

/// Removes a group. The kernel removes its files with it.
#[cfg(not(test))]
fn remove_folder(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}

/// The same in a folder that stands for the machine.
#[cfg(test)]
fn remove_folder(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}

pub(super) fn remove_group(path: &Path) {
    for _ in 0..MAX_REMOVALS {
        match remove_folder(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(REMOVAL_INTERVAL)
            }
            _ => return,
        }
    }
}
