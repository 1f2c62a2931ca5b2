//! `--scheduler auto` beside `--scheduler sequential`, as a user has them: the program itself plays each session through a
//! driver in real time, both in turn.
//!
//! `auto DIVISI [--pairs 20] [--seconds 1] [--driver clock|jack] [SESSION …]`. Without sessions: those in `examples`, and
//! every shape at 0 to 2 µs a node. With `--driver jack` a `jackd` with its dummy driver is started, 64 frames at 48 kHz.
//!
//! A row gives medians of pairs, auto over sequential: mean cycle, 99th percentile, processor time of the whole program.
//! The bar: 1.03, 1.05, and 1.00 of the processor time where auto chose the sequential executor.

use divisi_benches::stats::{median, quartiles};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const BAR: (f64, f64) = (1.03, 1.05);

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
    let mut misses = 0;
    for session in call.sessions() {
        misses += usize::from(!call.compare(&session));
    }
    println!(
        "\n{misses} above the bar of {} in the mean and {} at p99",
        BAR.0, BAR.1
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
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let names = [
            "01-beep.ag",
            "03-rake-11.ag",
            "04-diamond-16.ag",
            "05-session-64.toml",
            "06-split.ag",
        ];
        let examples = names.map(|name| examples.join(name)).into_iter();
        let shapes = [
            ("line", 100),
            ("rake", 101),
            ("diamond", 76),
            ("random", 100),
        ];
        let shapes = shapes
            .into_iter()
            .flat_map(|(shape, nodes)| [0, 500, 1000, 2000].map(|ns| self.shape(shape, nodes, ns)));
        examples.chain(shapes).collect()
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

    /// Prints a session's row; returns true if it is within the bar.
    fn compare(&self, session: &Path) -> bool {
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
        median(mean) <= BAR.0 && median(p99) <= BAR.1
    }

    fn play(&self, session: &Path, scheduler: &str) -> RunFigures {
        let json = self.folder.join("report.json");
        let _ = std::fs::remove_file(&json);
        let before = children_s();
        let status = Command::new(&self.divisi)
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
            .status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "{}",
            session.display()
        );
        let text = std::fs::read_to_string(&json).expect("a report");
        let report: Value = serde_json::from_str(&text).expect("a report in JSON");
        let number = |at: &str| {
            report
                .pointer(at)
                .and_then(Value::as_f64)
                .unwrap_or(f64::NAN)
        };
        RunFigures {
            mean_ns: number("/cycle_ns/mean"),
            p99_ns: number("/cycle_ns/p99"),
            processor_s: children_s() - before,
            xruns: number("/xruns"),
            scheduler: report["scheduler"].as_str().unwrap_or("?").to_owned(),
        }
    }
}

/// Processor time of all children that have ended, in seconds.
fn children_s() -> f64 {
    // SAFETY: all zeros are a valid `rusage`, and the call writes nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
