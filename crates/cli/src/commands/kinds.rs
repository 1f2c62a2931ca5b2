//! `kinds`: lists the kinds of nodes, and shows or writes their pages.

use crate::failure::Failure;
use crate::output::messages;
use crate::session::latencies::set_up;
use clap::Args;
use divisi::files;
use divisi::graph::{Catalogue, Kind};
use divisi::prelude::{Frames, Registry, SampleRate};
use divisi::processor::Tail;
use divisi::text::{KindTiming, kind_example, kind_index, kind_page, toml};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  divisi kinds
  divisi kinds osc
  divisi kinds --pages docs/kinds";

/// First line of each page that this command writes: only such files are replaced.
const MARK: &str = "<!-- Written by `divisi kinds --pages`. -->\n";
/// Bytes of a file that are read to find the mark.
const MAX_PAGE: u64 = 1 << 20;

/// Lists the kinds of nodes, or shows the page of one
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Kinds {
    /// The kind whose page is shown
    kind: Option<String>,
    /// Writes a page for each kind, and an index, into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "kind")]
    pages: Option<PathBuf>,
}

impl Kinds {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let registry = divisi::registry();
        let catalogue = registry.catalogue();
        match (&self.kind, &self.pages) {
            (Some(name), _) => messages::print_result(&page_of(name, &registry)?),
            (None, Some(folder)) => write_pages(folder, &registry),
            (None, None) => messages::print_result(&list(catalogue)),
        }
    }
}

fn page_of(name: &str, registry: &Registry) -> Result<String, Failure> {
    let catalogue = registry.catalogue();
    let page = |kind| kind_page(kind, timing(kind, registry));
    catalogue.get(name).map(page).ok_or_else(|| {
        let near = catalogue.nearest(name);
        let help = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Failure::bad_input(format!("there is no kind `{name}`{help}"))
    })
}

/// Latency and tail of the example of a page. `None` if that cannot be made: it names a file that is not there.
fn timing(kind: &Kind, registry: &Registry) -> Option<KindTiming> {
    let read = toml::read(kind_example(kind), registry.catalogue());
    let graph = read.session.graph;
    let (_, node) = graph.nodes().next()?;
    let made = registry.make_with_tempo(node, Path::new("."), graph.tempo());
    let mut processor = made.ok()?;
    set_up(&mut *processor, (Frames(64), SampleRate::new(48_000)?));
    let tail = match processor.tail() {
        Tail::Frames(frames) => Some(frames),
        Tail::Infinite => None,
    };
    let latency = u64::from(processor.latency().0);
    Some(KindTiming { latency, tail })
}

fn list(catalogue: &Catalogue) -> String {
    let width = catalogue.kinds().map(|kind| kind.name.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for kind in catalogue.kinds() {
        let _ = writeln!(text, "{:<width$}  {}", kind.name, kind.summary);
    }
    text + "\n`divisi kinds NAME` shows ports and parameters.\n"
}

/// Writes all pages, or none if a file is in the way that this command did not write.
fn write_pages(folder: &Path, registry: &Registry) -> Result<(), Failure> {
    let catalogue = registry.catalogue();
    let page = |kind| kind_page(kind, timing(kind, registry));
    let pages = catalogue.kinds().map(|kind| (kind.name, page(kind)));
    let index = std::iter::once(("README", kind_index(catalogue)));
    let pages = pages.chain(index);
    let pages: Vec<(PathBuf, String)> = pages
        .map(|(name, page)| (folder.join(format!("{name}.md")), page))
        .collect();
    if let Some((path, _)) = pages.iter().find(|(path, _)| is_of_the_user(path)) {
        return Err(Failure::bad_input(format!(
            "{} is there and was not written by `divisi kinds`: choose another folder",
            path.display()
        )));
    }
    let failed =
        |path: &Path, error| Failure::failed(format!("cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (path, page) in &pages {
        files::replace(path, format!("{MARK}{page}")).map_err(|error| failed(path, error))?;
    }
    Ok(())
}

fn is_of_the_user(path: &Path) -> bool {
    let is_there = path.symlink_metadata().is_ok();
    is_there && !files::read(path, MAX_PAGE).is_ok_and(|page| page.starts_with(MARK.as_bytes()))
}
