//! JACK and PipeWire: the server gives the beat.
//!
//! The library is opened at run time (`library.rs`), so that nothing is needed to build and a machine without it still
//! has the other drivers. Its functions are called directly: the crate `jack` 0.13 was rejected on 2026-11-21, because
//! its `jack-sys` 0.5.1 refuses to build on Linux without `pkg-config` and JACK's development files even when it loads
//! the library at run time, because it can only load the first library of one name, and because it makes two
//! exclusive references to one handler when an xrun and a process callback meet.
//!
//! # Who touches what, from [`OpenDriver::start`] to [`RunningDriver::stop`]
//!
//! | what | by whom |
//! |---|---|
//! | `callbacks::Shared`: counts and flags | every callback, and the thread that asks for the state: atomics |
//! | `callbacks::Part`: the player, the FIFO, the ports | the process callback alone |
//! | the client's handle | the thread that opened it; the process callback, for its times |
//!
//! JACK calls process from one thread, never twice at once. After the client is closed nothing is called any more,
//! and the part is the opener's again.

mod callbacks;
mod client;
mod library;
mod probe;

use std::sync::Arc;

use units::{Frames, SampleRate};

use crate::{
    AudioCallback, BlockAdapter, DriverConfig, DriverError, DriverInfo, DriverState, OpenDriver,
    RunningDriver,
};
use callbacks::Stage;
use client::Client;
use library::{Library, Server};
pub(crate) use probe::probe;

/// Opens the JACK driver: on a JACK server where one answers, else on PipeWire's.
///
/// It never starts a server.
///
/// Real-time: setup.
pub fn open(request: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    request.check()?;
    let jackd = Library::load(Server::Jackd).and_then(|library| open_in(library, request));
    match jackd {
        Err(refused) if library::pipewire_answers(request.server.as_deref()) => {
            open_pipewire(request).map_err(|other| refused.over(other))
        }
        result => result,
    }
}

/// Opens the JACK driver on PipeWire only.
///
/// Real-time: setup.
pub fn open_pipewire(request: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    request.check()?;
    Library::load(Server::PipeWire).and_then(|library| open_in(library, request))
}

fn open_in(
    library: &'static Library,
    request: &DriverConfig,
) -> Result<Box<dyn OpenDriver>, DriverError> {
    let client = Client::open(library, &request.name, request.server.as_deref())?;
    let rate = SampleRate::new(client.rate()).ok_or(DriverError::NoServer)?;
    let buffer = Frames(client.buffer());
    let mut refused = Vec::new();
    if request.rate.is_some_and(|wanted| wanted != rate) {
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
    let fifo = BlockAdapter::new(request.block, buffer, request.inputs, request.outputs);
    let facts = DriverInfo {
        name: "jack",
        server: library.server(),
        rate,
        buffer_size: buffer,
        adapter_latency: fifo.latency(),
        device_latency: client.device_latency(),
        priority,
        refused,
    };
    Ok(Box::new(Ready {
        facts,
        fifo,
        client,
        request: request.clone(),
    }))
}

/// A client that is known to the server and not active.
struct Ready {
    facts: DriverInfo,
    fifo: BlockAdapter,
    client: Client,
    request: DriverConfig,
}

/// An active client. The client is dropped, and so closed, before the stage that its callbacks use.
struct Active {
    client: Client,
    stage: Arc<Stage>,
}

impl OpenDriver for Ready {
    fn info(&self) -> &DriverInfo {
        &self.facts
    }

    fn start(
        self: Box<Self>,
        player: Box<dyn AudioCallback>,
    ) -> Result<Box<dyn RunningDriver>, DriverError> {
        let Ready {
            facts,
            fifo,
            client,
            request,
        } = *self;
        let inputs = client.register(client::Way::In, request.inputs)?;
        let outputs = client.register(client::Way::Out, request.outputs)?;
        let ports = (inputs.clone(), outputs.clone());
        let stage = Stage::new(&client, facts.rate, fifo, inputs, outputs, player);
        let active = Active {
            client,
            stage: Arc::new(stage),
        };
        // SAFETY: a stage in an `Arc` stays where it is, and `Active` closes the client before it lets go of it.
        unsafe { active.client.activate(&active.stage)? };
        if request.auto_connect {
            active.client.connect(&ports.0, &ports.1);
        }
        Ok(Box::new(active))
    }
}

impl RunningDriver for Active {
    fn state(&self) -> DriverState {
        self.stage.shared.state()
    }

    fn adapter_latency(&self) -> Frames {
        self.stage.shared.latency()
    }

    fn stop(self: Box<Self>) -> Box<dyn AudioCallback> {
        let Active { client, stage } = *self;
        drop(client);
        let stage = Arc::into_inner(stage).expect("nobody else holds it");
        stage.into_player()
    }
}
