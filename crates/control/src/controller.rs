//! [`Controller`]: carries requests out on an engine, one after the other.
//!
//! ```text
//!   submit ─▶ waiting: [ r3 r2 r1 ] ─▶ carried out: r1 ─▶ swap taken by the audio thread ─▶ reply with its frame
//! ```
//!
//! A request is answered when the audio thread has taken its change, some milliseconds later: then the frame is known.
//! Requests that set parameters follow each other without a wait; one behind a change of the graph waits until that plays.

use crate::ControlError;
use crate::cells::{self, CELL_SECTION, CellHost, EditGoal, InsideEvent};
use crate::command::{Command, Query, Reply, Request};
use crate::edits::{Changes, Draft, LiveSet};
use crate::events::NodeEvent;
use crate::history::{History, Playing, SteppedEntry, UndoEntry, go_to};
use crate::live_controllers;
use crate::loaded_state::LoadedState;
use crate::query;
use crate::session_file::{LoadedFile, ReadSession, SessionFile};
use crate::snapshot;
use crate::subscription::Subscriptions;
use crate::target;
use crate::transport::{FollowedTransport, TransportStep};
use engine::{Engine, EngineError};
use graph::{Catalogue, Edit, Graph, NodeId, ParamRange, ParamValue};
use processor::Registry;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::Session;
use text::toml::snapshots::{Snapshots, read_snapshots, snapshots_text};
use units::Frames;

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
pub(crate) type Message = (u64, Value);

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
    history: History,
    /// Number of changes at the last save or load.
    saved_changes: u64,
    /// Values of live controllers that are saved, and all so far.
    saved_values: u64,
    values: u64,
    snapshots: Arc<Snapshots>,
    subscriptions: Subscriptions,
    /// The transport of a server, if the engine follows it.
    followed: Option<Box<dyn FollowedTransport>>,
    /// The cells, if parts of the session are processes of their own.
    cells: Option<Box<dyn CellHost>>,
    /// The change of the graph that the cells make now.
    cell_edit: Option<CellEdit>,
    learning: Option<LearnRequest>,
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

/// A reply that waits for its frame.
struct Answering {
    client: u64,
    reply: Reply,
    waits_for: EffectTime,
}

/// The moment from which on a request is heard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EffectTime {
    /// It changes no sound.
    Never,
    /// At this frame.
    At(u64),
    /// With the executor that is on its way.
    WithSwap,
    /// When the cells have changed.
    WithCells,
    /// With events: their ticket, and the earliest frame for which they are meant.
    WithEvents(u64, u64),
}

impl EffectTime {
    /// Returns true if no other request is carried out until then.
    fn holds_others(self) -> bool {
        matches!(self, Self::WithSwap | Self::WithCells)
    }
}

impl Answering {
    /// Enters what has become of a command of cells.
    fn settle(&mut self, changed: Result<(Value, Option<u64>), String>) {
        self.waits_for = EffectTime::Never;
        match changed {
            Ok((answer, frame)) => {
                (self.reply.data, self.reply.frame) = (vec![answer], frame);
            }
            Err(why) => {
                let id = std::mem::take(&mut self.reply.id);
                self.reply = refusal(id, &ControlError::Cells(why), Some(1));
            }
        }
    }
}

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
        Self {
            registry,
            file: SessionFile::new(path, session, read),
            rate_hz: f64::from(rate_hz),
            waiting: VecDeque::new(),
            answering: VecDeque::new(),
            later: Vec::new(),
            later_steps: Vec::new(),
            history: History::default(),
            saved_changes: 0,
            saved_values: 0,
            values: 0,
            snapshots: Arc::new(snapshots),
            subscriptions: Subscriptions::default(),
            followed: None,
            cells: None,
            cell_edit: None,
            learning: None,
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
            let (reply, waits_for) = match self.carry_out(client, &request, engine) {
                Ok(done) => done,
                Err((ControlError::Engine(EngineError::Busy), _)) => {
                    self.waiting.push_front((client, request));
                    break;
                }
                Err((error, command)) => (refusal(request.id, &error, command), EffectTime::Never),
            };
            answers += reply.data.len();
            self.answering.push_back(Answering {
                client,
                reply,
                waits_for,
            });
        }
        self.answer(engine, &mut messages);
        self.subscriptions.measure(engine, self.rate_hz);
        let cells = self.cells.as_ref();
        let cells = cells.filter(|_| self.subscriptions.has_meters());
        let inside = cells.map(|it| it.gauges());
        let publish = (engine as &Engine, inside.unwrap_or_default());
        self.subscriptions.publish(publish, &mut messages);
        messages
    }

    /// Gives the replies whose frames are known.
    fn answer(&mut self, engine: &mut Engine, messages: &mut Vec<Message>) {
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
            let frame = match first.waits_for {
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
            let heard = self
                .step(command, engine)
                .map_err(|error| (error, Some(1)))?;
            self.subscriptions.add_change(json!(request.commands));
            return Ok((reply(request, Vec::new()), heard));
        }
        let registry = self.registry.clone();
        let folder = self.file.folder().to_owned();
        let kept = (self.snapshots.clone(), folder.as_path());
        let whole = self.cells.as_ref().map(|it| it.graph());
        let graph = whole.as_ref().unwrap_or(engine.graph());
        let mut draft = Draft::new(graph, (registry.catalogue(), &*engine), kept);
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
        let mut answers = std::mem::take(&mut draft.answers);
        let changes = draft.into_changes();
        let heard = self.apply(changes, engine).map_err(|error| (error, None))?;
        let sent = self.send_steps(&steps, heard, engine);
        let heard = sent.map_err(|error| (error, None))?;
        if has_change {
            self.subscriptions.add_change(json!(request.commands));
        }
        answers.extend(self.read_only(client, request, engine)?);
        answers.sort_by_key(|(number, _)| *number);
        let data = answers.into_iter().map(|(_, answer)| answer).collect();
        Ok((reply(request, data), heard))
    }

    /// Makes the changes of a draft, which take effect at one block.
    fn apply(&mut self, changes: Changes, engine: &mut Engine) -> Result<EffectTime, ControlError> {
        let Changes {
            edits,
            timed,
            changes_graph,
            snapshots,
            events,
        } = changes;
        let is_changed = !edits.is_empty() || snapshots != self.snapshots;
        let whole = self.cells.as_ref().map(|it| it.graph());
        let graph = whole.as_ref().unwrap_or(engine.graph());
        let before = UndoEntry::before(&edits, changes_graph, (graph, engine));
        if let (true, Some(cells)) = (changes_graph, &mut self.cells) {
            let begun = cells.begin_edit(EditGoal::Edits(edits));
            begun.map_err(ControlError::Cells)?;
            let before = before.with_snapshots(&self.snapshots, &snapshots);
            self.cell_edit = Some(CellEdit::New(Box::new(before), snapshots));
            return Ok(EffectTime::WithCells);
        }
        let heard = self.send(edits, &timed, &events, engine)?;
        if is_changed {
            let before = before.with_snapshots(&self.snapshots, &snapshots);
            self.history.remember(before);
            self.snapshots = snapshots;
        }
        Ok(heard)
    }

    /// Sends edits, parameters with a time, and events to the engine as one transaction.
    fn send(
        &mut self,
        edits: Vec<Edit>,
        timed: &[LiveSet],
        events: &[NodeEvent],
        engine: &mut Engine,
    ) -> Result<EffectTime, ControlError> {
        let is_timed = |id: NodeId, key: &str| {
            let same = |set: &LiveSet| set.node == id && set.param == key;
            timed.iter().any(same)
        };
        let at_once = edits.into_iter().filter(|edit| match edit {
            Edit::Set(id, key, _) => !is_timed(*id, key),
            _ => true,
        });
        let at_once: Vec<Edit> = at_once.collect();
        let count = at_once.len() + timed.len() + events.len();
        if count == 0 {
            return Ok(EffectTime::Never);
        }
        self.check_room(&at_once, timed, events, engine.position())?;
        let is_at_once = !at_once.is_empty();
        // A swap of the engine's own may be on its way.
        let was_swapping = engine.is_swapping();
        engine.begin();
        if timed.len() + events.len() > engine.event_room() {
            engine.cancel();
            return Err(EngineError::Busy.into());
        }
        let mut cells = self.cells.as_deref_mut();
        let done = match &cells {
            Some(_) => cells::set_params(at_once, engine, &mut cells),
            None if is_at_once => engine.edit_held(at_once).map(|_| ()),
            None => Ok(()),
        };
        if let Err(error) = done {
            engine.cancel();
            return Err(error.into());
        }
        let sent = timed.iter().try_for_each(|set| {
            let ramp = Frames((set.over_ms * self.rate_hz / 1000.0) as u32);
            if let Some(cells) = &mut cells {
                if cells.is_inside(set.node) {
                    let event = InsideEvent::Param(&set.param, set.value, (ramp, set.law));
                    return cells.send(engine, set.node, event, set.at);
                }
                let value = ParamValue::Number(f64::from(set.value));
                cells.note_param(set.node, &set.param, &value);
            }
            engine.ramp_param(set.node, &set.param, set.value, set.at, (ramp, set.law))
        });
        let sent = sent.and_then(|()| {
            let mut events = events.iter();
            events.try_for_each(|event| event.send_with(engine, &mut cells))
        });
        let is_swapping = engine.is_swapping() && !was_swapping;
        let ticket = engine.commit()?;
        sent?;
        self.later.extend(frames_of(timed, events));
        let at = frames_of(timed, events).min();
        Ok(match is_swapping {
            true => EffectTime::WithSwap,
            false => EffectTime::WithEvents(ticket, at.filter(|_| !is_at_once).unwrap_or(0)),
        })
    }

    /// Refuses what would never find room, or would leave none for others, before anything is sent.
    fn check_room(
        &mut self,
        at_once: &[Edit],
        timed: &[LiveSet],
        events: &[NodeEvent],
        position: u64,
    ) -> Result<(), ControlError> {
        let is_set = |edit: &&Edit| matches!(edit, Edit::Set(..));
        let sets = at_once.iter().filter(is_set).count();
        let max = Engine::MAX_EVENTS;
        if sets + timed.len() + events.len() > max {
            let error = format!("a request has at most {max} parameters and events");
            return Err(ControlError::TooMany(error));
        }
        self.later.retain(|at| *at > position);
        let new = frames_of(timed, events).filter(|at| *at > position);
        if self.later.len() + new.count() > MAX_LATER {
            let error = format!("more than {MAX_LATER} events wait for their frames");
            return Err(ControlError::TooMany(error));
        }
        Ok(())
    }

    /// Refuses commands of the transport that would leave no room for others, before anything is sent.
    fn check_steps(
        &mut self,
        steps: &[TransportStep],
        engine: &Engine,
    ) -> Result<(), ControlError> {
        let position = engine.position();
        self.later_steps.retain(|at| *at > position);
        let later = steps.iter().filter(|step| step.at() > position).count();
        if steps.len() > MAX_STEPS || self.later_steps.len() + later > MAX_STEPS {
            let error = format!(
                "a request has at most {MAX_STEPS} commands of the transport, and as many wait for their frames"
            );
            return Err(ControlError::TooMany(error));
        }
        if steps.len() > engine.transport_room() {
            return Err(EngineError::Busy.into());
        }
        Ok(())
    }

    /// Sends the steps of the transport. The frame is then the earliest one at which the first of them can be heard.
    fn send_steps(
        &mut self,
        steps: &[TransportStep],
        heard: EffectTime,
        engine: &mut Engine,
    ) -> Result<EffectTime, ControlError> {
        for step in steps {
            step.send(engine, self.followed.as_deref())?;
            self.later_steps.push(step.at());
        }
        let first = steps.iter().map(TransportStep::at).min();
        Ok(match (first, heard) {
            (Some(at), EffectTime::Never) => EffectTime::At(at.max(engine.position())),
            _ => heard,
        })
    }

    /// Undo, redo and load: to another graph as a whole.
    fn step(&mut self, command: &Command, engine: &mut Engine) -> Result<EffectTime, ControlError> {
        let playing = Playing {
            engine: &mut *engine,
            cells: self.cells.as_deref_mut(),
            snapshots: &mut self.snapshots,
            session: self.file.session_mut(),
        };
        match command {
            Command::Undo | Command::Redo => {
                let stepped = match command {
                    Command::Undo => self.history.undo(playing, &self.registry)?,
                    _ => self.history.redo(playing, &self.registry)?,
                };
                if let Some(entry) = stepped {
                    self.cell_edit = Some(CellEdit::Step(Box::new(entry)));
                    return Ok(EffectTime::WithCells);
                }
            }
            Command::Load { file } => {
                let loaded = self.file.load(file.as_deref())?;
                self.go_to_loaded(loaded, engine)?;
            }
            _ => {}
        }
        Ok(match engine.is_swapping() {
            true => EffectTime::WithSwap,
            false => EffectTime::WithEvents(engine.sent_events(), 0),
        })
    }

    /// Plays a session that was loaded. Gives the number of edits.
    fn go_to_loaded(
        &mut self,
        loaded: LoadedFile,
        engine: &mut Engine,
    ) -> Result<usize, ControlError> {
        let speed = self.speed_of(&loaded, engine)?;
        let controllers = live_controllers::bindings(&loaded.session);
        live_controllers::check(
            &controllers,
            &loaded.session.graph,
            self.registry.catalogue(),
        )?;
        let before = UndoEntry::before(&[], true, (engine.graph(), engine));
        let edits = go_to(&loaded.session.graph, engine, &self.registry)?;
        let text = snapshots_text(&loaded.session);
        let (snapshots, _) =
            read_snapshots(&text, &loaded.session.graph, self.registry.catalogue());
        let before = before.with_snapshots(&self.snapshots, &Arc::new(snapshots.clone()));
        let is_kept = *self.snapshots == snapshots;
        self.snapshots = Arc::new(snapshots);
        let state = LoadedState::new(engine, self.file.session_mut());
        self.file.accept(loaded);
        let mut changes = edits + usize::from(!is_kept);
        if let Some(speed) = speed {
            engine.set_tempo_scale(speed, 0)?;
            changes += 1;
        }
        if engine.controllers() != controllers {
            engine.set_controllers(controllers)?;
            changes += 1;
        }
        let before = before.with_loaded(state, &LoadedState::new(engine, self.file.session_mut()));
        if changes > 0 {
            self.history.remember(before);
        }
        self.saved_changes = self.history.changes();
        self.saved_values = engine.controller_changes();
        self.values = self.saved_values;
        Ok(changes)
    }

    /// The speed at which the tempo of a loaded session is played, if it is another one than before: the map of the graph
    /// that plays stays.
    fn speed_of(&self, loaded: &LoadedFile, engine: &Engine) -> Result<Option<f64>, ControlError> {
        let tempo = loaded.session.graph.tempo();
        if tempo == self.file.tempo() {
            return Ok(None);
        }
        if self.followed.is_some() {
            return Err(ControlError::Followed("a tempo"));
        }
        if engine.transport_room() == 0 {
            return Err(EngineError::Busy.into());
        }
        let speed = engine.graph().tempo().ratio_to(tempo);
        speed
            .map(Some)
            .ok_or_else(|| ControlError::Tempo(loaded.path.clone()))
    }

    /// Queries, subscriptions and saves: what changes no sound.
    fn read_only(
        &mut self,
        client: u64,
        request: &Request,
        engine: &Engine,
    ) -> Result<Answers, (ControlError, Option<usize>)> {
        let mut answers = Answers::new();
        let whole = self.cells.as_ref().map(|it| it.graph());
        for (number, command) in (1..).zip(&request.commands) {
            let answer = match command {
                Command::Query {
                    what: Query::Snapshots,
                } => snapshot::listed(&self.snapshots),
                Command::Query {
                    what: Query::Presets,
                } => snapshot::presets(self.file.folder()),
                Command::Query { what: Query::Cells } => {
                    let cells = self.cells.as_ref();
                    cells.map_or(Value::Null, |it| it.query())
                }
                Command::Learn { target, range } => {
                    let catalogue = self.registry.catalogue();
                    check_learned(target, whole.as_ref().unwrap_or(engine.graph()), catalogue)
                        .map_err(|error| (error, Some(number)))?;
                    self.learning = Some((target.clone(), *range));
                    json!({ "learns": target })
                }
                Command::Query {
                    what: Query::Meters,
                } => {
                    let mut gauges = engine.gauges();
                    gauges.extend(self.cells.iter().flat_map(|it| it.gauges()));
                    json!(gauges)
                }
                Command::Query { what } => {
                    let graph = whole.as_ref();
                    query::answer(*what, (engine, graph), self.registry.catalogue())
                }
                Command::Save { file } => self
                    .save(file.as_deref(), engine)
                    .map_err(|error| (error, Some(number)))?,
                Command::SavePreset { part, name } => {
                    let names = (name.as_str(), part.as_str());
                    let (folder, catalogue) = (self.file.folder(), self.registry.catalogue());
                    let graph = whole.as_ref().unwrap_or(engine.graph());
                    let saved = snapshot::save_preset(folder, names, (graph, engine), catalogue);
                    json!({ "saved": saved.map_err(|error| (error, Some(number)))? })
                }
                Command::Subscribe {
                    topics,
                    ports,
                    every_ms,
                } => {
                    let at = |error| (error, Some(number));
                    check_measured(ports, engine.graph(), whole.as_ref()).map_err(at)?;
                    let wanted = (topics.as_slice(), ports.as_slice());
                    let set = self.subscriptions.set(client, wanted, *every_ms, engine);
                    set.map_err(|error| (error, Some(number)))?;
                    continue;
                }
                _ => continue,
            };
            answers.push((number, answer));
        }
        Ok(answers)
    }

    fn save(&mut self, file: Option<&Path>, engine: &Engine) -> Result<Value, ControlError> {
        let whole = self.cells.as_ref().map(|it| it.graph());
        let graph = whole.as_ref().unwrap_or(engine.graph());
        let now = (graph, &*self.snapshots);
        if let Some(cells) = self.cells.as_ref().and_then(|it| it.sections()) {
            let sections = &mut self.file.session_mut().sections;
            sections.retain(|it| it.name != CELL_SECTION);
            sections.extend(cells);
        }
        let (saved, kept) = self.file.save(file, now, self.registry.catalogue())?;
        if file.is_none() {
            self.saved_values = engine.controller_changes();
            self.values = self.saved_values;
            self.saved_changes = self.history.changes();
        }
        Ok(match kept {
            None => json!({ "saved": saved }),
            Some(kept) => json!({
                "saved": saved,
                "warning": kept.to_string(),
            }),
        })
    }
}

/// Refuses to measure what stays inside a cell: it is in the `whole` graph only.
fn check_measured(
    ports: &[String],
    here: &Graph,
    whole: Option<&Graph>,
) -> Result<(), ControlError> {
    let is_inside = |port: &&String| {
        let is_in = |graph| target::audio_output(graph, port).is_ok();
        whole.is_some_and(is_in) && !is_in(here)
    };
    match ports.iter().find(is_inside) {
        Some(port) => Err(ControlError::Cells(format!(
            "`{port}` stays inside its cell: what leaves a cell can be measured"
        ))),
        None => Ok(()),
    }
}

/// The frames for which parameters and events are meant.
fn frames_of(timed: &[LiveSet], events: &[NodeEvent]) -> impl Iterator<Item = u64> {
    let timed = timed.iter().map(|set| set.at);
    timed.chain(events.iter().map(NodeEvent::at))
}

/// Refuses to learn a parameter that is no number.
fn check_learned(name: &str, graph: &Graph, catalogue: &Catalogue) -> Result<(), ControlError> {
    let (_, node, param) = target::required(graph, name, "a parameter")?;
    let kind = catalogue.get(node.effective_kind());
    let range = kind.and_then(|kind| Some(kind.param(param)?.1.range.clone()));
    match range {
        Some(ParamRange::Number { .. }) => Ok(()),
        _ => Err(EngineError::NoParam(name.to_owned()).into()),
    }
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

fn refusal(id: Value, error: &ControlError, command: Option<usize>) -> Reply {
    Reply {
        id,
        error: Some(error.to_string()),
        command,
        ..Reply::default()
    }
}
