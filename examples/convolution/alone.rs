//! The crate `divisi-conv` alone: an impulse response from a file, a block at a time, long partitions on threads.

use divisi_conv::ir::{Ir, Limit, Paths};
use divisi_conv::{Convolver, Latency, Options, Partition, Threads, ThreadsOptions};
use units::SampleRate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/convolution/hall.wav"
    );
    let rate = SampleRate::new(48_000).expect("48000 is not zero");
    let hall = Ir::load(file, rate, &Limit::default())?.ir;
    let paths = Paths::lay(&hall, 1)?; // one channel in, two out
    let partition = Partition::typical(64, Latency::None, paths.frames())?;
    let mut convolver = Convolver::new(1, 2, &paths.ready(), &Options::new(partition))?;
    let mut threads = Threads::new(&convolver, &ThreadsOptions::default())?;
    for block in 0..1000 {
        convolver.hear(0, &[if block == 0 { 1.0 } else { 0.0 }; 64]);
        convolver.turn(&mut threads); // the callback
        println!(
            "{:9.6} {:9.6}",
            convolver.played(0)[0],
            convolver.played(1)[0]
        );
    }
    Ok(())
}
