//! [`Instrument`]: the zones of a file before they are loaded: one of a sound file, or those of an SFZ file.

use super::sfz::{self, SfzFile};
use super::source::MAX_TEXT;
use super::zone::{LoopMode, Zone};
use graph::error_chain;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Largest instrument, in samples of all channels of all files: a gigabyte in memory, at the rate of the files.
pub(super) const MAX_SAMPLES: u64 = 1 << 28;
/// Unread opcodes that a message names.
const NAMED: usize = 8;

/// Zones with the paths of their samples.
#[derive(Clone, Debug)]
pub(super) struct Instrument {
    pub(super) zones: Vec<Zone>,
    /// What was not read of the file, in a sentence.
    pub(super) note: Option<String>,
    /// Files that the SFZ file includes.
    included: BTreeSet<PathBuf>,
}

/// What a node says of a sound file that is no instrument.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainSound {
    pub(super) root: f64,
    pub(super) is_looped: bool,
    pub(super) release: f64,
}

impl Instrument {
    /// Reads a file, and the heads of all its samples.
    ///
    /// # Errors
    ///
    /// A file is missing or damaged, a value is wrong, or the samples take too much memory. The message names the file.
    ///
    /// Real-time: waits, on the disk.
    pub(super) fn open(path: &Path, plain: PlainSound) -> Result<Self, String> {
        let mut instrument = match is_sfz(path) {
            true => Self::of_sfz(path)?,
            false => Self {
                zones: vec![Zone {
                    sample: path.to_owned(),
                    root: plain.root,
                    release: plain.release,
                    loop_mode: Some(match plain.is_looped {
                        true => LoopMode::Continuous,
                        false => LoopMode::None,
                    }),
                    ..Zone::default()
                }],
                note: None,
                included: BTreeSet::new(),
            },
        };
        let checked = instrument.check_samples();
        checked.map_err(|message| match is_sfz(path) {
            // Which of many files names the sample.
            true => format!("{}: {message}", path.display()),
            false => message,
        })?;
        Ok(instrument)
    }

    fn of_sfz(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = read_text(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut included = BTreeSet::new();
        let mut open = |inner: &str| {
            let inner = folder.join(inner);
            check_within(folder, &inner)?;
            let text = read_text(&inner)?;
            included.insert(inner);
            Ok(text)
        };
        let file = sfz::read(&text, &mut open);
        let mut file = file.map_err(|message| format!("{shown}: {message}"))?;
        for zone in &mut file.zones {
            zone.sample = folder.join(&zone.sample);
        }
        let note = unread(&file).map(|unread| format!("{shown}: it plays without {unread}"));
        Ok(Self {
            zones: file.zones,
            note,
            included,
        })
    }

    /// Files of all samples that an SFZ file names, and those that it includes; none if it is no such file or cannot be read.
    ///
    /// Real-time: waits, on the disk.
    pub(super) fn named_files(path: &Path) -> Vec<PathBuf> {
        let instrument = is_sfz(path).then(|| Self::of_sfz(path).ok()).flatten();
        let files = instrument.into_iter().flat_map(|instrument| {
            let samples = instrument.zones.into_iter().map(|zone| zone.sample);
            samples.chain(instrument.included)
        });
        let paths: BTreeSet<PathBuf> = files.collect();
        paths.into_iter().collect()
    }

    /// Opens each sample once, and takes from it what its zones have not said.
    fn check_samples(&mut self) -> Result<(), String> {
        let paths = self.zones.iter().map(|zone| zone.sample.clone());
        let paths: BTreeSet<PathBuf> = paths.collect();
        let mut samples = 0u64;
        let mut found = BTreeMap::new();
        for path in paths {
            let sound = media::open(&path).map_err(|error| error_chain(&error))?;
            let count = sound
                .frames()
                .unwrap_or(0)
                .saturating_mul(sound.channels().count() as u64);
            samples = samples.saturating_add(count);
            if samples > MAX_SAMPLES {
                let message = format!("the samples up to {} take", path.display());
                return Err(format!(
                    "{message} more than a gigabyte, which is the limit"
                ));
            }
            let info = media::sample_info(&path).map_err(|error| error_chain(&error))?;
            found.insert(path, (info, sound.frames()));
        }
        for zone in &mut self.zones {
            if let Some((info, frames)) = found.get(&zone.sample) {
                zone.complete(*info, *frames);
            }
        }
        Ok(())
    }
}

/// The text of an SFZ file.
fn read_text(path: &Path) -> Result<String, String> {
    let bytes = files::read(path, MAX_TEXT);
    let bytes = bytes.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Refuses a file that a link takes out of the folder of the instrument.
fn check_within(folder: &Path, inner: &Path) -> Result<(), String> {
    let shown = inner.display();
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let place = |path: &Path| {
        let place = path.canonicalize();
        place.map_err(|error| format!("{shown}: {error}"))
    };
    match place(inner)?.starts_with(place(folder)?) {
        true => Ok(()),
        false => Err(format!(
            "{shown} is not within the folder of the instrument"
        )),
    }
}

fn is_sfz(path: &Path) -> bool {
    path.extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("sfz"))
}

/// The opcodes that were not read, the most frequent first.
fn unread(file: &SfzFile) -> Option<String> {
    let mut names: Vec<(&str, usize)> = file
        .unread
        .iter()
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown: Vec<String> = names
        .iter()
        .take(NAMED)
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    (!names.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}
