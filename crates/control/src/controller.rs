//! [`Controller`]: carries requests out on an engine, one after the other.
//!
//! ```text
//!   submit ─▶ waiting: [ r3 r2 r1 ] ─▶ carried out: r1 ─▶ swap taken by the audio thread ─▶ reply with its frame
//! ```
//!
//! A request is answered when the audio thread has taken its change, some milliseconds later: then the frame is known.
//! Requests that set parameters follow each other without a wait; one behind a change of the graph waits until that plays.
//!
//! | file | holds |
//! |---|---|
//! | `apply` | changes on their way to the engine or the cells |
//! | `steps` | undo, redo, sessions that are loaded |
//! | `answering` | replies that wait for their frames |
//! | `reload` | a session of cells that is read again |
//! | `answers` | queries, subscriptions, saves |

mod answering;
mod answers;
mod apply;
mod reload;
mod steps;
mod told;

use crate::ControlError;
use crate::cells::{self, CellHost, CellTaps, TapHost};
use crate::command::{Command, Reply, Request};
use crate::edits::{Changes, Draft};
use crate::events::SentWords;
use crate::history::{EditHistory, SteppedEntry, UndoEntry};
use crate::session_file::{ReadSession, SessionFile};
use crate::subscription::Subscriptions;
use crate::transport::{FollowedTransport, TransportStep};
use answering::{Answering, EffectTime, refusal};
use engine::{Engine, EngineError};
use graph::Catalogue;
use processor::Registry;
use reload::{NOBODY, Reloading};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::Session;
use text::toml::snapshots::{Snapshots, read_snapshots, snapshots_text};

/// Largest number of requests that wait.
const MAX_WAITING: usize = 4096;
/// Largest number of commands in a request.
pub(crate) const MAX_COMMANDS: usize = 10_000;
/// Largest number of queries in a request, and of answers in one update: each may describe the whole graph.
const MAX_ANSWERS: usize = 16;
/// Largest number of commands of the transport in a request, and of those that wait for later frames.
const MAX_STEPS: usize = Engine::MAX_TRANSPORT_COMMANDS / 4;
/// Largest number of events that wait for later frames. The engine has room for more, so those for now never wait for them.
const MAX_LATER: usize = Engine::MAX_EVENTS / 2;
/// A message to a client.
pub(crate) type ClientMessage = (u64, Value);

/// Carries requests of several clients out on one engine.
pub struct Controller {
    registry: Arc<Registry>,
    file: SessionFile,
    rate_hz: f64,
    waiting: VecDeque<(u64, Request)>,
    /// Requests that were carried out and are not answered yet, in their order.
    answering: VecDeque<Answering>,
    /// Frames of the events that may still wait for them.
    later: Vec<u64>,
    /// The same of commands of the transport.
    later_steps: Vec<u64>,
    history: EditHistory,
    /// Number of changes at the last save or load.
    saved_changes: u64,
    /// Values of live controllers that are saved, and all so far.
    saved_values: u64,
    values: u64,
    snapshots: Arc<Snapshots>,
    /// Those that the cells know.
    told_snapshots: Arc<Snapshots>,
    /// Revision of the history that the cells know.
    told_history: u64,
    subscriptions: Subscriptions,
    /// The transport of a server, if the engine follows it.
    followed: Option<Box<dyn FollowedTransport>>,
    /// The cells, if parts of the session are processes of their own.
    cells: Option<Box<dyn CellHost>>,
    /// The change of the graph that the cells make now.
    cell_edit: Option<CellEdit>,
    learning: Option<LearnRequest>,
    /// Messages in words of the request that is carried out.
    sent_words: Vec<SentWords>,
    /// A session of cells that was read again, until its changes are made; then what has become of them.
    reloading: Option<Reloading>,
    reloaded: Option<Result<usize, ControlError>>,
}

/// A change of the graph of a session of cells, until it is made.
enum CellEdit {
    /// A new one: what was before it, and the snapshots afterwards.
    New(Box<UndoEntry>, Arc<Snapshots>),
    /// A step of the history.
    Step(Box<SteppedEntry>),
}

/// A parameter that waits for a controller, and its range.
pub type LearnRequest = (String, Option<[f64; 2]>);

/// Answers of commands, each behind the number of its command.
type Answers = Vec<(usize, Value)>;

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
        let text = snapshots_text(&session);
        let (snapshots, _) = read_snapshots(&text, &session.graph, registry.catalogue());
        let snapshots = Arc::new(snapshots);
        Self {
            registry,
            file: SessionFile::new(path, session, read),
            rate_hz: f64::from(rate_hz),
            waiting: VecDeque::new(),
            answering: VecDeque::new(),
            later: Vec::new(),
            later_steps: Vec::new(),
            history: EditHistory::default(),
            saved_changes: 0,
            saved_values: 0,
            values: 0,
            told_snapshots: snapshots.clone(),
            told_history: 0,
            snapshots,
            subscriptions: Subscriptions::default(),
            followed: None,
            cells: None,
            cell_edit: None,
            learning: None,
            sent_words: Vec::new(),
            reloading: None,
            reloaded: None,
        }
    }

    /// Passes commands of the transport on to `transport`, which the engine follows.
    ///
    /// Real-time: setup.
    pub fn follow_transport(&mut self, transport: Box<dyn FollowedTransport>) {
        self.followed = Some(transport);
    }

    /// Lets `cells` carry out the commands of cells.
    ///
    /// Real-time: setup.
    pub fn host_cells(&mut self, cells: Box<dyn CellHost>) {
        self.take_snapshots(cells.kept_snapshots());
        self.take_history(&cells.kept_history());
        self.cells = Some(cells);
    }

    /// Takes a request of `client`. Its reply comes from [`Self::update`]. Returns a reply at once if too many wait.
    ///
    /// Real-time: setup.
    pub fn submit(&mut self, client: u64, request: Request) -> Option<Reply> {
        let is_query = |command: &&Command| matches!(command, Command::Query { .. });
        let queries = request.commands.iter().filter(is_query).count();
        let error = match () {
            () if self.waiting.len() >= MAX_WAITING => {
                format!("more than {MAX_WAITING} requests wait")
            }
            () if request.commands.len() > MAX_COMMANDS => {
                format!("a request has at most {MAX_COMMANDS} commands")
            }
            () if queries > MAX_ANSWERS => format!("a request has at most {MAX_ANSWERS} queries"),
            () => String::new(),
        };
        if !error.is_empty() {
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
        let answering = self.answering.iter().map(|it| it.client);
        let mut waiting = self.waiting.iter().map(|(id, _)| *id).chain(answering);
        waiting.any(|id| id == client)
    }

    /// Carries waiting requests out, as far as the engine takes them. Gives replies and messages of subscriptions. To be
    /// called after each [`Engine::update`].
    ///
    /// Real-time: setup.
    pub fn update(&mut self, engine: &mut Engine) -> Vec<(u64, Value)> {
        self.values = engine.controller_changes();
        let mut messages = Vec::new();
        self.answer(engine, &mut messages);
        let mut answers = 0;
        while answers < MAX_ANSWERS
            && self.answering.len() < MAX_WAITING
            && self
                .answering
                .back()
                .is_none_or(|it| !it.waits_for.holds_others())
            && let Some((client, request)) = self.waiting.pop_front()
        {
            self.sent_words.clear();
            let (reply, waits_for) = match self.carry_out(client, &request, engine) {
                Ok(done) => done,
                Err((ControlError::Engine(EngineError::Busy), _)) => {
                    self.waiting.push_front((client, request));
                    break;
                }
                Err((error, command)) => {
                    self.sent_words.clear();
                    (refusal(request.id, &error, command), EffectTime::Never)
                }
            };
            answers += reply.data.len();
            self.answering.push_back(Answering {
                client,
                reply,
                waits_for,
                words: std::mem::take(&mut self.sent_words),
            });
        }
        self.answer(engine, &mut messages);
        self.tell_snapshots();
        self.tell_history();
        let taps = self.cells.as_deref_mut();
        let taps: TapHost<'_> = taps.map(|it| it as &mut (dyn CellTaps + 'static));
        self.subscriptions.measure(engine, taps, self.rate_hz);
        let cells = self.cells.as_ref();
        let cells = cells.filter(|_| self.subscriptions.has_meters());
        let inside = cells.map(|it| it.gauges());
        let publish = (engine as &Engine, inside.unwrap_or_default());
        self.subscriptions.publish(publish, &mut messages);
        messages
    }

    /// Gives the replies whose frames are known.
    fn answer(&mut self, engine: &mut Engine, messages: &mut Vec<ClientMessage>) {
        while let Some(first) = self.answering.front_mut() {
            if first.waits_for == EffectTime::WithCells {
                let Some(changed) = self.cells.as_mut().and_then(|it| it.poll(engine)) else {
                    return;
                };
                let is_made = changed.is_ok();
                first.settle(changed);
                match self.cell_edit.take() {
                    Some(CellEdit::New(before, snapshots)) if is_made => {
                        self.history.remember(*before);
                        self.snapshots = snapshots;
                    }
                    Some(CellEdit::Step(entry)) if !is_made => self.history.take_back(*entry),
                    _ => {}
                }
            }
            let Some(words) = first.words_frame(engine, self.cells.as_deref()) else {
                return;
            };
            let frame = match first.waits_for {
                EffectTime::WithWords => words,
                EffectTime::Never | EffectTime::WithCells => first.reply.frame,
                EffectTime::At(frame) => Some(frame),
                EffectTime::WithSwap if engine.is_swapping() => return,
                EffectTime::WithSwap => Some(engine.swap_frame()),
                EffectTime::WithEvents(ticket, at) => match engine.event_frame(ticket) {
                    None => return,
                    taken => taken.map(|frame| frame.max(at)),
                },
            };
            if let Some(Answering { client, reply, .. }) = self.answering.pop_front() {
                if client == NOBODY {
                    self.end_reload(reply, engine);
                    continue;
                }
                let reply = Reply { frame, ..reply };
                messages.push((client, serde_json::to_value(reply).unwrap_or_default()));
            }
        }
    }

    /// The session but its graph, to change what is saved with it.
    ///
    /// Real-time: setup.
    pub fn session_mut(&mut self) -> &mut Session {
        self.file.session_mut()
    }

    /// Returns true if the session has changed since it was saved or loaded, by commands or by live controllers.
    pub fn has_unsaved_changes(&self) -> bool {
        (self.saved_changes, self.saved_values) != (self.history.changes(), self.values)
    }

    /// Reads the session's file again and plays it. Gives the number of changes. Those of a session of cells take their time: it gives
    /// nothing, and [`take_reloaded`](Self::take_reloaded) has the number then.
    ///
    /// # Errors
    ///
    /// The mistakes in it, or the engine's refusal; the graph that was plays on. [`EngineError::Busy`]: to be tried again.
    ///
    /// Real-time: setup.
    pub fn reload(&mut self, engine: &mut Engine) -> Result<Option<usize>, ControlError> {
        let loaded = self.file.load(None)?;
        match self.cells.is_some() {
            true => self.reload_cells(loaded, engine).map(|()| None),
            false => self.go_to_loaded(loaded, engine).map(Some),
        }
    }

    /// The parameter that is to be bound to the next controller that moves, if a client has asked since the last call. The
    /// program has the controllers and the session's file.
    pub fn take_learning(&mut self) -> Option<LearnRequest> {
        self.learning.take()
    }

    /// All kinds of nodes.
    pub fn catalogue(&self) -> &Catalogue {
        self.registry.catalogue()
    }

    /// Writes the session that plays to its file. Returns a warning if comments are lost, or the file was changed since it was read.
    ///
    /// # Errors
    ///
    /// The file cannot be written; it is as it was.
    ///
    /// Real-time: setup.
    pub fn save_session(&mut self, engine: &Engine) -> Result<Option<String>, ControlError> {
        let saved = self.save(None, engine)?;
        Ok(saved["warning"].as_str().map(str::to_owned))
    }

    /// Carries one request out. Gives its reply, and what the reply waits for.
    fn carry_out(
        &mut self,
        client: u64,
        request: &Request,
        engine: &mut Engine,
    ) -> Result<(Reply, EffectTime), (ControlError, Option<usize>)> {
        if let ([command], Some(cells)) = (request.commands.as_slice(), &mut self.cells)
            && cells::is_cell_command(command)
        {
            let begun = cells.begin(command);
            begun.map_err(|why| (ControlError::Cells(why), Some(1)))?;
            return Ok((reply(request, Vec::new()), EffectTime::WithCells));
        }
        for (number, command) in (1..).zip(&request.commands) {
            let checked = cells::check(command, self.cells.is_some());
            checked.map_err(|error| (error, Some(number)))?;
        }
        if let [command @ (Command::Undo | Command::Redo | Command::Load { .. })] =
            request.commands.as_slice()
        {
            let stepped = self.step(command, engine);
            let heard = stepped.map_err(|error| (error, Some(1)))?;
            self.subscriptions.add_change(json!(request.commands));
            return Ok((reply(request, Vec::new()), heard));
        }
        let drafted = self.draft(request, engine)?;
        let of_request = |error| (error, None);
        let applied = self.apply(drafted.changes, engine).map_err(of_request)?;
        let sent = self.send_steps(&drafted.steps, applied, engine);
        let heard = sent.map_err(of_request)?;
        if drafted.has_change {
            self.subscriptions.add_change(json!(request.commands));
        }
        let mut answers = drafted.answers;
        answers.extend(self.read_only(client, request, engine)?);
        answers.sort_by_key(|(number, _)| *number);
        let data = answers.into_iter().map(|(_, answer)| answer).collect();
        Ok((reply(request, data), heard))
    }

    /// Collects the changes of a request, and changes nothing yet.
    fn draft(
        &mut self,
        request: &Request,
        engine: &Engine,
    ) -> Result<DraftedRequest, (ControlError, Option<usize>)> {
        let registry = self.registry.clone();
        let folder = self.file.folder().to_owned();
        let kept = (self.snapshots.clone(), folder.as_path());
        let whole = self.cells.as_ref().map(|it| it.graph());
        let graph = whole.as_ref().unwrap_or(engine.graph());
        let mut draft = Draft::new(graph, (registry.catalogue(), engine), kept);
        let (mut has_change, mut steps) = (false, Vec::new());
        for (number, command) in (1..).zip(&request.commands) {
            let at = |error| (error, Some(number));
            check_alone(command).map_err(at)?;
            has_change |= draft.apply(number, command).map_err(at)?;
            has_change |= draft.add_event(command).map_err(at)?;
            let place = (engine.graph().tempo(), engine.plan().rate);
            let step = TransportStep::new(command, place).map_err(at)?;
            if let (Some(step), Some(_)) = (&step, &self.followed) {
                step.check_followed().map_err(at)?;
            }
            steps.extend(step);
        }
        has_change |= !steps.is_empty();
        let edits_cells = whole.is_some() && draft.changes_graph;
        if edits_cells && !(draft.timed.is_empty() && draft.events.is_empty() && steps.is_empty()) {
            let what = "in a session of cells, a change of nodes and edges";
            return Err((ControlError::Alone(what), None));
        }
        self.check_steps(&steps, engine)
            .map_err(|error| (error, None))?;
        Ok(DraftedRequest {
            answers: std::mem::take(&mut draft.answers),
            changes: draft.into_changes(),
            steps,
            has_change,
        })
    }
}

/// A request that was read and found possible.
struct DraftedRequest {
    changes: Changes,
    /// Commands to the transport, in order.
    steps: Vec<TransportStep>,
    /// Answers that the changes give.
    answers: Answers,
    has_change: bool,
}

/// Refuses a command that stands alone, in a request with others.
fn check_alone(command: &Command) -> Result<(), ControlError> {
    match command {
        Command::Undo => Err(ControlError::Alone("undo")),
        Command::Redo => Err(ControlError::Alone("redo")),
        Command::Load { .. } => Err(ControlError::Alone("load")),
        _ => Ok(()),
    }
}

fn reply(request: &Request, data: Vec<Value>) -> Reply {
    Reply {
        id: request.id.clone(),
        ok: true,
        data,
        ..Reply::default()
    }
}
