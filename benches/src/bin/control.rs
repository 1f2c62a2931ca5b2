//! What a command from outside costs: from a client's write to the socket to the first changed sample, and the time of
//! edits of large graphs.
//!
//! `control [TIMES]`: so many changes of each kind, 300 without. With `jackd` installed (`jack_lsp` too), the first table is
//! made through it as well, with its dummy driver.
//!
//! A sample counts as changed when the callback that has it ends: what the device's own buffer adds is not in it. Time is in
//! periods. An edit plays when its reply comes, which waits for the swap.

use divisi::control::server::Servers;
use divisi::control::server::unix::{Connection, UnixServer};
use divisi::control::{Command, Controller, Request, read_words};
use divisi::driver::{self, AudioCallback, CallbackInfo, DriverConfig, OpenDriver};
use divisi::engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use divisi::text::{self, toml};
use divisi::units::{Frames, SampleRate};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const RATE_HZ: u32 = 48_000;
const SERVER: &str = "divisi-bench-control";

/// Notes when the output becomes loud.
struct LoudnessWatch {
    inner: EngineCallback,
    is_loud: bool,
    epoch: Instant,
    /// Nanoseconds after the epoch.
    changed: Arc<AtomicU64>,
}

impl AudioCallback for LoudnessWatch {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        self.inner.process(info, inputs, outputs);
        let was_loud = self.is_loud;
        self.is_loud = outputs.iter().any(|it| it.iter().any(|x| *x != 0.0));
        if self.is_loud && !was_loud {
            let now = self.epoch.elapsed().as_nanos() as u64;
            self.changed.store(now, Ordering::Release);
        }
    }
}

/// A session that plays, and what its client sees.
struct Running {
    epoch: Instant,
    changed: Arc<AtomicU64>,
    socket: PathBuf,
}

fn main() {
    let times = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let times: usize = times.unwrap_or(300);
    println!(
        "a parameter, in periods{:>14}{:>9}{:>9}",
        "p50", "p99", "max"
    );
    for block in [64, 256, 1024] {
        let name = format!("clock driver, {block} frames");
        print_row(&name, latencies(block, times, driver::clock::open));
    }
    match start_jackd() {
        None => println!("jackd is not installed"),
        Some(mut server) => {
            let name = "jackd, 256 frames";
            print_row(name, latencies(256, times, driver::jack::open));
            let _ = server.kill();
            let _ = server.wait();
        }
    }
    println!("\n10 edits, in ms{:>22}{:>9}{:>9}", "p50", "p99", "max");
    for (nodes, block) in [(500, 64), (500, 256), (500, 1024), (10_000, 1024)] {
        let name = format!("{nodes} nodes, {block} frames");
        print_row(&name, edits(nodes, block, times / 10));
    }
}

fn print_row(name: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    println!("{name:28}{:>9.2}{:>9.2}{:>9.2}", at(0.5), at(0.99), at(1.0));
}

type Open = fn(&DriverConfig) -> Result<Box<dyn OpenDriver>, driver::DriverError>;

/// From the write to the first changed sample, in periods.
fn latencies(block: u32, times: usize, open: Open) -> Vec<f64> {
    let session = "edges = [\"hiss -> level -> out\"]\n[nodes]\nhiss = { kind = \"noise\" }\n\
                   level = { kind = \"gain\", gain = 0 }\nout = { kind = \"sink\" }\n";
    run(session, block, open, move |running| {
        let mut client = Connection::open(&running.socket).expect("it listens");
        let mut all = Vec::new();
        for _ in 0..times {
            let before = running.epoch.elapsed().as_nanos() as u64;
            ask(&mut client, &["set level.gain 1"]);
            while running.changed.load(Ordering::Acquire) <= before {
                std::thread::sleep(Duration::from_micros(50));
            }
            let ns = running.changed.load(Ordering::Acquire) - before;
            all.push(ns as f64 * f64::from(RATE_HZ) / f64::from(block) / 1e9);
            ask(&mut client, &["set level.gain 0"]);
            // The gain glides to 0, and the next change falls anywhere in a period.
            std::thread::sleep(Duration::from_micros(
                60_000 + all.len() as u64 * 997 % 21_333,
            ));
        }
        all
    })
}

/// From the write of ten edits to the reply, which comes when they play, in ms.
fn edits(nodes: usize, block: u32, times: usize) -> Vec<f64> {
    let mut session = String::from("edges = [\"hiss -> n0\"");
    for i in 1..nodes {
        // Chains of ten behind the first node.
        let from = if i % 10 == 0 { 0 } else { i - 1 };
        session += &format!(", \"n{from} -> n{i}\"");
    }
    session += ", \"n1 -> out\"]\n[nodes]\nhiss = { kind = \"noise\", volume = 0 }\nout = { kind = \"sink\" }\n";
    for i in 0..nodes {
        session += &format!("n{i} = {{ kind = \"gain\", gain = 0.5 }}\n");
    }
    run(&session, block, driver::clock::open, move |running| {
        let mut client = Connection::open(&running.socket).expect("it listens");
        let mut all = Vec::new();
        for round in 0..times.max(3) {
            let words = (0..5).flat_map(|i| {
                let name = format!("x{round}_{i}");
                [
                    format!("add {name} gain gain=0.5"),
                    format!("connect n{} -> {name}", i * 7 + 1),
                ]
            });
            let words: Vec<String> = words.collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let before = Instant::now();
            ask(&mut client, &words);
            all.push(before.elapsed().as_secs_f64() * 1e3);
            // The fade's second swap.
            std::thread::sleep(Duration::from_millis(400));
        }
        all
    })
}

fn ask(client: &mut Connection, words: &[&str]) {
    let commands: Vec<Command> = words
        .iter()
        .map(|it| read_words(it).expect("a command"))
        .collect();
    let request = Request {
        commands,
        ..Request::default()
    };
    client.send(&request).expect("it listens");
    let reply = client.receive().expect("it answers").expect("it answers");
    assert_eq!(reply["ok"], true, "{reply}");
}

/// Plays `session` while `client` runs, as `divisi play --socket` does.
fn run(
    session: &str,
    block: u32,
    open: Open,
    client: impl FnOnce(Running) -> Vec<f64> + Send + 'static,
) -> Vec<f64> {
    let registry = Arc::new(divisi::registry());
    let session = toml::read(session, registry.catalogue()).session;
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let mut config = DriverConfig::new("divisi-bench", Frames(block));
    (config.outputs, config.rate) = (1, Some(rate));
    config.auto_connect = false;
    if open as usize == driver::jack::open as Open as usize {
        config.server = Some(SERVER.into());
    }
    let opened = open(&config).expect("a driver");
    let mut options = EngineOptions::new(Frames(block), rate);
    options.scheduler = Scheduler::Sequential;
    let graph = session.graph.clone();
    let (mut engine, inner) = Engine::new(graph, registry.clone(), options).expect("an engine");
    let (epoch, changed) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let watch = LoudnessWatch {
        inner,
        is_loud: false,
        epoch,
        changed: changed.clone(),
    };
    let socket = std::env::temp_dir().join(format!("divisi-bench-{}.sock", std::process::id()));
    let mut servers = Servers {
        unix: Some(UnixServer::listen(&socket).expect("a socket")),
        osc: None,
    };
    let no_file = |_: &std::path::Path| Err::<text::Session, _>("there is no file".to_owned());
    let mut controller = Controller::new(
        registry,
        (PathBuf::from("x.toml"), session),
        RATE_HZ,
        no_file,
    );
    let driving = opened.start(Box::new(watch)).expect("it starts");
    let is_done = Arc::new(AtomicBool::new(false));
    let done = is_done.clone();
    let client = std::thread::spawn(move || {
        let values = client(Running {
            epoch,
            changed,
            socket,
        });
        done.store(true, Ordering::Release);
        values
    });
    while !is_done.load(Ordering::Acquire) && !client.is_finished() {
        engine.update();
        servers.serve(&mut controller, &mut engine, Duration::from_millis(5));
    }
    drop(driving.stop());
    client.join().expect("every request is answered")
}

fn start_jackd() -> Option<Child> {
    let mut command = std::process::Command::new("jackd");
    command.args(["-n", SERVER, "-d", "dummy", "-r", "48000", "-p", "256"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let server = command.spawn().ok()?;
    // Its clients find it a moment later.
    std::thread::sleep(Duration::from_secs(3));
    Some(server)
}
