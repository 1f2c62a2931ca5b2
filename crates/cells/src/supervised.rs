//! [`SupervisedCallback`]: the supervisor's callback. It shows after each block that it lives and where it is, and writes
//! checkpoints of its own nodes.
//!
//! | part | goes on from |
//! |---|---|
//! | nodes and lines of the supervisor | its checkpoint, 40 ms old at most |
//! | cells | what they hold: they have waited |
//! | transport, position in the run | where they would be if no supervisor had been lost |
//! | device, sockets | a new opening |

use crate::checkpoint::CheckpointMemory;
use crate::guardian::link::MessageKind;
use crate::guardian::pulse::{Pulse, PulseWord};
use crate::keeper::{CHECKPOINT_INTERVAL, Keeper};
use crate::monitor::{Monitor, Order};
use crate::node::{Drill, DrillKind};
use crate::raw;
use driver::{AudioCallback, CallbackInfo, MidiEvent};
use engine::{Engine, EngineCallback};
use graph::{Catalogue, Graph};
use processor::TransportChange;
use rustix::process::{Signal, getpid, kill_process};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use units::Nanos;

/// Failures of the supervisor that can be caused.
pub const SUPERVISOR_DRILLS: [DrillKind; 4] = [
    DrillKind::Kill,
    DrillKind::Segv,
    DrillKind::Stop,
    DrillKind::Loop,
];

/// The callback of a supervisor.
pub struct SupervisedCallback {
    callback: EngineCallback,
    /// Not in a render, which begins anew instead.
    keeper: Option<Keeper>,
    pulse: Arc<Pulse>,
    block: u64,
    period: Nanos,
    /// Frames from the engine's position to that of the run.
    offset: u64,
    /// A supervisor before was lost.
    is_successor: bool,
    has_begun: bool,
    drills: Vec<Drill>,
    /// Its state as the pulse has it.
    transport: Option<TransportChange>,
}

/// Silence between two supervisors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Supervisors that were lost.
    pub lost: u64,
    /// Blocks of silence, in all.
    pub blocks: u64,
    /// Longest time from the begin of the last block of one to that of the first of the next.
    pub longest: Nanos,
}

impl Monitor {
    /// Has the engine go on where the supervisor before was lost, and gives the callback for the device, with notes for the
    /// user. `drills` has failures of the supervisor. To be called right before the first block.
    ///
    /// # Errors
    ///
    /// There is no memory.
    ///
    /// Real-time: setup.
    pub fn supervise(
        &mut self,
        (engine, mut callback): (&mut Engine, EngineCallback),
        (graph, catalogue): (&Graph, &Catalogue),
        drills: Vec<Drill>,
    ) -> Result<(SupervisedCallback, Vec<String>), String> {
        let period = self.block.duration(self.rate);
        let lost = self.predecessor.lost();
        let (mut keeper, mut notes) = (None, Vec::new());
        if self.is_live {
            let (kept, is_continued) = self.keep(&mut callback, graph, period)?;
            let own = kept.notes(graph, catalogue).into_iter();
            notes.extend(own.filter(|_| lost == 0));
            if is_continued {
                notes.push("its nodes continue from before the failure".to_owned());
            }
            keeper = Some(kept);
        }
        let position = match self.is_live {
            true => self.predecessor.position(self.block, period),
            false => 0,
        };
        let time = callback.time().0;
        engine.begin_at(time);
        let offset = position.saturating_sub(time);
        self.offset.store(offset, Ordering::Relaxed);
        if position > 0 {
            let state = self.predecessor.pulse.transport();
            let state = state.unwrap_or(TransportChange::START);
            callback.change_transport(TransportChange {
                frame: time,
                position: state.position_at(position),
                is_cut: true,
                is_jump: true,
                ..state
            });
        }
        let pulse = self.predecessor.pulse.clone();
        pulse.set(PulseWord::Period, if self.is_live { period.0 } else { 0 });
        let supervised = SupervisedCallback {
            callback,
            keeper,
            pulse,
            block: u64::from(self.block.0),
            period,
            offset,
            is_successor: lost > 0,
            has_begun: false,
            // Each of them has caused a failure.
            drills: drills.into_iter().skip(lost as usize).collect(),
            transport: None,
        };
        Ok((supervised, notes))
    }

    /// Loads the newest checkpoint of the supervisor before, and begins to write others.
    fn keep(
        &mut self,
        callback: &mut EngineCallback,
        graph: &Graph,
        period: Nanos,
    ) -> Result<(Keeper, bool), String> {
        let refused =
            |error: std::io::Error| format!("no memory for the supervisor's state: {error}");
        let memory = CheckpointMemory::new().map_err(refused)?;
        if let Some(checkpoint) = self.predecessor.own_checkpoint() {
            memory.put(&checkpoint).map_err(refused)?;
        }
        let interval = (CHECKPOINT_INTERVAL.0 / period.0.max(1)).max(1);
        let file = memory.file().try_clone().map_err(refused)?.into();
        let kept = Keeper::new(&file, (callback, graph), (interval, false))?;
        self.order(Order::Leave(MessageKind::OwnState, file));
        Ok(kept)
    }

    /// Shows that the main thread lives.
    ///
    /// Real-time: hot.
    pub fn beat(&self) {
        self.predecessor.pulse.add(PulseWord::Main, 1);
    }

    /// The main thread ends on purpose: from now on nobody waits for blocks.
    ///
    /// Real-time: hot.
    pub fn end_beats(&self) {
        self.predecessor.pulse.set(PulseWord::Period, 0);
    }

    /// The silence that supervisors have left; `None` before the first block of this one, and if none was lost.
    pub fn silence(&self) -> Option<Silence> {
        let (pulse, lost) = (&self.predecessor.pulse, self.predecessor.lost());
        let silence = Silence {
            lost,
            blocks: pulse.get(PulseWord::Silent),
            longest: Nanos(pulse.get(PulseWord::Longest)),
        };
        (self.is_live && lost > 0 && pulse.get(PulseWord::First) > 0).then_some(silence)
    }
}

impl SupervisedCallback {
    /// Position in the run: the frame of the next block.
    ///
    /// Real-time: hot.
    pub fn position(&self) -> u64 {
        self.callback.time().0 + self.offset
    }

    /// Counts the silence since the last block of the supervisor before.
    fn count_silence(&self, begin: u64) {
        let last = self.pulse.get(PulseWord::Begin);
        if self.is_successor && last > 0 && self.keeper.is_some() {
            let gap = begin.saturating_sub(last);
            let periods = (gap + self.period.0 / 2) / self.period.0.max(1);
            self.pulse.add(PulseWord::Silent, periods.saturating_sub(1));
            let longest = gap.max(self.pulse.get(PulseWord::Longest));
            self.pulse.set(PulseWord::Longest, longest);
        }
        self.pulse.set(PulseWord::First, begin);
    }

    /// Leaves the state of the transport for the next supervisor, if it has changed.
    fn leave_transport(&mut self) {
        let state = self.callback.last_transport();
        if self.transport != Some(state) {
            self.transport = Some(state);
            let frame = state.frame + self.offset;
            self.pulse.leave_transport(frame, state);
        }
    }

    /// Causes the failure of the block at `position`, if there is one.
    fn fail_on_purpose(&mut self, position: u64) {
        let end = position + self.block;
        let is_due = |drill: &Drill| (position..end).contains(&drill.frame);
        let Some(drill) = self.drills.iter().find(|drill| is_due(drill)) else {
            return;
        };
        let signal = match drill.kind {
            DrillKind::Segv => Signal::SEGV,
            DrillKind::Stop => Signal::STOP,
            DrillKind::Loop => loop {
                std::hint::spin_loop();
            },
            _ => Signal::KILL,
        };
        loop {
            let _ = kill_process(getpid(), signal);
            if signal != Signal::SEGV {
                return;
            }
            // The runtime's handler takes the first one for itself and leaves the next to the system.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl AudioCallback for SupervisedCallback {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let begin = raw::now().0;
        self.pulse.set(PulseWord::Inside, 1);
        let position = self.position();
        if !std::mem::replace(&mut self.has_begun, true) {
            self.count_silence(begin);
        }
        self.fail_on_purpose(position);
        self.callback.process(info, inputs, outputs);
        if let Some(keeper) = &mut self.keeper {
            let is_sound = || outputs.iter().all(|it| it.iter().all(|it| it.is_finite()));
            keeper.end_block(&mut self.callback, 0, is_sound);
        }
        self.leave_transport();
        self.pulse.set(PulseWord::Position, self.position());
        self.pulse.set(PulseWord::Begin, begin);
        self.pulse.add(PulseWord::Blocks, 1);
        self.pulse.set(PulseWord::Inside, 0);
    }

    fn push_midi(&mut self, event: MidiEvent<'_>) {
        self.callback.push_midi(event);
    }

    fn pop_midi(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        self.callback.pop_midi(end, send);
    }
}
