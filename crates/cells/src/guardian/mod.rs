//! The guardian: the process that outlives supervisors. It starts the supervisor and, for it, the cells; it holds what they
//! share, and does nothing else.
//!
//! ```text
//!   guardian ── starts ──▶ supervisor: engine, device, monitor, sockets
//!      │ ▲                     │ requests, replies
//!      │ └─ local socket ──────┤ launch, ended, what is left
//!      └──── starts ──▶ cells ◀┘ rings
//! ```
//!
//! # Who owns what, when
//!
//! | | guardian | supervisor | cell |
//! |---|---|---|---|
//! | the processes | parent of all: it starts, waits, ends | watches and ends cells by descriptors of their processes | none |
//! | rings | the descriptors, as long as the process runs | makes them; has the supervisor's ends while it lives | has the cell's ends |
//! | checkpoints of cells | the memory of the last process of each | makes it, reads it after the process | writes |
//! | checkpoint of the supervisor's own nodes | the memory | writes | none |
//! | what commands have changed ([`ChangeTable`]) | the memory | writes, and reads that of the one before | none |
//! | [`pulse`]: heartbeat, position, figures | looks for hangs | writes | none |
//! | device, control socket, output file | none | owns | none |
//!
//! | the supervisor | cells | the guardian |
//! |---|---|---|
//! | plays | answer requests | looks at its pulse every [`LOOK`] |
//! | has been killed, has crashed | keep their state and wait; what they are asked for no more costs nothing | starts another one, after a back-off |
//! | is stopped, or misses its heartbeat | the same | kills it first: only then its ends of the rings are free |
//! | the next one | are asked again, by rings whose ends it takes over | has sent it all descriptors, then waits |
//! | ends by itself, or by Ctrl-C | are ended by it | ends with its exit code |
//! | any state | end with the guardian | has ended, however: the kernel ends all with it |
//!
//! A render has no deadline and repeats to the bit: after the end of its supervisor it begins anew, cells too.
//!
//! # What is believed
//!
//! The guardian maps no memory that a cell can write. A supervisor that takes a ring over checks its counts; numbers of blocks begin
//! above all of its predecessors', so that no late reply is taken for a new one.

mod guarded;
mod kept;
pub(crate) mod link;
pub(crate) mod pulse;
mod succession;
mod vitals;

pub use kept::ChangeTable;
pub(crate) use succession::{InheritedCell, LivingCell, Predecessor};
pub use succession::{Succession, join_guardian};

use guarded::{GuardedCell, is_over};
use link::{GuardianLink, MessageKind};
use pulse::{Pulse, PulseWord};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vitals::Vitals;

/// Time between two looks.
pub(crate) const LOOK: Duration = Duration::from_millis(10);
/// Starts without a block before it gives up.
const MAX_FAILED_STARTS: u32 = 6;
/// Times that a render begins anew.
const MAX_RENDERS: u32 = 3;
/// Wait before the second new supervisor in a row; it doubles each time.
const FIRST_BACK_OFF: Duration = Duration::from_millis(10);
/// Longest back-off.
const MAX_BACK_OFF: Duration = Duration::from_secs(2);
/// A supervisor that played for so long begins the back-off anew.
const STEADY: Duration = Duration::from_secs(5);
/// Exit code of a program that panicked.
const PANICKED: i32 = 101;

/// Arguments for [`run_guardian`].
pub struct GuardianOptions {
    /// The program, which is started as supervisor and as cell.
    pub program: PathBuf,
    /// Arguments of the supervisor, with the number of this process.
    pub arguments: Vec<OsString>,
    /// It plays with a deadline.
    pub is_live: bool,
    /// The user's request to end.
    pub interrupted: Arc<AtomicBool>,
}

/// Has a supervisor play until it ends by itself, and replaces each that dies or hangs. Returns the exit code; `report` gets
/// lines for the user.
///
/// # Errors
///
/// The system refuses a process, a socket or memory.
///
/// Real-time: waits, for the supervisor.
pub fn run_guardian(options: GuardianOptions, report: &dyn Fn(&str)) -> Result<u8, String> {
    Guardian::new(options)
        .and_then(|mut guardian| guardian.run(report))
        .map_err(|error| format!("the cells are not guarded: {error}"))
}

/// End of a supervisor.
enum SupervisorEnd {
    /// By itself, with this code.
    Exited(u8),
    /// By a signal or a hang.
    Lost(String),
}

/// A supervisor that runs.
struct Supervisor {
    child: Child,
    file: OwnedFd,
    link: GuardianLink,
    vitals: Vitals,
}

struct Guardian {
    options: GuardianOptions,
    cells: Vec<GuardedCell>,
    pulse: Pulse,
    pulse_file: OwnedFd,
    own_state: Option<OwnedFd>,
    /// Log of what commands have changed.
    kept: Option<OwnedFd>,
    /// Supervisors that were lost, in all and in a row, and those of the row that played no block.
    lost: u32,
    lost_in_row: u32,
    failed_starts: u32,
}

impl Guardian {
    fn new(options: GuardianOptions) -> io::Result<Self> {
        let (pulse, pulse_file) = Pulse::create()?;
        Ok(Self {
            options,
            cells: Vec::new(),
            pulse,
            pulse_file,
            own_state: None,
            kept: None,
            lost: 0,
            lost_in_row: 0,
            failed_starts: 0,
        })
    }

    fn run(&mut self, report: &dyn Fn(&str)) -> io::Result<u8> {
        loop {
            let mut supervisor = self.start()?;
            let began = Instant::now();
            let why = match self.watch(&mut supervisor)? {
                SupervisorEnd::Exited(code) => return Ok(code),
                SupervisorEnd::Lost(why) => why,
            };
            drop(supervisor);
            report(&format!("the supervisor: {why}"));
            if self.is_interrupted() {
                return Ok(1);
            }
            self.count_lost(began);
            if !self.may_go_on(report) {
                return Ok(1);
            }
            self.await_back_off();
        }
    }

    fn is_interrupted(&self) -> bool {
        // Relaxed: no data travels with it.
        self.options.interrupted.load(Ordering::Relaxed)
    }

    /// Counts the supervisor that began then and was lost.
    fn count_lost(&mut self, began: Instant) {
        let has_played = self.pulse.get(PulseWord::Blocks) > 0;
        if has_played && began.elapsed() > STEADY {
            self.lost_in_row = 0;
        }
        self.lost += 1;
        self.lost_in_row += 1;
        self.failed_starts = match has_played {
            true => 0,
            false => self.failed_starts + 1,
        };
    }

    /// Decides whether there is another supervisor, and what it finds.
    fn may_go_on(&mut self, report: &dyn Fn(&str)) -> bool {
        let is_live = self.options.is_live;
        let has_failed = match is_live {
            true => self.failed_starts >= MAX_FAILED_STARTS,
            false => self.lost > MAX_RENDERS,
        };
        if has_failed {
            report("the supervisor failed too often");
            return false;
        }
        if !is_live {
            // The same bits come again, so nothing is lost but time.
            self.cells.clear();
            self.own_state = None;
            self.kept = None;
            report("the render begins anew");
        }
        true
    }

    fn await_back_off(&self) {
        let wait = match self.lost_in_row {
            0 | 1 => Duration::ZERO,
            n => (FIRST_BACK_OFF * (1 << (n - 2).min(10))).min(MAX_BACK_OFF),
        };
        let begin = Instant::now();
        while begin.elapsed() < wait && !self.is_interrupted() {
            std::thread::sleep(LOOK.min(wait));
        }
    }

    /// Starts a supervisor and sends it what the one before has left.
    fn start(&mut self) -> io::Result<Supervisor> {
        // Those that have not come up begin anew: nobody knows what they have said.
        for cell in self.cells.iter_mut().filter(|it| !it.has_come_up) {
            cell.end();
        }
        for word in [
            PulseWord::Blocks,
            PulseWord::First,
            PulseWord::Period,
            PulseWord::Inside,
        ] {
            self.pulse.set(word, 0);
        }
        let (link, other) = GuardianLink::pair()?;
        self.leave(&link)?;
        let options = &self.options;
        let mut command = Command::new(&options.program);
        command.args(&options.arguments);
        // Ctrl-C is for this process, which passes it on once.
        command.process_group(0);
        command.stdin(Stdio::from(other.into_file()));
        let child = command.spawn()?;
        let file = open_process(&child)?;
        Ok(Supervisor {
            child,
            file,
            link,
            vitals: Vitals::new(),
        })
    }

    /// Sends all that a supervisor needs at its begin.
    fn leave(&self, link: &GuardianLink) -> io::Result<()> {
        for cell in &self.cells {
            let [requests, replies, state] = &cell.shared;
            let is_alive = !cell.has_ended && !is_over(&cell.file);
            let process = if is_alive { cell.child.id() } else { 0 };
            // 0 for none.
            let latency = cell.latency.map_or(0, |it| it.saturating_add(1));
            let numbers = [cell.index, cell.start, u64::from(process), latency];
            let files: &[&OwnedFd] = match is_alive {
                true => &[state, &cell.file, requests, replies],
                false => &[state],
            };
            let files: Vec<BorrowedFd<'_>> = files.iter().map(|it| it.as_fd()).collect();
            link.send(MessageKind::Cell, &numbers, &[], &files)?;
        }
        let numbers = [
            u64::from(self.lost),
            u64::from(self.lost_in_row),
            u64::from(self.own_state.is_some()),
            u64::from(self.kept.is_some()),
        ];
        let files: Vec<BorrowedFd<'_>> = std::iter::once(&self.pulse_file)
            .chain(&self.own_state)
            .chain(&self.kept)
            .map(AsFd::as_fd)
            .collect();
        link.send(MessageKind::Begin, &numbers, &[], &files)
    }

    /// Serves a supervisor until its end.
    fn watch(&mut self, supervisor: &mut Supervisor) -> io::Result<SupervisorEnd> {
        let mut has_passed_on = false;
        loop {
            self.wait(supervisor);
            if let Some(status) = supervisor.child.try_wait()? {
                return Ok(match status.code() {
                    Some(code) if code != PANICKED => SupervisorEnd::Exited(code as u8),
                    _ => SupervisorEnd::Lost(format!("it has ended: {status}")),
                });
            }
            while let Ok(Some(message)) = supervisor.link.receive(Duration::ZERO) {
                self.answer(message, &supervisor.link);
            }
            self.tell_ended(&supervisor.link);
            if self.is_interrupted() && !std::mem::replace(&mut has_passed_on, true) {
                let _ = pidfd_send_signal(&supervisor.file, Signal::INT);
            }
            if self.options.is_live
                && let Some(why) = supervisor.vitals.look(&self.pulse, supervisor.child.id())
            {
                supervisor.child.kill()?;
                supervisor.child.wait()?;
                return Ok(SupervisorEnd::Lost(why.to_owned()));
            }
        }
    }

    /// Waits until something happens, for [`LOOK`] at most.
    fn wait(&self, supervisor: &Supervisor) {
        let cells = self.cells.iter().filter(|it| !it.has_ended);
        let files = cells.map(|it| &it.file).chain([&supervisor.file]);
        let files = files.map(AsFd::as_fd).chain([supervisor.link.as_fd()]);
        let wait = |file| PollFd::from_borrowed_fd(file, PollFlags::IN);
        let mut all: Vec<PollFd<'_>> = files.map(wait).collect();
        let limit = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(LOOK.subsec_nanos()),
        };
        // A signal, or the limit: the caller looks at everything.
        let _ = poll(&mut all, Some(&limit));
        let is_closed = |it: &PollFd<'_>| it.revents().contains(PollFlags::HUP);
        if all.last().is_some_and(is_closed) {
            // The link is closed a little before the process has ended.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A descriptor of a process that was not waited for, so that its number is its own.
fn open_process(child: &Child) -> io::Result<OwnedFd> {
    let pid = Pid::from_child(child);
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// The status of a process, as the guardian tells it.
pub(crate) fn exit_status(told: u64) -> ExitStatus {
    ExitStatus::from_raw(told as u32 as i32)
}
