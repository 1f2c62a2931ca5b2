//! Duration of pieces of work beside their cost estimates: each piece runs after a sweep over memory that fills the
//! second-level cache.
//!
//! ```text
//! weigh CHANNELS FRAMES PARTITION
//! ```

use conv::{
    AddedLatency, Convolver, ConvolverOptions, LevelScheduler, Partition, Path, TimeDistributed,
};
use rt::deferred::DeferredJob;
use std::env::args;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const BLOCK: usize = 64;

struct Timed {
    /// Shortest time of each piece of each line, in ns.
    min_ns: Vec<Vec<u64>>,
    sweep: Vec<u64>,
}

impl LevelScheduler for Timed {
    fn job_started(&mut self, line: usize, work: &mut DeferredJob<conv::Fdl>) {
        self.finish(line, work);
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<conv::Fdl>) -> bool {
        let mut piece = 0;
        while !work.is_available() {
            if self.min_ns[line].len() > 1 {
                for x in &mut self.sweep {
                    *x += 1;
                }
                black_box(&mut self.sweep);
            }
            let begun = Instant::now();
            work.run_piece();
            let ns = begun.elapsed().as_nanos() as u64;
            if let Some(min_ns) = self.min_ns[line].get_mut(piece) {
                *min_ns = ns.min(*min_ns);
            }
            piece += 1;
        }
        true
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = args().skip(1).collect();
    let [channels, frames, text] = &words[..] else {
        return Err("weigh CHANNELS FRAMES PARTITION".into());
    };
    let (channels, frames): (usize, usize) = (channels.parse()?, frames.parse()?);
    let partition = Partition::parse(BLOCK, AddedLatency::None, text)?;
    let longest = partition.levels().last().map_or(1, |l| l.size() / BLOCK);
    let response: Vec<f32> = (0..frames)
        .map(|n| ((n * 7919) % 1009) as f32 / 1e6)
        .collect();
    let paths: Vec<_> = (0..channels)
        .map(|i| Path::new(i, i, &response[..]))
        .collect();
    let options = TimeDistributed::adapt_options(&ConvolverOptions::new(partition), channels);
    let mut convolver = Convolver::new(channels, channels, &paths, &options)?;
    let infos: Vec<_> = convolver.fdls().collect();
    let costs: Vec<_> = (0..infos.len()).map(|i| convolver.piece_costs(i)).collect();
    let mut timed = Timed {
        min_ns: costs.iter().map(|c| vec![u64::MAX; c.len()]).collect(),
        sweep: vec![0; 3 << 17],
    };
    let input: Vec<f32> = (0..BLOCK).map(|n| (n as f32 * 0.1).sin()).collect();
    for _ in 0..8 * longest {
        for channel in 0..channels {
            convolver.write_input(channel, &input);
        }
        convolver.process_block(&mut timed);
    }
    for (line, info) in infos.iter().enumerate() {
        if info.is_in_callback {
            continue;
        }
        println!(
            "line {line}: {}x{}, {} outputs, {} pieces",
            info.count, info.size, info.outputs, info.piece_count
        );
        for (i, (cost, ns)) in costs[line].iter().zip(&timed.min_ns[line]).enumerate() {
            println!("  {i} {cost} {ns} {:.3}", *ns as f64 / *cost as f64);
        }
    }
    Ok(())
}
