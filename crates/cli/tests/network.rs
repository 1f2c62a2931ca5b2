//! `check` and `render` of a session's process network: rates, samples, and memory.

mod common;

use common::{Folder, repository, sound, wav};
use std::path::Path;

const HALF: &str = "\
[network]
edges = [\"in -> split -> low -> both -> half -> out\", \"split.out2 -> both.in2\"]
piece = 128

[network.nodes]
in = { kind = \"input\" }
split = { kind = \"split\" }
low = { kind = \"overlap_save\", taps = 101, cutoff = 0.05, size = 1024 }
both = { kind = \"add\" }
half = { kind = \"decimate\", factor = 2, coefs = [1.0] }
out = { kind = \"output\" }
";

fn ramp(frames: usize) -> Vec<f32> {
    (0..frames)
        .map(|i| (i % 1000) as f32 / 1000.0 - 0.5)
        .collect()
}

#[test]
fn check_gives_the_rates_and_the_sizes_of_queues() {
    let here = Folder::new();
    here.write("half.toml", HALF);
    let gave = here.well("check half.toml");
    assert!(
        gave.out
            .contains("network: 6 nodes, 6 queues; the rates fit: 1 frame out for 2 in"),
        "{}",
        gave.out
    );
    assert!(gave.out.contains("split.out2 -> both.in2"), "{}", gave.out);
    here.well("check half.toml --json check.json");
    let network = &here.json("check.json")["network"];
    assert_eq!(
        (&network["frames_out"], &network["frames_in"]),
        (&1.into(), &2.into())
    );
    let queues = network["queues"].as_array().unwrap();
    assert!(
        queues.len() == 6
            && queues
                .iter()
                .all(|queue| queue["sufficient"].as_u64() > Some(0))
    );
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let here = Folder::new();
    for (wrong, right, told, line) in [
        ("\"adt\"", "\"add\"", "there is no kind `adt`", 9),
        ("out3 ->", "out2 ->", "none of them is called `out3`", 2),
        (
            ", factor = 2 }\nhalf",
            " }\nhalf",
            "`add` has no parameter `factor`",
            9,
        ),
    ] {
        here.write("wrong.toml", HALF.replacen(right, wrong, 1));
        let gave = here.call("check wrong.toml");
        assert_eq!(gave.code, Some(2), "{}", gave.err);
        assert!(gave.err.contains(told), "{}", gave.err);
        assert!(
            gave.err.contains(&format!("wrong.toml:{line}:")),
            "{}",
            gave.err
        );
        let gave = here.call("render wrong.toml -o out.wav --input in.wav");
        assert_eq!(
            (gave.code, here.has("out.wav")),
            (Some(2), false),
            "{}",
            gave.err
        );
    }
}

#[test]
fn render_gives_the_same_bits_for_any_number_of_workers() {
    let here = Folder::new();
    here.write("half.toml", HALF);
    let left = ramp(10_001);
    here.write("in.wav", sound(44_100, &[&left]));
    let mut first = None;
    for workers in 1..=3 {
        here.well(&format!(
            "render half.toml -o out.wav --input in.wav --workers {workers} --json run.json"
        ));
        let bytes = here.read("out.wav");
        let (channels, bits) = wav(&bytes);
        assert_eq!((channels, bits.len()), (1, 5001));
        let run = here.json("run.json");
        assert_eq!(
            (&run["frames_out"], &run["growths"]),
            (&5001.into(), &0.into())
        );
        assert_eq!(
            *first.get_or_insert_with(|| bytes.clone()),
            bytes,
            "{workers} workers"
        );
        // Low frequencies pass the filter with half its length as delay: the sum is nearly twice the ramp.
        let at = |frame: usize| f32::from_bits(bits[frame]);
        assert!((at(350) - (left[700] + left[650])).abs() < 1e-3);
    }
}

#[test]
fn render_refuses_wrong_calls() {
    let here = Folder::new();
    here.write("half.toml", HALF);
    here.write("in.wav", sound(44_101, &[&ramp(100)]));
    let gave = here.call("render half.toml -o out.wav");
    assert!(
        gave.code == Some(2) && gave.err.contains("--input IN.wav"),
        "{}",
        gave.err
    );
    let gave = here.call("render half.toml -o out.wav --input in.wav");
    assert!(
        gave.code == Some(2) && gave.err.contains("no rate that a file can have"),
        "{}",
        gave.err
    );
    let gave = here.call("play half.toml --driver clock");
    assert!(
        gave.code == Some(2) && gave.err.contains("a process network"),
        "{}",
        gave.err
    );
    let gave = here.call("render half.toml -o out.wav --input none.wav");
    assert_eq!(gave.code, Some(2), "{}", gave.err);
    assert!(!here.has("out.wav"));
    here.write(
        "both.toml",
        format!("{HALF}\n[nodes]\no = {{ kind = \"sink\" }}\n"),
    );
    let gave = here.call("render both.toml -o out.wav --input in.wav");
    assert!(
        gave.code == Some(2) && gave.err.contains("nodes and a network"),
        "{}",
        gave.err
    );
}

#[test]
fn too_large_queues_are_refused_by_name_before_allocation() {
    let here = Folder::new();
    let wide = "[network]\nedges = [\"in -> out\"]\n[network.nodes]\n\
        in = { kind = \"input\", channels = 18 }\nout = { kind = \"output\", channels = 18 }\n\
        [network.queues]\n\"in -> out\" = { size = 16777216 }\n";
    here.write("wide.toml", wide);
    let ramp = ramp(100);
    here.write("in.wav", sound(48_000, &[&ramp[..]; 18]));
    let gave = here.call("render wide.toml -o out.wav --input in.wav");
    assert!(
        gave.code == Some(1)
            && gave.err.contains("in.out -> out.in")
            && gave.err.contains("1073741824"),
        "{:?} {}",
        gave.code,
        gave.err
    );
}

/// Peak memory of a call in kB, read from the kernel while it runs.
fn peak_kb(here: &Folder, line: &str) -> u64 {
    let mut child = here.command(line).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let said = std::fs::read_to_string(Path::new(&status)).unwrap_or_default();
        let line = said.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kb.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success());
    peak
}

#[test]
fn a_file_of_any_length_takes_the_same_memory() {
    if !Path::new("/proc/self/status").exists() {
        return;
    }
    let here = Folder::new();
    here.write("half.toml", HALF);
    here.write("short.wav", sound(48_000, &[&ramp(400_000)]));
    here.write("long.wav", sound(48_000, &[&ramp(10_000_000)]));
    let [short, long] = ["short", "long"].map(|name| {
        peak_kb(
            &here,
            &format!("render half.toml -o {name}-out.wav --input {name}.wav --workers 2"),
        )
    });
    // The file alone has 40 MB.
    assert!(short > 0 && long < short + 4096, "{short} kB and {long} kB");
    assert_eq!(wav(&here.read("long-out.wav")).1.len(), 5_000_000);
}

#[test]
fn the_example_checks_and_renders() {
    let here = Folder::new();
    let example = repository("examples/network/spectra.toml");
    let gave = here.well(&format!("check {}", example.display()));
    assert!(
        gave.out
            .contains("network: 10 nodes, 10 queues; the rates fit: 1 frame out for 1 in"),
        "{}",
        gave.out
    );
    here.write("in.wav", sound(48_000, &[&ramp(5000)]));
    here.well(&format!(
        "render {} -o out.wav --input in.wav",
        example.display()
    ));
    let (channels, bits) = wav(&here.read("out.wav"));
    assert_eq!((channels, bits.len()), (1, 5000));
    assert!(bits.iter().all(|bits| f32::from_bits(*bits).is_finite()));
}

#[test]
fn draw_shows_firings_and_queue_sizes() {
    let here = Folder::new();
    here.write("half.toml", HALF);
    here.well("draw half.toml -o half.svg");
    let svg = String::from_utf8(here.read("half.svg")).unwrap();
    // 128 frames come at a time, 924 are right in a window of 1024.
    for told in ["decimate x", "overlap_save x", ">128 to 924 of 1024: "] {
        assert!(svg.contains(told), "{told}: {svg}");
    }
    here.well("draw half.toml -o half.dot");
    let dot = String::from_utf8(here.read("half.dot")).unwrap();
    assert_eq!(dot.matches(" [label=\"128 to 128").count(), 3, "{dot}");
}

#[test]
fn a_network_alone_is_refused_where_a_graph_is_needed() {
    let here = Folder::new();
    here.write("half.toml", HALF);
    for call in [
        "plan half.toml",
        "play half.toml --seconds 1",
        "measure half.toml",
    ] {
        let gave = here.call(call);
        assert_eq!(gave.code, Some(2), "{call}: {}", gave.err);
        assert!(
            gave.err
                .contains("use `render` (which runs it over a file)"),
            "{call}: {}",
            gave.err
        );
    }
    here.write("none.toml", "[cells]\ncount = 2\n");
    for call in [
        "check none.toml",
        "play none.toml",
        "draw none.toml -o none.svg",
    ] {
        let gave = here.call(call);
        assert_eq!(gave.code, Some(2), "{call}: {}", gave.err);
        assert!(
            gave.err.contains("there is neither a node nor a network"),
            "{call}: {}",
            gave.err
        );
    }
}
