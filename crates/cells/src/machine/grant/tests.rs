//! Shares of the machine, on files that stand for it.

use super::*;

/// A machine in a folder, with two cores, resctrl and control groups.
struct Machine(PathBuf);

impl Machine {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("divisi-grant-{name}-{}", std::process::id()));
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
