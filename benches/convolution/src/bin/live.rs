//! Number of channels that each engine processes in real time on one core.
//!
//! `live [--seconds 10] [--length 524288] [--core 1] [--NAME N] ... [--find [--from 40] [--step 10]] [--csv FILE]`
//!
//! With `--zita 110 --ours 200` these engines run with as many channels, one after another. With `--find`, each engine (or those
//! of `--only`) gets `step` more channels until two runs fail. Engines with a baseline run only if `--only` names them.
//!
//! The table's columns are `engine,length,channels,seconds,...`; `divisi experiment convolution` shows it as `peers.csv` in its
//! folder.

use divisi_bench_convolution::engine::{EngineEntry, Workload, all};
use divisi_bench_convolution::live::{CALLBACK_PRIORITY, RunResult, run};
use divisi_bench_convolution::options::Options;
use divisi_bench_convolution::signals::{InputSignal, response};
use divisi_bench_convolution::{BLOCK, RATE, system};
use std::error::Error;
use std::fs;

const HEAD: &str = "engine,length,channels,seconds,missed,unexplained,worst_us,percent,gaps,gap_us";

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let table = Live {
        seconds: options.number("seconds")?.unwrap_or(10),
        length: options.number("length")?.unwrap_or(524_288),
        core: options.number("core")?.unwrap_or(1),
        signal: InputSignal::default(),
        partition: options.text("partition").map(str::to_owned),
    };
    let _awake = system::stay_awake();
    system::pin(table.core)?;
    if let Err(error) = system::lock_memory() {
        eprintln!("memory is not locked: {error}");
    }
    system::set_priority(CALLBACK_PRIORITY).map_err(|error| {
        format!("real-time priority is refused ({error}): nothing to be result without")
    })?;
    println!(
        "{}; one core; {} taps a channel, {} s a run",
        system::processor(),
        table.length,
        table.seconds
    );
    let mut rows = vec![HEAD.to_owned()];
    for entry in all() {
        if let Some(channels) = options.number(entry.name)? {
            table.run(&entry, channels, &mut rows)?;
        } else if options.has("find")
            && options
                .text("only")
                .map_or(entry.baseline.is_none(), |names| {
                    names.split(',').any(|n| n == entry.name)
                })
        {
            table.find(&entry, &options, &mut rows)?;
        }
    }
    if let Some(path) = options.text("csv") {
        fs::write(path, rows.join("\n") + "\n")?;
    }
    Ok(())
}

struct Live {
    seconds: usize,
    length: usize,
    core: usize,
    signal: InputSignal,
    partition: Option<String>,
}

impl Live {
    fn run(
        &self,
        entry: &EngineEntry,
        channels: usize,
        rows: &mut Vec<String>,
    ) -> Result<RunResult, Box<dyn Error>> {
        let response = |channel| response(channel, self.length);
        let workload = Workload {
            priority: CALLBACK_PRIORITY - 5,
            partition: self.partition.as_deref(),
            ..Workload::new(channels, self.length, &response)
        };
        // Preparation takes long and must not run with real-time priority.
        system::set_priority(0)?;
        let mut it = (entry.make)(&workload)?;
        system::set_priority(CALLBACK_PRIORITY)?;
        let blocks = (self.seconds as f64 * RATE / BLOCK as f64) as usize;
        let result = run(&mut *it, channels, &self.signal, blocks, self.core);
        system::set_priority(0)?;
        let us = |ns: u64| ns as f64 / 1e3;
        println!(
            "{:<10} {channels:>4} channels: {} missed, {} of them unexplained; worst block {:.0} µs; {:.1} % of the core; {} gaps of \
             together {:.0} µs; {}",
            entry.name,
            result.missed,
            result.unexplained,
            us(result.worst_ns),
            100.0 * result.share,
            result.gaps.0,
            us(result.gaps.1),
            it.setting()
        );
        rows.push(format!(
            "{},{},{channels},{},{},{},{:.1},{:.2},{},{:.0}",
            entry.name,
            self.length,
            self.seconds,
            result.missed,
            result.unexplained,
            us(result.worst_ns),
            100.0 * result.share,
            result.gaps.0,
            us(result.gaps.1)
        ));
        Ok(result)
    }

    fn find(
        &self,
        entry: &EngineEntry,
        options: &Options,
        rows: &mut Vec<String>,
    ) -> Result<(), Box<dyn Error>> {
        let step = options.number("step")?.unwrap_or(10).max(1);
        let mut channels = options.number("from")?.unwrap_or(40);
        let mut held = None;
        while channels <= options.number("to")?.unwrap_or(1000) {
            let holds = (0..2).find_map(|_| match self.run(entry, channels, rows) {
                Ok(result) if result.is_in_time() => Some(Ok(())),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            });
            match holds {
                Some(Ok(())) => held = Some(channels),
                Some(Err(error)) => return Err(error),
                None => break,
            }
            channels += step;
        }
        let max = held.map_or("none of these".to_owned(), |n| n.to_string());
        println!("{} holds {max}\n", entry.name);
        Ok(())
    }
}
