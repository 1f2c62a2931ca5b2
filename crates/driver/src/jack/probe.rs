//! Looks for JACK and PipeWire on this machine.

use super::client::Client;
use super::library::{self, Library, Server};
use crate::{DriverError, ProbeResult};

/// Looks for both servers. A JACK server sees a client come and go.
pub(crate) fn probe() -> Vec<ProbeResult> {
    vec![jackd(), pipewire()]
}

fn jackd() -> ProbeResult {
    let found = |what: String, answers, advice: Option<&str>| ProbeResult {
        driver: "jack",
        description: what,
        is_available: answers,
        advice: advice.map(str::to_owned),
    };
    let Ok(library) = Library::load(Server::Jackd) else {
        let advice = "install jackd2, or pipewire-jack where PipeWire plays";
        return found("JACK: no library".to_owned(), false, Some(advice));
    };
    if library.is_pipewire() {
        let what = "JACK: its library is PipeWire's here".to_owned();
        return found(what, false, None);
    }
    let name = library.server();
    match Client::open(library, "divisi-devices", None) {
        Ok(client) => found(format!("JACK: {name}, {}", abilities(&client)), true, None),
        Err(DriverError::NoServer) => found(
            format!("JACK: {name} is installed, no server answers"),
            false,
            Some("start one: jackd -R -d alsa"),
        ),
        Err(other) => found(format!("JACK: {other}"), false, None),
    }
}

/// Rate, buffer and channels of a server.
fn abilities(client: &Client) -> String {
    let (rate, buffer) = (client.rate(), client.buffer());
    let (inputs, outputs) = client.device_channels();
    format!("{rate} Hz, buffers of {buffer} frames, {outputs} outputs and {inputs} inputs")
}

fn pipewire() -> ProbeResult {
    let answers = library::pipewire_answers(None);
    let library = Library::load(Server::PipeWire).ok();
    let (what, advice) = match (answers, library) {
        (true, Some(library)) => {
            let (name, path) = (library.server(), library.path.display());
            let can = match Client::open(library, "divisi-devices", None) {
                Ok(client) => format!(", {}", abilities(&client)),
                // It may still be starting.
                Err(_) => String::new(),
            };
            (format!("{name} through {path}{can}"), None)
        }
        (true, None) => (
            "PipeWire answers, its JACK library is missing".to_owned(),
            Some("install pipewire-jack"),
        ),
        (false, Some(library)) => (
            format!("{} is installed, no server answers", library.server()),
            Some("start it: systemctl --user start pipewire wireplumber"),
        ),
        (false, None) => ("PipeWire: not here".to_owned(), None),
    };
    ProbeResult {
        driver: "jack",
        description: what,
        is_available: answers && library.is_some(),
        advice: advice.map(str::to_owned),
    }
}
