//! [`WorkLinks`]: the lanes of a supervisor, and who has taken each.

use super::lane::{LaneChannel, LaneOwner, LanePlace};
use crate::section::CellSpec;
use crate::status::CellStatus;
use graph::Graph;
use processor::{NodeWork, Registry, WorkChannel, WorkHost};
use rt::mirror::WakeWords;
use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use units::{Frames, SampleRate};

/// One lane, with what belongs to it.
struct Lane {
    words: Arc<WakeWords>,
    place: LanePlace,
    status: Arc<CellStatus>,
    owner: Arc<LaneOwner>,
}

/// Memory of one cell.
struct CellWork {
    cell: String,
    /// It has no nodes of its own.
    is_alone: bool,
    words: Arc<WakeWords>,
    file: OwnedFd,
    /// By the names of the nodes, and the parts of their work.
    places: Vec<((String, usize), LanePlace)>,
}

/// The lanes of all cells that do work of others' nodes.
#[derive(Default)]
pub struct WorkLinks {
    cells: Vec<CellWork>,
}

/// A part of the work of a node, with its name and its number.
pub(super) type NamedWork = ((String, usize), Box<dyn NodeWork>);

/// The works of `spec`, in its order.
pub(super) fn works(
    (graph, folder): (&Graph, &Path),
    spec: &CellSpec,
    registry: &Registry,
    format: (SampleRate, Frames),
) -> Result<Vec<NamedWork>, String> {
    let mut all = Vec::new();
    for name in &spec.work {
        let node = graph.find(name).and_then(|id| graph.node(id));
        let node = node.ok_or_else(|| format!("its work is that of `{name}`, which is no node"))?;
        let made = registry.make_work((node, folder), format);
        let made = made.map_err(|error| format!("the work of `{name}`: {error}"))?;
        let parts = made.into_iter().enumerate();
        all.extend(parts.map(|(index, work)| ((name.clone(), index), work)));
    }
    Ok(all)
}

impl WorkLinks {
    /// Memory for the work of `cells`.
    ///
    /// # Errors
    ///
    /// A node has no such work, or there is no memory.
    ///
    /// Real-time: setup.
    pub fn new<'a>(
        session: (&Graph, &Path),
        cells: impl Iterator<Item = &'a CellSpec>,
        registry: &Registry,
        format: (SampleRate, Frames),
    ) -> Result<Self, String> {
        let cells = cells.filter(|spec| !spec.work.is_empty()).map(|spec| {
            let failed = |why: String| format!("the cell `{}`: {why}", spec.name);
            let works = works(session, spec, registry, format).map_err(failed)?;
            let sizes: Vec<_> = works.iter().map(|(_, work)| work.words()).collect();
            let (places, words) = LanePlace::of(&sizes)
                .ok_or_else(|| failed("a request has too many words".to_owned()))?;
            let (words, file) = WakeWords::create(words).map_err(|it| failed(it.to_string()))?;
            let names = works.into_iter().map(|(name, _)| name);
            Ok(CellWork {
                cell: spec.name.clone(),
                is_alone: spec.nodes.is_empty(),
                words: words.into(),
                file,
                places: names.zip(places).collect(),
            })
        });
        let cells = cells.collect::<Result<_, String>>()?;
        Ok(Self { cells })
    }

    /// Path of the memory of each cell, by its name, for its processes. It is there as long as this value.
    ///
    /// Real-time: setup.
    pub fn paths(&self) -> HashMap<String, String> {
        let own = std::process::id();
        let path = |file: &OwnedFd| format!("/proc/{own}/fd/{}", file.as_raw_fd());
        let paths = self
            .cells
            .iter()
            .map(|it| (it.cell.clone(), path(&it.file)));
        paths.collect()
    }

    /// The host of nodes whose work these cells do, which have these figures. None if no cell does any.
    ///
    /// Real-time: setup.
    pub fn host(&self, statuses: &[(String, Arc<CellStatus>)]) -> Option<Arc<dyn WorkHost>> {
        let mut lanes = HashMap::new();
        for cell in &self.cells {
            let status = statuses.iter().find(|(name, _)| *name == cell.cell);
            let Some((_, status)) = status else { continue };
            // Relaxed: it is stored before the first block.
            (status.work.is_alone).store(cell.is_alone, Ordering::Relaxed);
            for (node, place) in &cell.places {
                let lane = Lane {
                    words: cell.words.clone(),
                    place: *place,
                    status: status.clone(),
                    owner: Arc::default(),
                };
                lanes.insert(node.clone(), lane);
            }
        }
        (!lanes.is_empty()).then(|| Arc::new(LaneTable(lanes)) as Arc<dyn WorkHost>)
    }
}

/// Lanes by the names of their nodes, and the parts of their work.
struct LaneTable(HashMap<(String, usize), Lane>);

impl WorkHost for LaneTable {
    fn channel(
        &self,
        node: &str,
        index: usize,
        words: (usize, usize),
    ) -> Option<Box<dyn WorkChannel>> {
        let lane = self.0.get(&(node.to_owned(), index))?;
        if words != (lane.place.request, lane.place.reply) {
            return None;
        }
        let memory = (lane.words.clone(), lane.place);
        let channel = LaneChannel::take(memory, lane.status.clone(), lane.owner.clone());
        channel.map(|it| Box::new(it) as Box<dyn WorkChannel>)
    }
}
