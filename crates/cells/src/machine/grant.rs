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
use crate::policy::Policy;
use crate::section::CellSpec;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Beginning of the names of groups and notes.
const PREFIX: &str = "divisi-";
/// Attempts to remove a group, whose last process the kernel may still hold, and the time between two.
const MAX_REMOVALS: u32 = 50;
const REMOVAL_INTERVAL: Duration = Duration::from_millis(2);

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

    /// Takes a process out of the groups of supervisors that have ended, and removes these: their cores are not free before.
    fn leave_groups(&self, parent: &Path, process: u32) {
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

fn remove_group(path: &Path) {
    for _ in 0..MAX_REMOVALS {
        match remove_folder(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(REMOVAL_INTERVAL)
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine in a folder, with two cores, resctrl and control groups.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str) -> Self {
            let root =
                std::env::temp_dir().join(format!("divisi-grant-{name}-{}", std::process::id()));
            let machine = Self(root);
            machine.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n");
            machine.write(
                "sys/fs/resctrl/schemata",
                "    MB:0=100;1=100\n    L3:0=fff;1=fff\n",
            );
            for core in 0..2 {
                machine.write(
                    &format!("sys/devices/system/cpu/cpu{core}/cpufreq/scaling_max_freq"),
                    "3000000\n",
                );
            }
            machine.write("proc/41/task/41/x", "");
            machine.write("run/x", "");
            machine
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn read(&self, path: &str) -> String {
            fs::read_to_string(self.0.join(path)).unwrap_or_else(|_| panic!("no {path}"))
        }

        fn rate(&self, core: usize) -> String {
            self.read(&format!(
                "sys/devices/system/cpu/cpu{core}/cpufreq/scaling_max_freq"
            ))
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const CELL: &str = "nodes = [\"x\"]\ncores = [1]\npolicy = \"none\"\ncache_ways = 4\nmemory_bandwidth = 50\nmax_mhz = 2000";

    fn spec() -> CellSpec {
        CellSpec::from_text("re verb", CELL).unwrap()
    }

    #[test]
    fn a_cell_has_its_shares_while_it_plays() {
        let here = Machine::new("shares");
        let machine = MachineFiles::below(&here.0);
        let (mut grant, refused) = machine.grant(&spec(), 41);
        assert_eq!(refused, [""; 0]);
        let group = machine.group_name(&spec());
        let cgroup = |file: &str| here.read(&format!("sys/fs/cgroup/{group}/{file}"));
        assert_eq!(
            (&*cgroup("cpuset.cpus"), &*cgroup("cgroup.procs")),
            ("1", "41")
        );
        assert_eq!(cgroup("cpuset.cpus.partition"), "root");
        let schemata = here.read(&format!("sys/fs/resctrl/{group}/schemata"));
        assert_eq!(schemata, "L3:0=f;1=f\nMB:0=50;1=50\n");
        assert_eq!(here.read(&format!("sys/fs/resctrl/{group}/tasks")), "41");
        assert_eq!((&*here.rate(0), &*here.rate(1)), ("3000000\n", "2000000"));
        let moved = CellSpec {
            cores: vec![0],
            ..spec()
        };
        assert_eq!(grant.resize(&machine, &moved), [""; 0]);
        assert_eq!((&*here.rate(0), &*here.rate(1)), ("2000000", "3000000"));
        assert_eq!(cgroup("cpuset.cpus"), "0");
        drop(grant);
        assert_eq!(here.rate(0), "3000000");
        assert_eq!(fs::read_dir(here.0.join("run")).unwrap().count(), 1);
    }

    #[test]
    fn the_cores_of_a_cell_are_free_for_the_next_supervisor_and_after_its_end() {
        let here = Machine::new("cores");
        let mut machine = MachineFiles::below(&here.0);
        machine.owner = 77;
        let (lost, refused) = machine.grant(&spec(), 41);
        assert_eq!(refused, [""; 0]);
        // The supervisor is killed: its cell plays on.
        std::mem::forget(lost);
        let groups = here.0.join("sys/fs/cgroup");
        let old = groups.join(machine.group_name(&spec()));
        machine.owner = 99;
        let (grant, refused) = machine.grant(&spec(), 41);
        assert_eq!(refused, [""; 0]);
        assert!(!old.exists(), "it holds the core of the cell");
        // Taken out before the group went: the kernel keeps one that is not empty.
        assert_eq!(here.read("sys/fs/cgroup/cgroup.procs"), "41");
        let new = groups.join(machine.group_name(&spec()));
        let read = |file: &str| fs::read_to_string(new.join(file)).unwrap();
        let facts = ["cpuset.cpus", "cgroup.procs", "cpuset.cpus.partition"].map(read);
        assert_eq!(facts, ["1", "41", "root"]);
        drop(grant);
        assert!(!new.exists(), "it stays after the end");
    }

    #[test]
    fn what_the_machine_lacks_is_refused_with_the_fix() {
        let machine = MachineFiles::below(Path::new("/nowhere"));
        let (_, refused) = machine.grant(&spec(), 41);
        for part in ["CONFIG_CPUSETS", "mount -t resctrl", "cpufreq"] {
            assert!(refused.iter().any(|it| it.contains(part)), "{refused:?}");
        }
        let plain = CellSpec::from_text("a", "nodes = [\"x\"]\ncores = [1]").unwrap();
        assert_eq!(machine.grant(&plain, 41).1, [""; 0], "nothing is asked for");
    }

    #[test]
    fn the_next_supervisor_undoes_what_a_dead_one_left() {
        let here = Machine::new("crash");
        let mut machine = MachineFiles::below(&here.0);
        machine.owner = 77;
        let (grant, _) = machine.grant(&spec(), 41);
        std::mem::forget(grant);
        // A folder of the kernel is removed with its files.
        let group = machine.group_name(&spec());
        for folder in ["sys/fs/cgroup", "sys/fs/resctrl"] {
            fs::remove_dir_all(here.0.join(folder).join(&group)).unwrap();
            fs::create_dir(here.0.join(folder).join(&group)).unwrap();
        }
        here.write("run/divisi-78-evil", "5 /etc/passwd\nx y\n1 /\n");
        machine.owner = 99;
        here.write("proc/77/stat", "");
        machine.clean();
        assert_eq!(here.rate(1), "2000000", "it still lives");
        fs::remove_dir_all(here.0.join("proc/77")).unwrap();
        let done = machine.clean();
        assert_eq!(done.len(), 3, "{done:?}");
        assert_eq!(here.rate(1), "3000000");
        assert!(!here.0.join("sys/fs/cgroup").join(&group).exists());
        assert!(machine.clean().is_empty());
    }
}
