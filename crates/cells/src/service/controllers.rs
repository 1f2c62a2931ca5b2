//! Parameters of nodes inside cells, for live controllers: the engine sets them through the nodes of their cells.

use super::CellService;
use engine::{ControllerBinding, EngineError, RemoteParam, live_param};
use graph::ParamValue;
use processor::{EventTarget, OwnParam};
use std::sync::Arc;

impl CellService {
    /// The parameters of all nodes inside cells.
    ///
    /// Real-time: setup.
    pub fn remote_params(&self) -> Vec<RemoteParam> {
        let (graph, catalogue) = (&self.options.graph, self.options.registry.catalogue());
        let mut all = Vec::new();
        for cell in &self.cells {
            let own = cell.status.own();
            for (number, slot) in (0..).zip(cell.slots.iter()) {
                let EventTarget::Param(index) = slot.target else {
                    continue;
                };
                let Some(node) = graph.node(slot.node) else {
                    continue;
                };
                let kind = catalogue.get(node.effective_kind());
                let param = kind.and_then(|kind| {
                    let at = usize::from(index);
                    let own = || own.get(&slot.node)?.get(at.checked_sub(kind.params.len())?);
                    let known = kind.params.get(at).map(|it| it.name.to_owned());
                    let is_free = |it: &&OwnParam| it.can_be_set();
                    known.or_else(|| own().filter(is_free).map(|it| it.name.clone()))
                });
                all.extend(param.map(|param| RemoteParam {
                    node: node.name.clone(),
                    param,
                    through: cell.node.clone(),
                    index: number,
                }));
            }
        }
        all
    }

    /// Changes whenever [`remote_params`](Self::remote_params) does.
    pub fn remote_version(&self) -> Vec<(usize, usize, usize)> {
        let version = self.cells.iter();
        let version = version.map(|cell| {
            let own = Arc::as_ptr(&cell.status.own()).addr();
            (cell.index, cell.slots.as_ptr().addr(), own)
        });
        version.collect()
    }

    /// Refuses controllers of nodes inside cells that could set nothing.
    ///
    /// # Errors
    ///
    /// As for [`engine::Engine::set_controllers`].
    ///
    /// Real-time: setup.
    pub fn check_controllers(&self, bindings: &[ControllerBinding]) -> Result<(), EngineError> {
        let (graph, catalogue) = (&self.options.graph, self.options.registry.catalogue());
        for it in bindings {
            let Some(node) = graph.find(&it.node).filter(|node| self.is_inside(*node)) else {
                continue;
            };
            let unknown = || EngineError::NoParam(format!("{}.{}", it.node, it.param));
            let there = graph.node(node).ok_or_else(unknown)?;
            for value in [it.range.0, it.range.1] {
                live_param(
                    catalogue,
                    (there, &self.own_of(node)),
                    &it.param,
                    value as f32,
                )?;
            }
        }
        Ok(())
    }

    /// Notes values that controllers have set of nodes inside cells: node, parameter, value.
    ///
    /// Real-time: setup.
    pub fn note_remote(&mut self, values: Vec<(String, String, f32)>) {
        for (node, param, value) in values {
            if let Some(node) = self.options.graph.find(&node) {
                self.note_param(node, &param, &ParamValue::Number(f64::from(value)));
            }
        }
    }
}
