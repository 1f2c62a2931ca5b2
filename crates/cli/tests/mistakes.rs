//! Wrong calls, wrong files and write errors: the exit code, a helpful message, never a panic.

mod common;

use common::{BEEP, CallResult, Folder};

/// A folder with the files that the calls below name.
fn folder() -> Folder {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    here.write("empty.ag", "");
    here.write("torn.ag", &BEEP[..70]);
    here.write("latin1.ag", b"o = { kind: \"osc\", note: \"gr\xfcn\", };\n");
    here.write("undeclared.ag", BEEP.replace("s.1", "speaker.1"));
    here.write("port.ag", BEEP.replace("s.1", "s.9"));
    let huge = "m = { kind: \"mix\", in: 1000000000, out: 1, };
";
    here.write("huge-port.ag", huge);
    let twice = format!("{BEEP}{}", BEEP.lines().next().unwrap());
    here.write("twice.ag", twice);
    let cycle = "a = { kind: \"mix\", in: 1, out: 1, };\nb = { kind: \"mix\", in: 1, out: 1, };\n\
        a.1 -> b.1;\nb.1 -> a.1;\n";
    here.write("cycle.ag", cycle);
    here.write(
        "silent.ag",
        "o = { kind: \"osc\", freq: 440, in: 0, out: 1, };\n",
    );
    let sinks = (1..=300).map(|n| format!("s{n} = {{ kind: \"sink\", in: 1, out: 0, }};\n"));
    here.write("wide.ag", sinks.collect::<String>());
    here.write("kind.toml", "[nodes.a]\nkind = \"oscillator\"\n");
    let player = "edges = [\"p -> s\"]\n[nodes.p]\nkind = \"player\"\nfile = \"none.wav\"\n\
        [nodes.s]\nkind = \"sink\"\n";
    here.write("player.toml", player);
    here.write(
        "taped.toml",
        player.replace("player", "recorder").replace("none", "tape"),
    );
    here.write("tape.wav", "precious");
    let osc = "[nodes.a]\nkind = \"osc\"\nfreq = 440\n";
    here.write("misspelt.toml", format!("{osc}volumne = 0.1\n"));
    let recorder = |name| format!("[nodes.{name}]\nkind = \"recorder\"\nfile = \"take.wav\"\n");
    let recorders = ["r1", "r2"].map(recorder).concat();
    here.write(
        "recorders.toml",
        format!("edges = [\"a -> r1\", \"a -> r2\"]\n{osc}{recorders}"),
    );
    let delay = "[nodes.d]\nkind = \"delay\"\ntime = 0.1\nmin_time = 0.2\nmax_time = 0.1\n";
    here.write("bounds.toml", delay);
    here.write("coefs.toml", "[nodes.f]\nkind = \"fir\"\ncoefs = \"\"\n");
    here.write("session.txt", BEEP);
    here.write("noise.wav", "this is no sound");
    here
}

/// Wrong calls, or calls with wrong files, each with a part of its message.
const WRONG: &[(&str, &str)] = &[
    ("", "Usage"),
    ("sing beep.ag", "unrecognized subcommand"),
    ("play", "FILE"),
    ("play missing.ag", "cannot read missing.ag"),
    ("play .", "is a folder"),
    ("check session.txt", ".ag"),
    ("check empty.ag", "empty"),
    ("check torn.ag", "torn.ag:2:"),
    ("check latin1.ag", "not UTF-8"),
    ("play undeclared.ag --driver clock", "--> undeclared.ag:3:8"),
    ("render port.ag -o out.wav", "--> port.ag:3:8"),
    ("check huge-port.ag", "error"),
    ("check twice.ag", "--> twice.ag:4:1"),
    ("check cycle.ag", "cycle"),
    ("play cycle.ag --driver clock", "cycle"),
    ("render cycle.ag -o out.wav", "cycle"),
    ("check kind.toml", "osc"),
    ("check misspelt.toml", "did you mean `volume`?"),
    (
        "play misspelt.toml --driver clock",
        "did you mean `volume`?",
    ),
    ("check recorders.toml", "write the same file"),
    (
        "render recorders.toml -o out.wav --seconds 1",
        "write the same file",
    ),
    ("check bounds.toml", "more than `max_time`"),
    ("check coefs.toml", "there is no number"),
    ("check player.toml", "none.wav"),
    ("play player.toml --driver clock", "none.wav"),
    ("render player.toml -o out.wav", "none.wav"),
    ("render beep.ag", "--output"),
    ("render beep.ag -o out.wav", "--seconds"),
    ("render beep.ag -o out.wav --seconds 1e8", "4"),
    ("render beep.ag -o beep.ag --seconds 1", "another file"),
    ("play beep.ag --record beep.ag --seconds 1", "another file"),
    ("render wide.ag -o out.wav --seconds 1", "300 channels"),
    ("play wide.ag --driver clock", "300 channels"),
    ("render taped.toml -o tape.wav --seconds 1", "another file"),
    ("render silent.ag -o out.wav --seconds 1", "sink"),
    ("play silent.ag --driver clock --record out.wav", "sink"),
    (
        "render beep.ag -o out.wav --seconds 1 --input missing.wav",
        "missing.wav",
    ),
    (
        "render beep.ag -o out.wav --seconds 1 --input noise.wav",
        "noise.wav",
    ),
    (
        "play beep.ag --driver clock --seconds 1 --input noise.wav",
        "noise.wav",
    ),
    ("play beep.ag --seconds -1", "--seconds"),
    ("play beep.ag --seconds nan", "seconds"),
    ("play beep.ag --seconds inf", "seconds"),
    ("play beep.ag --workers 0", "--workers"),
    ("play beep.ag --workers 1000000000", "--workers"),
    ("play beep.ag --block 0", "a block has 1 to"),
    ("play beep.ag --block 1000000000", "a block has 1 to"),
    ("play beep.ag --rate 7", "a rate is"),
    ("play beep.ag --wait forever", "hybrid"),
    ("play beep.ag --scheduler best", "stealing"),
    ("play beep.ag --scheduler magic", "or auto"),
    ("play beep.ag --driver tape", "clock"),
    ("draw beep.ag -o beep.gif", ".png or .dot"),
    ("draw undeclared.ag -o out.svg", "--> undeclared.ag:3:8"),
    ("shape circle --nodes 5 -o out.ag", "diamond"),
    ("shape rake --nodes 12 -o out.ag", "take 11 or 14"),
    ("shape line --nodes 1000000000 -o out.ag", "take"),
    ("shape line --nodes 5 -o out.xml", ".ag or .toml"),
    ("shape line --nodes 5 --work -3 -o out.ag", "--work"),
];

#[test]
fn wrong_input_ends_with_2_and_writes_nothing() {
    let here = folder();
    let mut failed = Vec::new();
    for (line, word) in WRONG {
        let CallResult { code, err, .. } = here.call(line);
        if code != Some(2) || !err.contains(word) || err.contains("panicked") {
            failed.push(format!("divisi {line}: {code:?}, not `{word}`\n{err}"));
        }
        for file in ["out.wav", "out.ag", "out.svg"] {
            assert!(!here.has(file), "divisi {line} wrote {file}");
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(here.read("tape.wav"), b"precious");
    assert_eq!(here.read("beep.ag"), BEEP.as_bytes());
}

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
fn a_write_error_ends_with_1() {
    let here = folder();
    let calls = [
        "render beep.ag -o none/out.wav --seconds 1",
        "render beep.ag -o out.wav --seconds 1 --json none/report.json",
        "play beep.ag --driver clock --seconds 1 --record none/out.wav",
        "play beep.ag --driver clock --seconds 1 --json .",
        "shape line --nodes 5 -o none/out.ag",
        "draw beep.ag -o none/out.svg",
        "check beep.ag --json none/found.json",
    ];
    for line in calls {
        let gave = here.call(line);
        assert_eq!(gave.code, Some(1), "divisi {line}\n{}", gave.err);
        assert!(gave.err.contains("cannot"), "divisi {line}\n{}", gave.err);
    }
}

#[test]
fn a_session_larger_than_256_mib_is_refused() {
    let here = Folder::new();
    let file = std::fs::File::create(here.path("huge.ag")).unwrap();
    file.set_len(257 << 20).unwrap();
    let gave = here.call("check huge.ag");
    assert_eq!(gave.code, Some(2));
    assert!(gave.err.contains("at most 256 MiB"), "{}", gave.err);
}

#[test]
fn an_output_must_be_named_wav() {
    let here = folder();
    for name in ["out.mp3", "-"] {
        let gave = here.call(&format!("render beep.ag --seconds 0.01 -o {name}"));
        assert_eq!(gave.code, Some(2));
        assert!(gave.err.contains("ends in .wav"), "{}", gave.err);
        assert!(!here.path(name).exists());
    }
}

#[test]
fn a_stand_in_and_an_old_name_are_said_when_the_session_plays_too() {
    let here = Folder::new();
    here.write("guitar.ag", BEEP.replace("osc", "guitar"));
    let gave = here.well("play guitar.ag --driver clock --seconds 0.01");
    assert!(gave.err.contains("`osc` runs instead"), "{}", gave.err);
    let delay = "edges = [\"d -> s\"]\n[nodes.d]\nkind = \"delay\"\ntime = 0.1\nleast = 0.1\n\
        [nodes.s]\nkind = \"sink\"\n";
    here.write("old.toml", delay);
    for call in [
        "check old.toml",
        "render old.toml -o out.wav --seconds 0.01",
    ] {
        let gave = here.well(call);
        let note = "note: `least` is now called `min_time`";
        assert!(gave.err.contains(note), "{}", gave.err);
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
fn a_closed_pipe_is_not_an_error() {
    let here = folder();
    for line in ["schema", "devices", "check beep.ag", "--help"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = here.command(line);
        let status = command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let code = status.status().unwrap().code();
        assert_eq!(code, Some(0), "divisi {line}");
    }
}
