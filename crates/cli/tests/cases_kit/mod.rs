//! Runs cases, each in a folder of good and bad files that must be as they were afterwards.

use crate::common::{BEEP, Folder, sound};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

#[allow(dead_code, reason = "only FLAC is made here")]
#[path = "../../../media/tests/kit/mod.rs"]
mod sounds;

/// One row of the table.
pub(crate) struct Case {
    line: String,
    code: i32,
    words: String,
    writes: Vec<String>,
    pub(crate) place: Place,
}

/// Where a call runs.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Here.
    Plain,
    /// Its standard output is a full disk.
    FullStdout,
    /// Its files have no room for more than so many KiB each.
    SmallDisk(u32),
}

impl Case {
    /// A call that ends with 2.
    pub(crate) fn wrong(line: String, words: &str) -> Self {
        Self::ends_with(2, line, words)
    }

    /// A call that ends with `code` and says `words`.
    pub(crate) fn ends_with(code: i32, line: String, words: &str) -> Self {
        Self {
            line,
            code,
            words: words.into(),
            writes: Vec::new(),
            place: Place::Plain,
        }
    }

    /// Files that the call may write.
    pub(crate) fn may_write(&mut self, files: &[&str]) {
        self.writes = files.iter().map(|file| (*file).to_owned()).collect();
    }

    /// Calls the program. Returns what is wrong with the answer.
    fn check(&self, here: &Folder) -> Option<String> {
        let before = Snapshot::of(here, &self.writes);
        let output = self.command(here).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut wrong = String::new();
        if output.status.code() != Some(self.code) {
            let _ = writeln!(
                wrong,
                "  code {:?}, not {}",
                output.status.code(),
                self.code
            );
        }
        if !said.contains(&self.words) && !printed.contains(&self.words) {
            let _ = writeln!(wrong, "  no `{}`", self.words);
        }
        if said.contains("panicked") || (self.code != 0 && said.trim().is_empty()) {
            let _ = writeln!(wrong, "  a panic, or no word");
        }
        wrong += &before.changes(&Snapshot::of(here, &self.writes));
        for file in &self.writes {
            // The next row finds the folder as this one did.
            let restored = before.restored.get(file);
            match restored {
                Some(bytes) => here.write(file, bytes),
                None => drop(std::fs::remove_file(here.path(file))),
            }
        }
        let line = &self.line;
        (!wrong.is_empty()).then(|| format!("divisi {line}\n{wrong}  it said: {said}"))
    }

    fn command(&self, here: &Folder) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "20"]);
        if let Place::SmallDisk(kib) = self.place {
            // The signal is ignored, so that the write fails as on a full disk. Blocks of 512 bytes.
            let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", 2 * kib);
            command.args(["sh", "-c", &script, "sh"]);
        }
        command.arg(env!("CARGO_BIN_EXE_divisi"));
        command.args(self.line.split_whitespace());
        command.current_dir(here.path(""));
        command.env("XDG_CACHE_HOME", here.path(".cache"));
        command.stdin(Stdio::null());
        if let Place::FullStdout = self.place {
            let full = std::fs::File::options().write(true).open("/dev/full");
            command.stdout(full.expect("there is /dev/full"));
        }
        command
    }
}

/// Runs all cases in one folder, and panics with every one that went wrong.
pub(crate) fn run(cases: Vec<Case>) {
    let here = folder();
    let count = cases.len();
    let wrong: Vec<String> = cases.iter().filter_map(|case| case.check(&here)).collect();
    let failed = wrong.len();
    assert!(
        wrong.is_empty(),
        "{failed} of {count}:\n{}",
        wrong.join("\n")
    );
}

/// Files that are no sounds.
pub(crate) const BAD_SOUNDS: &[&str] = &[
    "missing.wav",
    "folder",
    "pipe.wav",
    "zero.wav",
    "empty.wav",
    "text.wav",
    "head.wav",
    "no-channels.wav",
    "no-rate.wav",
];

/// Content of a folder: by name the inode, and the content of regular files.
struct Snapshot {
    files: BTreeMap<String, (u64, u64, Vec<u8>)>,
    /// Contents of the files that may be written.
    restored: BTreeMap<String, Vec<u8>>,
}

impl Snapshot {
    fn of(here: &Folder, writes: &[String]) -> Self {
        let mut files = BTreeMap::new();
        let mut restored = BTreeMap::new();
        for entry in std::fs::read_dir(here.path("")).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let metadata = entry.path().symlink_metadata().unwrap();
            let is_small = metadata.is_file() && metadata.len() < 1 << 20;
            let bytes = match is_small {
                true => std::fs::read(entry.path()).unwrap(),
                false => Vec::new(),
            };
            if writes.contains(&name) {
                restored.insert(name, bytes);
            } else if name != ".cache" {
                files.insert(name, (metadata.ino(), metadata.len(), bytes));
            }
        }
        Self { files, restored }
    }

    /// Names of what is not as it was.
    fn changes(&self, after: &Self) -> String {
        let mut changes = String::new();
        for (name, file) in &self.files {
            if after.files.get(name) != Some(file) && name != "folder" {
                let _ = writeln!(changes, "  {name} was changed");
            }
        }
        for name in after
            .files
            .keys()
            .filter(|name| !self.files.contains_key(*name))
        {
            let _ = writeln!(changes, "  {name} was made");
        }
        changes
    }
}

/// A folder with all files that the cases name.
fn folder() -> Folder {
    let here = Folder::new();
    sessions(&here);
    sound_files(&here);
    for (name, text) in [
        ("empty.json", String::new()),
        ("torn.json", "{\"machines\": {\"a\": {\"kin".into()),
        ("deep.json", "[".repeat(100_000)),
        ("list.json", "[1, 2]".into()),
        ("empty.conf", String::new()),
        ("beep.conf", BEEP.into()),
        (
            "hall.conf",
            "/convolver/new 1 1 64 4800\n/impulse/read 1 1 1 0 0 0 1 hall.wav\n".into(),
        ),
    ] {
        here.write(name, text);
    }
    std::fs::create_dir(here.path("folder")).unwrap();
    links(&here);
    here
}

/// A node that makes sound.
const OSC: &str = "[nodes.a]\nkind = \"osc\"\nfreq = 440\n";

fn sessions(here: &Folder) {
    let cycle = "a = { kind: \"mix\", in: 1, out: 1, };\nb = { kind: \"mix\", in: 1, out: 1, };\n\
        a.1 -> b.1;\nb.1 -> a.1;\n";
    let sinks = (1..=300).map(|n| format!("s{n} = {{ kind: \"sink\", in: 1, out: 0, }};\n"));
    let recorder = |name| format!("[nodes.{name}]\nkind = \"recorder\"\nfile = \"take.wav\"\n");
    let recorders = ["r1", "r2"].map(recorder).concat();
    let large = (1..=300).map(|n| format!("o{n} = {{ kind: \"noise\", }};\n"));
    for (name, text) in [
        ("beep.ag", BEEP.to_owned()),
        ("session.txt", BEEP.into()),
        ("empty.ag", String::new()),
        ("empty.toml", String::new()),
        ("torn.ag", BEEP[..70].into()),
        ("undeclared.ag", BEEP.replace("s.1", "speaker.1")),
        ("port.ag", BEEP.replace("s.1", "s.9")),
        ("twice.ag", format!("{BEEP}{}", BEEP.lines().next().unwrap())),
        ("huge-port.ag", "m = { kind: \"mix\", in: 1000000000, out: 1, };\n".into()),
        ("cycle.ag", cycle.into()),
        ("silent.ag", "o = { kind: \"osc\", freq: 440, in: 0, out: 1, };\n".into()),
        ("wide.ag", sinks.collect()),
        ("large.ag", format!("{}{BEEP}", large.collect::<String>())),
        ("kind.toml", "[nodes.a]\nkind = \"oscillator\"\n".into()),
        ("misspelt.toml", format!("{OSC}volumne = 0.1\n")),
        ("recorders.toml", format!("edges = [\"a -> r1\", \"a -> r2\"]\n{OSC}{recorders}")),
        (
            "bounds.toml",
            "[nodes.d]\nkind = \"delay\"\ntime = 0.1\nmin_time = 0.2\nmax_time = 0.1\n".into(),
        ),
        ("coefs.toml", "[nodes.f]\nkind = \"fir\"\ncoefs = \"\"\n".into()),
        ("input.toml", chain(&["[nodes.ear]\nkind = \"input\""])),
        ("reads-none.toml", reading("player", "none.wav")),
        ("taped.toml", recording("tape.wav")),
        ("taped-nowhere.toml", recording("none/tape.wav")),
        ("taped-pipe.toml", recording("pipe.wav")),
        ("over-session.toml", recording("over-session.toml")),
        ("over-input.toml", recording("good.wav")),
        (
            "over-include.toml",
            format!("include = [\"network.toml\"]\n{}", recording("network.toml")),
        ),
        (
            "over-response.toml",
            format!(
                "{}[nodes.hall]\nkind = \"jconvolver\"\nfile = \"hall.conf\"\n",
                recording("hall.wav")
            ),
        ),
        (
            "network.toml",
            "[network]\nedges = [\"in -> low -> out\"]\n[network.nodes]\nin = { kind = \"input\" }\n\
             low = { kind = \"gain\", piece = 100 }\nout = { kind = \"output\" }\n"
                .into(),
        ),
    ] {
        here.write(name, text);
    }
    here.write("latin1.ag", b"o = { kind: \"osc\", note: \"gr\xfcn\", };\n");
    here.write("binary.toml", (0..=255).collect::<Vec<u8>>());
    for name in ["huge.ag", "huge.json"] {
        let file = std::fs::File::create(here.path(name)).unwrap();
        file.set_len(257 << 20).unwrap();
    }
}

/// A session of nodes in a row, the last of them a sink.
fn chain(nodes: &[&str]) -> String {
    let name = |node: &str| {
        node["[nodes.".len()..]
            .split(']')
            .next()
            .unwrap()
            .to_owned()
    };
    let names: Vec<String> = nodes.iter().map(|node| name(node)).collect();
    let edges = names.join(" -> ");
    let nodes = nodes.join("\n");
    format!("edges = [\"{edges} -> out\"]\n{nodes}\n[nodes.out]\nkind = \"sink\"\n")
}

/// A session with a node that reads `file`.
fn reading(kind: &str, file: &str) -> String {
    let node = format!("[nodes.reads]\nkind = \"{kind}\"\nfile = \"{file}\"");
    match kind {
        "player" => chain(&[&node]),
        _ => chain(&["[nodes.hiss]\nkind = \"noise\"", &node]),
    }
}

/// A session that records eight channels into `file`, and plays one.
fn recording(file: &str) -> String {
    format!(
        "edges = [\"loop -> rec\", \"hiss -> out\"]\n[nodes.hiss]\nkind = \"noise\"\n[nodes.loop]\n\
         kind = \"player\"\nfile = \"good.wav\"\nloop = true\nchannels = 8\n[nodes.rec]\nkind = \"recorder\"\n\
         file = \"{file}\"\nchannels = 8\n[nodes.out]\nkind = \"sink\"\n"
    )
}

fn sound_files(here: &Folder) {
    let tone: Vec<f32> = (0..4800).map(|n| (n as f32 * 0.05).sin() * 0.5).collect();
    let hall: Vec<f32> = (0..480).map(|n| 0.01 * (480 - n) as f32 / 480.0).collect();
    let good = sound(48_000, &[&tone]);
    let with = |at: usize, number: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + number.len()].copy_from_slice(number);
        bytes
    };
    let flac = sounds::flac(&sounds::noise(4800));
    let mut corrupt = flac.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle..middle + 64].fill(0x55);
    for (name, bytes) in [
        ("good.wav", good.clone()),
        ("hall.wav", sound(48_000, &[&hall])),
        ("hall-2.wav", sound(48_000, &[&hall, &hall])),
        ("silence.wav", sound(48_000, &[&[]])),
        ("nan.wav", sound(48_000, &[&[0.5, f32::NAN, 0.5]])),
        ("empty.wav", Vec::new()),
        ("text.wav", b"this is no sound".to_vec()),
        ("head.wav", good[..30].to_vec()),
        ("no-channels.wav", with(22, &[0, 0])),
        ("no-rate.wav", with(24, &[0, 0, 0, 0])),
        ("cut.wav", good[..good.len() / 2].to_vec()),
        ("cut.flac", flac[..flac.len() / 2].to_vec()),
        ("corrupt.flac", corrupt),
        ("tape.wav", b"precious".to_vec()),
    ] {
        here.write(name, bytes);
    }
    for name in [
        "old.wav", "old.svg", "old.dot", "old.json", "old.ag", "take.wav",
    ] {
        here.write(name, "old");
    }
    let sounds = ["good.wav", "cut.wav", "cut.flac", "corrupt.flac"];
    for file in BAD_SOUNDS.iter().copied().chain(sounds) {
        for kind in ["player", "fir", "convolver"] {
            here.write(&format!("{kind}-{file}.toml"), reading(kind, file));
        }
    }
}

fn links(here: &Folder) {
    let link = |to: &str, name: &str| symlink(to, here.path(name)).unwrap();
    for ending in ["json", "svg", "dot", "wav"] {
        std::fs::hard_link(here.path("beep.ag"), here.path(&format!("hard.{ending}"))).unwrap();
        link("beep.ag", &format!("soft.{ending}"));
        std::fs::hard_link(
            here.path("good.wav"),
            here.path(&format!("hard-sound.{ending}")),
        )
        .unwrap();
        link("good.wav", &format!("soft-sound.{ending}"));
        link("/dev/full", &format!("full.{ending}"));
        pipe(&here.path(&format!("pipe.{ending}")));
        std::fs::create_dir(here.path(&format!("folder.{ending}"))).unwrap();
    }
    for ending in ["ag", "conf"] {
        pipe(&here.path(&format!("pipe.{ending}")));
        std::fs::create_dir(here.path(&format!("folder.{ending}"))).unwrap();
    }
    link("/dev/zero", "zero.ag");
    link("/dev/zero", "zero.wav");
    link("/dev/null", "null.toml");
    link("circle.ag", "circle.ag");
    link("nowhere.ag", "dangling.ag");
    link("tape.wav", "tape-link.wav");
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success() && path.metadata().unwrap().file_type().is_fifo());
}
