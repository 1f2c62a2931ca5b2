//! [`ChildRequest`]: a sub-patch that is to be opened, and [`Opened`], one that is.

use super::border::ChildPatch;
use super::pipe::{ParentEnd, PipeSize};
use crate::disk::{FileAccess, ShortText};
use crate::load::{StartWord, StartWords};
use processor::BackgroundTask;
use std::fmt::{self, Debug};
use std::path::Path;
use std::sync::Arc;

/// The patch and options that a start names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChildName {
    pub file: ShortText,
    /// Folder in which it is looked for too; may be empty.
    pub path: ShortText,
    /// Sample rate in hertz.
    pub rate: f32,
}

/// Settings of a box for its sub-patches.
#[derive(Debug)]
pub(crate) struct ChildFormat {
    /// Folder of the file in which the box stands.
    pub(super) folder: Arc<Path>,
    pub(super) size: PipeSize,
    /// Sample rate in hertz.
    pub(super) rate: f32,
    /// The patch of the box, from 0.
    pub(super) patch: usize,
}

impl ChildName {
    /// The patch that a start names in its words; an error is a sentence.
    ///
    /// Real-time: hot.
    pub(super) fn read<'w>(
        words: impl IntoIterator<Item = StartWord<'w>>,
        format: &ChildFormat,
    ) -> Result<Self, &'static str> {
        let words = StartWords::read(words);
        let file = words.file.ok_or("start names no patch")?;
        let long = "the name of a patch has more than 1000 bytes";
        let rate = words.rate.unwrap_or(format.rate);
        if !(MIN_RATE..=MAX_RATE).contains(&rate) {
            return Err("a sample rate is from 1000 to 768000 Hz");
        }
        Ok(Self {
            file: ShortText::new(&[file]).ok_or(long)?,
            path: ShortText::new(&[words.path.unwrap_or("")]).ok_or(long)?,
            rate,
        })
    }
}

/// Sample rates of sub-patches, in hertz.
const MIN_RATE: f32 = 1000.0;
const MAX_RATE: f32 = 768_000.0;

/// A sub-patch that is to be opened.
#[derive(Clone)]
pub(crate) struct ChildRequest {
    pub(super) opener: Arc<dyn OpenChild>,
    /// Folder of the file in which the box stands.
    pub(super) folder: Arc<Path>,
    pub(super) name: ChildName,
    pub(super) size: PipeSize,
    /// True if it will play live: what waits goes to other threads.
    pub(super) is_live: bool,
    /// True if it will only be measured.
    pub(super) is_dry: bool,
}

impl Debug for ChildRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

/// Opens the sub-patches of a patch.
pub(crate) trait OpenChild: Send + Sync {
    /// Opens one. An error is a sentence.
    ///
    /// Real-time: waits, on the disk.
    fn open(&self, request: &ChildRequest, access: &FileAccess) -> Result<Opened, String>;
}

/// A sub-patch that is open, and has computed what nothing can reach.
pub(crate) struct Opened {
    pub(super) name: ChildName,
    /// Until the border has it.
    pub(super) child: Option<Box<dyn ChildPatch>>,
    pub(super) end: ParentEnd,
    /// Work of another thread for it.
    pub(crate) tasks: Vec<Box<dyn BackgroundTask>>,
}

impl Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

impl ChildRequest {
    /// Opens it.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn open(&self, access: &FileAccess) -> Result<Box<Opened>, String> {
        self.opener.open(self, access).map(Box::new)
    }
}
