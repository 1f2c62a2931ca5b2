//! Tests: networks that are read and run, and mistakes with their places.

use super::read;
use crate::kinds::{MemorySink, MemorySource};
use crate::{FiringOrder, RunOptions, run_on_caller};

const GOOD: &str = r#"
[settings]
rate = 48000

[network]
edges = ["in -> split -> down -> up -> both -> out", "split.out2 -> both.in2"]
piece = 32

[network.nodes]
in = { kind = "input" }
split = { kind = "split" }
down = { kind = "decimate", factor = 4, taps = 33 }
up = { kind = "interpolate", factor = 4 }
both = { kind = "add" }
out = { kind = "output", piece = 48 }

[network.queues]
"split.out2 -> both.in2" = { size = 4096 }
"#;

fn wrong(text: &str) -> Vec<(u32, u32, String, String)> {
    let reading = read(text).unwrap();
    assert!(reading.network.is_none());
    let found = reading.diagnostics.into_iter();
    found
        .map(|d| (d.span.line, d.span.column, d.message, d.help))
        .collect()
}

#[test]
fn a_network_is_read_and_runs() {
    assert!(read("[nodes]\na = { kind = \"osc\" }\n").is_none());
    let reading = read(GOOD).unwrap();
    assert_eq!(reading.diagnostics, []);
    let patch = reading.network.unwrap();
    assert_eq!(
        (patch.ratio(), patch.io_formats()),
        ((1, 1), [(1, 32), (1, 48)])
    );
    assert_eq!(patch.topology().queues.len(), 6);
    assert_eq!(*patch.check_result().sizes.last().unwrap(), 4096);
    assert_eq!(patch.place(patch.input_node()).line, 10);
    let play = MemorySource::new(vec![vec![1.0; 1000]], 32).unwrap();
    let (collect, recording) = MemorySink::new(1, 48).unwrap();
    let network = patch.build(Box::new(play), Box::new(collect));
    let summary =
        run_on_caller(network, &RunOptions::default(), FiringOrder::UntilBlocked).unwrap();
    assert_eq!(summary.growths, []);
    let recording = &recording.lock().unwrap()[0];
    // A constant goes through the low-passes as it is.
    assert!(recording.len() >= 1000 && recording[400..900].iter().all(|x| (x - 2.0).abs() < 0.02));
}

#[test]
fn every_mistake_is_reported_with_its_place() {
    let found = wrong(&GOOD.replace("\"split\" }", "\"splot\" }"));
    let (line, column, message, help) = &found[0];
    assert_eq!((*line, *column), (11, 18));
    assert_eq!(message, "there is no kind `splot`");
    assert_eq!(help, "did you mean `split`?");

    let found = wrong(&GOOD.replace(", \"split.out2 -> both.in2\"]", "]"));
    assert_eq!(
        (found[0].0, found[0].2.as_str()),
        (11, "`split.out2` has no queue")
    );

    let found = wrong(&GOOD.replace("-> up ->", "->"));
    assert!(
        found
            .iter()
            .any(|(_, _, message, _)| message.starts_with("`up.in` has no queue"))
    );

    let found = wrong(&GOOD.replace("factor = 4 }", "factor = 5 }"));
    let (line, _, message, _) = &found[0];
    assert_eq!(*line, 6);
    assert!(
        message.starts_with("the rates contradict each other at `"),
        "{message}"
    );

    let found = wrong(&GOOD.replace("size = 4096", "size = 10"));
    let (line, _, message, _) = &found[0];
    assert_eq!(*line, 6);
    assert!(
        message.contains("has 10 frames and would have to grow to"),
        "{message}"
    );

    let found = wrong(&GOOD.replace("factor = 4, taps", "factr = 4, taps"));
    assert_eq!(found[0].2, "`decimate` has no parameter `factr`");
    assert_eq!(found[0].3, "did you mean `factor`?");
    let found = wrong(&GOOD.replace("factor = 4, taps", "factor = -1, taps"));
    assert_eq!(found[0].2, "`factor` is -1; `decimate` takes 1 to 1024");

    let found = wrong(&GOOD.replace("-> both ->", "-> bott ->"));
    assert_eq!(found[0].2, "there is no node `bott`");
    let found = wrong(&GOOD.replace("split.out2 ->", "split.out3 ->"));
    assert_eq!(
        found[0].2,
        "`split` has 2 outputs; none of them is called `out3`"
    );
    assert!(found[0].3.starts_with("did you mean"));
}

#[test]
fn coefficients_may_be_a_list() {
    let filter = |coefs: &str| {
        format!(
            "[network]\nedges = [\"in -> low -> out\"]\n[network.nodes]\nin = {{ kind = \"input\" }}\n\
             low = {{ kind = \"fir\", coefs = {coefs} }}\nout = {{ kind = \"output\" }}\n"
        )
    };
    let good = read(&filter("[0.5, 1_0, -2.5e-1]")).unwrap();
    assert_eq!(good.diagnostics, []);
    let spec = good.network.unwrap();
    let input = spec.topology().input(crate::QueueId(0));
    assert_eq!((input.window, input.history), (256 + 2, 2));
    for bad in ["[]", "[0.5, true]", "[nan]", "[1e99]"] {
        assert_eq!(wrong(&filter(bad)).len(), 1, "{bad}");
    }
}

#[test]
fn keys_without_a_meaning_are_refused() {
    for (key, right) in [
        ("every = 2", "split = { kind = \"split\""),
        ("piece = 2.5", "split = { kind = \"split\""),
        ("colour = 1", "split = { kind = \"split\""),
    ] {
        assert_eq!(
            wrong(&GOOD.replace(right, &format!("{right}, {key}"))).len(),
            1,
            "{key}"
        );
    }
    assert!(
        wrong(&GOOD.replace("[network]\n", "[network]\ncolour = 1\n"))[0]
            .2
            .contains("`colour`")
    );
}

#[test]
fn a_cycle_without_initial_frames_is_a_deadlock() {
    let circle = |queues: &str| {
        format!(
            "[network]\nedges = [\"in -> both -> split -> out\",\n  \"split.2 -> echo -> both.2\"]\n\
             [network.nodes]\nin = {{ kind = \"input\" }}\nboth = {{ kind = \"add\" }}\n\
             split = {{ kind = \"split\" }}\necho = {{ kind = \"gain\", gain_db = -6 }}\n\
             out = {{ kind = \"output\" }}\n{queues}"
        )
    };
    let reading = read(&circle("")).unwrap();
    let [found] = &reading.diagnostics[..] else {
        panic!("{:?}", reading.diagnostics);
    };
    assert!(
        found
            .message
            .starts_with("these wait for each other for ever:")
    );
    assert_eq!(
        (found.related.len(), found.help.contains("initial")),
        (2, true)
    );
    let begun = "[network.queues]\n\"echo -> both.2\" = { initial = 256 }\n";
    assert!(read(&circle(begun)).unwrap().network.is_some());
}

#[test]
fn a_network_that_is_too_large_is_refused_before_it_is_built() {
    let nodes: String = (0..100)
        .map(|i| format!("n{i} = {{ kind = \"stft\", size = 1048576 }}\n"))
        .collect();
    let found = wrong(&format!("[network]\nedges = []\n[network.nodes]\n{nodes}"));
    assert!(
        found
            .iter()
            .any(|(.., message, _)| message.contains("too much memory"))
    );
    let nodes: String = (0..300)
        .map(|i| format!("n{i} = {{ kind = \"gain\" }}\n"))
        .collect();
    let found = wrong(&format!("[network]\nedges = []\n[network.nodes]\n{nodes}"));
    assert!(found[0].2.contains("1 to 256 nodes"));
    for odd in [
        "network = 3",
        "[network]",
        "[network]\nnodes = 3\nedges = 4",
        "[network]\nedges=[3]\n[network.nodes]\na=1",
    ] {
        assert!(!wrong(odd).is_empty());
    }
}
