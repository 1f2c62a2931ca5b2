//! The device of a live run: which driver is opened, and how.

use crate::failure::Failure;
use crate::playback::live_ports;
use crate::session::load::{LoadedSession, output_channels};
use crate::session::options::PlayOptions;
use clap::{Args, ValueEnum};
use divisi::driver::{self, BarPosition, DriverConfig, DriverError, DriverInfo, OpenDriver};
use divisi::graph::{TempoMap, error_chain};
use divisi::plan::PlanOptions;
use divisi::prelude::SampleRate;

/// Options of the device.
#[derive(Args)]
pub(crate) struct DeviceOptions {
    /// The driver; auto is JACK or PipeWire if one of them runs, else ALSA if there is a sound card, else the clock
    #[arg(long, value_enum, default_value_t = Driver::Auto)]
    driver: Driver,

    /// The device: an ALSA PCM (`hw:0`, `plughw:1,0`, `default`, `null`), or the name of a JACK server
    #[arg(long, value_name = "NAME")]
    device: Option<String>,

    /// The transport: own; jack follows the server's; jack-master follows it too and gives it bars and beats
    #[arg(long, value_enum, default_value_t = TransportSource::Own)]
    transport: TransportSource,

    /// MIDI clock: follow the one that comes in at the port clock_in, give one at clock_out, or both
    #[arg(long, value_enum)]
    midi_clock: Option<MidiClock>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TransportSource {
    Own,
    Jack,
    JackMaster,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MidiClock {
    Follow,
    Give,
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
enum Driver {
    Auto,
    Jack,
    Alsa,
    Clock,
}

impl DeviceOptions {
    /// Returns true if the MIDI clock of another program is followed.
    pub(crate) fn follows_clock(&self) -> bool {
        self.midi_clock.is_some_and(|it| it != MidiClock::Give)
    }

    /// Returns true if a MIDI clock is given.
    pub(crate) fn gives_clock(&self) -> bool {
        self.midi_clock.is_some_and(|it| it != MidiClock::Follow)
    }

    /// Returns true if the transport of the server is followed.
    pub(crate) fn follows_transport(&self) -> bool {
        self.transport != TransportSource::Own
    }

    /// Plays through the driver of this name, where the call names none.
    pub(crate) fn settle(&mut self, name: &str) {
        if let Driver::Auto = self.driver {
            self.driver = match name {
                "jack" => Driver::Jack,
                "alsa" => Driver::Alsa,
                _ => Driver::Clock,
            };
        }
    }

    /// Configuration of the driver. A graph that cannot play is refused before anything is opened.
    pub(crate) fn config(
        &self,
        loaded: &LoadedSession,
        play: &PlayOptions,
        is_recorded: bool,
    ) -> Result<DriverConfig, Failure> {
        let mut config = DriverConfig::new(&loaded.client_name(), play.block(loaded));
        let ports = loaded.midi_ports();
        (config.midi_inputs, config.midi_outputs) = (ports.inputs, ports.outputs);
        config.connections = live_ports::connections(&loaded.live.connections);
        let options = PlanOptions::new(config.block, play.rate(loaded));
        let plan = loaded
            .plan(&options)
            .map_err(|wrong| loaded.graph_failure(&wrong))?;
        config.rate = play.requested_rate(loaded);
        config.server = self.named_device()?;
        config.follow_transport = self.follows_transport();
        config.outputs = output_channels(&plan);
        config.inputs = match play.input {
            None => loaded.input_channels(),
            Some(_) => 0,
        };
        // After the ports of nodes.
        if self.follows_clock() {
            config.midi_inputs.push("clock_in".into());
        }
        if self.gives_clock() {
            config.midi_outputs.push("clock_out".into());
        }
        if config.outputs == 0 && is_recorded {
            return Err(Failure::bad_input(
                "there is nothing to record: the session has no `sink`",
            ));
        }
        Ok(config)
    }

    /// Device that was named. The clock has none, and for `auto` it would depend on the driver what a name means.
    fn named_device(&self) -> Result<Option<String>, Failure> {
        match self.driver {
            Driver::Auto | Driver::Clock if self.device.is_some() => {
                let message = "--device needs --driver alsa or --driver jack";
                Err(Failure::bad_input(message))
            }
            _ => Ok(self.device.clone()),
        }
    }

    /// Opens the driver. Returns a message that names it.
    pub(crate) fn open(
        &self,
        config: &DriverConfig,
    ) -> Result<(Box<dyn OpenDriver>, String), Failure> {
        let opened = match self.driver {
            Driver::Auto => {
                return match driver::open_auto(config) {
                    Ok(chosen) => Ok((chosen.driver, chosen.message)),
                    Err(error) => Err(to_failure(error)),
                };
            }
            Driver::Jack => driver::jack::open(config),
            Driver::Alsa => driver::alsa::open(config),
            Driver::Clock => driver::clock::open(config),
        };
        let opened = opened.map_err(to_failure)?;
        let info = opened.info();
        let message = match info.server.as_str() {
            "" => format!("playing by the {}, without a device", info.name),
            server => format!("playing through {server}, {}", info.rate),
        };
        Ok((opened, message))
    }

    /// Refuses to follow a transport where there is none, and gives bars and beats to that of the server.
    pub(crate) fn check_transport(
        &self,
        loaded: &LoadedSession,
        opened: &mut dyn OpenDriver,
        info: &DriverInfo,
    ) -> Result<(), Failure> {
        if !self.follows_transport() && self.midi_clock.is_none() {
            return Ok(());
        }
        if self.follows_transport() && info.name != "jack" {
            let message = format!(
                "the {} has no transport: this needs --driver jack",
                info.name
            );
            return Err(Failure::failed(message));
        }
        if self.midi_clock.is_some() && !info.has_midi {
            let refused = info.refused.iter().find(|what| what.starts_with("MIDI"));
            let reason = refused.map_or("there are none", String::as_str);
            let message = format!("--midi-clock needs MIDI ports: {reason}");
            return Err(Failure::failed(message));
        }
        if self.transport == TransportSource::JackMaster {
            let (map, rate) = (loaded.session.graph.tempo().clone(), info.rate);
            opened
                .give_timebase(Box::new(move |frame| bar_position(&map, rate, frame)))
                .map_err(to_failure)?;
        }
        Ok(())
    }
}

/// Bar and beat of a frame.
fn bar_position(map: &TempoMap, rate: SampleRate, frame: u64) -> BarPosition {
    let beat = map.beat_at(frame, rate);
    let (bar, since) = map.bar(beat);
    let (begin, metre) = map.bar_begin(bar);
    let unit = 4.0 / f64::from(metre.denominator);
    BarPosition {
        bar,
        beat: since / unit,
        bar_begin: begin / unit,
        beats: metre.numerator,
        unit: metre.denominator,
        bpm: map.bpm(beat) / unit,
    }
}

/// Converts a driver's error. A block size or channel count that no driver plays is bad input (exit code 2).
pub(crate) fn to_failure(error: DriverError) -> Failure {
    match error {
        DriverError::Block(_)
        | DriverError::Channels(_)
        | DriverError::MidiPorts(_)
        | DriverError::AlsaRate { .. } => Failure::from_input_error(error),
        DriverError::NoLibrary | DriverError::NoServer | DriverError::NoAlsaLibrary => {
            let message = format!("{}, or play with --driver clock", error_chain(&error));
            Failure::failed(message)
        }
        _ => Failure::failed(error_chain(&error)),
    }
}
