//! One command as changes to a graph, checked by name against the catalogue.

use crate::events::NodeEvent;
use crate::snapshot;
use crate::target::{node, port_name, required, split};
use crate::{Command, ControlError};
use engine::{Engine, RampLaw};
use graph::{Amount, Catalogue, Edit, Graph, GraphBuilder, Kind, NodeId, Param, ParamValue};
use processor::OwnParam;
use serde_json::Value;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use text::toml::snapshots::Snapshots;

/// A parameter of a node that a request sets while it plays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiveSet {
    pub(crate) node: NodeId,
    pub(crate) param: String,
    pub(crate) value: f32,
    pub(crate) over_ms: f64,
    pub(crate) at: u64,
    pub(crate) law: RampLaw,
}

/// The graph that a request makes, command by command.
pub(crate) struct Draft<'a> {
    pub(crate) catalogue: &'a Catalogue,
    engine: &'a Engine,
    /// Folder of the session.
    folder: &'a Path,
    pub(crate) builder: GraphBuilder<'a>,
    /// Parameters that are set with a time: they change no graph until then.
    pub(crate) timed: Vec<LiveSet>,
    /// True if nodes or edges change, or parameters that need a new processor.
    pub(crate) changes_graph: bool,
    pub(crate) snapshots: Arc<Snapshots>,
    pub(crate) events: Vec<NodeEvent>,
    /// Answers, each behind the number of its command.
    pub(crate) answers: Vec<(usize, Value)>,
}

/// Changes of a draft.
pub(crate) struct Changes {
    pub(crate) edits: Vec<Edit>,
    pub(crate) timed: Vec<LiveSet>,
    pub(crate) changes_graph: bool,
    pub(crate) snapshots: Arc<Snapshots>,
    pub(crate) events: Vec<NodeEvent>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        graph: &Graph,
        (catalogue, engine): (&'a Catalogue, &'a Engine),
        (snapshots, folder): (Arc<Snapshots>, &'a Path),
    ) -> Self {
        Self {
            catalogue,
            engine,
            folder,
            snapshots,
            events: Vec::new(),
            answers: Vec::new(),
            builder: GraphBuilder::with_graph(graph.clone(), catalogue),
            timed: Vec::new(),
            changes_graph: false,
        }
    }

    /// Its changes, once all commands are applied.
    pub(crate) fn into_changes(self) -> Changes {
        Changes {
            edits: self.builder.into_edits(),
            timed: self.timed,
            changes_graph: self.changes_graph,
            snapshots: self.snapshots,
            events: self.events,
        }
    }

    /// The parameters that a node which plays has beside those of its kind.
    pub(crate) fn own_params(&self, node: NodeId) -> &'a [OwnParam] {
        self.engine.own_params(node)
    }

    /// Applies a command. Returns false if it changes neither the graph nor the snapshots.
    pub(crate) fn apply(&mut self, number: usize, command: &Command) -> Result<bool, ControlError> {
        Ok(self.apply_to_snapshots(number, command)? || self.apply_to_graph(command)?)
    }

    /// Adds the event that a command is. Returns false if it is none.
    pub(crate) fn add_event(&mut self, command: &Command) -> Result<bool, ControlError> {
        let event = NodeEvent::new(command, self.builder.graph(), self.catalogue)?;
        let is_event = event.is_some();
        self.events.extend(event);
        Ok(is_event)
    }

    fn apply_to_snapshots(
        &mut self,
        number: usize,
        command: &Command,
    ) -> Result<bool, ControlError> {
        let unknown = |name: &String, all: &Snapshots| {
            let near = graph::nearest(name, all.keys().map(String::as_str));
            ControlError::NoSnapshot {
                name: name.clone(),
                nearest: near.map(str::to_owned),
            }
        };
        match command {
            Command::Snapshot { name, part } => {
                let playing = (self.builder.graph(), self.engine);
                let taken = snapshot::take(playing, self.catalogue, part.as_deref())?;
                Arc::make_mut(&mut self.snapshots).insert(name.clone(), taken);
            }
            Command::RemoveSnapshot { name } => {
                if Arc::make_mut(&mut self.snapshots).remove(name).is_none() {
                    return Err(unknown(name, &self.snapshots));
                }
            }
            Command::RenameSnapshot { name, to } => {
                if self.snapshots.contains_key(to) {
                    return Err(ControlError::SnapshotTaken(to.clone()));
                }
                match Arc::make_mut(&mut self.snapshots).remove(name) {
                    Some(it) => Arc::make_mut(&mut self.snapshots).insert(to.clone(), it),
                    None => return Err(unknown(name, &self.snapshots)),
                };
            }
            Command::Recall { name, over_ms, at } => {
                let all = self.snapshots.clone();
                let it = all.get(name).ok_or_else(|| unknown(name, &all))?;
                let left_out = snapshot::recall(self, it, (*over_ms, *at))?;
                let answer = json!({ "recalled": name, "left_out": left_out });
                self.answers.push((number, answer));
            }
            Command::LoadPreset {
                part,
                name,
                over_ms,
                at,
            } => {
                let names = (name.as_str(), part.as_str());
                let graph = self.builder.graph();
                let preset = snapshot::load_preset(self.folder, names, graph, self.catalogue)?;
                let left_out = snapshot::recall(self, &preset, (*over_ms, *at))?;
                let answer = json!({ "recalled": name, "left_out": left_out });
                self.answers.push((number, answer));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn apply_to_graph(&mut self, command: &Command) -> Result<bool, ControlError> {
        match command {
            Command::Solo { node, on } => {
                return self.solo(node.as_deref(), *on).map(|()| true);
            }
            Command::Set {
                target,
                value,
                over_ms,
                at,
            } => return self.set(target, value, (*over_ms, *at)).map(|()| true),
            Command::Add { node, kind, params } => {
                let params = values(params)?;
                self.builder.add(node, kind, &borrowed(&params))?;
            }
            Command::Remove { node: name } => {
                let (id, _) = node(self.builder.graph(), name)?;
                self.builder.remove(id)?;
            }
            Command::Replace {
                node: name,
                kind,
                params,
            } => {
                let (id, _) = node(self.builder.graph(), name)?;
                self.replace(id, kind, &values(params)?)?;
            }
            Command::Connect { from, to } => {
                self.check_undriven(to)?;
                let (from, to) = self.ends(from, to)?;
                self.builder.connect((from.0, &from.1), (to.0, &to.1))?;
            }
            Command::Disconnect { from, to } => {
                let (from, to) = self.ends(from, to)?;
                self.builder.disconnect((from.0, &from.1), (to.0, &to.1))?;
            }
            Command::Bypass { node: name, on } => {
                let (id, _) = node(self.builder.graph(), name)?;
                self.builder.bypass(id, *on)?;
            }
            Command::Rename { node: name, to } => {
                let (id, _) = node(self.builder.graph(), name)?;
                self.builder.rename(id, to)?;
                self.rename_in_snapshots(name, to);
            }
            Command::Move { from, to } => self.take_place(from, to)?,
            Command::Enable { node: name } => self.enable(name, true)?,
            Command::Disable { node: name } => self.enable(name, false)?,
            _ => return Ok(false),
        }
        self.changes_graph = true;
        Ok(true)
    }

    fn rename_in_snapshots(&mut self, name: &str, to: &str) {
        if self
            .snapshots
            .values()
            .any(|nodes| nodes.contains_key(name))
        {
            for nodes in Arc::make_mut(&mut self.snapshots).values_mut() {
                if let Some(state) = nodes.remove(name) {
                    nodes.insert(to.to_owned(), state);
                }
            }
        }
    }

    /// Puts the node `from` in the place of `to`: with its state and parameters it gets the name of `to`, and those edges of
    /// `to` for whose ports it has equal names, in place of its own.
    fn take_place(&mut self, from: &str, to: &str) -> Result<(), ControlError> {
        let (moved, _) = node(self.builder.graph(), from)?;
        let (place, _) = node(self.builder.graph(), to)?;
        if moved == place {
            return Err(ControlError::SamePlace(from.to_owned()));
        }
        let graph = self.builder.graph();
        let own: Vec<_> = named_edges(graph, moved).collect();
        let edges: Vec<_> = named_edges(graph, place).collect();
        for NamedEdge {
            from: (from, output),
            to: (to, input),
            ..
        } in own
        {
            // Equal edges go together.
            let graph = self.builder.graph();
            if named_edges(graph, moved)
                .any(|it| (&it.from, &it.to) == (&(from, output.clone()), &(to, input.clone())))
            {
                self.builder.disconnect((from, &output), (to, &input))?;
            }
        }
        self.builder.remove(place)?;
        self.builder.rename(moved, to)?;
        let end = |node| if node == place { moved } else { node };
        // An edge between the two would be one to itself.
        let edges = edges
            .into_iter()
            .filter(|it| it.from.0 != moved && it.to.0 != moved);
        let edges: Vec<_> = edges.collect();
        // A node that plays gets no input that drives a parameter.
        let edges = edges.into_iter().map(|edge| NamedEdge {
            drives: None,
            ..edge
        });
        self.connect_where_ports_are(edges.collect(), end)
    }

    fn enable(&mut self, name: &str, is_enabled: bool) -> Result<(), ControlError> {
        let (id, _) = node(self.builder.graph(), name)?;
        Ok(self.builder.enable(id, is_enabled)?)
    }

    /// Sets a parameter. One that cannot change while it plays makes the node anew.
    fn set(
        &mut self,
        target: &str,
        value: &Value,
        (over_ms, at): (f64, u64),
    ) -> Result<(), ControlError> {
        let (id, node, param) = required(self.builder.graph(), target, "a parameter")?;
        let kind = self.catalogue.get(node.effective_kind());
        let is_live = kind
            .and_then(|kind| kind.param(param))
            .is_some_and(|(_, param)| param.live);
        let is_timed = over_ms != 0.0 || at != 0;
        let value = param_value(value)?;
        match &value {
            _ if is_live => self.set_live(id, param, value, (over_ms, at), RampLaw::Linear)?,
            _ if is_timed => {
                return Err(ControlError::NotLive(param.to_owned()));
            }
            _ => {
                let (kind, mut params) = (node.effective_kind().to_owned(), node.params.clone());
                match params.iter_mut().find(|(key, _)| key == param) {
                    Some((_, old)) => *old = value,
                    None => params.push((param.to_owned(), value)),
                }
                self.replace(id, &kind, &params)?;
                self.changes_graph = true;
            }
        }
        Ok(())
    }

    /// Sets a parameter that may change while it plays.
    pub(crate) fn set_live(
        &mut self,
        node: NodeId,
        param: &str,
        value: ParamValue,
        (over_ms, at): (f64, u64),
        law: RampLaw,
    ) -> Result<(), ControlError> {
        if !(0.0..=3_600_000.0).contains(&over_ms) {
            return Err(ControlError::Time(over_ms));
        }
        let value = self.held(node, param, value);
        let number = match &value {
            ParamValue::Number(number) => Some(*number as f32),
            _ => None,
        };
        // Checks the value.
        self.builder.set(node, param, value)?;
        // What is set last counts.
        self.timed
            .retain(|it| (it.node, it.param.as_str()) != (node, param));
        if let Some(value) = number.filter(|_| over_ms != 0.0 || at != 0) {
            self.timed.push(LiveSet {
                node,
                param: param.to_owned(),
                value,
                over_ms,
                at,
                law,
            });
        }
        Ok(())
    }

    /// The value that a box keeps: the nearest in its range.
    fn held(&self, node: NodeId, param: &str, value: ParamValue) -> ParamValue {
        let mut own = self.own_params(node).iter();
        let face = own
            .find(|own| own.name == param)
            .and_then(|own| own.face.as_ref());
        let range = face.filter(|face| face.initial.is_some());
        let range = range.and_then(|face| face.shown.range());
        match (value, range) {
            (ParamValue::Number(number), Some([one, other])) => {
                let (low, high) = (one.min(other), one.max(other));
                ParamValue::Number(number.max(low.into()).min(high.into()))
            }
            (value, _) => value,
        }
    }

    /// Puts a new node in the place of `id`, with its edges to ports of equal names.
    fn replace(
        &mut self,
        id: NodeId,
        kind: &str,
        params: &[(String, ParamValue)],
    ) -> Result<(), ControlError> {
        let graph = self.builder.graph();
        let name = graph.node(id).map(|node| node.name.clone());
        let name = name.unwrap_or_default();
        let edges: Vec<_> = named_edges(graph, id).collect();
        self.builder.remove(id)?;
        let new = self.builder.add(&name, kind, &borrowed(params))?;
        self.connect_where_ports_are(edges, |node| if node == id { new } else { node })
    }

    /// Connects `edges`, at whose nodes others may be now, where these have ports of the names.
    fn connect_where_ports_are(
        &mut self,
        edges: Vec<NamedEdge>,
        end: impl Fn(NodeId) -> NodeId,
    ) -> Result<(), ControlError> {
        for NamedEdge {
            from: (from, output),
            to: (to, input),
            drives,
        } in edges
        {
            let graph = self.builder.graph();
            let has = |node: NodeId, name: &str, is_output: bool| {
                let ports = graph.node(node).map(|node| match is_output {
                    true => &node.outputs,
                    false => &node.inputs,
                });
                ports.is_some_and(|ports| ports.iter().any(|port| port.name == name))
            };
            let (from, to) = (end(from), end(to));
            if let Some((param, amount)) = drives.filter(|_| has(from, &output, true)) {
                self.drive((from, &output), (to, &param), amount)?;
            } else if has(from, &output, true) && has(to, &input, false) {
                self.builder.connect((from, &output), (to, &input))?;
            }
        }
        Ok(())
    }

    /// Has an output drive a parameter of a node in another's place, if it has one that can be driven.
    fn drive(
        &mut self,
        from: (NodeId, &str),
        (to, param): (NodeId, &str),
        amount: Amount,
    ) -> Result<(), ControlError> {
        let kind = self.builder.graph().node(to);
        let kind = kind.and_then(|node| self.catalogue.get(node.effective_kind()));
        let found = kind.and_then(|kind| kind.param(param));
        if found.is_some_and(|(_, param)| param.can_be_driven()) {
            self.builder.modulate(from, (to, param), amount)?;
        }
        Ok(())
    }

    /// Refuses an edge to a parameter, which no command makes.
    fn check_undriven(&self, to: &str) -> Result<(), ControlError> {
        let (id, node, word) = split(self.builder.graph(), to)?;
        let input = port_name(&node.inputs, word);
        let kind = self.catalogue.get(node.effective_kind());
        let found = kind.and_then(|kind| kind.param(word));
        let is_param = found.is_some_and(|(index, _)| {
            let mut own = self.own_params(id).iter();
            index != Kind::OWN || own.any(|own| own.name == word)
        });
        let is_input = node.inputs.iter().any(|port| port.name == input);
        match is_param && !is_input {
            true => Err(ControlError::Driven(to.to_owned())),
            false => Ok(()),
        }
    }

    /// The two ends of an edge: nodes and names of ports.
    fn ends(&self, from: &str, to: &str) -> Result<NamedEnds, ControlError> {
        let graph = self.builder.graph();
        let (source, node, port) = split(graph, from)?;
        let output = port_name(&node.outputs, port);
        let (target, node, port) = split(graph, to)?;
        let input = port_name(&node.inputs, port);
        Ok(((source, output), (target, input)))
    }
}

/// The ends of an edge, by nodes and names of ports.
type NamedEnds = ((NodeId, String), (NodeId, String));

/// An edge by nodes and names of ports, and the parameter that it drives.
struct NamedEdge {
    from: (NodeId, String),
    to: (NodeId, String),
    drives: Option<(String, Amount)>,
}

/// The edges at `id`, with the names of their ports.
fn named_edges(graph: &Graph, id: NodeId) -> impl Iterator<Item = NamedEdge> + '_ {
    let edges = graph.edges().iter();
    let edges = edges.filter(move |edge| edge.from.node == id || edge.to.node == id);
    edges.filter_map(|edge| {
        let output = &graph.node(edge.from.node)?.outputs;
        let input = &graph.node(edge.to.node)?.inputs;
        let input = input.get(usize::from(edge.to.port))?;
        let drives = input.modulation.map(|how| {
            let (law, factor) = (how.law, how.amount);
            (input.driven_name().to_owned(), Amount { law, factor })
        });
        let output = output.get(usize::from(edge.from.port))?.name.clone();
        Some(NamedEdge {
            from: (edge.from.node, output),
            to: (edge.to.node, input.name.clone()),
            drives,
        })
    })
}

/// The law by which a parameter moves from one snapshot to another.
pub(crate) fn ramp_law(param: &Param) -> RampLaw {
    match (param.unit, param.name) {
        // Between values of one sign equal ratios are a straight line in dB; to and from 0 the line is that of the factor.
        ("Hz", _) | ("", "gain" | "volume") => RampLaw::Geometric,
        _ => RampLaw::Linear,
    }
}

/// A value of JSON as a parameter's.
pub(crate) fn param_value(value: &Value) -> Result<ParamValue, ControlError> {
    match value {
        Value::Number(number) => number.as_f64().map(ParamValue::Number),
        Value::String(text) => Some(ParamValue::Text(text.clone())),
        Value::Bool(on) => Some(ParamValue::Flag(*on)),
        _ => None,
    }
    .ok_or_else(|| ControlError::Value(value.to_string()))
}

fn values(params: &BTreeMap<String, Value>) -> Result<Vec<(String, ParamValue)>, ControlError> {
    let value = |(key, value): (&String, &Value)| Ok((key.clone(), param_value(value)?));
    params.iter().map(value).collect()
}

fn borrowed(params: &[(String, ParamValue)]) -> Vec<(&str, ParamValue)> {
    params
        .iter()
        .map(|(key, value)| (key.as_str(), value.clone()))
        .collect()
}
