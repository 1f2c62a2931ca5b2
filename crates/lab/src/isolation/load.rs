//! The neighbour of the application: a process that sorts for as long as it lives.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Attempts to remove a control group, and the time between two.
const MAX_REMOVALS: u32 = 200;
const REMOVAL_INTERVAL: Duration = Duration::from_millis(5);

/// What runs beside the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Nothing.
    Alone,
    /// Nothing, once more: what two equal runs differ by.
    Control,
    /// Sorting threads in a cell with the last core, one for each of its cores.
    Cell,
    /// Sorting threads of an ordinary process, one for each core of the machine.
    Process,
    /// The same process in a control group of its own, as a container has.
    Container,
}

impl Load {
    /// All of them, in the order of a round.
    pub const ALL: [Self; 5] = [
        Self::Alone,
        Self::Cell,
        Self::Process,
        Self::Container,
        Self::Control,
    ];

    /// Its name in the table and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Control => "control",
            Self::Cell => "cell",
            Self::Process => "process",
            Self::Container => "container",
        }
    }

    /// The load of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// A load that runs; it ends when this is dropped.
pub(super) struct RunningLoad {
    child: Option<Child>,
    groups: Vec<ControlGroup>,
    /// Refusals of the system.
    pub(super) refused: Vec<String>,
}

impl RunningLoad {
    /// Starts `load` as a process of `program`.
    ///
    /// # Errors
    ///
    /// The system refuses, for example a control group.
    pub(super) fn start(program: &Path, load: Load) -> io::Result<Self> {
        let mut running = Self {
            child: None,
            groups: Vec::new(),
            refused: Vec::new(),
        };
        if matches!(load, Load::Alone | Load::Control) {
            return Ok(running);
        }
        if load == Load::Container {
            running.groups = ControlGroup::all()?;
        }
        let child = command(program, load.name()).spawn()?;
        let child = running.child.insert(child);
        for group in &running.groups {
            group.take(child.id())?;
        }
        running.refused = read_refused(child);
        Ok(running)
    }
}

impl Drop for RunningLoad {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        // Its group can be removed only now.
        self.groups.clear();
    }
}

/// The command of a process of this experiment.
pub(super) fn command(program: &Path, role: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["isolation-peer", role, "--parent"]);
    command.arg(std::process::id().to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Line after the last one that a process of this experiment prints.
pub(super) const END_OF_REFUSED: &str = ".";

/// Reads what the system has refused to `child`, which prints it before it begins.
pub(super) fn read_refused(child: &mut Child) -> Vec<String> {
    let Some(output) = child.stdout.take() else {
        return Vec::new();
    };
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    lines.take_while(|line| line != END_OF_REFUSED).collect()
}

/// Hierarchies of control groups: one for all controllers, or, on older systems, one for each.
const HIERARCHIES: [&str; 3] = [
    "/sys/fs/cgroup",
    "/sys/fs/cgroup/cpu",
    "/sys/fs/cgroup/memory",
];

/// A control group of this experiment, removed when this is dropped.
struct ControlGroup(PathBuf);

impl ControlGroup {
    /// A group in each hierarchy that takes one.
    ///
    /// # Errors
    ///
    /// No hierarchy takes one: why the first one did not.
    fn all() -> io::Result<Vec<Self>> {
        let mut first = None;
        let groups = HIERARCHIES.iter().filter_map(|root| {
            let group = Self::new(Path::new(root));
            group
                .map_err(|error| first.get_or_insert(error).kind())
                .ok()
        });
        let groups: Vec<Self> = groups.collect();
        match first {
            Some(error) if groups.is_empty() => Err(error),
            _ => Ok(groups),
        }
    }

    fn new(root: &Path) -> io::Result<Self> {
        let refused = |error: io::Error| {
            let fix = "run it as root, or in a container that delegates its control group";
            io::Error::new(
                error.kind(),
                format!("no control group in {}: {error}: {fix}", root.display()),
            )
        };
        // The kernel makes this file in a control group; elsewhere a folder would be an ordinary one.
        std::fs::metadata(root.join("cgroup.procs")).map_err(refused)?;
        let name = root.join(format!("divisi-isolation-{}", std::process::id()));
        std::fs::create_dir(&name).map_err(refused)?;
        Ok(Self(name))
    }

    fn take(&self, process: u32) -> io::Result<()> {
        std::fs::write(self.0.join("cgroup.procs"), process.to_string())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // The kernel may hold the group for some time after its last process was waited for.
        for _ in 0..MAX_REMOVALS {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(REMOVAL_INTERVAL);
        }
    }
}
