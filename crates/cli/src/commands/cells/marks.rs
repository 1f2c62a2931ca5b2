//! [`FileMarks`]: the files that a session reads, as they were at its start. A process that comes later says which have changed.
//!
//! A file is looked at by its time and size first. Where these are others, its content decides.

use crate::session::load::LoadedSession;
use divisi::graph::Node;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Most files that are marked.
const MAX_FILES: usize = 4096;

/// Files with their marks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileMarks(Vec<(PathBuf, Mark)>);

/// State of a file.
#[derive(Debug, PartialEq, Eq)]
struct Mark {
    bytes: u64,
    changed_ns: u64,
    content: u64,
}

impl FileMarks {
    /// Marks all files that the session reads beside its own.
    pub(super) fn of(loaded: &LoadedSession) -> Self {
        let marks = read_files(loaded, |_| true)
            .into_iter()
            .take(MAX_FILES)
            .filter_map(|path| {
                let (bytes, changed_ns) = stamp(&path)?;
                let content = content(&path)?;
                let mark = Mark {
                    bytes,
                    changed_ns,
                    content,
                };
                Some((path, mark))
            });
        Self(marks.collect())
    }

    /// Reads what [`to_text`](Self::to_text) has written; what is no such text marks nothing.
    pub(super) fn read(text: &str) -> Self {
        let all: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
        let marks = all.iter().filter_map(|it| {
            let number = |at: usize| it[at].as_u64();
            let mark = Mark {
                bytes: number(1)?,
                changed_ns: number(2)?,
                content: number(3)?,
            };
            Some((PathBuf::from(it[0].as_str()?), mark))
        });
        Self(marks.collect())
    }

    pub(super) fn to_text(&self) -> String {
        let marks = self.0.iter().filter_map(|(path, mark)| {
            // One without a text is not looked at.
            Some(json!([
                path.to_str()?,
                mark.bytes,
                mark.changed_ns,
                mark.content
            ]))
        });
        Value::Array(marks.collect()).to_string()
    }

    /// The files that these nodes read whose content is another one by now, or that are gone.
    pub(super) fn changed<'m>(&'m self, loaded: &LoadedSession, nodes: &[String]) -> Vec<&'m Path> {
        let read = read_files(loaded, |node| nodes.contains(&node.name));
        let marked = self.0.iter().filter(|(path, _)| read.contains(path));
        let is_other = |(path, mark): &&(PathBuf, Mark)| match stamp(path) {
            Some(found) if found == (mark.bytes, mark.changed_ns) => false,
            _ => content(path) != Some(mark.content),
        };
        let changed = marked.filter(is_other);
        changed.map(|(path, _)| path.as_path()).collect()
    }
}

/// The files that nodes name and read, and if one of them is a patch all parts of patches.
fn read_files(loaded: &LoadedSession, is_meant: impl Fn(&Node) -> bool) -> BTreeSet<PathBuf> {
    let named = loaded.named_files(false).filter(|(node, _)| is_meant(node));
    let mut files: BTreeSet<PathBuf> = named.map(|(_, path)| path).collect();
    let mut nodes = loaded.session.graph.nodes();
    if nodes.any(|(_, node)| node.effective_kind() == "pd" && is_meant(node)) {
        let parts = loaded.included_files().into_iter();
        files.extend(parts.filter(|it| it.extension().is_some_and(|it| it == "pd")));
    }
    files
}

/// Size and time of the last change.
fn stamp(path: &Path) -> Option<(u64, u64)> {
    let facts = path.metadata().ok().filter(|it| it.is_file())?;
    let since = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((facts.len(), since.as_nanos() as u64))
}

/// A number of all that a file holds.
fn content(path: &Path) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    let (mut hasher, mut bytes) = (DefaultHasher::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes).ok()? {
            0 => return Some(hasher.finish()),
            count => hasher.write(&bytes[..count]),
        }
    }
}
