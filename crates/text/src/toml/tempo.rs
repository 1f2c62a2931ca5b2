//! The table `[tempo]`: tempo and metre of the session.
//!
//! ```toml
//! [tempo]
//! bpm = 120                                   # or, in place of it, points: [beat, bpm] and [beat, bpm, "linear"]
//! map = [[0, 120], [16, 90, "linear"]]
//! metre = "4/4"                               # or points: [[0, "4/4"], [16, "7/8"]]
//! ```

use super::item::{Item, in_order};
use super::value::number;
use crate::diagnostics::Diagnostics;
use ::toml::de::{DeArray, DeValue};
use graph::{MetrePoint, TempoError, TempoMap, TempoPoint, number_text};
use std::fmt::Write;

/// The keys of the table.
const KEYS: [&str; 3] = ["bpm", "map", "metre"];

/// Reads the table; reports what is wrong in it, and gives the rest. `None` without anything valid.
pub(super) fn read(item: &Item<'_>, diagnostics: &mut Diagnostics<'_>) -> Option<TempoMap> {
    let DeValue::Table(table) = item.get_ref() else {
        diagnostics.error(
            item.span(),
            "`tempo` is a table: [tempo] and below it bpm = 120",
        );
        return None;
    };
    let (mut points, mut metres) = (None, None);
    for (key, value) in in_order(table) {
        match key.get_ref().as_ref() {
            "metre" => metres = read_metres(value, diagnostics).or(metres),
            name @ ("bpm" | "map") if points.is_some() => {
                let message = format!("`{name}` and the key above both set the tempo");
                let more = diagnostics.error(key.span(), message);
                more.help("`bpm` is for one tempo throughout, `map` for a list of tempos");
            }
            "bpm" => points = Some(read_bpm(value, diagnostics)),
            "map" => points = Some(read_points(value, diagnostics)),
            other => {
                let meant = diagnostics.nearest(other, KEYS.into_iter());
                let message = format!("`tempo` has no key `{other}`");
                let more = diagnostics.error(key.span(), message);
                match meant {
                    Some(_) => more.did_you_mean(meant),
                    None => more.help("it has `bpm`, `map` and `metre`"),
                };
            }
        }
    }
    let default = || TempoMap::default().points().to_vec();
    let points = points.flatten().unwrap_or_else(default);
    TempoMap::new(points, metres.unwrap_or_default()).ok()
}

fn read_bpm(item: &Item<'_>, diagnostics: &mut Diagnostics<'_>) -> Option<Vec<TempoPoint>> {
    let bpm = number(item.get_ref()).filter(|bpm| TempoMap::BPM.contains(bpm));
    if bpm.is_none() {
        diagnostics.error(item.span(), "`bpm` takes 1 to 6000 beats a minute");
    }
    let point = TempoPoint {
        beat: 0.0,
        bpm: bpm?,
        is_linear: false,
    };
    Some(vec![point])
}

/// The elements of a list of lists; other elements are reported with `form`.
fn rows<'a, 't>(
    item: &'a Item<'t>,
    form: &str,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Vec<(&'a Item<'t>, &'a DeArray<'t>)>> {
    let row = |item: &'a Item<'t>| Some((item, item.get_ref().as_array()?));
    let rows = item
        .get_ref()
        .as_array()
        .and_then(|all| all.iter().map(row).collect());
    if rows.is_none() {
        diagnostics.error(item.span(), format!("this takes a list: {form}"));
    }
    rows
}

fn read_points(item: &Item<'_>, diagnostics: &mut Diagnostics<'_>) -> Option<Vec<TempoPoint>> {
    let form = "map = [[0, 120], [16, 90, \"linear\"]]";
    let mut points = Vec::new();
    let rows = rows(item, form, diagnostics)?;
    for (place, row) in &rows {
        let cells: Vec<&DeValue<'_>> = row.iter().map(|cell| cell.get_ref()).collect();
        let is_linear = match cells.get(2) {
            None => Some(false),
            Some(DeValue::String(word)) if word.as_ref() == "linear" => Some(true),
            Some(_) => None,
        };
        let (beat, bpm) = (
            cells.first().and_then(|n| number(n)),
            cells.get(1).and_then(|n| number(n)),
        );
        let (Some(beat), Some(bpm), Some(is_linear), ..=3) = (beat, bpm, is_linear, cells.len())
        else {
            let more = diagnostics.error(
                place.span(),
                "a point of the map is a beat and a tempo, and perhaps \"linear\"",
            );
            more.help(form);
            return None;
        };
        points.push(TempoPoint {
            beat,
            bpm,
            is_linear,
        });
    }
    match TempoMap::new(points.clone(), Vec::new()) {
        Ok(_) => Some(points),
        Err((i, error)) => {
            report(item, &rows, i, error, diagnostics);
            None
        }
    }
}

fn read_metres(item: &Item<'_>, diagnostics: &mut Diagnostics<'_>) -> Option<Vec<MetrePoint>> {
    if let DeValue::String(text) = item.get_ref() {
        let metre = metre(0.0, text);
        if metre.is_none() {
            diagnostics.error(item.span(), TempoError::BadMetre.to_string());
        }
        return Some(vec![metre?]);
    }
    let form = "metre = [[0, \"4/4\"], [16, \"7/8\"]]";
    let rows = rows(item, form, diagnostics)?;
    let mut metres = Vec::new();
    for (place, row) in &rows {
        let beat = row.first().and_then(|cell| number(cell.get_ref()));
        let text = row.get(1).and_then(|cell| cell.get_ref().as_str());
        let metre = beat.zip(text).and_then(|(beat, text)| metre(beat, text));
        let Some(metre) = metre.filter(|_| row.len() == 2) else {
            let more = diagnostics.error(
                place.span(),
                "a point is a beat and a metre such as \"7/8\"",
            );
            more.help(form);
            return None;
        };
        metres.push(metre);
    }
    let points = TempoMap::default().points().to_vec();
    match TempoMap::new(points, metres.clone()) {
        Ok(_) => Some(metres),
        Err((i, error)) => {
            report(item, &rows, i, error, diagnostics);
            None
        }
    }
}

/// Reports an error at the point to which it belongs.
fn report(
    item: &Item<'_>,
    rows: &[(&Item<'_>, &DeArray<'_>)],
    index: usize,
    error: TempoError,
    diagnostics: &mut Diagnostics<'_>,
) {
    let at = rows
        .get(index)
        .map_or(item.span(), |(place, _)| place.span());
    diagnostics.error(at, error.to_string());
}

/// `7/8` as a metre.
fn metre(beat: f64, text: &str) -> Option<MetrePoint> {
    let (numerator, denominator) = text.split_once('/')?;
    let metre = MetrePoint {
        beat,
        numerator: numerator.trim().parse().ok()?,
        denominator: denominator.trim().parse().ok()?,
    };
    let points = TempoMap::default().points().to_vec();
    let at_zero = MetrePoint { beat: 0.0, ..metre };
    TempoMap::new(points, vec![at_zero]).ok()?;
    Some(metre)
}

/// Writes the table, unless it says nothing but the defaults.
pub(super) fn write(text: &mut String, tempo: &TempoMap) {
    if *tempo == TempoMap::default() {
        return;
    }
    *text += "\n[tempo]\n";
    let put = |text: &mut String, line: std::fmt::Arguments<'_>| {
        text.write_fmt(line).expect("a String takes all");
    };
    match tempo.points() {
        [only] => put(text, format_args!("bpm = {}\n", number_text(only.bpm))),
        points => {
            let rows = points.iter().map(|point| {
                let linear = if point.is_linear { ", \"linear\"" } else { "" };
                let [beat, bpm] = [point.beat, point.bpm].map(number_text);
                format!("[{beat}, {bpm}{linear}]")
            });
            put(
                text,
                format_args!("map = [{}]\n", rows.collect::<Vec<_>>().join(", ")),
            );
        }
    }
    let metre = |m: &MetrePoint| format!("\"{}/{}\"", m.numerator, m.denominator);
    match tempo.metres() {
        [] => {}
        [only] => put(text, format_args!("metre = {}\n", metre(only))),
        metres => {
            let row = |m: &MetrePoint| format!("[{}, {}]", number_text(m.beat), metre(m));
            let rows: Vec<String> = metres.iter().map(row).collect();
            put(text, format_args!("metre = [{}]\n", rows.join(", ")));
        }
    }
}
