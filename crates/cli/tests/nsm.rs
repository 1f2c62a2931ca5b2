//! `play` under a session manager: a small server that speaks NSM's protocol, and real `nsmd` where it is installed.
#![cfg(target_os = "linux")]

mod common;

use common::Folder;
use common::playing::wait_until;
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Stdio};
use std::time::Duration;

/// An argument of an OSC message.
#[derive(Clone, Debug, PartialEq)]
enum Argument {
    Int(i32),
    Text(String),
}

/// An OSC message of integers and texts.
fn encode(address: &str, arguments: &[Argument]) -> Vec<u8> {
    fn text(bytes: &mut Vec<u8>, text: &str) {
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    }
    let mut bytes = Vec::new();
    text(&mut bytes, address);
    let types = arguments.iter().map(|argument| match argument {
        Argument::Int(_) => 'i',
        Argument::Text(_) => 's',
    });
    text(&mut bytes, &format!(",{}", types.collect::<String>()));
    for argument in arguments {
        match argument {
            Argument::Int(number) => bytes.extend(number.to_be_bytes()),
            Argument::Text(word) => text(&mut bytes, word),
        }
    }
    bytes
}

fn decode(bytes: &[u8]) -> (String, Vec<Argument>) {
    let mut at = 0;
    let mut text = || {
        let len = bytes[at..].iter().position(|byte| *byte == 0).unwrap();
        let text = String::from_utf8(bytes[at..at + len].to_vec()).unwrap();
        at += len / 4 * 4 + 4;
        (text, at)
    };
    let (address, _) = text();
    let (types, mut at) = text();
    let mut arguments = Vec::new();
    for kind in types[1..].chars() {
        if kind == 'i' {
            let number = bytes[at..at + 4].try_into().unwrap();
            arguments.push(Argument::Int(i32::from_be_bytes(number)));
            at += 4;
        } else {
            let len = bytes[at..].iter().position(|byte| *byte == 0).unwrap();
            let word = String::from_utf8(bytes[at..at + len].to_vec()).unwrap();
            arguments.push(Argument::Text(word));
            at += len / 4 * 4 + 4;
        }
    }
    (address, arguments)
}

fn text(word: &str) -> Argument {
    Argument::Text(word.to_owned())
}

/// A server of one client, which it ends when dropped.
struct Manager {
    socket: UdpSocket,
    client: SocketAddr,
    process: Child,
}

impl Manager {
    /// Starts `divisi LINE` and answers its announcement.
    fn start(here: &Folder, line: &str) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let patience = Some(Duration::from_secs(60));
        socket.set_read_timeout(patience).unwrap();
        let port = socket.local_addr().unwrap().port();
        let mut command = here.command(line);
        command.env("NSM_URL", format!("osc.udp://localhost:{port}/"));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let process = command.spawn().unwrap();
        let mut bytes = [0; 4096];
        let (len, client) = socket.recv_from(&mut bytes).unwrap();
        let (address, arguments) = decode(&bytes[..len]);
        assert_eq!(address, "/nsm/server/announce");
        let id = Argument::Int(process.id() as i32);
        let wanted = [
            text("Divisi"),
            text(":dirty:"),
            text("divisi"),
            Argument::Int(1),
        ];
        assert_eq!((&arguments[..4], &arguments[5]), (&wanted[..], &id));
        let manager = Self {
            socket,
            client,
            process,
        };
        let reply = [
            "/nsm/server/announce",
            "hello",
            "the double",
            ":server-control:",
        ];
        manager.send("/reply", &reply.map(text));
        manager
    }

    fn send(&self, address: &str, arguments: &[Argument]) {
        let bytes = encode(address, arguments);
        self.socket.send_to(&bytes, self.client).unwrap();
    }

    fn open(&self, path: &std::path::Path) -> (String, Vec<Argument>) {
        let path = path.to_str().unwrap();
        self.send("/nsm/client/open", &[path, "song", "divisi.nXYZ"].map(text));
        self.receive()
    }

    fn receive(&self) -> (String, Vec<Argument>) {
        let mut bytes = [0; 4096];
        let (len, from) = self.socket.recv_from(&mut bytes).unwrap();
        assert_eq!(from, self.client);
        decode(&bytes[..len])
    }

    /// Ends the client as a session manager does; its exit code and what it printed.
    fn end(self) -> (Option<i32>, String) {
        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.wait()
    }

    /// Waits for a client that ends by itself.
    fn wait(mut self) -> (Option<i32>, String) {
        let mut printed = String::new();
        let mut errors = self.process.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut errors, &mut printed).unwrap();
        (self.process.wait().unwrap().code(), printed)
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const SESSION: &str = "# mine
include = [\"parts/more.toml\"]
edges = [\"tone -> out\", \"song -> out\"]
[nodes]
tone = { kind = \"osc\", freq = 440, volume = 0.1 }
song = { kind = \"player\", file = \"sounds/a.wav\", loop = true }
out = { kind = \"sink\" }
";

fn opened(answer: &(String, Vec<Argument>)) -> bool {
    answer.0 == "/reply" && answer.1[0] == text("/nsm/client/open")
}

#[test]
fn a_session_is_opened_saved_and_opened_again_in_the_servers_folder_and_the_users_file_stays() {
    let here = Folder::new();
    std::fs::create_dir_all(here.path("parts")).unwrap();
    std::fs::create_dir_all(here.path("sounds")).unwrap();
    here.write("mine.toml", SESSION);
    here.write("parts/more.toml", "");
    here.write("sounds/a.wav", common::sound(48_000, &[&[0.1; 480]]));
    let kept = here.path("sessions/divisi.nXYZ");
    let line = "play mine.toml --driver clock --workers 1 --socket s";
    let manager = Manager::start(&here, line);
    let answer = manager.open(&kept);
    assert!(opened(&answer), "{answer:?}");
    let copy = || here.read("sessions/divisi.nXYZ/session.toml");
    assert_eq!(copy(), SESSION.as_bytes());
    for file in ["parts/more.toml", "sounds/a.wav"] {
        let copied = here.read(&format!("sessions/divisi.nXYZ/{file}"));
        assert_eq!(copied, here.read(file));
    }
    let ask = |words: &str| here.command("send --socket s").arg(words).output().unwrap();
    wait_until(|| ask("undo").status.code() == Some(2));
    assert!(ask("set tone.freq 550").status.success());
    let dirty = ("/nsm/client/is_dirty".to_owned(), vec![]);
    assert_eq!(manager.receive(), dirty);
    // Said once, however many changes follow.
    assert!(ask("set tone.volume 0.2").status.success());
    manager.send("/nsm/client/save", &[]);
    let saved = [text("/nsm/client/save"), text("saved")];
    assert_eq!(manager.receive(), ("/reply".to_owned(), saved.to_vec()));
    assert_eq!(manager.receive().0, "/nsm/client/is_clean");
    assert!(String::from_utf8(copy()).unwrap().contains("freq = 550"));
    assert_eq!(here.read("mine.toml"), SESSION.as_bytes());
    // Another open while it plays, a window that there is not, and bytes that are no message: it plays on.
    let answer = manager.open(&kept);
    assert_eq!(
        (answer.0.as_str(), &answer.1[1]),
        ("/error", &Argument::Int(-8))
    );
    manager.send("/nsm/client/show_optional_gui", &[]);
    manager
        .socket
        .send_to(&[0xff; 100], manager.client)
        .unwrap();
    manager.send("/nsm/client/save", &[]);
    assert_eq!(manager.receive().0, "/reply");
    let (code, printed) = manager.end();
    assert_eq!(code, Some(0), "{printed}");
    // The server's file, not the template, is opened the next time.
    here.write("mine.toml", "broken");
    let manager = Manager::start(&here, line);
    assert!(opened(&manager.open(&kept)));
    wait_until(|| ask("undo").status.code() == Some(2));
    let graph = String::from_utf8(ask("query graph").stdout).unwrap();
    assert!(graph.contains("550"), "{graph}");
    assert_eq!(manager.end().0, Some(0));
}

#[test]
fn the_program_without_an_argument_begins_with_an_empty_session() {
    let here = Folder::new();
    let manager = Manager::start(&here, "");
    let answer = manager.open(&here.path("new"));
    assert!(opened(&answer), "{answer:?}");
    let written = String::from_utf8(here.read("new/session.toml")).unwrap();
    assert!(written.contains("kind = \"sink\""), "{written}");
    let (code, printed) = manager.end();
    assert_eq!(code, Some(0), "{printed}");
    here.well("check new/session.toml");
}

#[test]
fn a_session_that_does_not_play_is_an_error_for_the_server_and_its_file_stays() {
    let here = Folder::new();
    std::fs::create_dir_all(here.path("broken")).unwrap();
    here.write("broken/session.toml", "edges = [\"a -> b\"]\n");
    let manager = Manager::start(&here, "");
    let (address, arguments) = manager.open(&here.path("broken"));
    assert_eq!(
        (address.as_str(), &arguments[1]),
        ("/error", &Argument::Int(-9))
    );
    assert_eq!(manager.wait().0, Some(2));
    assert_eq!(here.read("broken/session.toml"), b"edges = [\"a -> b\"]\n");
    // A file that the copy would not find.
    std::fs::create_dir_all(here.path("inner")).unwrap();
    here.write("a.wav", common::sound(48_000, &[&[0.1; 480]]));
    let session = SESSION.replace("sounds/a.wav", "../a.wav");
    let session = session.replace("include = [\"parts/more.toml\"]\n", "");
    here.write("inner/mine.toml", session);
    let manager = Manager::start(&here, "play inner/mine.toml --driver clock");
    let (address, arguments) = manager.open(&here.path("kept"));
    assert_eq!(
        (address.as_str(), &arguments[1]),
        ("/error", &Argument::Int(-10))
    );
    assert!(!here.has("kept/session.toml"));
    let (code, printed) = manager.wait();
    assert!(code == Some(2) && printed.contains("outside"), "{printed}");
}

#[test]
fn without_a_server_at_the_address_the_program_says_so() {
    let here = Folder::new();
    here.write("mine.toml", SESSION);
    let mut command = here.command("play mine.toml --driver clock");
    command.env("NSM_URL", "localhost:1");
    let gave = command.output().unwrap();
    let printed = String::from_utf8_lossy(&gave.stderr).into_owned();
    assert!(printed.contains("osc.udp://"), "{printed}");
    assert_eq!(gave.status.code(), Some(1));
}

/// Debian has no package of it at present; where it was built by hand, it is taken.
#[test]
fn real_nsmd_opens_saves_and_closes_a_session() {
    let test = "real_nsmd_opens_saves_and_closes_a_session";
    let here = Folder::new();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let is_here = |name: &str| std::env::split_paths(&paths).any(|path| path.join(name).is_file());
    if !is_here("nsmd") {
        let why = "needs nsmd (new-session-manager)";
        eprintln!("SKIPPED {test}: {why}");
        if let Some(path) = std::env::var_os("DIVISI_SKIPS") {
            use std::io::Write;
            let mut options = std::fs::OpenOptions::new();
            let file = options.create(true).append(true).open(path);
            writeln!(file.unwrap(), "SKIPPED {test}: {why}").unwrap();
        }
        return;
    }
    std::fs::create_dir_all(here.path("bin")).unwrap();
    let program = env!("CARGO_BIN_EXE_divisi");
    std::os::unix::fs::symlink(program, here.path("bin/divisi")).unwrap();
    let port = {
        let free = UdpSocket::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let mut command = std::process::Command::new("nsmd");
    let port_text = port.to_string();
    command.args(["--session-root", here.path("root").to_str().unwrap()]);
    command.args(["--osc-port", &port_text]);
    let all = std::iter::once(here.path("bin")).chain(std::env::split_paths(&paths));
    command.env("PATH", std::env::join_paths(all).unwrap());
    let mut nsmd = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |address: &str, words: &[&str]| {
        let arguments: Vec<Argument> = words.iter().map(|word| text(word)).collect();
        let bytes = encode(address, &arguments);
        socket.send_to(&bytes, ("127.0.0.1", port)).unwrap();
    };
    // The folder of the session appears as soon as the server listens.
    wait_until(|| {
        send("/nsm/server/new", &["song"]);
        here.has("root/song")
    });
    send("/nsm/server/add", &["divisi"]);
    let session = || {
        let folders = std::fs::read_dir(here.path("root/song")).unwrap();
        let mut files = folders.map(|entry| entry.unwrap().path().join("session.toml"));
        files.find(|file| file.is_file())
    };
    wait_until(|| session().is_some());
    send("/nsm/server/save", &[]);
    send("/nsm/server/close", &[]);
    send("/nsm/server/quit", &[]);
    wait_until(|| matches!(nsmd.try_wait(), Ok(Some(_))));
    assert!(session().is_some());
}
