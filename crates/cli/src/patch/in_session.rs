//! The patches that nodes of a session name, read with it: their mistakes are shown, their files watched and protected.

use super::check::{PatchCheck, missing_classes};
use divisi::graph::{Diagnostic, Node, NodeId, ParamValue};
use divisi::pd::{has_own_names, load_node, sharing_patches};
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
    /// Patches that were read, and their fingerprints.
    patches: Vec<(PatchCheck, String)>,
    /// The number of each, by its texts in the session.
    known: HashMap<[String; 3], usize>,
}

impl SessionPatches {
    /// Reads the patches of a session in `folder` that has `files` files, and gives each node the fingerprint of its patch. What cannot
    /// be read is reported by the node.
    pub(crate) fn read(session: &mut Session, folder: &Path, files: usize) -> Self {
        let mut found = Self::default();
        let nodes = session.graph.nodes();
        let patches = nodes.filter(|(_, node)| node.effective_kind() == "pd");
        let ids: Vec<NodeId> = patches.map(|(id, _)| id).collect();
        let mut read = Vec::new();
        for id in ids {
            if let Some(node) = session.graph.node(id)
                && let Some(patch) = found.read_node(node, folder, files)
            {
                read.push((id, patch, has_own_names(node)));
            }
        }
        for (id, version) in found.versions(&read) {
            if let Some(node) = session.graph.node_mut(id) {
                node.set("version", ParamValue::from(version.as_str()));
            }
        }
        found
    }

    /// The fingerprint of each node's patch, with those of the patches with which it shares names: they begin anew together.
    fn versions(&self, read: &[(NodeId, usize, bool)]) -> Vec<(NodeId, String)> {
        let loaded = |(_, patch, is_apart): &(NodeId, usize, bool)| {
            (self.patches[*patch].0.loaded(), *is_apart)
        };
        let mut versions = Vec::new();
        for set in sharing_patches(&Vec::from_iter(read.iter().map(loaded))) {
            let all = set.iter().map(|at| &*self.patches[read[*at].1].1);
            let all = Vec::from_iter(all).join(" ");
            versions.extend(set.iter().map(|at| (read[*at].0, all.clone())));
        }
        versions
    }

    /// The number of the patch of a node.
    fn read_node(&mut self, node: &Node, folder: &Path, files: usize) -> Option<usize> {
        let key = ["file", "path", "args"].map(|key| node.text(key).unwrap_or("").to_owned());
        if let Some(patch) = self.known.get(&key) {
            return Some(*patch);
        }
        let (_, patch) = load_node(node, folder);
        let mut check = PatchCheck::of(patch.ok()?);
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
        self.take_diagnostics(&mut check, files);
        self.patches.push((check, version));
        self.known.insert(key, self.patches.len() - 1);
        Some(self.patches.len() - 1)
    }

    /// Takes the mistakes of a patch, and its files.
    fn take_diagnostics(&mut self, check: &mut PatchCheck, files: usize) {
        let (diagnostics, read) = check.take_diagnostics();
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
    }
}
