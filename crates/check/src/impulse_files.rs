//! Impulse responses on disk, for tests of what plays them.

use media::{SampleFormat, Writer};
use std::path::{Path, PathBuf};
use units::{Channels, SampleRate};

/// A folder for them that is gone when the test is.
pub struct ImpulseFiles(PathBuf);

impl ImpulseFiles {
    /// A folder for the test of this name.
    pub fn new(test: &str) -> Self {
        let name = format!("divisi-check-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("there is room for files");
        Self(folder)
    }

    /// Samples of noise that decays; of several channels one after the other, frame by frame.
    pub fn noise(channels: u16, frames: usize, seed: usize) -> Vec<f32> {
        let samples = frames * usize::from(channels);
        let sample = |n: usize| {
            let noise = ((n + seed) * 7919 % 65_521) as f32 / 65_536.0 - 0.5;
            noise * (1.0 - n as f32 / samples as f32) * 0.05
        };
        (0..samples).map(sample).collect()
    }

    /// Writes such noise, at 48 kHz; where.
    pub fn write(&self, name: &str, channels: u16, frames: usize, seed: usize) -> String {
        self.write_sound(name, channels, &Self::noise(channels, frames, seed))
    }

    /// Writes these samples of one channel; where.
    pub fn write_samples(&self, name: &str, samples: &[f32]) -> String {
        self.write_sound(name, 1, samples)
    }

    /// Writes `text`; where.
    pub fn write_text(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("there is room for files");
        Self::said(&path)
    }

    fn write_sound(&self, name: &str, channels: u16, samples: &[f32]) -> String {
        let path = self.0.join(name);
        let rate = SampleRate::new(48_000).expect("48000 is not zero");
        let writer = Writer::create(&path, rate, Channels(channels), SampleFormat::F32);
        let mut writer = writer.expect("there is room for files");
        writer
            .write_interleaved(samples)
            .expect("there is room for files");
        writer.finish().expect("there is room for files");
        Self::said(&path)
    }

    fn said(path: &Path) -> String {
        let said = path.to_str().expect("the folder's name is text");
        said.replace('\\', "/")
    }
}

impl Drop for ImpulseFiles {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
