//! [`CellProcesses`]: starts the processes of cells through the guardian, and hears of their ends. [`Process`]: one of them.

use super::launch::{Launch, LaunchRequest};
use crate::guardian::exit_status;
use crate::guardian::link::{GuardianLink, MessageKind, is_readable};
use crate::machine::Grant;
use crate::policy::enforcer::Enforcer;
use crate::raw;
use crate::status::CellStatus;
use rustix::process::{Signal, pidfd_send_signal};
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use units::Nanos;

/// Longest wait for the guardian to start a process, and for a killed one to end.
const LIMIT: Duration = Duration::from_secs(5);
/// Longest wait for the status of a process that has ended.
const STATUS_LIMIT: Duration = Duration::from_millis(200);
/// Statuses that nobody has asked for yet.
const MAX_ENDED: usize = 1024;

/// The guardian, as starter of processes.
pub(crate) struct CellProcesses {
    link: GuardianLink,
    launch: Launch,
    /// Processes that have ended, with their statuses.
    ended: Vec<(u32, ExitStatus)>,
}

impl CellProcesses {
    pub(crate) fn new(link: GuardianLink, launch: Launch) -> Self {
        let ended = Vec::new();
        Self {
            link,
            launch,
            ended,
        }
    }

    /// Starts a process with these rings, of requests and of replies, and this memory for checkpoints.
    pub(crate) fn start(
        &mut self,
        request: &LaunchRequest<'_>,
        start: u32,
        shared: [BorrowedFd<'_>; 3],
    ) -> Result<Process, String> {
        let mut bytes = Vec::new();
        for argument in (self.launch)(request) {
            bytes.extend(OsStr::as_bytes(&argument));
            bytes.push(0);
        }
        let numbers = [request.index as u64, u64::from(start)];
        let sent = self
            .link
            .send(MessageKind::Launch, &numbers, &bytes, &shared);
        sent.map_err(|error| error.to_string())?;
        let begin = Instant::now();
        while let Some(left) = LIMIT.checked_sub(begin.elapsed()) {
            let message = self.link.receive(left).map_err(|error| error.to_string())?;
            let Some(message) = message else { continue };
            match message.kind {
                MessageKind::Launched => {
                    let file = message.files.into_iter().next();
                    let file = file.ok_or("the guardian sends no descriptor")?;
                    return Ok(Process::new(message.numbers[0] as u32, file));
                }
                MessageKind::Refused => {
                    return Err(String::from_utf8_lossy(&message.bytes).into_owned());
                }
                MessageKind::Ended => self.note_end(message.numbers),
                _ => {}
            }
        }
        Err("the guardian does not answer".to_owned())
    }

    /// Hears of processes that have ended.
    pub(crate) fn look(&mut self, limit: Duration) {
        let mut limit = limit;
        while let Ok(Some(message)) = self.link.receive(limit) {
            if message.kind == MessageKind::Ended {
                self.note_end(message.numbers);
            }
            limit = Duration::ZERO;
        }
    }

    fn note_end(&mut self, [process, status, ..]: [u64; 6]) {
        if self.ended.len() == MAX_ENDED {
            self.ended.remove(0);
        }
        self.ended.push((process as u32, exit_status(status)));
    }

    /// Why a process that has ended has done so.
    pub(crate) fn why(&mut self, process: &Process) -> String {
        let begin = Instant::now();
        loop {
            if let Some(at) = self.ended.iter().position(|it| it.0 == process.id) {
                return format!("it has ended: {}", self.ended.swap_remove(at).1);
            }
            let Some(left) = STATUS_LIMIT.checked_sub(begin.elapsed()) else {
                return "it has ended".to_owned();
            };
            self.look(left);
        }
    }

    /// Tells the guardian about the cell of this index. It may have ended: then so do we.
    pub(crate) fn tell(&self, kind: MessageKind, numbers: &[u64], bytes: &[u8]) {
        let _ = self.link.send(kind, numbers, bytes, &[]);
    }

    /// Has the guardian keep a file.
    pub(crate) fn leave(&self, kind: MessageKind, file: BorrowedFd<'_>) {
        let _ = self.link.send(kind, &[], &[], &[file]);
    }
}

/// A process of a cell. Its parent is the guardian; here it is known by a descriptor. It ends when this is dropped.
pub(crate) struct Process {
    id: u32,
    file: OwnedFd,
    pub(super) began: Instant,
    /// The enforcer of its policy, once it plays.
    pub(super) enforcer: Option<Enforcer>,
    /// Shares of the machine that it has.
    pub(super) grant: Grant,
    /// Time of the last measurement, and the processor time then.
    pub(super) measured: (Instant, Nanos),
}

impl Process {
    pub(crate) fn new(id: u32, file: OwnedFd) -> Self {
        let began = Instant::now();
        Self {
            id,
            file,
            began,
            enforcer: None,
            grant: Grant::default(),
            measured: (began, Nanos(0)),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn has_ended(&self) -> bool {
        is_readable(self.file.as_fd(), Duration::ZERO).unwrap_or(true)
    }

    /// Counts its processor time since the last call.
    pub(super) fn count_used(&mut self, status: &CellStatus) {
        let Some(used) = raw::process_time(self.id as i32) else {
            return;
        };
        let (before, used_before) = std::mem::replace(&mut self.measured, (Instant::now(), used));
        let since = used.0.saturating_sub(used_before.0);
        status.used_ns.fetch_add(since, Ordering::Relaxed);
        let elapsed = before.elapsed().as_nanos().max(1) as u64;
        let load = since.saturating_mul(1000) / elapsed;
        status.load.store(load as u32, Ordering::Relaxed);
    }

    pub(super) fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.file, signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let begin = Instant::now();
        while begin.elapsed() < LIMIT && !self.has_ended() {
            let _ = is_readable(self.file.as_fd(), LIMIT);
        }
    }
}
