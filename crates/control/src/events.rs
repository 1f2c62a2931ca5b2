//! [`NodeEvent`]: a number or a MIDI message for an event input, checked before anything is sent.

use crate::cells::{CellHost, Host, InsideEvent, place};
use crate::target::{node, required};
use crate::{Command, ControlError};
use engine::{Engine, EngineError, WordsFate, WordsTicket};
use graph::{Catalogue, Graph, NodeId};
use std::collections::BTreeMap;

/// An event of a request.
pub(crate) struct NodeEvent {
    node: NodeId,
    input: String,
    body: Body,
    at: u64,
}

enum Body {
    Value(f32),
    Midi([u8; 3]),
    Words(String),
}

/// Blocks beside a second for which a reply waits for a message to a node in a cell, and hundredths of a second: its process tells a
/// fate every few milliseconds, and the supervisor looks as often.
const WAITING_BLOCKS: u64 = 4;
const WAITING_HUNDREDTHS: u64 = 5;

/// A message in words on its way.
#[derive(Debug)]
pub(crate) struct SentWords {
    ticket: Ticket,
    /// Name under which it is received.
    receiver: String,
    node: String,
    /// Fate that was told.
    fate: WordsFate,
}

/// By what a message is known.
#[derive(Debug)]
enum Ticket {
    Engine(WordsTicket),
    /// In a cell: its node, its number, and the frame from which on nobody waits for it.
    Cell(NodeId, u32, u64),
}

impl SentWords {
    fn new(ticket: Ticket, text: &str, node: Option<String>) -> Self {
        let receiver = text.split_ascii_whitespace().next();
        Self {
            ticket,
            receiver: receiver.unwrap_or_default().to_owned(),
            node: node.unwrap_or_default(),
            fate: WordsFate::Waits,
        }
    }

    /// Gives what has become of it. This is kept: a cell remembers the last messages only.
    pub(crate) fn fate(&mut self, engine: &mut Engine, cells: Option<&dyn CellHost>) -> WordsFate {
        if self.fate != WordsFate::Waits {
            return self.fate;
        }
        self.fate = match self.ticket {
            Ticket::Engine(ticket) => engine.words_fate(&ticket),
            Ticket::Cell(node, number, until) => {
                let fate = cells.map(|it| it.words_fate(node, number));
                let is_lost = engine.position() > until;
                fate.filter(|fate| *fate != WordsFate::Waits || !is_lost)
                    .unwrap_or(WordsFate::Unknown)
            }
        };
        self.fate
    }

    /// The error, where nothing came of it.
    pub(crate) fn unheard(&self) -> ControlError {
        ControlError::Unheard(self.receiver.clone(), self.node.clone())
    }
}

impl NodeEvent {
    /// The event that `command` is; `None` if it is none.
    pub(crate) fn new(
        command: &Command,
        graph: &Graph,
        catalogue: &Catalogue,
    ) -> Result<Option<Self>, ControlError> {
        let (to, body, at) = match command {
            Command::Value { to, value, at } => (to, Body::Value(*value), *at),
            Command::Midi { to, bytes, at } => (to, Body::Midi(*bytes), *at),
            Command::Message { to, text } => {
                return Self::words((to, text), graph, catalogue).map(Some);
            }
            _ => return Ok(None),
        };
        let (node, there, input) = required(graph, to, "an event input")?;
        let mut inputs = there.kind_inputs().iter();
        let is_there = inputs.any(|port| {
            let takes_events = matches!(port.signal, graph::Signal::Event | graph::Signal::Control);
            port.name == input && takes_events
        });
        let kind = catalogue.get(there.effective_kind());
        // The engine knows the names of a node's own parameters.
        let is_own = kind.is_some_and(|kind| kind.has_own_params);
        match body {
            Body::Midi(bytes)
                if bytes[0] & 0x80 == 0 || bytes[0] >= 0xf0 || (bytes[1] | bytes[2]) >= 0x80 =>
            {
                Err(EngineError::NotMidi(bytes).into())
            }
            Body::Value(value) if !value.is_finite() => Err(ControlError::Value(value.to_string())),
            Body::Midi(_) if !is_there => Err(EngineError::NoParam(input.to_owned()).into()),
            _ if !is_there && !is_own => Err(EngineError::NoParam(input.to_owned()).into()),
            body => Ok(Some(Self {
                node,
                input: input.to_owned(),
                body,
                at,
            })),
        }
    }

    /// A message in words.
    fn words(
        (to, text): (&str, &str),
        graph: &Graph,
        catalogue: &Catalogue,
    ) -> Result<Self, ControlError> {
        let (node, there) = node(graph, to)?;
        let kind = catalogue.get(there.effective_kind());
        if !kind.is_some_and(|kind| kind.has_own_params) {
            return Err(ControlError::NoPatch(to.to_owned()));
        }
        Ok(Self {
            node,
            input: String::new(),
            body: Body::Words(text.to_owned()),
            at: 0,
        })
    }

    /// Checks whether there is room for all messages in words among these, before the first is sent.
    pub(crate) fn check_words(
        events: &[Self],
        engine: &mut Engine,
        cells: &Host<'_>,
    ) -> Result<(), EngineError> {
        let mut lengths = BTreeMap::<NodeId, Vec<usize>>::new();
        let mut inside = Vec::new();
        let is_inside = |node| cells.as_ref().is_some_and(|it| it.is_inside(node));
        for event in events {
            match &event.body {
                Body::Words(text) if is_inside(event.node) => {
                    inside.push((event.node, text.as_str()));
                }
                Body::Words(text) => lengths.entry(event.node).or_default().push(text.len()),
                _ => {}
            }
        }
        if let Some(cells) = cells.as_ref().filter(|_| !inside.is_empty()) {
            cells.check_words(&inside)?;
        }
        let mut all = lengths.iter();
        all.try_for_each(|(node, lengths)| engine.check_words(place(*node, engine, cells), lengths))
    }

    /// Returns true for a message in words.
    pub(crate) fn is_words(&self) -> bool {
        matches!(self.body, Body::Words(_))
    }

    /// The frame for which it is meant; 0 for the next block.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Sends it to the engine, which knows the node by the number `node`.
    fn send(&self, node: NodeId, engine: &mut Engine) -> Result<Option<SentWords>, EngineError> {
        match &self.body {
            Body::Value(value) => engine.send_value(node, &self.input, *value, self.at)?,
            Body::Midi(bytes) => engine.send_midi(node, &self.input, *bytes, self.at)?,
            Body::Words(text) => {
                let name = engine.graph().node(node).map(|it| it.name.clone());
                let ticket = Ticket::Engine(engine.send_words(node, text)?);
                return Ok(Some(SentWords::new(ticket, text, name)));
            }
        }
        Ok(None)
    }

    /// Sends it; gives a message in words whose fate is told. As [`send`](Self::send), to a node in a cell if it is in one.
    pub(crate) fn send_with(
        &self,
        engine: &mut Engine,
        cells: &mut Host<'_>,
    ) -> Result<Option<SentWords>, EngineError> {
        let Some(cells) = cells.as_mut().filter(|it| it.is_inside(self.node)) else {
            return self.send(place(self.node, engine, cells), engine);
        };
        let event = match &self.body {
            Body::Value(value) => InsideEvent::Value(&self.input, *value),
            Body::Midi(bytes) => InsideEvent::Midi(&self.input, *bytes),
            Body::Words(text) => {
                let number = cells.send_words(self.node, text)?;
                let (rate, block) = (engine.plan().rate.hz(), engine.plan().block.0);
                let rate = u64::from(rate);
                let beside = WAITING_BLOCKS * u64::from(block) + WAITING_HUNDREDTHS * rate / 100;
                let patience = rate + beside;
                let ticket = Ticket::Cell(self.node, number, engine.position() + patience);
                return Ok(Some(SentWords::new(ticket, text, cells.name(self.node))));
            }
        };
        cells.send(engine, self.node, event, self.at)?;
        Ok(None)
    }
}
