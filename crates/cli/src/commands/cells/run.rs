//! [`Run`]: plays the supervisor's part of the graph into a file, and prints what happens to the cells.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::playback::file_input::InputFile;
use crate::session::load::{LoadedSession, output_channels};
use divisi::cells::{CellEvent, CellService, Monitor};
use divisi::driver::DriverConfig;
use divisi::driver::offline;
use divisi::graph::error_chain;
use divisi::media::{SampleFormat, Writer};
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Graph, Registry};
use divisi::units::Channels;
use divisi::workers::AudioThread;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// A run of the supervisor.
pub(super) struct Run<'a> {
    pub(super) loaded: &'a LoadedSession,
    /// The graph with a node for each cell.
    pub(super) graph: Graph,
    pub(super) registry: Arc<Registry>,
    pub(super) options: EngineOptions,
    pub(super) service: Rc<RefCell<CellService>>,
    /// What goes in.
    pub(super) source: Option<InputFile>,
    pub(super) interrupt: Interrupt,
    pub(super) frames: u64,
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

    fn request(&self, engine: &Engine) -> DriverConfig {
        let mut request = DriverConfig::new("divisi", self.options.block);
        request.outputs = output_channels(engine.plan());
        request.inputs = self.options.input_channels;
        request
    }

    /// Renders into `output`.
    pub(super) fn render(mut self, output: &Path) -> Result<(), Failure> {
        let (mut engine, mut callback) = self.make()?;
        let request = self.request(&engine);
        if request.outputs == 0 {
            let message = "the session has no `sink`, so there is nothing to render";
            return Err(Failure::bad_input(message));
        }
        let rate = self.options.rate;
        let channels = Channels(request.outputs);
        let mut writer = Writer::create(output, rate, channels, SampleFormat::F32)
            .map_err(Failure::from_error)?;
        let frames = self.frames;
        let mut source = self.source.take();
        let mut read_input = |into: &mut [&mut [f32]]| match &mut source {
            None => Ok(0),
            Some(source) => {
                let got = source.read(into);
                source.read_error().map_or(Ok(got), |what| Err(what.into()))
            }
        };
        let latency = u64::from(engine.plan().latency.0);
        let rendered = {
            let _audio_thread = AudioThread::enter();
            offline::render(
                &request,
                (latency, frames),
                &mut callback,
                &mut read_input,
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

    /// Prints what has happened to the cells.
    fn print_events(&self) {
        print_events(self.service.borrow().monitor());
    }

    /// Prints what the sound lacks of each cell. Fails if it lacks anything.
    fn end(&self) -> Result<(), Failure> {
        end(self.service.borrow().monitor())
    }
}

/// Prints what has happened to the cells.
fn print_events(monitor: &Monitor) {
    news(monitor)
        .iter()
        .for_each(|line| messages::print_message(line));
}

/// Lines about what has happened to the cells.
pub(super) fn news(monitor: &Monitor) -> Vec<String> {
    let mut lines = Vec::new();
    for event in monitor.events() {
        let mut continued = None;
        let line = match event {
            CellEvent::Playing {
                cell,
                process,
                is_continued,
            } => {
                if is_continued {
                    continued = Some(format!("cell `{cell}`: continues from before the failure"));
                }
                format!("cell `{cell}`: process {process}")
            }
            CellEvent::Back { cell, blocks } => {
                format!("cell `{cell}`: silent for {blocks} blocks")
            }
            CellEvent::Ended { cell, why } => format!("cell `{cell}`: {why}"),
            CellEvent::GivenUp { cell } => {
                format!("cell `{cell}`: it failed too often and stays silent")
            }
            CellEvent::Refused { cell, what } => format!("note: cell `{cell}`: {what}"),
        };
        lines.extend(continued);
        lines.push(line);
    }
    lines
}

/// Prints what the sound lacks of each cell. Fails if it lacks anything.
pub(super) fn end(monitor: &Monitor) -> Result<(), Failure> {
    print_events(monitor);
    let mut is_whole = true;
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
        false => Err(Failure::failed("the sound is not whole: cells lost blocks")),
    }
}
