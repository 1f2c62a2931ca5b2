//! [`EngineCallback`]: the half of an engine that plays, one block a call, on the driver's thread.

use crate::clock::ClockPorts;
use crate::controllers::{ControllerMap, is_controller};
use crate::messages::{
    CallbackRings, ControllerMessage, CycleMessage, CycleOutcome, EventMessage, SwapMessage,
};
use crate::midi::{MidiEnd, MidiExchange};
use crate::overload::Overload;
use crate::schedule::{Delivery, EventSchedule};
use crate::transport::TransportSchedule;
use crate::watchdog;
use driver::{AudioCallback, CallbackInfo, HostTransport, MidiEvent};
use exec::{CycleInfo, CycleResult, CycleStatus, ErrorCounts, Executor, StateVisitor};
use graph::NodeId;
use processor::{Event, MidiPortsCallback, Transport, TransportChange};
use rt::stamp::{self, TickScale};
use rtrb::PushError;
use std::sync::Arc;
use units::{Frames, Nanos, SampleRate};
use workers::{BackgroundPoller, BackgroundThread};

/// The half of an engine that plays. A driver calls it once a block.
pub struct EngineCallback {
    executor: Box<dyn Executor>,
    /// The next executor, while the current one cannot be retired yet.
    next: Option<SwapMessage>,
    /// The executor before, while its pipeline drains.
    draining: Option<DrainingExecutor>,
    rings: CallbackRings,
    /// Events that wait for their frames.
    schedule: EventSchedule,
    transport: TransportSchedule,
    clock: ClockPorts,
    midi: MidiExchange,
    controllers: Box<ControllerMap>,
    /// Offline: the background work, done between blocks. None live.
    background: Option<BackgroundPoller>,
    scale: TickScale,
    block: Frames,
    period: Nanos,
    /// Frames within which deferred work must be due to be kept from threads of low priority: as long as the system may
    /// stop a thread.
    reserved_frames: u64,
    cycle: u64,
    /// Frames that were played.
    position: u64,
    /// Frame at which the executor began.
    first_frame: u64,
    /// Frames by which the output of the executor is late: those of a pipeline.
    delay: u64,
    overload: Overload,
    /// Xruns that no message has reported yet, and true if the message of the first cycle of an executor found no room. The
    /// next message reports them.
    unsent: (u32, bool),
    /// Errors in executors that have been replaced.
    retired_errors: ErrorCounts,
    /// Number of errors of the executor that were told, and `None` if all are to be told anew.
    told_errors: Option<u64>,
    /// Number of swaps, and of event messages that were taken.
    swaps: u32,
    events_taken: u64,
}

/// An executor that has been replaced and whose later stages still have blocks. In each cycle it runs before its
/// successor, so a node ends with the last block of the old plan before it begins with the first of the new one.
struct DrainingExecutor {
    executor: SwapMessage,
    first_frame: u64,
    /// Frame at which its successor began.
    end_frame: u64,
    /// Frame of the cycle in which it runs next.
    next: u64,
    /// Number of cycles in which it has run since.
    cycles: u32,
}

/// The device's inputs, and the time at which this call must be over.
#[derive(Clone, Copy)]
struct Call<'a> {
    budget: Option<Nanos>,
    start: u64,
    inputs: &'a [&'a [f32]],
}

impl EngineCallback {
    pub(crate) fn new(
        executor: Box<dyn Executor>,
        rings: CallbackRings,
        (background, transport): (Option<Arc<BackgroundThread>>, Arc<Transport>),
        scale: TickScale,
        (block, rate): (Frames, SampleRate),
    ) -> Self {
        let period = block.duration(rate);
        Self {
            delay: delay_of(&*executor, block),
            executor,
            next: None,
            draining: None,
            rings,
            schedule: EventSchedule::new(),
            transport: TransportSchedule::new(transport),
            clock: ClockPorts::default(),
            midi: MidiExchange::default(),
            controllers: Box::default(),
            background: background.map(BackgroundPoller::new),
            scale,
            block,
            period,
            reserved_frames: frames_within(watchdog::limit(period), rate),
            cycle: 0,
            position: 0,
            first_frame: 0,
            overload: Overload::new(period),
            unsent: (0, false),
            retired_errors: ErrorCounts::default(),
            told_errors: None,
            swaps: 0,
            events_taken: 0,
        }
    }

    /// With a MIDI clock.
    pub(crate) fn with_clock(mut self, clock: ClockPorts) -> Self {
        self.clock = clock;
        self
    }

    /// With live MIDI ports, and what ends their output.
    pub(crate) fn with_midi(mut self, ports: MidiPortsCallback, end: Arc<MidiEnd>) -> Self {
        self.midi = MidiExchange::new(ports, end);
        self
    }

    /// Absolute frame of the next block, and number of its cycle.
    ///
    /// Real-time: hot.
    pub fn time(&self) -> (u64, u64) {
        (self.position, self.cycle)
    }

    /// Gives `event` to `node` in the coming block, at the event's frame. Returns false if too many events wait.
    ///
    /// Real-time: hot.
    pub fn give_event(&mut self, node: NodeId, event: Event) -> bool {
        let has_room = self.schedule.has_room();
        if has_room {
            self.schedule.push(EventMessage {
                node,
                event,
                at: self.position + u64::from(event.frame),
                ramp: None,
                after_swap: 0,
            });
        }
        has_room
    }

    /// State of the transport after its last change.
    ///
    /// Real-time: hot.
    pub fn last_transport(&self) -> TransportChange {
        self.transport.transport().last()
    }

    /// Changes the transport in the coming block, as that of another engine has changed. One of a frame before the last
    /// change is left out.
    ///
    /// Real-time: hot.
    pub fn change_transport(&mut self, change: TransportChange) {
        let transport = self.transport.transport();
        if change.frame >= transport.last().frame {
            transport.push(change);
        }
    }

    /// Begins at this frame and cycle. To be called before the first block.
    ///
    /// Real-time: setup.
    pub fn begin_at(&mut self, (position, cycle): (u64, u64)) {
        (self.position, self.cycle) = (position, cycle);
        self.first_frame = position;
    }

    /// Shows `visitor` what the nodes hold between two blocks: processors, delay lines, lines that compensate latency. What
    /// they hold depends on the absolute frame ([`time`](Self::time)). Returns false where that is not possible now: the
    /// last block was given up, or an executor is replaced.
    ///
    /// Real-time: hot if the visitor is.
    pub fn visit_states(&mut self, visitor: &mut dyn StateVisitor) -> bool {
        let is_steady = self.draining.is_none() && self.next.is_none();
        is_steady && self.executor.visit_states(visitor, self.position)
    }

    /// Swaps to the next executor, if one has come and the current one can be released; returns true if it did. What is
    /// still in the pipeline of the current one is played into `outputs` in this cycle and the next ones: the next one
    /// has nothing to play until its own pipeline is full. To be called where there is another executor, now or soon.
    #[cold]
    fn swap(&mut self, call: Call<'_>, outputs: &mut [&mut [f32]]) -> bool {
        silence(outputs);
        if self.draining.is_some() {
            self.drain(call, outputs);
            return false;
        }
        // First the room for the retired executor: it must not be freed on this thread.
        if self.rings.retired.is_full() {
            return false;
        }
        let next = self.next.take().or_else(|| self.rings.swaps.pop().ok());
        let Some(next) = next else {
            return false;
        };
        let is_full = self.position > self.first_frame;
        let end_frame = self.position;
        let cycles = match self.executor.latency_blocks() {
            _ if !is_full => 0,
            latency if latency == next.latency_blocks() => latency.min(1),
            // Another latency: what is in flight is played at once, and only the first block of it sounds.
            latency => latency,
        };
        for cycle in 0..cycles {
            let position = self.position + u64::from(cycle) * u64::from(self.block.0);
            let info = self.cycle_info(call, (self.first_frame, position, end_frame));
            self.executor.run_cycle(&info, &[]);
            if cycle == 0 {
                self.add_outputs(outputs);
            }
        }
        if !self.executor.try_release() {
            self.next = Some(next);
            // Drained once, whether the executor can be retired now or not.
            self.first_frame = end_frame;
            return false;
        }
        self.swaps = self.swaps.wrapping_add(1);
        self.delay = delay_of(&*next, self.block);
        let first_frame = std::mem::replace(&mut self.first_frame, end_frame);
        let replaced = DrainingExecutor {
            executor: std::mem::replace(&mut self.executor, next),
            first_frame,
            end_frame,
            next: end_frame + u64::from(self.block.0),
            cycles: 0,
        };
        let latency = replaced.executor.latency_blocks();
        if is_full && latency > cycles {
            let mut draining = DrainingExecutor { cycles, ..replaced };
            (draining.executor).hand_over_events(cycles, &mut *self.executor);
            self.draining = Some(draining);
        } else {
            self.retire(replaced.executor);
        }
        true
    }

    /// Runs the stages of the replaced executor that still have blocks, and retires it after the last one.
    fn drain(&mut self, call: Call<'_>, outputs: &mut [&mut [f32]]) {
        let Some(mut draining) = self.draining.take() else {
            return;
        };
        let block = u64::from(self.block.0);
        let latency = u64::from(draining.executor.latency_blocks());
        // A cycle that was abandoned is tried again: this executor has run in it.
        // Where it could not run in a block, because a worker was still in a step, that block of it is lost.
        if draining.next <= self.position && self.executor.try_release() {
            let frames = (draining.first_frame, self.position, draining.end_frame);
            let info = self.cycle_info(call, frames);
            draining.executor.run_cycle(&info, &[]);
            for (channel, output) in (0..).zip(outputs.iter_mut()) {
                draining.executor.add_output(channel, output);
            }
            draining.next = self.position + block;
            draining.cycles += 1;
            let cycles = draining.cycles;
            (draining.executor).hand_over_events(cycles, &mut *self.executor);
        }
        let is_released = draining.executor.try_release();
        if is_released && draining.next >= draining.end_frame + latency * block {
            self.retire(draining.executor);
        } else {
            self.draining = Some(draining);
        }
    }

    /// Sends a released executor to the control thread, and what it keeps for nodes to the one that plays.
    fn retire(&mut self, mut executor: SwapMessage) {
        executor.hand_over_events(u32::MAX, &mut *self.executor);
        // Counted after the release, which may have quarantined a node.
        self.retired_errors = self.retired_errors + executor.error_counts();
        self.told_errors = None;
        // There was room, and only this thread fills it. If there were none all the same, a leak is better than a free
        // here.
        if let Err(PushError::Full(retired)) = self.rings.retired.push(executor) {
            std::mem::forget(retired);
        }
    }

    /// Hands the events of the coming block to the executor. One that finds no room waits for the next block. One for a
    /// node that is not here yet waits for the next executor: it may have been popped before the swap message that was
    /// pushed first.
    fn deliver_events(&mut self) {
        while !self.rings.events.is_empty()
            && self.schedule.has_room()
            && let Ok(message) = self.rings.events.pop()
        {
            self.events_taken += 1;
            self.schedule.push(message);
        }
        if !self.schedule.is_empty() {
            self.deliver_due_events();
        }
    }

    /// Hands the events that wait and are due in the coming block to the executor.
    fn deliver_due_events(&mut self) {
        self.schedule.release(self.swaps);
        let has_next = self.has_next();
        let block = (self.position, u64::from(self.block.0));
        self.schedule.deliver(block, |node, event| {
            let refused = self.executor.push_event(node, event).is_err();
            match refused && (self.executor.has_node(node) || has_next) {
                true => Delivery::Later,
                false => Delivery::Done,
            }
        });
    }

    /// Moves the transport as was commanded for the coming block.
    fn move_transport(&mut self, host: &HostTransport) {
        while !self.rings.transport.is_empty()
            && self.transport.has_room()
            && let Ok(command) = self.rings.transport.pop()
        {
            self.transport.push(command);
        }
        let end = self.position + u64::from(self.block.0);
        let block = (self.position, end);
        self.transport.begin_block(block, host);
        self.clock
            .begin_block(self.transport.transport(), block, self.delay);
    }

    /// Sets what a controller is bound to, at its frame. A change for which there is no room is left out; the next one of
    /// the same controller comes soon.
    fn apply_controller(&mut self, at: u64, port: u16, message: [u8; 3]) {
        if !self.rings.retired_maps.is_full()
            && let Ok(map) = self.rings.maps.pop()
        {
            let old = std::mem::replace(&mut self.controllers, map);
            // There was room, and only this thread fills it.
            if let Err(PushError::Full(old)) = self.rings.retired_maps.push(old) {
                std::mem::forget(old);
            }
        }
        let schedule = &mut self.schedule;
        self.controllers.apply(port, message, |change| {
            if schedule.has_room() {
                schedule.push(EventMessage { at, ..change });
            }
        });
        let sent = ControllerMessage { port, message };
        // Full: the control thread is far behind, and follows the messages to come.
        let _ = self.rings.controllers.push(sent);
    }

    /// Returns true if another executor has come.
    fn has_next(&self) -> bool {
        self.next.is_some() || !self.rings.swaps.is_empty()
    }

    /// Adds what was played to `outputs`.
    fn add_outputs(&self, outputs: &mut [&mut [f32]]) {
        for (channel, output) in (0..).zip(outputs.iter_mut()) {
            self.executor.add_output(channel, output);
        }
    }

    /// The description of a cycle at `position`, for blocks from `first_frame` to `end_frame`.
    fn cycle_info(
        &self,
        call: Call<'_>,
        (first_frame, position, end_frame): (u64, u64, u64),
    ) -> CycleInfo {
        let after = |time: Nanos| call.start.saturating_add(self.scale.ticks(time));
        let info = CycleInfo {
            first_frame,
            end_frame,
            ..CycleInfo::unlimited(position, self.cycle)
        };
        match call.budget {
            None => info,
            Some(budget) => CycleInfo {
                abandon_at: after(watchdog::limit(self.period)),
                help_until: after(time_for_late_results(budget, self.period)),
                spare_until: after(share(budget, 4)),
                low_priority_from: self.position + self.reserved_frames,
                ..info
            },
        }
    }

    /// Runs the plan once.
    fn run(&mut self, call: Call<'_>) -> CycleResult {
        let info = self.cycle_info(call, (self.first_frame, self.position, u64::MAX));
        self.executor.run_cycle(&info, call.inputs)
    }

    /// Tells the control thread how this cycle went. What finds no room is told with the next one.
    fn send(&mut self, cycle: CycleMessage) {
        let (xruns, is_swapped) = self.unsent;
        let message = CycleMessage {
            xruns: u16::try_from(xruns).unwrap_or(u16::MAX),
            is_swapped: cycle.is_swapped | is_swapped,
            ..cycle
        };
        self.unsent = match self.rings.cycles.push(message) {
            Ok(()) => (xruns - u32::from(message.xruns), false),
            Err(PushError::Full(message)) => (xruns, message.is_swapped),
        };
    }

    /// Counts what the device has lost in this call, of which a message says as much as fits.
    fn count_xruns(&mut self, xruns: u32) {
        self.unsent.0 = self.unsent.0.saturating_add(xruns);
    }

    /// Tells the errors so far.
    #[cold]
    fn tell_errors(&mut self, of_executor: u64) {
        self.told_errors = Some(of_executor);
        let all = self.retired_errors + self.executor.error_counts();
        self.rings.errors.set(all);
    }

    /// A message about this cycle, as if it had not run.
    #[inline]
    fn message(&self, outcome: CycleOutcome) -> CycleMessage {
        CycleMessage {
            duration_ns: 0,
            events_taken: self.events_taken,
            cycle: self.cycle as u32,
            wakes: 0,
            acquisitions: 0,
            xruns: 0,
            outcome,
            is_swapped: false,
        }
    }
}

/// Frames by which a pipeline's output is late.
fn delay_of(executor: &dyn Executor, block: Frames) -> u64 {
    u64::from(executor.latency_blocks()) * u64::from(block.0)
}

fn silence(outputs: &mut [&mut [f32]]) {
    outputs.iter_mut().for_each(|output| output.fill(0.0));
}

/// Frames that begin within `time`.
fn frames_within(time: Nanos, rate: SampleRate) -> u64 {
    (time.0.saturating_mul(u64::from(rate.hz()))).div_ceil(1_000_000_000)
}

/// `fifths` / 5 of `time`.
fn share(time: Nanos, fifths: u64) -> Nanos {
    Nanos(time.0 / 5 * fifths)
}

/// Time that a cycle may spend on late results: what is left of its budget but a fifth, and at least a fifth of its
/// period. A callback that comes late has no budget; without that least share it would drop work that is one piece
/// from its end, and silence a whole level of a convolver for it.
fn time_for_late_results(budget: Nanos, period: Nanos) -> Nanos {
    share(budget, 4).max(share(period, 1))
}

impl AudioCallback for EngineCallback {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let start = stamp::now();
        self.midi.begin_block(self.position, self.delay);
        self.count_xruns(info.xruns);
        if let Some(outcome) = self.overload.next_muted() {
            silence(outputs);
            return self.send(self.message(outcome));
        }
        if let Some(background) = &mut self.background {
            background.run_until_idle();
        }
        let call = Call {
            budget: info.budget,
            start,
            inputs,
        };
        // Nearly always there is one executor, which writes what it plays: nothing is added to it.
        let has_another = self.draining.is_some() || self.has_next();
        let is_swapped = has_another && self.swap(call, outputs);
        self.move_transport(&info.transport);
        self.deliver_events();
        let result = self.run(call);
        match has_another {
            true => self.add_outputs(outputs),
            false => self.executor.write_outputs(outputs),
        }
        if self.told_errors != Some(result.errors) {
            self.tell_errors(result.errors);
        }
        let duration = self.scale.between(start, stamp::now());
        let is_late = info.budget.is_some_and(|budget| duration > budget);
        let outcome = CycleOutcome::new(result.status, is_late);
        self.send(CycleMessage {
            duration_ns: duration.0,
            wakes: result.wakes,
            acquisitions: result.acquisitions,
            is_swapped,
            ..self.message(outcome)
        });
        if info.budget.is_some() {
            self.overload.add(outcome, duration);
        }
        self.cycle += 1;
        if result.status == CycleStatus::Complete {
            self.position += u64::from(self.block.0);
        }
    }

    fn push_midi(&mut self, event: MidiEvent<'_>) {
        let at = self.position + u64::from(event.frame);
        if let Some((port, follower)) = &mut self.clock.follower
            && *port == event.port
        {
            let schedule = &mut self.transport;
            return follower.push(at, event.message, &mut |command| {
                if schedule.has_room() {
                    schedule.push(command);
                }
            });
        }
        self.midi.push(at, event);
        if is_controller(event.message)
            && let [a, b, c] = *event.message
        {
            self.apply_controller(at, event.port, [a, b, c]);
        }
    }

    fn pop_midi(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        self.midi.pop(end, send);
        self.clock.pop(end, send);
    }
}
