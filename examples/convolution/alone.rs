//! The crate `divisi-conv` alone: an impulse response from a file, a block at a time, long partitions on threads.

use divisi_conv::ir::{Ir, IrLimit, Paths};
use divisi_conv::{
    AddedLatency, Convolver, ConvolverOptions, LevelThreads, LevelThreadsOptions, Partition,
};
use units::SampleRate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/convolution/hall.wav"
    );
    let rate = SampleRate::new(48_000).expect("48000 is not zero");
    let hall = Ir::load(file, rate, &IrLimit::default())?.ir;
    let paths = Paths::from_ir(&hall, 1)?; // one channel in, two out
    let partition = Partition::typical(64, AddedLatency::None, paths.frames())?;
    let mut convolver = Convolver::new(1, 2, &paths.resolve(), &ConvolverOptions::new(partition))?;
    let mut threads = LevelThreads::new(&convolver, &LevelThreadsOptions::default())?;
    for block in 0..1000 {
        convolver.write_input(0, &[if block == 0 { 1.0 } else { 0.0 }; 64]);
        convolver.process_block(&mut threads); // the callback
        println!(
            "{:9.6} {:9.6}",
            convolver.output(0)[0],
            convolver.output(1)[0]
        );
    }
    Ok(())
}
