//! Sessions that are refused before anything is tried, warnings, and closed pipes. Wrong calls are in `cases.rs`.

mod common;

use common::{BEEP, Folder};

#[test]
fn an_endless_session_is_refused_before_measuring() {
    let here = Folder::new();
    here.well("shape random --nodes 400 --work 2000 -o endless.ag");
    let gave = here.call("render endless.ag -o out.wav --workers 2 --trace t.json");
    assert_eq!(gave.code, Some(2), "{}", gave.err);
    assert!(gave.err.contains("--seconds"), "{}", gave.err);
    assert!(!gave.err.contains("auto"), "{}", gave.err);
    for file in ["out.wav", "t.json", ".cache"] {
        assert!(!here.has(file), "{file}");
    }
}

#[test]
fn a_warning_does_not_stop_the_session() {
    let here = Folder::new();
    here.write("odd.ag", BEEP.replace("osc", "theremin"));
    let gave = here.well("render odd.ag -o out.wav --seconds 0.01");
    assert!(gave.err.contains("--> odd.ag:1:13"), "{}", gave.err);
    assert!(here.well("check odd.ag").err.contains("theremin"));
}

#[test]
fn an_operation_that_needs_a_number_is_refused_at_its_place() {
    let here = Folder::new();
    let text = |b: &str| {
        let head = "edges = [\"o -> m -> s\"]\n[nodes.o]\nkind = \"osc\"\nfreq = 440\n[nodes.s]\nkind = \"sink\"\n";
        format!("{head}[nodes.m]\nkind = \"math\"\nop = \"mul\"\n{b}")
    };
    here.write("none.toml", text(""));
    for line in [
        "check none.toml",
        "render none.toml -o out.wav --seconds 0.01",
    ] {
        let gave = here.call(line);
        assert_eq!(gave.code, Some(2), "{line}: {}", gave.err);
        let message = "`mul` needs a number: set `b`, or drive it";
        assert!(gave.err.contains(message), "{line}: {}", gave.err);
        assert!(
            gave.err.contains("--> none.toml:7:"),
            "{line}: {}",
            gave.err
        );
    }
    here.write("zero.toml", text("b = 0"));
    here.well("check zero.toml");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    for line in ["schema", "devices", "check beep.ag", "--help"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = here.command(line);
        let status = command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let code = status.status().unwrap().code();
        assert_eq!(code, Some(0), "divisi {line}");
    }
}

#[test]
fn a_choice_between_numbers_takes_one_without_quotes() {
    let here = Folder::new();
    let session = |times: &str| {
        format!(
            "edges = [\"a -> b -> out\"]\n[nodes]\na = {{ kind = \"osc\", freq = 100 }}\n\
             b = {{ kind = \"saturate\", oversample = {times} }}\nout = {{ kind = \"sink\" }}\n"
        )
    };
    for times in ["2", "2.0", "\"2\""] {
        here.write("s.toml", session(times));
        let checked = here.well("check s.toml");
        assert!(checked.out.contains("latency 64 frames"), "{}", checked.out);
    }
    here.write("s.toml", session("3"));
    let gave = here.call("check s.toml");
    assert_eq!(gave.code, Some(2), "{}", gave.err);
    let message = "`oversample` takes `4`, `1`, `2` or `8`, not 3";
    assert!(gave.err.contains(message), "{}", gave.err);
}

#[test]
fn a_port_that_is_not_there_is_answered_with_those_that_are() {
    let here = Folder::new();
    let session = |kind: &str| {
        format!(
            "edges = [\"a.sum -> out\"]\n[nodes]\na = {{ {kind} }}\nout = {{ kind = \"sink\" }}\n"
        )
    };
    for (kind, help) in [
        ("kind = \"hilbert\"", "they are called `real` and `imag`"),
        (
            "kind = \"pitch_tracker\"",
            "they are called `freq`, `clarity` and `changes`",
        ),
        (
            "kind = \"split\", channels = 8",
            "they are called `out1` to `out8`",
        ),
    ] {
        here.write("s.toml", session(kind));
        let gave = here.call("check s.toml");
        assert_eq!(gave.code, Some(2), "{}", gave.err);
        assert!(gave.err.contains(help), "{}", gave.err);
    }
}
