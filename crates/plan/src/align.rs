//! Latency compensation: where ways of different latencies meet, what comes early waits for the latest.
//!
//! A member hears everything as late as the latest of what it hears, and all sinks hear as late as the latest of them. What
//! a wire lacks to that, an *aligner* between its ends makes up for: a member of its own, one for an output, with a tap
//! for each number of frames that is asked of it. To later passes it is a member like others, and it lies in no cycle.

use crate::latency::Latencies;
use crate::limits::too_late;
use crate::wiring::{Member, Part, Wire, Wiring};
use crate::{AlignerTap, DelayedEdge, PlanError, PlanOptions};
use graph::{Graph, PortRef};
use std::collections::{BTreeMap, HashMap};
use units::Frames;

/// What makes up for what an output lacks.
#[derive(Clone, Debug)]
pub(crate) struct Align {
    /// Whose output.
    pub(crate) of: u32,
    /// Which.
    pub(crate) output: u16,
    /// Rising.
    pub(crate) taps: Vec<AlignerTap>,
}

/// How far an edge whose delay changes has gone over from the old one to the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FadeState {
    /// All the way.
    Done,
    /// Not all the way yet: what is heard is nearest to this delay.
    Fading(Frames),
}

/// What was delayed in the plan that plays until now: an edge that was there before goes over from that by a fade.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviousDelays {
    /// Each edge's tap, and the delay that is heard.
    edges: HashMap<(PortRef, PortRef), (AlignerTap, Frames)>,
    turn: u32,
}

impl PreviousDelays {
    /// Of `graph` as it was, delayed as its plan has it; `turn` is a number that no swap before had, and `gone` says how
    /// far an edge that changes is.
    pub fn new(
        graph: &Graph,
        delayed: &[DelayedEdge],
        turn: u32,
        gone: impl Fn(&DelayedEdge) -> FadeState,
    ) -> Self {
        let edges = graph.edges().iter();
        let undelayed = edges.map(|edge| ((edge.from, edge.to), Default::default()));
        let mut edges: HashMap<_, _> = undelayed.collect();
        for it in delayed {
            let frames = it.tap.frames;
            let now = match gone(it) {
                FadeState::Done => (AlignerTap::still(frames), frames),
                FadeState::Fading(heard) => (it.tap, heard),
            };
            edges.insert((it.from, it.to), now);
        }
        Self { edges, turn }
    }

    /// The tap of an edge that is to be later by so many frames.
    fn tap(&self, from: PortRef, to: PortRef, frames: Frames) -> AlignerTap {
        match self.edges.get(&(from, to)) {
            Some((tap, _)) if tap.frames == frames => *tap,
            Some((_, heard)) if *heard != frames => AlignerTap {
                frames,
                previous: *heard,
                swap: self.turn,
            },
            _ => AlignerTap::still(frames),
        }
    }

    fn is_late(&self) -> bool {
        self.edges
            .values()
            .any(|(tap, _)| *tap != AlignerTap::default())
    }
}

impl AlignerTap {
    /// One that has always been so.
    pub(crate) fn still(frames: Frames) -> Self {
        Self {
            frames,
            previous: frames,
            swap: 0,
        }
    }
}

/// Says by how much the whole lags, and puts aligners between the ends of wires where they are needed.
pub(crate) fn align(wiring: &mut Wiring<'_>, options: &PlanOptions) -> Result<(), PlanError> {
    let has_latencies = options.latencies.values().any(|own| *own > Frames(0));
    let was_late = options
        .previous
        .as_ref()
        .is_some_and(PreviousDelays::is_late);
    if !(has_latencies || was_late) {
        return Ok(());
    }
    let mut latencies = Latencies::of(wiring, options);
    wiring.latency = Frames(latencies.longest(wiring));
    latencies.level_sinks(wiring);
    let mut outlets: BTreeMap<(u32, u16), Vec<AlignerTap>> = BTreeMap::new();
    let mut late = Vec::new();
    for (index, wire) in wiring.wires.iter().enumerate() {
        let tap = tap(wiring, options, &latencies, wire);
        if tap != AlignerTap::default() {
            outlets
                .entry((wire.from, wire.output))
                .or_default()
                .push(tap);
            late.push((index, tap));
        }
    }
    let aligners = outlets.into_iter().map(|((of, output), mut taps)| {
        taps.sort_unstable();
        taps.dedup();
        Align { of, output, taps }
    });
    wiring.aligners = aligners.collect();
    too_late(wiring, options)?;
    insert(wiring, &late);
    Ok(())
}

/// What becomes of a wire; the default where nothing is to be made up for. One that an edit has put into a cycle does not
/// go over: an aligner would have to lie in the cycle for that.
fn tap(
    wiring: &Wiring<'_>,
    options: &PlanOptions,
    latencies: &Latencies,
    wire: &Wire,
) -> AlignerTap {
    if latencies.is_within(wire) {
        return AlignerTap::default();
    }
    let frames = match options.compensate_latency {
        true => latencies.early(wiring, wire),
        false => Frames(0),
    };
    match &options.previous {
        Some(before) => {
            let (from, to) = wiring.ends(wire);
            before.tap(from, to, frames)
        }
        None => AlignerTap::still(frames),
    }
}

/// Leads the wires `late` by way of their aligners. Wires keep their places: sums their order.
fn insert(wiring: &mut Wiring<'_>, late: &[(usize, AlignerTap)]) {
    let first = wiring.members.len() as u32;
    for (index, tap) in late {
        let (from, to) = wiring.ends(&wiring.wires[*index]);
        let tap = *tap;
        wiring.delayed.push(DelayedEdge { from, to, tap });
        let wire = &mut wiring.wires[*index];
        let key = (wire.from, wire.output);
        let at = wiring
            .aligners
            .binary_search_by_key(&key, |a| (a.of, a.output));
        let at = at.expect("every output that is early has an aligner");
        let output = wiring.aligners[at].taps.binary_search(&tap);
        wire.output = output.expect("every wire that is early has a tap") as u16;
        wire.from = first + at as u32;
    }
    for (at, aligner) in (0..).zip(&wiring.aligners) {
        let source = wiring.members[aligner.of as usize];
        wiring.members.push(Member {
            part: Part::Align(at),
            ..source
        });
        wiring.wires.push(Wire {
            to: first + at,
            input: 0,
            from: aligner.of,
            output: aligner.output,
        });
    }
}
