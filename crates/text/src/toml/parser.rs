//! TOML to nodes, edges and settings as they are written.

use super::chain;
use super::plain::PlainEntry;
use super::scalar::Scalar;
use crate::Settings;
use crate::draft::{Draft, DraftEnd, DraftNode, Entry, PortWord, Word};
use crate::findings::Findings;
use crate::number::micros;
use crate::source::Span;
use ::toml::Spanned;
use ::toml::de::{DeString, DeTable, DeValue};
use graph::ParamValue;
use std::borrow::Cow;
use units::{Frames, SampleRate};

/// What `table`, read from `text`, says about the graph, and its settings. What is in `errors` is said.
pub(super) fn parse<'t>(
    text: &'t str,
    table: &DeTable<'t>,
    errors: &[::toml::de::Error],
    findings: &mut Findings<'_>,
) -> (Draft<'t>, Settings) {
    let is_broken = !errors.is_empty() || text != findings.source.text;
    let mut parser = Parser::new(text, is_broken, findings);
    let mut last_line = None;
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        // What follows on one line follows from the first.
        let line = parser.findings.source.line_of(at.start.min(text.len()));
        if last_line.replace(line) != Some(line) {
            parser.broken(at, error.message());
        }
    }
    parser.table(table);
    parser.finish()
}

type Key<'t> = Spanned<DeString<'t>>;
type Item<'t> = Spanned<DeValue<'t>>;

/// The entries of `table` as they were written.
fn in_order<'a, 't>(table: &'a DeTable<'t>) -> Vec<(&'a Key<'t>, &'a Item<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn word<'t>(key: &Key<'t>) -> Word<'t> {
    Word {
        text: key.get_ref().clone(),
        at: key.span(),
    }
}

/// Gathers what a text says.
pub(super) struct Parser<'t, 'f, 's> {
    text: &'t str,
    draft: Draft<'t>,
    settings: Settings,
    /// Whether the text is no right TOML: then nothing is said to be missing.
    is_broken: bool,
    /// How many more times the text may be searched for what stands in it twice.
    searches: u32,
    findings: &'f mut Findings<'s>,
}

impl<'t, 'f, 's> Parser<'t, 'f, 's> {
    pub(super) fn new(text: &'t str, is_broken: bool, findings: &'f mut Findings<'s>) -> Self {
        Self {
            text,
            draft: Draft::default(),
            settings: Settings::default(),
            is_broken,
            searches: 20,
            findings,
        }
    }

    /// What has been gathered; the nodes in the order of the text.
    pub(super) fn finish(mut self) -> (Draft<'t>, Settings) {
        self.draft.nodes.sort_by_key(|node| node.name.at.start);
        (self.draft, self.settings)
    }

    /// Takes what the top of a text says.
    pub(super) fn table(&mut self, table: &DeTable<'t>) {
        for (key, value) in in_order(table) {
            match key.get_ref().as_ref() {
                "edges" => self.edges(value),
                "nodes" => self.nodes(value),
                "settings" => self.settings(value),
                _ => {}
            }
        }
    }

    /// Says what is wrong with the TOML itself.
    fn broken(&mut self, at: Span, message: &str) {
        if message != "duplicate key" {
            let line = message.lines().next().unwrap_or_default();
            self.findings.error(at, line.to_lowercase());
            return;
        }
        let name = self.text.get(at.clone()).unwrap_or_default();
        let first = self.same_header_before(at.start);
        let more = self
            .findings
            .error(at, format!("`{name}` is written twice"));
        if let Some(first) = first {
            more.also(first, "the first one is here");
        }
    }

    /// Where the header that stands at `at` stood before; looked for a few times only, since it takes a while.
    fn same_header_before(&mut self, at: usize) -> Option<Span> {
        self.searches = self.searches.checked_sub(1)?;
        let start = self.text.get(..at)?.rfind('\n')? + 1;
        let header = self.text[start..].lines().next()?.trim();
        let mut begin = 0;
        for line in self.text[..start].split_inclusive('\n') {
            if header.starts_with('[') && line.trim() == header {
                return Some(begin..begin + line.trim_end().len());
            }
            begin += line.len();
        }
        None
    }

    fn wrong(&mut self, item: &Item<'_>, message: impl Into<String>) {
        let at = item.span();
        self.findings.error(at, message);
    }

    fn edges(&mut self, item: &Item<'t>) {
        let DeValue::Array(all) = item.get_ref() else {
            return self.wrong(item, "`edges` takes a list: edges = [\"a -> b\"]");
        };
        for edge in all.iter() {
            let DeValue::String(text) = edge.get_ref() else {
                self.wrong(edge, "an edge is a text: \"a -> b\"");
                continue;
            };
            self.chain(edge.span(), text);
        }
    }

    fn chain(&mut self, at: Span, text: &DeString<'t>) {
        let inside = self.inside(&at, text);
        let place = |part: Span| match inside {
            Some(start) => start + part.start..start + part.end,
            None => at.clone(),
        };
        let ends = match text {
            Cow::Borrowed(text) => chain::ends(text),
            Cow::Owned(text) => chain::ends(text).map(|ends| ends.into_iter().map(owned).collect()),
        };
        match ends {
            Ok(mut ends) => {
                for end in &mut ends {
                    end.node.at = place(end.node.at.clone());
                    end.port_at = place(end.port_at.clone());
                }
                let edges = ends.windows(2);
                let edges = edges.map(|pair| (pair[0].clone(), pair[1].clone()));
                self.draft.edges.extend(edges);
            }
            Err(error) => {
                let more = self.findings.error(place(error.at), error.message);
                more.help(
                    "an edge is written `from.port -> to.port`, without a port for the first",
                );
            }
        }
    }

    /// Where the text at `at` begins inside its quotes, if it stands there as it is, without escapes.
    fn inside(&self, at: &Span, text: &str) -> Option<usize> {
        let written = self.text.get(at.clone())?;
        let start = written.find(text).filter(|start| *start <= 4)?;
        (written.len() - start - text.len() <= 3).then_some(at.start + start)
    }

    fn settings(&mut self, item: &Item<'t>) {
        let DeValue::Table(table) = item.get_ref() else {
            return self.wrong(item, "`settings` is a table: [settings]");
        };
        for (key, value) in in_order(table) {
            let scalar = Scalar::new(value.get_ref());
            match key.get_ref().as_ref() {
                "rate" => {
                    let rate = scalar.count().filter(|n| Settings::RATES.contains(n));
                    self.settings.rate = rate.and_then(SampleRate::new);
                    if self.settings.rate.is_none() {
                        self.wrong(value, "`rate` takes 1000 to 768000 Hz");
                    }
                }
                "block" => {
                    let block = scalar.count().filter(|n| Settings::BLOCKS.contains(n));
                    self.settings.block = block.map(Frames);
                    if block.is_none() {
                        self.wrong(value, "`block` takes 1 to 65536 frames");
                    }
                }
                "deadline_us" => {
                    self.settings.deadline = scalar.number().and_then(micros);
                    if self.settings.deadline.is_none() {
                        self.wrong(value, "`deadline_us` takes 0 to 10^9 µs");
                    }
                }
                other => self.unknown_setting(other, key, value),
            }
        }
    }

    fn unknown_setting(&mut self, name: &str, key: &Key<'_>, value: &Item<'_>) {
        if name == "edges" && matches!(value.get_ref(), DeValue::Array(_)) {
            return self.edges_in_table(value.span());
        }
        let known = ["rate", "block", "deadline_us"];
        let meant = self.findings.nearest(name, known.into_iter());
        let message = format!("there is no setting `{name}`");
        self.findings.warning(key.span(), message).meant(meant);
    }

    /// Says that `edges` stands below a header, where TOML takes it for the table's own.
    fn edges_in_table(&mut self, at: Span) {
        let at = at.start..at.start + 1;
        let more = self
            .findings
            .error(at, "`edges` stands inside a table here");
        more.help("put it above the first `[header]` of the file");
    }

    fn nodes(&mut self, item: &Item<'t>) {
        let DeValue::Table(table) = item.get_ref() else {
            return self.wrong(item, "`nodes` is a table of nodes: [nodes.NAME]");
        };
        for (key, value) in in_order(table) {
            let DeValue::Table(entries) = value.get_ref() else {
                let message = format!("`{}` is no node; write [nodes.NAME]", key.get_ref());
                self.wrong(value, message);
                continue;
            };
            let entries = in_order(entries).into_iter();
            let entry = |(key, value): (&Key<'t>, &Item<'t>)| {
                (word(key), Scalar::new(value.get_ref()), value.span())
            };
            self.node(word(key), entries.map(entry));
        }
    }

    /// Takes one node.
    pub(super) fn node(&mut self, name: Word<'t>, entries: impl Iterator<Item = PlainEntry<'t>>) {
        let mut node = DraftNode::new(name);
        node.is_damaged = self.is_broken;
        for (key, value, at) in entries {
            self.entry(&mut node, key, value, at);
        }
        self.draft.nodes.push(node);
    }

    fn entry(&mut self, node: &mut DraftNode<'t>, key: Word<'t>, value: Scalar<'t>, at: Span) {
        let (is_right, takes) = match key.text.as_ref() {
            "kind" => {
                node.kind = value.text(&at);
                node.is_damaged |= node.kind.is_none();
                (node.kind.is_some(), "a text")
            }
            "stand_in" => {
                node.stand_in = value.text(&at);
                (node.stand_in.is_some(), "a text")
            }
            "cost_us" => {
                node.cost = value.number().and_then(micros);
                (node.cost.is_some(), "0 to 10^9 µs")
            }
            "every" => {
                let every = value.count().filter(|n| *n > 0);
                node.every = every.unwrap_or(1);
                (every.is_some(), "a whole number of cycles, 1 or more")
            }
            "enabled" => {
                let enabled = value.flag();
                node.enabled = enabled.unwrap_or(true);
                (enabled.is_some(), "true or false")
            }
            _ => return self.param(node, key, value, at),
        };
        if !is_right {
            let message = format!("`{}` takes {takes}", key.text);
            self.findings.error(at, message);
        }
    }

    fn param(&mut self, node: &mut DraftNode<'t>, key: Word<'t>, scalar: Scalar<'t>, at: Span) {
        let value = match &scalar {
            Scalar::Text(text) => Some(ParamValue::Text(text.to_string())),
            Scalar::Flag(on) => Some(ParamValue::Flag(*on)),
            _ => scalar.number().map(ParamValue::Number),
        };
        if let Some(value) = value {
            return node.entries.push(Entry {
                key,
                value,
                value_at: at,
            });
        }
        node.is_damaged = true;
        if key.text == "edges" && scalar == Scalar::List {
            return self.edges_in_table(at);
        }
        // A table's place is its header; its key is nearer.
        self.findings.error(key.at, scalar.why_not());
    }
}

fn owned<'t>(end: DraftEnd<'_>) -> DraftEnd<'t> {
    DraftEnd {
        node: Word {
            text: end.node.text.into_owned().into(),
            at: end.node.at,
        },
        port: match end.port {
            PortWord::First => PortWord::First,
            PortWord::Number(n) => PortWord::Number(n),
            PortWord::Name(name) => PortWord::Name(name.into_owned().into()),
        },
        port_at: end.port_at,
        is_middle: end.is_middle,
    }
}
