//! Units of Divisi beside those of fundsp and of SuperCollider's scsynth: processor time on one core, in turn.
//!
//! `units [--rounds 7] [--levels] [NAME…]` compares the rows whose name contains one of the names; all without one. `--levels` prints
//! the RMS of the copies' sum in each program and measures nothing. `--alone BLOCKS` plays as many blocks without the peers, for a counter
//! of instructions, which counts `measured` only (`valgrind --tool=callgrind
//! --collect-atstart=no --toggle-collect='*measured*'`). `--least RUNS` prints Divisi's time alone, from the least of as many runs of 20
//! blocks: for a machine that is not at rest.
//!
//! A row: nanoseconds a frame and channel, medians of the rounds, and the median of the ratios of the faster peer and Divisi.

use divisi_benches::stats::median;
use divisi_benches::units::rows::{Row, rows};
use divisi_benches::units::{BLOCK, Bench, divisi, scsynth};
use std::path::Path;

/// Processor time that a round takes in a process, and in a process of its own, about.
const HERE_S: f64 = 0.1;
const THERE_S: f64 = 0.3;

/// Bounds of the blocks of a round: from 3 seconds of sound to 2 minutes.
const MIN_BLOCKS: usize = 2_250;
const MAX_BLOCKS: usize = 90_000;

struct Call {
    rounds: usize,
    only_levels: bool,
    /// Blocks that are played alone.
    alone: Option<usize>,
    /// Runs of which the least counts.
    least: Option<usize>,
    names: Vec<String>,
}

/// A program that plays the copies of a row.
struct Program {
    bench: Box<dyn Bench>,
    /// Processor time of a round, about.
    seconds: f64,
    /// Blocks of a round.
    blocks: usize,
    /// Nanoseconds a frame and channel, a value a round.
    times: Vec<f64>,
}

/// Results of a row: Divisi, fundsp, scsynth.
struct Outcome {
    medians: [Option<f64>; 3],
    ratio: Option<f64>,
}

fn main() {
    let call = Call::read();
    if let Some(blocks) = call.alone {
        return call.play_alone(blocks);
    }
    if let Some(runs) = call.least {
        return call.print_least(runs);
    }
    let folder = std::env::temp_dir().join(format!("divisi-bench-units-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for synths and scores");
    let refusal = scsynth::refusal();
    if let Some(why) = &refusal {
        println!("{why}");
    }
    println!(
        "{} rounds; ns a frame and channel; ratio: the faster peer / Divisi\n\n{:26} {:>8} {:>8} {:>8} {:>8}  not alike",
        call.rounds, "unit", "Divisi", "fundsp", "scsynth", "ratio"
    );
    let mut common = Vec::new();
    let mut slower = Vec::new();
    for row in rows().iter().filter(|row| call.wants(row)) {
        let mut programs = programs(row, refusal.is_none().then_some(folder.as_path()));
        check_levels(row, &mut programs, call.only_levels);
        if call.only_levels {
            continue;
        }
        let outcome = call.compare(row, programs);
        outcome.print(row);
        if outcome.ratio.is_some_and(|ratio| ratio < 1.0) {
            slower.push(row.name);
        }
        if row.is_common {
            common.push(outcome);
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    if !call.only_levels {
        print_sum(&common);
        println!("below 1: {}", slower.join(", "));
    }
}

/// The part that a counter of instructions counts.
#[inline(never)]
fn measured(bench: &mut dyn Bench, blocks: usize) {
    std::hint::black_box(bench.time(blocks));
}

/// The programs that have the unit of `row`; scsynth writes to `folder`.
fn programs(row: &Row, folder: Option<&Path>) -> [Option<Program>; 3] {
    let scsynth = row.scsynth.zip(folder);
    let scsynth = scsynth.map(|(add_copy, folder)| scsynth::bench(row, add_copy, folder));
    let fundsp = row.fundsp.map(|make| make(row.copies));
    [
        Some(Program::new(divisi::bench(row), HERE_S)),
        fundsp.map(|bench| Program::new(bench, HERE_S)),
        scsynth.map(|bench| Program::new(bench, THERE_S)),
    ]
}

impl Call {
    fn read() -> Self {
        let mut call = Self {
            rounds: 7,
            only_levels: false,
            alone: None,
            least: None,
            names: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--rounds" => {
                    let number = words.next().and_then(|word| word.parse().ok());
                    call.rounds = number.expect("--rounds NUMBER");
                }
                "--levels" => call.only_levels = true,
                "--alone" => call.alone = words.next().and_then(|word| word.parse().ok()),
                "--least" => call.least = words.next().and_then(|word| word.parse().ok()),
                _ => call.names.push(word),
            }
        }
        call
    }

    fn play_alone(&self, blocks: usize) {
        for row in rows().iter().filter(|row| self.wants(row)) {
            let mut bench = divisi::bench(row);
            bench.time(8);
            measured(&mut *bench, blocks);
            println!("{}: {} copies", row.name, row.copies);
        }
    }

    fn print_least(&self, runs: usize) {
        const BLOCKS: usize = 20;
        for row in rows().iter().filter(|row| self.wants(row)) {
            let seconds = divisi::bench(row).least_time(BLOCKS, runs);
            let frames = (BLOCKS * BLOCK * row.channels) as f64;
            println!("{:26} {:8.3}", row.name, seconds / frames * 1e9);
        }
    }

    fn wants(&self, row: &Row) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| row.name.contains(name))
    }

    /// Plays the programs in turn.
    fn compare(&self, row: &Row, mut programs: [Option<Program>; 3]) -> Outcome {
        for program in programs.iter_mut().flatten() {
            program.choose_blocks(row.copies);
        }
        for _ in 0..self.rounds {
            for program in programs.iter_mut().flatten() {
                let seconds = program.bench.time(program.blocks);
                let frames = (program.blocks * BLOCK * row.channels) as f64;
                program.times.push(seconds / frames * 1e9);
            }
        }
        Outcome::of(programs.map(|program| program.map(|program| program.times)))
    }
}

/// Checks that each program makes sound.
fn check_levels(row: &Row, programs: &mut [Option<Program>; 3], is_printed: bool) {
    let levels = programs.each_mut().map(|program| {
        let level = program.as_mut()?.bench.level();
        assert!((1e-2..1e4).contains(&level), "{}: level {level}", row.name);
        Some(f64::from(level))
    });
    if is_printed {
        println!("{:26} {}", row.name, levels.map(column).join(" "));
    }
}

impl Program {
    fn new(bench: Box<dyn Bench>, seconds: f64) -> Self {
        Self {
            bench,
            seconds,
            blocks: MIN_BLOCKS,
            times: Vec::new(),
        }
    }

    /// Chooses the blocks of a round, so that all copies together take the time of a round.
    fn choose_blocks(&mut self, copies: usize) {
        let one_block = self.bench.time(MIN_BLOCKS) * copies as f64 / MIN_BLOCKS as f64;
        let blocks = self.seconds / one_block.max(1e-7);
        self.blocks = (blocks as usize).clamp(MIN_BLOCKS, MAX_BLOCKS);
    }
}

impl Outcome {
    fn of(mut times: [Option<Vec<f64>>; 3]) -> Self {
        let ratio = match &times {
            [_, None, None] | [None, ..] => None,
            [Some(own), fundsp, scsynth] => {
                let peers = |round: usize| fundsp.iter().chain(scsynth).map(move |t| t[round]);
                let faster = |round| peers(round).fold(f64::INFINITY, f64::min);
                let ratios = own.iter().enumerate().map(|(i, own)| faster(i) / own);
                Some(median(&mut ratios.collect::<Vec<_>>()))
            }
        };
        Self {
            medians: times
                .each_mut()
                .map(|times| times.as_mut().map(|times| median(times))),
            ratio,
        }
    }

    /// The faster peer's median.
    fn peer(&self) -> f64 {
        let peers = self.medians[1..].iter().flatten();
        peers.fold(f64::INFINITY, |a, b| a.min(*b))
    }

    fn print(&self, row: &Row) {
        let name = match row.is_common {
            true => format!("{} *", row.name),
            false => row.name.to_owned(),
        };
        let columns = self.medians.map(column).join(" ");
        println!("{name:26} {columns} {}  {}", column(self.ratio), row.note);
    }
}

fn print_sum(common: &[Outcome]) {
    let own: f64 = common.iter().filter_map(|row| row.medians[0]).sum();
    let peers: f64 = common.iter().map(Outcome::peer).sum();
    println!(
        "\n* sum of {}: Divisi {own:.2}, the faster peer of each {peers:.2}, ratio {:.2}",
        common.len(),
        peers / own
    );
}

fn column(value: Option<f64>) -> String {
    value.map_or_else(|| format!("{:>8}", "-"), |value| format!("{value:8.2}"))
}
