//! [`Controller`]: carries requests out on an engine, one after the other.
//!
//! ```text
//!   submit ─▶ waiting: [ r3 r2 r1 ] ─▶ carried out: r1 ─▶ swap taken by the audio thread ─▶ reply with its frame
//! ```
//!
//! A request whose change is on its way to the audio thread is answered when the audio thread has taken it, some
//! milliseconds later; the requests behind it wait in their order.

use crate::ControlError;
use crate::command::{Command, Reply, Request};
use crate::edits::{Draft, LiveSet};
use crate::history::{History, UndoEntry, go_to};
use crate::query;
use crate::session_file::{ReadSession, SessionFile};
use crate::subscription::Subscriptions;
use crate::target::required;
use engine::{Engine, EngineError};
use graph::{Edit, NodeId};
use processor::Registry;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::Session;
use units::Frames;

/// Largest number of requests that wait.
const MAX_WAITING: usize = 4096;
/// Largest number of commands in a request.
const MAX_COMMANDS: usize = 10_000;
/// A message to a client.
pub(crate) type Message = (u64, Value);

/// Carries requests of several clients out on one engine.
pub struct Controller {
    registry: Arc<Registry>,
    file: SessionFile,
    rate_hz: f64,
    waiting: VecDeque<(u64, Request)>,
    /// A request whose swap is on its way, with its reply as far as it is known.
    in_flight: Option<(u64, Reply)>,
    history: History,
    subscriptions: Subscriptions,
}

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
            history: History::default(),
            subscriptions: Subscriptions::default(),
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
        self.subscriptions.end(client);
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
        self.subscriptions.publish(engine, &mut messages);
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
                    self.subscriptions.add_change(json!(request.commands));
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
            self.subscriptions.add_change(json!(request.commands));
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
        let before = UndoEntry::before(&edits, changes_graph, engine.graph());
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
        self.history.remember(before);
        Ok(())
    }

    /// Undo, redo and load: to another graph as a whole.
    fn step(&mut self, command: &Command, engine: &mut Engine) -> Result<(), ControlError> {
        match command {
            Command::Undo => self.history.undo(engine, &self.registry),
            Command::Redo => self.history.redo(engine, &self.registry),
            Command::Load { file } => {
                let loaded = self.file.load(file.as_deref())?;
                self.go_to_loaded(loaded, engine).map(drop)
            }
            _ => Ok(()),
        }
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
            self.history.remember(before);
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
                    self.subscriptions.set(client, topics, *every_ms, engine);
                }
                _ => {}
            }
        }
        Ok(data)
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
