//! Named numbers in one cell of a table: `base 120.5;claim 60.0`.

use crate::Table;

/// As a cell.
pub(super) fn write(all: &[(&str, f64)]) -> String {
    let words = all.iter().map(|(name, ns)| format!("{name} {ns:.1}"));
    words.collect::<Vec<_>>().join(";")
}

/// What a run of this kind found, in the table.
pub(super) fn read(table: &Table, what: &str, graph: &str, way: &str) -> Vec<(String, f64)> {
    let row = table.find(&[("what", what), ("graph", graph), ("scheduler", way)]);
    let text = row.map_or("", |row| row.text("facts"));
    text.split(';').filter_map(one).collect()
}

fn one(text: &str) -> Option<(String, f64)> {
    let (name, ns) = text.rsplit_once(' ')?;
    let ns: f64 = ns.parse().ok()?;
    // The table may have been edited by hand: no time is negative or longer than a minute.
    (0.0..=6e10).contains(&ns).then(|| (name.to_owned(), ns))
}

/// The number called `name`.
pub(super) fn get(all: &[(String, f64)], name: &str) -> Option<f64> {
    let found = all.iter().find(|(n, _)| n == name);
    found.map(|(_, ns)| *ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_and_nonsense_is_passed_over() {
        let text = write(&[("base", 120.52), ("a b", 3.0)]);
        assert_eq!(text, "base 120.5;a b 3.0");
        let all: Vec<_> = format!("{text};x;y -1;z nan;w 1e99")
            .split(';')
            .filter_map(one)
            .collect();
        assert_eq!(all, [("base".into(), 120.5), ("a b".into(), 3.0)]);
        assert_eq!(get(&all, "a b"), Some(3.0));
    }
}
