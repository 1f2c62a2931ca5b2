//! The JACK driver: a JACK server, or PipeWire, asks for blocks.
//!
//! # How JACK is loaded
//!
//! ```text
//!   open ─▶ dlopen("libjack.so.0") ─ answers? ─▶ a JACK server (or PipeWire, where it has replaced JACK)
//!               │ no server
//!               └─▶ dlopen("/usr/lib/*/pipewire-0.3/jack/libjack.so.0") ─▶ PipeWire
//! ```
//!
//! The library is opened at run time (`library.rs`), so the build needs no JACK, and a machine without it still has the
//! other drivers. Its functions are called directly: the crate `jack` 0.13 was rejected on 2026-11-21, because
//! its `jack-sys` 0.5.1 refuses to build on Linux without `pkg-config` and JACK's development files even when it loads
//! the library at run time, because it can only load the first library of one name, and because it makes two
//! exclusive references to one handler when an xrun and a process callback meet.
//!
//! # Who touches what, from [`OpenDriver::start`] to [`RunningDriver::stop`]
//!
//! | what | by whom |
//! |---|---|
//! | `callbacks::ClientStatus`: counts and flags | every JACK callback, and the thread that asks for the state: atomics |
//! | `callbacks::CallbackState`: the callback, the block adapter, the ports | the process callback alone |
//! | the client's handle | the thread that opened it; the process callback, for its times |
//!
//! JACK calls process from one thread, never twice at once. After the client is closed nothing is called any more,
//! and the state is the opener's again.

mod callbacks;
mod client;
mod graph;
mod library;
mod midi;
mod probe;
mod transport;

use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

use units::{Frames, SampleRate};

use crate::connections::{Connections, PortDirection};
use crate::midi::MidiLossCounts;
use crate::{
    AudioCallback, BlockAdapter, DriverConfig, DriverError, DriverInfo, DriverState, MidiLosses,
    OpenDriver, PortConnections, RunningDriver, ServerTransport, Timebase,
};
use callbacks::ClientState;
use client::Client;
use library::{Library, RawPort, Server};
use midi::MidiSide;
pub(crate) use probe::probe;
use transport::Follower;

/// Opens the JACK driver: on a JACK server where one answers, else on PipeWire's.
///
/// It never starts a server.
///
/// Real-time: setup.
pub fn open(config: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    config.check()?;
    let jackd = Library::load(Server::Jackd).and_then(|library| open_with(library, config));
    match jackd {
        Err(refused) if library::pipewire_answers(config.server.as_deref()) => {
            open_pipewire(config).map_err(|other| refused.over(other))
        }
        result => result,
    }
}

/// Opens the JACK driver on PipeWire only.
///
/// Real-time: setup.
pub fn open_pipewire(config: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    config.check()?;
    Library::load(Server::PipeWire).and_then(|library| open_with(library, config))
}

fn open_with(
    library: &'static Library,
    config: &DriverConfig,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    let client = Client::open(library, &config.name, config.server.as_deref())?;
    let rate = SampleRate::new(client.rate()).ok_or(DriverError::NoServer)?;
    let buffer = Frames(client.buffer());
    let mut refused = Vec::new();
    if config.rate.is_some_and(|wanted| wanted != rate) {
        refused.push(format!(
            "another sample rate than the server's {rate}: restart the server at the rate you want"
        ));
    }
    let priority = client.priority();
    if priority.is_none() {
        refused.push(
            "real-time priority: the server runs without; start it with it (jackd -R)".to_owned(),
        );
    }
    let adapter = BlockAdapter::new(config.block, buffer, config.inputs, config.outputs);
    let info = DriverInfo {
        name: "jack",
        server: library.server(),
        rate,
        buffer_size: buffer,
        adapter_latency: adapter.latency(),
        device_latency: client.device_latency(),
        priority,
        has_midi: config.has_midi(),
        refused,
    };
    Ok(Box::new(OpenClient {
        info,
        adapter,
        client,
        config: config.clone(),
        timebase: None,
    }))
}

/// A client that is known to the server and not active.
struct OpenClient {
    info: DriverInfo,
    adapter: BlockAdapter,
    client: Client,
    config: DriverConfig,
    timebase: Option<Box<Timebase>>,
}

/// An active client. It is dropped, and so closed, before the state that its callbacks use.
struct ActiveClient {
    client: Client,
    connections: Mutex<Connections<CString>>,
    state: Arc<ClientState>,
    follows: bool,
    losses: Arc<MidiLossCounts>,
    /// The server reads it until the client is closed.
    _timebase: Option<Box<Timebase>>,
}

impl OpenDriver for OpenClient {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn give_timebase(&mut self, timebase: Timebase) -> Result<(), DriverError> {
        self.timebase = Some(Box::new(timebase));
        Ok(())
    }

    fn start(
        self: Box<Self>,
        callback: Box<dyn AudioCallback>,
    ) -> Result<Box<dyn RunningDriver>, DriverError> {
        let OpenClient {
            info,
            adapter,
            client,
            config,
            timebase,
        } = *self;
        let inputs = client.register(PortDirection::Input, config.inputs)?;
        let outputs = client.register(PortDirection::Output, config.outputs)?;
        let midi_inputs = client.register_midi(PortDirection::Input, &config.midi_inputs)?;
        let midi_outputs = client.register_midi(PortDirection::Output, &config.midi_outputs)?;
        let own = [
            (&inputs, PortDirection::Input),
            (&outputs, PortDirection::Output),
            (&midi_inputs, PortDirection::Input),
            (&midi_outputs, PortDirection::Output),
        ];
        let own = own.into_iter().flat_map(|(ports, direction)| {
            let client = &client;
            ports
                .iter()
                .map(move |port| client.own_port(*port, direction))
        });
        let connections = Connections::new(own.collect(), &config.connections);
        let losses = Arc::<MidiLossCounts>::default();
        let midi = MidiSide::new(midi_inputs, midi_outputs, losses.clone());
        let free_inputs = unconnected(&inputs, "in", &config.connections);
        let free_outputs = unconnected(&outputs, "out", &config.connections);
        let audio = (inputs, outputs);
        let follower = (config.follow_transport).then(|| Follower::new(config.block.0));
        let midi = (midi, follower);
        let state = ClientState::new(&client, info.rate, adapter, audio, midi, callback);
        let active = ActiveClient {
            client,
            connections: Mutex::new(connections),
            state: Arc::new(state),
            follows: config.follow_transport,
            losses,
            _timebase: timebase,
        };
        if let Some(timebase) = &active._timebase {
            // SAFETY: `ActiveClient` closes the client before it lets go of the timebase, which stays where it is.
            unsafe { active.client.give_timebase(timebase)? };
        }
        // SAFETY: a state in an `Arc` stays where it is, and `ActiveClient` closes the client before it lets go of it.
        unsafe { active.client.activate(&active.state)? };
        if config.auto_connect {
            active.client.connect(&free_inputs, &free_outputs);
        }
        Ok(Box::new(active))
    }
}

/// The ports `WORD_1`, `WORD_2`, …; null in place of those that the configuration connects.
fn unconnected(
    ports: &[*mut RawPort],
    word: &str,
    connections: &[PortConnections],
) -> Vec<*mut RawPort> {
    let named = |name: &str| connections.iter().any(|it| it.port == name);
    let ports =
        ports
            .iter()
            .zip(1..)
            .map(|(port, number)| match named(&format!("{word}_{number}")) {
                true => std::ptr::null_mut(),
                false => *port,
            });
    ports.collect()
}

impl RunningDriver for ActiveClient {
    fn state(&self) -> DriverState {
        self.state.status.state()
    }

    fn update_connections(&self) -> Option<Vec<PortConnections>> {
        if !self.state.status.take_ports_changed() {
            return None;
        }
        let connections = self.connections.lock();
        let mut connections = connections.unwrap_or_else(PoisonError::into_inner);
        connections.restore(&self.client);
        Some(connections.current(&self.client))
    }

    fn midi_losses(&self) -> MidiLosses {
        self.losses.get()
    }

    fn adapter_latency(&self) -> Frames {
        self.state.status.latency()
    }

    fn server_transport(&self) -> Option<Box<dyn ServerTransport>> {
        self.follows
            .then(|| Box::new(self.client.commander()) as Box<dyn ServerTransport>)
    }

    fn stop(self: Box<Self>) -> Box<dyn AudioCallback> {
        let ActiveClient { client, state, .. } = *self;
        drop(client);
        let state = Arc::into_inner(state).expect("nobody else holds it");
        state.into_callback()
    }
}
