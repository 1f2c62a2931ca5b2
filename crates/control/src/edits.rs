//! One command as changes to a graph, checked by name against the catalogue.

use crate::target::{node, port_name, required, split};
use crate::{Command, ControlError};
use graph::{Catalogue, Graph, GraphBuilder, NodeId, ParamValue};
use serde_json::Value;
use std::collections::BTreeMap;

/// A parameter of a node that a request sets while it plays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiveSet {
    pub(crate) node: NodeId,
    pub(crate) param: String,
    pub(crate) value: f32,
    pub(crate) over_ms: f64,
    pub(crate) at: u64,
}

/// The graph that a request makes, command by command.
pub(crate) struct Draft<'a> {
    catalogue: &'a Catalogue,
    pub(crate) builder: GraphBuilder<'a>,
    /// Parameters that are set with a time: they change no graph until then.
    pub(crate) timed: Vec<LiveSet>,
    /// True if nodes or edges change, or parameters that need a new processor.
    pub(crate) changes_graph: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(graph: &Graph, catalogue: &'a Catalogue) -> Self {
        Self {
            catalogue,
            builder: GraphBuilder::with_graph(graph.clone(), catalogue),
            timed: Vec::new(),
            changes_graph: false,
        }
    }

    /// Applies one command. Returns false if it does not concern the graph.
    pub(crate) fn apply(&mut self, command: &Command) -> Result<bool, ControlError> {
        match command {
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
                let (from, to) = self.ends(from, to)?;
                self.builder.connect((from.0, &from.1), (to.0, &to.1))?;
            }
            Command::Disconnect { from, to } => {
                let (from, to) = self.ends(from, to)?;
                self.builder.disconnect((from.0, &from.1), (to.0, &to.1))?;
            }
            Command::Enable { node: name } => self.enable(name, true)?,
            Command::Disable { node: name } => self.enable(name, false)?,
            _ => return Ok(false),
        }
        self.changes_graph = true;
        Ok(true)
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
            ParamValue::Number(number) if is_live && is_timed => {
                if !(0.0..=3_600_000.0).contains(&over_ms) {
                    return Err(ControlError::Time(over_ms));
                }
                let set = LiveSet {
                    node: id,
                    param: param.to_owned(),
                    value: *number as f32,
                    over_ms,
                    at,
                };
                // Checks the value.
                self.builder.set(id, param, value)?;
                self.timed.push(set);
            }
            _ if is_live => self.builder.set(id, param, value)?,
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
        let end = |node| if node == id { new } else { node };
        for ((from, output), (to, input)) in edges {
            let graph = self.builder.graph();
            let has = |node: NodeId, name: &str, is_output: bool| {
                let ports = graph.node(node).map(|node| match is_output {
                    true => &node.outputs,
                    false => &node.inputs,
                });
                ports.is_some_and(|ports| ports.iter().any(|port| port.name == name))
            };
            let (from, to) = (end(from), end(to));
            if has(from, &output, true) && has(to, &input, false) {
                self.builder.connect((from, &output), (to, &input))?;
            }
        }
        Ok(())
    }

    /// The two ends of an edge: nodes and names of ports.
    #[allow(clippy::type_complexity)]
    fn ends(
        &self,
        from: &str,
        to: &str,
    ) -> Result<((NodeId, String), (NodeId, String)), ControlError> {
        let graph = self.builder.graph();
        let (source, node, port) = split(graph, from)?;
        let output = port_name(&node.outputs, port);
        let (target, node, port) = split(graph, to)?;
        let input = port_name(&node.inputs, port);
        Ok(((source, output), (target, input)))
    }
}

/// The edges at `id`, with the names of their ports.
fn named_edges(
    graph: &Graph,
    id: NodeId,
) -> impl Iterator<Item = ((NodeId, String), (NodeId, String))> + '_ {
    let edges = graph.edges().iter();
    let edges = edges.filter(move |edge| edge.from.node == id || edge.to.node == id);
    edges.filter_map(|edge| {
        let output = &graph.node(edge.from.node)?.outputs;
        let input = &graph.node(edge.to.node)?.inputs;
        let output = output.get(usize::from(edge.from.port))?.name.clone();
        let input = input.get(usize::from(edge.to.port))?.name.clone();
        Some(((edge.from.node, output), (edge.to.node, input)))
    })
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
