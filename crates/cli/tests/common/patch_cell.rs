//! A session whose only cell plays one patch.

/// The session with a node of this name, which plays the patch `NAME.pd` in the cell `a`.
pub(crate) fn session(node: &str) -> String {
    format!(
        "edges = [\"{node}.out1 -> out\"]\n[nodes]\n{node} = {{ kind = \"pd\", file = \"{node}.pd\", out = 1 }}\n\
         out = {{ kind = \"sink\" }}\n[cell.a]\nnodes = [\"{node}\"]\n"
    )
}
