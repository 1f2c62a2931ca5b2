//! [`BorderMemory`]: the memory that a cell's process is given, opened before it gives up files.

use crate::border::{Entry, register_border};
use crate::checkpoint::FIRST_BUFFER;
use crate::inner_events::inner_words;
use crate::message::{CellEnd, HEADER};
use crate::split::CellPart;
use crate::transport::TRANSPORT_WORDS;
use processor::Registry;
use rt::mirror::{Ring, SharedWords};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Memory that the supervisor has made for the process.
pub(super) fn open_memory(path: &Path) -> Result<File, String> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(|error| format!("its memory is not there: {error}"))
}

/// The first words of the memory for checkpoints.
pub(super) fn open_head(memory: &File) -> Result<SharedWords, String> {
    let file = memory.try_clone().map_err(|error| error.to_string())?;
    SharedWords::open(&file.into(), FIRST_BUFFER).map_err(|error| error.to_string())
}

/// The process's end of the rings of requests and of replies, whose messages have so many words.
fn open_end(rings: &(PathBuf, PathBuf), words: (usize, usize)) -> Result<CellEnd, String> {
    let open = |path: &Path, words: usize| {
        let ring = Ring::open(open_memory(path)?.into()).map_err(|error| error.to_string())?;
        match ring.capacity() < HEADER + words {
            true => Err("the session has changed since the supervisor read it".to_owned()),
            false => Ok(ring),
        }
    };
    let (requests, replies) = (open(&rings.0, words.0)?, open(&rings.1, words.1)?);
    Ok(CellEnd::new(
        requests.consumer().map_err(|error| error.to_string())?,
        replies.producer().map_err(|error| error.to_string())?,
        words,
    ))
}

/// The messages that pass the border, and the words in which its nodes find them.
pub(super) struct BorderMemory {
    pub(super) end: CellEnd,
    /// Channels of sound that enter.
    pub(super) channels: usize,
    pub(super) entered: Arc<[AtomicU32]>,
    pub(super) collected: Arc<[AtomicU32]>,
    /// Words of the events for nodes inside.
    pub(super) inner: usize,
}

impl BorderMemory {
    /// Opens the rings of a part, and lets its border be nodes of `registry`.
    pub(super) fn open(
        part: &CellPart,
        frames: usize,
        registry: &mut Registry,
        rings: &(PathBuf, PathBuf),
    ) -> Result<Self, String> {
        let channels = part.input_channels();
        let samples = part.message_words(frames);
        let words = |count| -> Arc<[AtomicU32]> { (0..count).map(|_| AtomicU32::new(0)).collect() };
        let inner = inner_words(frames);
        let of_events = samples.0 - TRANSPORT_WORDS - inner - channels * frames;
        let (entered, collected) = (words(of_events), words(samples.1));
        let entries = entries(part, frames);
        register_border(registry, entries, entered.clone(), collected.clone());
        Ok(Self {
            end: open_end(rings, samples)?,
            channels,
            entered,
            collected,
            inner,
        })
    }
}

/// Place of each output of the nodes that enter the cell.
fn entries(part: &CellPart, frames: usize) -> HashMap<String, Vec<Option<Entry>>> {
    let mut entries = HashMap::<String, Vec<Option<Entry>>>::new();
    let (mut channel, mut word) = (0, 0);
    for input in &part.inputs {
        let entry = match input.channels() {
            0 => Entry::Events(word),
            _ => Entry::Sound(channel),
        };
        if let Some(node) = part.graph.node(input.from.node) {
            let ports = entries.entry(node.name.clone());
            let ports = ports.or_insert_with(|| vec![None; node.outputs.len()]);
            ports[usize::from(input.from.port)] = Some(entry);
        }
        match input.channels() {
            0 => word += input.words(frames),
            channels => channel += channels,
        }
    }
    entries
}
