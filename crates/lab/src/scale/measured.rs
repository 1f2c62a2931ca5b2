//! Measurements in one cell of a table, the column `facts`: `base 120.5;claim 60.0`, in ns.

/// Named times in ns.
pub(super) struct Measured(Vec<(String, f64)>);

/// Times as a cell.
pub(super) fn to_cell(times: &[(&str, f64)]) -> String {
    let words = times.iter().map(|(name, ns)| format!("{name} {ns:.1}"));
    words.collect::<Vec<_>>().join(";")
}

impl Measured {
    /// Reads a cell, without what is no time.
    pub(super) fn parse(cell: &str) -> Self {
        let time = |text: &str| {
            let (name, ns) = text.rsplit_once(' ')?;
            let ns: f64 = ns.parse().ok()?;
            // The table may have been edited by hand: no time is negative or longer than a minute.
            (0.0..=6e10).contains(&ns).then(|| (name.to_owned(), ns))
        };
        Self(cell.split(';').filter_map(time).collect())
    }

    /// Returns true if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The time called `name`.
    pub(super) fn get(&self, name: &str) -> Option<f64> {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map(|(_, ns)| *ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_back_and_nonsense_is_ignored() {
        let cell = to_cell(&[("base", 120.52), ("a b", 3.0)]);
        assert_eq!(cell, "base 120.5;a b 3.0");
        let read = Measured::parse(&format!("{cell};x;y -1;z nan;w 1e99"));
        assert_eq!(read.0, [("base".into(), 120.5), ("a b".into(), 3.0)]);
        assert_eq!(read.get("a b"), Some(3.0));
    }
}
