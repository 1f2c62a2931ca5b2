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
        Ok(client) => {
            let (rate, buffer) = (client.rate(), client.buffer());
            found(
                format!("JACK: {name}, {rate} Hz, buffers of {buffer} frames"),
                true,
                None,
            )
        }
        Err(DriverError::NoServer) => found(
            format!("JACK: {name} is installed, no server answers"),
            false,
            Some("start one: jackd -R -d alsa"),
        ),
        Err(other) => found(format!("JACK: {other}"), false, None),
    }
}

fn pipewire() -> ProbeResult {
    let answers = library::pipewire_answers(None);
    let library = Library::load(Server::PipeWire).ok();
    let (what, advice) = match (answers, library) {
        (true, Some(library)) => {
            let (name, path) = (library.server(), library.path.display());
            (format!("{name} through {path}"), None)
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
