//! `tune` measures costs, stores them, and shows the best partitions.

mod common;

use common::{Folder, sound, wav};

#[test]
fn without_a_measurement_the_built_in_table_is_shown_and_drawn() {
    let here = Folder::new();
    let gave = here
        .well("tune --length 16128 --block 128 --latency block --show=cut.svg --json tune.json");
    assert!(gave.out.contains("built-in table"), "{}", gave.out);
    let tune = here.json("tune.json");
    let methods = tune["methods"].as_array().unwrap();
    let partitions: Vec<_> = methods
        .iter()
        .map(|w| w["partition"].as_str().unwrap())
        .collect();
    assert_eq!(partitions[0], "2x128 2x256 2x512 2x1024 2x2048 2x4096");
    assert_eq!(partitions[1], "14x128 14x1024");
    assert_eq!(partitions.len(), 3);
    let picture = String::from_utf8(here.read("cut.svg")).unwrap();
    assert!(picture.contains("14 partitions of 1024 frames"));
    assert!(picture.contains("arrivals and deadlines"));
}

#[test]
fn measured_costs_are_stored_and_used() {
    let here = Folder::new();
    let call = "tune --length 1000 --block 64";
    let gave = here.well(&format!("{call} --runs 3 --cores 2"));
    assert!(gave.err.contains("costs.json"), "{}", gave.err);
    assert!(gave.out.contains("the busiest core"), "{}", gave.out);
    let shown = here.well(&format!("{call} --show")).out;
    assert!(shown.contains("measured on this machine"), "{shown}");
    assert!(here.has("partition.svg"));
    let costs = here.json(".cache/divisi/costs.json");
    let machine = costs["machines"].as_object().unwrap().values().next();
    let levels = &machine.unwrap()["convolution"]["levels"];
    // For one channel and for sixteen, every size that any block can use.
    for channels in [1, 16] {
        for size in [16, 64, 256, 1024] {
            let is_it =
                |level: &&serde_json::Value| level["channels"] == channels && level["size"] == size;
            let of_size = levels.as_array().unwrap().iter().filter(is_it);
            assert!(of_size.count() >= 2, "{channels} {size}");
        }
    }
}

#[test]
fn one_packing_can_be_measured_alone_and_is_added_to_the_store() {
    let here = Folder::new();
    let call = "tune --length 300 --block 64 --runs 3 --json tune.json";
    for channels in [16, 1] {
        here.well(&format!("{call} --channels {channels}"));
        let tune = here.json("tune.json");
        assert_eq!(tune["channels"], channels);
        assert!(tune["side_by_side"].is_null());
    }
    let gave = here.well(&format!("{call} --show"));
    assert!(
        gave.out.contains("measured on this machine"),
        "{}",
        gave.out
    );
    let tune = here.json("tune.json");
    for of in [&tune, &tune["side_by_side"]] {
        let known = |name: &str| of["methods"][2][name].is_number();
        assert!(
            known("worst_ns_a_frame") && known("share_of_a_core"),
            "{of}"
        );
    }
}

#[test]
fn wrong_options_are_refused() {
    let here = Folder::new();
    for wrong in [
        "--block 100",
        "--block 8192",
        "--length 0",
        "--cores 0",
        "--channels 3",
        "--runs 1",
        "--show=cut.txt",
        "--latency two",
    ] {
        let gave = here.call(&format!("tune {wrong}"));
        assert_eq!(gave.code, Some(2), "{wrong}: {}", gave.err);
    }
}

/// Decaying samples without a pattern.
fn noise(frames: usize) -> Vec<f32> {
    let sample = |n: usize| (n * 7919 % 1009) as f32 / 1009.0 - 0.5;
    (0..frames)
        .map(|n| sample(n) * (1.0 - n as f32 / frames as f32))
        .collect()
}

#[test]
fn convolve_and_the_node_use_the_measured_partition() {
    let here = Folder::new();
    here.write("voice.wav", sound(48_000, &[&noise(5000)]));
    here.write("ir.wav", sound(48_000, &[&noise(900)]));
    let cut = |call: &str| {
        here.well(&format!(
            "convolve voice.wav ir.wav -o out.wav --json cut.json {call}"
        ));
        let facts = here.json("cut.json");
        let keys = ["partition", "partition_by"];
        keys.map(|key| facts[key].as_str().unwrap().to_owned())
    };
    assert_eq!(cut("")[1], "by the built-in table");
    here.well("tune --length 1000 --block 64 --runs 3");
    let [measured, by] = cut("");
    assert_eq!(by, "as measured on this machine");
    assert_eq!(cut("--block 16")[1], "as measured on this machine");
    assert_eq!(cut("--partition 20x64"), ["20x64", "as given"]);
    let render = |name: &str, partition: &str| {
        let graph = format!(
            r#"p = {{ kind: "player", file: "voice.wav", }}; s = {{ kind: "sink", }};
            c = {{ kind: "convolver", file: "ir.wav", block: 64, {partition} }}; p.1 -> c.1 -> s.1;"#
        );
        here.write(&format!("{name}.ag"), graph);
        here.well(&format!("render {name}.ag -o {name}.wav --block 64"));
        here.read(&format!("{name}.wav"))
    };
    let by_itself = render("itself", "");
    let given = format!(r#"partition: "{measured}","#);
    assert!(by_itself == render("given", &given));
    // By the table it may be cut in another way, and then is silent for longer or shorter after its end.
    let built_in = render("built-in", r#"partition: "built-in","#);
    let samples = |file: &[u8]| -> Vec<f32> {
        let (_, bits) = wav(file);
        bits.iter().map(|bits| f32::from_bits(*bits)).collect()
    };
    let (one, other) = (samples(&built_in), samples(&by_itself));
    assert!(one.len().min(other.len()) >= 5900);
    assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-4));
    assert!(one.iter().any(|x| x.abs() > 0.1));
}
