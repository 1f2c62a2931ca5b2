//! [`EditHistory`]: the changes that can be taken back, and those that were.

mod kept;

pub use kept::KeptHistory;

use crate::ControlError;
use crate::cells::{EditGoal, Host, set_params};
use crate::loaded_state::LoadedState;
use engine::Engine;
use graph::{Edit, Graph, NodeId, ParamValue, edits_back};
use processor::Registry;
use std::cell::OnceCell;
use std::sync::Arc;
use text::Session;
use text::toml::snapshots::Snapshots;

/// Number of nodes of all graphs that are kept, and number of changes.
const MAX_NODES: usize = 200_000;
const MAX_ENTRIES: usize = 1000;

/// The changes so far, the last one at the end of each list.
#[derive(Default)]
pub(crate) struct EditHistory {
    undo: Vec<UndoEntry>,
    redo: Vec<UndoEntry>,
    /// Number of changes, those that go back included.
    changes: u64,
    /// Another one whenever the lists are others.
    revision: u64,
    /// Number of the next entry.
    next: u64,
}

/// A change that can be taken back: what was before it.
pub(crate) struct UndoEntry {
    /// Number among all entries of a history.
    number: u64,
    change: PreviousState,
    /// The snapshots, if they changed.
    snapshots: Option<Arc<Snapshots>>,
    /// Tempo and controllers, if a session was loaded that has others.
    loaded: Option<Box<LoadedState>>,
    /// The same in words, once they were asked for.
    words: OnceCell<Arc<str>>,
}

/// Changes of a step of the history.
pub(crate) struct Playing<'a> {
    pub(crate) engine: &'a mut Engine,
    pub(crate) cells: Host<'a>,
    pub(crate) snapshots: &'a mut Arc<Snapshots>,
    pub(crate) session: &'a mut Session,
}

enum PreviousState {
    /// Back to this graph.
    Graph(Box<Graph>),
    /// Back to these values: node, parameter, value.
    Params(Vec<(String, String, f64)>),
    /// Back to the graph in these words, which a supervisor before has kept.
    Kept(Arc<str>),
}

impl UndoEntry {
    /// The state before `edits`. Graphs are kept where nodes or edges change.
    pub(crate) fn before(
        edits: &[Edit],
        changes_graph: bool,
        (graph, engine): (&Graph, &Engine),
    ) -> Self {
        let change = match changes_graph {
            true => PreviousState::Graph(Box::new(graph.clone())),
            false => PreviousState::Params(old_values(edits, (graph, engine))),
        };
        Self::to(change)
    }

    fn to(change: PreviousState) -> Self {
        Self {
            number: 0,
            change,
            snapshots: None,
            loaded: None,
            words: OnceCell::new(),
        }
    }

    /// The same change, which changed tempo or controllers too if `before` is not as `after`.
    pub(crate) fn with_loaded(self, before: LoadedState, after: &LoadedState) -> Self {
        let loaded = before.differs(after).then(|| Box::new(before));
        Self { loaded, ..self }
    }

    /// The same change, which changed the snapshots too if `before` are not `after`.
    pub(crate) fn with_snapshots(self, before: &Arc<Snapshots>, after: &Arc<Snapshots>) -> Self {
        let snapshots = (before != after).then(|| before.clone());
        Self { snapshots, ..self }
    }

    /// The parameters that it sets, if it sets parameters alone.
    fn keys(&self) -> Option<Vec<(&str, &str)>> {
        match (&self.change, &self.snapshots, &self.loaded) {
            (PreviousState::Params(values), None, None) => {
                let keys = values.iter();
                let keys = keys.map(|(node, key, _)| (node.as_str(), key.as_str()));
                Some(keys.collect())
            }
            _ => None,
        }
    }

    fn nodes(&self) -> usize {
        let kept = self.snapshots.iter().flat_map(|all| all.values());
        let kept: usize = kept.map(|snapshot| snapshot.len()).sum();
        match &self.change {
            PreviousState::Graph(graph) => graph.len() + kept,
            PreviousState::Params(_) | PreviousState::Kept(_) => 1 + kept,
        }
    }
}

impl EditHistory {
    /// Keeps a change. Values of the same parameters, one after the other, are one change.
    pub(crate) fn remember(&mut self, before: UndoEntry) {
        self.changes += 1;
        let is_sweep = self
            .undo
            .last()
            .is_some_and(|last| last.keys().is_some() && last.keys() == before.keys());
        if is_sweep && self.redo.is_empty() {
            return;
        }
        self.revision += 1;
        self.redo.clear();
        if !is_sweep {
            let number = self.next;
            self.undo.push(UndoEntry { number, ..before });
            self.next += 1;
        }
        let mut nodes: usize = self.undo.iter().map(UndoEntry::nodes).sum();
        while self.undo.len() > MAX_ENTRIES || (nodes > MAX_NODES && self.undo.len() > 1) {
            nodes -= self.undo.remove(0).nodes();
        }
    }

    /// Takes the last change back. Gives the entry, if cells have begun to.
    pub(crate) fn undo(
        &mut self,
        playing: Playing<'_>,
        registry: &Registry,
    ) -> Result<Option<SteppedEntry>, ControlError> {
        let lists = (&mut self.undo, &mut self.redo);
        let entry = step("undo", lists, (playing, self.next), registry)?;
        self.count_step();
        Ok(entry.map(|entry| SteppedEntry {
            entry,
            is_undo: true,
        }))
    }

    /// The cells have not made a step: it can be tried again.
    pub(crate) fn take_back(&mut self, stepped: SteppedEntry) {
        let (from, to) = match stepped.is_undo {
            true => (&mut self.undo, &mut self.redo),
            false => (&mut self.redo, &mut self.undo),
        };
        from.push(stepped.entry);
        to.pop();
        self.revision += 1;
    }

    fn count_step(&mut self) {
        self.changes += 1;
        self.revision += 1;
        self.next += 1;
    }

    /// Number of changes so far, those that went back included.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Makes the last change that was taken back again. Gives the entry, if cells have begun to.
    pub(crate) fn redo(
        &mut self,
        playing: Playing<'_>,
        registry: &Registry,
    ) -> Result<Option<SteppedEntry>, ControlError> {
        let lists = (&mut self.redo, &mut self.undo);
        let entry = step("redo", lists, (playing, self.next), registry)?;
        self.count_step();
        Ok(entry.map(|entry| SteppedEntry {
            entry,
            is_undo: false,
        }))
    }
}

/// A step that cells make.
pub(crate) struct SteppedEntry {
    entry: UndoEntry,
    is_undo: bool,
}

/// Goes to the last entry of `from`, and keeps the present in `to`. Where the engine refuses, nothing changes. Gives the entry,
/// if cells have begun to.
fn step(
    name: &'static str,
    (from, to): (&mut Vec<UndoEntry>, &mut Vec<UndoEntry>),
    (playing, number): (Playing<'_>, u64),
    registry: &Registry,
) -> Result<Option<UndoEntry>, ControlError> {
    let entry = from.last().ok_or(ControlError::Nothing(name))?;
    let Playing {
        engine,
        mut cells,
        snapshots,
        session,
    } = playing;
    let is_of_cells = cells.is_some() && !matches!(entry.change, PreviousState::Params(_));
    let now = (entry.loaded.as_ref()).map(|_| Box::new(LoadedState::new(engine, session)));
    let loaded = entry.loaded.as_ref().zip(now.as_ref());
    if let Some((loaded, now)) = loaded {
        loaded.check_room(now, engine)?;
    }
    let change = go_back(&entry.change, (&mut *engine, &mut cells), registry)?;
    if let Some((loaded, now)) = loaded {
        loaded.restore(now, (engine, session), registry.catalogue())?;
    }
    let before = entry.snapshots.clone();
    let snapshots = before.map(|before| std::mem::replace(snapshots, before));
    to.push(UndoEntry {
        number,
        snapshots,
        loaded: now,
        ..UndoEntry::to(change)
    });
    Ok(from.pop().filter(|_| is_of_cells))
}

/// Values of the parameters that `edits` set, before they do: what the session has, or what a box shows.
fn old_values(edits: &[Edit], (graph, engine): (&Graph, &Engine)) -> Vec<(String, String, f64)> {
    let shown = |id: NodeId, key: &str| {
        let mut own = engine.own_params(id).iter();
        own.find(|own| own.name == key)?.value().map(f64::from)
    };
    let old = edits.iter().filter_map(|edit| match edit {
        Edit::Set(id, key, _) => {
            let node = graph.node(*id)?;
            Some((
                node.name.clone(),
                key.clone(),
                (node.number(key).or_else(|| shown(*id, key))).unwrap_or(f64::NAN),
            ))
        }
        _ => None,
    });
    old.collect()
}

/// Goes back to `entry`. Gives the entry that leads to the present again.
fn go_back(
    entry: &PreviousState,
    (engine, cells): (&mut Engine, &mut Host<'_>),
    registry: &Registry,
) -> Result<PreviousState, ControlError> {
    match entry {
        PreviousState::Graph(graph) if cells.is_some() => go_by_cells(graph.clone(), cells),
        PreviousState::Kept(words) => {
            let host = cells.as_ref().ok_or(ControlError::NoCells)?;
            let graph = host.read_graph(words).map_err(ControlError::Cells)?;
            go_by_cells(Box::new(graph), cells)
        }
        PreviousState::Graph(graph) => {
            let now = Box::new(engine.graph().clone());
            go_to(graph, engine, registry)?;
            Ok(PreviousState::Graph(now))
        }
        PreviousState::Params(values) => {
            let mut edits = Vec::new();
            let whole = cells.as_ref().map(|it| it.graph());
            let graph = whole.as_ref().unwrap_or(engine.graph());
            for (name, key, value) in values {
                let id = graph.find(name);
                let node = id.and_then(|id| Some((id, graph.node(id)?)));
                let Some((id, node)) = node else { continue };
                let value = match value.is_nan() {
                    true => default_of(node, key, registry),
                    false => Some(*value),
                };
                edits.extend(value.map(|v| Edit::Set(id, key.clone(), ParamValue::Number(v))));
            }
            let now = PreviousState::Params(old_values(&edits, (graph, engine)));
            engine.begin();
            if let Err(error) = set_params(edits, engine, cells) {
                engine.cancel();
                return Err(error.into());
            }
            engine.commit()?;
            Ok(now)
        }
    }
}

/// Has the cells go to `graph`.
fn go_by_cells(graph: Box<Graph>, cells: &mut Host<'_>) -> Result<PreviousState, ControlError> {
    let cells = cells.as_mut().ok_or(ControlError::NoCells)?;
    let now = Box::new(cells.graph());
    let begun = cells.begin_edit(EditGoal::Graph(graph));
    begun.map_err(ControlError::Cells)?;
    Ok(PreviousState::Graph(now))
}

fn default_of(node: &graph::Node, key: &str, registry: &Registry) -> Option<f64> {
    let kind = registry.catalogue().get(node.effective_kind())?;
    match kind.param(key)?.1.range {
        graph::ParamRange::Number { default, .. } => Some(default).filter(|x| !x.is_nan()),
        _ => None,
    }
}

/// Edits the graph that plays into `graph`. Gives the number of edits.
pub(crate) fn go_to(
    graph: &Graph,
    engine: &mut Engine,
    registry: &Registry,
) -> Result<usize, ControlError> {
    let edits = edits_back(engine.graph(), graph, registry.catalogue());
    let count = edits.len();
    if count > 0 {
        engine.edit(edits)?;
    }
    Ok(count)
}
