//! The list `[[event]]`: notes, values and texts at their times. They become nodes and edges.
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
//! ```
//!
//! The events to one place become a node `event-1` of the kind `score`, as each curve becomes a node `curve-1` (`curve`). At a
//! parameter they take the place of its base (`set`), unless `to` states another law, as an edge does: `"tone.freq: 1 octaves"`.

use super::item::{Item, in_order};
use super::score_node::{FreeNames, check_keys, source, tables, target, time};
use super::value::number;
use crate::ast::{Ast, Ident};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use ::toml::de::{DeTable, DeValue};
use graph::{ParamValue, number_text};
use std::collections::HashMap;
use units::Pitch;

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
