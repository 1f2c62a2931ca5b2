//! [`LiveCells`]: the cells of a live run, which `play` plays with the rest of the session.

use super::{Cells, run, service::ServedCells};
use crate::failure::Failure;
use crate::output::messages;
use crate::playback::hosted::{PlayedCells, StartCells};
use crate::session::load::LoadedSession;
use crate::session::options::default_rate;
use divisi::cells::CellService;
use divisi::control::CellHost;
use divisi::graph::Graph;
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Frames, Registry, SampleRate};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Starts the cells of a live run.
pub(super) struct LiveStart {
    pub(super) cells: Cells,
    /// Path of the session.
    pub(super) file: PathBuf,
}

/// Cells that have come up.
pub(super) struct LiveCells {
    /// The graph with a node for each cell.
    pub(super) graph: Graph,
    pub(super) registry: Arc<Registry>,
    pub(super) service: Rc<RefCell<CellService>>,
}

impl StartCells for LiveStart {
    fn check(&self, loaded: &LoadedSession) -> Result<(), Failure> {
        let split = super::split_session(loaded)?;
        self.cells.drills(&split.cells, default_rate())?;
        Ok(())
    }

    fn start(
        &self,
        loaded: &LoadedSession,
        format: (SampleRate, Frames),
    ) -> Result<Box<dyn PlayedCells>, Failure> {
        let started = self.cells.start(loaded, &self.file, format)?;
        Ok(Box::new(started))
    }
}

impl PlayedCells for LiveCells {
    fn make_engine(
        &self,
        loaded: &LoadedSession,
        options: EngineOptions,
    ) -> Result<(Engine, EngineCallback), Failure> {
        let options = EngineOptions {
            folder: loaded.folder.clone(),
            ..options
        };
        let made = Engine::new(self.graph.clone(), self.registry.clone(), options);
        let made = made.map_err(|error| loaded.engine_failure(error))?;
        let news = self.news();
        news.iter().for_each(|line| messages::print_message(line));
        Ok(made)
    }

    fn host(&self) -> Box<dyn CellHost> {
        Box::new(ServedCells::new(self.service.clone()))
    }

    fn news(&self) -> Vec<String> {
        run::news(self.service.borrow().monitor())
    }

    fn end(&self) -> Result<(), Failure> {
        run::end(self.service.borrow().monitor())
    }
}
