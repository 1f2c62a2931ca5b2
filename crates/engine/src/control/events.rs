//! Parameters, ramps, control values and MIDI: sent to a node at once, or for a frame.

use super::Engine;
use crate::EngineError;
use crate::WordsFate;
use crate::messages::{EVENTS, EventMessage, Ramp, RampLaw};
use crate::resources::SentWords;
use graph::{Catalogue, Graph, Kind, Node, NodeId, ParamRange, ParamValue, Signal};
use processor::{Event, EventBody, EventTarget, OwnParam};
use std::collections::HashMap;
use units::Frames;

/// A message in words that was sent to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordsTicket {
    node: NodeId,
    sent: SentWords,
    /// Position of the engine when it was sent.
    position: u64,
}

/// Tolerance of a delay time's bounds, in seconds: the precision of an event's `f32`. The processor clamps.
const TIME_TOLERANCE: f64 = 1e-6;

impl Engine {
    /// The most events that find room at once. As many can wait for later frames.
    pub const MAX_EVENTS: usize = EVENTS;

    /// Sets the parameter `name` of `node` to `value`, from the next block on. Ends a ramp of it.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoParam`] if it is no parameter that can change while it plays, [`EngineError::OutOfRange`] if it
    /// cannot take `value`. [`EngineError::Busy`] while too many changes are on their way.
    ///
    /// Real-time: setup.
    pub fn set_param(&mut self, node: NodeId, name: &str, value: f32) -> Result<(), EngineError> {
        self.schedule_param(node, name, value, 0, Frames(0))
    }

    /// Sets the parameter `name` of `node` to `value` at absolute frame `at`, or at the next block if that frame has
    /// [passed](Self::position). With a `ramp` the value moves there in a straight line that begins at `at`, in steps of
    /// 64 frames, from the value that was set last. At most 128 ramps run at one time; a further one is a jump to `value`.
    ///
    /// Changes of one parameter are to be sent in the order of their frames. The graph has the new value at once.
    ///
    /// # Errors
    ///
    /// As for [`set_param`](Self::set_param). At most 4096 changes wait.
    ///
    /// Real-time: setup.
    pub fn schedule_param(
        &mut self,
        node: NodeId,
        name: &str,
        value: f32,
        at: u64,
        ramp: Frames,
    ) -> Result<(), EngineError> {
        self.ramp_param(node, name, value, at, (ramp, RampLaw::Linear))
    }

    /// As [`schedule_param`](Self::schedule_param), with a ramp of any law.
    ///
    /// # Errors
    ///
    /// As for [`schedule_param`](Self::schedule_param).
    ///
    /// Real-time: setup.
    pub fn ramp_param(
        &mut self,
        node: NodeId,
        name: &str,
        value: f32,
        at: u64,
        (ramp, law): (Frames, RampLaw),
    ) -> Result<(), EngineError> {
        let mut message = self.param_event(node, name, value)?;
        message.at = at;
        if ramp > Frames(0) {
            message.ramp = self.param_value(node, name).map(|from| Ramp {
                from: from as f32,
                to: value,
                frames: ramp.0,
                law,
            });
        }
        self.send(message)?;
        let mut graph = std::mem::take(&mut self.graph);
        self.keep_delay_bounds(&mut graph, node);
        if let Some(there) = graph.node_mut(node) {
            there.set(name, ParamValue::Number(f64::from(value)));
        }
        self.graph = graph;
        Ok(())
    }

    /// Sends a MIDI channel message to the event input `input` of `node`, at absolute frame `at`, or at the next block if
    /// that frame has [passed](Self::position).
    ///
    /// # Errors
    ///
    /// [`EngineError::NoParam`] if there is no such input, [`EngineError::NotMidi`] for other bytes, and
    /// [`EngineError::Busy`] while too many events wait.
    ///
    /// Real-time: setup.
    pub fn send_midi(
        &mut self,
        node: NodeId,
        input: &str,
        message: [u8; 3],
        at: u64,
    ) -> Result<(), EngineError> {
        let [status, data @ ..] = message;
        if !(0x80..0xf0).contains(&status) || data.iter().any(|byte| *byte >= 0x80) {
            return Err(EngineError::NotMidi(message));
        }
        self.send_to_input(node, input, EventBody::Midi(message), at)
    }

    /// Sends a number to the event or control input `input` of `node`, at absolute frame `at`, or at the next block if
    /// that frame has [passed](Self::position). For a gate, 1 opens and 0 closes. Without such an input it goes to the
    /// [parameter of the node's own](Self::own_params) of that name, and the graph does not keep it.
    ///
    /// # Errors
    ///
    /// As for [`send_midi`](Self::send_midi), and [`EngineError::NoParam`] if the number is not finite.
    ///
    /// Real-time: setup.
    pub fn send_value(
        &mut self,
        node: NodeId,
        input: &str,
        value: f32,
        at: u64,
    ) -> Result<(), EngineError> {
        if !value.is_finite() {
            return Err(EngineError::NoParam(input.to_owned()));
        }
        match self.own_value_event(node, input, value) {
            Some(message) => self.send(EventMessage { at, ..message? }),
            None => self.send_to_input(node, input, EventBody::Value(value), at),
        }
    }

    /// The event that sets a parameter of the node's own; `None` if there is none of that name, or an input.
    fn own_value_event(
        &self,
        node: NodeId,
        name: &str,
        value: f32,
    ) -> Option<Result<EventMessage, EngineError>> {
        let mut inputs = self.graph.node(node)?.kind_inputs().iter();
        let is_own = |own: &OwnParam| own.name == name;
        let is_param = !inputs.any(|port| port.name == name)
            && self.resources.own_params(node).iter().any(is_own);
        is_param.then(|| self.param_event(node, name, value))
    }

    /// Checks whether `node` has room for messages in words of these lengths, so that all can be sent.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoParam`] if the node understands no words, [`EngineError::LongWords`] and [`EngineError::ManyWords`] if there
    /// is never room for them, [`EngineError::Busy`] while there is none, [`EngineError::NoTaker`] if that lasts a second.
    ///
    /// Real-time: setup.
    pub fn check_words(&mut self, node: NodeId, lengths: &[usize]) -> Result<(), EngineError> {
        let times = (self.position, u64::from(self.plan.rate.hz()));
        let outbox = self.resources.outbox(node);
        let outbox = outbox.ok_or_else(|| EngineError::NoParam("messages".to_owned()))?;
        outbox.check(lengths, times)
    }

    /// Sends a message in words to `node`, such as `freq 440` to a patch: what receives under `freq` gets 440. It takes effect at
    /// the next block.
    ///
    /// # Errors
    ///
    /// As [`check_words`](Self::check_words).
    ///
    /// Real-time: setup.
    pub fn send_words(&mut self, node: NodeId, text: &str) -> Result<WordsTicket, EngineError> {
        self.check_words(node, &[text.len()])?;
        let position = self.position;
        let outbox = self.resources.outbox(node);
        let outbox = outbox.ok_or_else(|| EngineError::NoParam("messages".to_owned()))?;
        let sent = outbox.send(text).ok_or(EngineError::Busy)?;
        Ok(WordsTicket {
            node,
            sent,
            position,
        })
    }

    /// The fate of a message in words. After a second without its block it counts as unknown.
    ///
    /// Real-time: setup.
    pub fn words_fate(&mut self, ticket: &WordsTicket) -> WordsFate {
        let is_late = self.position > ticket.position + u64::from(self.plan.rate.hz());
        match self.resources.outbox(ticket.node) {
            Some(outbox) => match outbox.fate(ticket.sent) {
                WordsFate::Waits if is_late => WordsFate::Unknown,
                fate => fate,
            },
            None => WordsFate::Unknown,
        }
    }

    /// The parameters that `node` has beside those of its kind: what a patch receives, and the boxes that it shows. Empty for a node
    /// without any.
    ///
    /// Real-time: setup.
    pub fn own_params(&self, node: NodeId) -> &[OwnParam] {
        match self.resources.own_params(node) {
            [] => (self.remote_own_params.get(&node)).map_or(&[], Vec::as_slice),
            own => own,
        }
    }

    /// Says what nodes that play elsewhere have beside the parameters of their kinds, for [`own_params`](Self::own_params).
    ///
    /// Real-time: setup.
    pub fn set_remote_own_params(&mut self, all: HashMap<NodeId, Vec<OwnParam>>) {
        self.remote_own_params = all;
    }

    fn send_to_input(
        &mut self,
        node: NodeId,
        input: &str,
        body: EventBody,
        at: u64,
    ) -> Result<(), EngineError> {
        let error = || EngineError::NoParam(input.to_owned());
        let there = self.graph.node(node).ok_or_else(error)?;
        let mut ports = (0..).zip(there.kind_inputs());
        let found = ports.find(|(_, port)| port.name == input);
        let found =
            found.filter(|(_, port)| matches!(port.signal, Signal::Control | Signal::Event));
        let (port, _) = found.ok_or_else(error)?;
        let event = Event {
            frame: 0,
            target: EventTarget::Input(port),
            body,
        };
        self.send(EventMessage {
            node,
            event,
            at,
            ramp: None,
            after_swap: 0,
        })
    }

    /// Sends `body` to the parameter or input `target` of `node`, at absolute frame `at`, or at the next block if that frame
    /// has [passed](Self::position). With a `ramp` a number moves there from the ramp's first one. Nothing is looked up:
    /// the node itself knows what the target is, as one does that stands for others.
    ///
    /// # Errors
    ///
    /// [`EngineError::Busy`] while too many events wait.
    ///
    /// Real-time: setup.
    pub fn send_event(
        &mut self,
        node: NodeId,
        (target, body): (EventTarget, EventBody),
        at: u64,
        ramp: Option<(f32, Frames, RampLaw)>,
    ) -> Result<(), EngineError> {
        let frame = 0;
        let ramp = match (body, ramp) {
            (EventBody::Value(to), Some((from, Frames(frames @ 1..), law))) => Some(Ramp {
                from,
                to,
                frames,
                law,
            }),
            _ => None,
        };
        self.send(EventMessage {
            node,
            event: Event {
                frame,
                target,
                body,
            },
            at,
            ramp,
            after_swap: 0,
        })
    }

    fn param_value(&self, node: NodeId, name: &str) -> Option<f64> {
        let stated = param_number(&self.resources.catalogue, self.graph.node(node)?, name);
        let own = || {
            let mut own = self.resources.own_params(node).iter();
            own.find(|own| own.name == name)?.value().map(f64::from)
        };
        stated.or_else(own)
    }

    /// The event that sets a parameter of `node`, if it may change while it plays.
    pub(super) fn param_event(
        &self,
        node: NodeId,
        name: &str,
        value: f32,
    ) -> Result<EventMessage, EngineError> {
        let error = || EngineError::NoParam(name.to_owned());
        let there = self.graph.node(node).ok_or_else(error)?;
        let own = self.resources.own_params(node);
        let index = live_param(&self.resources.catalogue, (there, own), name, value)?;
        let event = Event {
            frame: 0,
            target: EventTarget::Param(index),
            body: EventBody::Value(value),
        };
        Ok(EventMessage {
            node,
            event,
            at: 0,
            ramp: None,
            after_swap: 0,
        })
    }

    /// Writes the bounds of a delay's time into the graph before the time changes. Its processor was made for these
    /// bounds, and a plan must not take the new time for them.
    pub(super) fn keep_delay_bounds(&self, graph: &mut Graph, id: NodeId) {
        let Some(node) = graph.node_mut(id) else {
            return;
        };
        let kind = self.resources.catalogue.get(node.effective_kind());
        let of =
            |node: &Node| kind.and_then(|kind| Some((kind.delay?, node.number(kind.delay?.time)?)));
        let Some((delay, time)) = of(node) else {
            return;
        };
        for key in [delay.min, delay.max] {
            if node.param(key).is_none() {
                node.set(key, ParamValue::Number(time));
            }
        }
    }
}

/// Value of a parameter of `node`, or the kind's default.
///
/// Real-time: setup.
pub fn param_number(catalogue: &Catalogue, node: &Node, name: &str) -> Option<f64> {
    let kind = catalogue.get(node.effective_kind())?;
    let default = match kind.param(name)?.1.range {
        ParamRange::Number { default, .. } => Some(default).filter(|x| !x.is_nan()),
        _ => None,
    };
    node.number(name).or(default)
}

/// Index of the parameter `name` of `node`, which has the parameters `own` beside those of its kind, if it may change to
/// `value` while it plays.
///
/// # Errors
///
/// [`EngineError::NoParam`] or [`EngineError::OutOfRange`].
///
/// Real-time: setup.
pub fn live_param(
    catalogue: &Catalogue,
    (node, own): (&Node, &[OwnParam]),
    name: &str,
    value: f32,
) -> Result<u16, EngineError> {
    let error = || EngineError::NoParam(name.to_owned());
    let kind = catalogue.get(node.effective_kind()).ok_or_else(error)?;
    let (index, param) = kind
        .param(name)
        .filter(|(_, param)| param.live)
        .ok_or_else(error)?;
    let index = match index {
        Kind::OWN => {
            let is_named = |own: &OwnParam| own.name == name && own.can_be_set();
            let at = own.iter().position(is_named).ok_or_else(error)?;
            u16::try_from(kind.params.len() + at).map_err(|_| error())?
        }
        index => index,
    };
    let (mut min, mut max) = match param.range {
        ParamRange::Number { min, max, .. } => (min, max),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    if let Some(delay) = kind.delay.filter(|delay| delay.time == name) {
        let bound = |key| node.number(key).or_else(|| node.number(delay.time));
        min = bound(delay.min).map_or(min, |bound| bound - TIME_TOLERANCE);
        max = bound(delay.max).map_or(max, |bound| bound + TIME_TOLERANCE);
    }
    if !(min..=max).contains(&f64::from(value)) {
        return Err(EngineError::OutOfRange {
            param: name.to_owned(),
            value: value.into(),
            min,
            max,
        });
    }
    Ok(index)
}
