//! Measurements of this machine decide the partition of a convolver, if they exist and the node states none.

use conv::{CostTable, LevelCost};
use divisi_check::conformance::node;
use divisi_check::impulse_files::ImpulseFiles;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput};
use divisi_check::rng::Rng;
use fft::Packing;
use graph::ParamValue;
use processor::Registry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::SampleRate;

/// Costs at which one level is best.
fn costs() -> CostTable {
    let mut costs = CostTable::default();
    for size in (6..=17).map(|bits| 1 << bits) {
        for count in [1, 2] {
            let ns = (size * size * count) as f64;
            costs.insert_level(LevelCost {
                packing: Packing::Mono,
                size,
                count,
                worst_ns: ns,
                typical_ns: ns,
            });
        }
    }
    costs
}

/// A convolver in blocks of 64 frames, with its gauges: the source of its partition, and its number of levels.
fn play(registry: &Registry, file: &str, partition: Option<&str>) -> (Vec<Vec<u32>>, [f32; 2]) {
    let mut params = vec![
        ("file", ParamValue::Text(file.into())),
        ("block", ParamValue::Number(64.0)),
    ];
    params.extend(partition.map(|text| ("partition", ParamValue::Text(text.into()))));
    let rate = SampleRate::new(48_000).unwrap();
    let mut rig = ProcessorBench::new(registry, &node("convolver", &params), rate);
    let mut rng = Rng(3);
    let take = TestInput {
        inputs: vec![(0..6400).map(|_| rng.sample()).collect()],
        events: Vec::new(),
        frames: 6400,
    };
    let bits = rig.process(&take, BlockSplit::Even(64)).bits;
    (bits, ["tuned", "levels"].map(|name| rig.gauges[name].get()))
}

#[test]
fn a_node_is_cut_by_what_was_measured_unless_it_says_otherwise() {
    let folder = ImpulseFiles::new("measured");
    let file = folder.write("one.wav", 1, 5000, 1);
    let (mut here, mut nowhere) = (Registry::default(), Registry::default());
    conv::register_with(&mut here, || Some(costs()));
    conv::register(&mut nowhere);
    let (by_hand, shown) = play(&here, &file, Some("79x64"));
    assert_eq!(shown, [-1.0, 1.0]);
    let (measured, shown) = play(&here, &file, None);
    assert_eq!(shown, [1.0, 1.0]);
    assert!(measured == by_hand);
    assert!(play(&here, &file, Some("tuned")) == (measured.clone(), shown));
    let (built_in, shown) = play(&here, &file, Some("built-in"));
    assert!(shown[0] == 0.0 && shown[1] > 1.0, "{shown:?}");
    assert!(built_in != measured);
    for partition in [None, Some("tuned"), Some("built-in")] {
        assert!(play(&nowhere, &file, partition) == (built_in.clone(), shown));
    }
}

#[test]
fn what_was_measured_is_asked_for_once_and_only_where_it_counts() {
    let folder = ImpulseFiles::new("asked");
    let file = folder.write("one.wav", 1, 5000, 1);
    let asked = Arc::new(AtomicU32::new(0));
    let mut registry = Registry::default();
    let count = asked.clone();
    conv::register_with(&mut registry, move || {
        count.fetch_add(1, Ordering::Relaxed);
        Some(costs())
    });
    for partition in [Some("79x64"), Some("built-in")] {
        play(&registry, &file, partition);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    for _ in 0..3 {
        play(&registry, &file, None);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}
