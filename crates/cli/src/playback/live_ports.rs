//! Live ports of a run: connections that are found again, and controllers that are learned.

use crate::failure::Failure;
use crate::playback::control::ControlWays;
use crate::playback::run::PlayHost;
use crate::session::load::LoadedSession;
use divisi::control::{LearnRequest, controller_binding};
use divisi::driver::{MAX_SYSEX_BYTES, MidiLosses, PortConnections, RunningDriver};
use divisi::graph::{Catalogue, Graph, Param, ParamRange};
use divisi::prelude::Engine;
use divisi::text::toml::{ControllerEntry, controller_text};
use std::path::{Path, PathBuf};

/// Lowest and highest value of a learned frequency without a range.
const AUDIBLE_HZ: (f64, f64) = (20.0, 20_000.0);

/// A parameter that waits for a controller.
pub(crate) struct Learning {
    entry: ControllerEntry,
    file: PathBuf,
}

impl Learning {
    /// Parses `NODE.PARAM` or `NODE.PARAM=LOW..HIGH`.
    pub(crate) fn parse(text: &str, file: &Path, loaded: &LoadedSession) -> Result<Self, Failure> {
        let (target, range) = parse_target(text)?;
        let known = (&loaded.session.graph, loaded.registry.catalogue());
        Self::new((target, range), file, known)
    }

    /// Learns a parameter of a graph with kinds of `catalogue`, for a session's file.
    fn new(
        (target, range): LearnRequest,
        file: &Path,
        known: (&Graph, &Catalogue),
    ) -> Result<Self, Failure> {
        if file.extension().is_none_or(|extension| extension != "toml") {
            let message = "a controller is learned into a .toml session; this one is none";
            return Err(Failure::bad_input(message));
        }
        let param = find_param(known, &target);
        let is_hz = param.is_some_and(|param| param.unit == "Hz");
        let range = match range {
            Some([low, high]) => (low, high),
            None => usual_range(param, &target)?,
        };
        let entry = ControllerEntry {
            port: String::new(),
            channel: 0,
            cc: None,
            is_14_bit: false,
            target,
            range,
            is_exponential: is_hz && range.0 > 0.0 && range.1 > 0.0,
        };
        Ok(Self {
            entry,
            file: file.to_owned(),
        })
    }

    /// Binds the controller of `message`, and writes it to the session's file. The text that is there stays.
    fn bind(
        mut self,
        (engine, host): (&mut Engine, &mut dyn PlayHost),
        (port, [status, number, _]): (&str, [u8; 3]),
        control: Option<&mut ControlWays>,
    ) -> Result<String, String> {
        let entry = &mut self.entry;
        entry.port = port.to_owned();
        entry.channel = (status & 15) + 1;
        entry.cc = (status & 0xf0 == 0xb0).then_some(number & 127);
        let mut bindings = engine.controllers().to_vec();
        bindings.push(controller_binding(entry));
        host.bind_controllers(engine, bindings)
            .map_err(|error| error.to_string())?;
        if let Some(control) = control {
            control.keep_controller(entry);
        }
        let file = self.file.display();
        let failed = |error: std::io::Error| format!("{file} is not written: {error}");
        let mut text = std::fs::read_to_string(&self.file).map_err(failed)?;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text += &controller_text(entry);
        divisi::files::replace(&self.file, text).map_err(failed)?;
        let what = match entry.cc {
            Some(number) => format!("controller {number}"),
            None => "the bend wheel".to_owned(),
        };
        let ControllerEntry {
            channel, target, ..
        } = entry;
        Ok(format!(
            "learned: {what} on channel {channel} of `{port}` sets `{target}`; {file} has it"
        ))
    }
}

/// Live ports of a run.
pub(crate) struct LivePorts {
    pub(crate) learning: Option<Learning>,
    /// The session's file.
    pub(crate) file: PathBuf,
}

impl LivePorts {
    /// Makes connections to ports that have appeared, keeps those that there are for the next save, and learns. Returns
    /// messages.
    pub(crate) fn update(
        &mut self,
        engine: &mut Engine,
        (running, host): (&dyn RunningDriver, &mut dyn PlayHost),
        mut control: Option<&mut ControlWays>,
    ) -> Option<String> {
        if let Some(connections) = running.update_connections() {
            host.note_connections(&connections);
            if let Some(control) = &mut control {
                control.keep_connections(connections);
            }
        }
        let asked = control.as_mut().and_then(|control| {
            let asked = control.take_learning()?;
            let graph = host.graph(engine);
            Some(Learning::new(
                asked,
                &self.file,
                (&graph, control.catalogue()),
            ))
        });
        match asked {
            Some(Ok(learning)) => {
                // Only what moves from now on counts.
                engine.take_controller_messages();
                self.learning = Some(learning);
            }
            Some(Err(failure)) => return Some(failure.message()),
            None => {}
        }
        let (port, message) = engine.take_controller_messages().pop()?;
        let learning = self.learning.take()?;
        match learning.bind((engine, host), (&port, message), control) {
            Ok(message) | Err(message) => Some(message),
        }
    }
}

/// Number of MIDI messages that were lost, and notes that say where.
pub(crate) fn lost_midi(engine: &Engine, losses: MidiLosses) -> (u64, Vec<String>) {
    let mut notes = Vec::new();
    let mut count = 0;
    for (port, lost) in engine.lost_midi() {
        count += lost;
        notes.push(format!(
            "{lost} events of the MIDI port `{port}` found no room"
        ));
    }
    let max = MAX_SYSEX_BYTES;
    let of_driver = [
        (losses.too_long, format!("are longer than {max} bytes")),
        (losses.no_room, "found no room at the driver".to_owned()),
    ];
    for (lost, what) in of_driver.into_iter().filter(|(lost, _)| *lost > 0) {
        count += lost;
        notes.push(format!("{lost} MIDI messages {what}"));
    }
    (count, notes)
}

/// Connections of a session, for the driver.
pub(crate) fn connections(all: &[(String, Vec<String>)]) -> Vec<PortConnections> {
    let each = all.iter().map(|(port, others)| PortConnections {
        port: port.clone(),
        others: others.clone(),
    });
    each.collect()
}

/// `NODE.PARAM`, or `NODE.PARAM=LOW..HIGH`.
pub(crate) fn parse_target(text: &str) -> Result<LearnRequest, Failure> {
    let Some((target, range)) = text.split_once('=') else {
        return Ok((text.trim().to_owned(), None));
    };
    let number = |text: &str| text.trim().parse().ok().filter(|it: &f64| it.is_finite());
    let ends = range.split_once("..");
    let range = ends.and_then(|(low, high)| Some([number(low)?, number(high)?]));
    match range {
        Some(range) => Ok((target.trim().to_owned(), Some(range))),
        None => Err(Failure::bad_input(
            "a range is two numbers: tone.freq=100..8000",
        )),
    }
}

/// A parameter of a node.
fn find_param<'c>((graph, catalogue): (&Graph, &'c Catalogue), target: &str) -> Option<&'c Param> {
    let (node, param) = target.rsplit_once('.')?;
    let (_, node) = graph.nodes().find(|(_, it)| it.name == node)?;
    Some(catalogue.get(node.effective_kind())?.param(param)?.1)
}

/// Range of a parameter; of a frequency what can be heard.
fn usual_range(param: Option<&Param>, target: &str) -> Result<(f64, f64), Failure> {
    let Some(param) = param else {
        let message = format!("`{target}` is no parameter");
        return Err(Failure::bad_input(message));
    };
    match param.range {
        ParamRange::Number { min, max, .. } if param.unit == "Hz" => {
            Ok((min.max(AUDIBLE_HZ.0), max.min(AUDIBLE_HZ.1)))
        }
        ParamRange::Number { min, max, .. } if min.is_finite() && max.is_finite() => Ok((min, max)),
        ParamRange::Number { .. } => {
            let message = format!("`{target}` has no end: give a range, {target}=0..1");
            Err(Failure::bad_input(message))
        }
        _ => {
            let message = format!("`{target}` is no parameter with a number");
            Err(Failure::bad_input(message))
        }
    }
}
