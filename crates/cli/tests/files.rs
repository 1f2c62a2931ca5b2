//! Latency and length of renders, peaks, damage in reports, and the costs file.

mod common;

use common::{BEEP, Folder, sound, wav};

const SAME: &str = "[network]\nedges = [\"in -> low -> out\"]\n[network.nodes]\nin = { kind = \"input\" }\n\
    low = { kind = \"gain\", piece = 100 }\nout = { kind = \"output\" }\n";

/// The input, 99 frames late.
const LATE: &str = "edges = [\"ear -> late -> out\"]\n[nodes.ear]\nkind = \"input\"\n[nodes.late]\nkind = \"network\"\n\
    file = \"same.toml\"\n[nodes.out]\nkind = \"sink\"\n";

fn tone(frames: u16) -> Vec<f32> {
    { 0..frames }
        .map(|n| (f32::from(n) * 0.05).sin() * 0.5)
        .collect()
}

#[test]
fn a_render_begins_with_its_input_and_ends_with_it_whatever_the_latency() {
    let here = Folder::new();
    here.write("same.toml", SAME);
    here.write("late.toml", LATE);
    let tone = tone(4810);
    here.write("tone.wav", sound(48_000, &[&tone]));
    let bits: Vec<u32> = tone.iter().map(|sample| sample.to_bits()).collect();
    for options in [
        "--scheduler sequential",
        "--scheduler sequential --block 256",
        "--scheduler pipelined --workers 2",
        "--scheduler stealing --workers 2",
    ] {
        here.well(&format!(
            "render late.toml --input tone.wav -o out.wav {options}"
        ));
        let (_, samples) = wav(&here.read("out.wav"));
        assert!(samples.starts_with(&bits), "{options}");
        // What follows is the tail of the nodes, which is silent here.
        let rest = &samples[bits.len()..];
        assert!(
            rest.len() < 1000 && rest.iter().all(|bits| *bits == 0),
            "{options}"
        );
    }
    // Without compensation a path keeps its latency.
    here.well("render late.toml --input tone.wav -o out.wav --seconds 0.1 --compensate off --scheduler sequential");
    let (_, samples) = wav(&here.read("out.wav"));
    assert_eq!(samples.len(), 4800);
    assert_eq!(samples[99..], bits[..4701]);
    let given = here
        .well("render late.toml --input tone.wav -o out.wav --seconds 0.05 --scheduler sequential");
    assert_eq!(wav(&here.read("out.wav")).1, bits[..2400], "{}", given.err);
}

#[test]
fn a_player_with_latency_is_rendered_to_its_last_frame_and_beyond() {
    let here = Folder::new();
    let mut click = [0.0; 100];
    click[99] = 1.0;
    here.write("click.wav", sound(48_000, &[&click]));
    // A symmetric filter of 33 taps, so 16 frames late.
    let session = "edges = [\"p -> f -> s\"]\n[nodes.p]\nkind = \"player\"\nfile = \"click.wav\"\n[nodes.f]\n\
        kind = \"fir\"\ntaps = 33\n[nodes.s]\nkind = \"sink\"\n";
    here.write("late.toml", session);
    here.well("render late.toml -o out.wav --scheduler sequential");
    let (_, bits) = wav(&here.read("out.wav"));
    let samples: Vec<f32> = bits
        .iter()
        .map(|bits| f32::from_bits(*bits).abs())
        .collect();
    let loudest = samples.iter().copied().fold(0.0, f32::max);
    assert_eq!(
        samples.iter().position(|sample| *sample == loudest),
        Some(99)
    );
    // The half of the response behind the click is there, the mirror of the half before it.
    assert!(samples.len() >= 116, "{} frames", samples.len());
    for k in 1..=16 {
        assert!((samples[99 - k] - samples[99 + k]).abs() < 1e-6, "{k}");
    }
}

#[test]
fn a_peak_above_full_scale_is_noted_by_render_and_play() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let loud = "edges = [\"o -> g -> s\"]\n[nodes.o]\nkind = \"osc\"\nfreq = 440\n[nodes.g]\nkind = \"gain\"\n\
        gain_db = 12\n[nodes.s]\nkind = \"sink\"\n";
    here.write("loud.toml", loud);
    for (line, is_loud) in [
        ("render loud.toml -o out.wav", true),
        ("play loud.toml --driver clock", true),
        ("render beep.ag -o out.wav", false),
        ("play beep.ag --driver clock", false),
    ] {
        let line = format!("{line} --seconds 0.1 --scheduler sequential --json report.json");
        let said = here.well(&line).err;
        assert_eq!(
            said.contains("dB above full scale"),
            is_loud,
            "{line}\n{said}"
        );
        let notes = here.json("report.json")["notes"].to_string();
        assert_eq!(
            notes.contains("dB above full scale"),
            is_loud,
            "{line}\n{notes}"
        );
    }
}

#[test]
fn a_report_counts_damaged_files_and_names_them() {
    let here = Folder::new();
    let whole = sound(48_000, &[&tone(4800)]);
    here.write("cut.wav", &whole[..whole.len() / 2]);
    let player = "edges = [\"p -> s\"]\n[nodes.p]\nkind = \"player\"\nfile = \"cut.wav\"\n[nodes.s]\nkind = \"sink\"\n";
    here.write("cut.toml", player);
    let said = here.well("render cut.toml -o out.wav --scheduler sequential --json report.json");
    let report = here.json("report.json");
    assert_eq!(
        (&report["damaged_files"], &report["lost_recordings"]),
        (&1.into(), &0.into())
    );
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("`p`: cut.wav is damaged") || notes.contains("bytes are missing"),
        "{notes}"
    );
    assert!(said.out.contains("1 damaged files"), "{}", said.out);
}

#[test]
fn two_recorders_of_one_file_under_two_names_are_refused() {
    let here = Folder::new();
    here.write("a.wav", "precious");
    std::fs::create_dir(here.path("takes")).unwrap();
    std::os::unix::fs::symlink(here.path("a.wav"), here.path("soft.wav")).unwrap();
    std::fs::hard_link(here.path("a.wav"), here.path("hard.wav")).unwrap();
    for name in ["soft.wav", "hard.wav", "takes/../a.wav"] {
        let recorder =
            |node, file| format!("[nodes.{node}]\nkind = \"recorder\"\nfile = \"{file}\"\n");
        let recorders = [recorder("r1", "a.wav"), recorder("r2", name)].concat();
        let text = format!(
            "edges = [\"o -> r1\", \"o -> r2\"]\n[nodes.o]\nkind = \"osc\"\nfreq = 440\n{recorders}"
        );
        here.write("twice.toml", text);
        for call in [
            "check twice.toml",
            "render twice.toml -o out.wav --seconds 0.1",
        ] {
            let called = here.call(call);
            assert_eq!(called.code, Some(2), "{call}, {name}: {}", called.err);
            let message = "`r1` and `r2` write the same file";
            assert!(
                called.err.contains(message),
                "{call}, {name}: {}",
                called.err
            );
            assert!(called.err.contains("twice.toml:"), "{}", called.err);
        }
        assert_eq!(here.read("a.wav"), b"precious");
    }
}

#[test]
fn a_damaged_costs_file_is_kept_under_another_name() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    std::fs::create_dir_all(here.path(".cache/divisi")).unwrap();
    let damaged = "{\"machines\": {\"mine\": {\"kinds\": {\"osc\": [{\"blo";
    here.write(".cache/divisi/costs.json", damaged);
    let said = here.well("plan beep.ag").err;
    assert!(said.contains("not a costs file"), "{said}");
    assert_eq!(
        here.read(".cache/divisi/costs.json"),
        damaged.as_bytes(),
        "reading changes nothing"
    );
    let said = here.well("measure beep.ag --repeats 1").err;
    assert!(said.contains("was damaged and is now"), "{said}");
    assert!(here.json(".cache/divisi/costs.json")["machines"].is_object());
    let names = std::fs::read_dir(here.path(".cache/divisi"))
        .unwrap()
        .flatten();
    let aside = names
        .map(|entry| entry.path())
        .find(|path| path.to_string_lossy().contains("damaged-"));
    assert_eq!(std::fs::read(aside.unwrap()).unwrap(), damaged.as_bytes());
    assert!(!here.well("plan beep.ag").err.contains("costs file"));
}

#[test]
fn a_costs_file_that_is_a_pipe_or_a_folder_costs_only_a_message() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    std::fs::create_dir_all(here.path(".cache/divisi/costs.json")).unwrap();
    let said = here.well("plan beep.ag").err;
    assert!(said.contains("it is a folder"), "{said}");
    std::fs::remove_dir(here.path(".cache/divisi/costs.json")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(here.path(".cache/divisi/costs.json"))
        .status();
    assert!(made.unwrap().success());
    let said = here.well("render beep.ag -o out.wav --seconds 0.01").err;
    assert!(said.contains("it is a pipe"), "{said}");
    assert_eq!(here.call("measure beep.ag --repeats 1").code, Some(1));
}

#[test]
fn costs_of_sessions_that_are_gone_are_dropped() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    here.write("gone.ag", BEEP);
    here.well("measure gone.ag --repeats 1");
    std::fs::remove_file(here.path("gone.ag")).unwrap();
    here.well("measure beep.ag --repeats 1");
    let costs = String::from_utf8(here.read(".cache/divisi/costs.json")).unwrap();
    assert!(
        costs.contains("beep.ag") && !costs.contains("gone.ag"),
        "{costs}"
    );
}

#[test]
fn the_samples_of_an_instrument_are_played_and_never_overwritten() {
    let here = Folder::new();
    here.write("a.wav", sound(48_000, &[&tone(4800)]));
    let before = here.read("a.wav");
    here.write("kit.sfz", "#define $K 60\n#include \"more.sfz\"");
    here.write("more.sfz", "<region> sample=a.wav key=$K lfo01_freq=3");
    let nodes = "song = { kind = \"score\", events = \"0 C4 1 1\" }\nkit = { kind = \"sampler\", file = \"kit.sfz\" }\n\
        out = { kind = \"sink\" }\n";
    here.write(
        "keys.toml",
        format!("edges = [\"song -> kit\", \"kit -> out\"]\n[nodes]\n{nodes}"),
    );
    let gave = here.well("render keys.toml -o out.wav --seconds 0.2");
    let note = "it plays without lfo01_freq (1)";
    assert!(gave.err.contains(note), "{}", gave.err);
    let checked = here.well("check keys.toml");
    assert!(checked.err.contains(note), "{}", checked.err);
    assert!(checked.err.contains("--> keys.toml:4:"), "{}", checked.err);
    let (_, samples) = wav(&here.read("out.wav"));
    assert!(samples.iter().any(|bits| f32::from_bits(*bits).abs() > 0.4));
    for output in ["a.wav", "kit.sfz", "more.sfz"] {
        let gave = here.call(&format!("render keys.toml -o {output} --seconds 0.2"));
        assert_eq!(gave.code, Some(2), "{}", gave.err);
        assert!(gave.err.contains("is also an input"), "{}", gave.err);
    }
    assert_eq!(here.read("a.wav"), before);
    for (kit, more, message) in [
        (
            "<region> sample=a.wav\nkey=h4",
            "",
            "kit.sfz: line 2: `key=h4`",
        ),
        (
            "#include \"more.sfz\"",
            "\n<region> key=$K",
            "kit.sfz: more.sfz, line 2: `key=$K`",
        ),
        (
            "#include \"more.sfz\"",
            "#include \"more.sfz\"",
            "more.sfz -> more.sfz: a file cannot include itself",
        ),
        (
            "#include \"../kit.sfz\"",
            "",
            "kit.sfz: line 1: `#include \"../kit.sfz\"` is not within the folder",
        ),
        ("<region> sample=none.wav", "", "kit.sfz: cannot open "),
        (
            "<region> sample=*sine",
            "",
            "kit.sfz: no `<region>` has a file as `sample`",
        ),
    ] {
        here.write("kit.sfz", kit);
        here.write("more.sfz", more);
        let gave = here.call("check keys.toml");
        assert_eq!(gave.code, Some(2), "{}", gave.err);
        assert!(gave.err.contains(message), "{}", gave.err);
    }
}

#[test]
fn a_damaged_sample_of_an_instrument_is_named() {
    let here = Folder::new();
    let whole = sound(48_000, &[&tone(4800)]);
    here.write("cut.wav", &whole[..whole.len() - 1000]);
    here.write("kit.sfz", "<region> sample=cut.wav");
    here.write(
        "keys.toml",
        "edges = [\"kit -> out\"]\n[nodes]\nkit = { kind = \"sampler\", file = \"kit.sfz\" }\nout = { kind = \"sink\" }\n",
    );
    let message = "cut.wav is damaged: it was cut off: 1000 bytes are missing";
    let checked = here.well("check keys.toml");
    assert!(checked.err.contains(message), "{}", checked.err);
    assert_eq!(here.call("check keys.toml --strict").code, Some(1));
    let gave = here.well("render keys.toml -o out.wav --seconds 0.1");
    assert!(gave.err.contains(message), "{}", gave.err);
}

#[cfg(unix)]
#[test]
fn an_instrument_includes_nothing_from_outside_its_folder_through_a_link() {
    let here = Folder::new();
    std::fs::create_dir(here.path("inner")).unwrap();
    here.write("outer.sfz", "<region> sample=secret");
    std::os::unix::fs::symlink("../outer.sfz", here.path("inner/more.sfz")).unwrap();
    here.write("inner/kit.sfz", "#include \"more.sfz\"");
    here.write(
        "keys.toml",
        "edges = [\"kit -> out\"]\n[nodes]\nkit = { kind = \"sampler\", file = \"inner/kit.sfz\" }\nout = { kind = \"sink\" }\n",
    );
    let gave = here.call("check keys.toml");
    assert_eq!(gave.code, Some(2), "{}", gave.err);
    let message = "more.sfz is not within the folder of the instrument";
    assert!(gave.err.contains(message), "{}", gave.err);
}

#[test]
fn what_a_run_writes_keeps_the_file_that_was_there() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let recorded = "edges = [\"o -> r\", \"o -> s\"]\n[nodes.s]\nkind = \"sink\"\n[nodes.o]\nkind = \"osc\"\nfreq = 440\n[nodes.r]\nkind = \"recorder\"\nfile = \"out.wav\"\n";
    here.write("recorded.toml", recorded);
    let lines = [
        ("out.wav", "render beep.ag -o out.wav --seconds 0.1"),
        (
            "out.wav",
            "play beep.ag --seconds 0.1 --driver clock --record out.wav",
        ),
        ("out.wav", "render recorded.toml -o mix.wav --seconds 0.1"),
        ("out.svg", "draw beep.ag -o out.svg"),
        ("out.ag", "shape diamond --nodes 6 -o out.ag"),
        (
            "out.json",
            "render beep.ag -o other.wav --seconds 0.1 --json out.json",
        ),
        (
            "out.json",
            "play beep.ag --seconds 0.1 --driver clock --trace out.json",
        ),
    ];
    for (name, line) in lines {
        let kept = format!("{name}~");
        here.write(name, "the work of a day");
        let said = here.well(line).err;
        let note = format!("the earlier {name} is kept as {kept}");
        assert!(said.contains(&note), "{line}\n{said}");
        assert_eq!(here.read(&kept), b"the work of a day", "{line}");
        assert_ne!(here.read(name), b"the work of a day", "{line}");
        std::fs::remove_file(here.path(&kept)).unwrap();
    }
    // The same bits again are nothing to keep.
    for line in [lines[0].1, lines[2].1] {
        here.well(line);
        let said = here.well(line).err;
        assert!(!said.contains("is kept"), "{line}\n{said}");
        let _ = std::fs::remove_file(here.path("out.wav~"));
    }
}
