//! Siblings: threads of one physical core. What one computes makes the other slower, so two cells do not share them unasked.

use super::MachineFiles;
use crate::section::CellSpec;
use graph::Diagnostic;

impl MachineFiles {
    /// Numbers of the threads of the physical core of `core`, with its own; that one alone where the system does not say.
    ///
    /// Real-time: setup.
    pub fn siblings(&self, core: usize) -> Vec<usize> {
        let file = format!("sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
        let text = std::fs::read_to_string(self.path(&file)).unwrap_or_default();
        let mut all = read_list(&text);
        if !all.contains(&core) {
            all.push(core);
        }
        all
    }

    /// Refuses cells that have threads of one physical core, if none of the two asks for it.
    ///
    /// Real-time: setup.
    pub fn split_siblings(&self, cells: &[&CellSpec]) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        for (at, cell) in cells.iter().enumerate() {
            for other in &cells[..at] {
                if cell.shares.siblings || other.shares.siblings {
                    continue;
                }
                if let Some((own, others)) = self.split_core(&cell.cores, &other.cores) {
                    let (a, b) = (&other.name, &cell.name);
                    let message = format!(
                        "the cells `{a}` and `{b}` have threads of one physical core: {others} and {own}"
                    );
                    mistakes.push(Diagnostic::error(cell.span, message).help(
                        "give both threads to one of them, or write share_siblings = true into one",
                    ));
                }
            }
        }
        mistakes
    }

    /// A thread of `own` and one of `others` that are of one physical core, and that not both have.
    fn split_core(&self, own: &[usize], others: &[usize]) -> Option<(usize, usize)> {
        own.iter().find_map(|core| {
            let siblings = self.siblings(*core);
            let other = others
                .iter()
                .find(|it| *it != core && siblings.contains(it));
            // Cells that share both threads share them as any core.
            let other = other.filter(|it| !own.contains(it) || !others.contains(core));
            other.map(|other| (*core, *other))
        })
    }
}

/// Numbers in a list of the kernel: `0-2,5`. What is none is left out.
fn read_list(text: &str) -> Vec<usize> {
    let ranges = text.trim().split(',').take(1024).filter_map(|range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (from.parse::<usize>().ok()?, to.parse::<usize>().ok()?);
        (from <= to && to < 65_536).then_some(from..=to)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn threads_of_one_physical_core_are_not_split_between_cells_unasked() {
        let root = std::env::temp_dir().join(format!("divisi-siblings-{}", std::process::id()));
        for (core, list) in [(0, "0,2\n"), (1, "1,3"), (2, "0,2"), (3, "1,3")] {
            let folder = root.join(format!("sys/devices/system/cpu/cpu{core}/topology"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("thread_siblings_list"), list).unwrap();
        }
        let machine = MachineFiles::below(&root);
        let cell = |name: &str, cores: &str| {
            CellSpec::from_text(name, &format!("nodes = [\"x\"]\ncores = {cores}")).unwrap()
        };
        let refused = |a: &CellSpec, b: &CellSpec| machine.split_siblings(&[a, b]);
        let found = refused(&cell("low", "[0]"), &cell("high", "[1, 2]"));
        assert_eq!(found.len(), 1);
        let words = "the cells `low` and `high` have threads of one physical core: 0 and 2";
        assert_eq!(found[0].message, words);
        let is_fine = |a: &CellSpec, b: &CellSpec| refused(a, b).is_empty();
        assert!(is_fine(&cell("a", "[0, 2]"), &cell("b", "[1, 3]")));
        assert!(is_fine(&cell("a", "[0, 2]"), &cell("b", "[0, 2]")));
        assert!(is_fine(
            &cell("a", "[0]"),
            &cell("b", "[2]\nshare_siblings = true")
        ));
        assert!(is_fine(&cell("a", "[0]"), &cell("b", "[]")));
        std::fs::remove_dir_all(&root).unwrap();
        // A machine that does not say it.
        assert_eq!(MachineFiles::below(Path::new("/none")).siblings(7), [7]);
        assert_eq!(read_list("0-2,5,x,9-7,1-99999999\n"), [0, 1, 2, 5]);
    }
}
