//! The ways of chains: from the words of an end to the nodes, or the ports of instances, that they name.
//!
//! | end | names |
//! |---|---|
//! | `voice` | the first port of each copy of `voice` |
//! | `voice.3` | copy 3 if `voice` has a count, else its port 3 |
//! | `voice.3.osc` | node `osc` in copy 3 of a part |
//! | `mix.*` | the numbered ports of `mix`, one for each copy at the other end |
//! | `bend`, inside a part with the port `bend` | that port of each instance |

use super::instance::{Child, Instance};
use super::template::{Content, Series, Template};
use crate::ast::{AstEnd, PortName, PortSide};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;

/// Target of one end of an edge: one thing, or one for each copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) target: EdgeTarget,
    /// Number of copies; `None` if it is no array.
    pub(super) copies: Option<u32>,
    /// True for `X.*`: the numbered ports, one a copy of the other end.
    pub(super) is_star: bool,
}

/// The nodes or ports that are named.
#[derive(Clone, Copy, Debug)]
pub(super) enum EdgeTarget {
    /// Nodes, from this one on.
    Nodes {
        first: u32,
        port: Port,
        series: Series,
    },
    /// A port of instances, from this instance on.
    Instances { first: u32, port: u32 },
    /// A port of the part whose text the edge is in.
    Own(u32),
}

/// The port of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Port {
    First,
    /// The port as it is written.
    Written,
    /// A number, from 1.
    Number(u32),
}

/// Finds what chains name.
pub(super) struct Walker<'f, 'a, 't, 's> {
    pub(super) templates: &'f [Template<'a, 't>],
    pub(super) instances: &'f [Instance],
    pub(super) diagnostics: &'f mut Diagnostics<'s>,
}

/// The words of an end.
struct Words<'w> {
    all: Vec<(&'w str, &'w ByteRange)>,
}

impl<'w> Words<'w> {
    fn of(end: &'w AstEnd<'_>) -> Self {
        let path = end.path.iter().map(|word| (word.text.as_ref(), &word.at));
        let first = (end.node.text.as_ref(), &end.node.at);
        let mut all: Vec<_> = [first].into_iter().chain(path).collect();
        if let PortName::Name(word) | PortName::Number(word) = &end.port {
            all.push((word, &end.port_at));
        }
        Self { all }
    }

    /// The first `count` words, as they are written.
    fn up_to(&self, count: usize) -> String {
        let words: Vec<&str> = self.all[..count].iter().map(|(word, _)| *word).collect();
        words.join(".")
    }
}

impl<'a, 't> Walker<'_, 'a, 't, '_> {
    /// Target of `end` in `instance`. `None` if there is nothing of that name, which is reported once for all copies.
    pub(super) fn find(&mut self, instance: u32, end: &AstEnd<'t>, side: PortSide) -> Option<Ends> {
        let words = Words::of(end);
        let here = &self.instances[instance as usize];
        let template = &self.templates[here.template];
        let Some(mut node) = template.names.get(end.node.text.as_ref()).copied() else {
            return self.own_port(here, end, side, &words);
        };
        let (mut here, mut template) = (here, template);
        let mut next = 1;
        loop {
            let content = template.nodes[node as usize].content;
            let mut child = *here.children.get(node as usize)?;
            let name = words.up_to(next);
            if child.is_array
                && let Some((word, at)) = words.all.get(next)
                && word.bytes().all(|b| b.is_ascii_digit())
            {
                child = self.copy(child, word, at, &name)?;
                next += 1;
            }
            let part = match content {
                Content::Part(part) => part,
                Content::Nothing => return None,
                Content::Node(series) => {
                    return self.node(child, series[side as usize], &words, next, end);
                }
            };
            let inner = &self.templates[part];
            let word = words.all.get(next).map(|(word, _)| *word);
            let into = word.and_then(|word| inner.names.get(word).copied());
            let Some(into) = into else {
                return self.instance_port(child, part, side, (&words, next), end);
            };
            if child.is_array {
                let message = format!("`{name}` has {} copies: name one of them", child.count);
                let more = self.diagnostics.error(end.at(), message);
                more.help(format!("such as `{name}.0.{}`", word.unwrap_or_default()));
                return None;
            }
            here = self.instances.get(child.first as usize)?;
            template = inner;
            node = into;
            next += 1;
        }
    }

    /// One copy of an array.
    fn copy(&mut self, child: Child, word: &str, at: &ByteRange, name: &str) -> Option<Child> {
        let copy = word.parse::<u32>().ok().filter(|copy| *copy < child.count);
        let Some(copy) = copy else {
            let message = match child.count {
                0 => format!("`{name}` has no copies"),
                1 => format!("`{name}` has one copy, `{name}.0`"),
                n => format!("`{name}` has {n} copies, `{name}.0` to `{name}.{}`", n - 1),
            };
            self.diagnostics.error(at.clone(), message);
            return None;
        };
        Some(Child {
            first: child.first + copy,
            count: 1,
            is_array: false,
        })
    }

    /// A port of a node or of all its copies. `next` is the word after the node's.
    fn node(
        &mut self,
        child: Child,
        series: Series,
        words: &Words<'_>,
        next: usize,
        end: &AstEnd<'t>,
    ) -> Option<Ends> {
        self.at_end(words, next + 1, end)?;
        let word = words.all.get(next).map(|(word, _)| *word);
        Some(Ends {
            target: EdgeTarget::Nodes {
                first: child.first,
                port: if word.is_some() {
                    Port::Written
                } else {
                    Port::First
                },
                series,
            },
            copies: child.is_array.then_some(child.count),
            is_star: word == Some("*"),
        })
    }

    /// Reports words behind a port.
    fn at_end(&mut self, words: &Words<'_>, last: usize, end: &AstEnd<'t>) -> Option<()> {
        if words.all.len() <= last {
            return Some(());
        }
        let message = format!("there is no node `{}`", words.up_to(last));
        self.diagnostics.error(end.at(), message);
        None
    }

    /// A port of an instance of `part`, or of all its copies.
    fn instance_port(
        &mut self,
        child: Child,
        part: usize,
        side: PortSide,
        (words, next): (&Words<'_>, usize),
        end: &AstEnd<'t>,
    ) -> Option<Ends> {
        let template = &self.templates[part];
        let (inputs, outputs) = (template.inputs(), template.outputs());
        let (ports, others, first) = match side {
            PortSide::Input => (inputs, outputs, 0),
            PortSide::Output => (outputs, inputs, inputs.len()),
        };
        let word = words.all.get(next).map(|(word, _)| *word);
        let position = |word: &str| ports.iter().position(|port| port.text == word);
        let index = match word {
            None | Some("*") => Some(0),
            Some(word) => position(word).or_else(|| {
                let other = others.iter().any(|port| port.text == word);
                let number = word.parse::<usize>().ok();
                // In the middle of a chain a name may belong to one side only.
                (other && end.is_middle)
                    .then_some(0)
                    .or(number?.checked_sub(1))
            }),
        };
        let Some(index) = index.filter(|index| *index < ports.len()) else {
            self.no_port(part, side, words, next, end);
            return None;
        };
        self.at_end(words, next + 1, end)?;
        Some(Ends {
            target: EdgeTarget::Instances {
                first: child.first,
                port: (first + index) as u32,
            },
            copies: child.is_array.then_some(child.count),
            is_star: word == Some("*"),
        })
    }

    fn no_port(
        &mut self,
        part: usize,
        side: PortSide,
        words: &Words<'_>,
        next: usize,
        end: &AstEnd<'t>,
    ) {
        let Some(definition) = self.templates[part].part else {
            return;
        };
        let (ports, side) = match side {
            PortSide::Input => (&definition.inputs, "input"),
            PortSide::Output => (&definition.outputs, "output"),
        };
        let word = words.all.get(next).map_or("", |(word, _)| word);
        let names: Vec<&str> = ports.iter().map(|port| port.text.as_ref()).collect();
        let is_param = definition.params.iter().any(|param| param.key.text == word);
        let meant = self.diagnostics.nearest(word, names.iter().copied());
        let name = definition.name.text.as_ref();
        let message = match word {
            "" => format!("the part `{name}` has no {side}"),
            word => format!("the part `{name}` has no node and no {side} `{word}`"),
        };
        let more = self.diagnostics.error(end.at(), message);
        let more = match (meant, names.as_slice()) {
            _ if is_param => more.help(format!(
                "`{word}` is a parameter, which has its value before the session plays; to drive it, give the part an input"
            )),
            (Some(_), _) => more.did_you_mean(meant),
            (None, []) => more.help(format!("give it one: {side}s = [\"{side}\"]")),
            (None, names) => more.help(format!("it has {}", names.join(", "))),
        };
        more.note(definition.name.at.clone(), "the part is here");
    }

    /// A port of the part whose text `end` is in.
    fn own_port(
        &mut self,
        here: &Instance,
        end: &AstEnd<'t>,
        side: PortSide,
        words: &Words<'_>,
    ) -> Option<Ends> {
        let template = &self.templates[here.template];
        let (inputs, outputs) = (template.inputs(), template.outputs());
        // Inside, the inputs of a part are where edges come from.
        let (ports, others, first) = match side {
            PortSide::Output => (inputs, outputs, 0),
            PortSide::Input => (outputs, inputs, inputs.len()),
        };
        let name = end.node.text.as_ref();
        let Some(index) = ports.iter().position(|port| port.text == name) else {
            let is_other = others.iter().any(|port| port.text == name);
            self.undeclared(template, end, is_other, side);
            return None;
        };
        self.at_end(words, 1, end)?;
        Some(Ends {
            target: EdgeTarget::Own(here.ports + (first + index) as u32),
            copies: None,
            is_star: false,
        })
    }

    fn undeclared(
        &mut self,
        template: &Template<'a, 't>,
        end: &AstEnd<'t>,
        is_other: bool,
        side: PortSide,
    ) {
        let name = end.node.text.as_ref();
        let at = end.node.at.clone();
        if is_other {
            let (word, may) = match side {
                PortSide::Output => ("an output", "edges only lead to it"),
                PortSide::Input => ("an input", "edges only come from it"),
            };
            let message = format!("`{name}` is {word} of the part");
            self.diagnostics.error(at, message).help(may);
            return;
        }
        let nodes = template
            .nodes
            .iter()
            .map(|node| node.written.name.text.as_ref());
        let ports = template.inputs().iter().chain(template.outputs());
        let names: Vec<&str> = nodes.chain(ports.map(|port| port.text.as_ref())).collect();
        let meant = self.diagnostics.nearest(name, names.into_iter());
        let message = match template.part {
            Some(part) => format!("there is no node `{name}` in the part `{}`", part.name.text),
            None => format!("there is no node `{name}`"),
        };
        self.diagnostics.error(at, message).did_you_mean(meant);
    }
}
