//! [`KeptCell`]: a cell, as the next supervisor gets it after this one is lost.

use super::CellService;
use super::inside::told;
use super::served::CellState;
use crate::section::{CellSpec, read_cells};

/// A cell, in words that outlive a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCell {
    /// Number of the cell.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its keys, if it is not the session's.
    pub text: Option<String>,
    /// The cores that it has.
    pub cores: Vec<usize>,
    /// Why it is stopped, if it is.
    pub stopped: Option<CellState>,
}

impl KeptCell {
    /// The cells of a session, which number their indices.
    ///
    /// Real-time: setup.
    pub fn filed(cells: &[CellSpec]) -> Vec<Self> {
        let cells = cells.iter().enumerate();
        let cells = cells.map(|(index, spec)| Self {
            index,
            name: spec.name.clone(),
            text: None,
            cores: spec.cores.clone(),
            stopped: None,
        });
        cells.collect()
    }

    /// The cell with its keys; `filed` are those of the session. `None` if the session has another cell by now.
    ///
    /// Real-time: setup.
    pub fn spec(&self, filed: &[CellSpec]) -> Option<CellSpec> {
        let spec = match &self.text {
            Some(text) => CellSpec::from_text(&self.name, text).ok()?,
            None => filed.iter().find(|it| it.name == self.name)?.clone(),
        };
        Some(CellSpec {
            cores: self.cores.clone(),
            ..spec
        })
    }
}

impl CellService {
    /// The cells as they are now, for the next supervisor.
    ///
    /// Real-time: setup.
    pub fn kept(&self) -> Vec<KeptCell> {
        let (filed, _) = read_cells(&self.options.session);
        let is_filed = |name: &str| filed.iter().any(|it| it.name == name);
        let cells = self.cells.iter().map(|cell| KeptCell {
            index: cell.index,
            name: cell.spec.name.clone(),
            text: (!is_filed(&cell.spec.name)).then(|| cell.spec.keys.to_string()),
            cores: cell.spec.cores.clone(),
            stopped: cell.stopped,
        });
        cells.collect()
    }

    /// Has each process be told the values that the session that it reads has not.
    pub(super) fn tell_links(&mut self) {
        let graphs = (&self.options.graph, &self.options.filed);
        for cell in &self.cells {
            let told = told(&cell.slots, graphs, self.catalogue());
            if let Some(link) = self.links().get_mut(&cell.node) {
                link.told = told;
            }
        }
    }
}

impl CellState {
    /// The state of this name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Playing,
            Self::Starting,
            Self::Stopped,
            Self::Yielded,
            Self::GivenUp,
        ];
        all.into_iter().find(|it| it.name() == name)
    }
}
