//! [`BoxLoader`]: boxes that messages to canvases make while a patch plays.

use super::instance::{LoadedObject, LoadedPatch, SourceFile};
use super::loader::Loader;
use super::scope::Scope;
use crate::file::{BoxBody, Canvas, PatchBox, read_patch};
use graph::Diagnostic;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Loads boxes into canvases of a patch that is loaded.
pub(crate) struct BoxLoader(Loader);

impl BoxLoader {
    /// A loader that goes on where that of `patch` has ended.
    pub(crate) fn new(patch: &LoadedPatch) -> Self {
        let mut loader = Loader::new(&patch.search);
        // The texts are not needed any more.
        let without_text = |file: &SourceFile| SourceFile {
            path: file.path.clone(),
            text: String::new(),
        };
        let files = patch.files.iter().map(without_text).collect();
        loader.continue_from(patch.next_number, files);
        Self(loader)
    }

    /// Loads the boxes of `statement`, as it would stand in a file behind `#X`, into a canvas of `scope`. `boxes` and `canvases` are
    /// there already. Gives what is wrong as well.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn load(
        &mut self,
        statement: &str,
        scope: &Arc<Scope>,
        (boxes, canvases): (usize, usize),
    ) -> (Vec<LoadedObject>, Vec<Diagnostic>) {
        (self.0.boxes, self.0.instances) = (boxes, canvases);
        let mut file = read_patch(&format!("#N canvas 0 0 9 9 12;\n#X {statement};\n"));
        let mut found = std::mem::take(&mut file.diagnostics);
        let mut loaded = Vec::new();
        for mut one in file.canvas.boxes {
            // In a file a subpatch stands before its box; a message makes an empty one.
            if let BoxBody::Object(words) = &mut one.body
                && words.first().and_then(|word| word.as_symbol()) == Some("pd")
            {
                one.body = BoxBody::Canvas {
                    canvas: Box::new(Canvas::default()),
                    words: std::mem::take(words),
                };
            }
            loaded.push(self.0.object(&one, scope));
        }
        found.append(&mut self.0.take_diagnostics());
        (loaded, found)
    }

    /// As [`load`](Self::load), of boxes that were read.
    ///
    /// Real-time: waits, on the disk.
    pub(crate) fn load_boxes(
        &mut self,
        copies: &[PatchBox],
        scope: &Arc<Scope>,
        (boxes, canvases): (usize, usize),
    ) -> (Vec<LoadedObject>, Vec<Diagnostic>) {
        (self.0.boxes, self.0.instances) = (boxes, canvases);
        let copies = copies.iter().map(|one| self.0.object(one, scope));
        let loaded = copies.collect();
        (loaded, self.0.take_diagnostics())
    }

    /// Folder of each file.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        folders(&self.0.files)
    }
}

/// Folder of each file.
fn folders(files: &[SourceFile]) -> Vec<PathBuf> {
    let folder = |file: &SourceFile| file.path.parent().unwrap_or(Path::new("")).to_owned();
    files.iter().map(folder).collect()
}
