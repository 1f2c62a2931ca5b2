//! [`work_mistakes`]: the names of a cell's work, against the graph.

use crate::section::CellSpec;
use graph::{Diagnostic, Graph, nearest};
use processor::Registry;

/// Every name under `work` that is no node, that of a node in a cell, of a kind without such work, or there twice.
///
/// Real-time: setup.
pub fn work_mistakes(graph: &Graph, cells: &[CellSpec], registry: &Registry) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    let mut known: Vec<(&str, &str)> = Vec::new();
    let home = |name: &String| cells.iter().find(|cell| cell.nodes.contains(name));
    for cell in cells {
        for name in &cell.work {
            let mistake = |message: String| Diagnostic::error(cell.span, message);
            let Some(node) = graph.find(name).and_then(|id| graph.node(id)) else {
                let message = format!(
                    "the cell `{}` does the work of `{name}`, which is no node",
                    cell.name
                );
                let names = graph.nodes().map(|(_, node)| node.name.as_str());
                mistakes.push(match nearest(name, names) {
                    Some(near) => mistake(message).help(format!("did you mean `{near}`?")),
                    None => mistake(message),
                });
                continue;
            };
            if let Some(home) = home(name) {
                let message = format!(
                    "`{name}` is in the cell `{}`, which does its work: `work` names nodes in no cell",
                    home.name
                );
                let fix = format!(
                    "take `{name}` out of the nodes of `{}`, or out of `work`",
                    home.name
                );
                mistakes.push(mistake(message).help(fix));
            } else if !registry.has_work(node) {
                let kind = node.effective_kind();
                mistakes.push(mistake(format!(
                    "the cell `{}` cannot do the work of `{name}`: `{kind}` has none that another process can do",
                    cell.name
                )));
            }
            if let Some((_, other)) = known.iter().find(|(node, _)| node == name) {
                mistakes.push(mistake(format!(
                    "the work of `{name}` is done by the cells `{other}` and `{}`",
                    cell.name
                )));
            }
            known.push((name, &cell.name));
        }
    }
    mistakes
}
