//! Outputs that stay inside cells, for meters: each has one place in the memory of every process, and is ordered where its node plays.

use super::CellService;
use crate::raw;
use crate::status::ProcessMemory;
use crate::taps::{ReadTap, TAP_CHANNELS, TAPS, TapOrder, is_refused, order_tap};
use graph::{NodeId, PortRef, Signal};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time between two looks for where nodes play.
const INTERVAL: Duration = Duration::from_millis(50);

/// An output inside a cell that is tapped, as long as this value lives.
#[derive(Debug)]
pub struct InnerTap {
    place: usize,
    _alive: Arc<()>,
}

/// Taps of the cells of a session.
#[derive(Default)]
pub(super) struct ServedTaps {
    all: Vec<Option<ServedTap>>,
    /// Node and output of those that have a place as long as the session plays.
    held: Vec<(String, String)>,
    /// Number of the last one.
    last: u16,
    /// Time at which they were looked up.
    ordered: Option<Instant>,
}

/// A tapped output.
struct ServedTap {
    node: String,
    port: String,
    /// Those of its node by now; 0 where there is no room for them.
    channels: usize,
    number: u16,
    alive: Arc<()>,
    /// Place of the cell of its node, and the order there.
    placed: Option<(usize, TapOrder)>,
    read: ReadTap,
    /// It was told that its process cannot tap it.
    has_told: bool,
}

impl ServedTap {
    fn is_over(&self) -> bool {
        Arc::strong_count(&self.alive) == 1
    }
}

/// An output of the whole graph.
struct Output {
    at: PortRef,
    channels: usize,
}

impl CellService {
    /// Returns true if the output `port` of a node stays inside a cell.
    ///
    /// Real-time: setup.
    pub fn stays_inside(&self, node: &str, port: &str) -> bool {
        let Some(Output { at, .. }) = self.output(node, port) else {
            return false;
        };
        let graph = &self.options.graph;
        let cell = self.cells.iter().find(|cell| cell.has(graph, at.node));
        let readers = graph.edges().iter().filter(|edge| edge.from == at);
        let mut readers = readers.map(|edge| edge.to.node);
        cell.is_some_and(|cell| readers.all(|it| cell.has(graph, it)))
    }

    /// Keeps places for outputs that are tapped as long as the session plays, as far as they stay inside cells.
    ///
    /// # Errors
    ///
    /// As for [`Self::check_taps`].
    ///
    /// Real-time: setup.
    pub fn hold_taps(&mut self, ports: &[(&str, &str)]) -> Result<(), String> {
        self.taps.held.clear();
        self.check_taps(ports)?;
        let owned = |(node, port): &(&str, &str)| ((*node).to_owned(), (*port).to_owned());
        self.taps.held = ports.iter().map(owned).collect();
        Ok(())
    }

    /// Checks whether all of these outputs can be tapped together and beside those that are held, as far as they stay inside cells.
    /// One that is held and asked for takes two places.
    ///
    /// # Errors
    ///
    /// They are too many, or have too many channels.
    ///
    /// Real-time: setup.
    pub fn check_taps(&self, ports: &[(&str, &str)]) -> Result<(), String> {
        let held = self.taps.held.iter();
        let held = held.map(|(node, port)| (node.as_str(), port.as_str()));
        let all = ports.iter().copied().chain(held);
        let inside = all.filter(|(node, port)| self.stays_inside(node, port));
        let outputs = inside.filter_map(|(node, port)| self.output(node, port));
        let channels: Vec<usize> = outputs.map(|it| it.channels).collect();
        match channels.len() <= TAPS && channels.iter().sum::<usize>() <= TAP_CHANNELS {
            true => Ok(()),
            false => Err(too_many()),
        }
    }

    /// Taps the output `port` of a node inside a cell.
    ///
    /// # Errors
    ///
    /// There is no such output inside a cell, or there are too many.
    ///
    /// Real-time: setup.
    pub fn add_tap(&mut self, node: &str, port: &str) -> Result<InnerTap, String> {
        let output = self.output(node, port).filter(|it| it.channels > 0);
        let (Some(Output { channels, .. }), true) = (output, self.stays_inside(node, port)) else {
            return Err(format!("`{node}.{port}` is not inside a cell"));
        };
        let taps = &mut self.taps;
        taps.end_over();
        let used = taps.channels();
        let place = taps.all.iter().position(Option::is_none);
        let place = place.or((taps.all.len() < TAPS).then_some(taps.all.len()));
        let (Some(place), true) = (place, used + channels <= TAP_CHANNELS) else {
            return Err(too_many());
        };
        let number = taps.next_number();
        let alive = Arc::new(());
        let tap = ServedTap {
            node: node.to_owned(),
            port: port.to_owned(),
            channels,
            number,
            alive: alive.clone(),
            placed: None,
            read: ReadTap::default(),
            has_told: false,
        };
        if place == taps.all.len() {
            taps.all.push(None);
        }
        taps.all[place] = Some(tap);
        self.place_taps();
        Ok(InnerTap {
            place,
            _alive: alive,
        })
    }

    /// Has the process of each cell tap what is wanted of its nodes. To be called every few milliseconds: processes come and go. Gives
    /// the outputs that cannot be tapped, each once.
    ///
    /// Real-time: setup.
    pub fn order_taps(&mut self) -> Vec<String> {
        if self.taps.ordered.is_some_and(|it| it.elapsed() <= INTERVAL) {
            return Vec::new();
        }
        self.place_taps();
        let cells = &self.cells;
        let refused = (0..).zip(&mut self.taps.all).filter_map(|(place, tap)| {
            let tap = tap.as_mut()?;
            let (cell, order) = tap.placed?;
            let refuses = |memory: &ProcessMemory| is_refused(memory.head.words(), place, order);
            let cell = cells.get(cell)?;
            let is_refused = cell.status.with_memory(refuses) == Some(true);
            (is_refused && !std::mem::replace(&mut tap.has_told, true))
                .then(|| tap.refusal(&cell.spec.name))
        });
        refused.collect()
    }

    /// Looks up where the nodes of all taps play, and orders the taps there.
    fn place_taps(&mut self) {
        self.taps.end_over();
        let outputs = self.taps.all.iter().map(|tap| {
            let tap = tap.as_ref()?;
            self.output(&tap.node, &tap.port)
        });
        let outputs: Vec<Option<Output>> = outputs.collect();
        for (place, output) in outputs.iter().enumerate() {
            if let Some(output) = output {
                self.taps.widen(place, output.channels);
            }
        }
        let placed = self.taps.all.iter().zip(outputs).map(|(tap, output)| {
            let tap = tap.as_ref().filter(|it| it.channels > 0)?;
            let at = output?.at;
            Some((self.cell_at(at.node)?, tap.order(at)))
        });
        let placed: Vec<Option<(usize, TapOrder)>> = placed.collect();
        for (at, cell) in self.cells.iter().enumerate() {
            cell.status.with_memory(|memory| {
                for place in 0..TAPS {
                    let order = placed.get(place).copied().flatten();
                    let order = order.filter(|it| it.0 == at).map(|it| it.1);
                    order_tap(memory.head.words(), place, order);
                }
            });
        }
        for (tap, placed) in self.taps.all.iter_mut().zip(placed) {
            tap.iter_mut().for_each(|tap| tap.placed = placed);
        }
        self.taps.ordered = Some(Instant::now());
    }

    /// Passes the channels and the samples that have come of a tapped output to `read`.
    ///
    /// Real-time: setup.
    pub fn read_tap(&mut self, tap: &InnerTap, read: &mut dyn FnMut(usize, &[f32])) {
        let frames = self.monitor.block.count();
        let served = self.taps.all.get_mut(tap.place).and_then(Option::as_mut);
        let Some(served) = served else { return };
        // A cell that has gone since has answered no such order.
        let placed = served.placed;
        let found = placed.and_then(|(cell, order)| Some((&self.cells.get(cell)?.status, order)));
        let Some((status, order)) = found else {
            return;
        };
        let channels = served.channels;
        // Relaxed: a number that tells processes apart.
        let process = status.starts.load(Ordering::Relaxed);
        let blocks = (status.blocks(), frames);
        let samples: Option<Option<Vec<f32>>> = status.with_memory(|memory| {
            let shared = (&memory.file, memory.head.words());
            let place = (tap.place, channels);
            served.read.read(shared, place, (process, order), blocks)
        });
        if let Some(samples) = samples.flatten() {
            read(channels, &samples);
        }
    }

    /// The output `port` of a node of the whole graph.
    fn output(&self, node: &str, port: &str) -> Option<Output> {
        let graph = &self.options.graph;
        let node = graph.find(node)?;
        let mut outputs = (0..).zip(&graph.node(node)?.outputs);
        let (port, found) = outputs.find(|(_, it)| it.name == port)?;
        let Signal::Audio(channels) = found.signal else {
            return None;
        };
        let at = PortRef { node, port };
        let channels = channels.count();
        Some(Output { at, channels })
    }

    /// The place of the cell of a node.
    fn cell_at(&self, node: NodeId) -> Option<usize> {
        let graph = &self.options.graph;
        self.cells.iter().position(|cell| cell.has(graph, node))
    }
}

impl ServedTap {
    fn refusal(&self, cell: &str) -> String {
        format!(
            "`{}.{}` is not measured: the process of the cell `{cell}` has no such output, or no memory for it (a larger `memory_mib` gives some)",
            self.node, self.port
        )
    }

    fn order(&self, at: PortRef) -> TapOrder {
        TapOrder {
            node: at.node,
            port: at.port,
            number: self.number,
        }
    }
}

impl ServedTaps {
    pub(super) fn new() -> Self {
        Self {
            // Other numbers than those of a supervisor before, which its processes have answered: it has ordered fewer in that time.
            last: (raw::now().0 >> 24) as u16,
            ..Self::default()
        }
    }

    /// Channels of all.
    fn channels(&self) -> usize {
        self.all.iter().flatten().map(|it| it.channels).sum()
    }

    fn next_number(&mut self) -> u16 {
        self.last = self.last.checked_add(1).unwrap_or(1);
        self.last
    }

    /// Gives the tap at `place` so many channels, as its node has by now: another order. It has none until there is room.
    fn widen(&mut self, place: usize, channels: usize) {
        let now = |taps: &Self| Some(taps.all.get(place)?.as_ref()?.channels);
        let Some(before) = now(self).filter(|it| *it != channels) else {
            return;
        };
        let has_room = self.channels() - before + channels <= TAP_CHANNELS;
        let channels = if has_room { channels } else { 0 };
        if channels == before {
            return;
        }
        let number = self.next_number();
        if let Some(Some(tap)) = self.all.get_mut(place) {
            (tap.channels, tap.number, tap.has_told) = (channels, number, false);
        }
    }

    /// Frees the places of those that nobody has any more.
    fn end_over(&mut self) {
        for place in &mut self.all {
            if place.as_ref().is_some_and(ServedTap::is_over) {
                *place = None;
            }
        }
    }
}

fn too_many() -> String {
    format!(
        "at most {TAPS} outputs that stay inside cells are measured, of {TAP_CHANNELS} channels together, for all clients and `--see`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tap_has_the_channels_of_its_node_as_far_as_there_is_room() {
        let tap = |number| ServedTap {
            node: "a".to_owned(),
            port: "out".to_owned(),
            channels: 1,
            number,
            alive: Arc::new(()),
            placed: None,
            read: ReadTap::default(),
            has_told: false,
        };
        let mut taps = ServedTaps {
            all: vec![Some(tap(1)), None, Some(tap(2))],
            last: 2,
            ..ServedTaps::default()
        };
        let steps = [
            (0, 1, 1, 1),
            (0, 2, 2, 3),
            (0, TAP_CHANNELS, 0, 4),
            (0, TAP_CHANNELS, 0, 4),
            (2, 0, 0, 5),
            (0, TAP_CHANNELS, TAP_CHANNELS, 6),
        ];
        for (place, channels, expected, number) in steps {
            taps.widen(place, channels);
            let tap = taps.all[place].as_ref().unwrap();
            assert_eq!((tap.channels, tap.number), (expected, number));
        }
        taps.widen(1, 2);
        assert!(taps.all[1].is_none());
        assert_eq!(taps.channels(), TAP_CHANNELS);
    }
}
