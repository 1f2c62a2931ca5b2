//! Output of `tune`: text and JSON.

use super::comparison::{PartitionComparison, PartitionMethod, period_share};
use crate::output::table::table;
use divisi::fft::Packing;
use divisi::prelude::{Frames, Nanos, SampleRate};
use serde_json::{Value, json};
use std::fmt::Write;

/// Text for people.
pub(super) fn text(all: &[PartitionComparison], rate: SampleRate, source: &str) -> String {
    let space = &all[0].space;
    let mut out = format!(
        "{} frames, blocks of {} frames at {rate}, {} frames of latency added\ncosts: {source}\n",
        space.length(),
        space.block(),
        all[0].best().partition.latency_frames(),
    );
    all.iter()
        .for_each(|comparison| packing_text(&mut out, comparison, rate));
    out
}

fn packing_text(out: &mut String, comparison: &PartitionComparison, rate: SampleRate) {
    out.push_str(match comparison.packing {
        Packing::Mono => "\none channel:\n",
        Packing::Batch => "\nsixteen channels side by side, costs for each of them:\n",
    });
    let space = &comparison.space;
    let percent = |ns: Option<f64>| match ns {
        Some(ns) => format!("{:.3} %", period_share(ns, rate) * 100.0),
        None => "?".into(),
    };
    let a_block = |ns: Option<f64>| match ns {
        Some(ns) => nanos(ns * space.block() as f64),
        None => "?".into(),
    };
    let rows = comparison.methods.iter().map(|method| {
        [
            method.name.clone(),
            method.partition.to_string(),
            percent(method.worst),
            a_block(method.worst),
            a_block(method.typical),
        ]
    });
    let head = [
        "method",
        "partition",
        "of a core",
        "a block, worst",
        "typical",
    ];
    table(out, 2, head, rows.collect());
    let _ = writeln!(out, "\n{}:", comparison.best().name);
    levels(out, comparison, rate);
    if let Some((peak, _)) = comparison
        .best()
        .core_assignment
        .as_ref()
        .filter(|_| comparison.cores > 1)
    {
        let _ = writeln!(
            out,
            "the busiest core: {:.3} %",
            period_share(*peak, rate) * 100.0
        );
    }
}

fn levels(out: &mut String, comparison: &PartitionComparison, rate: SampleRate) {
    let method = comparison.best();
    let levels = method.partition.levels().iter().enumerate();
    let rows = levels.map(|(i, level)| {
        let known = method.levels[i];
        [
            format!("{} × {}", level.count(), level.size()),
            level.start().to_string(),
            Frames(level.size() as u32).duration(rate).to_string(),
            known.map_or_else(|| "?".into(), |(worst, _)| nanos(worst)),
            known.map_or_else(|| "?".into(), |(_, typical)| nanos(typical)),
            core(method, i),
        ]
    });
    let head = ["level", "from frame", "period", "worst", "typical", "core"];
    table(out, 2, head, rows.collect());
}

fn core(method: &PartitionMethod, level: usize) -> String {
    let given = method
        .core_assignment
        .as_ref()
        .and_then(|(_, on)| on.get(level));
    given.map_or_else(|| "?".into(), ToString::to_string)
}

fn nanos(ns: f64) -> String {
    Nanos(ns.round().max(0.0) as u64).to_string()
}

/// JSON for programs: the first packing, and the second one as `side_by_side`.
pub(super) fn json(all: &[PartitionComparison], rate: SampleRate, source: &str) -> Value {
    let of = |comparison: &PartitionComparison| {
        let methods = comparison.methods.iter();
        let methods: Vec<Value> = methods.map(|one| method_json(one, rate)).collect();
        json!({
            "channels": comparison.packing.channels(),
            // The old key, for one release.
            "ways": methods,
            "methods": methods,
        })
    };
    let space = &all[0].space;
    let mut message = json!({
        "length": space.length(),
        "block": space.block(),
        "rate": rate.hz(),
        "cores": all[0].cores,
        "costs": source,
        "side_by_side": all.get(1).map(of),
    });
    if let (Value::Object(message), Value::Object(first)) = (&mut message, of(&all[0])) {
        message.extend(first);
    }
    message
}

fn method_json(method: &PartitionMethod, rate: SampleRate) -> Value {
    let levels = method
        .partition
        .levels()
        .iter()
        .zip(&method.levels)
        .enumerate();
    let levels = levels.map(|(i, (level, known))| {
        json!({
            "size": level.size(),
            "count": level.count(),
            "start": level.start(),
            "slack": level.slack(),
            "worst_ns": known.map(|(worst, _)| worst),
            "typical_ns": known.map(|(_, typical)| typical),
            "core": method.core_assignment.as_ref().and_then(|(_, on)| on.get(i)),
        })
    });
    json!({
        "name": method.name,
        "partition": method.partition.to_string(),
        "head": method.partition.head(),
        "levels": levels.collect::<Vec<_>>(),
        "worst_ns_a_frame": method.worst,
        "typical_ns_a_frame": method.typical,
        "share_of_a_core": method.worst.map(|ns| period_share(ns, rate)),
        "busiest_core": method.core_assignment.as_ref().map(|(peak, _)| period_share(*peak, rate)),
    })
}
