//! Reading a patch with its abstractions, and what `check` says about it.

use crate::failure::Failure;
use crate::output::messages;
use divisi::graph::Diagnostic;
use divisi::pd::{LoadedPatch, Machine, SearchPath, SourceFile, load_patch};
use divisi::text::render_diagnostics_of_files;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// A patch that was read, and its mistakes.
pub(crate) struct PatchCheck {
    patch: LoadedPatch,
}

impl PatchCheck {
    /// Returns true if `path` names a patch.
    pub(crate) fn is_patch(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "pd")
    }

    /// Reads the patch and every abstraction that it uses.
    pub(crate) fn read(path: &Path, folders: &[PathBuf]) -> Result<Self, Failure> {
        let search = SearchPath::new(folders.iter().cloned());
        let patch = load_patch(path, &search)
            .map_err(|why| Failure::bad_input(format!("cannot read {}: {why}", path.display())))?;
        Ok(Self { patch })
    }

    /// A patch that was read.
    pub(super) fn of(patch: LoadedPatch) -> Self {
        Self { patch }
    }

    /// The patch.
    pub(crate) fn loaded(&self) -> &LoadedPatch {
        &self.patch
    }

    /// Returns true if an object could not be made, or a `pd~` would find no patch.
    pub(crate) fn has_stand_ins(&self) -> bool {
        let all = self.patch.with_sub_patches();
        all.iter()
            .any(|patch| patch.root.stand_in_count() + patch.silent_children > 0)
    }

    /// A number that changes with the text of any file.
    pub(crate) fn fingerprint(&self) -> String {
        let mut hash = DefaultHasher::new();
        for file in &self.patch.files {
            (&file.path, &file.text).hash(&mut hash);
        }
        format!("{:016x}", hash.finish())
    }

    /// Takes the diagnostics, and the files that they are in.
    pub(crate) fn take_diagnostics(&mut self) -> (Vec<Diagnostic>, Vec<SourceFile>) {
        let patch = &mut self.patch;
        (
            std::mem::take(&mut patch.diagnostics),
            std::mem::take(&mut patch.files),
        )
    }

    /// The files that were read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.patch.files.iter().map(|file| file.path.as_path())
    }

    /// Returns true if the patch cannot be played as it is meant.
    pub(crate) fn has_errors(&self) -> bool {
        self.patch.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Prints every mistake with the line that it is in.
    pub(crate) fn print_diagnostics(&self) {
        let names: Vec<String> = self
            .files()
            .map(|path| path.display().to_string())
            .collect();
        let texts = self.patch.files.iter().map(|file| &*file.text);
        let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts).collect();
        let shown = render_diagnostics_of_files(&files, &self.patch.diagnostics);
        if !shown.is_empty() {
            messages::print_message(shown.trim_end());
        }
    }

    /// One line about the patch.
    pub(crate) fn to_text(&self) -> String {
        let (boxes, files) = (self.patch.root.box_count(), self.patch.files.len());
        let missing = self.patch.root.stand_in_count();
        let name = self.patch.files[0].path.display();
        let mut text = format!("{name}: {boxes} boxes from {files} files");
        if missing > 0 {
            text += &format!(", {missing} of them stand-ins that pass nothing");
        }
        text.push('\n');
        for patch in self.patch.with_sub_patches().into_iter().skip(1) {
            text += &sub_patch_text(patch);
        }
        match self.silent_children() {
            0 => {}
            1 => text += "  one start of pd~ finds no patch\n",
            count => text += &format!("  {count} starts of pd~ find no patch\n"),
        }
        text
    }

    /// Starts of `pd~` that start nothing.
    fn silent_children(&self) -> usize {
        let all = self.patch.with_sub_patches();
        all.iter().map(|patch| patch.silent_children).sum()
    }

    /// The same as JSON, with every mistake.
    pub(crate) fn to_json(&self, diagnostic: impl Fn(&Diagnostic) -> Value) -> Value {
        let with_file = |found: &Diagnostic| {
            let mut json = diagnostic(found);
            let file = self.patch.files.get(usize::from(found.span.file));
            json["file"] = file.map(|file| file.path.display().to_string()).into();
            json
        };
        json!({
            "ok": !self.has_errors(),
            "diagnostics": self.patch.diagnostics.iter().map(with_file).collect::<Vec<_>>(),
            "files": self.files().map(|path| path.display().to_string()).collect::<Vec<_>>(),
            "boxes": self.patch.root.box_count(),
            "stand_ins": self.patch.root.stand_in_count(),
            "silent_children": self.silent_children(),
            "sub_patches": self.patch.with_sub_patches().into_iter().skip(1).map(sub_patch_json).collect::<Vec<_>>(),
        })
    }
}

/// One line about a patch that `pd~` starts.
fn sub_patch_text(patch: &LoadedPatch) -> String {
    let (name, boxes) = (patch.files[0].path.display(), patch.root.box_count());
    let stand_ins = match patch.root.stand_in_count() {
        0 => String::new(),
        count => format!(", {count} of them stand-ins that pass nothing"),
    };
    format!("  pd~ starts {name}: {boxes} boxes{stand_ins}\n")
}

fn sub_patch_json(patch: &LoadedPatch) -> Value {
    json!({
        "file": patch.files[0].path.display().to_string(),
        "boxes": patch.root.box_count(),
        "stand_ins": patch.root.stand_in_count(),
    })
}

/// Classes that are not built yet, each once, sorted; none where the patch has errors.
pub(super) fn missing_classes(check: &PatchCheck) -> Vec<String> {
    if check.has_errors() {
        return Vec::new();
    }
    let all = check.loaded().with_sub_patches();
    let not_yet = all
        .into_iter()
        .flat_map(|patch| Machine::build(patch, 44_100.0).1);
    let mut classes: Vec<String> = not_yet.map(|one| one.class).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}
