//! The lists `[[event]]` and `[[curve]]`: what happens when. They become nodes and edges.
//!
//! ```toml
//! [[event]]
//! at = 4                  # in beats; "2.5s" is in seconds
//! to = "lead.notes"       # a port, or a parameter: "tone.freq"
//! note = "C4"             # or 60, or a chord: ["C4", "E4"]
//! velocity = 0.8
//! length = 1.5
//!
//! [[event]]
//! at = 8
//! to = "tone.freq"
//! value = 500             # or text = "verse"
//!
//! [[curve]]
//! to = "tone.freq"
//! points = [[0, 200], [4, 2000, "exponential"], ["9s", 500, "s-curve"]]
//! loop = 16
//! ```
//!
//! The events to one place become a node `event-1` of the kind `score`, and each curve a node `curve-1` of the kind `curve`. At a
//! parameter they take the place of its base (`set`), unless `to` states another law, as an edge does: `"tone.freq: 1 octaves"`.

use super::chain;
use super::to_ast::{Item, in_order};
use super::value::number;
use crate::ast::{Ast, AstEnd, AstEntry, AstNode, Ident, PortName};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use ::toml::de::{DeTable, DeValue};
use graph::{Amount, Law, ParamValue, number_text};
use std::collections::{HashMap, HashSet};
use units::Pitch;

/// Largest number of beats or seconds.
const MAX_TIME: f64 = 1e9;

/// The keys of an event.
const EVENT_KEYS: [&str; 7] = ["at", "to", "note", "velocity", "length", "value", "text"];

/// Reads `[[event]]`: adds a node for each place to which events go, and the edge from it.
pub(super) fn events<'t>(item: &Item<'t>, ast: &mut Ast<'t>, diagnostics: &mut Diagnostics<'_>) {
    let mut places: Vec<(Ident<'t>, String, ByteRange)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, table) in tables(item, "event", diagnostics) {
        check_keys(table, "event", &EVENT_KEYS, diagnostics);
        let (to, lines) = (
            target(table, &at, diagnostics),
            event(table, &at, diagnostics),
        );
        let (Some(to), Some(lines)) = (to, lines) else {
            continue;
        };
        let index = *known.entry(to.text.to_string()).or_insert_with(|| {
            places.push((to, String::new(), at));
            places.len() - 1
        });
        let text = &mut places[index].1;
        *text += if text.is_empty() { "" } else { "; " };
        *text += &lines;
    }
    let mut names = FreeNames::new("event", ast);
    for (to, text, at) in places {
        let entries = vec![("events", ParamValue::Text(text))];
        source("score", names.next(at), entries, &to, ast, diagnostics);
    }
}

/// Reads `[[curve]]`: adds a node for each, and the edge from it.
pub(super) fn curves<'t>(item: &Item<'t>, ast: &mut Ast<'t>, diagnostics: &mut Diagnostics<'_>) {
    let mut names = FreeNames::new("curve", ast);
    for (at, table) in tables(item, "curve", diagnostics) {
        check_keys(table, "curve", &["to", "points", "loop"], diagnostics);
        let (to, points) = (
            target(table, &at, diagnostics),
            points(table, &at, diagnostics),
        );
        let (Some(to), Some(points)) = (to, points) else {
            continue;
        };
        let mut entries = vec![("points", ParamValue::Text(points))];
        match table.get("loop").map(|item| (item, number(item.get_ref()))) {
            Some((_, Some(beats))) if (0.0..=1e6).contains(&beats) => {
                entries.push(("loop", ParamValue::Number(beats)));
            }
            Some((item, _)) => {
                diagnostics.error(item.span(), "`loop` takes 0 to 1000000 beats");
            }
            None => {}
        }
        source("curve", names.next(at), entries, &to, ast, diagnostics);
    }
}

/// The tables of a list of them, each with the place of its header.
fn tables<'a, 't>(
    item: &'a Item<'t>,
    name: &str,
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<(ByteRange, &'a DeTable<'t>)> {
    let all = match item.get_ref() {
        DeValue::Array(all) => all.iter().collect(),
        _ => vec![item],
    };
    let mut tables = Vec::new();
    for each in all {
        match each.get_ref() {
            DeValue::Table(table) if item.get_ref().is_array() => tables.push((each.span(), table)),
            _ => {
                let message = format!("`{name}` is a list of tables: [[{name}]]");
                diagnostics.error(each.span(), message);
            }
        }
    }
    tables
}

/// Reports the keys that such a table does not have.
fn check_keys(
    table: &DeTable<'_>,
    name: &str,
    keys: &[&'static str],
    diagnostics: &mut Diagnostics<'_>,
) {
    for (key, _) in in_order(table) {
        let word = key.get_ref().as_ref();
        if keys.contains(&word) {
            continue;
        }
        let meant = diagnostics.nearest(word, keys.iter().copied());
        let message = format!("`{name}` has no key `{word}`");
        let more = diagnostics.error(key.span(), message);
        match meant {
            Some(_) => more.did_you_mean(meant),
            None => more.help(format!("it has `{}`", keys.join("`, `"))),
        };
    }
}

/// The text of `to`.
fn target<'t>(
    table: &DeTable<'t>,
    at: &ByteRange,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Ident<'t>> {
    let Some(item) = table.get("to") else {
        let more = diagnostics.error(at.clone(), "`to` is missing");
        more.help("write a port or a parameter: to = \"tone.freq\"");
        return None;
    };
    match item.get_ref() {
        DeValue::String(text) => Some(Ident {
            text: text.clone(),
            at: item.span(),
        }),
        _ => {
            diagnostics.error(item.span(), "`to` takes a text: to = \"tone.freq\"");
            None
        }
    }
}

/// A time in the words of a score: a number, or a text such as `2.5s`.
fn time(item: &Item<'_>) -> Option<String> {
    let is_valid = |time: &f64| (0.0..=MAX_TIME).contains(time);
    match item.get_ref() {
        DeValue::String(text) => {
            let seconds = text.strip_suffix('s')?.trim().parse::<f64>().ok();
            let seconds = seconds.filter(is_valid)?;
            Some(format!("{}s", number_text(seconds)))
        }
        value => number(value).filter(is_valid).map(number_text),
    }
}

/// Reports that a value does not fit.
fn wrong(item: &Item<'_>, message: &str, diagnostics: &mut Diagnostics<'_>) -> Option<String> {
    diagnostics.error(item.span(), message);
    None
}

/// The line of an event, in the words of a score.
fn event(table: &DeTable<'_>, at: &ByteRange, diagnostics: &mut Diagnostics<'_>) -> Option<String> {
    let contents: Vec<_> = (in_order(table).into_iter())
        .filter(|(key, _)| matches!(key.get_ref().as_ref(), "note" | "value" | "text"))
        .collect();
    let [(key, item)] = contents.as_slice() else {
        let place = contents.get(1).map_or(at.clone(), |(key, _)| key.span());
        let more = diagnostics.error(place, "an event has one of `note`, `value` and `text`");
        more.help("write several events for several of them");
        return None;
    };
    let when = match table.get("at") {
        Some(item) => time(item).or_else(|| {
            wrong(
                item,
                "`at` takes beats from 0, or seconds as \"2.5s\"",
                diagnostics,
            )
        }),
        None => {
            let more = diagnostics.error(at.clone(), "`at` is missing");
            more.help("write beats from the start, or seconds as \"2.5s\"");
            None
        }
    };
    let what = match key.get_ref().as_ref() {
        "note" => note(item, table, diagnostics),
        "value" => {
            match number(item.get_ref()).filter(|value| value.abs() <= f64::from(f32::MAX)) {
                Some(value) => Some(format!("value {}", number_text(value))),
                None => wrong(item, "`value` takes a number", diagnostics),
            }
        }
        _ => text(item, diagnostics),
    };
    Some(format!("{} {}", when?, what?))
}

/// The words of a note or a chord.
fn note(item: &Item<'_>, table: &DeTable<'_>, diagnostics: &mut Diagnostics<'_>) -> Option<String> {
    let all: Vec<&Item<'_>> = match item.get_ref() {
        DeValue::Array(all) => all.iter().collect(),
        _ => vec![item],
    };
    let mut pitches = Vec::new();
    for each in &all {
        let pitch = match each.get_ref() {
            DeValue::String(text) => text.parse::<Pitch>(),
            value => match number(value) {
                Some(key) => Pitch::new(key as f32).ok_or(units::PitchError::OutOfRange),
                None => Err(units::PitchError::NotAPitch),
            },
        };
        match pitch {
            Ok(pitch) => pitches.push(pitch.key().to_string()),
            Err(error) => return wrong(each, &error.to_string(), diagnostics),
        }
    }
    if pitches.is_empty() {
        return wrong(item, "`note` takes at least one pitch", diagnostics);
    }
    let velocity = match table.get("velocity") {
        None => Some("0.8".into()),
        Some(item) => match number(item.get_ref()).filter(|v| (0.0..=1.0).contains(v)) {
            Some(velocity) => Some(number_text(velocity)),
            None => wrong(item, "`velocity` takes 0 to 1", diagnostics),
        },
    };
    let length = match table.get("length") {
        None => Some("1".into()),
        Some(item) => time(item).or_else(|| {
            wrong(
                item,
                "`length` takes beats from 0, or seconds as \"2.5s\"",
                diagnostics,
            )
        }),
    };
    Some(format!("{} {} {}", pitches.join(","), velocity?, length?))
}

/// A text with the escapes of a score.
fn text(item: &Item<'_>, diagnostics: &mut Diagnostics<'_>) -> Option<String> {
    let DeValue::String(text) = item.get_ref() else {
        return wrong(item, "`text` takes a text", diagnostics);
    };
    if text.contains(|c: char| c.is_control() && c != '\n') {
        return wrong(
            item,
            "a text has no control characters but line ends",
            diagnostics,
        );
    }
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    Some(format!("text \"{escaped}\""))
}

/// The points of a curve, in its words.
fn points(
    table: &DeTable<'_>,
    at: &ByteRange,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<String> {
    let form = "write points = [[0, 200], [4, 2000, \"exponential\"]]";
    let Some(item) = table.get("points") else {
        diagnostics
            .error(at.clone(), "`points` is missing")
            .help(form);
        return None;
    };
    let DeValue::Array(rows) = item.get_ref() else {
        diagnostics
            .error(item.span(), "`points` is a list")
            .help(form);
        return None;
    };
    let mut points = Vec::new();
    for row in rows.iter() {
        let Some(point) = point(row) else {
            let message = "a point is a time, a value, and perhaps how it is reached: linear, exponential, s-curve or step";
            diagnostics.error(row.span(), message).help(form);
            return None;
        };
        points.push(point);
    }
    Some(points.join("; "))
}

fn point(row: &Item<'_>) -> Option<String> {
    let row = row.get_ref().as_array()?;
    let (at, value) = (time(row.first()?)?, number(row.get(1)?.get_ref())?);
    let shape = match row.get(2) {
        None => "",
        Some(item) => (item.get_ref().as_str())
            .filter(|word| ["linear", "exponential", "s-curve", "step"].contains(word))?,
    };
    let is_valid = row.len() <= 3 && value.abs() <= MAX_TIME;
    is_valid.then(|| format!("{at} {} {shape}", number_text(value)))
}

/// FreeNames that no node has.
struct FreeNames {
    stem: &'static str,
    count: usize,
    taken: HashSet<String>,
}

impl FreeNames {
    fn new(stem: &'static str, ast: &Ast<'_>) -> Self {
        let taken = ast.nodes.iter().map(|node| node.name.text.to_string());
        Self {
            stem,
            count: 0,
            taken: taken.collect(),
        }
    }

    /// The next name, at `at`.
    fn next<'t>(&mut self, at: ByteRange) -> Ident<'t> {
        loop {
            self.count += 1;
            let name = format!("{}-{}", self.stem, self.count);
            if !self.taken.contains(&name) {
                let text = name.into();
                return Ident { text, at };
            }
        }
    }
}

/// Adds a source of `kind` called `name` with these parameters, and its edge to `to`.
fn source<'t>(
    kind: &'static str,
    name: Ident<'t>,
    params: Vec<(&'static str, ParamValue)>,
    to: &Ident<'_>,
    ast: &mut Ast<'t>,
    diagnostics: &mut Diagnostics<'_>,
) {
    let at = name.at.clone();
    // The reader of edges knows names with quotes, ways into parts, and laws.
    let end = match chain::parse(&format!("x -> {}", to.text)) {
        Ok(mut ends) if ends.len() == 2 => ends.pop(),
        Ok(_) => {
            diagnostics.error(to.at.clone(), "`to` names one place, not a chain");
            None
        }
        Err(error) => {
            diagnostics
                .error(to.at.clone(), error.message)
                .help(error.help);
            None
        }
    };
    let Some(mut end) = end else { return };
    (end.node.at, end.port_at) = (to.at.clone(), to.at.clone());
    for ident in &mut end.path {
        ident.at = to.at.clone();
    }
    let set = Amount {
        law: Law::Set,
        factor: 1.0,
    };
    end.amount.get_or_insert(set);
    let from = AstEnd {
        node: name.clone(),
        path: Vec::new(),
        port: PortName::First,
        port_at: at.clone(),
        is_middle: false,
        amount: None,
    };
    let mut node = AstNode::new(name);
    node.kind = Some(Ident {
        text: kind.into(),
        at: at.clone(),
    });
    let entry = |(key, value): (&'static str, ParamValue)| AstEntry {
        key: Ident {
            text: key.into(),
            at: at.clone(),
        },
        value,
        value_at: at.clone(),
        is_own: false,
    };
    node.entries = params.into_iter().map(entry).collect();
    ast.nodes.push(node);
    ast.edges.push((from, end));
    ast.has_scores = true;
}

#[cfg(test)]
mod tests {
    use crate::session::ParsedSession;
    use crate::toml;
    use graph::{Catalogue, Kind, Law, Param, PortSpec};

    /// The kinds of the tests, and those of scores and curves.
    fn catalogue() -> Catalogue {
        let mut catalogue = crate::sample::catalogue();
        let source = |name, key, out| Kind {
            outputs: vec![out],
            params: vec![Param::text(key), Param::number("loop", (0.0, 1e6), 0.0)],
            ..Kind::new(name, "")
        };
        catalogue.insert(source("score", "events", PortSpec::events("out")));
        catalogue.insert(source("curve", "points", PortSpec::mono("out")));
        catalogue.insert(Kind {
            inputs: vec![PortSpec::events("notes")],
            ..Kind::new("synth", "")
        });
        catalogue.insert(Kind {
            params: vec![Param::number("freq", (0.0, 1e6), 1.0).live()],
            outputs: vec![PortSpec::mono("out")],
            ..Kind::new("tone", "")
        });
        catalogue
    }

    fn read(lists: &str) -> ParsedSession {
        let nodes = "[nodes]\nlead = { kind = \"synth\" }\ntone = { kind = \"tone\" }\nevent-1 = { kind = \"tone\" }\n";
        toml::read(format!("{lists}\n{nodes}"), &catalogue())
    }

    #[test]
    fn events_and_curves_become_nodes_with_edges_and_are_written_back() {
        let parsed = read(
            "[[event]]\nat = 0\nto = \"lead.notes\"\nnote = [\"C4\", 64]\n\
             [[event]]\nat = \"2.5s\"\nto = \"lead\"\ntext = 'a \"b\"'\n\
             [[event]]\nat = 1.5\nto = \"lead.notes\"\nnote = \"F#3\"\nvelocity = 1\nlength = 2\n\
             [[event]]\nat = 8\nto = \"tone.freq\"\nvalue = 500\n\
             [[curve]]\nto = \"tone.freq: 2 octaves\"\npoints = [[0, 1], [4, 0.5, \"s-curve\"]]\nloop = 4\n",
        );
        assert_eq!(parsed.diagnostics, []);
        let graph = &parsed.session.graph;
        let text = |name: &str, key: &str| {
            let node = graph.node(graph.find(name).unwrap()).unwrap();
            node.text(key).unwrap().to_owned()
        };
        let notes = "0 60,64 0.8 1; 1.5 54 1 2";
        assert_eq!(text("event-2", "events"), notes);
        assert_eq!(text("event-3", "events"), "2.5s text \"a \\\"b\\\"\"");
        assert_eq!(text("event-4", "events"), "8 value 500");
        assert_eq!(text("curve-1", "points"), "0 1 ; 4 0.5 s-curve");
        let tone = graph.node(graph.find("tone").unwrap()).unwrap();
        let driven: Vec<(Law, f64)> = tone.modulations().map(|(_, m)| (m.law, m.amount)).collect();
        assert_eq!(driven, [(Law::Set, 1.0), (Law::Octaves, 2.0)]);
        let written = toml::write(&parsed.session, &catalogue());
        assert_eq!(written.matches("[[event]]").count(), 4, "{written}");
        assert_eq!(toml::read(&written, &catalogue()).session, parsed.session);
    }

    #[test]
    fn a_wrong_event_or_curve_has_its_place() {
        for (lists, place, says) in [
            (
                "[[event]]\nto = \"lead\"\nnote = 60",
                (1, 1),
                "`at` is missing",
            ),
            ("[[event]]\nat = 0\nnote = 60", (1, 1), "`to` is missing"),
            (
                "[[event]]\nat = -1\nto = \"lead\"\nnote = 60",
                (2, 6),
                "`at` takes beats",
            ),
            (
                "[[event]]\nat = 0\nto = \"lead\"\nnote = \"H4\"",
                (4, 8),
                "a pitch is",
            ),
            (
                "[[event]]\nat = 0\nto = \"lead\"\nnote = 200",
                (4, 8),
                "from 0 (C-1) to 127",
            ),
            (
                "[[event]]\nat = 0\nto = \"lead\"",
                (1, 1),
                "an event has one of",
            ),
            (
                "[[event]]\nat = 0\nto = \"lead\"\nnote = 1\nvalue = 1",
                (5, 1),
                "an event has one of",
            ),
            (
                "[[event]]\nat = 0\nto = \"laed\"\nnote = 1",
                (3, 6),
                "there is no node `laed`",
            ),
            (
                "[[event]]\nat = 0\nto = \"a -> b\"\nnote = 1",
                (3, 6),
                "not a chain",
            ),
            (
                "[[event]]\nat = 0\nto = \"lead\"\nnote = 1\nvelosity = 1",
                (5, 1),
                "no key `velosity`",
            ),
            ("[event]\nat = 0", (1, 1), "`event` is a list of tables"),
            (
                "[[curve]]\nto = \"tone.freq\"",
                (1, 1),
                "`points` is missing",
            ),
            (
                "[[curve]]\nto = \"tone.freq\"\npoints = [[0]]",
                (3, 11),
                "a point is a time",
            ),
            (
                "[[curve]]\nto = \"tone.freq\"\npoints = [[0, 1]]\nloop = -1",
                (4, 8),
                "`loop` takes",
            ),
        ] {
            let found = &read(lists).diagnostics;
            assert_eq!(found.len(), 1, "{lists}: {found:?}");
            assert!(found[0].message.contains(says), "{lists}: {:?}", found[0]);
            assert_eq!((found[0].span.line, found[0].span.column), place, "{lists}");
        }
    }
}
