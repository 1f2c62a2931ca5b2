//! [`Sound`]: a whole sound file in memory, shared by all nodes that play it.

use crate::{MediaError, ResamplingReader};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::SystemTime;
use units::{Channels, SampleRate};

/// A whole sound file at a stated rate.
#[derive(Debug)]
pub struct Sound {
    rate: SampleRate,
    channels: Box<[Box<[f32]>]>,
    damage: Option<String>,
}

/// Identity of a file's contents at a rate: path, time of the last change, length, rate.
type Key = (PathBuf, Option<SystemTime>, u64, SampleRate);
/// All sounds that some node still holds.
static LOADED: LazyLock<Mutex<HashMap<Key, Weak<Sound>>>> = LazyLock::new(Mutex::default);

impl Sound {
    /// Reads all frames of `stream`, from its beginning.
    ///
    /// Real-time: waits, on the disk.
    pub fn from_reader(stream: &mut ResamplingReader) -> Self {
        stream.seek(0);
        let width = stream.channels().count();
        let mut channels = vec![Vec::new(); width];
        let mut samples = vec![0.0; 4096 * width];
        loop {
            let n = stream.read_interleaved(&mut samples);
            if n == 0 {
                break;
            }
            for (c, channel) in channels.iter_mut().enumerate() {
                channel.extend(samples[..n * width].iter().skip(c).step_by(width));
            }
        }
        Self {
            rate: stream.rate(),
            channels: channels.into_iter().map(Vec::into).collect(),
            damage: stream.damage(),
        }
    }

    /// Loads the whole file at `rate`, if it has at most `max_samples` samples on all channels at that rate; `None` if it
    /// has more. All callers that hold the same file at the same time share its memory. Damaged parts are silent.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the ratio of its rate to `rate` is too large.
    ///
    /// Real-time: waits, on the disk and on other threads that load.
    pub fn load(
        path: impl AsRef<Path>,
        rate: SampleRate,
        max_samples: u64,
    ) -> Result<Option<Arc<Self>>, MediaError> {
        let path = path.as_ref();
        let open = |error| MediaError::Open(path.to_path_buf(), error);
        let metadata = path.metadata().map_err(open)?;
        let name = path.canonicalize().map_err(open)?;
        let key = (name, metadata.modified().ok(), metadata.len(), rate);
        let mut held = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|_, sound| sound.strong_count() > 0);
        if let Some(sound) = held.get(&key).and_then(Weak::upgrade) {
            let samples = sound.frames() as u64 * u64::from(sound.channels().0);
            return Ok((samples <= max_samples).then_some(sound));
        }
        let mut stream = ResamplingReader::open(path, rate)?;
        if stream.frames() > max_samples / u64::from(stream.channels().0) {
            return Ok(None);
        }
        let sound = Arc::new(Self::from_reader(&mut stream));
        held.insert(key, Arc::downgrade(&sound));
        Ok(Some(sound))
    }

    /// The first damage in the file, if any. Frames after it are silent.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Frames per second.
    pub fn rate(&self) -> SampleRate {
        self.rate
    }

    /// Number of channels.
    pub fn channels(&self) -> Channels {
        Channels(self.channels.len() as u16)
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.channels.first().map_or(0, |c| c.len())
    }

    /// The frames of channel `channel`.
    ///
    /// # Panics
    ///
    /// There is no such channel.
    ///
    /// Real-time: hot.
    pub fn channel(&self, channel: usize) -> &[f32] {
        &self.channels[channel]
    }
}
