//! The table of cases: each row is a call, its exit code, what its message names, and what it may write. Everything else in
//! the folder must be as it was, byte by byte. A call that hangs is ended after 20 s, and that is a failure.
//!
//! Rows are made from lists: every command with every bad session, every output with every bad target, every reader of
//! sounds with every bad sound, and the wrong calls one by one.

mod cases_kit;
mod common;

use cases_kit::Place::{FullStdout, SmallDisk};
use cases_kit::{BAD_SOUNDS, Case, Place, run};

/// Commands that read a session. None of them gets to its work with the sessions below.
const READERS: &[&str] = &[
    "check {}",
    "draw {} -o out.svg",
    "plan {}",
    "measure {} --repeats 1",
    "render {} -o out.wav --seconds 0.01",
    "play {} --driver clock --seconds 0.01",
];

/// Sessions that no command accepts, each with a part of the message.
const BAD_SESSIONS: &[(&str, &str)] = &[
    ("missing.ag", "cannot read missing.ag"),
    ("folder", "is a folder: name a session"),
    ("folder.ag", "is a folder"),
    ("pipe.ag", "it is a pipe"),
    ("zero.ag", "it is a device"),
    ("null.toml", "it is a device"),
    ("circle.ag", "cannot read circle.ag"),
    ("dangling.ag", "cannot read dangling.ag"),
    ("huge.ag", "at most 256 MiB"),
    ("empty.ag", "empty"),
    ("empty.toml", "the file is empty"),
    ("torn.ag", "torn.ag:2:"),
    ("latin1.ag", "not UTF-8"),
    ("binary.toml", "UTF-8"),
    ("undeclared.ag", "--> undeclared.ag:3:8"),
    ("port.ag", "--> port.ag:3:8"),
    ("twice.ag", "--> twice.ag:4:1"),
    ("session.txt", ".ag"),
];

/// Commands with an output, the ending that it needs, and the file that is read. `{}` is the output.
const WRITERS: &[(&str, &str)] = &[
    ("check beep.ag --json {}", "json"),
    ("draw beep.ag -o {}", "svg"),
    ("draw beep.ag -o {}", "dot"),
    ("plan beep.ag --json {}", "json"),
    ("plan beep.ag --svg {}", "svg"),
    ("measure beep.ag --repeats 1 --json {}", "json"),
    (
        "render beep.ag --scheduler sequential --seconds 0.01 -o {}",
        "wav",
    ),
    (
        "render beep.ag --scheduler sequential --seconds 0.01 -o out.wav --json {}",
        "json",
    ),
    (
        "render beep.ag --scheduler sequential --seconds 0.01 -o out.wav --trace {}",
        "json",
    ),
    (
        "render beep.ag --scheduler sequential --seconds 0.01 -o out.wav --slowest {}",
        "svg",
    ),
    (
        "play beep.ag --driver clock --scheduler sequential --seconds 0.01 --record {}",
        "wav",
    ),
    (
        "play beep.ag --driver clock --scheduler sequential --seconds 0.01 --json {}",
        "json",
    ),
    (
        "play beep.ag --driver clock --scheduler sequential --seconds 0.01 --trace {}",
        "json",
    ),
    ("convolve good.wav hall.wav -o {}", "wav"),
    ("convolve good.wav hall.wav -o out.wav --json {}", "json"),
];

/// Targets that no output accepts, the exit code and a part of the message. `@` is the ending. `hard` and `soft` are links to
/// the file that the call reads.
const BAD_TARGETS: &[(&str, i32, &str)] = &[
    ("hard.@", 2, "also an input"),
    ("soft.@", 2, "also an input"),
    ("folder/../hard.@", 2, "also an input"),
    ("folder.@", 1, "folder"),
    ("none/out.@", 1, "none/out"),
    ("good.wav/out.@", 1, "good.wav/out"),
    ("pipe.@", 1, "pipe."),
    ("full.@", 1, "No space left"),
];

/// Calls that read a sound. `{}` is the sound; the session `reads-{}.toml` has a node that names it.
const LISTENERS: &[&str] = &[
    "render input.toml -o out.wav --scheduler sequential --seconds 0.01 --input {}",
    "play input.toml --driver clock --scheduler sequential --seconds 0.01 --input {}",
    "convolve {} hall.wav -o out.wav",
    "convolve good.wav {} -o out.wav",
    "check player-{}.toml",
    "check fir-{}.toml",
    "check convolver-{}.toml",
    "render player-{}.toml --seconds 0.01 --scheduler sequential -o out.wav",
    "play convolver-{}.toml --seconds 0.01 --scheduler sequential --driver clock",
];

/// Costs files that are none.
const BAD_COSTS: &[(&str, &str)] = &[
    ("missing.json", "missing.json"),
    ("folder", "folder"),
    ("pipe.json", "pipe"),
    ("/dev/zero", "device"),
    ("empty.json", "not a costs file"),
    ("torn.json", "not a costs file"),
    ("deep.json", "not a costs file"),
    ("huge.json", "too large"),
    ("list.json", "not a costs file"),
];

/// Wrong calls, each with a part of its message. They end with 2.
const WRONG: &[(&str, &str)] = &[
    ("", "Usage"),
    ("sing beep.ag", "unrecognized subcommand"),
    ("play", "FILE"),
    ("check", "FILE"),
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
    ("check coefs.toml", "`coefs` has no number"),
    ("check huge-port.ag", "error"),
    ("check cycle.ag", "cycle"),
    ("play cycle.ag --driver clock", "cycle"),
    ("render cycle.ag -o out.wav", "cycle"),
    ("check reads-none.toml", "none.wav"),
    ("play reads-none.toml --driver clock", "none.wav"),
    ("render reads-none.toml -o out.wav", "none.wav"),
    ("render beep.ag", "--output"),
    ("render beep.ag -o out.wav", "--seconds"),
    ("render beep.ag -o out.wav --seconds 1e9", "GiB"),
    ("render beep.ag -o out.wav --seconds 1e10", "seconds"),
    ("render beep.ag -o out.mp3 --seconds 0.01", "ends in .wav"),
    ("render beep.ag -o - --seconds 0.01", "ends in .wav"),
    ("render beep.ag -o beep.ag --seconds 1", "another file"),
    ("render wide.ag -o out.wav --seconds 1", "300 channels"),
    ("play wide.ag --driver clock", "300 channels"),
    ("render silent.ag -o out.wav --seconds 1", "sink"),
    ("play silent.ag --driver clock --record out.wav", "sink"),
    ("play beep.ag --record beep.ag --seconds 1", "another file"),
    (
        "render beep.ag -o out.wav --seconds 1 --input good.wav",
        "--input is not used",
    ),
    (
        "play beep.ag --driver clock --seconds 1 --input good.wav",
        "--input is not used",
    ),
    // An output that a recorder of the session writes, or that a recorder must not write.
    ("render taped.toml -o tape.wav --seconds 1", "written twice"),
    (
        "play taped.toml --driver clock --record tape.wav --seconds 1",
        "written twice",
    ),
    (
        "render taped.toml -o tape-link.wav --seconds 1",
        "written twice",
    ),
    (
        "render over-input.toml -o out.wav --seconds 1",
        "also an input",
    ),
    ("check over-input.toml", "also an input"),
    (
        "render over-include.toml -o out.wav --seconds 1",
        "also an input",
    ),
    (
        "render over-response.toml -o out.wav --seconds 1",
        "also an input",
    ),
    (
        "play over-session.toml --driver clock --seconds 1",
        "also an input",
    ),
    (
        "render input.toml -o good.wav --input good.wav",
        "also an input",
    ),
    (
        "render input.toml -o hard-sound.wav --input good.wav",
        "also an input",
    ),
    (
        "render beep.ag -o out.wav --json out.wav --seconds 1",
        "written twice",
    ),
    (
        "render beep.ag -o out.wav --json o.json --trace o.json --seconds 1",
        "written twice",
    ),
    (
        "render beep.ag -o out.wav --json ./o.json --trace folder/../o.json --seconds 1",
        "written twice",
    ),
    (
        "render beep.ag -o out.wav --trace t.json --slowest t.json --seconds 1",
        ".svg",
    ),
    (
        "render beep.ag -o out.wav --trace t.txt --seconds 1",
        ".json",
    ),
    (
        "plan beep.ag --costs list.json --json list.json",
        "also an input",
    ),
    ("plan beep.ag --json o.svg --svg o.svg", "written twice"),
    ("convolve good.wav hall.wav -o hall.wav", "another file"),
    ("convolve good.wav hall.conf -o hall.wav", "another file"),
    (
        "convolve good.wav hall.wav -o out.wav --json good.wav",
        "also an input",
    ),
    ("draw beep.ag -o beep.gif", ".png or .dot"),
    ("draw beep.ag -o beep.ag", ".png or .dot"),
    ("draw beep.ag -o out.png --scale 0", "--scale"),
    ("draw beep.ag -o out.png --scale nan", "--scale"),
    ("draw beep.ag -o out.png --scale inf", "--scale"),
    ("draw beep.ag -o out.png --scale -1", "unexpected argument"),
    ("plan beep.ag --svg out.gif", ".svg, .pdf or .png"),
    ("plan beep.ag --cores 0", "--cores"),
    ("plan beep.ag --cores 1000000", "--cores"),
    ("plan beep.ag --cores -1", "unexpected argument"),
    ("plan beep.ag --comm -5", "unexpected argument"),
    ("plan beep.ag --comm 99999999999999999999", "--comm"),
    ("plan beep.ag --seed x", "--seed"),
    ("plan beep.ag --scheduler best", "etf"),
    ("plan beep.ag --fuse maybe", "on or off"),
    // Numbers that are none, too small, too large, twice.
    ("play beep.ag --seconds -1", "--seconds"),
    ("play beep.ag --seconds nan", "seconds"),
    ("play beep.ag --seconds inf", "seconds"),
    ("play beep.ag --seconds 1e999", "seconds"),
    ("play beep.ag --seconds", "--seconds"),
    ("play beep.ag --seconds 1 --seconds 2", "multiple times"),
    ("play beep.ag --workers 0", "--workers"),
    ("play beep.ag --workers 257", "--workers"),
    ("play beep.ag --workers 1000000000", "--workers"),
    ("play beep.ag --workers -1", "unexpected argument"),
    ("play beep.ag --workers 1.5", "--workers"),
    ("play beep.ag --block 0", "a block has 1 to"),
    ("play beep.ag --block 1000000000", "a block has 1 to"),
    ("play beep.ag --block nan", "a block has 1 to"),
    ("play beep.ag --rate 7", "a rate is"),
    ("play beep.ag --rate 1e5", "a rate is"),
    ("play beep.ag --rate 99999999999", "a rate is"),
    ("play beep.ag --rate -48000", "unexpected argument"),
    ("play beep.ag --wait forever", "hybrid"),
    ("play beep.ag --scheduler best", "stealing"),
    ("play beep.ag --scheduler magic", "or auto"),
    ("play beep.ag --driver tape", "clock"),
    ("play beep.ag --ahead 65", "--ahead"),
    ("play beep.ag --ahead -1", "unexpected argument"),
    ("play beep.ag --choose nan", "--choose"),
    ("play beep.ag --choose -1", "--choose"),
    ("play beep.ag --comm x", "--comm"),
    ("play beep.ag --trace t.json --trace-room 0", "--trace-room"),
    (
        "play beep.ag --trace t.json --trace-room 65537",
        "--trace-room",
    ),
    ("play beep.ag --trace-room 5", "--trace"),
    ("play beep.ag --fuse 1", "on or off"),
    ("play beep.ag --compensate yes", "on or off"),
    ("play beep.ag --latency-request maybe", "on"),
    ("play beep.ag cycle.ag", "unexpected argument"),
    ("measure beep.ag --repeats 0", "--repeats"),
    ("measure beep.ag --repeats 10001", "--repeats"),
    ("measure beep.ag --seconds nan", "--seconds"),
    ("measure beep.ag --seconds -3", "--seconds"),
    ("tune --length 0", "--length"),
    ("tune --length 99999999", "--length"),
    ("tune --block 3", "power of two"),
    ("tune --block 8192", "power of two"),
    ("tune --cores 65", "--cores"),
    ("tune --channels 2", "1 or 16"),
    ("tune --runs 2", "--runs"),
    ("tune --runs nan", "--runs"),
    ("tune --show=out.gif", ".svg, .pdf or .png"),
    ("tune --latency two", "none"),
    ("convolve good.wav", "OUT.wav"),
    ("convolve good.wav hall.wav", "--output"),
    ("convolve good.wav hall.wav -o out.flac", "ends in .wav"),
    ("convolve silence.wav hall.wav -o out.wav", "is empty"),
    ("convolve good.wav silence.wav -o out.wav", "is empty"),
    ("convolve nan.wav hall.wav -o out.wav", "invalid sample"),
    ("convolve good.wav nan.wav -o out.wav", "no number"),
    ("convolve good.wav hall.wav -o out.wav --gain nan", "dB"),
    ("convolve good.wav hall.wav -o out.wav --gain 201", "dB"),
    (
        "convolve good.wav hall.wav -o out.wav --predelay -1",
        "milliseconds",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --predelay 1e9",
        "milliseconds",
    ),
    ("convolve good.wav hall.wav -o out.wav --trim 5", "dB"),
    (
        "convolve good.wav hall.wav -o out.wav --range 5..5",
        "frames",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --range 5..99999",
        "no part",
    ),
    ("convolve good.wav hall.wav -o out.wav --range x", "frames"),
    (
        "convolve good.wav hall.wav -o out.wav --trim -60 --range 0..5",
        "cannot be used with",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --block 5",
        "power of two",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --partition 1x7",
        "power of two",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --method magic",
        "nonuniform",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --method direct --partition 1x64",
        "cannot be used with",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --kernels neon9",
        "kernel",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --direction 1,2",
        ".sofa",
    ),
    (
        "convolve good.wav hall.wav -o out.wav --direction 1",
        "degrees",
    ),
    ("convolve good.wav missing.conf -o out.wav", "missing.conf"),
    ("convolve good.wav pipe.conf -o out.wav", "it is a pipe"),
    ("convolve good.wav folder.conf -o out.wav", "is a folder"),
    ("convolve good.wav empty.conf -o out.wav", "empty.conf"),
    ("convolve good.wav beep.conf -o out.wav", "beep.conf"),
    ("shape circle --nodes 5 -o out.ag", "diamond"),
    ("shape rake --nodes 12 -o out.ag", "take 11 or 14"),
    ("shape line --nodes 1000000000 -o out.ag", "take"),
    ("shape line --nodes 0 -o out.ag", "take"),
    ("shape line --nodes -5 -o out.ag", "--nodes"),
    ("shape line --nodes 5 -o out.xml", ".ag or .toml"),
    ("shape line --nodes 5 --work -3 -o out.ag", "--work"),
    ("shape line --nodes 5 --work nan -o out.ag", "--work"),
    (
        "shape line --nodes 5 --seed -1 -o out.ag",
        "unexpected argument",
    ),
    ("shape line --nodes 5", "--output"),
    ("experiment grafs", "graphs"),
    ("experiment graphs --out", "--out"),
    ("devices now", "unexpected argument"),
    ("doctor beep.ag", "unexpected argument"),
    ("schema --json out.json", "unexpected argument"),
    ("render network.toml -o out.wav", "--input"),
    ("play network.toml --driver clock", "process network"),
    ("measure network.toml", "process network"),
    ("plan network.toml", "process network"),
];

/// Commands that know no option `--frobnicate`.
const COMMANDS: &[&str] = &[
    "play beep.ag",
    "render beep.ag -o out.wav",
    "check beep.ag",
    "shape line --nodes 5 -o out.ag",
    "draw beep.ag -o out.svg",
    "plan beep.ag",
    "measure beep.ag",
    "tune",
    "experiment graphs",
    "convolve good.wav hall.wav -o out.wav",
    "devices",
    "doctor",
    "schema",
];

/// Damaged sounds: the call, its code, what its message names, what it writes.
const DAMAGED: &[(&str, i32, &str, &[&str])] = &[
    ("check player-cut.wav.toml", 0, "bytes are missing", &[]),
    ("check player-cut.wav.toml --strict", 1, "--strict", &[]),
    ("check player-cut.flac.toml", 0, "cut.flac is damaged", &[]),
    (
        "check player-corrupt.flac.toml",
        0,
        "corrupt.flac is damaged",
        &[],
    ),
    (
        "check player-corrupt.flac.toml --strict",
        1,
        "corrupt.flac is damaged",
        &[],
    ),
    ("check player-good.wav.toml --strict", 0, "", &[]),
    ("check fir-cut.wav.toml", 2, "damaged", &[]),
    ("check convolver-cut.flac.toml", 2, "cut.flac", &[]),
    (
        "render player-cut.wav.toml --scheduler sequential -o out.wav",
        0,
        "bytes are missing",
        &["out.wav"],
    ),
    (
        "render player-cut.flac.toml --scheduler sequential -o out.wav",
        0,
        "cut.flac is damaged",
        &["out.wav"],
    ),
    (
        "render player-corrupt.flac.toml --scheduler sequential -o out.wav",
        0,
        "at frame",
        &["out.wav"],
    ),
    (
        "render player-corrupt.flac.toml --scheduler sequential -o out.wav --strict",
        1,
        "--strict",
        &["out.wav"],
    ),
    (
        "render player-good.wav.toml --scheduler sequential -o out.wav --strict",
        0,
        "out.wav",
        &["out.wav"],
    ),
    (
        "play player-cut.flac.toml --driver clock --scheduler sequential --seconds 0.01",
        0,
        "cut.flac is damaged",
        &[],
    ),
    (
        "play player-cut.flac.toml --driver clock --scheduler sequential --seconds 0.01 --strict",
        1,
        "--strict",
        &[],
    ),
    (
        "render input.toml --scheduler sequential --input cut.flac -o out.wav",
        0,
        "cut.flac is damaged",
        &["out.wav"],
    ),
    (
        "render input.toml --scheduler sequential --input cut.flac -o out.wav --strict",
        1,
        "--strict",
        &["out.wav"],
    ),
    (
        "render network.toml --input cut.flac -o out.wav",
        0,
        "cut.flac is damaged",
        &["out.wav"],
    ),
    (
        "render network.toml --input cut.flac -o out.wav --strict",
        1,
        "--strict",
        &["out.wav"],
    ),
    (
        "convolve cut.wav hall.wav -o out.wav",
        0,
        "is damaged",
        &["out.wav"],
    ),
    (
        "convolve cut.flac hall-2.wav -o out.wav",
        0,
        "is damaged",
        &["out.wav"],
    ),
    (
        "convolve cut.flac hall-2.wav -o out.wav --strict",
        1,
        "--strict",
        &["out.wav"],
    ),
    ("convolve good.wav cut.flac -o out.wav", 2, "cut.flac", &[]),
];

/// Results that are lost on a full disk behind standard output.
const PRINTERS: &[(&str, &[&str])] = &[
    ("--help", &[]),
    ("--version", &[]),
    ("play --help", &[]),
    ("schema", &[]),
    ("devices", &[]),
    ("devices --json -", &[]),
    ("doctor", &[]),
    ("check beep.ag", &[]),
    ("check beep.ag --json -", &[]),
    ("plan beep.ag", &[]),
    ("plan beep.ag --json -", &[]),
    ("tune --show=out.svg --length 4096", &["out.svg"]),
    (
        "convolve good.wav hall.wav -o out.wav --json -",
        &["out.wav"],
    ),
    (
        "render beep.ag --scheduler sequential --seconds 0.01 -o out.wav",
        &["out.wav"],
    ),
    (
        "play beep.ag --driver clock --scheduler sequential --seconds 0.01",
        &[],
    ),
];

/// Files that do not fit on a disk of so many KiB, and what is written in spite of that. The old files stay.
const TOO_LARGE: &[(u32, &str, &str, &[&str])] = &[
    (
        8,
        "render beep.ag --scheduler sequential --seconds 1 -o old.wav",
        "old.wav is not written",
        &[],
    ),
    (
        8,
        "convolve good.wav hall.wav -o old.wav",
        "old.wav is not written",
        &[],
    ),
    (
        8,
        "render network.toml --input good.wav -o old.wav",
        "old.wav is not written",
        &[],
    ),
    (8, "draw large.ag -o old.svg", "cannot write old.svg", &[]),
    (8, "draw large.ag -o old.dot", "cannot write old.dot", &[]),
    (
        8,
        "plan large.ag --json old.json",
        "cannot write old.json",
        &[],
    ),
    (
        8,
        "shape line --nodes 1000 -o old.ag",
        "cannot write old.ag",
        &[],
    ),
    (
        0,
        "measure beep.ag --repeats 1",
        "cannot store the costs",
        &[],
    ),
    (
        64,
        "render beep.ag --scheduler sequential --seconds 0.2 --block 1 -o out.wav --trace old.json",
        "cannot write old.json",
        &["out.wav", "old.slowest.svg"],
    ),
    (
        16,
        "play beep.ag --driver clock --scheduler sequential --seconds 0.5 --record take.wav",
        "the earlier take.wav is kept as take.wav~",
        &["take.wav", "take.wav~"],
    ),
    (
        300,
        "render taped.toml --scheduler sequential --seconds 1 -o out.wav",
        "`rec`: cannot read or write tape.wav",
        &["out.wav", "tape.wav", "tape.wav~"],
    ),
    (
        300,
        "play taped.toml --driver clock --scheduler sequential --seconds 1",
        "frames are kept",
        &["tape.wav", "tape.wav~"],
    ),
];

/// Calls that end before anything is recorded: the old take is as it was.
const UNRECORDED: &[(&str, i32, &str)] = &[
    (
        "render taped.toml -o none/out.wav --seconds 1",
        1,
        "none/out.wav",
    ),
    (
        "render taped.toml -o out.wav --trace none/t.json --seconds 1",
        1,
        "none/t.json",
    ),
    ("render taped.toml -o out.mp3 --seconds 1", 2, ".wav"),
    (
        "play taped.toml --driver clock --scheduler sequential --seconds 0",
        0,
        "",
    ),
    (
        "play taped.toml --driver clock --trace none/t.json --seconds 1",
        1,
        "none/t.json",
    ),
    (
        "play taped.toml --driver clock --json none/t.json --seconds 1",
        1,
        "none/t.json",
    ),
    (
        "play taped.toml --driver clock --record none/t.wav --seconds 1",
        1,
        "none/t.wav",
    ),
    (
        "play beep.ag --driver clock --record old.wav --seconds 0 --scheduler sequential",
        0,
        "",
    ),
    (
        "play beep.ag --driver clock --record old.wav --seconds 1 --json none/t.json",
        1,
        "none/t.json",
    ),
    (
        "play taped-nowhere.toml --driver clock --seconds 1",
        2,
        "make its folder first",
    ),
    (
        "play taped-pipe.toml --driver clock --scheduler sequential --seconds 1",
        1,
        "pipe.wav",
    ),
    (
        "render taped-pipe.toml -o out.wav --scheduler sequential --seconds 1",
        1,
        "pipe.wav",
    ),
    ("check taped.toml", 0, ""),
    ("plan taped.toml", 0, ""),
];

#[test]
fn no_command_accepts_a_bad_session() {
    let rows = BAD_SESSIONS.iter().flat_map(|(session, words)| {
        let line = move |reader: &&str| Case::wrong(reader.replace("{}", session), words);
        READERS.iter().map(line)
    });
    run(rows.collect());
}

#[test]
fn no_output_replaces_an_input_and_none_goes_where_no_file_can_be() {
    let mut rows = Vec::new();
    for (writer, ending) in WRITERS {
        for (target, code, words) in BAD_TARGETS {
            let target = target.replace('@', ending);
            // Sounds are linked to the sound that is read.
            let target = match writer.starts_with("convolve") {
                true => target
                    .replace("hard.", "hard-sound.")
                    .replace("soft.", "soft-sound."),
                false => target,
            };
            let mut case = Case::ends_with(*code, writer.replace("{}", &target), words);
            if *code == 1 {
                // What comes before the report is written.
                case.may_write(&["out.wav"]);
            }
            rows.push(case);
        }
    }
    run(rows);
}

#[test]
fn no_reader_of_sounds_accepts_what_is_none() {
    let rows = BAD_SOUNDS.iter().flat_map(|sound| {
        let line = move |listener: &&str| Case::wrong(listener.replace("{}", sound), sound);
        LISTENERS.iter().map(line)
    });
    run(rows.collect());
}

#[test]
fn wrong_calls_end_with_2_and_write_nothing() {
    let wrong = WRONG
        .iter()
        .map(|(line, words)| Case::wrong((*line).into(), words));
    let unknown = COMMANDS.iter();
    let unknown = unknown.map(|line| Case::wrong(format!("{line} --frobnicate"), "--frobnicate"));
    let costs = BAD_COSTS.iter();
    let costs =
        costs.map(|(file, words)| Case::wrong(format!("plan beep.ag --costs {file}"), words));
    run(wrong.chain(unknown).chain(costs).collect());
}

#[test]
fn damage_is_told_and_with_strict_it_fails() {
    let rows = DAMAGED.iter().map(|(line, code, words, writes)| {
        let mut case = Case::ends_with(*code, (*line).into(), words);
        case.may_write(writes);
        case
    });
    run(rows.collect());
}

#[test]
fn what_a_full_disk_loses_ends_with_1_and_old_files_stay() {
    let on = |place: Place, line: &str, words: &str, writes: &[&str]| {
        let mut case = Case::ends_with(1, line.into(), words);
        case.place = place;
        case.may_write(writes);
        case
    };
    let printed = PRINTERS.iter();
    let printed = printed.map(|(line, writes)| on(FullStdout, line, "", writes));
    let large = TOO_LARGE.iter();
    let large = large.map(|(kib, line, words, writes)| on(SmallDisk(*kib), line, words, writes));
    run(printed.chain(large).collect());
}

#[test]
fn an_earlier_take_is_as_it_was_until_the_new_one_begins() {
    let rows = UNRECORDED.iter();
    run(rows
        .map(|(line, code, words)| {
            let mut case = Case::ends_with(*code, (*line).into(), words);
            // Those that fail at the recorder have begun nothing else.
            case.may_write(&[]);
            case
        })
        .collect());
}
