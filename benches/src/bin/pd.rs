//! Patches played by Divisi on one core beside the real Pd, processor time of each, in turn.
//!
//! `pd [--seconds 60] [--rounds 5] FOLDER…` plays every `.pd` of the folders that has a `dac~`; a folder of folders with one patch each
//! will do too, and so will a patch itself. Pd renders with `-batch -noaudio`, once a second long and once with `--seconds` more: the difference is its time, so
//! that its start counts for nothing. `--control` switches the signals of both off, in Pd after half a second: what is left is the time of messages. `--workers 2`
//! compares two workers with one (`--scheduler pipelined` another scheduler than `stealing`), by the clock, in turns of a second, of which each counts; a second row has the tenth of the blocks that were fastest, which other
//! programs disturb little. `--block 512` lets the engine take several of Pd's blocks at once. `--alone` plays without Pd and prints a hash of what sounded: two builds that
//! should sound alike can be compared, or with `--workers` one with itself. Then it plays on for a counter of instructions, which counts `measured` only (`valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*measured*'`).
//!
//! `--fastest` plays without Pd and prints the fastest of the rounds: builds can be compared on a machine that is not at rest.
//!
//! A row: nanoseconds a block of 64 frames, medians of the rounds, and the median of the ratios Pd / Divisi.

use divisi_benches::stats::median;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use pd::{Machine, SearchPath, load_patch};
use processor::{Mode, Registry};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use units::{Frames, SampleRate};

const RATE: f64 = 44_100.0;

struct Call {
    seconds: f64,
    rounds: usize,
    /// Messages only.
    is_control: bool,
    /// Workers that are compared with one; 1 compares with Pd.
    workers: usize,
    /// That of several workers.
    scheduler: Scheduler,
    /// Plays only.
    is_alone: bool,
    /// Plays only, and tells the fastest round.
    is_fastest: bool,
    /// Frames of a block of the engine, a multiple of 64.
    block: usize,
    patches: Vec<PathBuf>,
}

fn main() {
    let call = Call::read();
    let folder = std::env::temp_dir().join(format!("divisi-bench-pd-{}", std::process::id()));
    if call.is_alone {
        return call.play_alone();
    }
    if call.is_fastest {
        return call.play_fastest();
    }
    std::fs::create_dir_all(&folder).expect("a folder for patches that end");
    let (first, second) = match call.workers {
        1 => ("Pd", "Divisi"),
        _ => ("one", "all"),
    };
    println!(
        "{} rounds of {} s; ns a block\n\n{:32} {first:>9} {second:>9} {:>7}",
        call.rounds, call.seconds, "patch", "ratio"
    );
    let mut ratios = Vec::new();
    for patch in &call.patches {
        ratios.extend(match call.workers {
            1 => call.compare(patch, &folder),
            _ => call.compare_workers(patch),
        });
    }
    let _ = std::fs::remove_dir_all(&folder);
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    let slower = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    println!(
        "\n{} patches: geometric mean {:.2}, {slower} below 1",
        ratios.len(),
        (sum / ratios.len() as f64).exp()
    );
}

impl Call {
    fn read() -> Self {
        let mut call = Self {
            seconds: 60.0,
            rounds: 5,
            is_control: false,
            workers: 1,
            scheduler: Scheduler::Stealing,
            is_alone: false,
            is_fastest: false,
            block: 64,
            patches: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            if word == "--scheduler" {
                let name = words.next().expect("--scheduler NAME");
                call.scheduler = name.parse().expect("a scheduler");
                continue;
            }
            let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
            match word.as_str() {
                "--seconds" => call.seconds = number().expect("--seconds NUMBER"),
                "--rounds" => call.rounds = number().expect("--rounds NUMBER") as usize,
                "--workers" => call.workers = number().expect("--workers NUMBER") as usize,
                "--block" => call.block = number().expect("--block NUMBER") as usize,
                "--control" => call.is_control = true,
                "--alone" => call.is_alone = true,
                "--fastest" => call.is_fastest = true,
                path => collect(Path::new(path), &mut call.patches),
            }
        }
        call.patches.sort();
        call
    }

    /// Plays each patch for the seconds, with the hash of it, and for the seconds again, to be counted.
    fn play_alone(&self) {
        for patch in &self.patches {
            if let Some(mut player) = self.player(patch) {
                let mut hash = 0_u64;
                player.play_to(self.seconds, |left, right| {
                    for x in left.iter().chain(right) {
                        hash = (hash.rotate_left(5) ^ u64::from(x.to_bits()))
                            .wrapping_mul(0x517c_c1b7_2722_0a95);
                    }
                });
                let blocks = measured(&mut player, self.seconds);
                println!("{hash:016x} {blocks} blocks {}", patch.display());
            }
        }
    }

    /// Plays each patch in rounds, and prints what a block took in the fastest one.
    fn play_fastest(&self) {
        for patch in &self.patches {
            let Some(mut player) = self.player(patch) else {
                continue;
            };
            player.play(1.0);
            let times = (0..self.rounds).map(|_| {
                let begin = processor_time(libc::RUSAGE_SELF);
                player.play(self.seconds);
                processor_time(libc::RUSAGE_SELF) - begin
            });
            let least = times.fold(f64::INFINITY, f64::min) * 1e9 / (self.seconds * RATE / 64.0);
            let name = patch.file_stem().unwrap_or_default().to_string_lossy();
            println!("{name:32} {least:9.0}");
        }
    }

    /// Compares one patch; `None` where one of the two does not play it.
    fn compare(&self, patch: &Path, folder: &Path) -> Option<f64> {
        let text = std::fs::read_to_string(patch).ok()?;
        let name = patch.file_stem()?.to_str()?;
        let ending = |seconds: f64| {
            let dsp = u8::from(!self.is_control);
            let ended = folder.join(format!("{name}-{seconds}.pd"));
            std::fs::write(&ended, format!("{text}{}", end_after(seconds, dsp))).expect("it fits");
            ended
        };
        let (short, long) = (ending(1.0), ending(1.0 + self.seconds));
        let blocks = self.seconds * RATE / 64.0;
        let mut rows = Rows::default();
        for _ in 0..self.rounds {
            let pd = time_of_pd(&long, patch)? - time_of_pd(&short, patch)?;
            let mut player = self.player(patch)?;
            player.play(1.0);
            let begin = processor_time(libc::RUSAGE_SELF);
            player.play(self.seconds);
            let here = processor_time(libc::RUSAGE_SELF) - begin;
            rows.add(pd / blocks, here / blocks);
        }
        Some(rows.print(name))
    }

    /// Compares one worker with several, by the clock: a second of each in turn.
    fn compare_workers(&self, patch: &Path) -> Option<f64> {
        let (mut turns, mut fast) = (Rows::default(), Rows::default());
        for _ in 0..self.rounds {
            let one = Player::of_engine(patch, self.block, Scheduler::Sequential, 1)?;
            let all = Player::of_engine(patch, self.block, self.scheduler, self.workers)?;
            let mut players = [one, all];
            players.iter_mut().for_each(|player| player.play(1.0));
            for _ in 0..self.seconds.ceil() as usize {
                let times = players.each_mut().map(Player::times_of_a_second);
                let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
                let [one, all] = times.each_ref().map(|times| mean(times));
                turns.add(one, all);
                let [one, all] = times.each_ref().map(|times| times[times.len() / 10]);
                fast.add(one, all);
            }
        }
        let name = patch.file_stem()?.to_str()?;
        let ratio = turns.print(name);
        fast.print("  the fastest tenth");
        turns.ratios.sort_by(f64::total_cmp);
        let at = |part: usize| turns.ratios[(turns.ratios.len() - 1) * part / 10];
        let parts = [0, 1, 2, 5, 8, 9, 10].map(|part| format!("{:.2}", at(part)));
        println!(
            "  ratios of turns, from the worst to the best: {}",
            parts.join(" ")
        );
        Some(ratio)
    }

    fn player(&self, patch: &Path) -> Option<Player> {
        let loaded = load_patch(patch, &SearchPath::new([])).ok()?;
        let (machine, not_yet) = Machine::build(&loaded, RATE as f32);
        if let Some(missing) = not_yet.first() {
            let name = patch.file_stem()?.to_str()?;
            println!("{name:32} needs {}", missing.class);
            return None;
        }
        if !self.is_control {
            let scheduler = match self.workers {
                1 => Scheduler::Sequential,
                _ => self.scheduler,
            };
            return Player::of_engine(patch, self.block, scheduler, self.workers);
        }
        let mut machine = Box::new(machine);
        machine.load();
        Some(Player::Messages(machine))
    }
}

/// The part that a counter of instructions counts. Gives the number of blocks.
#[inline(never)]
fn measured(player: &mut Player, seconds: f64) -> usize {
    player.play(seconds);
    blocks(seconds)
}

/// Blocks in a time.
fn blocks(seconds: f64) -> usize {
    (seconds * RATE / 64.0) as usize
}

/// What plays a patch here.
enum Player {
    Messages(Box<Machine>),
    /// With two channels of a block.
    Whole(Box<(Engine, EngineCallback)>, [Vec<f32>; 2]),
}

impl Player {
    fn of_engine(patch: &Path, block: usize, scheduler: Scheduler, workers: usize) -> Option<Self> {
        let mut registry = Registry::default();
        dsp::register(&mut registry);
        pd::register(&mut registry);
        let session = format!(
            "edges = [\"patch.out1 -> left\", \"patch.out2 -> right\"]\n[nodes]\n\
             patch = {{ kind = \"pd\", out = 2, file = {:?} }}\n\
             left = {{ kind = \"sink\", channel = 1 }}\nright = {{ kind = \"sink\", channel = 2 }}\n",
            std::path::absolute(patch).ok()?
        );
        let read = text::toml::read(&session, registry.catalogue());
        assert!(!read.has_errors(), "{:?}", read.diagnostics);
        let rate = SampleRate::new(RATE as u32)?;
        let mut options = EngineOptions::new(Frames(block as u32), rate);
        (options.mode, options.scheduler) = (Mode::Offline, scheduler);
        (options.workers, options.use_all_workers) = (workers, true);
        match Engine::new(read.session.graph, Arc::new(registry), options) {
            Ok(both) => {
                let channels = [vec![0.0; block], vec![0.0; block]];
                Some(Self::Whole(Box::new(both), channels))
            }
            Err(why) => {
                println!("{:32} {why}", patch.file_stem()?.to_str()?);
                None
            }
        }
    }

    /// Plays a second. Gives the seconds that a block of 64 frames took in each callback, in rising order.
    fn times_of_a_second(&mut self) -> Vec<f64> {
        let mut times = Vec::with_capacity(blocks(1.0) + 1);
        let mut last = Instant::now();
        self.play_to(1.0, |_, _| {
            let now = Instant::now();
            times.push((now - last).as_secs_f64());
            last = now;
        });
        if let Self::Whole(_, [left, _]) = self {
            let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
            times = times.chunks(left.len() / 64).map(mean).collect();
        }
        times.sort_by(f64::total_cmp);
        times
    }

    fn play(&mut self, seconds: f64) {
        self.play_to(seconds, |_, _| {});
    }

    /// Plays, and gives each 64 frames to `take`.
    fn play_to(&mut self, seconds: f64, mut take: impl FnMut(&[f32], &[f32])) {
        match self {
            Self::Messages(machine) => (0..blocks(seconds)).for_each(|_| machine.tick()),
            Self::Whole(both, [left, right]) => {
                let (engine, callback) = &mut **both;
                let blocks = blocks(seconds);
                for first in (0..blocks).step_by(left.len() / 64) {
                    let mut outputs = [&mut left[..], &mut right[..]];
                    callback.process(CallbackInfo::default(), &[], &mut outputs);
                    if first % 1024 + left.len() / 64 >= 1024 {
                        engine.update();
                    }
                    let parts = left.chunks(64).zip(right.chunks(64));
                    for (left, right) in parts.take(blocks - first) {
                        take(left, right);
                    }
                }
            }
        }
    }
}

/// Seconds a block of the rounds.
#[derive(Default)]
struct Rows {
    first: Vec<f64>,
    second: Vec<f64>,
    ratios: Vec<f64>,
}

impl Rows {
    fn add(&mut self, first: f64, second: f64) {
        self.first.push(first * 1e9);
        self.second.push(second * 1e9);
        self.ratios.push(first / second);
    }

    fn print(&mut self, name: &str) -> f64 {
        let (first, second) = (median(&mut self.first), median(&mut self.second));
        let ratio = median(&mut self.ratios);
        println!("{name:32} {first:9.0} {second:9.0} {ratio:7.2}");
        ratio
    }
}

/// A patch, or those of a folder and of the folders in it that have a `dac~`.
fn collect(path: &Path, patches: &mut Vec<PathBuf>) {
    if path.is_file() {
        patches.push(path.into());
    } else {
        collect_within(path, patches);
    }
}

fn collect_within(path: &Path, patches: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder that can be read");
        entries
            .flatten()
            .for_each(|entry| collect_within(&entry.path(), patches));
    } else if path.extension().is_some_and(|e| e == "pd")
        && std::fs::read_to_string(path).is_ok_and(|text| text.contains("dac~"))
    {
        patches.push(path.into());
    }
}

/// A subpatch that switches the signals on at once and ends Pd. It switches them to `dsp` half a second later: by then examples that switch
/// them on by themselves have done so.
fn end_after(seconds: f64, dsp: u8) -> String {
    format!(
        "#N canvas 0 0 9 9 end 0;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay {};\n#X msg 0 0 \\; pd quit;\n#X msg 0 0 \\; pd dsp 1;\n\
         #X obj 0 0 delay 500;\n#X msg 0 0 \\; pd dsp {dsp};\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 0 0 3 0;\n\
         #X connect 0 0 4 0;\n#X connect 4 0 5 0;\n#X restore 0 0 pd end;\n",
        seconds * 1000.0
    )
}

/// Seconds of processor time that Pd takes for a patch which ends it.
fn time_of_pd(ended: &Path, patch: &Path) -> Option<f64> {
    let begin = processor_time(libc::RUSAGE_CHILDREN);
    let status = Command::new("pd")
        .args(["-nogui", "-noprefs", "-batch", "-noaudio", "-r", "44100"])
        .arg("-path")
        .arg(patch.parent()?)
        .arg(ended)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("Pd is there: Debian's package puredata-core");
    let time = processor_time(libc::RUSAGE_CHILDREN) - begin;
    status.success().then_some(time)
}

/// Seconds of processor time, in programs and in the kernel.
fn processor_time(of: i32) -> f64 {
    // SAFETY: an all-zero `rusage` is one, and the call only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(of, &raw mut usage), 0, "it takes these two");
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
