//! [`Grant`]: what the machine gives to one cell that plays, until it is dropped.
//!
//! | asked by | file | undone by |
//! |---|---|---|
//! | policy `none` | a cpuset, from which other programs are kept where the kernel has partitions | its removal |
//! | `cache_ways`, `memory_bandwidth` | a group of resctrl | its removal |
//! | `max_mhz` | `scaling_max_freq` of its cores | the rate from before, kept in a note in `/run` |
//!
//! A supervisor that has ended without undoing it has left groups and a note with its number. The next one finds them.

use super::MachineFiles;
use super::left::remove_group;
use crate::policy::Policy;
use crate::section::CellSpec;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Beginning of the names of groups and notes.
pub(super) const PREFIX: &str = "divisi-";
/// Shares of the machine that one cell has.
#[derive(Debug, Default)]
pub(crate) struct Grant {
    cpuset: Option<PathBuf>,
    resctrl: Option<PathBuf>,
    /// Files of clock rates, and the rates from before.
    rates: Vec<(PathBuf, String)>,
    note: Option<PathBuf>,
}

impl Drop for Grant {
    fn drop(&mut self) {
        for group in self.cpuset.take().into_iter().chain(self.resctrl.take()) {
            remove_group(&group);
        }
        self.restore_rates();
    }
}

impl Grant {
    fn restore_rates(&mut self) {
        for (file, rate) in self.rates.drain(..) {
            let _ = fs::write(file, rate);
        }
        if let Some(note) = self.note.take() {
            let _ = fs::remove_file(note);
        }
    }

    /// Keeps the cell on other cores.
    pub(crate) fn resize(&mut self, machine: &MachineFiles, spec: &CellSpec) -> Vec<String> {
        let mut refused = Vec::new();
        if let Some(group) = &self.cpuset
            && let Err(error) = fs::write(group.join("cpuset.cpus"), list(&spec.cores))
        {
            refused.push(format!("its cpuset stays as it was: {error}"));
        }
        // What was refused at the start is told, and no reason to stay.
        let has_limits = !self.rates.is_empty();
        self.restore_rates();
        if has_limits {
            refused.extend(machine.limit_rates(spec, self).err());
        }
        refused
    }
}

impl MachineFiles {
    /// Asks the machine for what `spec` needs for `process`. Gives what was refused, with the fix.
    pub(crate) fn grant(&self, spec: &CellSpec, process: u32) -> (Grant, Vec<String>) {
        let (mut grant, mut refused) = (Grant::default(), Vec::new());
        if spec.policy == Policy::Exclusive {
            refused.extend(self.make_cpuset(spec, process, &mut grant).err());
        }
        if spec.shares.is_in_group() {
            refused.extend(self.make_resctrl(spec, process, &mut grant).err());
        }
        refused.extend(self.limit_rates(spec, &mut grant).err());
        (grant, refused)
    }

    fn group_name(&self, spec: &CellSpec) -> String {
        // A name may hold anything.
        let letters = spec.name.chars().filter(char::is_ascii_alphanumeric);
        let letters: String = letters.take(40).collect();
        let mut cores = list(&spec.cores).replace(',', "_");
        cores.truncate(100);
        format!("{PREFIX}{}-{letters}-{cores}", self.owner)
    }

    fn make_cpuset(&self, spec: &CellSpec, process: u32, grant: &mut Grant) -> Result<(), String> {
        let (unified, older) = (
            self.path("sys/fs/cgroup"),
            self.path("sys/fs/cgroup/cpuset"),
        );
        let is_unified = fs::read_to_string(unified.join("cgroup.controllers"))
            .is_ok_and(|it| it.split_whitespace().any(|it| it == "cpuset"));
        let parent = match (is_unified, older.join("cgroup.procs").exists()) {
            (true, _) => unified,
            (false, true) => older,
            _ => {
                return Err("no cpuset: the system has no such control groups: use a kernel with CONFIG_CPUSETS; its affinity holds, other programs may still run on its cores".to_owned());
            }
        };
        let group = parent.join(self.group_name(spec));
        let make = |grant: &mut Grant| -> io::Result<()> {
            if is_unified {
                fs::write(parent.join("cgroup.subtree_control"), "+cpuset")?;
            }
            self.leave_groups(&parent, process);
            make_folder(&group)?;
            grant.cpuset = Some(group.clone());
            if !is_unified {
                let memory = fs::read_to_string(parent.join("cpuset.mems"))?;
                fs::write(group.join("cpuset.mems"), memory)?;
            }
            fs::write(group.join("cpuset.cpus"), list(&spec.cores))?;
            fs::write(group.join("cgroup.procs"), process.to_string())
        };
        let fix = "start divisi as root, or in a control group that is delegated to you; its affinity holds meanwhile";
        make(grant).map_err(|error| format!("no cpuset: {error}: {fix}"))?;
        let alone = match is_unified {
            true => fs::write(group.join("cpuset.cpus.partition"), "root"),
            false => fs::write(group.join("cpuset.cpu_exclusive"), "1"),
        };
        alone.map_err(|error| format!("its cpuset is not its alone: {error}: name cores that no other cpuset has; other programs may still run on them"))
    }

    fn make_resctrl(&self, spec: &CellSpec, process: u32, grant: &mut Grant) -> Result<(), String> {
        let parent = self.path("sys/fs/resctrl");
        let fix = "use a processor with cache or bandwidth allocation, and mount it: mount -t resctrl resctrl /sys/fs/resctrl";
        let schemata = fs::read_to_string(parent.join("schemata"))
            .map_err(|error| format!("no shares of cache or bandwidth: {error}: {fix}"))?;
        let mut lines = String::new();
        if let Some(ways) = spec.shares.cache_ways {
            lines += &schema_line(&schemata, "L3", &|mask| {
                let all = u64::from_str_radix(mask, 16).ok()?;
                let ways = u64::from(ways).min(u64::from(all.count_ones()));
                Some(format!("{:x}", (1_u64 << ways) - 1))
            })
            .ok_or_else(|| format!("no share of the cache: its ways cannot be divided: {fix}"))?;
        }
        if let Some(percent) = spec.shares.bandwidth_percent {
            lines +=
                &schema_line(&schemata, "MB", &|_| Some(percent.to_string())).ok_or_else(|| {
                    format!(
                        "no share of the memory bandwidth: this processor does not divide it: {fix}"
                    )
                })?;
        }
        let group = parent.join(self.group_name(spec));
        let make = |grant: &mut Grant| -> io::Result<()> {
            make_folder(&group)?;
            grant.resctrl = Some(group.clone());
            fs::write(group.join("schemata"), lines)?;
            for thread in self.threads(process)? {
                fs::write(group.join("tasks"), thread)?;
            }
            Ok(())
        };
        make(grant).map_err(|error| {
            format!("no shares of cache or bandwidth: {error}: start divisi as root")
        })
    }

    /// Numbers of the threads of `process`.
    fn threads(&self, process: u32) -> io::Result<Vec<String>> {
        let tasks = fs::read_dir(self.path(&format!("proc/{process}/task")))?;
        let names = tasks.map(|task| Ok(task?.file_name().to_string_lossy().into_owned()));
        names.collect()
    }

    fn limit_rates(&self, spec: &CellSpec, grant: &mut Grant) -> Result<(), String> {
        let Some(mhz) = spec.shares.max_mhz else {
            return Ok(());
        };
        if spec.cores.is_empty() {
            return Err("no limit of the clock rate: `max_mhz` needs `cores`".to_owned());
        }
        let fix = "use a machine with cpufreq, and start divisi as root";
        let refused = |error: io::Error| format!("no limit of the clock rate: {error}: {fix}");
        let file = |core: &usize| {
            self.path(&format!(
                "sys/devices/system/cpu/cpu{core}/cpufreq/scaling_max_freq"
            ))
        };
        let mut before = Vec::new();
        for core in &spec.cores {
            let rate = fs::read_to_string(file(core)).map_err(refused)?;
            before.push((file(core), rate.trim().to_owned()));
        }
        let note = self.path("run").join(self.group_name(spec));
        let lines = before
            .iter()
            .map(|(file, rate)| format!("{rate} {}\n", file.display()));
        // First the note: from the first rate on there is something to undo.
        fs::write(&note, lines.collect::<String>()).map_err(refused)?;
        grant.note = Some(note);
        for (file, rate) in before {
            fs::write(&file, (u64::from(mhz) * 1000).to_string()).map_err(refused)?;
            grant.rates.push((file, rate));
        }
        Ok(())
    }
}

/// A line of `schemata` for a resource, with `value` of what each of its parts has: `L3:0=ff;1=ff`.
fn schema_line(
    schemata: &str,
    resource: &str,
    value: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let line = schemata
        .lines()
        .find_map(|line| line.trim().strip_prefix(resource)?.strip_prefix(':'))?;
    let parts = line.split(';').map(|part| {
        let (id, now) = part.split_once('=')?;
        Some(format!("{id}={}", value(now.trim())?))
    });
    let parts: Option<Vec<String>> = parts.collect();
    Some(format!("{resource}:{}\n", parts?.join(";")))
}

fn list(cores: &[usize]) -> String {
    let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
    cores.join(",")
}

fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        // Of the process before this one, whose end the kernel has not seen yet.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests;
