//! Cost of each engine: processor time of this process in ns per channel and block, medians of interleaved rounds.
//!
//! `table [--quick] [--lengths 16384,65536] [--channels 32] [--only zita,ours] [--resident] [--csv FILE]
//! [--partition "15x64 ..."] [--batch 256] [--near 262144] [--half 4096] [--fewer]`; the last five are for Divisi. The
//! bytes per channel are followed by their ratio to the spectra of responses and inputs.
//!
//! With `--fewer` the study of fewer operations takes part, with its gain over its baseline. The worst block is the maximum
//! over the blocks of a round of each block's fastest run.

use divisi_bench_convolution::bound::{self, Cost};
use divisi_bench_convolution::check::{BOUND_DB, difference_db};
use divisi_bench_convolution::clock::{now_ns, processor_ns};
use divisi_bench_convolution::engine::{Engine, EngineEntry, Workload, all};
use divisi_bench_convolution::options::Options;
use divisi_bench_convolution::signals::{InputSignal, response};
use divisi_bench_convolution::stats::quartiles;
use divisi_bench_convolution::{BLOCK, LENGTHS, system};
use std::error::Error;
use std::fs;
use std::process::Command;

/// Blocks in a round: the longest period of all engines, so that every round has the same work.
const ROUND: usize = 65_536 / BLOCK;

const HEAD: &str =
    "length,engine,ns,low,high,ratio,difference_db,resident,setting,worst_us,gain_percent";

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let channels = options.number("channels")?.unwrap_or(32);
    if let Some(name) = options.text("resident-of") {
        let length = options.number("length")?.unwrap_or(LENGTHS[0]);
        return resident(name, channels, length);
    }
    let core = options.number("core")?.unwrap_or(0);
    system::pin(core)?;
    let rounds = options
        .number("rounds")?
        .unwrap_or(if options.has("quick") { 3 } else { 11 });
    println!(
        "{}; one core, {channels} channels, each its own response of noise, {BLOCK} frames",
        system::processor()
    );
    println!(
        "ns of processor time (all threads) per channel and block; quartiles of {rounds} interleaved rounds"
    );
    let mut rows = vec![HEAD.to_owned()];
    let costs = bound::costs(channels);
    for length in options.numbers("lengths")?.unwrap_or(LENGTHS.to_vec()) {
        rows.extend(compare(&options, channels, length, rounds, &costs)?);
    }
    if let Some(path) = options.text("csv") {
        fs::write(path, rows.join("\n") + "\n")?;
    }
    Ok(())
}

/// An engine that has been checked, and its results.
struct Checked {
    name: &'static str,
    it: Box<dyn Engine>,
    db: f64,
    at: usize,
    ns: Vec<f64>,
    /// Shortest time of each block of a round, in ns.
    blocks: Vec<u64>,
    baseline: Option<&'static str>,
}

impl Checked {
    fn median(&self) -> f64 {
        quartiles(&self.ns)[1]
    }

    fn worst_us(&self) -> f64 {
        self.blocks.iter().copied().max().unwrap_or(0) as f64 / 1e3
    }
}

fn compare(
    options: &Options,
    channels: usize,
    length: usize,
    rounds: usize,
    costs: &[Cost],
) -> Result<Vec<String>, Box<dyn Error>> {
    let signal = InputSignal::default();
    let response = |channel| response(channel, length);
    let workload = Workload {
        partition: options.text("partition"),
        batch: options.number("batch")?,
        near: options.number("near")?,
        half: options.number("half")?,
        ..Workload::new(channels, length, &response)
    };
    println!("\nresponses of {length} taps");
    let mut ready = Vec::new();
    for entry in chosen(options) {
        ready.push(make(&entry, &workload, &signal)?);
    }
    let mut output = vec![0.0; channels * BLOCK];
    for _ in 0..rounds {
        for one in &mut ready {
            round(one, channels, &signal, &mut output);
        }
    }
    let ours_to = ready
        .first()
        .map_or(f64::NAN, |first| quartiles(&first.ns)[1]);
    println!(
        "{:<19} {:>8} {:>17} {:>8} {:>8} {:>9} {:>7} {:>18}  set as",
        "", "ns", "quartiles", "ratio", "dB", "worst us", "gain %", "bytes/channel"
    );
    let mut rows = Vec::new();
    for one in &ready {
        let [low, middle, high] = quartiles(&one.ns);
        let bytes = resident_of(options, one.name, channels, length);
        let (ratio, db, setting) = (middle / ours_to, one.db, one.it.setting());
        let (worst, gain) = (one.worst_us(), gain(&ready, one));
        println!(
            "{:<19} {middle:>8.0} {low:>8.0} {high:>8.0} {ratio:>8.3} {db:>8.1} {worst:>9.1} {gain:>7} {bytes:>18}  {setting}",
            one.name
        );
        rows.push(format!(
            "{length},{},{middle:.1},{low:.1},{high:.1},{ratio:.4},{db:.1},{bytes},{},{worst:.1},{gain}",
            one.name,
            setting.replace(',', ";")
        ));
    }
    let bound = bound::best(costs, length);
    println!(
        "{:<19} {:>8.0} {:>17} {:>8.3} {:>46}  {}",
        "bound",
        bound.ns,
        "",
        bound.ns / ours_to,
        "",
        bound.setting()
    );
    rows.push(format!(
        "{length},bound,{:.1},,,{:.4},,,{},,",
        bound.ns,
        bound.ns / ours_to,
        bound.setting()
    ));
    Ok(rows)
}

/// Gain of an engine over its baseline, in percent.
fn gain(all: &[Checked], one: &Checked) -> String {
    let other = all.iter().find(|other| Some(other.name) == one.baseline);
    other.map_or(String::new(), |other| {
        format!("{:.1}", 100.0 * (1.0 - one.median() / other.median()))
    })
}

fn chosen(options: &Options) -> Vec<EngineEntry> {
    let only = options
        .text("only")
        .map(|names| names.split(',').collect::<Vec<_>>());
    let usual = |entry: &EngineEntry| entry.baseline.is_none() || options.has("fewer");
    let is_chosen = |entry: &EngineEntry| match &only {
        Some(only) => only.contains(&entry.name),
        None => usual(entry),
    };
    all().into_iter().filter(is_chosen).collect()
}

fn make(
    entry: &EngineEntry,
    workload: &Workload<'_>,
    signal: &InputSignal,
) -> Result<Checked, Box<dyn Error>> {
    let mut it = (entry.make)(workload)?;
    let (db, at) = difference_db(&mut *it, workload, signal);
    if db.is_nan() || db > BOUND_DB {
        return Err(format!(
            "{} gives a wrong result: {db:.1} dB, {}",
            entry.name,
            it.setting()
        )
        .into());
    }
    Ok(Checked {
        name: entry.name,
        it,
        db,
        at,
        ns: Vec::new(),
        blocks: vec![u64::MAX; ROUND],
        baseline: entry.baseline,
    })
}

fn round(one: &mut Checked, channels: usize, signal: &InputSignal, output: &mut [f32]) {
    let mut inputs: Vec<&[f32]> = Vec::with_capacity(channels);
    let begun = processor_ns();
    for (nth, block) in (one.at..one.at + ROUND).enumerate() {
        inputs.clear();
        inputs.extend((0..channels).map(|channel| signal.block(channel, block)));
        let from = now_ns();
        one.it.block(&inputs, output, true);
        one.blocks[nth] = one.blocks[nth].min(now_ns() - from);
    }
    let used = processor_ns() - begun;
    one.at += ROUND;
    one.ns.push(used as f64 / (ROUND * channels) as f64);
}

/// Bytes of memory per channel, measured by a process of its own; empty unless `--resident` is given.
fn resident_of(options: &Options, name: &str, channels: usize, length: usize) -> String {
    if !options.has("resident") {
        return String::new();
    }
    let asked = std::env::current_exe().and_then(|me| {
        Command::new(me)
            .args([
                "--resident-of",
                name,
                "--channels",
                &channels.to_string(),
                "--length",
                &length.to_string(),
            ])
            .output()
    });
    asked.map_or(String::new(), |told| {
        String::from_utf8_lossy(&told.stdout).trim().to_owned()
    })
}

/// Prints the memory per channel that one engine adds to this process.
fn resident(name: &str, channels: usize, length: usize) -> Result<(), Box<dyn Error>> {
    let entry = all()
        .into_iter()
        .find(|entry| entry.name == name)
        .ok_or("unknown engine")?;
    let signal = InputSignal::default();
    let response = |channel| response(channel, length);
    let workload = Workload::new(channels, length, &response);
    // Memory for one response is allocated before and after, so it does not count.
    drop(response(0));
    let before = system::resident_bytes();
    let mut it = (entry.make)(&workload)?;
    let mut output = vec![0.0; channels * BLOCK];
    for block in 0..length.div_ceil(BLOCK) + 2 * ROUND {
        let inputs: Vec<_> = (0..channels)
            .map(|channel| signal.block(channel, block))
            .collect();
        it.block(&inputs, &mut output, true);
    }
    let bytes = system::resident_bytes() - before;
    let over = it
        .spectra()
        .map(|spectra| format!(" ({:.2} x)", bytes as f64 / spectra as f64));
    println!("{}{}", bytes / channels as u64, over.unwrap_or_default());
    Ok(())
}
