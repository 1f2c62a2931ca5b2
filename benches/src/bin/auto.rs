//! `--scheduler auto` beside `--scheduler sequential`, as a user has them: the program itself plays each session through a
//! driver in real time, both in turn.
//!
//! `auto DIVISI [--pairs 20] [--seconds 1] [--driver clock|jack] [SESSION …]`. Without sessions: those in `examples`, and
//! every shape at 0 to 2 µs a node. With `--driver jack` a `jackd` with its dummy driver is started, 64 frames at 48 kHz.
//!
//! A row gives medians of pairs, auto over sequential, with quartiles: mean cycle, 99th percentile, processor time while it
//! plays (of all threads, from 0.4 to 0.9 of the run: `auto` reads the state of the machine when it starts).
//! The bar: 1.03, 1.05, and 1.03 of the processor time where auto chose the sequential executor. A row in which it always did
//! compares one executor with itself: what it differs from 1 is the noise of the machine, and says how far the others can
//! be trusted.

use divisi_benches::stats::{median, quartiles};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const BAR: (f64, f64) = (1.03, 1.05);
/// Part of a run over which processor time is taken.
const WINDOW: (f64, f64) = (0.4, 0.9);

/// What a row shows.
#[derive(Clone, Copy, PartialEq)]
enum Row {
    Within,
    /// Above the bar, with several workers in some runs.
    Above,
    /// Above the bar, with the sequential executor in all runs.
    Noise,
}

struct Call {
    divisi: PathBuf,
    pairs: usize,
    seconds: String,
    driver: String,
    sessions: Vec<PathBuf>,
    folder: PathBuf,
}

/// Figures of one run.
struct RunFigures {
    mean_ns: f64,
    p99_ns: f64,
    processor_s: f64,
    xruns: f64,
    scheduler: String,
}

fn main() {
    let call = Call::read();
    let server = (call.driver == "jack").then(start_jack);
    println!(
        "{} pairs of {} s, {}: auto / sequential (quartiles)\n",
        call.pairs, call.seconds, call.driver
    );
    println!(
        "{:28} {:24} {:24} {:10} {:9} chosen",
        "session", "mean", "p99", "cpu time", "xruns"
    );
    let rows: Vec<Row> = call.sessions().iter().map(|it| call.compare(it)).collect();
    let count = |row: Row| rows.iter().filter(|it| **it == row).count();
    println!(
        "\nof {} rows {} are above the bar of {} in the mean and {} at p99; {} more compare the sequential executor with itself",
        rows.len(),
        count(Row::Above),
        BAR.0,
        BAR.1,
        count(Row::Noise)
    );
    if let Some(mut server) = server {
        let _ = server.kill();
        let _ = server.wait();
    }
    let _ = std::fs::remove_dir_all(&call.folder);
}

fn start_jack() -> Child {
    let words = [
        "-n",
        "divisi-auto",
        "-d",
        "dummy",
        "-r",
        "48000",
        "-p",
        "64",
    ];
    let started = Command::new("jackd")
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let child = started.expect("jackd starts: Debian's package jackd2");
    std::thread::sleep(Duration::from_secs(2));
    child
}

impl Call {
    fn read() -> Self {
        let mut words = std::env::args().skip(1);
        let divisi = words.next().expect("the path of the program `divisi`");
        let folder = std::env::temp_dir().join(format!("divisi-auto-{}", std::process::id()));
        let mut call = Self {
            divisi: divisi.into(),
            pairs: 20,
            seconds: "1".into(),
            driver: "clock".into(),
            sessions: Vec::new(),
            folder,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("a value");
            match word.as_str() {
                "--pairs" => call.pairs = value().parse().expect("a number of pairs"),
                "--seconds" => call.seconds = value(),
                "--driver" => call.driver = value(),
                _ => call.sessions.push(word.into()),
            }
        }
        std::fs::create_dir_all(&call.folder).expect("a temporary folder");
        call
    }

    fn sessions(&self) -> Vec<PathBuf> {
        if !self.sessions.is_empty() {
            return self.sessions.clone();
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let files = std::fs::read_dir(folder).expect("the examples");
        let mut examples: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        examples.retain(|path| {
            path.extension()
                .is_some_and(|it| it == "ag" || it == "toml")
        });
        examples.sort();
        examples.retain(|path| self.can_play(path));
        let shapes = [
            ("line", 100),
            ("rake", 101),
            ("diamond", 76),
            ("random", 100),
        ];
        let shapes = shapes
            .into_iter()
            .flat_map(|(shape, nodes)| [0, 500, 1000, 2000].map(|ns| self.shape(shape, nodes, ns)));
        examples.into_iter().chain(shapes).collect()
    }

    fn shape(&self, shape: &str, nodes: u32, ns: u32) -> PathBuf {
        let path = self.folder.join(format!("{shape}-{nodes}-{ns}ns.toml"));
        let mut command = Command::new(&self.divisi);
        command.args([
            "shape",
            shape,
            "--nodes",
            &nodes.to_string(),
            "--work",
            &ns.to_string(),
            "-o",
        ]);
        let made = command.arg(&path).stderr(Stdio::null()).status();
        assert!(
            made.is_ok_and(|status| status.success()),
            "{}",
            path.display()
        );
        path
    }

    /// Returns false for what ends before a second, and for networks and parts.
    fn can_play(&self, session: &Path) -> bool {
        let run = self.run(session, "sequential");
        run.is_some_and(|run| run.mean_ns.is_finite())
    }

    /// Prints a session's row.
    fn compare(&self, session: &Path) -> Row {
        // The first run chooses; later ones take the choice, unless the machine changes.
        self.play(session, "auto");
        let mut ratios: [Vec<f64>; 3] = Default::default();
        let (mut chosen, mut xruns) = (BTreeMap::<String, usize>::new(), (0.0, 0.0));
        for pair in 0..self.pairs {
            let order = if pair % 2 == 0 {
                ["auto", "sequential"]
            } else {
                ["sequential", "auto"]
            };
            let runs = order.map(|scheduler| (scheduler, self.play(session, scheduler)));
            let find = |name: &str| {
                &runs
                    .iter()
                    .find(|(scheduler, _)| *scheduler == name)
                    .unwrap()
                    .1
            };
            let (auto, alone) = (find("auto"), find("sequential"));
            ratios[0].push(auto.mean_ns / alone.mean_ns);
            ratios[1].push(auto.p99_ns / alone.p99_ns);
            ratios[2].push(auto.processor_s / alone.processor_s);
            xruns = (xruns.0 + auto.xruns, xruns.1 + alone.xruns);
            *chosen.entry(auto.scheduler.clone()).or_default() += 1;
        }
        let name = session.file_name().unwrap_or_default().to_string_lossy();
        let [mean, p99, processor] = &mut ratios;
        let row = |all: &mut Vec<f64>| {
            let [low, mid, high] = quartiles(all);
            format!("{mid:.3} ({low:.3} {high:.3})")
        };
        println!(
            "{name:28} {:24} {:24} {:<10.3} {:<9} {chosen:?}",
            row(mean),
            row(p99),
            median(processor),
            format!("{} / {}", xruns.0, xruns.1),
        );
        let is_within = median(mean) <= BAR.0 && median(p99) <= BAR.1;
        match chosen.keys().all(|scheduler| scheduler == "sequential") {
            _ if is_within => Row::Within,
            true => Row::Noise,
            false => Row::Above,
        }
    }

    fn play(&self, session: &Path, scheduler: &str) -> RunFigures {
        let figures = self.run(session, scheduler);
        figures.unwrap_or_else(|| panic!("{}", session.display()))
    }

    /// `None` if it cannot be played.
    fn run(&self, session: &Path, scheduler: &str) -> Option<RunFigures> {
        let json = self.folder.join("report.json");
        let _ = std::fs::remove_file(&json);
        let mut child = Command::new(&self.divisi)
            .arg("play")
            .arg(session)
            .args([
                "--seconds",
                &self.seconds,
                "--block",
                "64",
                "--driver",
                &self.driver,
            ])
            .args(["--scheduler", scheduler, "--json"])
            .arg(&json)
            .env("JACK_DEFAULT_SERVER", "divisi-auto")
            .env("XDG_CACHE_HOME", self.folder.join("cache"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let length: f64 = self.seconds.parse().expect("a number of seconds");
        let wait = |part: f64| std::thread::sleep(Duration::from_secs_f64(part * length));
        wait(WINDOW.0);
        let before = processor_s(child.id());
        wait(WINDOW.1 - WINDOW.0);
        let processor_s = processor_s(child.id()) - before;
        child.wait().ok().filter(|status| status.success())?;
        let text = std::fs::read_to_string(&json).ok()?;
        let report: Value = serde_json::from_str(&text).ok()?;
        let number = |at: &str| {
            report
                .pointer(at)
                .and_then(Value::as_f64)
                .unwrap_or(f64::NAN)
        };
        Some(RunFigures {
            mean_ns: number("/cycle_ns/mean"),
            p99_ns: number("/cycle_ns/p99"),
            processor_s,
            xruns: number("/xruns"),
            scheduler: report["scheduler"].as_str().unwrap_or("?").to_owned(),
        })
    }
}

/// Processor time of all threads of a process so far, in seconds.
fn processor_s(process: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let times = threads
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|thread| {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        });
    times.sum::<f64>() / 1e9
}
