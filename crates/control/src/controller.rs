//! [`Controller`]: carries requests out on an engine, one after the other.
//!
//! ```text
//!   submit ─▶ waiting: [ r3 r2 r1 ] ─▶ carried out: r1 ─▶ swap taken by the audio thread ─▶ reply with its frame
//! ```
//!
//! A request whose change is on its way to the audio thread is answered when the audio thread has taken it, some
//! milliseconds later; the requests behind it wait in their order.

use crate::command::{Command, Reply, Request, Topic};
use crate::edits::{Draft, LiveSet};
use crate::query;
use crate::session_file::{ReadSession, SessionFile};
use crate::target::required;
use engine::{Engine, EngineError};
use graph::{BuildError, Edit, EditError, Graph, NodeId, ParamValue, edits_between};
use processor::Registry;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use text::Session;
use units::Frames;

/// Largest number of requests that wait.
const MAX_WAITING: usize = 4096;
/// Largest number of commands in a request.
const MAX_COMMANDS: usize = 10_000;
/// Number of nodes of all graphs that are kept for `undo`, and number of changes.
const MAX_UNDO_NODES: usize = 200_000;
const MAX_UNDO: usize = 1000;

/// Reason why a request changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// There is no such node. Ask for the graph.
    #[error("there is no node `{node}`{}", hint(.nearest))]
    NoNode {
        /// The name.
        node: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// A node alone, where one of its parts is needed.
    #[error("`{node}` alone is not enough: name {what}, as `{node}.NAME`")]
    Incomplete {
        /// The node.
        node: String,
        /// The missing part.
        what: String,
    },
    /// The change does not fit the graph.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The engine refuses it.
    #[error("{}", chain(.0))]
    Engine(#[from] EngineError),
    /// The value is no number, text or flag.
    #[error("{0} is no value of a parameter: it takes a number, a text, true or false")]
    Value(String),
    /// A time or a ramp for a parameter that cannot change while it plays.
    #[error("`{0}` cannot change while it plays, so it takes no time")]
    NotLive(String),
    /// A ramp without a sensible length.
    #[error("a ramp takes 0 to 3600000 ms, not {0}")]
    Time(f64),
    /// A session cannot be read.
    #[error("{}: {mistakes}", file.display())]
    Session {
        /// Its file.
        file: PathBuf,
        /// Its mistakes.
        mistakes: String,
    },
    /// The session has another tempo: what follows it cannot be made anew while it plays.
    #[error("{}: another `[tempo]` needs a new start of the session", .0.display())]
    Tempo(PathBuf),
    /// The file is in another folder.
    #[error("{} is not in the session's folder, where its sounds would be looked for", .0.display())]
    Folder(PathBuf),
    /// A file is there that is not the session's own.
    #[error("{} is there already: save to another file", .0.display())]
    Exists(PathBuf),
    /// The format of the file cannot hold the session.
    #[error("the format .ag cannot hold it, so save as .toml: {0}")]
    Format(String),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The command has to be the only one that changes something.
    #[error("`{0}` stands alone in a request")]
    Alone(&'static str),
    /// There is nothing to take back, or to make again.
    #[error("there is nothing to {0}")]
    Nothing(&'static str),
    /// Too much at once.
    #[error("{0}")]
    TooMany(String),
}

fn hint(nearest: &Option<String>) -> String {
    let hint = |near: &String| format!("; did you mean `{near}`?");
    nearest.as_ref().map_or_else(String::new, hint)
}

/// The error and its sources, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// A change that can be taken back.
enum UndoEntry {
    /// Back to this graph.
    Graph(Box<Graph>),
    /// Back to these values: node, parameter, value.
    Params(Vec<(String, String, f64)>),
}

impl UndoEntry {
    fn nodes(&self) -> usize {
        match self {
            Self::Graph(graph) => graph.len(),
            Self::Params(_) => 1,
        }
    }
}

/// What a client has asked to be told.
struct Subscription {
    client: u64,
    topics: Vec<Topic>,
    interval: Duration,
    due: Instant,
    /// Dropouts as they were told last.
    dropouts: Value,
}

/// Carries requests of several clients out on one engine.
pub struct Controller {
    registry: Arc<Registry>,
    file: SessionFile,
    rate_hz: f64,
    waiting: VecDeque<(u64, Request)>,
    /// A request whose swap is on its way, with its reply as far as it is known.
    in_flight: Option<(u64, Reply)>,
    undo: Vec<UndoEntry>,
    redo: Vec<UndoEntry>,
    subscriptions: Vec<Subscription>,
    /// Changes that are to be told to subscribers: the frame and the commands.
    changes: Vec<Value>,
}

/// A message to a client.
pub(crate) type Message = (u64, Value);

impl Controller {
    /// A controller of an engine that plays `session`, of the file `path`. `read` reads a session again; its error is the
    /// text of the mistakes.
    pub fn new(
        registry: Arc<Registry>,
        (path, session): (PathBuf, Session),
        rate_hz: u32,
        read: impl Fn(&Path) -> Result<Session, String> + 'static,
    ) -> Self {
        let read: ReadSession = Box::new(read);
        Self {
            registry,
            file: SessionFile::new(path, session, read),
            rate_hz: f64::from(rate_hz),
            waiting: VecDeque::new(),
            in_flight: None,
            undo: Vec::new(),
            redo: Vec::new(),
            subscriptions: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Takes a request of `client`. Its reply comes from [`Self::update`]. Returns a reply at once if too many wait.
    ///
    /// Real-time: setup.
    pub fn submit(&mut self, client: u64, request: Request) -> Option<Reply> {
        let is_full = self.waiting.len() >= MAX_WAITING;
        if is_full || request.commands.len() > MAX_COMMANDS {
            let error = match is_full {
                true => format!("more than {MAX_WAITING} requests wait"),
                false => format!("a request has at most {MAX_COMMANDS} commands"),
            };
            return Some(refusal(request.id, &ControlError::TooMany(error), None));
        }
        self.waiting.push_back((client, request));
        None
    }

    /// Forgets a client that has gone. What it asked for is still done.
    pub fn forget(&mut self, client: u64) {
        self.subscriptions.retain(|it| it.client != client);
    }

    /// Returns true if a reply to `client` is still to come.
    pub fn is_waiting(&self, client: u64) -> bool {
        let in_flight = self.in_flight.as_ref().map(|(id, _)| *id);
        let mut waiting = self.waiting.iter().map(|(id, _)| *id).chain(in_flight);
        waiting.any(|id| id == client)
    }

    /// Carries waiting requests out, as far as the engine takes them. Gives replies and messages of subscriptions. To be
    /// called after each [`Engine::update`].
    ///
    /// Real-time: setup.
    pub fn update(&mut self, engine: &mut Engine) -> Vec<(u64, Value)> {
        let mut messages = Vec::new();
        loop {
            if let Some((client, mut reply)) = self.in_flight.take() {
                if engine.is_swapping() {
                    self.in_flight = Some((client, reply));
                    break;
                }
                reply.frame = Some(engine.swap_frame());
                messages.push(self.answered(client, reply));
            }
            let Some((client, request)) = self.waiting.pop_front() else {
                break;
            };
            match self.carry_out(client, &request, engine) {
                Ok(reply) if engine.is_swapping() && reply.frame.is_some() => {
                    self.in_flight = Some((client, reply));
                }
                Ok(reply) => messages.push(self.answered(client, reply)),
                Err((ControlError::Engine(EngineError::Busy), _)) => {
                    self.waiting.push_front((client, request));
                    break;
                }
                Err((error, command)) => {
                    let reply = refusal(request.id, &error, command);
                    messages.push(self.answered(client, reply));
                }
            }
        }
        self.publish(engine, &mut messages);
        messages
    }

    /// Reads the session's file again and plays it.
    ///
    /// # Errors
    ///
    /// The mistakes in it, or the engine's refusal; the graph that was plays on. [`EngineError::Busy`]: to be tried again.
    ///
    /// Real-time: setup.
    pub fn reload(&mut self, engine: &mut Engine) -> Result<usize, ControlError> {
        let request = self.file.load(None)?;
        self.go_to_loaded(request, engine)
    }

    fn answered(&self, client: u64, reply: Reply) -> Message {
        (client, serde_json::to_value(reply).unwrap_or_default())
    }

    /// Carries one request out. The frame of its reply is that of the next block, until a swap is taken.
    fn carry_out(
        &mut self,
        client: u64,
        request: &Request,
        engine: &mut Engine,
    ) -> Result<Reply, (ControlError, Option<usize>)> {
        let registry = self.registry.clone();
        let mut draft = Draft::new(engine.graph(), registry.catalogue());
        let mut events = Vec::new();
        let mut has_change = false;
        for (number, command) in (1..).zip(&request.commands) {
            let at = |error| (error, Some(number));
            let is_edit = draft.apply(command).map_err(at)?;
            has_change |= is_edit;
            match command {
                Command::Undo | Command::Redo | Command::Load { .. } => {
                    if request.commands.len() > 1 {
                        let name = match command {
                            Command::Undo => "undo",
                            Command::Redo => "redo",
                            _ => "load",
                        };
                        return Err(at(ControlError::Alone(name)));
                    }
                    self.step(command, engine).map_err(at)?;
                    self.changes.push(json!(request.commands));
                    return Ok(reply(request, Some(engine.position()), Vec::new()));
                }
                Command::Value { to, .. } | Command::Midi { to, .. } => {
                    let (id, node, input) =
                        required(draft.builder.graph(), to, "an event input").map_err(at)?;
                    if !node.inputs.iter().any(|port| port.name == input) {
                        let error = EngineError::NoParam(input.to_owned());
                        return Err(at(error.into()));
                    }
                    events.push((id, input.to_owned(), command));
                    has_change = true;
                }
                _ => {}
            }
        }
        self.apply(draft, engine).map_err(|error| (error, None))?;
        for (id, input, command) in events {
            let sent = match command {
                Command::Value { value, at, .. } => engine.send_value(id, &input, *value, *at),
                Command::Midi { bytes, at, .. } => engine.send_midi(id, &input, *bytes, *at),
                _ => Ok(()),
            };
            sent.map_err(|error| (error.into(), None))?;
        }
        let data = self.read_only(client, request, engine)?;
        if has_change {
            self.changes.push(json!(request.commands));
        }
        Ok(reply(request, has_change.then(|| engine.position()), data))
    }

    /// Makes the changes of a draft.
    fn apply(&mut self, draft: Draft<'_>, engine: &mut Engine) -> Result<(), ControlError> {
        let Draft {
            builder,
            timed,
            changes_graph,
            ..
        } = draft;
        let edits = builder.into_edits();
        if edits.is_empty() {
            return Ok(());
        }
        let before = match changes_graph {
            true => UndoEntry::Graph(Box::new(engine.graph().clone())),
            false => UndoEntry::Params(old_values(&edits, engine.graph())),
        };
        let is_timed = |id: NodeId, key: &str| {
            let same = |set: &LiveSet| set.node == id && set.param == key;
            timed.iter().any(same)
        };
        let at_once = edits.into_iter().filter(|edit| match edit {
            Edit::Set(id, key, _) => !is_timed(*id, key),
            _ => true,
        });
        let at_once: Vec<Edit> = at_once.collect();
        if !at_once.is_empty() {
            engine.edit(at_once)?;
        }
        for set in &timed {
            let ramp = Frames((set.over_ms * self.rate_hz / 1000.0) as u32);
            engine.schedule_param(set.node, &set.param, set.value, set.at, ramp)?;
        }
        self.remember(before);
        Ok(())
    }

    /// Keeps a change for `undo`. Values of the same parameters, one after the other, are one change.
    fn remember(&mut self, before: UndoEntry) {
        self.redo.clear();
        let keys = |entry: &UndoEntry| match entry {
            UndoEntry::Params(values) => {
                let keys = values
                    .iter()
                    .map(|(node, key, _)| (node.clone(), key.clone()));
                keys.collect()
            }
            UndoEntry::Graph(_) => Vec::new(),
        };
        let is_sweep = self.undo.last().is_some_and(|last| {
            matches!(last, UndoEntry::Params(_)) && keys(last) == keys(&before)
        });
        if !is_sweep {
            self.undo.push(before);
        }
        let mut nodes: usize = self.undo.iter().map(UndoEntry::nodes).sum();
        while self.undo.len() > MAX_UNDO || (nodes > MAX_UNDO_NODES && self.undo.len() > 1) {
            nodes -= self.undo.remove(0).nodes();
        }
    }

    /// Undo, redo and load: to another graph as a whole.
    fn step(&mut self, command: &Command, engine: &mut Engine) -> Result<(), ControlError> {
        match command {
            Command::Undo => {
                let entry = self.undo.pop().ok_or(ControlError::Nothing("undo"))?;
                match go_back(&entry, engine, &self.registry) {
                    Ok(now) => self.redo.push(now),
                    Err(error) => {
                        self.undo.push(entry);
                        return Err(error);
                    }
                }
            }
            Command::Redo => {
                let entry = self.redo.pop().ok_or(ControlError::Nothing("redo"))?;
                match go_back(&entry, engine, &self.registry) {
                    Ok(now) => self.undo.push(now),
                    Err(error) => {
                        self.redo.push(entry);
                        return Err(error);
                    }
                }
            }
            Command::Load { file } => {
                let loaded = self.file.load(file.as_deref())?;
                self.go_to_loaded(loaded, engine)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Plays a session that was loaded. Gives the number of edits.
    fn go_to_loaded(
        &mut self,
        loaded: (PathBuf, Session),
        engine: &mut Engine,
    ) -> Result<usize, ControlError> {
        if loaded.1.graph.tempo() != engine.graph().tempo() {
            return Err(ControlError::Tempo(loaded.0));
        }
        let before = UndoEntry::Graph(Box::new(engine.graph().clone()));
        let edits = go_to(&loaded.1.graph, engine, &self.registry)?;
        self.file.accept(loaded);
        if edits > 0 {
            self.remember(before);
        }
        Ok(edits)
    }

    /// Queries, subscriptions and saves: what changes no sound.
    fn read_only(
        &mut self,
        client: u64,
        request: &Request,
        engine: &Engine,
    ) -> Result<Vec<Value>, (ControlError, Option<usize>)> {
        let mut data = Vec::new();
        for (number, command) in (1..).zip(&request.commands) {
            match command {
                Command::Query { what } => {
                    data.push(query::answer(*what, engine, self.registry.catalogue()));
                }
                Command::Save { file } => {
                    let catalogue = self.registry.catalogue();
                    let saved = self.file.save(file.as_deref(), engine.graph(), catalogue);
                    let path = saved.map_err(|error| (error, Some(number)))?;
                    data.push(json!({ "saved": path }));
                }
                Command::Subscribe { topics, every_ms } => {
                    self.forget(client);
                    if !topics.is_empty() {
                        self.subscriptions.push(Subscription {
                            client,
                            topics: topics.clone(),
                            interval: Duration::from_millis((*every_ms).clamp(10, 60_000).into()),
                            due: Instant::now(),
                            dropouts: query::dropouts(engine),
                        });
                    }
                }
                _ => {}
            }
        }
        Ok(data)
    }

    /// Adds the messages that subscribers are to get now.
    fn publish(&mut self, engine: &Engine, messages: &mut Vec<Message>) {
        let changes = std::mem::take(&mut self.changes);
        let now = Instant::now();
        for it in &mut self.subscriptions {
            let mut tell = |topic, data| {
                if it.topics.contains(&topic) {
                    messages.push((it.client, json!({ "topic": topic, "data": data })));
                }
            };
            for change in &changes {
                tell(Topic::Changes, change.clone());
            }
            if now < it.due {
                continue;
            }
            it.due = now + it.interval;
            tell(Topic::Meters, json!(engine.gauges()));
            tell(Topic::Load, query::load(engine));
            let dropouts = query::dropouts(engine);
            if dropouts != it.dropouts {
                tell(Topic::Misses, dropouts.clone());
                it.dropouts = dropouts;
            }
        }
    }
}

fn reply(request: &Request, frame: Option<u64>, data: Vec<Value>) -> Reply {
    Reply {
        id: request.id.clone(),
        ok: true,
        frame,
        data,
        ..Reply::default()
    }
}

fn refusal(id: Value, error: &ControlError, command: Option<usize>) -> Reply {
    Reply {
        id,
        error: Some(error.to_string()),
        command,
        ..Reply::default()
    }
}

/// Values of the parameters that `edits` set, before they do.
fn old_values(edits: &[Edit], graph: &Graph) -> Vec<(String, String, f64)> {
    let old = edits.iter().filter_map(|edit| match edit {
        Edit::Set(id, key, _) => {
            let node = graph.node(*id)?;
            Some((
                node.name.clone(),
                key.clone(),
                node.number(key).unwrap_or(f64::NAN),
            ))
        }
        _ => None,
    });
    old.collect()
}

/// Goes back to `entry`. Gives the entry that leads to the present again.
fn go_back(
    entry: &UndoEntry,
    engine: &mut Engine,
    registry: &Registry,
) -> Result<UndoEntry, ControlError> {
    match entry {
        UndoEntry::Graph(graph) => {
            let now = Box::new(engine.graph().clone());
            go_to(graph, engine, registry)?;
            Ok(UndoEntry::Graph(now))
        }
        UndoEntry::Params(values) => {
            let mut edits = Vec::new();
            for (name, key, value) in values {
                let id = engine.graph().find(name);
                let node = id.and_then(|id| Some((id, engine.graph().node(id)?)));
                let Some((id, node)) = node else { continue };
                let value = match value.is_nan() {
                    true => default_of(node, key, registry),
                    false => Some(*value),
                };
                edits.extend(value.map(|v| Edit::Set(id, key.clone(), ParamValue::Number(v))));
            }
            let now = UndoEntry::Params(old_values(&edits, engine.graph()));
            engine.edit(edits)?;
            Ok(now)
        }
    }
}

fn default_of(node: &graph::Node, key: &str, registry: &Registry) -> Option<f64> {
    let kind = registry.catalogue().get(node.effective_kind())?;
    match kind.param(key)?.1.range {
        graph::ParamRange::Number { default, .. } => Some(default).filter(|x| !x.is_nan()),
        _ => None,
    }
}

/// Edits the graph that plays into `graph`. Gives the number of edits.
fn go_to(graph: &Graph, engine: &mut Engine, registry: &Registry) -> Result<usize, ControlError> {
    let edits = edits_between(engine.graph(), graph, registry.catalogue());
    let count = edits.len();
    if count > 0 {
        engine.edit(edits)?;
    }
    Ok(count)
}

impl From<EditError> for ControlError {
    fn from(error: EditError) -> Self {
        Self::Build(error.into())
    }
}
