//! [`Job`]: work that messages ask for and that cannot be done where they run: files, and memory.
//!
//! A render does it at once. While a patch plays live another thread does it, and the result comes before a later block. The memory
//! that a result replaces goes back inside the result, so that the other thread frees it.

use super::arrays::ArrayId;
use super::sums;
use super::symbol::{Symbol, Symbols};
use super::text::{TextWord, parse_text};
use super::value::Value;
use crate::child::{ChildPatch, ChildRequest, Opened};
use crate::disk::{FileAccess, FileAnswer, FileName, FileReply, FileRequest};

/// Channels of a sound file, and partials of a sum, at most.
pub(crate) const MAX_PARTS: usize = 64;

/// Work that messages ask for.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    /// Reads or writes a file.
    File(FileRequest),
    /// Reads a text; with `by_lines` each end of a line is a separator.
    ReadText { name: FileName, by_lines: bool },
    /// Makes memory for a text that is to be written.
    WriteText {
        name: FileName,
        by_lines: bool,
        bytes: usize,
    },
    /// Makes memory for the samples of a sound file.
    Samples { channels: usize, frames: usize },
    /// Makes the points of an array: silence for those that the array keeps, or a sum of waves.
    Points {
        array: ArrayId,
        size: usize,
        sum: Option<Sum>,
    },
    /// Makes memory for symbols.
    Symbols { count: usize, bytes: usize },
    /// Opens a sub-patch.
    Open(ChildRequest),
}

/// A sum of sine or cosine waves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub is_sine: bool,
    pub partials: [f32; MAX_PARTS],
    pub count: usize,
}

impl Sum {
    /// `None` for too many partials.
    pub(super) fn new(is_sine: bool, values: &[Value]) -> Option<Self> {
        let mut partials = [0.0; MAX_PARTS];
        let to = partials.get_mut(..values.len())?;
        for (to, value) in to.iter_mut().zip(values) {
            *to = value.number();
        }
        let count = values.len();
        Some(Self {
            is_sine,
            partials,
            count,
        })
    }
}

/// Result of a [`Job`]. An object that takes something out of it leaves in it what it had before.
#[expect(
    clippy::large_enum_variant,
    reason = "where it is made nothing may be allocated: it moves through queues of fixed size"
)]
#[derive(Debug)]
pub(crate) enum JobResult {
    File(FileReply),
    Text(Result<ParsedText, String>),
    WriteText {
        name: FileName,
        by_lines: bool,
        text: String,
    },
    Samples(Vec<Vec<f32>>),
    Points {
        array: ArrayId,
        points: Vec<f32>,
        keeps: bool,
    },
    Symbols(Symbols),
    /// A sub-patch; one that has ended comes back to be freed.
    Opened(Result<Box<Opened>, String>),
    /// The part of a sub-patch that computes, to be freed.
    Ended(#[expect(dead_code, reason = "it is kept to be freed")] Box<dyn ChildPatch>),
    /// Too many jobs wait.
    Refused,
}

/// A text with symbols of its own.
#[derive(Debug, Default)]
pub(crate) struct ParsedText {
    words: Vec<TextWord>,
    symbols: Symbols,
    /// Symbols of the patch, by number of a symbol of the text.
    map: Vec<Symbol>,
}

impl ParsedText {
    fn new(text: &str, by_lines: bool) -> Self {
        let mut symbols = Symbols::default();
        let words = parse_text(text, by_lines, &mut symbols);
        let map = Vec::with_capacity(symbols.len());
        Self {
            words,
            symbols,
            map,
        }
    }

    /// The words, with symbols of the patch. Call it once.
    ///
    /// Real-time: hot where there is room for its symbols ([`JobResult::symbol_counts`]).
    pub(crate) fn resolve(&mut self, symbols: &mut Symbols) -> &mut Vec<TextWord> {
        for text in self.symbols.texts() {
            self.map.push(symbols.intern(text));
        }
        for word in &mut self.words {
            if let TextWord::Value(Value::Symbol(symbol)) | TextWord::DollarSymbol(symbol) = word {
                *symbol = self.map[symbol.index()];
            }
        }
        &mut self.words
    }
}

impl JobResult {
    /// Number and bytes of the symbols that it brings, at most.
    pub(super) fn symbol_counts(&self) -> (usize, usize) {
        match self {
            Self::Text(Ok(text)) => (text.symbols.len(), text.symbols.bytes()),
            Self::File(FileReply::Answer(FileAnswer::Found(found))) => {
                let bytes = found.iter().map(|(path, _)| path.len()).sum();
                (found.len(), bytes)
            }
            _ => (0, 0),
        }
    }
}

impl Job {
    /// Returns true if it writes a file.
    pub(crate) fn is_write(&self) -> bool {
        match self {
            Self::File(request) => request.is_write(),
            Self::WriteText { .. } | Self::Samples { .. } => true,
            _ => false,
        }
    }

    /// The result of a write that is left out; `None` for other jobs.
    pub(crate) fn left_out(&self) -> Option<JobResult> {
        match self {
            Self::File(request) => request.left_out().map(JobResult::File),
            _ => None,
        }
    }

    /// Does it.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn serve(self, access: &FileAccess) -> JobResult {
        match self {
            Self::File(request) => JobResult::File(request.serve(access)),
            Self::ReadText { name, by_lines } => {
                let text = access.read_text(&name);
                JobResult::Text(text.map(|text| ParsedText::new(&text, by_lines)))
            }
            Self::WriteText {
                name,
                by_lines,
                bytes,
            } => JobResult::WriteText {
                name,
                by_lines,
                text: String::with_capacity(bytes),
            },
            Self::Samples { channels, frames } => {
                JobResult::Samples(vec![vec![0.0; frames]; channels])
            }
            Self::Points { array, size, sum } => {
                let mut points = vec![0.0; size];
                if let Some(sum) = &sum {
                    let partials = sum.partials[..sum.count].iter().copied();
                    sums::fill(&mut points, partials, sum.is_sine);
                }
                JobResult::Points {
                    array,
                    points,
                    keeps: sum.is_none(),
                }
            }
            Self::Open(request) => JobResult::Opened(request.open(access)),
            Self::Symbols { count, bytes } => JobResult::Symbols(Symbols::with_room(count, bytes)),
        }
    }
}
