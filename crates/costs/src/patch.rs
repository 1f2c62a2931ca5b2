//! [`PatchCosts`]: costs of the nodes of one session, read only where that session is played.

use crate::BlockCost;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// Costs of the nodes of one session. They stay as text until they are asked for: the file is read at every start, for one
/// session of many.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PatchCosts(Box<RawValue>);

/// Costs by the name of the node.
pub(crate) type NodeCosts = BTreeMap<String, Vec<BlockCost>>;

impl PatchCosts {
    /// Costs of these nodes.
    pub(crate) fn new(nodes: &NodeCosts) -> Self {
        Self(to_raw_value(nodes).expect("its maps have text for keys"))
    }

    /// The costs by node; none if the text is not what it should be.
    pub(crate) fn nodes(&self) -> NodeCosts {
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }
}

impl PartialEq for PatchCosts {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

#[cfg(test)]
mod tests {
    use crate::CostsFile;

    #[test]
    fn the_costs_of_other_sessions_are_not_read() {
        let text = r#"{"machines": {"m": {"patches": {"mine": {"osc": [{"block": 64, "ns": 7}]}, "other": [1, "x"]}}}}"#;
        let file: CostsFile = serde_json::from_str(text).unwrap();
        let patches = &file.machines["m"].patches;
        assert_eq!(patches["mine"].nodes()["osc"][0].ns, 7);
        assert!(patches["other"].nodes().is_empty());
        // And they are written again as they are.
        let again = serde_json::to_string(&file).unwrap();
        assert!(again.contains(r#""other":[1, "x"]"#), "{again}");
    }
}
