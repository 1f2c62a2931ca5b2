//! Cores that a cell may be given: those that this process may use.

use crate::section::CellSpec;
use graph::Diagnostic;

/// Refuses cells on cores that this process may not use, each at its place.
///
/// Real-time: setup.
pub fn check_cores_of_machine<'a>(
    cells: impl IntoIterator<Item = &'a CellSpec>,
) -> Vec<Diagnostic> {
    let wrong = cells.into_iter().filter_map(|cell| {
        let why = check_machine_cores(&cell.pool).err()?;
        Some(Diagnostic::error(
            cell.cores_span,
            format!("cell `{}`: {why}", cell.name),
        ))
    });
    wrong.collect()
}

/// Refuses cores that this process may not use.
pub(super) fn check_machine_cores(cores: &[usize]) -> Result<(), String> {
    let all = workers::cores();
    let unknown = cores
        .iter()
        .find(|core| all.iter().all(|it| it.0 != **core));
    match unknown {
        Some(core) => {
            let all: Vec<String> = all.iter().map(|it| it.0.to_string()).collect();
            Err(format!(
                "there is no core {core} for it: there are {}",
                all.join(", ")
            ))
        }
        None => Ok(()),
    }
}
