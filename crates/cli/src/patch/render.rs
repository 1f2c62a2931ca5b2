//! `render PATCH.pd`: plays a patch into a file, 64 frames at a time.

use super::PatchCheck;
use crate::failure::Failure;
use crate::files::{check_room, check_sound_name};
use crate::guard::FileGuard;
use crate::interrupt::Interrupt;
use crate::output::messages;
use divisi::media::{SampleFormat, Writer};
use divisi::pd::{Atom, NotYet, PatchPlayer};
use divisi::prelude::SampleRate;
use divisi::units::Channels;
use std::path::Path;

/// Settings of the render of a patch.
pub(crate) struct PatchRender<'c> {
    /// The sound file to write.
    pub(crate) output: &'c Path,
    /// Length in frames.
    pub(crate) frames: u64,
    /// Sample rate.
    pub(crate) rate: SampleRate,
    /// True to fail where an object is missing.
    pub(crate) is_strict: bool,
    /// Messages: milliseconds, receiver and words.
    pub(crate) messages: &'c [PatchMessage],
}

/// A message of `--send "MS RECEIVER WORDS"`.
#[derive(Clone, Debug)]
pub(crate) struct PatchMessage {
    ms: f64,
    receiver: String,
    words: Vec<Atom>,
}

impl PatchMessage {
    /// Reads the value of the option.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = "expected milliseconds, a receiver and words: \"500 freq 440\"";
        let mut parts = text.trim().splitn(3, char::is_whitespace);
        let ms = parts.next().and_then(|ms| ms.parse::<f64>().ok());
        let ms = ms.filter(|ms| ms.is_finite() && *ms >= 0.0);
        let (Some(ms), Some(receiver)) = (ms, parts.next()) else {
            return Err(wrong.to_owned());
        };
        let words = Atom::words(parts.next().unwrap_or(""));
        Ok(Self {
            ms,
            receiver: receiver.to_owned(),
            words,
        })
    }
}

/// Channels of the file: those of a `dac~` without arguments.
const CHANNELS: u16 = 2;

impl PatchRender<'_> {
    /// Renders.
    pub(crate) fn run(&self, patch: &PatchCheck) -> Result<(), Failure> {
        let mut guard = FileGuard::new(patch.files());
        guard.output(self.output)?;
        check_sound_name(self.output)?;
        patch.print_diagnostics();
        if patch.has_errors() {
            return Err(Failure::bad_input_reported());
        }
        let interrupt = Interrupt::listen()?;
        let channels = Channels(CHANNELS);
        check_room(
            self.output,
            (self.frames.into(), channels.count()),
            "render fewer --seconds",
        )?;
        #[expect(clippy::cast_precision_loss, reason = "rates are small")]
        let rate = self.rate.hz() as f32;
        let (mut player, not_yet) = PatchPlayer::new(patch.loaded(), rate, 0, CHANNELS.into());
        for message in self.messages {
            player.schedule(message.ms, &message.receiver, &message.words);
        }
        let missing = missing_classes(&not_yet);
        if !missing.is_empty() {
            let line = format!(
                "not built yet, so they pass nothing: {}",
                missing.join(", ")
            );
            messages::print_message(&line);
        }
        let writer = Writer::create(self.output, self.rate, channels, SampleFormat::F32)
            .map_err(Failure::from_error)?;
        self.play(player, writer, &interrupt)?;
        let is_whole = missing.is_empty() && !patch.has_stand_ins();
        match self.is_strict && !is_whole {
            true => Err(Failure::failed("objects of the patch are missing")),
            false => Ok(()),
        }
    }

    fn play(
        &self,
        mut player: PatchPlayer,
        mut writer: Writer,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let mut left = self.frames;
        while left > 0 && !interrupt.is_requested() {
            player.play(&[]);
            for line in player.take_console() {
                messages::print_message(&line);
            }
            let count = left.min(PatchPlayer::BLOCK as u64);
            let frames = usize::try_from(count).expect("at most a block");
            let block = [0, 1].map(|channel| &player.output(channel)[..frames]);
            writer.write(&block).map_err(Failure::from_error)?;
            left -= count;
        }
        writer.finish().map_err(Failure::from_error)?;
        let (path, written) = (self.output.display(), self.frames - left);
        if left > 0 {
            let message = format!("interrupted: {path} holds the first {written} frames");
            return Err(Failure::failed(message));
        }
        messages::print_message(&format!("{path}: {written} frames"));
        Ok(())
    }
}

/// Each class once, sorted.
fn missing_classes(not_yet: &[NotYet]) -> Vec<&str> {
    let mut classes: Vec<&str> = not_yet.iter().map(|one| &*one.class).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}
