//! Answers to queries, as JSON.

use crate::Query;
use engine::{Engine, ScheduleChange};
use graph::{Catalogue, Graph, Kind, Node, ParamRange, ParamValue, Port, PortCount, Signal};
use processor::OwnParam;
use serde_json::{Map, Value, json};

/// The answer to `query`.
pub(crate) fn answer(
    query: Query,
    (engine, whole): (&Engine, Option<&Graph>),
    catalogue: &Catalogue,
) -> Value {
    match query {
        Query::Graph => graph(engine, whole.unwrap_or(engine.graph())),
        Query::Kinds => catalogue.kinds().map(kind).collect(),
        Query::Load => load(engine),
        Query::Dropouts => dropouts(engine),
        Query::Meters => json!(engine.gauges()),
        Query::Schedule => schedule(engine),
        Query::Transport => transport(engine),
        // The controller has them.
        Query::Snapshots | Query::Presets | Query::Cells => Value::Null,
    }
}

/// Durations in nanoseconds, position in frames.
pub(crate) fn load(engine: &Engine) -> Value {
    let stats = engine.live_stats();
    json!({
        "frame": engine.position(),
        "workers": engine.workers(),
        "cycles": stats.cycles,
        "period_ns": stats.period_ns,
        "mean_ns": stats.recent.mean,
        "p99_ns": stats.recent.p99,
        "max_ns": stats.max_ns,
    })
}

/// Position in frames, in beats, and as bar and beat of the metre, both counted from 1; tempo in beats a minute; the loop in
/// frames.
pub(crate) fn transport(engine: &Engine) -> Value {
    let now = engine.transport();
    let range = engine.transport_loop();
    json!({
        "is_rolling": now.is_rolling,
        "frame": now.frame,
        "beat": now.beat,
        "bar": now.bar.0 + 1,
        "bar_beat": now.bar.1 / now.beat_unit + 1.0,
        "bpm": now.bpm,
        "loop": range.map(|range| [range.start, range.end]),
    })
}

pub(crate) fn dropouts(engine: &Engine) -> Value {
    let stats = engine.live_stats();
    json!({
        "missed": stats.missed,
        "late": stats.late,
        "abandoned": stats.abandoned,
        "faults": stats.faults,
        "muted": stats.muted,
        "xruns": stats.xruns,
        "quarantined": engine.quarantined(),
    })
}

/// The graph of the session: that of the engine, or the whole one where parts of it play elsewhere.
fn graph(engine: &Engine, graph: &Graph) -> Value {
    let nodes = graph.nodes();
    let nodes: Vec<Value> = nodes
        .map(|(id, one)| node(one, engine.own_params(id)))
        .collect();
    let port = |node: &Node, ports: &[Port], port: u16| {
        let port = ports.get(usize::from(port)).map(|port| port.name.as_str());
        format!("{}.{}", node.name, port.unwrap_or_default())
    };
    let edges = graph.edges().iter().filter_map(|edge| {
        let (from, to) = (graph.node(edge.from.node)?, graph.node(edge.to.node)?);
        Some(json!({
            "from": port(from, &from.outputs, edge.from.port),
            "to": port(to, &to.inputs, edge.to.port),
        }))
    });
    json!({ "nodes": nodes, "edges": edges.collect::<Vec<_>>() })
}

/// A node; `own` are the parameters beside those of its kind.
fn node(node: &Node, own: &[OwnParam]) -> Value {
    let ports = |ports: &[Port]| -> Vec<Value> { ports.iter().map(port).collect() };
    let params: Map<String, Value> = node
        .params
        .iter()
        .map(|(key, value)| (key.clone(), param_value(value)))
        .collect();
    json!({
        "name": node.name,
        "kind": node.kind,
        "enabled": node.enabled,
        "bypassed": node.bypassed,
        "params": params,
        "own_params": own.iter().filter(|it| it.can_be_set()).map(|it| &it.name).collect::<Vec<_>>(),
        "boxes": own.iter().filter_map(shown_box).collect::<Vec<_>>(),
        "inputs": ports(&node.inputs),
        "outputs": ports(&node.outputs),
    })
}

/// A box that a patch shows, as it is now.
fn shown_box(param: &OwnParam) -> Option<Value> {
    let face = param.face.as_ref()?;
    let range = face.shown.range().filter(|_| face.initial.is_some());
    Some(json!({
        "name": param.name,
        "class": face.class,
        "label": face.label,
        "min": range.map(|range| range[0]),
        "max": range.map(|range| range[1]),
        "law": if face.shown.is_logarithmic() { "logarithmic" } else { "linear" },
        "initial": face.initial.filter(|it| it.is_finite()),
        "value": param.value().filter(|it| it.is_finite()),
        "read_only": !param.can_be_set(),
    }))
}

fn port(port: &Port) -> Value {
    match port.signal {
        Signal::Audio(channels) => json!({ "name": port.name, "channels": channels.0 }),
        Signal::Control => json!({ "name": port.name, "signal": "control" }),
        Signal::Event => json!({ "name": port.name, "signal": "events" }),
    }
}

fn param_value(value: &ParamValue) -> Value {
    match value {
        ParamValue::Number(number) => json!(number),
        ParamValue::Text(text) => json!(text),
        ParamValue::Flag(on) => json!(on),
    }
}

fn kind(kind: &Kind) -> Value {
    let params: Vec<Value> = kind
        .params
        .iter()
        .map(|param| {
            let mut one = json!({ "name": param.name, "unit": param.unit, "doc": param.doc, "live": param.live });
            match &param.range {
                ParamRange::Number { min, max, default } => {
                    one["min"] = json!(min);
                    one["max"] = json!(max);
                    one["default"] = json!(Some(*default).filter(|x| !x.is_nan()));
                }
                ParamRange::Choice(words) => one["choices"] = json!(words),
                ParamRange::File(_) => one["type"] = json!("file"),
                ParamRange::Flag => one["type"] = json!("flag"),
                ParamRange::Text => one["type"] = json!("text"),
            }
            one
        })
        .collect();
    let ports = |specs: &[graph::PortSpec]| -> Vec<Value> {
        let many = |spec: &graph::PortSpec| spec.count != PortCount::One;
        let one = |spec| json!({ "name": graph::PortSpec::clone(spec).name, "many": many(spec) });
        specs.iter().map(one).collect()
    };
    json!({
        "name": kind.name,
        "summary": kind.summary,
        "params": params,
        "inputs": ports(&kind.inputs),
        "outputs": ports(&kind.outputs),
    })
}

/// The schedule that plays, its changes while it played, and the plan: for each worker its tasks where the schedule is static.
fn schedule(engine: &Engine) -> Value {
    let plan = engine.plan();
    let change = |it: &ScheduleChange| {
        json!({
            "frame": it.frame,
            "scheduler": it.scheduler.name(),
            "workers": it.workers,
            "fused": it.fuse,
            "trial": it.is_trial,
            "reason": it.reason,
        })
    };
    json!({
        "scheduler": engine.scheduler().name(),
        "threads": engine.workers(),
        "fused": engine.is_fused(),
        "adaptive": engine.is_adaptive(),
        "changes": engine.schedule_changes().iter().map(change).collect::<Vec<_>>(),
        "steps": plan.steps.len(),
        "tasks": plan.tasks.len(),
        "latency_frames": plan.latency.0,
        "cost_ns": plan.steps.iter().map(|step| step.cost.0).sum::<u64>(),
        "workers": plan.worker_tasks.iter().map(Vec::len).collect::<Vec<_>>(),
    })
}
