//! [`GraphBuilder`]: makes or changes a graph in code, by names, and checks kinds, parameters and ports at once.

use crate::{
    Amount, BuildError, Catalogue, ChannelProbe, Edge, Edit, EditError, Graph, Kind, Modulation,
    Node, NodeId, ParamRange, ParamValue, Port, PortRef, Signal, SourceSpan, inferred_channels,
};

/// Keys that set numbers of ports and channels of every kind.
const COUNTS: [&str; 4] = ["in", "out", "channels", "layout"];

/// Makes or changes a graph in code. Each call is checked against the catalogue, and a refused one changes nothing.
///
/// ```
/// use divisi_graph::{Catalogue, GraphBuilder, Kind, PortSpec};
///
/// let mut catalogue = Catalogue::default();
/// catalogue.insert(Kind { outputs: vec![PortSpec::mono("out")], ..Kind::new("osc", "") });
/// catalogue.insert(Kind { inputs: vec![PortSpec::mono("in")], ..Kind::new("sink", "") });
/// let mut patch = GraphBuilder::new(&catalogue);
/// let tone = patch.add("tone", "osc", &[])?;
/// let out = patch.add("out", "sink", &[])?;
/// patch.connect((tone, "out"), (out, "in"))?;
/// let wrong = patch.connect((tone, "left"), (out, "in")).unwrap_err();
/// assert_eq!(wrong.to_string(), "`tone` has no output `left`; it has `out`");
/// assert_eq!(patch.finish().edges().len(), 1);
/// # Ok::<(), divisi_graph::BuildError>(())
/// ```
///
/// Real-time: setup.
pub struct GraphBuilder<'a> {
    graph: Graph,
    catalogue: &'a Catalogue,
    edits: Vec<Edit>,
    /// Ids from here on are of nodes that this builder has added.
    first_added: usize,
    probe: ChannelProbe<'a>,
}

impl<'a> GraphBuilder<'a> {
    /// Begins with an empty graph, of kinds of `catalogue`.
    pub fn new(catalogue: &'a Catalogue) -> Self {
        Self::with_graph(Graph::default(), catalogue)
    }

    /// Begins with `graph`.
    pub fn with_graph(graph: Graph, catalogue: &'a Catalogue) -> Self {
        Self {
            first_added: graph.id_bound(),
            graph,
            catalogue,
            edits: Vec::new(),
            probe: &|_| None,
        }
    }

    /// Asks `probe` for the widths of the files that nodes name.
    #[must_use]
    pub fn with_probe(self, probe: ChannelProbe<'a>) -> Self {
        Self { probe, ..self }
    }

    /// The graph so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The graph, with the width of every added node that states none.
    #[must_use]
    pub fn finish(mut self) -> Graph {
        self.settle_channels();
        self.graph
    }

    /// The changes to the graph that it began with.
    #[must_use]
    pub fn into_edits(mut self) -> Vec<Edit> {
        self.settle_channels();
        let added = self.edits.iter_mut().filter_map(|edit| match edit {
            Edit::Add(node) => Some(node),
            _ => None,
        });
        for (id, node) in (self.first_added as u32..).zip(added) {
            if let Some(settled) = self.graph.node(NodeId(id)) {
                node.channels = settled.channels;
                node.output_channels = settled.output_channels;
                node.inputs.clone_from(&settled.inputs);
                node.outputs.clone_from(&settled.outputs);
            }
        }
        self.edits
    }

    /// Gives added nodes that state no width the one that they take.
    fn settle_channels(&mut self) {
        let is_added = |id: NodeId| id.0 as usize >= self.first_added;
        let (graph, catalogue) = (&self.graph, self.catalogue);
        let found = inferred_channels(graph, graph.edges(), catalogue, self.probe, is_added);
        for (id, widths) in found {
            if let Some(node) = self.graph.node_mut(id) {
                catalogue.set_widths(node, widths);
            }
        }
    }

    /// Returns true if the width of `node` is settled when the graph is finished.
    fn infers_width(&self, id: NodeId) -> bool {
        let node = self
            .graph
            .node(id)
            .filter(|_| id.0 as usize >= self.first_added);
        node.is_some_and(|node| {
            let kind = self.catalogue.get(node.effective_kind());
            kind.is_some_and(|kind| kind.infers_width(node))
        })
    }

    /// Adds a node called `name`. `in`, `out`, `channels` and `layout` among `params` set its ports, as in a session. A kind with a
    /// port for each channel, as `split` and `join`, has them from here on only if the node states its width.
    ///
    /// # Errors
    ///
    /// The name is taken, or there is no such kind, parameter or value.
    pub fn add(
        &mut self,
        name: &str,
        kind: &str,
        params: &[(&str, ParamValue)],
    ) -> Result<NodeId, BuildError> {
        let found = self.catalogue.get(kind).ok_or_else(|| BuildError::NoKind {
            kind: kind.to_owned(),
            nearest: self.catalogue.nearest(kind),
        })?;
        let mut node = Node::new(name, kind);
        for (key, value) in params {
            check_param(found, key, value)?;
            node.set(*key, value.clone());
        }
        if let Some((key, message)) = Catalogue::assign_ports(found, &mut node).into_iter().next() {
            return Err(BuildError::BadValue {
                param: key.to_owned(),
                message,
            });
        }
        let added = self.apply(Edit::Add(node))?;
        Ok(added.expect("the graph gives each added node an id"))
    }

    /// Connects an output to an input, each by its node and name. The widths of added nodes that state none are settled by
    /// [`finish`](Self::finish); until then they fit any other.
    ///
    /// # Errors
    ///
    /// There is no such port, or they carry different signals.
    pub fn connect(&mut self, from: (NodeId, &str), to: (NodeId, &str)) -> Result<(), BuildError> {
        let (from, output) = self.output(from)?;
        let (to, input) = self.input(to)?;
        let is_settled = !(self.infers_width(from.node) || self.infers_width(to.node));
        let are_audio = matches!((output, input), (Signal::Audio(_), Signal::Audio(_)));
        if !output.fits(input) && (is_settled || !are_audio) {
            return Err(BuildError::SignalMismatch {
                from: output,
                to: input,
            });
        }
        let span = SourceSpan::NONE;
        self.apply(Edit::Connect(Edge { from, to, span })).map(drop)
    }

    /// Lets an output drive the parameter of a node, by an amount under a law. See [`Modulation`] for the formula.
    ///
    /// # Errors
    ///
    /// There is no such output or parameter, or the parameter cannot change while it plays.
    pub fn modulate(
        &mut self,
        from: (NodeId, &str),
        (to, param): (NodeId, &str),
        amount: Amount,
    ) -> Result<(), BuildError> {
        let (from, _) = self.output(from)?;
        let there = self.graph.node(to).ok_or(EditError::NoNode(to))?;
        let kind = there.effective_kind();
        let found = self.catalogue.get(kind).and_then(|kind| kind.param(param));
        let Some((index, found)) = found else {
            let kind_of = self.catalogue.get(kind).into_iter();
            let names = kind_of.flat_map(|kind| kind.params.iter().map(|param| param.name));
            return Err(BuildError::NoParam {
                kind: kind.to_owned(),
                param: param.to_owned(),
                nearest: crate::nearest(param, names),
            });
        };
        if !found.can_be_driven() || !amount.factor.is_finite() {
            let message = match amount.factor.is_finite() {
                true => "cannot change while it plays".to_owned(),
                false => "cannot be driven by an amount that is not finite".to_owned(),
            };
            let param = param.to_owned();
            return Err(BuildError::BadValue { param, message });
        }
        let modulation = Modulation {
            param: index,
            law: amount.law,
            amount: amount.factor,
        };
        let (param, span) = (param.to_owned(), SourceSpan::NONE);
        self.apply(Edit::Modulate {
            from,
            to,
            param,
            modulation,
            span,
        })
        .map(drop)
    }

    /// Removes the edges from an output to an input, each by its node and name.
    ///
    /// # Errors
    ///
    /// There is no such port or edge.
    pub fn disconnect(
        &mut self,
        from: (NodeId, &str),
        to: (NodeId, &str),
    ) -> Result<(), BuildError> {
        let (from, _) = self.output(from)?;
        let (to, _) = self.input(to)?;
        self.apply(Edit::Disconnect(from, to)).map(drop)
    }

    /// Removes a node with all its edges.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn remove(&mut self, node: NodeId) -> Result<(), BuildError> {
        self.apply(Edit::Remove(node)).map(drop)
    }

    /// Enables a node, or makes it silent.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn enable(&mut self, node: NodeId, enabled: bool) -> Result<(), BuildError> {
        self.apply(Edit::Enable(node, enabled)).map(drop)
    }

    /// Lets a node's inputs pass by it, or not any more.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn bypass(&mut self, node: NodeId, bypassed: bool) -> Result<(), BuildError> {
        self.apply(Edit::Bypass(node, bypassed)).map(drop)
    }

    /// Gives a node another name.
    ///
    /// # Errors
    ///
    /// There is no such node, or the name is taken.
    pub fn rename(&mut self, node: NodeId, name: &str) -> Result<(), BuildError> {
        self.apply(Edit::Rename(node, name.to_owned())).map(drop)
    }

    /// Sets a parameter.
    ///
    /// # Errors
    ///
    /// There is no such node, parameter or value.
    pub fn set(
        &mut self,
        node: NodeId,
        param: &str,
        value: impl Into<ParamValue>,
    ) -> Result<(), BuildError> {
        let value = value.into();
        let there = self.graph.node(node).ok_or(EditError::NoNode(node))?;
        if let Some(kind) = self.catalogue.get(there.effective_kind()) {
            check_param(kind, param, &value)?;
        }
        self.apply(Edit::Set(node, param.to_owned(), value))
            .map(drop)
    }

    fn apply(&mut self, edit: Edit) -> Result<Option<NodeId>, BuildError> {
        let added = self.graph.apply(edit.clone())?;
        self.edits.push(edit);
        Ok(added)
    }

    fn output(&self, (node, name): (NodeId, &str)) -> Result<(PortRef, Signal), BuildError> {
        let there = self.graph.node(node).ok_or(EditError::NoNode(node))?;
        port((node, there), "output", name, &there.outputs)
    }

    fn input(&self, (node, name): (NodeId, &str)) -> Result<(PortRef, Signal), BuildError> {
        let there = self.graph.node(node).ok_or(EditError::NoNode(node))?;
        port((node, there), "input", name, &there.inputs)
    }
}

/// The port called `name` among `ports`.
fn port(
    (id, node): (NodeId, &Node),
    side: &'static str,
    name: &str,
    ports: &[Port],
) -> Result<(PortRef, Signal), BuildError> {
    let found = (0..).zip(ports).find(|(_, port)| port.name == name);
    let (port, found) = found.ok_or_else(|| BuildError::NoPort {
        node: node.name.clone(),
        side,
        port: name.to_owned(),
        known: ports.iter().map(|port| port.name.clone()).collect(),
    })?;
    Ok((PortRef { node: id, port }, found.signal))
}

/// Checks a parameter's name and value.
fn check_param(kind: &Kind, key: &str, value: &ParamValue) -> Result<(), BuildError> {
    let Some((_, param)) = kind.param(key) else {
        if COUNTS.contains(&key) {
            return Ok(());
        }
        let names = kind.params.iter().map(|param| param.name);
        return Err(BuildError::NoParam {
            kind: kind.name.to_owned(),
            param: key.to_owned(),
            nearest: crate::nearest(key, names),
        });
    };
    let message = match (&param.range, value) {
        (ParamRange::Number { min, max, .. }, ParamValue::Number(number)) => {
            if (*min..=*max).contains(number) {
                return Ok(());
            }
            format!("is {number}; it must be from {min} to {max} {}", param.unit)
        }
        (ParamRange::Choice(words), ParamValue::Text(word)) => {
            if words.contains(&word.as_str()) {
                return Ok(());
            }
            format!("is \"{word}\"; it must be one of {}", words.join(", "))
        }
        (ParamRange::Flag, ParamValue::Flag(_))
        | (ParamRange::File(_) | ParamRange::Text, ParamValue::Text(_)) => return Ok(()),
        (ParamRange::Number { .. }, _) => "takes a number".to_owned(),
        (ParamRange::Choice(words), _) => format!("takes one of {}", words.join(", ")),
        (ParamRange::Flag, _) => "takes true or false".to_owned(),
        (ParamRange::File(_), _) => "takes the name of a file".to_owned(),
        (ParamRange::Text, _) => "takes a text".to_owned(),
    };
    Err(BuildError::BadValue {
        param: key.to_owned(),
        message: message.trim_end().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Param, PortSpec};

    fn catalogue() -> Catalogue {
        let freq = Param {
            name: "freq",
            unit: "Hz",
            range: ParamRange::Number {
                min: 0.0,
                max: 20e3,
                default: 440.0,
            },
            live: true,
            audio_rate: false,
            doc: "",
        };
        let mut catalogue = Catalogue::default();
        catalogue.insert(Kind {
            outputs: vec![PortSpec::mono("out")],
            params: vec![freq],
            ..Kind::new("osc", "")
        });
        catalogue.insert(Kind {
            inputs: vec![PortSpec::audio("in")],
            outputs: vec![PortSpec::audio("out")],
            ..Kind::new("gain", "")
        });
        catalogue
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name_and_changes_nothing() {
        let catalogue = catalogue();
        let mut patch = GraphBuilder::new(&catalogue);
        let tone = patch.add("tone", "osc", &[("freq", 220.0.into())]).unwrap();
        let wide = patch
            .add("wide", "gain", &[("channels", 2.0.into())])
            .unwrap();
        let wider = [("channels", 3.0.into())];
        let wider = patch.add("wider", "gain", &wider).unwrap();
        patch.connect((tone, "out"), (wide, "in")).unwrap();
        let before = patch.graph().clone();
        let refused = [
            patch.add("x", "osk", &[]).unwrap_err(),
            patch.add("tone", "osc", &[]).unwrap_err(),
            patch.add("x", "osc", &[("frq", 1.0.into())]).unwrap_err(),
            patch.add("x", "osc", &[("freq", 1e6.into())]).unwrap_err(),
            patch.set(tone, "freq", "high").unwrap_err(),
            patch.connect((wide, "out"), (wider, "in")).unwrap_err(),
            patch.connect((wide, "out"), (tone, "in")).unwrap_err(),
            patch.remove(NodeId(9)).unwrap_err(),
        ];
        let said: Vec<String> = refused.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "there is no kind `osk`; did you mean `osc`?",
                "the name `tone` is taken",
                "`osc` has no parameter `frq`; did you mean `freq`?",
                "`freq` is 1000000; it must be from 0 to 20000 Hz",
                "`freq` takes a number",
                "the output carries Audio(Channels(2)), and the input takes Audio(Channels(3))",
                "`tone` has no input `in`; it has none",
                "there is no node 9",
            ]
        );
        assert_eq!(*patch.graph(), before);
        assert_eq!(patch.into_edits().len(), 4);
    }

    #[test]
    fn a_node_without_channels_takes_the_widest_signal_that_enters() {
        let catalogue = catalogue();
        let mut patch = GraphBuilder::new(&catalogue);
        let gain = |channels: f64| [("channels", ParamValue::from(channels))];
        let [two, three] = [gain(2.0), gain(3.0)];
        let two = patch.add("two", "gain", &two).unwrap();
        let three = patch.add("three", "gain", &three).unwrap();
        let free = [1, 2, 3, 4].map(|n| patch.add(&format!("free{n}"), "gain", &[]).unwrap());
        let mut connect = |from, to| patch.connect((from, "out"), (to, "in")).unwrap();
        connect(free[2], free[3]);
        connect(free[1], free[2]);
        connect(two, free[0]);
        connect(three, free[1]);
        // A loop settles too.
        connect(free[3], free[1]);
        let widths = |graph: &Graph| free.map(|id| graph.node(id).unwrap().channels.0);
        let edits = patch.into_edits();
        let mut graph = Graph::default();
        for edit in edits {
            graph.apply(edit).unwrap();
        }
        assert_eq!(widths(&graph), [2, 3, 3, 3]);
        let port = &graph.node(free[3]).unwrap().outputs[0];
        assert_eq!(port.signal, Signal::Audio(units::Channels(3)));
    }
}
