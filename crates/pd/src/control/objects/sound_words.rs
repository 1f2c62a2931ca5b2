//! Words of messages about sound files: names, flags, formats (`d_soundfile.c`).

use super::super::context::Context;
use super::super::symbol::Symbol;
use super::super::value::Value;
use crate::disk::{FileName, FileType, ShortText, SoundFormat};
use std::path::Path;
use std::sync::Arc;

/// Names of sound files, from the folder in which the box stands.
pub(super) struct SoundNames {
    folder: Arc<Path>,
}

impl SoundNames {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// A name with an ending; `None` if it is too long.
    pub(super) fn file_name(
        &self,
        name: Symbol,
        ending: &str,
        context: &mut Context<'_>,
    ) -> Option<FileName> {
        let text = ShortText::new(&[context.symbols().text(name), ending]);
        if text.is_none() {
            context.print_with(|_, line| line.write_str("error: soundfile: the name is too long"));
        }
        let folder = self.folder.clone();
        text.map(|name| FileName { folder, name })
    }
}

/// Words of a message: flags with their numbers, then a name, then arrays.
pub(super) struct Words<'w> {
    pub rest: &'w [Value],
}

impl Words<'_> {
    /// The next flag, without its dash.
    pub(super) fn flag(&mut self, context: &mut Context<'_>) -> Option<ShortText> {
        let Some(Value::Symbol(symbol)) = self.rest.first() else {
            return None;
        };
        let flag = context.symbols().text(*symbol).strip_prefix('-')?;
        let flag = ShortText::new(&[flag])?;
        self.rest = &self.rest[1..];
        Some(flag)
    }

    pub(super) fn next(&mut self) -> Option<Value> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative"
    )]
    pub(super) fn count(&mut self) -> Option<usize> {
        match self.next()? {
            Value::Float(number) if number >= 0.0 => Some(number as usize),
            _ => None,
        }
    }

    pub(super) fn symbol(&mut self) -> Option<Symbol> {
        match self.next()? {
            Value::Symbol(symbol) => Some(symbol),
            Value::Float(_) | Value::Pointer(_) => None,
        }
    }
}

/// The format of a file without a header: bytes, channels, bytes of a sample, and `b`, `l` or `n`.
pub(super) fn raw_format(words: &mut Words<'_>, context: &mut Context<'_>) -> Option<SoundFormat> {
    let (header_bytes, channels, sample_bytes) = (words.count()?, words.count()?, words.count()?);
    let endian = words.symbol()?;
    let is_big = match context.symbols().text(endian) {
        "b" => true,
        "l" | "n" => false,
        _ => return None,
    };
    let is_right = (1..=64).contains(&channels) && (2..=4).contains(&sample_bytes);
    is_right.then_some(SoundFormat {
        rate: context.globals().rate,
        header_bytes,
        channels,
        sample_bytes,
        is_big,
    })
}

/// Options of a message that writes.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteOptions {
    pub skip: usize,
    pub frames: Option<usize>,
    pub sample_bytes: usize,
    pub file_type: Option<FileType>,
    pub is_big: Option<bool>,
    pub is_normalized: bool,
    pub rate: f32,
}

impl WriteOptions {
    /// Two bytes a sample.
    pub(super) fn at_rate(rate: f32) -> Self {
        Self {
            sample_bytes: 2,
            rate,
            ..Self::default()
        }
    }

    /// `None` if a flag is not understood.
    pub(super) fn set(&mut self, flag: &str, words: &mut Words<'_>) -> Option<()> {
        match flag {
            "skip" => self.skip = words.count()?,
            "nframes" => self.frames = Some(words.count()?),
            "bytes" => self.sample_bytes = words.count().filter(|bytes| (2..=4).contains(bytes))?,
            "normalize" => self.is_normalized = true,
            "wave" => self.file_type = Some(FileType::Wave),
            "aiff" => self.file_type = Some(FileType::Aiff),
            "nextstep" | "next" => self.file_type = Some(FileType::Next),
            "caf" => self.file_type = Some(FileType::Caf),
            "big" => self.is_big = Some(true),
            "little" => self.is_big = Some(false),
            "rate" | "r" => self.rate = words.next()?.number(),
            _ => return None,
        }
        Some(())
    }

    /// Returns true if the high byte of a sample comes first.
    pub(super) fn is_big(&self, file_type: FileType) -> bool {
        let usual = matches!(file_type, FileType::Aiff | FileType::Caf);
        self.is_big.unwrap_or(usual)
    }

    /// Factor of all samples: so that integers are not clipped.
    pub(super) fn factor(&self, peak: f32, name: &str, context: &mut Context<'_>) -> f64 {
        let is_reduced = !self.is_normalized && self.sample_bytes != 4 && peak > 1.0;
        match (self.is_normalized, is_reduced) {
            (false, true) => {
                context.print_with(|_, line| {
                    write!(line, "{name}: reducing max amplitude {peak:.6} to 1")
                });
            }
            (false, false) => {
                context.print_with(|_, line| write!(line, "{name}: biggest amplitude = {peak:.6}"));
            }
            _ => {}
        }
        match (self.is_normalized || is_reduced) && peak > 0.0 {
            true => 32767.0 / (32768.0 * f64::from(peak)),
            false => 1.0,
        }
    }
}
