//! The patches that message boxes let `pd~` start, read with the patch around them.
//!
//! Each has names, arrays and `$0` of its own. Its files and its mistakes are listed behind those of the patch around.

use super::instance::{Instance, LoadedObject, LoadedPatch, ObjectBody, SubPatch};
use super::loader::{MAX_SUB_PATCHES, load_inner};
use super::search::SearchPath;
use super::start_words::{StartWords, literal_starts, start_word};
use crate::file::Atom;
use graph::{Diagnostic, SourceSpan};
use std::path::{Path, PathBuf};

/// Patches within patches, at most.
const MAX_DEPTH: usize = 16;

impl LoadedPatch {
    /// Reads the patches that message boxes start, below the patches of `chain`; `left` more at most.
    pub(super) fn read_sub_patches(&mut self, chain: &[PathBuf], left: &mut usize) {
        let mut starts = Vec::new();
        find_starts(&self.root, &mut starts);
        for (span, words) in starts {
            let folder = self.files.get(usize::from(span.file));
            let folder = folder.and_then(|file| file.path.parent());
            let folder = folder.unwrap_or(Path::new("")).to_owned();
            let words = StartWords::read(words.iter().filter_map(start_word));
            if let Some(file) = words.file
                && let Err(found) =
                    self.read_sub_patch((file, words.path), span, &folder, (chain, left))
            {
                self.silent_children += 1;
                self.diagnostics.push(*found);
            }
        }
    }

    fn read_sub_patch(
        &mut self,
        (file, more): (&str, Option<&str>),
        span: SourceSpan,
        folder: &Path,
        (chain, left): (&[PathBuf], &mut usize),
    ) -> Result<(), Box<Diagnostic>> {
        let wrong = |message| {
            let found = Diagnostic::warning(span, message);
            Box::new(found.help("`pd~` stays silent; the rest plays"))
        };
        let found = find_sub_patch(&self.search, folder, file, more);
        let path = found.ok_or_else(|| wrong(format!("there is no patch `{file}`")))?;
        if self.sub_patches.iter().any(|known| known.path == path) {
            return Ok(());
        }
        let chain = longer_chain(chain, &path).map_err(wrong)?;
        *left = left.checked_sub(1).ok_or_else(|| {
            wrong(format!(
                "more than {MAX_SUB_PATCHES} patches that `pd~` starts"
            ))
        })?;
        let patch = load_inner(&path, &self.search, &chain, left)
            .map_err(|why| wrong(format!("cannot read {}: {why}", path.display())))?;
        let first = self.files.len();
        if first + patch.files.len() > usize::from(u16::MAX) {
            return Err(wrong("the patch has too many files".to_owned()));
        }
        self.files.extend(patch.files.iter().cloned());
        for mut diagnostic in patch.diagnostics.iter().cloned() {
            let file = first + usize::from(diagnostic.span.file);
            diagnostic.span.file = u16::try_from(file).unwrap_or(u16::MAX);
            self.diagnostics.push(diagnostic);
        }
        let patch = Box::new(patch);
        self.sub_patches.push(SubPatch { path, span, patch });
        Ok(())
    }
}

/// The words of every start in message boxes, with the places of the boxes.
fn find_starts(instance: &Instance, starts: &mut Vec<(SourceSpan, Vec<Atom>)>) {
    for object in &instance.objects {
        match &object.body {
            ObjectBody::Message => {
                let found = literal_starts(object).map(|words| (object.span, words.to_vec()));
                starts.extend(found);
            }
            ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => {
                find_starts(inner, starts);
            }
            ObjectBody::Clones { instances, .. } => {
                instances
                    .iter()
                    .for_each(|inner| find_starts(inner, starts));
            }
            _ => {}
        }
    }
}

/// The file of a patch that `pd~` starts: looked for in the folder of the file in which the box stands, then in `more`, then where
/// abstractions are.
///
/// Real-time: waits, on the disk.
pub(crate) fn find_sub_patch(
    search: &SearchPath,
    folder: &Path,
    file: &str,
    more: Option<&str>,
) -> Option<PathBuf> {
    let more = more.map(|more| folder.join(more));
    let folders = [folder.to_owned()].into_iter().chain(more);
    let mut paths = folders
        .chain(search.folders().cloned())
        .map(|folder| folder.join(file));
    paths.find(|path| path.is_file())
}

/// The patches around one that is started, with itself; a sentence if it would start itself.
pub(crate) fn longer_chain(chain: &[PathBuf], path: &Path) -> Result<Vec<PathBuf>, String> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut chain = chain.to_vec();
    let again = chain.iter().position(|other| *other == real);
    chain.push(real);
    match again {
        Some(at) => {
            let name = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            };
            let names = Vec::from_iter(chain[at..].iter().map(name));
            Err(format!(
                "`pd~` would start the patch within itself: {}",
                names.join(" → ")
            ))
        }
        None if chain.len() > MAX_DEPTH => Err(format!(
            "`pd~` starts at most {MAX_DEPTH} patches within each other"
        )),
        None => Ok(chain),
    }
}

/// The words of each start in the message boxes of a canvas, with the index of the `pd~` to which the box leads, where it leads to one
/// at once.
pub(crate) fn connected_starts(instance: &Instance) -> Vec<(Option<usize>, &[Atom])> {
    let is_pd = |object: &LoadedObject| matches!(&object.body, ObjectBody::Class(class) if &**class == "pd~");
    let mut found = Vec::new();
    for (at, object) in instance.objects.iter().enumerate() {
        if !matches!(object.body, ObjectBody::Message) || literal_starts(object).next().is_none() {
            continue;
        }
        let leaving = instance.connections.iter().filter(|it| it.from == at);
        let reached = leaving.map(|it| it.to);
        let mut to: Vec<Option<usize>> = reached
            .filter(|to| is_pd(&instance.objects[*to]))
            .map(Some)
            .collect();
        if to.is_empty() {
            to.push(None);
        }
        for words in literal_starts(object) {
            found.extend(to.iter().map(|to| (*to, words)));
        }
    }
    found
}
