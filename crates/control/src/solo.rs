//! Solo: all channel strips but those that are soloed are cut.
//!
//! A strip is a node whose kind has the parameter `cut`. Nothing else is kept: where some are cut, those that are not
//! are soloed. So undo, snapshots and files need no word of it.

use crate::ControlError;
use crate::edits::Draft;
use crate::target;
use engine::RampLaw;
use graph::{NodeId, ParamValue};
use std::collections::BTreeSet;

const CUT: &str = "cut";

impl Draft<'_> {
    /// Soloes a strip beside those that are, or not any more; without a name nothing is soloed.
    ///
    /// # Errors
    ///
    /// There is no such node, or it is no strip.
    pub(crate) fn solo(&mut self, name: Option<&str>, on: bool) -> Result<(), ControlError> {
        let strips = self.strips();
        let named = name.map(|name| self.strip(name, &strips)).transpose()?;
        let mut soloed = self.soloed(&strips);
        match named {
            Some(id) if on => soloed.insert(id),
            Some(id) => soloed.remove(&id),
            None => {
                soloed.clear();
                false
            }
        };
        for id in strips {
            let is_cut = !soloed.is_empty() && !soloed.contains(&id);
            if is_cut != self.is_cut(id) {
                let value = ParamValue::Number(f64::from(u8::from(is_cut)));
                self.set_live(id, CUT, value, (0.0, 0), RampLaw::Linear)?;
            }
        }
        Ok(())
    }

    fn strips(&self) -> Vec<NodeId> {
        let is_strip = |kind: &str| {
            let kind = self.catalogue.get(kind);
            // Not by `Kind::param`: patches take any name.
            kind.is_some_and(|kind| kind.params.iter().any(|param| param.name == CUT))
        };
        let nodes = self.builder.graph().nodes();
        let strips = nodes.filter(|(_, node)| is_strip(node.effective_kind()));
        strips.map(|(id, _)| id).collect()
    }

    fn strip(&self, name: &str, strips: &[NodeId]) -> Result<NodeId, ControlError> {
        let (id, _) = target::node(self.builder.graph(), name)?;
        match strips.contains(&id) {
            true => Ok(id),
            false => Err(ControlError::NoStrip(name.to_owned())),
        }
    }

    fn is_cut(&self, id: NodeId) -> bool {
        let node = self.builder.graph().node(id);
        let cut = node.and_then(|node| node.params.iter().find(|(key, _)| key == CUT));
        matches!(cut, Some((_, ParamValue::Number(cut))) if *cut > 0.0)
    }

    /// The strips that are not cut, where others are.
    fn soloed(&self, strips: &[NodeId]) -> BTreeSet<NodeId> {
        let open: BTreeSet<NodeId> = strips
            .iter()
            .copied()
            .filter(|id| !self.is_cut(*id))
            .collect();
        match open.len() == strips.len() {
            true => BTreeSet::new(),
            false => open,
        }
    }
}
