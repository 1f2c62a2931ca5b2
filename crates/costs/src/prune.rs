//! Keeping the costs file small: it is read at every start.

use crate::patch::NodeCosts;
use crate::{CostsFile, MachineCosts};
use std::path::Path;

/// The most nodes of all sessions that are kept, beside those of the newest session. They take some 4 MB.
const MAX_NODES: usize = 30_000;

impl CostsFile {
    /// Drops the costs of sessions whose files are gone, and of the oldest sessions where there are too many nodes. The
    /// session that was measured last stays, however large it is.
    ///
    /// Real-time: setup.
    pub fn prune(&mut self) {
        self.prune_to(MAX_NODES);
    }

    fn prune_to(&mut self, max_nodes: usize) {
        for machine in self.machines.values_mut() {
            machine.patches.retain(|session, _| !is_gone(session));
        }
        let mut by_age: Vec<(u64, usize, String, String)> = Vec::new();
        for (key, machine) in &self.machines {
            for (session, costs) in &machine.patches {
                let (session, nodes) = (session.clone(), costs.nodes());
                by_age.push((measured_at(&nodes), nodes.len(), key.clone(), session));
            }
        }
        by_age.sort_unstable();
        let mut kept = 0;
        for (newer, (_, nodes, key, session)) in by_age.into_iter().rev().enumerate() {
            kept += nodes;
            if newer > 0 && kept > max_nodes {
                kept -= nodes;
                let machine = self.machines.get_mut(&key);
                machine.map(|machine: &mut MachineCosts| machine.patches.remove(&session));
            }
        }
    }
}

/// Time of the last measurement of a session, in seconds since 1970.
fn measured_at(nodes: &NodeCosts) -> u64 {
    let times = nodes.values().flatten().map(|cost| cost.at_s);
    times.max().unwrap_or(0)
}

/// Returns true if the session is a file that does not exist any more. Sessions without a path are kept.
fn is_gone(session: &str) -> bool {
    let path = Path::new(session);
    path.is_absolute() && matches!(path.try_exists(), Ok(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockCost, PatchCosts};

    fn session(nodes: usize, at_s: u64) -> PatchCosts {
        let cost = BlockCost {
            at_s,
            ..BlockCost::default()
        };
        let nodes = (0..nodes).map(|n| (n.to_string(), vec![cost.clone()]));
        PatchCosts::new(&nodes.collect())
    }

    #[test]
    fn costs_of_lost_files_and_the_oldest_go_and_the_newest_stay() {
        let mut costs = CostsFile::default();
        let here = std::env::temp_dir().display().to_string();
        for (machine, name, nodes, at_s) in [
            ("a", here.as_str(), 10, 5),
            ("a", "/no/such/session.toml", 1, 9),
            ("a", "oldest", 4, 1),
            ("b", "older", 6, 3),
            ("b", "newest", 100, 7),
        ] {
            let machine = costs.machines.entry(machine.into()).or_default();
            machine.patches.insert(name.into(), session(nodes, at_s));
        }
        costs.prune_to(115);
        let names = |machine: &str| -> Vec<String> {
            costs.machines[machine].patches.keys().cloned().collect()
        };
        assert_eq!(names("a"), [here.clone(), "oldest".into()]);
        assert_eq!(names("b"), ["newest"]);
        costs.prune_to(3);
        let left: usize = costs
            .machines
            .values()
            .map(|machine| machine.patches.len())
            .sum();
        assert_eq!(left, 1, "the newest stays, however large");
    }
}
