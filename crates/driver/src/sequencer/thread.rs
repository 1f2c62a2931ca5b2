//! The thread that talks to the sequencer: messages and times both ways, and connections.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use rtrb::{Consumer, Producer};
use units::{Nanos, SampleRate};
use workers::Priority;

use super::period::{MidiPart, SequencerPeriods, ThreadEnds};
use crate::alsa::stream::Errno;
use crate::clock::{Clock, SystemClock};
use crate::connections::{Connections, OwnPort, PortGraph};
use crate::midi::MidiLossCounts;
use crate::{DriverConfig, MidiLosses, PortConnections};

/// Longest wait for an event. So much later a message that is to be sent is seen.
const WAIT_MS: i32 = 1;
/// Interval at which the sequencer's time is compared with the clock's.
const COMPARE_INTERVAL: Nanos = Nanos(200_000_000);
/// Most events between two looks at what is to be sent.
const MAX_EVENTS: usize = 1024;
/// Largest event that is read. The sequencer cuts what is longer.
const EVENT_BYTES: usize = 65_536;
/// Longest wait at the end for what is still to be sent.
const MAX_END_WAIT: Nanos = Nanos(200_000_000);

/// An answer of [`Sequencer::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// There is no event now.
    Nothing,
    /// `len` bytes of MIDI for one of our inputs, by the sequencer's time.
    Midi { port: u16, at: Nanos, len: usize },
    /// Ports or connections have changed.
    PortsChanged,
    /// An event that has no MIDI.
    Other,
    /// A message is longer than the buffer.
    TooLong,
    /// The sequencer had no room for events, and they are lost.
    Overrun,
}

/// The sequencer with ports of our own. libasound is behind it, or a test double.
pub(super) trait Sequencer: PortGraph<i32> + Send {
    /// Our ports.
    fn own_ports(&self) -> Vec<OwnPort<i32>>;
    /// Time of the queue that stamps our events.
    fn time(&mut self) -> Result<Nanos, Errno>;
    /// Waits for an event, at most `timeout_ms`.
    fn wait(&mut self, timeout_ms: i32) -> Result<(), Errno>;
    /// The next event. Its bytes go to `bytes`.
    fn receive(&mut self, bytes: &mut [u8]) -> Result<Received, Errno>;
    /// Sends bytes of MIDI from an output at a time of the queue.
    fn send(&mut self, port: u16, at: Nanos, bytes: &[u8]) -> Result<(), Errno>;
}

/// What the threads share.
#[derive(Default)]
struct ThreadState {
    /// Relaxed: nothing travels with it.
    stop: AtomicBool,
    losses: Arc<MidiLossCounts>,
    /// Connections that the user does not know yet.
    connections: Mutex<Option<Vec<PortConnections>>>,
}

/// The thread. It ends when this is dropped.
pub(crate) struct SequencerHandle {
    shared: Arc<ThreadState>,
    thread: Option<JoinHandle<()>>,
}

/// Starts the thread of `sequencer`.
pub(super) fn start(
    sequencer: impl Sequencer + 'static,
    config: &DriverConfig,
    rate: SampleRate,
) -> Result<(SequencerHandle, SequencerPeriods), String> {
    let shared = Arc::new(ThreadState::default());
    let losses = shared.losses.clone();
    let (periods, ends) = SequencerPeriods::new(config.midi_inputs.len(), rate, losses);
    let mut task = SequencerTask::new(sequencer, SystemClock, ends, shared.clone(), config);
    let priority = config.priority;
    let thread = Builder::new()
        .name("divisi-midi".to_owned())
        .spawn(move || {
            // As that of the audio thread, which says so where it is refused.
            let priority = priority.map_or(Priority::Ordinary, Priority::RealTime);
            let _ = workers::set_priority(priority);
            task.run();
        });
    let thread = thread.map_err(|error| format!("their thread could not be started: {error}"))?;
    let handle = SequencerHandle {
        shared,
        thread: Some(thread),
    };
    Ok((handle, periods))
}

impl SequencerHandle {
    /// The connections that there are, if they have changed since the last call.
    pub(crate) fn take_connections(&self) -> Option<Vec<PortConnections>> {
        let connections = self.shared.connections.lock();
        connections.unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn losses(&self) -> MidiLosses {
        self.shared.losses.get()
    }
}

impl Drop for SequencerHandle {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there has ended MIDI and nothing else.
            let _ = thread.join();
        }
    }
}

/// The thread's state.
pub(super) struct SequencerTask<S, C> {
    sequencer: S,
    clock: C,
    to_audio: Producer<MidiPart>,
    from_audio: Consumer<MidiPart>,
    shared: Arc<ThreadState>,
    connections: Connections<i32>,
    /// Connections of the session's other ports, which this sequencer cannot have: they stay in the session.
    of_other_ports: Vec<PortConnections>,
    ports_changed: bool,
    /// What the clock is ahead of the sequencer, and when that was compared.
    ahead: i64,
    compared: Option<Nanos>,
    /// Time of the last message that was sent.
    last_sent: Nanos,
    bytes: Box<[u8]>,
}

impl<S: Sequencer, C: Clock> SequencerTask<S, C> {
    fn new(
        sequencer: S,
        clock: C,
        ends: ThreadEnds,
        shared: Arc<ThreadState>,
        config: &DriverConfig,
    ) -> Self {
        let ports = sequencer.own_ports();
        let is_ours = |it: &PortConnections| ports.iter().any(|port| port.name == it.port);
        let others = config.connections.iter().filter(|it| !is_ours(it));
        let of_other_ports = others.cloned().collect();
        Self {
            sequencer,
            clock,
            to_audio: ends.to_audio,
            from_audio: ends.from_audio,
            shared,
            connections: Connections::new(ports, &config.connections),
            of_other_ports,
            ports_changed: true,
            ahead: 0,
            compared: None,
            last_sent: Nanos(0),
            bytes: vec![0; EVENT_BYTES].into(),
        }
    }

    /// Works until it is stopped or the sequencer is gone.
    fn run(&mut self) {
        while !self.shared.stop.load(Ordering::Relaxed) {
            if self.step().is_err() {
                return;
            }
        }
        // What is scheduled would be lost with our client.
        self.send_all();
        let now = self.clock.now();
        let until = self.last_sent.0.min(now.0 + MAX_END_WAIT.0);
        self.clock.sleep_until(Nanos(until));
    }

    /// Waits for events, and passes on what there is. An error ends MIDI.
    pub(super) fn step(&mut self) -> Result<(), Errno> {
        match self.sequencer.wait(WAIT_MS) {
            Ok(()) | Err(Errno::INTERRUPTED | Errno::AGAIN) => {}
            Err(error) => return Err(error),
        }
        self.compare_times()?;
        for _ in 0..MAX_EVENTS {
            match self.sequencer.receive(&mut self.bytes) {
                Ok(Received::Nothing) | Err(Errno::AGAIN | Errno::INTERRUPTED) => break,
                Ok(Received::Midi { port, at, len }) => self.receive(port, at, len),
                Ok(Received::PortsChanged) => self.ports_changed = true,
                Ok(Received::Other) => {}
                Ok(Received::TooLong) => self.shared.losses.add_too_long(1),
                Ok(Received::Overrun) => self.shared.losses.add_no_room(),
                Err(error) => return Err(error),
            }
        }
        self.send_all();
        if std::mem::take(&mut self.ports_changed) {
            self.connections.restore(&self.sequencer);
            let mut current = self.connections.current(&self.sequencer);
            current.extend_from_slice(&self.of_other_ports);
            let published = self.shared.connections.lock();
            *published.unwrap_or_else(PoisonError::into_inner) = Some(current);
        }
        Ok(())
    }

    /// Compares the clock with the sequencer's time: what lies between two looks at the clock is halved.
    fn compare_times(&mut self) -> Result<(), Errno> {
        let before = self.clock.now();
        let is_due = |last: Nanos| before.0.saturating_sub(last.0) >= COMPARE_INTERVAL.0;
        if self.compared.is_some_and(|last| !is_due(last)) {
            return Ok(());
        }
        let theirs = self.sequencer.time()?;
        let after = self.clock.now();
        let ours = before.0 + after.0.saturating_sub(before.0) / 2;
        self.ahead = ours.wrapping_sub(theirs.0) as i64;
        self.compared = Some(after);
        Ok(())
    }

    fn receive(&mut self, port: u16, at: Nanos, len: usize) {
        let at = Nanos(at.0.saturating_add_signed(self.ahead));
        let message = &self.bytes[..len.min(EVENT_BYTES)];
        let parts = MidiPart::split(at, port, message);
        if self.to_audio.slots() < parts.len() {
            return self.shared.losses.add_no_room();
        }
        for part in parts {
            // There is room: only this thread fills the ring.
            let _ = self.to_audio.push(part);
        }
    }

    fn send_all(&mut self) {
        while let Ok(part) = self.from_audio.pop() {
            let at = Nanos(part.at.0.saturating_add_signed(-self.ahead));
            self.last_sent = part.at;
            if self.sequencer.send(part.port, at, part.bytes()).is_err() {
                self.shared.losses.add_no_room();
            }
        }
    }
}

/// A task on a double, for tests.
#[cfg(test)]
pub(super) fn task_on<S: Sequencer, C: Clock>(
    sequencer: S,
    clock: C,
    config: &DriverConfig,
) -> (SequencerTask<S, C>, SequencerPeriods, SequencerHandle) {
    let shared = Arc::new(ThreadState::default());
    let rate = crate::clock::DEFAULT_RATE;
    let inputs = config.midi_inputs.len();
    let (periods, ends) = SequencerPeriods::new(inputs, rate, shared.losses.clone());
    let task = SequencerTask::new(sequencer, clock, ends, shared.clone(), config);
    let handle = SequencerHandle {
        shared,
        thread: None,
    };
    (task, periods, handle)
}
