//! Edges that drive parameters: the last end of a chain names a live parameter of its node.

use super::edges::{Resolver, position};
use crate::ast::PortSide;
use crate::ast::{AstEnd, PortName};
use crate::diagnostics::Diagnostics;
use graph::{Diagnostic, Edge, Graph, Kind, Modulation, Node, NodeId, Param, PortRef, Signal};
use units::Channels;

/// A parameter that an edge drives.
pub(super) struct DrivenEdge {
    name: String,
    signal: Signal,
    modulation: Modulation,
}

impl DrivenEdge {
    /// Adds the input behind which `edge` drives the parameter, and the edge.
    pub(super) fn add(&self, graph: &mut Graph, mut edge: Edge, diagnostics: &mut Diagnostics<'_>) {
        let Some(node) = graph.node_mut(edge.to.node) else {
            return;
        };
        match node.add_modulation(&self.name, self.signal, self.modulation) {
            Some(port) => {
                edge.to.port = port;
                graph.connect(edge);
            }
            None => {
                let message = format!("too many edges drive parameters of `{}`", node.name);
                (diagnostics.list).push(Diagnostic::error(edge.span, message));
            }
        }
    }
}

/// A parameter that the end of an edge names.
pub(super) struct ParamTarget<'a> {
    node: NodeId,
    kind: &'a Kind,
    index: u16,
    param: &'a Param,
    /// As the kind calls it; one of the node's own has no name there.
    name: String,
}

impl<'a> Resolver<'a, '_, '_, '_> {
    /// The parameter that `to` names, if it is the last of its chain and names no port.
    pub(super) fn param_target(&self, to: &AstEnd<'_>) -> Option<ParamTarget<'a>> {
        if to.is_middle {
            return None;
        }
        self.param_named(to)
    }

    fn param_named(&self, end: &AstEnd<'_>) -> Option<ParamTarget<'a>> {
        let PortName::Name(name) = &end.port else {
            return None;
        };
        let id = self.nodes.graph.find(&end.node.text)?;
        let node = self.nodes.graph.node(id)?;
        if !self.nodes.has_ports[id.0 as usize] || position(&node.inputs, name).is_some() {
            return None;
        }
        let kind = self.catalogue.get(node.effective_kind())?;
        let name = kind.new_key(name).unwrap_or(name);
        // Whether a node has a parameter of its own is known once it is made.
        let (index, param) = kind.param(name)?;
        Some(ParamTarget {
            node: id,
            kind,
            index,
            param,
            name: name.to_owned(),
        })
    }

    /// The edge from `from` that drives `target`, with an input that is still to be added.
    pub(super) fn drive(
        &mut self,
        from: &AstEnd<'_>,
        to: &AstEnd<'_>,
        target: ParamTarget<'_>,
    ) -> Option<(Edge, Option<DrivenEdge>)> {
        let (output, sent) = self.end(from, PortSide::Output)?;
        let (name, at) = (target.name.clone(), from.at().start..to.at().end);
        if !target.param.can_be_driven() {
            let message = format!(
                "`{name}` of `{}` cannot change while it plays",
                to.node.text
            );
            let help = drivable(target.kind);
            self.diagnostics
                .error(to.port_at.clone(), message)
                .help(help);
            return None;
        }
        let signal = match sent {
            Signal::Audio(_) => Signal::Audio(Channels(1)),
            signal => signal,
        };
        self.warn_of_fixed_time(to, &target);
        let amount = to.amount.unwrap_or_default();
        let edge = Edge {
            from: output,
            to: PortRef {
                node: target.node,
                port: 0,
            },
            span: self.diagnostics.span(at),
        };
        let modulation = Modulation {
            param: target.index,
            law: amount.law,
            amount: amount.factor,
        };
        let driven = DrivenEdge {
            name,
            signal,
            modulation,
        };
        Some((edge, Some(driven)))
    }

    /// Warns of a delay whose time is driven and cannot move, because its line is as long as the time.
    fn warn_of_fixed_time(&mut self, to: &AstEnd<'_>, target: &ParamTarget<'_>) {
        let delay = target.kind.delay;
        let Some(delay) = delay.filter(|delay| delay.time == target.param.name) else {
            return;
        };
        let node = self.nodes.graph.node(target.node);
        let states = |key| node.is_some_and(|node| node.param(key).is_some());
        if states(delay.min) || states(delay.max) {
            return;
        }
        let message = format!(
            "`{}` of `{}` is driven and cannot move",
            delay.time, to.node.text
        );
        let help = format!("state `{}` and `{}`", delay.min, delay.max);
        (self.diagnostics)
            .warning(to.port_at.clone(), message)
            .help(help);
    }

    /// Reports an amount at an end that is a port.
    pub(super) fn amount_without_param(&mut self, to: &AstEnd<'_>) {
        let node = self.nodes.graph.find(&to.node.text);
        let node = node.and_then(|id| self.nodes.graph.node(id));
        let kind = node.and_then(|node| self.catalogue.get(node.effective_kind()));
        let help = kind.map_or_else(String::new, drivable);
        let message = "an amount belongs to a parameter, and this end is an input";
        self.diagnostics.error(to.at(), message).help(help);
    }

    /// Help for a parameter in the middle of a chain.
    pub(super) fn middle_param(&self, written: &AstEnd<'_>, node: &Node) -> Option<String> {
        let target = self.param_named(written).filter(|_| written.is_middle)?;
        let (param, name) = (&target.name, &node.name);
        Some(format!(
            "`{param}` is a parameter: end the chain there, and begin another with `{name}`"
        ))
    }
}

/// Help that lists the parameters which an edge can drive.
fn drivable(kind: &Kind) -> String {
    let params = kind.params.iter().filter(|param| param.can_be_driven());
    let names: Vec<String> = params.map(|param| format!("`{}`", param.name)).collect();
    match names.as_slice() {
        [] => format!("no parameter of `{}` can be driven", kind.name),
        [one] => format!("{one} of `{}` can be driven", kind.name),
        names => format!("{} of `{}` can be driven", names.join(", "), kind.name),
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::catalogue;
    use crate::{ag, toml};
    use graph::Law;

    fn read(edges: &str) -> crate::ParsedSession {
        let text = format!(
            "edges = [{edges}]\n[nodes.lfo]\nkind = \"osc\"\nfreq = 5\n[nodes.tone]\nkind = \"osc\"\nfreq = 440\n\
             [nodes.m]\nkind = \"mod\"\nfreq = 1\n[nodes.metro]\nkind = \"metro\"\n[nodes.wide]\nkind = \"player\"\nfile = \"a\"\n"
        );
        toml::read(text, &catalogue())
    }

    #[test]
    fn the_last_end_of_a_chain_may_be_a_parameter_with_an_amount() {
        let read = read(
            "'lfo -> tone.freq: 2 octaves', 'lfo -> m -> tone.freq', \"metro -> tone.freq: times -0.5\"",
        );
        assert_eq!(read.diagnostics, []);
        let graph = &read.session.graph;
        let tone = graph.node(graph.find("tone").unwrap()).unwrap();
        let found = tone.modulations();
        let found: Vec<_> = found
            .map(|(port, it)| (port.name.as_str(), it.law, it.amount))
            .collect();
        let expected = [
            ("freq", Law::Octaves, 2.0),
            ("freq (2)", Law::Add, 1.0),
            ("freq (3)", Law::Times, -0.5),
        ];
        assert_eq!(found, expected);
        let ends: Vec<u16> = graph.edges().iter().map(|edge| edge.to.port).collect();
        assert_eq!(ends, [0, 0, 1, 2]);
    }

    #[test]
    fn what_drives_is_written_as_it_was_read() {
        let session = read(
            "'lfo -> tone.freq: 2 octaves', 'lfo -> m', 'm -> m.freq: -6 dB', 'lfo -> m.freq'",
        )
        .session;
        let text = toml::write(&session, &catalogue());
        assert!(text.contains("\"lfo -> tone.freq: 2 octaves\""), "{text}");
        assert!(text.contains("\"lfo -> m.freq\""), "{text}");
        assert_eq!(toml::read(text, &catalogue()).session, session);
        let refused = ag::write(&session, &catalogue()).unwrap_err();
        let said: Vec<String> = refused.iter().map(ToString::to_string).collect();
        assert!(
            said.contains(
                &".ag has no syntax for an edge from `m` that drives `freq` of `m`".into()
            ),
            "{said:?}"
        );
    }

    #[test]
    fn each_mistake_has_its_place_and_its_help() {
        for (edge, column, message, help) in [
            (
                "'lfo -> tone.wave'",
                23,
                "`wave` of `tone` cannot change while it plays",
                "`freq` of `osc` can be driven",
            ),
            (
                "'lfo -> m: 2 dB'",
                18,
                "an amount belongs to a parameter, and this end is an input",
                "`freq` of `mod` can be driven",
            ),
            (
                "'lfo -> tone.freq: 2 Hz'",
                27,
                "behind the colon `Hz` is no number and no law",
                "write an amount and one of",
            ),
            (
                "'lfo -> tone.freq: '",
                27,
                "behind the colon the amount is missing",
                "write an amount and one of",
            ),
            (
                "'lfo -> m.freq -> tone.freq'",
                18,
                "`m` has one input; none of them is called `freq`",
                "end the chain there",
            ),
        ] {
            let all = read(edge).diagnostics;
            let first = all.iter().find(|d| d.is_error()).unwrap();
            assert_eq!(first.message, message);
            assert_eq!((first.span.line, first.span.column), (1, column), "{edge}");
            assert!(first.help.contains(help), "{}", first.help);
        }
    }
}
