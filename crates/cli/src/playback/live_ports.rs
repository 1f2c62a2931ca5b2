//! Live ports of a run: connections that are found again, and controllers that are learned.

use crate::failure::Failure;
use crate::playback::control::ControlWays;
use crate::session::load::LoadedSession;
use divisi::control::controller_binding;
use divisi::driver::{PortConnections, RunningDriver};
use divisi::graph::ParamRange;
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
    pub(crate) fn new(text: &str, file: &Path, loaded: &LoadedSession) -> Result<Self, Failure> {
        if file.extension().is_none_or(|extension| extension != "toml") {
            let message = "--learn writes into a .toml session; this one is none";
            return Err(Failure::bad_input(message));
        }
        let (target, range) = match text.split_once('=') {
            Some((target, range)) => (target.trim(), Some(range)),
            None => (text.trim(), None),
        };
        let (range, is_exponential) = match range.map(parse_range) {
            Some(Some(range)) => (range, false),
            Some(None) => {
                let message = "a range is two numbers: --learn tone.freq=100..8000";
                return Err(Failure::bad_input(message));
            }
            None => usual_range(loaded, target)?,
        };
        let unit_is_hz = unit(loaded, target) == Some("Hz");
        let entry = ControllerEntry {
            port: String::new(),
            channel: 0,
            cc: None,
            is_14_bit: false,
            target: target.to_owned(),
            range,
            is_exponential: is_exponential || (unit_is_hz && range.0 > 0.0 && range.1 > 0.0),
        };
        Ok(Self {
            entry,
            file: file.to_owned(),
        })
    }

    /// Binds the controller of `message`, and writes it to the session's file. The text that is there stays.
    fn bind(
        mut self,
        engine: &mut Engine,
        port: &str,
        [status, number, _]: [u8; 3],
        control: Option<&mut ControlWays>,
    ) -> Result<String, String> {
        let entry = &mut self.entry;
        entry.port = port.to_owned();
        entry.channel = (status & 15) + 1;
        entry.cc = (status & 0xf0 == 0xb0).then_some(number & 127);
        let mut bindings = engine.controllers().to_vec();
        bindings.push(controller_binding(entry));
        engine
            .set_controllers(bindings)
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
        divisi::files::write(&self.file, text).map_err(failed)?;
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
#[derive(Default)]
pub(crate) struct LivePorts {
    pub(crate) learning: Option<Learning>,
}

impl LivePorts {
    /// Makes connections to ports that have appeared, keeps those that there are for the next save, and learns. Returns
    /// messages.
    pub(crate) fn update(
        &mut self,
        engine: &mut Engine,
        running: &dyn RunningDriver,
        mut control: Option<&mut ControlWays>,
    ) -> Option<String> {
        if let (Some(connections), Some(control)) = (running.update_connections(), &mut control) {
            control.keep_connections(connections);
        }
        let (port, message) = engine.take_controller_messages().pop()?;
        let learning = self.learning.take()?;
        match learning.bind(engine, &port, message, control) {
            Ok(message) | Err(message) => Some(message),
        }
    }
}

/// Connections of a session, for the driver.
pub(crate) fn connections(all: &[(String, Vec<String>)]) -> Vec<PortConnections> {
    let each = all.iter().map(|(port, others)| PortConnections {
        port: port.clone(),
        others: others.clone(),
    });
    each.collect()
}

fn parse_range(text: &str) -> Option<(f64, f64)> {
    let (low, high) = text.split_once("..")?;
    let number = |text: &str| text.trim().parse().ok().filter(|it: &f64| it.is_finite());
    Some((number(low)?, number(high)?))
}

/// Unit of a parameter.
fn unit(loaded: &LoadedSession, target: &str) -> Option<&'static str> {
    let (node, param) = target.rsplit_once('.')?;
    let nodes = loaded.session.graph.nodes();
    let (_, node) = nodes.into_iter().find(|(_, it)| it.name == node)?;
    let kind = loaded.registry.catalogue().get(node.effective_kind())?;
    Some(kind.param(param)?.1.unit)
}

/// Range of a parameter, and true if it is a frequency.
fn usual_range(loaded: &LoadedSession, target: &str) -> Result<((f64, f64), bool), Failure> {
    let range = || {
        let (node, param) = target.rsplit_once('.')?;
        let (_, node) = loaded
            .session
            .graph
            .nodes()
            .find(|(_, it)| it.name == node)?;
        let kind = loaded.registry.catalogue().get(node.effective_kind())?;
        match kind.param(param)?.1.range {
            ParamRange::Number { min, max, .. } => Some((min, max)),
            _ => None,
        }
    };
    let Some((min, max)) = range() else {
        let message = format!("`{target}` is no parameter with a number");
        return Err(Failure::bad_input(message));
    };
    if unit(loaded, target) == Some("Hz") {
        return Ok(((min.max(AUDIBLE_HZ.0), max.min(AUDIBLE_HZ.1)), true));
    }
    match min.is_finite() && max.is_finite() {
        true => Ok(((min, max), false)),
        false => {
            let message = format!("`{target}` has no end: give a range, --learn {target}=0..1");
            Err(Failure::bad_input(message))
        }
    }
}
