//! Patches in cells: a session whose only cell plays one, and one that receives its level by name.

/// The session with a node of this name, which plays the patch `NAME.pd` in the cell `a`.
pub(crate) fn session(node: &str) -> String {
    format!(
        "edges = [\"{node}.out1 -> out\"]\n[nodes]\n{node} = {{ kind = \"pd\", file = \"{node}.pd\", out = 1 }}\n\
         out = {{ kind = \"sink\" }}\n[cell.a]\nnodes = [\"{node}\"]\n"
    )
}

/// A patch that receives its level by name.
pub(crate) const LEVEL: &str = "#N canvas 0 0 450 300 12;
#X obj 50 50 adc~ 1;
#X obj 120 50 r level;
#X obj 50 90 *~ 1;
#X obj 50 130 dac~ 1;
#X connect 0 0 2 0;
#X connect 1 0 2 1;
#X connect 2 0 3 0;
";
