//! Each command: its output, its files and its help.

mod common;

use common::{BEEP, Folder, repository, wav};

#[test]
fn a_run_that_lost_events_fails_and_says_so() {
    let here = Folder::new();
    let notes = vec!["0 C4"; 3000].join("; ");
    here.write(
        "crowd.toml",
        format!(
            "edges = [\"s -> v\", \"v.1 -> tone.notes\", \"tone -> out\"]\n[nodes]\n\
             s = {{ kind = \"score\", events = \"{notes}\" }}\nv = {{ kind = \"voices\", out = 1 }}\n\
             tone = {{ kind = \"note\" }}\nout = {{ kind = \"sink\" }}\n"
        ),
    );
    for line in [
        "render crowd.toml -o out.wav --seconds 0.1",
        "play crowd.toml --driver clock --workers 1 --seconds 0.1",
    ] {
        let call = here.call(line);
        assert_eq!(call.code, Some(1), "{line}: {}", call.err);
        let says_so = call.err.contains("events that found no room");
        assert!(says_so, "{line}: {}", call.err);
    }
}

#[test]
fn a_shape_can_be_checked_drawn_and_rendered() {
    let here = Folder::new();
    for line in [
        "line --nodes 5",
        "rake --nodes 11",
        "diamond --nodes 16",
        "random --nodes 26 --seed 3",
    ] {
        for file in ["graph.ag", "graph.toml"] {
            here.well(&format!("shape {line} -o {file}"));
            let nodes = line.split_whitespace().nth(2).unwrap();
            let said = here.well(&format!("check {file}")).out;
            assert!(
                said.starts_with(&format!("{file}: {nodes} nodes, ")),
                "{said}"
            );
            assert!(
                said.contains("1 output channel, latency 0 frames"),
                "{said}"
            );
        }
        here.well("draw graph.ag -o graph.svg");
        here.well("draw graph.toml -o graph.dot");
        assert!(here.read("graph.svg").starts_with(b"<svg "));
        assert!(here.read("graph.dot").starts_with(b"digraph "));
        here.well("render graph.ag -o out.wav --seconds 0.01");
        let (channels, samples) = wav(&here.read("out.wav"));
        assert_eq!((channels, samples.len()), (1, 480));
        assert!(samples.iter().any(|bits| *bits != 0));
    }
}

#[test]
fn a_graph_depends_only_on_its_seed() {
    let here = Folder::new();
    for (seed, file) in [(1, "a.ag"), (1, "b.ag"), (2, "c.ag")] {
        here.well(&format!(
            "shape random --nodes 40 --seed {seed} --work 250 -o {file}"
        ));
    }
    assert_eq!(here.read("a.ag"), here.read("b.ag"));
    assert_ne!(here.read("a.ag"), here.read("c.ag"));
    assert!(
        String::from_utf8(here.read("a.ag"))
            .unwrap()
            .contains("work")
    );
}

#[test]
fn check_writes_counts_and_diagnostics_as_json() {
    let here = Folder::new();
    here.write("good.ag", BEEP);
    here.well("check good.ag --json found.json");
    let found = here.json("found.json");
    assert_eq!(found["ok"], true);
    assert_eq!((&found["nodes"], &found["edges"]), (&2.into(), &1.into()));
    assert_eq!(found["output_channels"], 1);
    assert_eq!(found["latency_frames"], 0);

    here.write("bad.ag", BEEP.replace("s.1", "t.1"));
    let gave = here.call("check bad.ag --json -");
    assert_eq!(gave.code, Some(2));
    let found: serde_json::Value = serde_json::from_str(&gave.out).unwrap();
    let first = &found["diagnostics"][0];
    assert_eq!(
        (&found["ok"], &first["severity"]),
        (&false.into(), &"error".into())
    );
    assert_eq!((&first["line"], &first["column"]), (&3.into(), &8.into()));
    assert!(gave.err.contains("--> bad.ag:3:8"), "{}", gave.err);
}

#[test]
fn check_writes_a_session_as_a_new_ag_file_and_replaces_none() {
    let here = Folder::new();
    let session = "edges = [\"two.1 -> out\", \"two.0 -> out\"]\n[nodes]\n\
        two = { kind = \"osc\", freq = 440, count = 2, volume = 0.25 }\nout = { kind = \"sink\" }\n";
    here.write("session.toml", session);
    let gave = here.call("check session.toml --write flat.ag");
    assert_eq!(gave.code, Some(0), "{}", gave.err);
    assert!(
        gave.err.contains("`two.0` is called `two-0`"),
        "{}",
        gave.err
    );
    here.well("render session.toml -o a.wav --seconds 0.1");
    here.well("render flat.ag -o b.wav --seconds 0.1");
    assert_eq!(here.read("a.wav"), here.read("b.wav"));

    let written = here.read("flat.ag");
    let again = here.call("check session.toml --write flat.ag");
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("already"), "{}", again.err);
    assert_eq!(here.read("flat.ag"), written);

    for (text, lost) in [
        (
            format!("{session}[settings]\nrate = 44100\n"),
            "setting `rate`",
        ),
        (
            session.replace("count = 2", "count = 2, every = 2"),
            "`every`",
        ),
    ] {
        here.write("more.toml", text);
        let gave = here.call("check more.toml --write more.ag");
        assert!(
            gave.code != Some(0) && gave.err.contains(lost),
            "{}",
            gave.err
        );
        assert!(!here.path("more.ag").exists());
    }
    std::fs::create_dir(here.path("other")).unwrap();
    here.write("file.ag", "p = { kind: \"recorder\", file: \"a.wav\", };\no = { kind: \"osc\", freq: 9, };\ns = { kind: \"sink\", };\no.1 -> p.1 -> s.1;\n");
    let moved = here.call("check file.ag --write other/file.ag");
    assert!(
        moved.code == Some(2) && moved.err.contains("folder"),
        "{}",
        moved.err
    );
}

#[test]
fn check_leaves_the_file_of_a_recorder_alone() {
    let here = Folder::new();
    let session = "edges = [\"tone -> tape -> out\"]\n[nodes.tone]\nkind = \"osc\"\nfreq = 440\n\
        [nodes.tape]\nkind = \"recorder\"\nfile = \"old.wav\"\n[nodes.out]\nkind = \"sink\"\n";
    here.write("session.toml", session);
    here.write("old.wav", "precious");
    here.well("check session.toml");
    assert_eq!(here.read("old.wav"), b"precious");
    here.well("render session.toml -o out.wav --seconds 0.1");
    let (_, recorded) = wav(&here.read("old.wav"));
    let (_, rendered) = wav(&here.read("out.wav"));
    assert_eq!(recorded[..rendered.len()], rendered);
}

#[test]
fn a_render_is_exact_in_frames() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    for (seconds, frames) in [("0", 0), ("0.001", 48), ("0.01", 480), ("0.0333333", 1600)] {
        here.well(&format!("render beep.ag -o out.wav --seconds {seconds}"));
        assert_eq!(wav(&here.read("out.wav")).1.len(), frames, "{seconds} s");
    }
}

#[test]
fn options_override_settings_of_the_session() {
    let here = Folder::new();
    let session = "edges = [\"tone -> out\"]\n[settings]\nrate = 44100\nblock = 32\n\
        [nodes.tone]\nkind = \"osc\"\nfreq = 440\n[nodes.out]\nkind = \"sink\"\n";
    here.write("session.toml", session);
    here.well("render session.toml -o out.wav --seconds 0.1 --json report.json");
    let report = here.json("report.json");
    assert_eq!(
        (&report["rate"], &report["block"]),
        (&44100.into(), &32.into())
    );
    here.well(
        "render session.toml -o out.wav --seconds 0.1 --block 128 --rate 96000 --json report.json",
    );
    let report = here.json("report.json");
    assert_eq!(
        (&report["rate"], &report["block"]),
        (&96000.into(), &128.into())
    );
    assert_eq!(report["cycles"], 75);
}

#[test]
fn a_report_has_every_documented_key() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    here.well("render beep.ag -o out.wav --seconds 0.1 --json rendered.json");
    here.well("play beep.ag --driver clock --seconds 0.1 --times --json played.json");
    let names = "version scheduler workers block rate driver kernels partition nodes cycles missed late abandoned faults \
        muted misses_by_node trace_dropped cycle_ns cycle_histogram acquisitions_per_cycle wakes_per_cycle latency_frames \
        speedup_bound";
    for (file, driver) in [("rendered.json", "file"), ("played.json", "clock")] {
        let report = here.json(file);
        for name in names.split_whitespace() {
            assert!(report.get(name).is_some(), "{file} has no {name}");
        }
        assert_eq!(
            (&report["driver"], &report["nodes"]),
            (&driver.into(), &2.into())
        );
        assert_eq!((&report["late"], &report["faults"]), (&0.into(), &0.into()));
        for name in ["mean", "p50", "p99", "p99_9", "max"] {
            assert!(
                report["cycle_ns"][name].as_f64().unwrap() > 0.0,
                "{file}: {name}"
            );
        }
        assert!(report["latency_frames"]["graph"].is_u64());
        assert!(report["latency_frames"]["driver"].is_u64());
    }
    assert!(here.json("played.json")["node_ns"]["o"]["count"].as_u64() > Some(0));
}

#[test]
fn standard_output_has_only_json_with_json_dash() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let gave = here.well("render beep.ag -o out.wav --seconds 0.1 --json -");
    let report: serde_json::Value = serde_json::from_str(&gave.out).unwrap();
    assert_eq!(report["cycles"], 75);
    assert!(gave.err.contains("75 cycles"), "{}", gave.err);
    for command in ["devices", "doctor"] {
        let gave = here.well(&format!("{command} --json -"));
        let found: serde_json::Value = serde_json::from_str(&gave.out).unwrap();
        assert!(!found.as_array().unwrap().is_empty());
    }
}

#[test]
fn play_names_the_driver_and_prints_a_report() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let gave = here.well("play beep.ag --driver clock --seconds 0.05 --block 256 --workers 1");
    assert!(
        gave.err
            .contains("playing by the clock, without a device\n"),
        "{}",
        gave.err
    );
    assert!(
        gave.out
            .starts_with("sequential on 1 worker, 256 frames at 48000 Hz, clock\n"),
        "{}",
        gave.out
    );
}

#[test]
fn devices_lists_the_clock_and_doctor_the_cores() {
    let here = Folder::new();
    assert!(here.well("devices").out.contains("✓ clock"));
    assert!(here.well("doctor").out.contains("cores: "));
}

#[test]
fn every_command_has_help_with_examples() {
    let here = Folder::new();
    let help = here.well("--help").out;
    assert!(help.contains("Examples:\n  divisi play"));
    for command in "play render check shape draw devices doctor kinds schema".split_whitespace() {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        let said = here.well(&format!("{command} --help")).out;
        assert!(said.contains(&format!("  divisi {command} ")), "{said}");
    }
    let version = here.well("--version").out;
    assert_eq!(version, format!("divisi {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_published_schema_is_up_to_date() {
    let published = std::fs::read_to_string(repository("docs/session.schema.json")).unwrap();
    let printed = Folder::new().well("schema").out;
    assert!(
        published == printed,
        "run `divisi schema > docs/session.schema.json`"
    );
    let published = std::fs::read_to_string(repository("docs/commands.schema.json")).unwrap();
    let printed = Folder::new().well("schema --commands").out;
    assert!(
        published == printed,
        "run `divisi schema --commands > docs/commands.schema.json`"
    );
}

#[test]
fn a_page_of_the_users_own_is_not_overwritten() {
    let here = Folder::new();
    std::fs::create_dir(here.path("pages")).unwrap();
    here.write("pages/osc.md", "my notes");
    let called = here.call("kinds --pages pages");
    assert!(
        called.code == Some(2) && called.err.contains("osc.md"),
        "{}",
        called.err
    );
    assert_eq!(
        std::fs::read_to_string(here.path("pages/osc.md")).unwrap(),
        "my notes"
    );
    assert!(!here.path("pages/mix.md").exists());
    let called = here.call("kinds oscc");
    assert!(
        called.code == Some(2) && called.err.contains("did you mean `osc`?"),
        "{}",
        called.err
    );
}

#[test]
fn force_workers_uses_workers_that_auto_would_not() {
    let here = Folder::new();
    here.write("beep.ag", common::BEEP);
    let render = "render beep.ag -o out.wav --seconds 0.1 --workers 2 --json report.json";
    here.well(render);
    let free = here.json("report.json");
    assert_eq!(
        (&free["scheduler"], &free["workers"]),
        (&"sequential".into(), &1.into())
    );
    here.well(&format!("{render} --force-workers"));
    let forced = here.json("report.json");
    assert_eq!(forced["workers"], 2);
    assert_ne!(forced["scheduler"], "sequential");
}

#[test]
fn queue_peer_echoes_until_its_input_ends() {
    use std::io::{Read, Write};
    for (role, answers) in [(None, 3), (Some("--sink"), 1)] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_divisi"))
            .args(["queue-peer", "64"])
            .args(role)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = child.stdin.take().unwrap();
        to.write_all(&[7; 3 * 64]).unwrap();
        drop(to);
        let mut got = Vec::new();
        { child.stdout.take().unwrap() }
            .read_to_end(&mut got)
            .unwrap();
        assert_eq!(got, vec![7; answers * 64]);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn what_a_unit_does_is_drawn_with_its_parameters() {
    let here = Folder::new();
    for unit in [
        "svf freq=500 q=5",
        "lfo shape=drift",
        "slew rise=0.1",
        "math op=fold b=0.5",
        "osc freq=440",
    ] {
        here.well(&format!("draw --unit {unit} -o unit.svg"));
        let svg = String::from_utf8(here.read("unit.svg")).unwrap();
        assert!(svg.contains("<svg"), "{unit}");
        let first = unit.split(' ').next().unwrap();
        assert!(svg.contains(first), "the title names {unit}");
    }
    for (call, why) in [
        ("draw --unit svff -o a.svg", "did you mean `svf`?"),
        ("draw --unit svf qq=2 -o a.svg", "has no parameter `qq`"),
        ("draw --unit svf q=wide -o a.svg", "takes a number"),
        ("draw --unit svf wide -o a.svg", "KEY=VALUE"),
        ("draw --unit score -o a.svg", "no audio output"),
        ("draw --unit svf -o a.dot", ".svg"),
        ("draw -o a.svg", "FILE"),
    ] {
        let called = here.call(call);
        assert!(
            called.code == Some(2) && called.err.contains(why),
            "{call}: {}",
            called.err
        );
    }
}

#[test]
fn play_renders_ahead_what_no_live_input_reaches_and_reports_it() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let call = "play beep.ag --driver clock --scheduler sequential --seconds 0.5 --json";
    let gave = here.well(&format!("{call} ahead.json --render-ahead 32"));
    let ahead = &here.json("ahead.json")["ahead"];
    let blocks = ["in_time", "in_callback"].map(|count| ahead[count].as_u64().unwrap());
    let cycles = here.json("ahead.json")["cycles"].as_u64().unwrap();
    assert!(ahead["nodes"].as_u64().unwrap() >= 1 && blocks.iter().sum::<u64>() == cycles);
    assert!(
        gave.out.contains("ahead: ") || gave.err.contains("ahead: "),
        "{}",
        gave.err
    );
    here.well(&format!("{call} plain.json"));
    assert!(here.json("plain.json")["ahead"].is_null());
    let refused = here.call("play beep.ag --render-ahead 0");
    assert!(
        refused.code == Some(2) && refused.err.contains("1..=64"),
        "{}",
        refused.err
    );
}
