//! Converts the tree of the `toml` crate into the syntax tree and the settings.
//!
//! ```text
//! edges = ["a -> b.2"]          ──▶ Ast::edges      each chain cut into pairs, with the places of its ports
//! [nodes.a]  kind, freq, …      ──▶ Ast::nodes      keys of every node as fields, all others as entries
//! [part.P]   inputs, nodes, …   ──▶ Ast::parts      (`part_definition`)
//! [settings] rate, block        ──▶ Settings
//! [tempo] [[event]] [[curve]]   ──▶ `tempo`, `score`, `curve`
//! other tables                                      left to the readers that own them (`sections`)
//! ```
//!
//! A wrong value costs its key alone, and a text that is not valid TOML was repaired before (`recover`), so all mistakes are
//! reported at once. The tree has its keys sorted by name; they are visited in the order of the text, since that order is
//! the order of nodes and of sums.

use super::chain;
use super::curve;
use super::item::{Item, Key, ident, in_order};
use super::recover::DUPLICATE_KEY;
use super::score;
use super::tempo;
use super::value::{count, number, why_no_parameter};
use crate::ast::{Ast, AstEntry, AstList, AstNode, Ident};
use crate::diagnostics::Diagnostics;
use crate::session::Settings;
use crate::source::ByteRange;
use crate::time::from_micros;
use ::toml::de::{DeString, DeTable, DeValue};
use graph::ParamValue;
use units::{Frames, SampleRate};

/// Converts `table`, which was parsed from `text`, and reports `errors`. `text` is the repaired one if there was an error.
pub(super) fn convert<'t>(
    text: &'t str,
    table: &DeTable<'t>,
    errors: &[::toml::de::Error],
    diagnostics: &mut Diagnostics<'_>,
) -> (Ast<'t>, Settings) {
    let mut converter = Converter {
        text,
        ast: Ast::default(),
        settings: Settings::default(),
        is_broken: !errors.is_empty() || text != diagnostics.source.text,
        searches: 20,
        diagnostics,
    };
    let mut last_line = None;
    let mut table_end = 0;
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        // All keys of a table that is written twice may be in the first one too; the header alone is reported.
        if at.start < table_end {
            continue;
        }
        table_end = end_of_table(text, at.start);
        // Further errors of a line mostly follow from its first.
        let line = converter
            .diagnostics
            .source
            .line_of(at.start.min(text.len()));
        if last_line.replace(line) != Some(line) {
            converter.syntax_error(at, error.message());
        }
    }
    for (key, value) in in_order(table) {
        match key.get_ref().as_ref() {
            "edges" => converter.edges(value),
            "nodes" => converter.nodes(value),
            "part" => converter.parts(value),
            "settings" => converter.settings(value),
            "tempo" => converter.ast.tempo = tempo::read(value, converter.diagnostics),
            _ => {}
        }
    }
    // Behind the nodes, so that their names are known.
    for (key, value) in in_order(table) {
        match key.get_ref().as_ref() {
            "event" => score::events(value, &mut converter.ast, converter.diagnostics),
            "curve" => curve::curves(value, &mut converter.ast, converter.diagnostics),
            _ => {}
        }
    }
    (converter.ast, converter.settings)
}

/// End of the table whose header is on the line of byte `at`: the next header. 0 if there is no header.
fn end_of_table(text: &str, at: usize) -> usize {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    if !text[start..].trim_start().starts_with('[') {
        return 0;
    }
    let mut end = start;
    let mut lines = text[start..].split_inclusive('\n');
    end += lines.next().map_or(0, str::len);
    let body = lines.take_while(|line| !line.trim_start().starts_with('['));
    end + body.map(str::len).sum::<usize>()
}

/// Collects nodes, edges, parts and settings.
pub(super) struct Converter<'t, 'f, 's> {
    text: &'t str,
    pub(super) ast: Ast<'t>,
    settings: Settings,
    /// True if the text is not valid TOML: then nothing is reported as missing.
    is_broken: bool,
    /// Number of times that the text may still be searched for the first of two equal headers.
    searches: u32,
    pub(super) diagnostics: &'f mut Diagnostics<'s>,
}

impl<'t> Converter<'t, '_, '_> {
    /// Reports an error of the TOML itself.
    fn syntax_error(&mut self, at: ByteRange, message: &str) {
        if message != DUPLICATE_KEY {
            let line = message.lines().next().unwrap_or_default();
            self.diagnostics.error(at, line.to_lowercase());
            return;
        }
        let name = self.text.get(at.clone()).unwrap_or_default();
        let first = self.first_equal_header(at.start);
        let more = self
            .diagnostics
            .error(at, format!("`{name}` is written twice"));
        if let Some(first) = first {
            more.note(first, "the first one is here");
        }
    }

    /// The first header that equals the one at `at`. It takes a while, so it is looked for only a few times.
    fn first_equal_header(&mut self, at: usize) -> Option<ByteRange> {
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

    pub(super) fn error(&mut self, item: &Item<'_>, message: impl Into<String>) {
        let at = item.span();
        self.diagnostics.error(at, message);
    }

    pub(super) fn edges(&mut self, item: &Item<'t>) {
        let DeValue::Array(all) = item.get_ref() else {
            return self.error(item, "`edges` takes a list: edges = [\"a -> b\"]");
        };
        for edge in all.iter() {
            let DeValue::String(text) = edge.get_ref() else {
                self.error(edge, "an edge is a text: \"a -> b\"");
                continue;
            };
            self.chain(edge.span(), text);
        }
    }

    /// Adds the edges of one string.
    fn chain(&mut self, at: ByteRange, text: &DeString<'t>) {
        let inside = self.start_inside_quotes(&at, text);
        let place = |part: ByteRange| match inside {
            Some(start) => start + part.start..start + part.end,
            None => at.clone(),
        };
        match chain::parse(text) {
            Ok(mut ends) => {
                for end in &mut ends {
                    end.node.at = place(end.node.at.clone());
                    end.port_at = place(end.port_at.clone());
                    for step in &mut end.path {
                        step.at = place(step.at.clone());
                    }
                }
                let edges = ends.windows(2);
                let edges = edges.map(|pair| (pair[0].clone(), pair[1].clone()));
                self.ast.edges.extend(edges);
            }
            Err(error) => {
                let more = self.diagnostics.error(place(error.at), error.message);
                more.help(error.help);
            }
        }
    }

    /// The first byte of the string at `at` inside its quotes, if it has no escapes: then places in the string are places in
    /// the text.
    fn start_inside_quotes(&self, at: &ByteRange, text: &str) -> Option<usize> {
        let written = self.text.get(at.clone())?;
        let is_start = |start: &usize| {
            written
                .get(*start..)
                .is_some_and(|rest| rest.starts_with(text))
        };
        let start = (0..=4).find(is_start)?;
        (written.len() - start - text.len() <= 3).then_some(at.start + start)
    }

    fn settings(&mut self, item: &Item<'t>) {
        let DeValue::Table(table) = item.get_ref() else {
            return self.error(item, "`settings` is a table: [settings]");
        };
        for (key, value) in in_order(table) {
            match key.get_ref().as_ref() {
                "rate" => {
                    let rate = count(value.get_ref()).filter(|n| Settings::RATES.contains(n));
                    self.settings.rate = rate.and_then(SampleRate::new);
                    if self.settings.rate.is_none() {
                        self.error(value, "`rate` takes 1000 to 768000 Hz");
                    }
                }
                "block" => {
                    let block = count(value.get_ref()).filter(|n| Settings::BLOCKS.contains(n));
                    self.settings.block = block.map(Frames);
                    if block.is_none() {
                        self.error(value, "`block` takes 1 to 65536 frames");
                    }
                }
                "deadline_us" => {
                    self.settings.deadline = number(value.get_ref()).and_then(from_micros);
                    if self.settings.deadline.is_none() {
                        self.error(value, "`deadline_us` takes 0 to 10^9 µs");
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
        let meant = self.diagnostics.nearest(name, known.into_iter());
        let message = format!("there is no setting `{name}`");
        self.diagnostics
            .warning(key.span(), message)
            .did_you_mean(meant);
    }

    /// Reports `edges` below a header, where it belongs to that header's table.
    fn edges_in_table(&mut self, at: ByteRange) {
        let at = at.start..at.start + 1;
        let more = self.diagnostics.error(at, "`edges` is inside a table here");
        more.help("put it above the first `[header]` of the file");
    }

    pub(super) fn nodes(&mut self, item: &Item<'t>) {
        let DeValue::Table(table) = item.get_ref() else {
            return self.error(item, "`nodes` is a table of nodes: [nodes.NAME]");
        };
        for (key, value) in in_order(table) {
            let DeValue::Table(entries) = value.get_ref() else {
                let message = format!("`{}` is no node; write [nodes.NAME]", key.get_ref());
                self.error(value, message);
                continue;
            };
            let mut node = AstNode::new(ident(key));
            node.is_damaged = self.is_broken;
            for (key, value) in in_order(entries) {
                self.entry(&mut node, ident(key), value);
            }
            self.ast.nodes.push(node);
        }
    }

    /// A key of every node, or a parameter.
    fn entry(&mut self, node: &mut AstNode<'t>, key: Ident<'t>, item: &Item<'t>) {
        let value = item.get_ref();
        let string = || match value {
            DeValue::String(text) => Some(Ident {
                text: text.clone(),
                at: item.span(),
            }),
            _ => None,
        };
        let (is_valid, takes) = match key.text.as_ref() {
            "kind" => {
                node.kind = string();
                node.is_damaged |= node.kind.is_none();
                (node.kind.is_some(), "a text")
            }
            "stand_in" => {
                node.stand_in = string();
                (node.stand_in.is_some(), "a text")
            }
            "cost_us" => {
                node.cost = number(value).and_then(from_micros);
                (node.cost.is_some(), "0 to 10^9 µs")
            }
            "every" => {
                let every = count(value).filter(|n| *n > 0);
                node.every = every.unwrap_or(1);
                (every.is_some(), "a whole number of cycles, 1 or more")
            }
            "enabled" => {
                let enabled = value.as_bool();
                node.enabled = enabled.unwrap_or(true);
                (enabled.is_some(), "true or false")
            }
            "bypass" => {
                let bypassed = value.as_bool();
                node.bypassed = bypassed.unwrap_or(false);
                (bypassed.is_some(), "true or false")
            }
            "own" if matches!(value, DeValue::Table(_)) => return self.own(node, item),
            _ => return self.param(node, key, item, false),
        };
        if !is_valid {
            self.error(item, format!("`{}` takes {takes}", key.text));
        }
    }

    /// The table `own`: keys that the author adds for other programs.
    fn own(&mut self, node: &mut AstNode<'t>, item: &Item<'t>) {
        let entries = item.get_ref().as_table();
        for (key, value) in entries.into_iter().flat_map(in_order) {
            self.param(node, ident(key), value, true);
        }
    }

    /// A key that belongs to the kind, or one of the author's own.
    fn param(&mut self, node: &mut AstNode<'t>, key: Ident<'t>, item: &Item<'t>, is_own: bool) {
        if let (DeValue::Array(items), false) = (item.get_ref(), key.text == "edges" || is_own) {
            return self.list(node, key, item.span(), items);
        }
        if let Some(value) = param_value(item.get_ref()) {
            return node.entries.push(AstEntry {
                key,
                value,
                value_at: item.span(),
                is_own,
            });
        }
        node.is_damaged = true;
        if key.text == "edges" && matches!(item.get_ref(), DeValue::Array(_)) {
            return self.edges_in_table(item.span());
        }
        // The place of a table is its header; its key is nearer.
        let message = why_no_parameter(item.get_ref());
        self.diagnostics.error(key.at, message);
    }

    /// A value for each copy of the node.
    fn list(&mut self, node: &mut AstNode<'t>, key: Ident<'t>, at: ByteRange, items: &[Item<'t>]) {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match param_value(item.get_ref()) {
                Some(value) => values.push((value, item.span())),
                None => self.error(item, why_no_parameter(item.get_ref())),
            }
        }
        node.is_damaged |= values.len() < items.len();
        let items = values;
        node.lists.push(AstList { key, items, at });
    }
}

/// The value of a parameter; `None` if it cannot be one.
pub(super) fn param_value(value: &DeValue<'_>) -> Option<ParamValue> {
    match value {
        DeValue::String(text) => Some(ParamValue::Text(text.to_string())),
        DeValue::Boolean(on) => Some(ParamValue::Flag(*on)),
        value => number(value).map(ParamValue::Number),
    }
}
