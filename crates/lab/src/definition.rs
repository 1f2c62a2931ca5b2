//! The parts in which experiments differ.

use crate::page::Page;
use crate::results::Results;
use crate::run::Run;
use crate::{Effort, LabError, Table};
use std::path::Path;

/// The parts in which experiments differ; each experiment's module has one as `DEFINITION`.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Name on the command line.
    pub(crate) name: &'static str,
    /// Title of the page.
    pub(crate) title: &'static str,
    /// Template of the page; see [`crate::page`].
    pub(crate) template: &'static str,
    /// The table's columns, as the head of a CSV file. Later versions only append.
    pub(crate) columns: &'static str,
    /// Number of columns, the first ones, that identify a run. The last of them is the run's length.
    pub(crate) keys: usize,
    /// Every run, in the order in which they need one another.
    pub(crate) runs: fn(Effort) -> Vec<Run>,
    /// Takes over results from other files of the folder, before the runs.
    pub(crate) import: fn(&Path, &mut Table) -> Result<(), LabError>,
    /// Fills the page's template from the runs.
    pub(crate) fill: fn(&Results<'_>, &mut Page),
}
