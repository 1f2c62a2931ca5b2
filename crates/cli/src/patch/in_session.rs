//! The patches that nodes of a session name, read with it: their mistakes are shown, their files watched and protected.

use super::check::{PatchCheck, missing_classes};
use divisi::graph::{Diagnostic, NodeId, ParamValue};
use divisi::pd::load_node;
use divisi::text::{IncludedFile, Session};
use std::collections::HashMap;
use std::path::Path;

/// What the patches of a session add to it.
#[derive(Default)]
pub(crate) struct SessionPatches {
    /// Mistakes. Their files are numbered behind those of the session.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Files of the patches.
    pub(crate) files: Vec<IncludedFile>,
    /// True if an object is missing.
    pub(crate) lacks_objects: bool,
    /// Fingerprints of patches that were read, by their texts in the session.
    known: HashMap<[String; 3], String>,
}

impl SessionPatches {
    /// Reads the patches of a session in `folder` that has `files` files, and gives each node the fingerprint of its patch. What cannot
    /// be read is reported by the node.
    pub(crate) fn read(session: &mut Session, folder: &Path, files: usize) -> Self {
        let mut found = Self::default();
        let nodes = session.graph.nodes();
        let patches = nodes.filter(|(_, node)| node.effective_kind() == "pd");
        let ids: Vec<NodeId> = patches.map(|(id, _)| id).collect();
        for id in ids {
            if let Some(version) = found.read_node(session, id, folder, files)
                && let Some(node) = session.graph.node_mut(id)
            {
                node.set("version", ParamValue::from(version.as_str()));
            }
        }
        found
    }

    /// The fingerprint of the patch of a node.
    fn read_node(
        &mut self,
        session: &Session,
        id: NodeId,
        folder: &Path,
        files: usize,
    ) -> Option<String> {
        let node = session.graph.node(id)?;
        let key = ["file", "path", "args"].map(|key| node.text(key).unwrap_or("").to_owned());
        if let Some(version) = self.known.get(&key) {
            return Some(version.clone());
        }
        let (_, patch) = load_node(node, folder);
        let check = PatchCheck::of(patch.ok()?);
        let version = check.fingerprint();
        let missing = missing_classes(&check);
        if !missing.is_empty() {
            let message = format!(
                "not built yet, so they pass nothing: {}",
                missing.join(", ")
            );
            self.diagnostics
                .push(Diagnostic::warning(node.span, message));
        }
        self.lacks_objects |= check.has_stand_ins() || !missing.is_empty();
        let (diagnostics, read) = check.into_diagnostics();
        let first = files + self.files.len();
        for mut diagnostic in diagnostics {
            let file = first + usize::from(diagnostic.span.file);
            // Beyond this number places have no file.
            if let Ok(file) = u16::try_from(file) {
                diagnostic.span.file = file;
                self.diagnostics.push(diagnostic);
            }
        }
        self.files.extend(read.into_iter().map(|file| IncludedFile {
            name: file.path.display().to_string(),
            text: file.text,
        }));
        self.known.insert(key, version.clone());
        Some(version)
    }
}
