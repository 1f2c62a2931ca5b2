//! [`HandedSession`]: the session as a supervisor has read it, for each process of its cells.
//!
//! A process that read the file again could read another one. So it gets the text in the memory of its checkpoints, behind
//! both buffers, and with it the number of its part: of nodes, edges and border. A process that finds another part (a file
//! that the session includes has changed) says so and ends. A supervisor that comes after another takes over the cells of
//! its own part alone.
//!
//! | word | holds |
//! |---|---|
//! | 0 | a constant |
//! | 1 | number of the part |
//! | 2, 3, 4, 5 | bytes of the text, of the ids, of the slots, of the marks |
//! | then | the text; then for each node its id, the length of its name and the name; then the targets of events; then marks of files |
//!
//! There are ids where the graph was changed while it played: sums have their terms in the order of ids.

use crate::border::{INPUT, OUTPUT};
use crate::checkpoint::{FIRST_BUFFER, MAX_WORDS};
use crate::own_params::ends_before;
use crate::section::{CellSpec, SECTION};
use crate::slots::{Slot, slot_bytes, slots_of};
use crate::split::CellPart;
use ::text::Session;
use graph::{Catalogue, Graph, Node, NodeId, PortRef};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// First byte in the memory of checkpoints.
pub(crate) const HANDED_AT: u64 = 8 * (FIRST_BUFFER + 2 * MAX_WORDS) as u64;
/// First word.
const MAGIC: u64 = 0x4443_4853_0001_5354;
/// Bytes before the text.
const HEAD: usize = 48;
/// Longest text or ids, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// A session, for the processes of its cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandedSession {
    /// Its text.
    pub text: String,
    /// Names and ids of its nodes; none if they are those of the text.
    pub ids: Vec<(String, NodeId)>,
    /// Targets of events for one part, where edits have numbered them.
    pub(crate) slots: Arc<[Slot]>,
    /// Marks of its files, by the program that reads the session.
    pub marks: String,
}

impl HandedSession {
    /// A session whose nodes have the ids of the text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A session with another graph and other cells.
    ///
    /// Real-time: setup.
    pub fn with_cells(
        session: &Session,
        (graph, cells): (&Graph, &[CellSpec]),
        catalogue: &Catalogue,
    ) -> Self {
        let mut session = session.clone();
        session.graph = graph.clone();
        // Flat: parts may be those of files, which would be read again.
        session.parts = None;
        session.sections.retain(|it| it.name != SECTION);
        session.sections.extend(cells.iter().map(CellSpec::section));
        Self::written(::text::toml::write(&session, catalogue), graph)
    }

    /// A text that was written for `graph`, whose nodes keep their ids.
    pub(crate) fn written(text: String, graph: &Graph) -> Self {
        let ids = graph.nodes().map(|(id, node)| (node.name.clone(), id));
        Self {
            text,
            ids: ids.collect(),
            ..Self::default()
        }
    }

    /// The bytes for the processes of a part: `plain` without numbers of its own.
    pub(crate) fn for_part(&self, part: &CellPart, plain: &Arc<[u8]>) -> Arc<[u8]> {
        if !part.is_renumbered {
            return plain.clone();
        }
        let slots = part.slots.clone();
        let session = self.clone();
        Self { slots, ..session }.to_bytes()
    }

    /// Gives a part the numbers of its targets by which the supervisor knows them.
    ///
    /// Real-time: setup.
    pub fn number_targets(&self, part: &mut CellPart) {
        if !self.slots.is_empty() {
            part.slots = self.slots.clone();
            part.is_renumbered = true;
        }
    }

    /// Reads what the supervisor has left in the memory at `path`, and the number of the part.
    ///
    /// # Errors
    ///
    /// There is nothing, or it is torn.
    ///
    /// Real-time: setup.
    pub fn read(path: &Path) -> Result<(Self, u64), String> {
        let file = File::open(path);
        let file = file.map_err(|error| format!("its memory is not there: {error}"))?;
        let nothing = || "its supervisor has left no session".to_owned();
        read(&file).ok_or_else(nothing)
    }

    /// Gives the nodes of a graph that was read from the text the ids that they have in the supervisor.
    ///
    /// # Errors
    ///
    /// The name of a node that the text has and the ids have not, or the other way round.
    ///
    /// Real-time: setup.
    pub fn place(&self, graph: &Graph) -> Result<Graph, String> {
        if self.ids.is_empty() {
            return Ok(graph.clone());
        }
        let ids: HashMap<&str, NodeId> = (self.ids.iter())
            .map(|(name, id)| (name.as_str(), *id))
            .collect();
        let id = |old: NodeId| {
            let name = graph.node(old).map_or("", |node| &node.name);
            let found = ids.get(name).copied();
            found.ok_or_else(|| format!("the session has no node `{name}`"))
        };
        let mut placed = Graph::default();
        placed.set_tempo(graph.tempo().clone());
        let last = self.ids.iter().map(|(_, id)| id.0).max().unwrap_or(0);
        if last > 1 << 24 || graph.len() != ids.len() {
            return Err("the session has other nodes than its supervisor's".to_owned());
        }
        (0..=last).for_each(|_| {
            placed.reserve_id();
        });
        for (old, node) in graph.nodes() {
            let restored = placed.restore(id(old)?, node.clone());
            restored.map_err(|node| format!("`{}` has the id of another", node.name))?;
        }
        for edge in graph.edges() {
            let end = |at: PortRef| id(at.node).map(|node| PortRef { node, ..at });
            placed.connect(graph::Edge {
                from: end(edge.from)?,
                to: end(edge.to)?,
                ..*edge
            });
        }
        Ok(placed)
    }

    /// The bytes for the memory of a process.
    pub(crate) fn to_bytes(&self) -> Arc<[u8]> {
        let mut ids = Vec::new();
        for (name, id) in &self.ids {
            ids.extend(id.0.to_le_bytes());
            ids.extend((name.len() as u32).to_le_bytes());
            ids.extend(name.as_bytes());
        }
        let slots = slot_bytes(&self.slots);
        let marks = self.marks.as_bytes();
        let lengths = [self.text.len(), ids.len(), slots.len(), marks.len()].map(|it| it as u64);
        let [text, names, targets, notes] = lengths;
        let head = [MAGIC, 0, text, names, targets, notes];
        let mut bytes: Vec<u8> = head.iter().flat_map(|it| it.to_le_bytes()).collect();
        bytes.extend(self.text.as_bytes());
        bytes.extend(ids);
        bytes.extend(slots);
        bytes.extend(marks);
        bytes.into()
    }
}

/// Writes `bytes` behind the buffers of `file`, for the part of this number.
pub(crate) fn leave(file: &File, bytes: &[u8], part: u64) -> std::io::Result<()> {
    if !ends_before(file, HANDED_AT + bytes.len() as u64) {
        return Err(std::io::ErrorKind::WriteZero.into());
    }
    file.write_all_at(bytes, HANDED_AT)?;
    file.write_all_at(&part.to_le_bytes(), HANDED_AT + 8)
}

/// Number of the part in `file`, as the supervisor left it. The cell may have written another one since.
pub(crate) fn part_number(file: &File) -> Option<u64> {
    let head = read_head(file)?;
    Some(head[1])
}

/// All bytes that the supervisor has left in `file`.
pub(crate) fn left_bytes(file: &File) -> Option<Vec<u8>> {
    let [_, _, text, ids, slots, marks] = read_head(file)?;
    let len = [text, ids, slots, marks]
        .into_iter()
        .try_fold(HEAD as u64, u64::checked_add);
    let len = len.filter(|len| *len <= MAX_BYTES)?;
    let mut bytes = vec![0; len as usize];
    file.read_exact_at(&mut bytes, HANDED_AT).ok()?;
    Some(bytes)
}

/// Writes back what [`left_bytes`] has read.
pub(crate) fn leave_again(file: &File, bytes: &[u8]) -> std::io::Result<()> {
    file.write_all_at(bytes, HANDED_AT)
}

fn read_head(file: &File) -> Option<[u64; 6]> {
    let mut bytes = [0; HEAD];
    file.read_exact_at(&mut bytes, HANDED_AT).ok()?;
    let (words, _) = bytes.as_chunks::<8>();
    let mut head = [0; 6];
    (head.iter_mut().zip(words)).for_each(|(to, from)| *to = u64::from_le_bytes(*from));
    (head[0] == MAGIC).then_some(head)
}

/// Reads what the supervisor has left, and the number of the part.
pub(crate) fn read(file: &File) -> Option<(HandedSession, u64)> {
    let [_, part, text, ids, slots, marks] = read_head(file)?;
    if [text, ids, slots, marks].iter().any(|len| *len > MAX_BYTES) {
        return None;
    }
    let get = |len: u64, at: u64| {
        let mut bytes = vec![0; len as usize];
        file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    };
    let first = HANDED_AT + HEAD as u64;
    let bytes = get(text, first)?;
    let marks = String::from_utf8(get(marks, first + text + ids + slots)?).ok()?;
    let slots = slots_of(&get(slots, first + text + ids)?);
    let (mut left, mut all) = (&get(ids, first + text)?[..], Vec::new());
    let text = String::from_utf8(bytes).ok()?;
    while !left.is_empty() {
        let (id, rest) = left.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        let name = String::from_utf8(name.to_vec()).ok()?;
        all.push((name, NodeId(u32::from_le_bytes(*id))));
        left = rest;
    }
    let handed = HandedSession {
        text,
        ids: all,
        slots,
        marks,
    };
    Some((handed, part))
}

impl CellPart {
    /// A number of its nodes, edges and border: another part has another one. An input that drives a parameter is known by
    /// what it does, not by its place: one whose edge was removed stays in a graph, and is not in the text of it. The order of
    /// keys counts as little: a text has that of the kind.
    ///
    /// Real-time: setup.
    pub fn number(&self) -> u64 {
        let mut text = String::new();
        let names: HashSet<&str> = self.spec.nodes.iter().map(String::as_str).collect();
        let is_own = |node: &Node| {
            ![INPUT, OUTPUT].contains(&node.kind.as_str()) && names.contains(node.name.as_str())
        };
        for (id, node) in self.graph.nodes().filter(|(_, node)| is_own(node)) {
            let ports = (
                node.kind_inputs(),
                &node.outputs,
                node.channels,
                node.output_channels,
            );
            let runs = (node.every, node.enabled, node.bypassed);
            let mut params: Vec<_> = node.params.iter().collect();
            params.sort_by_key(|(name, _)| name);
            let kind = (&node.name, &node.kind, &node.stand_in, params);
            // A `String` takes whatever is written.
            let _ = writeln!(text, "{} {kind:?} {ports:?} {runs:?}", id.0);
        }
        let edges = self.graph.edges().iter().filter_map(|edge| {
            let to = self.graph.node(edge.to.node).filter(|it| is_own(it))?;
            let driven = to.inputs.get(usize::from(edge.to.port));
            let driven = driven.and_then(|port| Some((port, port.modulation?)));
            Some(match driven {
                Some((port, how)) => {
                    let what = (port.driven_name(), port.signal, how);
                    format!("{:?} {:?} {what:?}\n", edge.from, edge.to.node)
                }
                None => format!("{:?} {:?}\n", edge.from, edge.to),
            })
        });
        let mut edges: Vec<String> = edges.collect();
        edges.sort_unstable();
        text.extend(edges);
        let _ = writeln!(text, "{:?} {:?}", self.inputs, self.outputs);
        if self.is_renumbered {
            let _ = writeln!(text, "{:?}", self.slots);
        }
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        text.bytes().fold(0xCBF2_9CE4_8422_2325, mix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::CheckpointMemory;

    #[test]
    fn what_is_left_is_read_and_garbage_is_not() {
        let handed = HandedSession {
            text: "edges = []\n# é".to_owned(),
            ids: vec![("a".to_owned(), NodeId(7)), ("ü b".to_owned(), NodeId(2))],
            slots: slots_of(&[7, 0, 0, 0, 3, 0, 1, 1, 2, 0, 0, 0, 4, 0, 0, 0]),
            marks: "[]".to_owned(),
        };
        let memory = CheckpointMemory::with(&handed.to_bytes(), 99).unwrap();
        assert_eq!(read(memory.file()), Some((handed.clone(), 99)));
        assert_eq!(part_number(memory.file()), Some(99));
        assert_eq!(read(CheckpointMemory::new().unwrap().file()), None);
        let mut state = 1u32;
        for _ in 0..2000 {
            let memory = CheckpointMemory::with(&handed.to_bytes(), 99).unwrap();
            for _ in 0..3 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = HANDED_AT + u64::from(state >> 8) % 80;
                let _ = memory.file().write_all_at(&[(state >> 3) as u8], at);
            }
            let _ = read(memory.file());
        }
    }
}
