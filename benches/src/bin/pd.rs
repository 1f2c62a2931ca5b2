//! Patches played by Divisi on one core beside the real Pd, processor time of each, in turn.
//!
//! `pd [--seconds 60] [--rounds 5] FOLDER…` plays every `.pd` of the folders that has a `dac~`; a folder of folders with one patch each
//! will do too. Pd renders with `-batch -noaudio`, once a second long and once with `--seconds` more: the difference is its time, so
//! that its start counts for nothing. `--control` switches the signals of both off: what is left is the time of messages.
//!
//! A row: nanoseconds a block of 64 frames, medians of the rounds, and the median of the ratios Pd / Divisi.

use divisi_benches::stats::median;
use pd::{PatchPlayer, SearchPath, load_patch};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RATE: f64 = 44_100.0;

struct Call {
    seconds: f64,
    rounds: usize,
    /// Messages only.
    is_control: bool,
    patches: Vec<PathBuf>,
}

fn main() {
    let call = Call::read();
    let folder = std::env::temp_dir().join(format!("divisi-bench-pd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for patches that end");
    println!(
        "{} rounds of {} s; ns of processor time a block\n\n{:32} {:>9} {:>9} {:>7}  signal objects",
        call.rounds, call.seconds, "patch", "Pd", "Divisi", "ratio"
    );
    let mut ratios = Vec::new();
    for patch in &call.patches {
        ratios.extend(call.compare(patch, &folder));
    }
    let _ = std::fs::remove_dir_all(&folder);
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    let slower = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    println!(
        "\n{} patches: geometric mean {:.2}, {slower} slower than Pd",
        ratios.len(),
        (sum / ratios.len() as f64).exp()
    );
}

impl Call {
    fn read() -> Self {
        let mut call = Self {
            seconds: 60.0,
            rounds: 5,
            is_control: false,
            patches: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
            match word.as_str() {
                "--seconds" => call.seconds = number().expect("--seconds NUMBER"),
                "--rounds" => call.rounds = number().expect("--rounds NUMBER") as usize,
                "--control" => call.is_control = true,
                path => collect(Path::new(path), &mut call.patches),
            }
        }
        call.patches.sort();
        call
    }

    /// Compares one patch; `None` where one of the two does not play it.
    fn compare(&self, patch: &Path, folder: &Path) -> Option<f64> {
        let text = std::fs::read_to_string(patch).ok()?;
        let name = patch.file_stem()?.to_str()?;
        let ending = |seconds: f64| {
            let dsp = u8::from(!self.is_control);
            let ended = folder.join(format!("{name}-{seconds}.pd"));
            std::fs::write(&ended, format!("{text}{}", end_after(seconds, dsp))).expect("it fits");
            ended
        };
        let (short, long) = (ending(1.0), ending(1.0 + self.seconds));
        let blocks = self.seconds * RATE / 64.0;
        let (mut theirs, mut ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let mut count = 0;
        for _ in 0..self.rounds {
            let pd = time_of_pd(&long, patch)? - time_of_pd(&short, patch)?;
            let (here, signals) = self.time_here(patch)?;
            count = signals;
            theirs.push(pd / blocks * 1e9);
            ours.push(here / blocks * 1e9);
            ratios.push(pd / here);
        }
        let (theirs, ours, ratio) = (median(&mut theirs), median(&mut ours), median(&mut ratios));
        println!("{name:32} {theirs:9.0} {ours:9.0} {ratio:7.2}  {count}");
        Some(ratio)
    }

    /// Seconds of processor time for the blocks after the first second, and the number of signal objects.
    fn time_here(&self, patch: &Path) -> Option<(f64, usize)> {
        let loaded = load_patch(patch, &SearchPath::new([])).ok()?;
        let (mut player, not_yet) = PatchPlayer::new(&loaded, RATE as f32, 0, 2);
        if !not_yet.is_empty() {
            let first = &not_yet[0].class;
            println!("{:32} needs {first}", patch.file_stem()?.to_str()?);
            return None;
        }
        let blocks = |seconds: f64| (seconds * RATE / 64.0) as usize;
        (0..blocks(1.0)).for_each(|_| player.play(&[]));
        let begin = processor_time(libc::RUSAGE_SELF);
        (0..blocks(self.seconds)).for_each(|_| player.play(&[]));
        let time = processor_time(libc::RUSAGE_SELF) - begin;
        Some((time, player.signal_count()))
    }
}

/// Patches of a folder, and of the folders in it.
fn collect(path: &Path, patches: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder that can be read");
        entries
            .flatten()
            .for_each(|entry| collect(&entry.path(), patches));
    } else if path.extension().is_some_and(|e| e == "pd")
        && std::fs::read_to_string(path).is_ok_and(|text| text.contains("dac~"))
    {
        patches.push(path.into());
    }
}

/// A subpatch that switches the signals on or off, and ends Pd.
fn end_after(seconds: f64, dsp: u8) -> String {
    format!(
        "#N canvas 0 0 9 9 end 0;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay {};\n#X msg 0 0 \\; pd quit;\n#X msg 0 0 \\; pd dsp {dsp};\n\
         #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 0 0 3 0;\n#X restore 0 0 pd end;\n",
        seconds * 1000.0
    )
}

/// Seconds of processor time that Pd takes for a patch which ends it.
fn time_of_pd(ended: &Path, patch: &Path) -> Option<f64> {
    let begin = processor_time(libc::RUSAGE_CHILDREN);
    let status = Command::new("pd")
        .args(["-nogui", "-noprefs", "-batch", "-noaudio", "-r", "44100"])
        .arg("-path")
        .arg(patch.parent()?)
        .arg(ended)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("Pd is there: Debian's package puredata-core");
    let time = processor_time(libc::RUSAGE_CHILDREN) - begin;
    status.success().then_some(time)
}

/// Seconds of processor time, in programs and in the kernel.
fn processor_time(of: i32) -> f64 {
    // SAFETY: an all-zero `rusage` is one, and the call only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(of, &raw mut usage), 0, "it takes these two");
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
