//! Pass 2: latency compensation. Where paths of different latency meet, early signals wait for the latest.
//!
//! ```text
//!                 lookahead
//!            +--> limiter (64) --+              +--> limiter (64) --------+
//!   source --+                   +--> mix   =>  |                         +--> mix
//!            +-------------------+              +--> aligner (tap 64) ----+
//! ```
//!
//! Every node has its inputs at the time of the latest of them, and all sinks at the time of the latest sink. An aligner
//! adds each edge's missing delay: one for an output, with a tap for each different delay. To later passes it is a node
//! like others, and it lies in no cycle.

use super::latency::Latencies;
use super::limits::check_aligners;
use super::wiring::{NodePart, OutputTaps, WiredEdge, WiredNode, Wiring};
use crate::{AlignerTap, DelayedEdge, PlanError, PlanOptions, PreviousDelays};
use std::collections::BTreeMap;
use units::Frames;

/// Computes the latency of the whole and puts aligners into edges that need them. Where no node has a latency, and none
/// had one before, the graph stays as it is.
pub(super) fn align(wiring: &mut Wiring<'_>, options: &PlanOptions) -> Result<(), PlanError> {
    let has_latencies = options.latencies.values().any(|own| *own > Frames(0));
    let previous = options.previous.as_ref();
    if !(has_latencies || previous.is_some_and(PreviousDelays::has_delays)) {
        return Ok(());
    }
    let mut latencies = Latencies::new(wiring, options);
    wiring.latency = Frames(latencies.longest(wiring));
    latencies.level_sinks(wiring);
    if let Some(previous) = previous {
        latencies.level_fades(wiring, previous);
    }
    let mut outputs: BTreeMap<(u32, u16), Vec<AlignerTap>> = BTreeMap::new();
    let mut delayed = Vec::new();
    for (index, edge) in wiring.edges.iter().enumerate() {
        let tap = tap(wiring, options, &latencies, edge);
        if tap != AlignerTap::default() {
            let taps = outputs.entry((edge.from, edge.output)).or_default();
            taps.push(tap);
            delayed.push((index, tap));
        }
    }
    let aligners = outputs.into_iter().map(|((node, output), mut taps)| {
        taps.sort_unstable();
        taps.dedup();
        OutputTaps { node, output, taps }
    });
    wiring.aligners = aligners.collect();
    check_aligners(wiring, options)?;
    insert_aligners(wiring, &delayed);
    Ok(())
}

/// The delay of an edge; the default where it needs none. An edge that an edit has put into a cycle does not fade: an
/// aligner would have to lie in the cycle for that.
fn tap(
    wiring: &Wiring<'_>,
    options: &PlanOptions,
    latencies: &Latencies,
    edge: &WiredEdge,
) -> AlignerTap {
    if latencies.is_within_cycle(edge) {
        return AlignerTap::default();
    }
    let frames = match options.compensate_latency {
        true => latencies.missing_delay(wiring, edge),
        false => Frames(0),
    };
    match &options.previous {
        Some(previous) => {
            let (from, to) = wiring.ports(edge);
            previous.tap(from, to, frames)
        }
        None => AlignerTap::constant(frames),
    }
}

/// Leads the `delayed` edges through their aligners. Edges keep their places, so that sums keep their order.
fn insert_aligners(wiring: &mut Wiring<'_>, delayed: &[(usize, AlignerTap)]) {
    let first = wiring.nodes.len() as u32;
    for (index, tap) in delayed {
        let (from, to) = wiring.ports(&wiring.edges[*index]);
        let tap = *tap;
        wiring.delayed.push(DelayedEdge { from, to, tap });
        let edge = &mut wiring.edges[*index];
        let key = (edge.from, edge.output);
        let aligners = &wiring.aligners;
        let at = aligners.binary_search_by_key(&key, |a| (a.node, a.output));
        let at = at.expect("every delayed output has an aligner");
        let output = aligners[at].taps.binary_search(&tap);
        edge.output = output.expect("every delayed edge has a tap") as u16;
        edge.from = first + at as u32;
    }
    for (at, aligner) in (0..).zip(&wiring.aligners) {
        let source = wiring.nodes[aligner.node as usize];
        wiring.nodes.push(WiredNode {
            part: NodePart::Align(at),
            ..source
        });
        wiring.edges.push(WiredEdge {
            to: first + at,
            input: 0,
            from: aligner.node,
            output: aligner.output,
            drives: false,
        });
    }
}
