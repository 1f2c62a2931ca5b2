//! [`CellsHost`]: a session whose cells are processes of their own, for a live run.

use super::kept::KeptChanges;
use super::start::{CellOptions, StartedCells};
use super::supervisor::Supervisor;
use crate::failure::Failure;
use crate::playback::run::PlayHost;
use crate::session::load::LoadedSession;
use crate::session::options::{PlayOptions, SchedulerArg};
use divisi::cells::Succession;
use divisi::control::{CellTaps, Controller, TapHost};
use divisi::driver::{DriverConfig, DriverInfo, PortConnections};
use divisi::engine::{ChooseOptions, ControllerBinding};
use divisi::prelude::{
    AudioCallback, Engine, EngineCallback, EngineError, EngineOptions, Frames, Graph, Mode,
    Registry, Scheduler,
};
use divisi::text::Settings;
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A session with cells.
pub(super) struct CellsHost<'a> {
    options: CellOptions<'a>,
    /// Until the cells have started.
    succession: Option<Succession>,
    kept: Rc<RefCell<KeptChanges>>,
    /// Once they have.
    supervisor: Option<Supervisor>,
    /// Length and tail of the session.
    ending: (Option<u64>, u64),
    needs_ending: bool,
    first_frame: u64,
    /// Version of the cells that controllers reach.
    remote_version: Vec<(usize, usize, usize)>,
}

impl<'a> CellsHost<'a> {
    /// The host of a supervisor. `needs_ending` says if the length of the session is to be known.
    pub(super) fn new(
        options: CellOptions<'a>,
        (succession, kept): (Succession, KeptChanges),
        needs_ending: bool,
    ) -> Self {
        Self {
            options,
            succession: Some(succession),
            kept: Rc::new(RefCell::new(kept)),
            supervisor: None,
            ending: (None, 0),
            needs_ending,
            first_frame: 0,
            remote_version: Vec::new(),
        }
    }

    /// Has controllers reach the parameters of nodes inside cells, and notes the values that they have set.
    fn update_remote(&mut self, engine: &mut Engine) {
        let mut service = self.supervisor().service.borrow_mut();
        let values = engine.take_remote_values();
        let mut kept = self.kept.borrow_mut();
        kept.note_controlled(&values);
        kept.note_bound(engine);
        drop(kept);
        service.note_remote(values);
        let version = service.remote_version();
        if version != self.remote_version {
            engine.set_remote_params(service.remote_params());
            engine.set_remote_own_params(service.own_params());
            drop(service);
            self.remote_version = version;
        }
    }

    fn supervisor(&self) -> &Supervisor {
        self.supervisor.as_ref().expect("the cells have started")
    }
}

impl PlayHost for CellsHost<'_> {
    fn configure(&mut self, config: &mut DriverConfig) {
        self.kept.borrow().configure(config);
    }

    /// One block in each buffer of the device: cells have the more time for it.
    fn block(&self, info: &DriverInfo) -> Option<Frames> {
        Some(info.buffer_size).filter(|block| Settings::BLOCKS.contains(&block.0))
    }

    fn note_device(&mut self, info: &DriverInfo) -> Result<(), Failure> {
        self.kept.borrow_mut().note_device(info)
    }

    fn note_connections(&mut self, connections: &[PortConnections]) {
        self.kept.borrow_mut().note_connections(connections);
    }

    /// One worker, if the call does not say more: what is left beside the cells is small, as a rule.
    fn choose_scheduler(
        &mut self,
        play: &PlayOptions,
        _loaded: &LoadedSession,
        options: &mut EngineOptions,
    ) -> Option<ChooseOptions> {
        if play.scheduler == SchedulerArg::Auto {
            options.scheduler = Scheduler::Sequential;
            options.workers = 1;
        }
        None
    }

    fn make_engine(
        &mut self,
        loaded: &LoadedSession,
        options: EngineOptions,
    ) -> Result<(Engine, EngineCallback), Failure> {
        if self.needs_ending {
            self.ending = whole_ending(loaded, &options)?;
        }
        let succession = self.succession.take().expect("the cells start once");
        let StartedCells {
            engine,
            callback,
            supervisor,
        } = (self.options).start(loaded, options, (succession, self.kept.clone()))?;
        self.supervisor = Some(supervisor);
        Ok((engine, callback))
    }

    fn begin(
        &mut self,
        engine: &mut Engine,
        callback: EngineCallback,
    ) -> Result<Box<dyn AudioCallback>, Failure> {
        let supervisor = self.supervisor.as_mut().expect("the cells have started");
        let callback = supervisor.begin(engine, callback)?;
        let mut kept = self.kept.borrow_mut();
        kept.restore_loop(engine);
        kept.leave(supervisor.service.borrow().monitor());
        self.first_frame = callback.position();
        Ok(Box::new(callback))
    }

    fn first_frame(&self) -> u64 {
        self.first_frame
    }

    fn may_be_lost(&self) -> bool {
        true
    }

    fn ending(&self, _engine: &Engine) -> Result<(Option<u64>, u64), Failure> {
        Ok(self.ending)
    }

    fn bind_controllers(
        &mut self,
        engine: &mut Engine,
        bindings: Vec<ControllerBinding>,
    ) -> Result<(), EngineError> {
        self.update_remote(engine);
        let supervisor = self.supervisor();
        supervisor.service.borrow().check_controllers(&bindings)?;
        engine.set_controllers(bindings)
    }

    fn registry(&self, _loaded: &LoadedSession) -> Arc<Registry> {
        self.supervisor().registry.clone()
    }

    fn graph(&self, _engine: &Engine) -> Graph {
        self.supervisor().graph()
    }

    fn extend(&self, controller: &mut Controller) {
        self.supervisor().extend(controller);
    }

    fn taps(&mut self) -> TapHost<'_> {
        let supervisor = self.supervisor.as_mut();
        supervisor.map(|it| &mut it.taps as &mut (dyn CellTaps + 'static))
    }

    fn update(&mut self, engine: &mut Engine) -> Vec<String> {
        self.update_remote(engine);
        (self.kept.borrow_mut()).note_loop(engine.transport_loop());
        let supervisor = self.supervisor.as_mut().expect("the cells have started");
        supervisor.service.borrow().monitor().beat();
        supervisor.news()
    }

    fn report(&self) -> Option<(&'static str, Value)> {
        Some(("cells", self.supervisor().cells()))
    }

    fn end_play(&mut self) {
        self.supervisor().service.borrow().monitor().end_beats();
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.supervisor().end()
    }
}

/// Length and tail of the whole session. A cell says neither, so an engine is made that plays nothing.
fn whole_ending(
    loaded: &LoadedSession,
    options: &EngineOptions,
) -> Result<(Option<u64>, u64), Failure> {
    let mut options = options.clone();
    options.mode = Mode::DryRun;
    options.scheduler = Scheduler::Sequential;
    options.workers = 1;
    options.trace = false;
    let (engine, _callback) = loaded.make_engine(options)?;
    Ok((engine.length(), engine.tail()))
}
