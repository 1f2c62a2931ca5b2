//! `--drill CELL:KIND@SECONDS`.

use divisi::cells::DrillKind;

/// A failure to cause.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DrillOption {
    /// Name of the cell.
    pub(super) cell: String,
    pub(super) kind: DrillKind,
    pub(super) seconds: f64,
}

impl DrillOption {
    /// Parses the option.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "expected CELL:KIND@SECONDS, for example reverb:kill@2.5".to_owned();
        let (cell, rest) = text.rsplit_once(':').ok_or_else(wrong)?;
        let (kind, seconds) = rest.split_once('@').ok_or_else(wrong)?;
        let found = DrillKind::NAMES.iter().find(|(name, _)| *name == kind);
        let (_, kind) = found.ok_or_else(|| {
            let names: Vec<&str> = DrillKind::NAMES.iter().map(|(name, _)| *name).collect();
            format!("`{kind}` is none of {}", names.join(", "))
        })?;
        let seconds = seconds.parse().ok().filter(|it| (0.0..=1e9).contains(it));
        Ok(Self {
            cell: cell.to_owned(),
            kind: *kind,
            seconds: seconds.ok_or_else(wrong)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drill_names_its_cell_its_kind_and_its_time() {
        let drill = DrillOption::parse("a:b:kill@2.5").unwrap();
        let expected = ("a:b", DrillKind::Kill, 2.5);
        assert_eq!((&*drill.cell, drill.kind, drill.seconds), expected);
        for wrong in [
            "",
            "a",
            "a:kill",
            "a:kill@-1",
            "a:kill@x",
            "a:die@1",
            "kill@1",
        ] {
            assert!(DrillOption::parse(wrong).is_err(), "{wrong}");
        }
    }
}
