//! [`Instrument`]: the zones of a file before they are loaded: one of a sound file, or those of an SFZ file.

use super::sfz::{self, SfzFile};
use super::zone::{LoopMode, Zone};
use graph::error_chain;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Largest SFZ file, in bytes.
const MAX_TEXT: u64 = 16 << 20;
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
        let instrument = match is_sfz(path) {
            true => Self::of_sfz(path)?,
            false => Self {
                zones: vec![Zone {
                    sample: path.to_owned(),
                    root: plain.root,
                    release: plain.release,
                    loop_mode: match plain.is_looped {
                        true => LoopMode::Continuous,
                        false => LoopMode::None,
                    },
                    ..Zone::default()
                }],
                note: None,
            },
        };
        instrument.check_samples()?;
        Ok(instrument)
    }

    fn of_sfz(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let bytes = files::read(path, MAX_TEXT).map_err(|error| format!("{shown}: {error}"))?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}');
        let mut file = sfz::read(text).map_err(|message| format!("{shown}: {message}"))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for zone in &mut file.zones {
            zone.sample = folder.join(&zone.sample);
        }
        let note = unread(&file).map(|unread| format!("{shown}: it plays without {unread}"));
        Ok(Self {
            zones: file.zones,
            note,
        })
    }

    /// Files of all samples that an SFZ file names; none if it is no such file or cannot be read.
    ///
    /// Real-time: waits, on the disk.
    pub(super) fn named_files(path: &Path) -> Vec<PathBuf> {
        let instrument = is_sfz(path).then(|| Self::of_sfz(path).ok()).flatten();
        let zones = instrument
            .into_iter()
            .flat_map(|instrument| instrument.zones);
        let paths: BTreeSet<PathBuf> = zones.map(|zone| zone.sample).collect();
        paths.into_iter().collect()
    }

    /// Opens each sample once.
    fn check_samples(&self) -> Result<(), String> {
        let paths: BTreeSet<&PathBuf> = self.zones.iter().map(|zone| &zone.sample).collect();
        let mut samples = 0u64;
        for path in paths {
            let sound = media::open(path).map_err(|error| error_chain(&error))?;
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
        }
        Ok(())
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
