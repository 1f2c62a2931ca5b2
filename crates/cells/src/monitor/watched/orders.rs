//! Orders of the service to one cell.

use super::{State, WatchedCell};
use crate::guardian::link::MessageKind;
use crate::handed::part_number;
use crate::machine::MachineFiles;
use crate::monitor::launch::HandedPart;
use crate::monitor::process::CellProcesses;
use crate::policy::place_threads;
use crate::section::CellSpec;
use rustix::process::Signal;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Instant;

impl WatchedCell {
    pub(in crate::monitor) fn stop(&mut self, processes: &CellProcesses) {
        self.count_used();
        self.state = State::Stopped;
        processes.tell(MessageKind::Bury, &[self.index as u64], &[]);
        // Again: it may have come up since the service stored it.
        self.status.stopped.store(true, Ordering::Relaxed);
        self.forget_process();
    }

    /// The memory in which a process that plays leaves checkpoints.
    pub(in crate::monitor) fn share(&self) -> Option<OwnedFd> {
        let memory = self.memory.as_ref()?;
        let is_playing = matches!(self.state, State::Playing(_));
        let file = is_playing.then(|| memory.file().try_clone().ok())?;
        file.map(OwnedFd::from)
    }

    /// Has later processes play another part. One that has come up with the part before meanwhile ends.
    pub(in crate::monitor) fn hand(&mut self, part: HandedPart) {
        self.session = part.session;
        self.part = part.number;
        self.spec = CellSpec {
            cores: std::mem::take(&mut self.spec.cores),
            ..part.spec
        };
        let memory = self.memory.as_ref();
        let has_old = memory.is_some_and(|it| part_number(it.file()) != Some(self.part));
        match &mut self.state {
            State::Playing(process) | State::Starting(process, _) if has_old => {
                process.signal(Signal::KILL);
            }
            _ => {}
        }
    }

    pub(in crate::monitor) fn retire(&mut self) {
        self.is_retiring = true;
    }

    pub(in crate::monitor) fn start(&mut self) {
        if matches!(self.state, State::Stopped | State::Gone) {
            self.status.gone.store(false, Ordering::Relaxed);
            (self.failed_starts, self.restarts_in_row) = (0, 0);
            self.state = State::Waiting(Instant::now());
        }
    }

    pub(in crate::monitor) fn resize(&mut self, cores: Vec<usize>) -> Result<(), String> {
        let spec = CellSpec {
            cores: cores.clone(),
            ..self.spec.clone()
        };
        if let State::Playing(process) = &mut self.state {
            let refused = process.grant.resize(&MachineFiles::default(), &spec);
            if !refused.is_empty() {
                return Err(refused.join("; "));
            }
            place_threads(process.id() as i32, &cores).map_err(|error| {
                format!(
                    "not kept on the cores {cores:?}: {error}: name cores that this process may use"
                )
            })?;
        }
        self.spec.cores = cores;
        Ok(())
    }
}
