//! The node `network` in a graph: it gives the output of its network with the latency that it states, allocates nothing
//! while it plays, and equals a new one after a reset.

use divisi_check::alloc::Counting;
use divisi_check::conformance::node;
use divisi_check::network::arms;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput};
use divisi_check::rng::Rng;
use graph::ParamValue;
use std::path::PathBuf;
use units::SampleRate;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// There and back again, which is the sound itself.
const SAME: &str = "\
[network]
edges = [\"in -> there -> back -> out\"]
channels = 2
[network.nodes]
in = { kind = \"input\" }
there = { kind = \"stft\", size = 256, hop = 64 }
back = { kind = \"istft\", size = 256, hop = 64 }
out = { kind = \"output\" }
";

/// A session on disk, gone with this.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("divisi-check-network-{}-{name}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("there is room for files");
        Self(path)
    }

    fn rig(&self) -> ProcessorBench {
        let file = ParamValue::Text(self.0.to_str().expect("it is plain").into());
        let params = [("file", file), ("channels", ParamValue::Number(2.0))];
        let rate = SampleRate::new(48_000).expect("48000 is not zero");
        ProcessorBench::new(&divisi::registry(), &node("network", &params), rate)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn take(seed: u64, frames: usize) -> TestInput {
    let mut rng = Rng(seed);
    let mut channel = || (0..frames).map(|_| rng.sample()).collect();
    TestInput {
        inputs: vec![channel(), channel()],
        events: Vec::new(),
        frames,
    }
}

#[test]
fn blocks_of_any_cut_give_the_same_bits_and_nothing_is_allocated() {
    for (name, text) in [("arms", arms(2)), ("same", SAME.into())] {
        let file = File::new(name, &text);
        let take = take(1, 3000);
        let whole = file.rig().process(&take, BlockSplit::Even(3000));
        assert_eq!(whole.allocations, 0, "{name}");
        assert!(whole.bits.iter().flatten().any(|bits| *bits != 0), "{name}");
        for cut in [
            BlockSplit::Even(1),
            BlockSplit::Even(64),
            BlockSplit::Even(100),
            BlockSplit::Random(Rng(5)),
        ] {
            let played = file.rig().process(&take, cut);
            assert!(played.bits == whole.bits, "{name} differs");
            assert_eq!(played.allocations, 0, "{name}");
        }
    }
}

#[test]
fn a_network_is_as_late_as_it_says() {
    let file = File::new("late", SAME);
    let mut rig = file.rig();
    let latency = rig.processor.latency().count();
    assert_eq!(latency, 255, "of 256 frames the first comes with the last");
    let take = take(2, 3000);
    let played = rig.process(&take, BlockSplit::Even(64));
    for (rendered, sound) in played.bits.iter().zip(&take.inputs) {
        let rendered: Vec<f32> = rendered.iter().map(|bits| f32::from_bits(*bits)).collect();
        assert!(rendered[..latency].iter().all(|x| *x == 0.0));
        let pairs = rendered[latency..].iter().zip(sound);
        let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{worst}");
    }
}

#[test]
fn after_a_reset_it_is_as_new() {
    let file = File::new("reset", &arms(2));
    let (first, other) = (take(3, 2000), take(4, 1777));
    let mut rig = file.rig();
    let new = rig.process(&first, BlockSplit::Even(64));
    rig.process(&other, BlockSplit::Even(77));
    rig.reset();
    assert!(rig.process(&first, BlockSplit::Even(64)).bits == new.bits);
    rig.process(&other, BlockSplit::Even(77));
    rig.set_up(SampleRate::new(44_100).expect("44100 is not zero"));
    rig.reset();
    assert!(
        rig.process(&first, BlockSplit::Even(100)).bits == new.bits,
        "set up again"
    );
}
