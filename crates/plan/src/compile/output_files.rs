//! Part of pass 1: no file is written by two nodes.

use super::wiring::{NodePart, WiredNode};
use graph::{Diagnostic, Node};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Reports every node that writes the file of an earlier one: both would write at once, and neither file would be whole.
///
/// Names are compared, not files: a folder may be reached by two names, and this pass does not open files.
pub(super) fn check_output_files(nodes: &[WiredNode<'_>]) -> Vec<Diagnostic> {
    let mut writers: HashMap<PathBuf, &Node> = HashMap::new();
    let mut mistakes = Vec::new();
    for wired in nodes
        .iter()
        .filter(|n| !matches!(n.part, NodePart::Silence))
    {
        let Some(file) = wired.kind.writes.and_then(|key| wired.node.text(key)) else {
            continue;
        };
        let parts = Path::new(file).components();
        let path = parts.filter(|part| *part != Component::CurDir).collect();
        match writers.get(&path) {
            Some(first) => {
                let message = format!(
                    "`{}` and `{}` write the same file",
                    first.name, wired.node.name
                );
                let mistake = wired.node.mistake(message);
                let mistake = mistake.related(first.span, "the first one is here");
                mistakes.push(mistake.help("give one of them another file"));
            }
            None => {
                writers.insert(path, wired.node);
            }
        }
    }
    mistakes
}
