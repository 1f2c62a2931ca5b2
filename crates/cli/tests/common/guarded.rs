//! `divisi cells` while it plays: its guardian, its supervisor, and what they print.

use super::Folder;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};

/// The program while it plays.
pub(crate) struct Guarded {
    pub(crate) guardian: Child,
    lines: Lines<BufReader<ChildStderr>>,
    pub(crate) printed: String,
}

impl Guarded {
    pub(crate) fn start(here: &Folder, line: &str) -> Self {
        Self::start_with(here, line, |_| {})
    }

    pub(crate) fn start_with(
        here: &Folder,
        line: &str,
        prepare: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = here.command(line);
        prepare(&mut command);
        let command = command.stderr(Stdio::piped()).stdout(Stdio::null());
        let mut guardian = command.spawn().unwrap();
        let errors = guardian.stderr.take().unwrap();
        Self {
            guardian,
            lines: BufReader::new(errors).lines(),
            printed: String::new(),
        }
    }

    /// The first further line with this in it.
    pub(crate) fn line(&mut self, part: &str) -> String {
        loop {
            let line = self.lines.next();
            let line = line.unwrap_or_else(|| panic!("no `{part}`: {}", self.printed));
            let line = line.unwrap();
            self.printed += &line;
            self.printed.push('\n');
            if line.contains(part) {
                return line;
            }
        }
    }

    /// The number behind `part` in the first further line with it.
    pub(crate) fn number(&mut self, part: &str) -> u32 {
        let line = self.line(part);
        let rest = line.split(part).nth(1).unwrap();
        rest.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// The process of the supervisor.
    pub(crate) fn supervisor(&self) -> u32 {
        let found = children(self.guardian.id());
        let is_supervisor = |process: &u32| {
            let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("--guardian=")
        };
        found.into_iter().find(is_supervisor).expect("it runs")
    }

    pub(crate) fn signal_supervisor(&self, signal: Signal) {
        kill(self.supervisor(), signal);
    }

    /// Ends it, and gives its exit code and all that it printed.
    pub(crate) fn end(self) -> (Option<i32>, String) {
        kill(self.guardian.id(), Signal::INT);
        self.await_end()
    }

    /// Waits for its end, and gives the same.
    pub(crate) fn await_end(mut self) -> (Option<i32>, String) {
        for line in self.lines.by_ref() {
            self.printed += &line.unwrap();
            self.printed.push('\n');
        }
        let printed = std::mem::take(&mut self.printed);
        (self.guardian.wait().unwrap().code(), printed)
    }
}

impl Drop for Guarded {
    /// A test that fails leaves nothing.
    fn drop(&mut self) {
        let _ = self.guardian.kill();
        let _ = self.guardian.wait();
    }
}

pub(crate) fn kill(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process as i32).unwrap(), signal).unwrap();
}

/// State and parent of a process; `None` if there is none.
pub(crate) fn stat(process: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut words = text.rsplit(") ").next()?.split(' ');
    let state = words.next()?.chars().next()?;
    Some((state, words.next()?.parse().ok()?))
}

/// Processes whose parent is `parent`, without those that have ended.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = all.filter_map(|it| it.file_name().to_str()?.parse().ok());
    let is_child = |process: &u32| {
        stat(*process).is_some_and(|(state, its_parent)| state != 'Z' && its_parent == parent)
    };
    numbers.filter(is_child).collect()
}
