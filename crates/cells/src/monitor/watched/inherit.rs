//! A cell of the supervisor before: its process is taken over, or its checkpoint.

use super::{State, WatchedCell};
use crate::checkpoint::CheckpointMemory;
use crate::guardian::{InheritedCell, LivingCell};
use crate::handed::part_number;
use crate::message::HostEnd;
use crate::monitor::process::Process;
use crate::monitor::told::CellEvent;
use crate::own_params::own_left;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

impl WatchedCell {
    /// Goes on with the cell of the supervisor before: with its process, or if that has ended from its checkpoint. Gives the
    /// number of its part.
    pub(in crate::monitor) fn inherit(
        &mut self,
        cell: InheritedCell,
        (is_live, is_edited): (bool, bool),
        events: &mpsc::Sender<CellEvent>,
    ) -> Option<u64> {
        self.launches = cell.start;
        self.latency = cell.latency;
        self.is_silent = true;
        let memory = CheckpointMemory::of(cell.state);
        let found = part_number(memory.file());
        // Those that the supervisor before has noted are parts of the same graph, with the values of their time.
        let is_known = |part: &u64| *part == self.part || self.known_parts.contains(part);
        if !found.as_ref().is_some_and(is_known) {
            let cell = self.name.clone();
            let why = match is_edited {
                true => "its nodes were changed by commands",
                false => "a file that the session includes has changed since it was started",
            };
            let why = format!("not taken over: {why}");
            let _ = events.send(CellEvent::Ended { cell, why });
            return None;
        }
        let latency = cell.latency.and_then(|it| u32::try_from(it).ok());
        if let Some(latency) = latency
            && let Some(came) = self.came.take()
        {
            let _ = came.send(Ok(latency));
        }
        match cell.living.map(|living| self.take_over(living)) {
            Some(Ok(mut process)) => {
                let (cell, process_id) = (self.name.clone(), process.id());
                self.status.set_memory(memory.share());
                self.status.set_own(own_left(memory.file()));
                self.memory = Some(memory);
                self.status.starts.store(self.launches, Ordering::Relaxed);
                self.status
                    .workers
                    .store(self.spec.process_workers() as u32, Ordering::Relaxed);
                self.blocks_before = self.status.blocks();
                self.begin_to_hold(&mut process, is_live, events);
                self.state = State::Playing(process);
                let process = process_id;
                let _ = events.send(CellEvent::PlaysOn { cell, process });
            }
            Some(Err(why)) => {
                let (cell, why) = (self.name.clone(), format!("not taken over: {why}"));
                let _ = events.send(CellEvent::Ended { cell, why });
            }
            // It failed while there was no supervisor, or was stopped before.
            None => {
                self.checkpoint = memory.newest();
                // One whose latency is not known has to come up once.
                if self.stays_stopped && self.came.is_none() {
                    self.status.stopped.store(true, Ordering::Relaxed);
                    self.state = State::Stopped;
                }
            }
        }
        found
    }

    /// Takes over the process of a cell, with its rings. One that does not fit ends.
    fn take_over(&mut self, living: LivingCell) -> Result<Process, String> {
        let process = Process::new(living.process, living.file);
        let rings = (living.requests, living.replies);
        let end = HostEnd::resume(self.launches, rings, self.samples);
        let end = end.map_err(|error| error.to_string())?;
        let pushed = self.fresh.push(end);
        pushed.map_err(|_| "the graph takes no new process".to_owned())?;
        Ok(process)
    }
}
