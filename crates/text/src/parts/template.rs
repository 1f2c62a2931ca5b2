//! Definitions: the session and each part, with their values parsed once for all copies.
//!
//! ```text
//!   part voice (params freq)              Template "voice"
//!     osc  { freq = "freq * 2" }     ──▶    osc   freq: expression (param 0 × 2)      kind osc
//!     amp  { count = 3 }                    amp   count 3                             kind gain
//!   session                               Template of the session, the last one
//!     v    { kind = voice, count = 100 }    v     count 100                           instance of template 0
//! ```
//!
//! Text is looked at here and nowhere later: a hundred copies of `voice` evaluate one parsed expression a hundred times. A mistake that
//! is in every copy is therefore found, and reported, once.

use super::expression::RESERVED;
use super::value::{Expected, ParamName, Value, ValueParser};
use crate::ast::{Ast, AstEntry, AstNode, AstPart, Ident};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use graph::{Catalogue, Kind, ParamRange, ParamValue};
use std::collections::HashMap;

/// A definition, ready to be copied.
pub(super) struct Template<'a, 't> {
    /// The part; `None` for the session itself.
    pub(super) part: Option<&'a AstPart<'t>>,
    pub(super) body: &'a Ast<'t>,
    pub(super) nodes: Vec<TemplateNode<'a, 't>>,
    pub(super) names: HashMap<&'a str, u32>,
}

/// A node of a definition.
pub(super) struct TemplateNode<'a, 't> {
    pub(super) written: &'a AstNode<'t>,
    /// The number of copies, and its place.
    pub(super) count: Option<(Value, &'a ByteRange)>,
    pub(super) content: Content,
    pub(super) values: Vec<TemplateValue<'a, 't>>,
    /// True if a value is wrong: then no parameter is reported as missing.
    pub(super) is_damaged: bool,
    /// Number of operations and values of one copy.
    pub(super) work: usize,
}

/// Kind of a node of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A node of the graph, with so many single ports before a numbered series, as inputs and outputs.
    Node([Series; 2]),
    /// An instance of a part, by its index among the templates.
    Part(usize),
    /// An instance of a part that uses itself: it has nothing inside.
    Nothing,
}

/// The numbered ports on one side of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Series {
    /// Number of ports before them.
    pub(super) before: u32,
    /// True if a node chooses their number.
    pub(super) is_free: bool,
}

/// A parameter of a node of a definition.
pub(super) struct TemplateValue<'a, 't> {
    pub(super) key: &'a Ident<'t>,
    pub(super) at: &'a ByteRange,
    pub(super) value: Value,
    pub(super) is_own: bool,
    /// Index among the parameters of the part, for an instance.
    pub(super) param: u32,
}

impl<'a, 't> Template<'a, 't> {
    pub(super) fn inputs(&self) -> &'a [Ident<'t>] {
        self.part.map_or(&[], |part| &part.inputs)
    }

    pub(super) fn outputs(&self) -> &'a [Ident<'t>] {
        self.part.map_or(&[], |part| &part.outputs)
    }
}

/// Makes templates of the session (the last one) and of its parts.
pub(super) struct TemplateMaker<'a, 't, 'f, 's> {
    parts: &'a [AstPart<'t>],
    by_name: HashMap<&'a str, usize>,
    params: Vec<Vec<ParamName<'a>>>,
    catalogue: &'a Catalogue,
    diagnostics: &'f mut Diagnostics<'s>,
}

/// The templates of all parts, in order, and of the session.
pub(super) fn templates<'a, 't>(
    ast: &'a Ast<'t>,
    catalogue: &'a Catalogue,
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<Template<'a, 't>> {
    let mut maker = TemplateMaker {
        parts: &ast.parts,
        by_name: HashMap::new(),
        params: Vec::new(),
        catalogue,
        diagnostics,
    };
    for (index, part) in ast.parts.iter().enumerate() {
        maker.declare(index, part);
    }
    let mut all: Vec<Template<'a, 't>> = Vec::with_capacity(ast.parts.len() + 1);
    for (index, part) in ast.parts.iter().enumerate() {
        all.push(maker.template(Some((index, part)), &part.body));
    }
    all.push(maker.template(None, ast));
    all
}

/// The type of a value.
fn type_of(value: &ParamValue) -> Expected {
    match value {
        ParamValue::Number(_) => Expected::Number,
        ParamValue::Flag(_) => Expected::Flag,
        ParamValue::Text(_) => Expected::Text,
    }
}

/// The numbered ports of both sides of `kind`.
fn series(kind: Option<&Kind>) -> [Series; 2] {
    let of = |specs: &[graph::PortSpec]| {
        let many = specs
            .iter()
            .position(|spec| spec.count != graph::PortCount::One);
        Series {
            before: many.unwrap_or(0) as u32,
            is_free: many.is_some(),
        }
    };
    kind.map_or([Series::default(); 2], |kind| {
        [of(&kind.inputs), of(&kind.outputs)]
    })
}

/// The type that `kind` expects of `key`.
pub(super) fn expected(kind: Option<&Kind>, key: &str) -> Expected {
    let Some(kind) = kind else {
        return Expected::Any;
    };
    let key = kind.new_key(key).unwrap_or(key);
    match kind.param(key).map(|(_, param)| &param.range) {
        Some(ParamRange::Number { .. }) => Expected::Number,
        Some(ParamRange::Flag) => Expected::Flag,
        Some(_) => Expected::Text,
        None if matches!(key, "in" | "out" | "channels") => Expected::Number,
        None => Expected::Any,
    }
}

/// The kind that runs for `node`.
pub(super) fn kind_of<'c>(node: &AstNode<'_>, catalogue: &'c Catalogue) -> Option<&'c Kind> {
    let known = node
        .kind
        .as_ref()
        .and_then(|word| catalogue.get(&word.text));
    known.or_else(|| catalogue.get(&node.stand_in.as_ref()?.text))
}

impl<'a, 't> TemplateMaker<'a, 't, '_, '_> {
    /// Checks the names of a part, its ports and its parameters.
    fn declare(&mut self, index: usize, part: &'a AstPart<'t>) {
        let name = part.name.text.as_ref();
        if self.catalogue.get(name).is_some() {
            // No error: a kind of this name may be newer than the session.
            let message = format!("the part `{name}` hides the kind of this name");
            let more = self.diagnostics.warning(part.name.at.clone(), message);
            more.help("give the part another name to use the kind too");
        }
        if let Some(first) = self.by_name.insert(name, index) {
            let message = format!("there are two parts `{name}`");
            let more = self.diagnostics.error(part.name.at.clone(), message);
            more.note(self.parts[first].name.at.clone(), "the first one is here");
        }
        for entry in &part.params {
            self.param_name(entry);
        }
        let params = part.params.iter().map(|entry| ParamName {
            name: entry.key.text.as_ref(),
            expected: type_of(&entry.value),
        });
        self.params.push(params.collect());
    }

    fn param_name(&mut self, entry: &AstEntry<'_>) {
        let name = entry.key.text.as_ref();
        let mut letters = name.chars();
        let is_word = letters
            .next()
            .is_some_and(|c| c.is_alphabetic() || c == '_')
            && letters.all(|c| c.is_alphanumeric() || c == '_');
        if !is_word {
            let message = "a part's parameter has letters, digits and `_` in its name";
            let more = self.diagnostics.error(entry.key.at.clone(), message);
            more.help("expressions use it by that name");
        } else if RESERVED.contains(&name)
            || matches!(name, "kind" | "count" | "enabled" | "bypass")
        {
            let message = format!("`{name}` has a meaning of its own");
            let more = self.diagnostics.error(entry.key.at.clone(), message);
            more.help("give the parameter another name");
        }
    }

    fn template(
        &mut self,
        part: Option<(usize, &'a AstPart<'t>)>,
        body: &'a Ast<'t>,
    ) -> Template<'a, 't> {
        let params: &[ParamName<'a>] = &[];
        let own = part.map(|(index, _)| std::mem::take(&mut self.params[index]));
        let params = own.as_deref().unwrap_or(params);
        let mut template = Template {
            part: part.map(|(_, part)| part),
            body,
            nodes: Vec::with_capacity(body.nodes.len()),
            names: HashMap::with_capacity(body.nodes.len()),
        };
        for (index, node) in body.nodes.iter().enumerate() {
            template
                .names
                .entry(&node.name.text)
                .or_insert(index as u32);
            let parser = ValueParser {
                params,
                has_holes: part.is_some() || is_counted(node),
            };
            let node = self.node(node, &parser);
            template.nodes.push(node);
        }
        if let (Some(own), Some((index, _))) = (own, part) {
            self.params[index] = own;
        }
        self.ports(&template);
        template
    }

    /// Reports ports of a part that no edge uses, or that have the name of a node.
    fn ports(&mut self, template: &Template<'a, 't>) {
        let ends = |is_source: bool| {
            let edges = template.body.edges.iter();
            edges.map(move |(from, to)| if is_source { from } else { to })
        };
        let sources: Vec<&str> = ends(true).map(|end| end.node.text.as_ref()).collect();
        let targets: Vec<&str> = ends(false).map(|end| end.node.text.as_ref()).collect();
        let sides = [
            (template.inputs(), sources, "input", "leads nowhere"),
            (template.outputs(), targets, "output", "gets nothing"),
        ];
        for (ports, used, word, what) in sides {
            let used: std::collections::HashSet<&str> = used.into_iter().collect();
            for port in ports {
                let name = port.text.as_ref();
                if let Some(node) = template.names.get(name) {
                    let node = template.nodes[*node as usize].written;
                    let message = format!("the {word} `{name}` has the name of a node");
                    let more = self.diagnostics.error(port.at.clone(), message);
                    more.note(node.name.at.clone(), "the node is here");
                } else if !used.contains(name) {
                    let message = format!("the {word} `{name}` {what}");
                    let more = self.diagnostics.warning(port.at.clone(), message);
                    more.help("no edge of the part names it");
                }
            }
        }
    }

    fn node(&mut self, written: &'a AstNode<'t>, parser: &ValueParser<'_>) -> TemplateNode<'a, 't> {
        let word = written.kind.as_ref();
        let part = word.and_then(|word| self.by_name.get(word.text.as_ref()).copied());
        let kind = match part {
            Some(_) => None,
            None => kind_of(written, self.catalogue),
        };
        let mut node = TemplateNode {
            written,
            count: None,
            content: part.map_or(Content::Node(series(kind)), Content::Part),
            values: Vec::with_capacity(written.entries.len() + written.lists.len()),
            is_damaged: written.is_damaged,
            work: 1,
        };
        if part.is_some() {
            self.check_instance(written);
        }
        for entry in &written.entries {
            let (key, at) = (&entry.key, &entry.value_at);
            if key.text == "count" && !entry.is_own {
                let value = parser.parse(&entry.value, at, Expected::Number, self.diagnostics);
                node.count = value.map(|value| (value, at));
                continue;
            }
            let Some((param, expected)) = self.expected(part, kind, key, written) else {
                continue;
            };
            let expected = if entry.is_own {
                Expected::Any
            } else {
                expected
            };
            match parser.parse(&entry.value, at, expected, self.diagnostics) {
                Some(value) if self.fits(part, &value, expected, at) => {
                    node.values.push(TemplateValue {
                        key,
                        at,
                        value,
                        is_own: entry.is_own,
                        param,
                    })
                }
                _ => node.is_damaged = true,
            }
        }
        self.lists(&mut node, part, kind, parser);
        let values = node.values.iter().map(|value| value.value.work());
        node.work += values.sum::<usize>();
        node
    }

    /// Parses the lists of a node: a value for each copy.
    fn lists(
        &mut self,
        node: &mut TemplateNode<'a, 't>,
        part: Option<usize>,
        kind: Option<&Kind>,
        parser: &ValueParser<'_>,
    ) {
        for list in &node.written.lists {
            let Some((param, expected)) = self.expected(part, kind, &list.key, node.written) else {
                continue;
            };
            if !is_counted(node.written) {
                let more = self.diagnostics.error(
                    list.key.at.clone(),
                    format!("`{}` is a list, and the node has no `count`", list.key.text),
                );
                more.help("a list has a value for each copy of a node");
                node.is_damaged = true;
                continue;
            }
            let mut items = Vec::with_capacity(list.items.len());
            for (value, at) in &list.items {
                let value = parser.parse(value, at, expected, self.diagnostics);
                let value = value.filter(|value| self.fits(part, value, expected, at));
                items.extend(value.map(|value| (value, at.clone())));
            }
            if items.len() < list.items.len() {
                node.is_damaged = true;
                continue;
            }
            node.values.push(TemplateValue {
                key: &list.key,
                at: &list.at,
                value: Value::List(items),
                is_own: false,
                param,
            });
        }
    }

    /// The type of a key, and its index if it is a parameter of a part. `None` if a part has none of that name, which is
    /// reported.
    fn expected(
        &mut self,
        part: Option<usize>,
        kind: Option<&Kind>,
        key: &Ident<'_>,
        node: &AstNode<'_>,
    ) -> Option<(u32, Expected)> {
        let Some(part) = part else {
            return Some((0, expected(kind, &key.text)));
        };
        let params = &self.parts[part].params;
        let found = params.iter().position(|param| param.key.text == key.text);
        if let Some(index) = found {
            return Some((index as u32, type_of(&params[index].value)));
        }
        let names: Vec<&str> = params.iter().map(|param| param.key.text.as_ref()).collect();
        let meant = self.diagnostics.nearest(&key.text, names.iter().copied());
        let part = node.kind.as_ref().map_or("", |kind| &kind.text);
        let message = format!("the part `{part}` has no parameter `{}`", key.text);
        let more = self.diagnostics.error(key.at.clone(), message);
        match meant {
            Some(_) => more.did_you_mean(meant),
            None if names.is_empty() => more,
            None => more.help(format!("it has {}", names.join(", "))),
        };
        None
    }

    /// Returns true if `value` has the type of the parameter of a part; else reports it. Kinds check theirs later.
    fn fits(
        &mut self,
        part: Option<usize>,
        value: &Value,
        expected: Expected,
        at: &ByteRange,
    ) -> bool {
        let (Some(_), Value::Fixed(fixed)) = (part, value) else {
            return true;
        };
        if type_of(fixed) == expected {
            return true;
        }
        let takes = match expected {
            Expected::Number => "a number",
            Expected::Flag => "true or false",
            _ => "a text",
        };
        let more = self
            .diagnostics
            .error(at.clone(), format!("this takes {takes}"));
        more.help("a part's parameter has the type of its default");
        false
    }

    /// Reports keys that an instance of a part cannot have.
    fn check_instance(&mut self, written: &AstNode<'_>) {
        let wrong = match written {
            node if node.stand_in.is_some() => "stand_in",
            node if node.cost.is_some() => "cost_us",
            node if node.every != 1 => "every",
            _ => return,
        };
        let message = format!("an instance of a part has no `{wrong}`");
        let more = self.diagnostics.error(written.name.at.clone(), message);
        more.help("write it at the nodes of the part");
    }
}

/// Returns true if the node states a count.
pub(super) fn is_counted(node: &AstNode<'_>) -> bool {
    let is_count = |entry: &AstEntry<'_>| entry.key.text == "count" && !entry.is_own;
    node.entries.iter().any(is_count)
}
