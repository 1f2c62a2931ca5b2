//! [`Run`]: plays the supervisor's part of the graph, by the clock or into a file, and prints what happens to the cells.

use super::service::ServedCells;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::session::load::{LoadedSession, output_channels};
use divisi::cells::{
    CellEvent, CellMoved, CellService, Drill, Monitor, Silence, SupervisedCallback,
};
use divisi::control::Controller;
use divisi::control::server::Servers;
use divisi::control::server::unix::UnixServer;
use divisi::driver::offline;
use divisi::driver::{DriverConfig, DriverState, clock};
use divisi::graph::error_chain;
use divisi::media::{SampleFormat, Writer};
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Graph, Registry};
use divisi::units::Channels;
use divisi::workers::AudioThread;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks at the cells.
const INTERVAL: Duration = Duration::from_millis(5);

/// A run of the supervisor.
pub(super) struct Run<'a> {
    pub(super) loaded: &'a LoadedSession,
    /// Path of the session.
    pub(super) file: &'a Path,
    /// The graph with a node for each cell.
    pub(super) graph: Graph,
    pub(super) registry: Arc<Registry>,
    pub(super) options: EngineOptions,
    pub(super) service: Rc<RefCell<CellService>>,
    /// Where commands arrive.
    pub(super) socket: Option<UnixServer>,
    pub(super) interrupt: Interrupt,
    /// Failures of this process to cause.
    pub(super) drills: Vec<Drill>,
    /// A supervisor before was lost.
    pub(super) is_successor: bool,
    pub(super) frames: Option<u64>,
}

impl Run<'_> {
    /// Makes the engine. Mistakes are printed.
    fn make(&mut self) -> Result<(Engine, EngineCallback), Failure> {
        let graph = std::mem::take(&mut self.graph);
        let made = Engine::new(graph, self.registry.clone(), self.options.clone());
        let (engine, callback) = made.map_err(|error| self.loaded.engine_failure(error))?;
        messages::print_notes(&engine.notes());
        self.print_events();
        Ok((engine, callback))
    }

    /// The callback of a supervisor: it goes on where the one before was lost.
    fn supervise(
        &mut self,
        engine: &mut Engine,
        callback: EngineCallback,
    ) -> Result<SupervisedCallback, Failure> {
        let (graph, drills) = (engine.graph().clone(), std::mem::take(&mut self.drills));
        let session = (&graph, self.registry.catalogue());
        let mut service = self.service.borrow_mut();
        let made = (service.monitor_mut()).supervise((engine, callback), session, drills);
        let (callback, notes) = made.map_err(Failure::failed)?;
        for note in notes {
            messages::print_message(&format!("the supervisor: {note}"));
        }
        Ok(callback)
    }

    /// Prints the silence that the supervisor before has left, once it is known.
    fn tell_silence(&self) -> bool {
        let Some(silence) = self.service.borrow().monitor().silence() else {
            return !self.is_successor;
        };
        let Silence {
            lost,
            blocks,
            longest,
        } = silence;
        messages::print_message(&format!(
            "the supervisor: plays on; {lost} lost, silent for {blocks} blocks, {longest} at most"
        ));
        true
    }

    fn request(&self, engine: &Engine) -> DriverConfig {
        let mut request = DriverConfig::new("divisi", self.options.block);
        request.outputs = output_channels(engine.plan());
        request
    }

    /// Plays by the clock until the end or an interrupt.
    pub(super) fn play(mut self) -> Result<(), Failure> {
        let (mut engine, callback) = self.make()?;
        let mut request = self.request(&engine);
        request.rate = Some(self.options.rate);
        let driver = clock::open(&request).map_err(Failure::from_error)?;
        messages::print_notes(&driver.info().refused);
        let callback = self.supervise(&mut engine, callback)?;
        let running = driver
            .start(Box::new(callback))
            .map_err(Failure::from_error)?;
        let (frames, offset) = (
            self.frames,
            self.service.borrow().monitor().position_offset(),
        );
        let is_done = |engine: &Engine| frames.is_some_and(|it| engine.position() + offset >= it);
        let unix = self.socket.take();
        let mut servers = Servers { unix, osc: None };
        let mut controller = self.controller();
        let mut has_told = false;
        while !self.interrupt.is_requested() && !is_done(&engine) {
            engine.update();
            self.print_events();
            self.service.borrow().monitor().beat();
            has_told = has_told || self.tell_silence();
            if let DriverState::Ended { reason } = running.state() {
                return Err(Failure::failed(reason));
            }
            servers.serve(&mut controller, &mut engine, INTERVAL);
        }
        self.service.borrow().monitor().end_beats();
        drop(running.stop());
        engine.update();
        let missed = engine.report().late;
        if missed > 0 {
            messages::print_message(&format!("{missed} blocks came late"));
        }
        self.end()
    }

    /// Renders into `output`.
    pub(super) fn render(mut self, output: &Path) -> Result<(), Failure> {
        let (mut engine, callback) = self.make()?;
        let request = self.request(&engine);
        if request.outputs == 0 {
            let message = "the session has no `sink`, so there is nothing to render";
            return Err(Failure::bad_input(message));
        }
        let mut callback = self.supervise(&mut engine, callback)?;
        let rate = self.options.rate;
        let channels = Channels(request.outputs);
        let mut writer = Writer::create(output, rate, channels, SampleFormat::F32)
            .map_err(Failure::from_error)?;
        let frames = self.frames.unwrap_or(0);
        let latency = u64::from(engine.plan().latency.0);
        let rendered = {
            let _audio_thread = AudioThread::enter();
            offline::render(
                &request,
                (latency, frames),
                &mut callback,
                &mut offline::Silence,
                &mut |block: &[&[f32]]| writer.write(block).map_err(Into::into),
                &mut |_| {
                    engine.update();
                    self.print_events();
                    self.interrupt.control_flow()
                },
            )
        };
        let written = rendered.map_err(|error| Failure::failed(error_chain(&error)))?;
        writer.finish().map_err(Failure::from_error)?;
        messages::print_message(&format!("{}: {written} frames", output.display()));
        if latency > 0 {
            messages::print_message(&format!("latency: {latency} frames, left out of the file"));
        }
        match written < frames {
            true => Err(Failure::failed(
                "interrupted: the file holds the first frames",
            )),
            false => self.end(),
        }
    }

    /// Takes commands of clients.
    fn controller(&self) -> Controller {
        let session = (self.file.to_owned(), self.loaded.session.clone());
        // A session of cells takes no `load`.
        let read = |_: &Path| Err("a session of cells is not read again".to_owned());
        let rate_hz = self.options.rate.hz();
        let mut controller = Controller::new(self.registry.clone(), session, rate_hz, read);
        controller.host_cells(Box::new(ServedCells::new(self.service.clone())));
        controller
    }

    /// Prints what has happened to the cells.
    fn print_events(&self) {
        print_events(self.service.borrow().monitor());
        if let Some(moved) = self.service.borrow_mut().govern() {
            messages::print_message(&moved_text(&moved));
        }
    }

    /// Prints what the sound lacks of each cell. Fails if it lacks anything.
    fn end(&self) -> Result<(), Failure> {
        end(self.service.borrow().monitor())
    }
}

/// A line on a cell that has other cores, or does not get them.
fn moved_text(moved: &CellMoved) -> String {
    let CellMoved {
        cell,
        from,
        to,
        why,
        is_made,
    } = moved;
    match is_made {
        true => format!("cell `{cell}`: moves from the cores {from:?} to {to:?}: {why}"),
        false => format!("cell `{cell}`: stays on the cores {from:?}: {why}"),
    }
}

/// Prints what has happened to the cells.
fn print_events(monitor: &Monitor) {
    for event in monitor.events() {
        messages::print_message(&match event {
            CellEvent::Playing {
                cell,
                process,
                is_continued,
            } => {
                if is_continued {
                    let message = format!("cell `{cell}`: continues from before the failure");
                    messages::print_message(&message);
                }
                format!("cell `{cell}`: process {process}")
            }
            CellEvent::PlaysOn { cell, process } => {
                format!("cell `{cell}`: plays on as process {process}")
            }
            CellEvent::Back { cell, blocks } => {
                format!("cell `{cell}`: silent for {blocks} blocks")
            }
            CellEvent::Ended { cell, why } => format!("cell `{cell}`: {why}"),
            CellEvent::GivenUp { cell } => {
                format!("cell `{cell}`: it failed too often and stays silent")
            }
            CellEvent::Refused { cell, what } => format!("note: cell `{cell}`: {what}"),
        });
    }
}

/// Prints what the sound lacks of each cell. Fails if it lacks anything.
fn end(monitor: &Monitor) -> Result<(), Failure> {
    print_events(monitor);
    let silence = monitor.silence();
    if let Some(Silence { lost, blocks, .. }) = silence {
        let times = match lost {
            1 => "once".to_owned(),
            more => format!("{more} times"),
        };
        let message = format!("the supervisor was lost {times}: silent for {blocks} blocks");
        messages::print_message(&message);
    }
    let mut is_whole = silence.is_none();
    for (cell, status) in monitor.statuses() {
        let (blocks, lost, not_finite) = (status.blocks(), status.lost(), status.not_finite());
        messages::print_message(&format!("cell `{cell}`: {lost} of {blocks} blocks lost"));
        if not_finite > 0 {
            let message = format!("cell `{cell}`: {not_finite} samples were no finite numbers");
            messages::print_message(&message);
        }
        let events = status.lost_events();
        if events > 0 {
            let message = format!("cell `{cell}`: {events} events did not cross its border");
            messages::print_message(&message);
        }
        is_whole &= events == 0 && lost == 0 && not_finite == 0;
    }
    match is_whole {
        true => Ok(()),
        false => Err(Failure::failed("the sound is not whole: blocks were lost")),
    }
}
