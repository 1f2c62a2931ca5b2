//! The list `[[curve]]`: how parameters move. Each curve becomes a node of the kind `curve`, with an edge.
//!
//! ```toml
//! [[curve]]
//! to = "tone.freq"
//! points = [[0, 200], [4, 2000, "exponential"], ["9s", 500, "s-curve"]]
//! loop = 16
//! ```

use super::item::Item;
use super::score_node::{FreeNames, MAX_TIME, check_keys, source, tables, target, time};
use super::value::number;
use crate::ast::Ast;
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use ::toml::de::{DeTable, DeValue};
use graph::{ParamValue, number_text};

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
