//! Copies of definitions: the nodes of all instances, by their names, and the tree of instances that edges walk.
//!
//! ```text
//!   templates            instances (a tree)                 nodes (flat)
//!   session: v × 2       session ─┬─ v.0 ─ osc, amp × 3     v.0.osc  v.0.amp.0  v.0.amp.1  v.0.amp.2
//!   voice: osc, amp × 3           └─ v.1 ─ osc, amp × 3     v.1.osc  v.1.amp.0  v.1.amp.1  v.1.amp.2
//! ```
//!
//! An [`Instance`] has a [`Child`] for each node of its definition: the index of the first copy and their number. Copies lie side by side, so
//! the edges between all copies are found by counting and no name is looked up again. A few lines of text can stand for any
//! number of nodes (ten parts in each other, each with a count of ten): three bounds hold for what they make.

use super::template::{Content, Template, TemplateNode};
use super::value::{InstanceScope, Value};
use crate::ast::{AstEntry, AstNode, Ident};
use crate::diagnostics::Diagnostics;
use graph::ParamValue;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// Largest number of nodes that parts and counts make, instances included.
pub(crate) const MAX_NODES: u32 = graph::shape::MAX_NODES as u32;
/// Largest number of bytes of their names and texts.
const MAX_BYTES: usize = 64 << 20;
/// Largest number of operations and values of their parameters.
const MAX_WORK: usize = 50_000_000;

/// One use of a definition.
pub(super) struct Instance {
    pub(super) template: usize,
    /// Its nodes, in the order of the definition.
    pub(super) children: Vec<Child>,
    /// Number of its first port among all ports of instances: inputs, then outputs.
    pub(super) ports: u32,
}

/// The copies of one node of a definition in one instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    /// Index of the first copy, among the nodes or among the instances.
    pub(super) first: u32,
    pub(super) count: u32,
    /// True if the node states a count, even 1.
    pub(super) is_array: bool,
}

/// The instance that nodes are made in.
#[derive(Clone, Copy)]
struct Surroundings<'i> {
    /// Its name and a dot; empty for the session.
    prefix: &'i str,
    /// Its parameters.
    scope: &'i InstanceScope,
    enabled: bool,
}

impl Surroundings<'_> {
    /// Returns true if `node` stands in the session as it is played: such nodes count against no bound.
    fn is_written(self, node: &TemplateNode<'_, '_>) -> bool {
        let is_node = matches!(node.content, Content::Node(_));
        self.prefix.is_empty() && node.count.is_none() && is_node
    }
}

/// Makes the instances.
pub(super) struct Copier<'a, 't, 'f, 's> {
    pub(super) templates: &'f [Template<'a, 't>],
    pub(super) nodes: Vec<AstNode<'t>>,
    pub(super) instances: Vec<Instance>,
    /// Number of ports of instances so far.
    pub(super) ports: u32,
    /// True if a bound was exceeded, which is reported: then nothing more is made.
    pub(super) is_full: bool,
    pub(super) diagnostics: &'f mut Diagnostics<'s>,
    /// Place of the session's node that is copied.
    top: Range<usize>,
    made: u32,
    bytes: usize,
    work: usize,
    /// Places of values that are reported as wrong.
    reported: HashSet<usize>,
}

impl<'a, 't, 'f, 's> Copier<'a, 't, 'f, 's> {
    pub(super) fn new(
        templates: &'f [Template<'a, 't>],
        diagnostics: &'f mut Diagnostics<'s>,
    ) -> Self {
        Self {
            templates,
            nodes: Vec::new(),
            instances: Vec::new(),
            ports: 0,
            is_full: false,
            diagnostics,
            top: 0..0,
            made: 0,
            bytes: 0,
            work: 0,
            reported: HashSet::new(),
        }
    }

    /// Makes the session, whose template is the last one.
    pub(super) fn session(&mut self) {
        let template = self.templates.len() - 1;
        self.nodes.reserve(self.templates[template].nodes.len());
        self.instances.push(self.placeholder(template));
        let around = Surroundings {
            prefix: "",
            scope: &InstanceScope::new(Vec::new(), (0, 1)),
            enabled: true,
        };
        self.fill(0, around);
    }

    fn placeholder(&self, template: usize) -> Instance {
        Instance {
            template,
            children: Vec::new(),
            ports: 0,
        }
    }

    /// Makes what is inside the instance `index`.
    fn fill(&mut self, index: usize, around: Surroundings<'_>) {
        let templates = self.templates;
        let template = &templates[self.instances[index].template];
        let ports = template.inputs().len() + template.outputs().len();
        self.instances[index].ports = self.ports;
        self.ports = self.ports.saturating_add(ports as u32);
        self.spend(0, 0, ports + template.body.edges.len());
        let mut children = Vec::with_capacity(template.nodes.len());
        for node in &template.nodes {
            children.push(self.child(node, around));
        }
        self.instances[index].children = children;
    }

    /// Makes all copies of `node`.
    fn child(&mut self, node: &TemplateNode<'a, 't>, around: Surroundings<'_>) -> Child {
        if around.prefix.is_empty() {
            self.top = node.written.name.at.clone();
        }
        let copies = self.count(node, around.scope).unwrap_or(1);
        let none = Child {
            first: self.nodes.len() as u32,
            count: 0,
            is_array: node.count.is_some(),
        };
        if !around.is_written(node) && !self.spend(copies, 0, 0) {
            return none;
        }
        self.list_lengths(node, copies);
        let mut child = Child {
            count: copies,
            ..none
        };
        if let Content::Part(part) = node.content {
            child.first = self.instances.len() as u32;
            for _ in 0..copies {
                self.instances.push(self.placeholder(part));
            }
        }
        for number in 0..copies {
            if !self.copy(node, child, number, around) {
                return Child { count: 0, ..child };
            }
        }
        child
    }

    /// Makes the copy `number` of `node`. Returns false if it exceeds a bound.
    fn copy(
        &mut self,
        node: &TemplateNode<'a, 't>,
        child: Child,
        number: u32,
        around: Surroundings<'_>,
    ) -> bool {
        let mut name = format!("{}{}", around.prefix, node.written.name.text);
        let mut own = None;
        if child.is_array {
            name += &format!(".{number}");
            own = Some(InstanceScope {
                index: number,
                count: child.count,
                ..around.scope.clone()
            });
        }
        let scope = own.as_ref().unwrap_or(around.scope);
        let is_written = around.is_written(node);
        if !is_written && !self.spend(0, name.len(), node.work) {
            return false;
        }
        let enabled = around.enabled && node.written.enabled;
        match node.content {
            Content::Node(_) => {
                let copy = match is_written {
                    true => 0,
                    false => self.nodes.len() as u32 + 1,
                };
                let node = self.node(node, name, scope, (enabled, copy));
                self.nodes.push(node);
            }
            Content::Part(part) => {
                let inner = Surroundings {
                    prefix: &(name + "."),
                    scope: &self.params(node, part, scope),
                    enabled,
                };
                self.fill((child.first + number) as usize, inner);
            }
            Content::Nothing => {}
        }
        true
    }

    /// The number of copies; `None` without a count.
    fn count(&mut self, node: &TemplateNode<'a, 't>, scope: &InstanceScope) -> Option<u32> {
        let (value, at) = node.count.as_ref()?;
        let written = scope.evaluate(value);
        if let Ok(ParamValue::Number(n)) = written
            && n.fract() == 0.0
            && (0.0..=f64::from(MAX_NODES)).contains(&n)
        {
            return Some(n as u32);
        }
        let message = match written {
            Err(message) => message,
            Ok(_) => format!("`count` takes a whole number from 0 to {MAX_NODES}"),
        };
        self.mistake((*at).clone(), message);
        Some(0)
    }

    /// Reports lists that do not have one value for each copy, nor repeat a whole number of times.
    fn list_lengths(&mut self, node: &TemplateNode<'a, 't>, copies: u32) {
        for value in &node.values {
            if let Value::List(items) = &value.value
                && !(copies as usize).is_multiple_of(items.len())
            {
                let message = format!("the list has {} values for {copies} copies", items.len());
                self.mistake(value.at.clone(), message);
            }
        }
    }

    /// The value of `value` in one copy. `None` if it has none, which is reported once for all copies.
    fn value(
        &mut self,
        value: &Value,
        at: &Range<usize>,
        scope: &InstanceScope,
    ) -> Option<ParamValue> {
        match scope.evaluate(value) {
            Ok(value) => Some(value),
            Err(message) => {
                self.mistake(at.clone(), message);
                None
            }
        }
    }

    fn mistake(&mut self, at: Range<usize>, message: String) {
        if self.reported.insert(at.start) {
            self.diagnostics.error(at, message);
        }
    }

    /// One copy of a node.
    fn node(
        &mut self,
        template: &TemplateNode<'a, 't>,
        name: String,
        scope: &InstanceScope,
        (enabled, copy): (bool, u32),
    ) -> AstNode<'t> {
        let written = template.written;
        let mut node = AstNode::new(Ident {
            text: Cow::Owned(name),
            at: written.name.at.clone(),
        });
        node.kind.clone_from(&written.kind);
        node.stand_in.clone_from(&written.stand_in);
        node.entries.reserve_exact(template.values.len() + 1);
        for value in &template.values {
            match self.value(&value.value, value.at, scope) {
                Some(of_copy) => {
                    if let (ParamValue::Text(text), Value::Text(_)) = (&of_copy, &value.value) {
                        self.spend(0, text.len(), 0);
                    }
                    node.entries.push(AstEntry {
                        key: value.key.clone(),
                        value: of_copy,
                        value_at: value.at.clone(),
                        is_own: value.is_own,
                    });
                }
                None => node.is_damaged = true,
            }
        }
        node.cost = written.cost;
        node.every = written.every;
        node.enabled = enabled;
        node.bypassed = written.bypassed;
        node.is_damaged |= template.is_damaged;
        node.copy = copy;
        node
    }

    /// The parameters of an instance of `part`: what the instance states, else the defaults.
    fn params(
        &mut self,
        node: &TemplateNode<'a, 't>,
        part: usize,
        scope: &InstanceScope,
    ) -> InstanceScope {
        let written = self.templates[part]
            .part
            .map_or(&[][..], |part| &part.params);
        let mut params: Vec<ParamValue> = written.iter().map(|param| param.value.clone()).collect();
        for value in &node.values {
            if let Some(of_copy) = self.value(&value.value, value.at, scope) {
                params[value.param as usize] = of_copy;
            }
        }
        InstanceScope::new(params, (scope.index, scope.count))
    }

    /// Counts nodes, bytes and work. Returns false if a bound is exceeded, which is reported once.
    fn spend(&mut self, nodes: u32, bytes: usize, work: usize) -> bool {
        self.made = self.made.saturating_add(nodes);
        self.bytes = self.bytes.saturating_add(bytes);
        self.work = self.work.saturating_add(work);
        let what = match () {
            () if self.made > MAX_NODES => format!("{MAX_NODES} nodes"),
            () if self.bytes > MAX_BYTES => format!("{MAX_BYTES} bytes of names and texts"),
            () if self.work > MAX_WORK => format!("{MAX_WORK} values"),
            () => return !self.is_full,
        };
        if !self.is_full {
            let message = format!("parts and counts make more than {what}");
            self.diagnostics
                .error(self.top.clone(), message)
                .help("use smaller counts");
        }
        self.is_full = true;
        false
    }
}
