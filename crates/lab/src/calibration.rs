//! Measurements of the machine and of graphs before they are played: each made once, when it is first needed.

use crate::machine::RATE_HZ;
use crate::{Effort, LabError};
use divisi::costs::CoreTimings;
use divisi::engine::{self, MeasureOptions, NodeCosts};
use divisi::plan::MeasuredCosts;
use divisi::prelude::{EngineOptions, Frames, Graph, SampleRate};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Measurements so far. They are made once for all runs, so that runs differ in what is varied only; and when first needed,
/// so that an experiment that continues measures nothing for runs that exist.
pub(crate) struct Calibration {
    effort: Effort,
    core_timings: Option<CoreTimings>,
    costs: HashMap<String, MeasuredCosts>,
}

impl Calibration {
    /// Without measurements.
    pub(crate) fn new(effort: Effort) -> Self {
        Self {
            effort,
            core_timings: None,
            costs: HashMap::new(),
        }
    }

    /// Costs of transfer, wake-up, claim and steal between cores.
    pub(crate) fn core_timings(&mut self) -> CoreTimings {
        let limit = Duration::from_millis(self.effort.choose(1000, 400, 20));
        let measure = || engine::measure_machine(limit);
        self.core_timings.get_or_insert_with(measure).clone()
    }

    /// Costs of the nodes of the graph called `name`, with warm caches.
    pub(crate) fn node_costs(
        &mut self,
        name: &str,
        graph: &Graph,
        block: Frames,
    ) -> Result<MeasuredCosts, LabError> {
        if let Some(known) = self.costs.get(name) {
            return Ok(known.clone());
        }
        let costs = measure_nodes(graph, block, self.effort)?.typical();
        self.costs.insert(name.to_owned(), costs.clone());
        Ok(costs)
    }
}

/// Measures the nodes of a graph.
pub(crate) fn measure_nodes(
    graph: &Graph,
    block: Frames,
    effort: Effort,
) -> Result<NodeCosts, LabError> {
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let options = MeasureOptions {
        engine: EngineOptions::new(block, rate),
        limit: Duration::from_millis(effort.choose(60, 20, 2)),
        repeats: None,
    };
    let registry = Arc::new(divisi::registry());
    let proceed = &mut |_: f64| ControlFlow::Continue(());
    engine::measure_nodes(graph, registry, &options, proceed)
        .map_err(|error| LabError::Play(error.to_string()))
}
