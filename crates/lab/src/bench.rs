//! What is found out about the machine and the graphs before they are played: once, and only when it is needed.

use crate::machine::RATE_HZ;
use crate::{Effort, LabError};
use divisi::engine::{self, MeasureOptions, NodeCosts};
use divisi::plan::MeasuredCosts;
use divisi::prelude::{EngineOptions, Frames, Graph, SampleRate};
use divisi::report::CoreTimings;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// What has been found out.
pub(crate) struct Bench {
    effort: Effort,
    facts: Option<CoreTimings>,
    costs: HashMap<String, MeasuredCosts>,
}

impl Bench {
    /// Nothing yet.
    pub(crate) fn new(effort: Effort) -> Self {
        Self {
            effort,
            facts: None,
            costs: HashMap::new(),
        }
    }

    /// What crossing, waking, claiming and stealing cost here.
    pub(crate) fn facts(&mut self) -> CoreTimings {
        let limit = Duration::from_millis(self.effort.choose(1000, 400, 20));
        let measure = || engine::measure_machine(limit);
        self.facts.get_or_insert_with(measure).clone()
    }

    /// What the nodes of the graph called `name` cost with warm caches.
    pub(crate) fn costs(
        &mut self,
        name: &str,
        graph: &Graph,
        block: Frames,
    ) -> Result<MeasuredCosts, LabError> {
        if let Some(known) = self.costs.get(name) {
            return Ok(known.clone());
        }
        let costs = measure(graph, block, self.effort)?.typical();
        self.costs.insert(name.to_owned(), costs.clone());
        Ok(costs)
    }
}

/// Measures the nodes of a graph.
pub(crate) fn measure(graph: &Graph, block: Frames, effort: Effort) -> Result<NodeCosts, LabError> {
    let rate = SampleRate::new(RATE_HZ).expect("48000 is not zero");
    let options = MeasureOptions {
        engine: EngineOptions::new(block, rate),
        limit: Duration::from_millis(effort.choose(60, 20, 2)),
        repeats: None,
    };
    let registry = Arc::new(divisi::registry());
    let go_on = &mut |_: f64| ControlFlow::Continue(());
    engine::measure_nodes(graph, registry, &options, go_on)
        .map_err(|error| LabError::Play(error.to_string()))
}
