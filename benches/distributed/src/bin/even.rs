//! Evenness of the load of callbacks without other threads: instructions of each callback, counted under valgrind. It
//! supports AVX2 and not AVX-512, so the kernels here are those of AVX2.
//!
//! ```text
//! even                              all methods, a table
//! even fewer                        larger transforms from smaller ones and nested convolution, beside neither
//! even one METHOD CHANNELS FRAMES   runs one method; valgrind runs this
//! even time METHOD CHANNELS FRAMES  shortest time of each callback over some periods in ns, with the cost of memory
//! ```

use conv::{
    AddedLatency, Convolver, ConvolverOptions, CostTable, Inline, Partition, PartitionSpace, Path,
    TimeDistributed,
};
use fft::Kernels;
use std::env::args;
use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;
use studies::fewer_operations::{Method, StudyConvolver};
use studies::two_level::{LevelRatio, TwoLevelConvolver};

const BLOCK: usize = 64;
/// Valgrind counts a string instruction once for each byte, so the C library must use vectors.
const NO_STRINGS: &str =
    "glibc.cpu.x86_rep_movsb_threshold=1073741824:glibc.cpu.x86_rep_stosb_threshold=1073741824";
/// Periods of the longest level before counting, until all levels work.
const WARM: usize = 3;
/// Periods of which each callback's shortest time counts.
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["one", method_name, channels, frames] => {
            one(method_name, channels.parse()?, frames.parse()?)
        }
        ["time", method_name, channels, frames] => {
            times(method_name, channels.parse()?, frames.parse()?)
        }
        [] => table(
            &[
                ("4", 1, 16384),
                ("8", 1, 16384),
                ("8n", 1, 16384),
                ("16", 1, 32768),
                ("32", 1, 65536),
                ("32", 1, 524_288),
                ("evenly", 1, 524_288),
                ("evenly", 4, 524_288),
                ("evenly", 16, 524_288),
                ("inline", 1, 524_288),
            ],
            None,
        ),
        ["fewer"] => fewer(),
        [method_name, channels, frames] => {
            table(&[(method_name, channels.parse()?, frames.parse()?)], None)
        }
        _ => Err("even [METHOD CHANNELS FRAMES]".into()),
    }
}

/// Methods with fewer operations, on partitions where each applies.
fn fewer() -> Result<(), Box<dyn Error>> {
    let cuts = [
        ("7x64 6x256 15x1024", 16384),
        ("3x64 2x128 2x256 14x512 9x1024", 16384),
        ("63x64 24x2048", 53_184),
    ];
    for (cut, frames) in cuts {
        println!("{cut}");
        for channels in [1, 16] {
            let methods = ["plain", "gardner", "nested"];
            table(
                &methods.map(|method_name| (method_name, channels, frames)),
                Some(cut),
            )?;
        }
    }
    Ok(())
}

/// Counts each method, with the given partition or that of the cost table, and prints the results.
fn table(methods: &[(&str, usize, usize)], cut: Option<&str>) -> Result<(), Box<dyn Error>> {
    println!("method, channels, frames: callbacks, mean, max, max/mean, min/mean");
    for (method_name, channels, frames) in methods {
        let mut counts = count(method_name, *channels, *frames, cut)?;
        counts.sort_unstable();
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let (min, max) = (counts[0], counts[counts.len() - 1]);
        println!(
            "{method_name}, {channels}, {frames}: {}, {mean:.0}, {max}, {:.3}, {:.3}",
            counts.len(),
            max as f64 / mean,
            min as f64 / mean
        );
    }
    Ok(())
}

/// The instructions of each callback.
fn count(
    method_name: &str,
    channels: usize,
    frames: usize,
    cut: Option<&str>,
) -> Result<Vec<u64>, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("divisi-even-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let ended = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=*one_callback*"])
        .args(["--dump-after=even::one_callback", "--compress-strings=yes"])
        .arg(format!("--callgrind-out-file={}/out", folder.display()))
        .arg(std::env::current_exe()?)
        .args([
            "one",
            method_name,
            &channels.to_string(),
            &frames.to_string(),
        ])
        .env("GLIBC_TUNABLES", NO_STRINGS)
        .envs(cut.map(|cut| ("PARTITION", cut)))
        .stderr(Stdio::null())
        .status()?;
    if !ended.success() {
        return Err("valgrind failed".into());
    }
    let mut counts = Vec::new();
    for file in fs::read_dir(&folder)? {
        let text = fs::read_to_string(file?.path())?;
        let line = text.lines().find_map(|line| {
            line.strip_prefix("summary:")
                .or(line.strip_prefix("totals:"))
        });
        let count: u64 = line.unwrap_or("0").trim().parse()?;
        if count > 100 {
            counts.push(count);
        }
    }
    fs::remove_dir_all(&folder)?;
    Ok(counts)
}

enum Player {
    Levels(Convolver, Option<TimeDistributed>),
    Two(TwoLevelConvolver),
    Study(StudyConvolver),
}

/// One callback, counted; without preparing input and output.
#[inline(never)]
fn one_callback(player: &mut Player, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
    match player {
        Player::Levels(convolver, Some(scheduler)) => convolver.process(inputs, outputs, scheduler),
        Player::Levels(convolver, None) => convolver.process(inputs, outputs, &mut Inline),
        Player::Two(two) => two.process(inputs, outputs),
        Player::Study(study) => study.process(inputs, outputs),
    }
}

/// The same, not counted. `black_box` keeps the compiler from merging both functions.
#[inline(never)]
fn warm_up(player: &mut Player, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
    match std::hint::black_box(player) {
        Player::Levels(convolver, Some(scheduler)) => convolver.process(inputs, outputs, scheduler),
        Player::Levels(convolver, None) => convolver.process(inputs, outputs, &mut Inline),
        Player::Two(two) => two.process(inputs, outputs),
        Player::Study(study) => study.process(inputs, outputs),
    }
}

fn one(method_name: &str, channels: usize, frames: usize) -> Result<(), Box<dyn Error>> {
    let kernels = Kernels::from_name("avx2").unwrap_or(Kernels::best());
    let (mut player, period) = player(method_name, channels, frames, kernels)?;
    let input: Vec<f32> = (0..BLOCK).map(|n| (n as f32 * 0.1).sin()).collect();
    let inputs = vec![&input[..]; channels];
    let mut output = vec![0.0; BLOCK * channels];
    for callback in 0..(WARM + 1) * period {
        let mut outputs: Vec<&mut [f32]> = output.chunks_exact_mut(BLOCK).collect();
        match callback < WARM * period {
            true => warm_up(&mut player, &inputs, &mut outputs),
            false => one_callback(&mut player, &inputs, &mut outputs),
        }
    }
    Ok(())
}

/// Prints the times of callbacks, and which of them take longest.
fn times(method_name: &str, channels: usize, frames: usize) -> Result<(), Box<dyn Error>> {
    let (mut player, period) = player(method_name, channels, frames, Kernels::best())?;
    let input: Vec<f32> = (0..BLOCK).map(|n| (n as f32 * 0.1).sin()).collect();
    let inputs = vec![&input[..]; channels];
    let mut output = vec![0.0; BLOCK * channels];
    let mut min_ns = vec![u64::MAX; period];
    for callback in 0..(WARM + ROUNDS) * period {
        let mut outputs: Vec<&mut [f32]> = output.chunks_exact_mut(BLOCK).collect();
        let begun = Instant::now();
        warm_up(&mut player, &inputs, &mut outputs);
        let ns = begun.elapsed().as_nanos() as u64;
        if callback >= WARM * period {
            let min_ns = &mut min_ns[callback % period];
            *min_ns = ns.min(*min_ns);
        }
    }
    let mean = min_ns.iter().sum::<u64>() as f64 / period as f64;
    let mut order: Vec<usize> = (0..period).collect();
    order.sort_by_key(|at| std::cmp::Reverse(min_ns[*at]));
    let at = |percent: usize| min_ns[order[period * (100 - percent) / 100]];
    println!("mean {mean:.0} ns, median {}, p99 {}", at(50), at(99));
    for at in order.iter().take(12) {
        println!("{at}: {} ({:.2})", min_ns[*at], min_ns[*at] as f64 / mean);
    }
    Ok(())
}

/// A convolver of that method, each channel with its own response, and the number of callbacks of its longest period.
fn player(
    method_name: &str,
    channels: usize,
    frames: usize,
    kernels: Kernels,
) -> Result<(Player, usize), Box<dyn Error>> {
    let response: Vec<f32> = (0..frames)
        .map(|n| ((n * 7919) % 1009) as f32 / 1e6)
        .collect();
    let ratio = match method_name {
        "4" => Some(LevelRatio::Four),
        "8" => Some(LevelRatio::Eight),
        "8n" => Some(LevelRatio::EightNested),
        "16" => Some(LevelRatio::Sixteen),
        "32" => Some(LevelRatio::ThirtyTwo),
        _ => None,
    };
    match ratio {
        Some(ratio) => {
            let responses = vec![&response[..]; channels];
            let two = TwoLevelConvolver::new(&responses, BLOCK, ratio, kernels)?;
            Ok((Player::Two(two), ratio.factor()))
        }
        None => levels(method_name, channels, response, kernels),
    }
}

fn levels(
    method_name: &str,
    channels: usize,
    response: Vec<f32>,
    kernels: Kernels,
) -> Result<(Player, usize), Box<dyn Error>> {
    let space =
        PartitionSpace::new(response.len(), BLOCK, AddedLatency::None).ok_or("no length")?;
    let partition = match std::env::var("PARTITION") {
        Ok(text) => Partition::parse(BLOCK, AddedLatency::None, &text)?,
        Err(_) => {
            let found = CostTable::built_in().choose(&space, channels, 1);
            found.ok_or("no costs")?.partition
        }
    };
    eprintln!("{partition}");
    let period = partition.levels().last().map_or(1, |l| l.size() / BLOCK);
    let path = |i| Path::new(i, i, &response[..]);
    let paths: Vec<_> = (0..channels).map(path).collect();
    let method = match method_name {
        "plain" => Some(Method::Plain),
        "gardner" => Some(Method::Composed),
        "nested" => Some(Method::Nested),
        _ => None,
    };
    if let Some(method) = method {
        let responses = vec![&response[..]; channels];
        let study = StudyConvolver::new(&responses, &partition, method, kernels);
        return Ok((Player::Study(study.ok_or("not possible")?), period));
    }
    let mut options = ConvolverOptions::new(partition);
    options.kernels = kernels;
    let is_even = method_name == "evenly";
    if is_even {
        options = TimeDistributed::adapt_options(&options, channels);
    }
    let mut convolver = Convolver::new(channels, channels, &paths, &options)?;
    let scheduler = is_even.then(|| TimeDistributed::new(&mut convolver));
    if let Some(scheduler) = &scheduler {
        let (max, mean) = (
            scheduler.schedule().max_load() as f64,
            scheduler.schedule().mean_load(),
        );
        eprintln!(
            "as planned: max {max}, mean {mean:.0}, ratio {:.3}",
            max / mean
        );
    }
    Ok((Player::Levels(convolver, scheduler), period))
}
