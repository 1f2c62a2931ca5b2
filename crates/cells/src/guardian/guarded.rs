//! [`GuardedCell`]: the process of a cell, which the guardian starts and ends as the supervisor asks.

use super::link::{self, GuardianLink, Message, MessageKind};
use super::{Guardian, open_process};
use rustix::process::{WaitId, WaitIdOptions, waitid};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A cell whose last process the guardian started.
pub(super) struct GuardedCell {
    pub(super) index: u64,
    pub(super) start: u64,
    pub(super) child: Child,
    pub(super) file: OwnedFd,
    /// Rings of requests and of replies, memory for checkpoints.
    pub(super) shared: [OwnedFd; 3],
    /// Latency of its graph, once one of its processes has come up.
    pub(super) latency: Option<u64>,
    pub(super) has_come_up: bool,
    pub(super) has_ended: bool,
}

impl Guardian {
    /// Does what a supervisor asks for.
    pub(super) fn answer(&mut self, message: Message, link: &GuardianLink) {
        let index = message.numbers[0];
        match message.kind {
            MessageKind::Launch => {
                let sent = match self.launch(message) {
                    Ok(cell) => {
                        let numbers = [u64::from(cell.child.id())];
                        let sent =
                            link.send(MessageKind::Launched, &numbers, &[], &[cell.file.as_fd()]);
                        self.cells.push(cell);
                        sent
                    }
                    Err(why) => {
                        let why = why.to_string();
                        link.send(MessageKind::Refused, &[], why.as_bytes(), &[])
                    }
                };
                // It has ended, or will ask again.
                let _ = sent;
            }
            MessageKind::CameUp => {
                if let Some(cell) = self.cells.iter_mut().find(|it| it.index == index) {
                    cell.latency = Some(message.numbers[1]);
                    cell.has_come_up = true;
                }
            }
            MessageKind::Bury => {
                if let Some(cell) = self.cells.iter_mut().find(|it| it.index == index) {
                    cell.end();
                }
            }
            MessageKind::Forget => self.cells.retain(|it| it.index != index),
            MessageKind::OwnState => self.own_state = message.files.into_iter().next(),
            MessageKind::Kept => self.kept = message.files.into_iter().next(),
            // Not for us.
            _ => {}
        }
    }

    /// Starts the process of a cell. The one before it has ended, or ends now.
    fn launch(&mut self, message: Message) -> io::Result<GuardedCell> {
        let [index, start, ..] = message.numbers;
        let shared: [OwnedFd; 3] = (message.files.try_into())
            .map_err(|_| io::Error::other("a cell needs two rings and memory"))?;
        let before = self.cells.iter().position(|it| it.index == index);
        let before = before.map(|at| self.cells.swap_remove(at));
        let latency = before.and_then(|cell| cell.latency);
        let own = std::process::id();
        let path = |file: &OwnedFd| format!("/proc/{own}/fd/{}", file.as_raw_fd());
        let arguments = message.bytes.split_inclusive(|byte| *byte == 0);
        let arguments = arguments.map(|it| OsStr::from_bytes(it.strip_suffix(&[0]).unwrap_or(it)));
        let mut command = Command::new(&self.options.program);
        command.args(arguments);
        for (name, file) in ["--requests", "--replies", "--state"]
            .into_iter()
            .zip(&shared)
        {
            command.arg(name).arg(path(file));
        }
        command.arg("--parent").arg(own.to_string());
        command.process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn()?;
        Ok(GuardedCell {
            index,
            start,
            file: open_process(&child)?,
            child,
            shared,
            latency,
            has_come_up: false,
            has_ended: false,
        })
    }

    /// Tells the supervisor which processes have ended since the last look. They are waited for once it has seen that, so that
    /// their numbers stay theirs until then.
    pub(super) fn tell_ended(&mut self, link: &GuardianLink) {
        let ended = self.cells.iter_mut().filter(|it| !it.has_ended);
        for cell in ended.filter(|it| is_over(&it.file)) {
            cell.has_ended = true;
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::PidFd(cell.file.as_fd()), options);
            let status = status.ok().flatten().map_or(0, |it| {
                let code = it.exit_status().map(|code| code << 8);
                code.or(it.terminating_signal()).unwrap_or(0)
            });
            let numbers = [u64::from(cell.child.id()), status as u32 as u64];
            let _ = link.send(MessageKind::Ended, &numbers, &[], &[]);
        }
    }
}

impl GuardedCell {
    /// Ends its process, if it still runs. Its checkpoint stays.
    pub(super) fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.has_ended = true;
    }
}

impl Drop for GuardedCell {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns true if the process has ended.
pub(super) fn is_over(process: &OwnedFd) -> bool {
    link::is_readable(process.as_fd(), Duration::ZERO).unwrap_or(true)
}
