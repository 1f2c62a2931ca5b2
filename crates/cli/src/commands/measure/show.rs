//! Output of `measure`: text and JSON.

use crate::output::table::table;
use divisi::costs::CoreTimings;
use divisi::engine::{NodeCost, NodeCosts, StepCost, StepTimes};
use serde_json::{Value, json};
use std::fmt::Write;

/// Nodes that are listed, most expensive first.
const MAX_LISTED: usize = 50;

/// Text for people.
pub(super) fn text(name: &str, costs: &NodeCosts, timings: &CoreTimings) -> String {
    let mut out = format!(
        "{name}: {} nodes, blocks of {} frames at {}\n\n",
        costs.nodes.len(),
        costs.block.0,
        costs.rate
    );
    nodes(&mut out, costs);
    out.push('\n');
    deferred(&mut out, costs);
    kinds(&mut out, costs);
    out.push('\n');
    let (typical, worst) = (costs.cycle.warm.typical, costs.cycle.polluted.worst);
    line(
        &mut out,
        "cycle on one worker",
        &format!("typical {}, worst {}", typical, worst),
    );
    machine(&mut out, timings);
    let _ = writeln!(
        out,
        "\n{} repeats of {} cycles, with warm caches and with caches swept by {} KiB; {:.0} ns per step subtracted for reading the clock",
        costs.repeats,
        costs.cycles,
        costs.swept_bytes >> 10,
        costs.mark_ns,
    );
    out
}

fn nodes(out: &mut String, costs: &NodeCosts) {
    let mut all: Vec<_> = costs.nodes.iter().collect();
    all.sort_by_key(|n| std::cmp::Reverse(n.cost.warm.typical));
    let rows = all.iter().take(MAX_LISTED);
    let rows = rows.map(|n| row(&n.name, &n.kind, &n.cost));
    table(out, 2, ["node", "kind", "typical", "worst"], rows.collect());
    if all.len() > MAX_LISTED {
        let _ = writeln!(out, "… and {} more, all in --json", all.len() - MAX_LISTED);
    }
}

/// The deferred work of nodes, which their costs leave out.
fn deferred(out: &mut String, costs: &NodeCosts) {
    let jobs = costs.nodes.iter();
    let mut jobs: Vec<_> = jobs
        .flat_map(|node| node.work.iter().map(|job| (&node.name, job)))
        .collect();
    if jobs.is_empty() {
        return;
    }
    jobs.sort_by_key(|(_, job)| std::cmp::Reverse(job.cost.polluted.worst));
    let rows = jobs.iter().take(MAX_LISTED).map(|(name, job)| {
        let blocks = job.blocks.to_string();
        let [name, blocks, typical, worst] = row(name, &blocks, &job.cost);
        [name, typical, worst, blocks]
    });
    let head = ["deferred work of", "typical", "worst", "due in blocks"];
    table(out, 1, head, rows.collect());
    if jobs.len() > MAX_LISTED {
        let _ = writeln!(out, "… and {} more, all in --json", jobs.len() - MAX_LISTED);
    }
    out.push('\n');
}

fn kinds(out: &mut String, costs: &NodeCosts) {
    let kinds = costs.kinds();
    let rows = kinds
        .iter()
        .map(|k| row(&k.kind, &k.nodes.to_string(), &k.cost));
    table(
        out,
        2,
        ["kind", "nodes", "typical", "worst"],
        rows.collect(),
    );
}

fn row(name: &str, second: &str, cost: &StepCost) -> [String; 4] {
    let (typical, worst) = (cost.warm.typical, cost.polluted.worst);
    [
        name.into(),
        second.into(),
        typical.to_string(),
        worst.to_string(),
    ]
}

fn machine(out: &mut String, timings: &CoreTimings) {
    for link in &timings.links {
        let what = format!("core {} to core {}", link.from, link.to);
        line(
            out,
            &what,
            &format!(
                "{:.0} ns plus {:.0} ns per KiB",
                link.base_ns, link.per_kib_ns
            ),
        );
    }
    if let (Some(waker), Some(sleeper)) = (timings.wake_ns, timings.woken_ns) {
        let message =
            format!("{waker:.0} ns for the waker, {sleeper:.0} ns until the woken thread runs");
        line(out, "wake-up", &message);
    }
    if let (Some(claim), Some(steal)) = (timings.claim_ns, timings.steal_ns) {
        line(
            out,
            "claim, steal",
            &format!("{claim:.0} ns, {steal:.0} ns"),
        );
    }
}

fn line(out: &mut String, what: &str, message: &str) {
    let _ = writeln!(out, "{what:<22} {message}");
}

/// JSON for programs.
pub(super) fn json(costs: &NodeCosts, timings: &CoreTimings) -> Value {
    let nodes = costs
        .nodes
        .iter()
        .map(|n| json!({ "node": n.name, "kind": n.kind, "ns": cost(&n.cost), "work": work(n) }));
    let kinds = costs
        .kinds()
        .into_iter()
        .map(|k| json!({ "kind": k.kind, "nodes": k.nodes, "ns": cost(&k.cost) }));
    json!({
        "block": costs.block.0,
        "rate": costs.rate.hz(),
        "nodes": nodes.collect::<Vec<_>>(),
        "kinds": kinds.collect::<Vec<_>>(),
        "cycle_ns": cost(&costs.cycle),
        "cycles": costs.cycles,
        "repeats": costs.repeats,
        "mark_ns": costs.mark_ns,
        "swept_bytes": costs.swept_bytes,
        "machine": timings,
    })
}

fn work(node: &NodeCost) -> Vec<Value> {
    let jobs = node.work.iter();
    jobs.map(|job| json!({ "ns": cost(&job.cost), "blocks": job.blocks }))
        .collect()
}

fn cost(cost: &StepCost) -> Value {
    let times = |t: StepTimes| json!({ "typical": t.typical.0, "worst": t.worst.0 });
    json!({ "warm": times(cost.warm), "polluted": times(cost.polluted) })
}
