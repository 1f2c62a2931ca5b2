//! How many channels each contestant holds in real time on one core.
//!
//! `live [--seconds 10] [--length 524288] [--core 1] [--NAME N] ... [--find [--from 40] [--step 10]] [--csv FILE]`
//!
//! With `--zita 110 --ours 200` these are played, one after another. With `--find`, each contestant (or those of `--only`)
//! is given `step` channels more until it misses twice; ways that are options of another only if asked for by `--only`. Rows of the table are `contestant,length,channels,seconds,…`;
//! `divisi experiment convolution` shows them if they stand as `peers.csv` in its folder.

use divisi_bench_convolution::contestant::{Hall, Maker, all};
use divisi_bench_convolution::feed::{Feed, response};
use divisi_bench_convolution::live::{BEAT, Seen, play};
use divisi_bench_convolution::options::Options;
use divisi_bench_convolution::{BLOCK, RATE, system};
use std::error::Error;
use std::fs;

const HEAD: &str =
    "contestant,length,channels,seconds,missed,unexplained,worst_us,percent,gaps,gap_us";

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let table = Live {
        seconds: options.number("seconds")?.unwrap_or(10),
        length: options.number("length")?.unwrap_or(524_288),
        core: options.number("core")?.unwrap_or(1),
        feed: Feed::default(),
        partition: options.text("partition").map(str::to_owned),
    };
    let _awake = system::stay_awake();
    system::pin(table.core)?;
    if let Err(error) = system::lock_memory() {
        eprintln!("memory is not locked: {error}");
    }
    system::prioritise(BEAT).map_err(|error| {
        format!("real-time priority is refused ({error}): nothing to be seen without")
    })?;
    println!(
        "{}; one core; {} taps a channel, {} s a run",
        system::processor(),
        table.length,
        table.seconds
    );
    let mut rows = vec![HEAD.to_owned()];
    for maker in all() {
        if let Some(channels) = options.number(maker.name)? {
            table.run(&maker, channels, &mut rows)?;
        } else if options.has("find")
            && options
                .text("only")
                .map_or(maker.beside.is_none(), |names| {
                    names.split(',').any(|n| n == maker.name)
                })
        {
            table.find(&maker, &options, &mut rows)?;
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
    feed: Feed,
    partition: Option<String>,
}

impl Live {
    fn run(
        &self,
        maker: &Maker,
        channels: usize,
        rows: &mut Vec<String>,
    ) -> Result<Seen, Box<dyn Error>> {
        let response = |channel| response(channel, self.length);
        let hall = Hall {
            priority: BEAT - 5,
            partition: self.partition.as_deref(),
            ..Hall::new(channels, self.length, &response)
        };
        // What takes long and is not played has no claim to the core.
        system::prioritise(0)?;
        let mut it = (maker.make)(&hall)?;
        system::prioritise(BEAT)?;
        let blocks = (self.seconds as f64 * RATE / BLOCK as f64) as usize;
        let seen = play(&mut *it, channels, &self.feed, blocks, self.core);
        system::prioritise(0)?;
        let us = |ns: u64| ns as f64 / 1e3;
        println!(
            "{:<10} {channels:>4} channels: {} missed, {} of them unexplained; worst block {:.0} µs; {:.1} % of the core; {} gaps of \
             together {:.0} µs; {}",
            maker.name,
            seen.missed,
            seen.unexplained,
            us(seen.worst_ns),
            100.0 * seen.share,
            seen.gaps.0,
            us(seen.gaps.1),
            it.setting()
        );
        rows.push(format!(
            "{},{},{channels},{},{},{},{:.1},{:.2},{},{:.0}",
            maker.name,
            self.length,
            self.seconds,
            seen.missed,
            seen.unexplained,
            us(seen.worst_ns),
            100.0 * seen.share,
            seen.gaps.0,
            us(seen.gaps.1)
        ));
        Ok(seen)
    }

    fn find(
        &self,
        maker: &Maker,
        options: &Options,
        rows: &mut Vec<String>,
    ) -> Result<(), Box<dyn Error>> {
        let step = options.number("step")?.unwrap_or(10).max(1);
        let mut channels = options.number("from")?.unwrap_or(40);
        let mut held = None;
        while channels <= options.number("to")?.unwrap_or(1000) {
            let holds = (0..2).find_map(|_| match self.run(maker, channels, rows) {
                Ok(seen) if seen.holds() => Some(Ok(())),
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
        let most = held.map_or("none of these".to_owned(), |n| n.to_string());
        println!("{} holds {most}\n", maker.name);
        Ok(())
    }
}
