//! The start of a cell's process: its rings and its memory, its first message, the policy that holds it.

use super::{MAX_CONTINUED, START_LIMIT, State, WatchedCell};
use crate::checkpoint::CheckpointMemory;
use crate::guardian::link::MessageKind;
use crate::machine::{Grant, MachineFiles};
use crate::message::{HostEnd, ReplyError, ring_words};
use crate::monitor::launch::LaunchRequest;
use crate::monitor::process::{CellProcesses, Process};
use crate::monitor::told::CellEvent;
use crate::own_params::own_left;
use crate::policy::enforcer::Enforcer;
use crate::raw;
use rt::mirror::{PageSize, Ring};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Instant;

impl WatchedCell {
    /// Starts a process with rings of its own.
    pub(super) fn launch(
        &mut self,
        processes: &mut CellProcesses,
    ) -> Result<(Process, HostEnd), String> {
        let latency = self.spec.latency.blocks();
        let ring = |samples: usize| {
            let words = ring_words(samples, latency);
            Ring::<u32>::shared(1, words, PageSize::Default).map_err(|error| error.to_string())
        };
        let (requests, replies) = (ring(self.samples.0)?, ring(self.samples.1)?);
        let (memory, from) = self.make_memory()?;
        self.launches += 1;
        let mut end = HostEnd::new(
            self.launches,
            requests.producer().map_err(|error| error.to_string())?,
            replies.consumer().map_err(|error| error.to_string())?,
            self.samples,
        );
        end.set_continues_from(from);
        let request = LaunchRequest {
            index: self.index,
            spec: &self.spec,
            is_first: self.launches == 1,
            before: self.before.as_deref().filter(|_| self.launches == 1),
        };
        let workers = self.spec.process_workers() as u32;
        self.status.workers.store(workers, Ordering::Relaxed);
        self.status.starts.store(self.launches, Ordering::Relaxed);
        let (Some(to), Some(from)) = (requests.file(), replies.file()) else {
            return Err("its rings cannot be handed on".to_owned());
        };
        let process = processes.start(&request, self.launches, [to, from, memory.file().as_fd()]);
        self.memory = Some(memory);
        Ok((process?, end))
    }

    /// The memory of the next process, with the checkpoint from which it continues, and the frame of that.
    fn make_memory(&self) -> Result<(CheckpointMemory, Option<u64>), String> {
        let refused = |error: std::io::Error| format!("no memory for its state: {error}");
        let memory = CheckpointMemory::with(&self.session, self.part).map_err(refused)?;
        let checkpoint = self.checkpoint.as_ref();
        let checkpoint = checkpoint.filter(|_| self.restarts_in_row <= MAX_CONTINUED);
        if let Some(checkpoint) = checkpoint {
            memory.put(checkpoint).map_err(refused)?;
        }
        Ok((memory, checkpoint.and_then(|it| it.outside())))
    }

    /// Looks for the first message of a process.
    pub(super) fn look_at_start(
        &mut self,
        (process, is_live): (Process, bool),
        mut end: Box<HostEnd>,
        processes: &mut CellProcesses,
        events: &mpsc::Sender<CellEvent>,
    ) -> State {
        match end.hello() {
            Ok(hello) => self.come_up((process, is_live), (end, hello), processes, events),
            Err(error) => {
                let why = match error {
                    ReplyError::Corrupt => "its first message is none".to_owned(),
                    _ if process.has_ended() => processes.why(&process),
                    _ if process.began.elapsed() < START_LIMIT => {
                        return State::Starting(process, end);
                    }
                    _ => "it did not come up in time".to_owned(),
                };
                drop(process);
                self.end(&why, processes, events)
            }
        }
    }

    /// Has a process play, whose first message says its latency and if it continues from a checkpoint.
    fn come_up(
        &mut self,
        (mut process, is_live): (Process, bool),
        (mut end, (latency, is_continued)): (Box<HostEnd>, (u64, bool)),
        processes: &mut CellProcesses,
        events: &mpsc::Sender<CellEvent>,
    ) -> State {
        if !is_continued {
            end.set_continues_from(None);
        }
        if *self.latency.get_or_insert(latency) != latency {
            drop(process);
            return self.end("its latency is another than before", processes, events);
        }
        // Those of the process before.
        self.status.overdue.store(0, Ordering::Relaxed);
        if self.fresh.push(*end).is_err() {
            drop(process);
            return self.end("the graph takes no new process", processes, events);
        }
        let numbers = [self.index as u64, latency];
        processes.tell(MessageKind::CameUp, &numbers, &[]);
        let _ = events.send(CellEvent::Playing {
            cell: self.name.clone(),
            process: process.id(),
            is_continued,
        });
        let shared = self.memory.as_ref().and_then(CheckpointMemory::share);
        self.status.set_memory(shared);
        if let Some(memory) = &self.memory {
            self.status.set_own(own_left(memory.file()));
        }
        self.blocks_before = self.status.blocks();
        self.stuck = None;
        // An outage before this one is over.
        self.status.outage.store(0, Ordering::Relaxed);
        process.began = Instant::now();
        if let (Some(came), Ok(latency)) = (self.came.take(), u32::try_from(latency)) {
            let _ = came.send(Ok(latency));
        }
        self.begin_to_hold(&mut process, is_live, events);
        State::Playing(process)
    }

    /// Begins to hold a process that plays to its policy, and to measure it.
    pub(super) fn begin_to_hold(
        &mut self,
        process: &mut Process,
        is_live: bool,
        events: &mpsc::Sender<CellEvent>,
    ) {
        let number = process.id();
        self.status.process.store(number, Ordering::Relaxed);
        self.status.throttled.store(false, Ordering::Relaxed);
        self.status.stopped.store(false, Ordering::Relaxed);
        let used = raw::process_time(number as i32).unwrap_or_default();
        process.measured = (process.began, used);
        let policy = (&self.spec.policy, self.spec.precedence);
        let (enforcer, refused) = Enforcer::begin(number, policy, is_live);
        process.enforcer = Some(enforcer);
        let (grant, more) = match is_live {
            true => MachineFiles::default().grant(&self.spec, number),
            false => (Grant::default(), Vec::new()),
        };
        process.grant = grant;
        let is_first = self.launches == 1;
        for what in refused.into_iter().chain(more).filter(|_| is_first) {
            self.tell_refused(Some(what), events);
        }
    }
}
