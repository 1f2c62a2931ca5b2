//! Text tables.

use std::fmt::Write;

/// Formats a table: `words` left-aligned columns, then right-aligned ones, each as wide as its widest cell.
pub(crate) fn table<const N: usize>(
    out: &mut String,
    words: usize,
    head: [&str; N],
    rows: Vec<[String; N]>,
) {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).max(head[column].chars().count())
    });
    let head = head.map(str::to_owned);
    for row in std::iter::once(&head).chain(&rows) {
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            column if column < words => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}
