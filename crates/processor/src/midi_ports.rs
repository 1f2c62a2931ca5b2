//! [`MidiPorts`]: live MIDI between the callback and the nodes that name a port.
//!
//! ```text
//!   driver ─▶ MidiPortsCallback::push ─▶ a ring for each reader ─▶ MidiPortReader::pop  (a node)
//!   driver ◀─ MidiPortsCallback::pop ◀── a ring for each writer ◀─ MidiPortWriter::push (a node)
//! ```
//!
//! Ports and rings exist from the beginning. A node takes an end of a ring in its setup, and gives it back when it is
//! dropped, on a thread that may wait.
//!
//! | what | by whom |
//! |---|---|
//! | an end that no node has | `setup` and `drop`, behind a lock |
//! | an end that a node has | the step of that node |
//! | the other ends | the callback |

use crate::EventBody;
use rt::ring::ring;
use rtrb::{Consumer, Producer};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of nodes that can use one port at a time, those of an edit that is being faded included.
pub const MAX_NODES_PER_MIDI_PORT: usize = 4;
/// Events that wait in one ring.
const RING: usize = 4096;

/// An event at its absolute frame.
pub type TimedMidi = (u64, EventBody);

/// Names of MIDI ports, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MidiPortNames {
    /// Ports from which events come.
    pub inputs: Vec<String>,
    /// Ports to which events go.
    pub outputs: Vec<String>,
}

/// The MIDI ports of one engine. Without any, nodes that name one are silent.
#[derive(Debug, Default)]
pub struct MidiPorts {
    inputs: Vec<Port<Consumer<TimedMidi>>>,
    outputs: Vec<Port<Producer<TimedMidi>>>,
}

/// One port, with the ends for its nodes.
#[derive(Debug)]
struct Port<E> {
    name: String,
    ends: Vec<NodeEnd<E>>,
    /// Events that found no room.
    lost: AtomicU64,
}

#[derive(Debug)]
struct NodeEnd<E> {
    end: Mutex<Option<E>>,
    /// True while a node has it. Relaxed: an event more or less at the begin is no harm, and what travels goes through
    /// the ring.
    is_taken: AtomicBool,
}

/// The ends of all ports on the audio thread.
#[derive(Debug, Default)]
pub struct MidiPortsCallback {
    ports: Arc<MidiPorts>,
    inputs: Vec<Vec<Producer<TimedMidi>>>,
    outputs: Vec<Vec<Consumer<TimedMidi>>>,
}

impl<E> Port<E> {
    fn new(name: &str, ends: Vec<E>) -> Self {
        let end = |end| NodeEnd {
            end: Mutex::new(Some(end)),
            is_taken: AtomicBool::new(false),
        };
        Self {
            name: name.to_owned(),
            ends: ends.into_iter().map(end).collect(),
            lost: AtomicU64::new(0),
        }
    }

    fn take(&self) -> Option<(usize, E)> {
        self.ends.iter().enumerate().find_map(|(index, end)| {
            let mut there = end.end.lock().unwrap_or_else(PoisonError::into_inner);
            Some((index, there.take()?))
        })
    }

    fn give_back(&self, index: usize, end: E) {
        let there = &self.ends[index];
        there.is_taken.store(false, Ordering::Relaxed);
        *there.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }
}

/// A port has as many nodes as it can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MidiPortInUse;

impl MidiPorts {
    /// Ports with these names, and their ends for the callback, in the same order.
    ///
    /// Real-time: setup.
    pub fn new(names: &MidiPortNames) -> (Arc<Self>, MidiPortsCallback) {
        let rings = || (0..MAX_NODES_PER_MIDI_PORT).map(|_| ring(RING)).unzip();
        let (mut ports, mut callback) = (Self::default(), MidiPortsCallback::default());
        for name in &names.inputs {
            let (producers, consumers): (Vec<_>, Vec<_>) = rings();
            ports.inputs.push(Port::new(name, consumers));
            callback.inputs.push(producers);
        }
        for name in &names.outputs {
            let (producers, consumers): (Vec<_>, Vec<_>) = rings();
            ports.outputs.push(Port::new(name, producers));
            callback.outputs.push(consumers);
        }
        let ports = Arc::new(ports);
        callback.ports = ports.clone();
        (ports, callback)
    }

    /// The end of input port `name` for a node; `None` if there is no such port.
    ///
    /// # Errors
    ///
    /// The port has [`MAX_NODES_PER_MIDI_PORT`] nodes.
    ///
    /// Real-time: setup.
    pub fn reader(self: &Arc<Self>, name: &str) -> Result<Option<MidiPortReader>, MidiPortInUse> {
        let Some(port) = self.inputs.iter().position(|port| port.name == name) else {
            return Ok(None);
        };
        let (index, mut ring) = self.inputs[port].take().ok_or(MidiPortInUse)?;
        // What another node left.
        while ring.pop().is_ok() {}
        self.inputs[port].ends[index]
            .is_taken
            .store(true, Ordering::Relaxed);
        Ok(Some(MidiPortReader {
            ports: self.clone(),
            place: (port, index),
            ring: Some(ring),
        }))
    }

    /// The end of output port `name` for a node; `None` if there is no such port.
    ///
    /// # Errors
    ///
    /// As for [`reader`](Self::reader).
    ///
    /// Real-time: setup.
    pub fn writer(self: &Arc<Self>, name: &str) -> Result<Option<MidiPortWriter>, MidiPortInUse> {
        let Some(port) = self.outputs.iter().position(|port| port.name == name) else {
            return Ok(None);
        };
        let (index, ring) = self.outputs[port].take().ok_or(MidiPortInUse)?;
        Ok(Some(MidiPortWriter {
            ports: self.clone(),
            place: (port, index),
            ring: Some(ring),
        }))
    }

    /// Ports that lost events because a ring was full, with the number of events.
    ///
    /// Real-time: setup.
    pub fn lost(&self) -> Vec<(&str, u64)> {
        let inputs = self.inputs.iter().map(|port| (&port.name, &port.lost));
        let outputs = self.outputs.iter().map(|port| (&port.name, &port.lost));
        let counts = inputs.chain(outputs);
        // Relaxed: a count by itself.
        let counts = counts.map(|(name, lost)| (name.as_str(), lost.load(Ordering::Relaxed)));
        counts.filter(|(_, lost)| *lost > 0).collect()
    }
}

impl MidiPortsCallback {
    /// Gives the events `bodies`, which are one message, to every node of input `port`. A node whose ring has no room
    /// for all of them gets none.
    ///
    /// Real-time: hot.
    pub fn push(&mut self, port: usize, at: u64, bodies: impl Iterator<Item = EventBody> + Clone) {
        let Some(rings) = self.inputs.get_mut(port) else {
            return;
        };
        let there = &self.ports.inputs[port];
        let count = bodies.clone().count();
        for (ring, end) in rings.iter_mut().zip(&there.ends) {
            // Relaxed: see `NodeEnd`.
            if !end.is_taken.load(Ordering::Relaxed) {
                continue;
            }
            if ring.slots() < count {
                there.lost.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            for body in bodies.clone() {
                // There is room: only this thread fills the ring.
                let _ = ring.push((at, body));
            }
        }
    }

    /// The next event before frame `end` of output `port`, in the order of frames, and the number of its writer.
    ///
    /// Real-time: hot.
    pub fn pop(&mut self, port: usize, end: u64) -> Option<(usize, TimedMidi)> {
        let rings = self.outputs.get_mut(port)?;
        let heads = rings.iter_mut().enumerate();
        let heads = heads.filter_map(|(index, ring)| Some((index, ring.peek().ok()?.0)));
        let (first, at) = heads.min_by_key(|(_, at)| *at)?;
        if at >= end {
            return None;
        }
        Some((first, rings[first].pop().ok()?))
    }

    /// Number of output ports.
    ///
    /// Real-time: hot.
    pub fn output_count(&self) -> usize {
        self.outputs.len()
    }
}

/// A node's end of an input port.
#[derive(Debug)]
pub struct MidiPortReader {
    ports: Arc<MidiPorts>,
    place: (usize, usize),
    ring: Option<Consumer<TimedMidi>>,
}

impl MidiPortReader {
    /// The next event before frame `end`.
    ///
    /// Real-time: hot.
    pub fn pop(&mut self, end: u64) -> Option<TimedMidi> {
        let ring = self.ring.as_mut()?;
        if ring.peek().ok()?.0 >= end {
            return None;
        }
        ring.pop().ok()
    }
}

impl Drop for MidiPortReader {
    fn drop(&mut self) {
        let (port, index) = self.place;
        if let Some(ring) = self.ring.take() {
            self.ports.inputs[port].give_back(index, ring);
        }
    }
}

/// A node's end of an output port.
#[derive(Debug)]
pub struct MidiPortWriter {
    ports: Arc<MidiPorts>,
    place: (usize, usize),
    ring: Option<Producer<TimedMidi>>,
}

impl MidiPortWriter {
    /// Sends an event at absolute frame `at`. Returns false if it is lost.
    ///
    /// Real-time: hot.
    pub fn push(&mut self, at: u64, body: EventBody) -> bool {
        let Some(ring) = &mut self.ring else {
            return false;
        };
        let is_sent = ring.push((at, body)).is_ok();
        if !is_sent {
            // Relaxed: a count by itself.
            self.ports.outputs[self.place.0]
                .lost
                .fetch_add(1, Ordering::Relaxed);
        }
        is_sent
    }
}

impl Drop for MidiPortWriter {
    fn drop(&mut self) {
        let (port, index) = self.place;
        if let Some(ring) = self.ring.take() {
            self.ports.outputs[port].give_back(index, ring);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(inputs: &[&str], outputs: &[&str]) -> (Arc<MidiPorts>, MidiPortsCallback) {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        MidiPorts::new(&MidiPortNames {
            inputs: names(inputs),
            outputs: names(outputs),
        })
    }

    fn value(number: f32) -> EventBody {
        EventBody::Value(number)
    }

    #[test]
    fn every_node_of_a_port_gets_its_events_until_it_is_dropped() {
        let (ports, mut callback) = make(&["keys"], &[]);
        assert!(ports.reader("pads").unwrap().is_none());
        let mut readers: Vec<_> = (0..MAX_NODES_PER_MIDI_PORT)
            .map(|_| ports.reader("keys").unwrap().unwrap())
            .collect();
        assert_eq!(ports.reader("keys").unwrap_err(), MidiPortInUse);
        callback.push(0, 7, [value(1.0), value(2.0)].into_iter());
        assert_eq!(readers[1].pop(7), None);
        assert_eq!(readers[1].pop(8), Some((7, value(1.0))));
        readers.pop();
        let mut last = ports.reader("keys").unwrap().unwrap();
        assert_eq!(last.pop(100), None);
        callback.push(0, 9, std::iter::once(value(3.0)));
        assert_eq!(last.pop(100), Some((9, value(3.0))));
    }

    #[test]
    fn a_message_for_which_there_is_no_room_is_left_out_as_a_whole_and_counted() {
        let (ports, mut callback) = make(&["keys"], &[]);
        let mut reader = ports.reader("keys").unwrap().unwrap();
        for _ in 0..RING / 3 + 5 {
            callback.push(0, 0, [value(1.0), value(2.0), value(3.0)].into_iter());
        }
        let count = std::iter::from_fn(|| reader.pop(1)).count();
        assert_eq!((count, ports.lost()), (RING / 3 * 3, vec![("keys", 5)]));
    }

    #[test]
    fn the_events_of_all_writers_leave_in_the_order_of_their_frames() {
        let (ports, mut callback) = make(&[], &["out"]);
        let mut a = ports.writer("out").unwrap().unwrap();
        let mut b = ports.writer("out").unwrap().unwrap();
        for at in [1, 4, 9] {
            a.push(at, value(0.0));
            b.push(at + 1, value(0.0));
        }
        let frames = std::iter::from_fn(|| callback.pop(0, 10)).map(|(_, (at, _))| at);
        assert_eq!(frames.collect::<Vec<_>>(), [1, 2, 4, 5, 9]);
    }
}
