//! The neighbour of the application: a process that sorts for as long as it lives.

use std::io;
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
    group: Option<ControlGroup>,
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
            group: None,
        };
        if matches!(load, Load::Alone | Load::Control) {
            return Ok(running);
        }
        if load == Load::Container {
            running.group = Some(ControlGroup::new()?);
        }
        let child = command(program, load.name()).spawn()?;
        let process = running.child.insert(child).id();
        if let Some(group) = &running.group {
            group.take(process)?;
        }
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
        drop(self.group.take());
    }
}

/// The command of a process of this experiment.
pub(super) fn command(program: &Path, role: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["isolation-peer", role, "--parent"]);
    command.arg(std::process::id().to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A control group of this experiment, removed when this is dropped.
struct ControlGroup(PathBuf);

impl ControlGroup {
    fn new() -> io::Result<Self> {
        let name = format!("/sys/fs/cgroup/divisi-isolation-{}", std::process::id());
        std::fs::create_dir(&name)?;
        let group = Self(name.into());
        // The kernel makes this file in a control group; elsewhere the folder is an ordinary one.
        std::fs::metadata(group.0.join("cgroup.procs"))?;
        Ok(group)
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
