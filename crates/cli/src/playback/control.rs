//! Control of a run from outside: the socket, and the session's file when it is saved.

use crate::failure::Failure;
use crate::output::messages;
use crate::patch::PatchOptions;
use crate::playback::nsm::NsmSession;
use crate::playback::run::PlayHost;
use crate::session::load::LoadedSession;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use divisi::control::server::Servers;
use divisi::control::server::osc::OscServer;
use divisi::control::server::unix::UnixServer;
use divisi::control::{ControlError, Controller, FollowedTransport};
use divisi::driver::{PortConnections, RunningDriver, ServerTransport};
use divisi::engine::EngineError;
use divisi::files::{self, FileId};
use divisi::graph::Catalogue;
use divisi::prelude::Engine;
use divisi::text;
use divisi::text::toml::ControllerEntry;
use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

/// Interval at which the session's file is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Options of control.
#[derive(Args)]
pub(crate) struct ControlOptions {
    /// Take commands at this Unix socket, which belongs to you alone; see `divisi send`
    // Empty without a path, which the usual parser of paths refuses.
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "",
        value_parser = OsStringValueParser::new().map(PathBuf::from))]
    socket: Option<PathBuf>,

    /// Take OSC messages over UDP and TCP at this port of this machine; ADDRESS:PORT to listen to others too
    #[arg(long, value_name = "PORT")]
    osc: Option<String>,

    /// Play the session's file anew whenever it, or a file that it includes, is saved; a broken one changes nothing and prints its mistakes
    #[arg(long)]
    reload: bool,
}

/// The socket of `--socket` without a path: one for each user.
pub(crate) fn default_socket() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) => Path::new(&folder).join("divisi.sock"),
        None => {
            let user = rustix::process::getuid().as_raw();
            std::env::temp_dir().join(format!("divisi-{user}.sock"))
        }
    }
}

/// A run's ways in. Without any, it only waits.
pub(crate) struct ControlWays {
    controller: Controller,
    servers: Servers,
    watched: Option<WatchedFiles>,
    nsm: Option<NsmSession>,
    /// True for a session that can have sections.
    has_sections: bool,
}

/// The session's file with those that it includes, and how they were when they were read.
struct WatchedFiles {
    path: PathBuf,
    /// Files that the session included when it was last read.
    included: Rc<RefCell<Vec<PathBuf>>>,
    seen: Vec<Stamp>,
    /// Their state at the last look.
    last: Vec<Stamp>,
    /// The file has changed, and has not been played yet.
    is_pending: bool,
    next_look: Instant,
}

impl ControlOptions {
    /// Listens for clients.
    pub(crate) fn listen(&self) -> Result<Servers, Failure> {
        Ok(Servers {
            unix: self.listen_unix()?,
            osc: self.listen_osc()?,
        })
    }

    /// Opens the ways in, with `servers` that listen; `None` if there is none.
    pub(crate) fn open(
        &self,
        path: &Path,
        (loaded, rate_hz): (&LoadedSession, u32),
        (servers, nsm): (Servers, Option<NsmSession>),
        host: &dyn PlayHost,
    ) -> Result<Option<ControlWays>, Failure> {
        if self.socket.is_none() && self.osc.is_none() && !self.reload && nsm.is_none() {
            return Ok(None);
        }
        let session = (path.to_owned(), loaded.session.clone());
        let registry = host.registry(loaded);
        let included = Rc::new(RefCell::new(loaded.included_files()));
        let read_included = included.clone();
        let patch = loaded.patch.clone();
        let read = move |path: &Path| read_session(path, &patch, &read_included);
        let mut controller = Controller::new(registry, session, rate_hz, read);
        host.extend(&mut controller);
        // What a killed program left beside the session.
        files::remove_abandoned(path.parent().unwrap_or(Path::new("")));
        let watched = self.reload.then(|| WatchedFiles::new(path, included));
        Ok(Some(ControlWays {
            controller,
            servers,
            watched,
            nsm,
            has_sections: path
                .extension()
                .is_some_and(|extension| extension == "toml"),
        }))
    }

    /// Listens at the path of `--socket`, if it is given; an empty one is the user's.
    fn listen_unix(&self) -> Result<Option<UnixServer>, Failure> {
        let Some(asked) = &self.socket else {
            return Ok(None);
        };
        let path = match asked.as_os_str().is_empty() {
            true => default_socket(),
            false => asked.to_owned(),
        };
        let server = UnixServer::listen(&path).map_err(|error| {
            Failure::failed(format!("cannot listen at {}: {error}", path.display()))
        })?;
        Ok(Some(server))
    }

    fn listen_osc(&self) -> Result<Option<OscServer>, Failure> {
        let Some(asked) = &self.osc else {
            return Ok(None);
        };
        let port = asked
            .parse()
            .map(|port: u16| (Ipv4Addr::LOCALHOST, port).into());
        let address: SocketAddr = port.or_else(|_| asked.parse()).map_err(|_| {
            let message = format!("`{asked}` is no port, nor an address with a port");
            Failure::bad_input(message)
        })?;
        let cannot = |error| Failure::failed(format!("cannot listen at {address}: {error}"));
        let server = OscServer::listen(address).map_err(cannot)?;
        let listens = server.address().map_err(cannot)?;
        messages::print_message(&format!("OSC at {listens}"));
        Ok(Some(server))
    }
}

/// Reads a session; an error is its mistakes, as a terminal shows them. Keeps which files it includes.
fn read_session(
    path: &Path,
    patch: &PatchOptions,
    included: &RefCell<Vec<PathBuf>>,
) -> Result<text::Session, String> {
    let loaded = LoadedSession::read_with(path, patch).map_err(|failure| failure.message())?;
    let files = loaded.included_files();
    if loaded.mistakes().is_none() || !files.is_empty() {
        *included.borrow_mut() = files;
    }
    match loaded.mistakes() {
        Some(mistakes) => Err(mistakes),
        None => {
            // What is no reason to refuse it: an object of a patch that there is not.
            loaded.print_diagnostics(&loaded.diagnostics);
            Ok(loaded.session)
        }
    }
}

impl ControlWays {
    /// The parameter that a client has asked to be learned.
    pub(crate) fn take_learning(&mut self) -> Option<divisi::control::LearnRequest> {
        self.controller.take_learning()
    }

    /// All kinds of nodes.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        self.controller.catalogue()
    }

    /// Keeps a controller that was learned for the next save.
    pub(crate) fn keep_controller(&mut self, entry: &ControllerEntry) {
        text::toml::add_controller(self.controller.session_mut(), entry);
    }

    /// Keeps the connections of live ports for the next save. Only `.toml` sessions have room for them.
    pub(crate) fn keep_connections(&mut self, connections: Vec<PortConnections>) {
        let all = connections.into_iter().map(|it| (it.port, it.others));
        let all: Vec<(String, Vec<String>)> = all.collect();
        if self.has_sections {
            text::toml::set_connections(self.controller.session_mut(), &all);
        }
    }

    /// Passes commands of the transport on to the server, if its transport is followed.
    pub(crate) fn follow_transport(&mut self, running: &dyn RunningDriver) {
        if let Some(server) = running.server_transport() {
            let server = Box::new(ServerCommands(server));
            self.controller.follow_transport(server);
        }
    }

    /// Serves clients for at most `time`, and plays a file that was saved. Gives what the user is to be told.
    pub(crate) fn serve(&mut self, engine: &mut Engine, time: Duration) -> Vec<String> {
        self.servers.serve(&mut self.controller, engine, time);
        let mut told = match &mut self.nsm {
            Some(nsm) => nsm.serve(&mut self.controller, engine),
            None => Vec::new(),
        };
        if let Some(watched) = &mut self.watched {
            told.extend(watched.look(&mut self.controller, engine));
        }
        told
    }
}

/// Commands of the transport, passed on to a server.
struct ServerCommands(Box<dyn ServerTransport>);

impl FollowedTransport for ServerCommands {
    fn start(&self) {
        self.0.start();
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn locate(&self, frame: u64) {
        self.0.locate(frame);
    }
}

impl WatchedFiles {
    fn new(path: &Path, included: Rc<RefCell<Vec<PathBuf>>>) -> Self {
        let mut watched = Self {
            path: path.to_owned(),
            included,
            seen: Vec::new(),
            last: Vec::new(),
            is_pending: false,
            next_look: Instant::now(),
        };
        watched.seen = watched.stamps();
        watched
    }

    fn stamps(&self) -> Vec<Stamp> {
        let included = self.included.borrow();
        let own = std::iter::once(&self.path);
        own.chain(included.iter()).map(|path| stamp(path)).collect()
    }

    /// Plays the file if it was saved. Gives what the user is to be told.
    fn look(&mut self, controller: &mut Controller, engine: &mut Engine) -> Option<String> {
        if let Some(done) = controller.take_reloaded() {
            return Some(self.told(done));
        }
        let now = Instant::now();
        if now >= self.next_look {
            self.next_look = now + LOOK_INTERVAL;
            let stamps = self.stamps();
            // While an editor replaces the file, there may be none.
            if stamps[0].is_some() && stamps != self.seen {
                // Read when they have stayed as they are for one interval: an editor may still be writing.
                self.is_pending = stamps == self.last;
            }
            self.last = stamps;
        }
        if !self.is_pending {
            return None;
        }
        let before = self.stamps();
        let done = match controller.reload(engine) {
            Err(ControlError::Engine(EngineError::Busy)) => return None,
            done => done.transpose(),
        };
        self.is_pending = false;
        // The session may include other files now; what changed since they were read is seen at the next look.
        self.seen = match self.stamps() {
            now if now.len() == before.len() => before,
            now => now,
        };
        done.map(|done| self.told(done))
    }

    /// A note to the user about a file that was saved.
    fn told(&self, done: Result<usize, ControlError>) -> String {
        let name = self.path.display();
        match done {
            Ok(0) => format!("{name} was saved: nothing changes"),
            Ok(1) => format!("{name} was saved: one change plays"),
            Ok(count) => format!("{name} was saved: {count} changes play"),
            Err(error) => format!("{error}\nthe session plays on as it was"),
        }
    }
}

/// Time, size and identity of a file, by which a change is seen; `None` if there is none.
type Stamp = Option<(SystemTime, u64, Option<FileId>)>;

fn stamp(path: &Path) -> Stamp {
    let facts = path.metadata().ok()?;
    Some((facts.modified().ok()?, facts.len(), FileId::of(path)))
}
