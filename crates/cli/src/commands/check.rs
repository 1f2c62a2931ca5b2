//! `check`: everything that is wrong with a session, without changing or playing anything.

use crate::failure::Failure;
use crate::late::{ends, latencies};
use crate::load::{Loaded, has_errors, outputs};
use crate::network::Verdict;
use crate::outcome::Json;
use clap::Args;
use divisi::graph::{Diagnostic, Severity, SourceSpan};
use divisi::plan::{Plan, PlanOptions};
use divisi::prelude::{Frames, SampleRate};
use serde_json::{Value, json};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi check examples/04-diamond-16.ag
  divisi check session.toml --json -";

/// Reads a session and says what is wrong with it; changes nothing
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The session: a .ag or .toml file
    file: PathBuf,

    /// Write what was found as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Check {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = Loaded::read(&self.file)?;
        let json = Json::open(self.json.as_deref())?;
        let mut found = loaded.diagnostics.clone();
        let network = Verdict::of(&loaded, &mut found);
        // On a graph that was only half read, later passes find what is not there.
        let plan = if has_errors(&found) {
            None
        } else {
            diagnose(&loaded, network.is_some(), &mut found)
        };
        loaded.show(&found);
        let counts = plan.as_ref().map(|plan| Counts::of(&loaded, plan));
        let mut text = match &counts {
            Some(counts) => counts.in_words(&self.file.display().to_string()),
            None => String::new(),
        };
        let mut all = in_json(counts.as_ref(), &found);
        if let Some(network) = network.filter(|_| counts.is_some()) {
            text += &network.in_words();
            all["network"] = network.in_json();
        }
        json.tell(&text, &all.to_string())?;
        match counts {
            Some(_) => Ok(()),
            None => Err(Failure::said_wrong()),
        }
    }
}

/// What makers and the planner find; the plan, if they find no error.
fn diagnose(loaded: &Loaded, has_network: bool, found: &mut Vec<Diagnostic>) -> Option<Plan> {
    let settings = &loaded.session.settings;
    let usual = SampleRate::new(48_000).expect("48000 is not zero");
    let block = settings.block.unwrap_or(Frames(64));
    let mut options = PlanOptions::new(block, settings.rate.unwrap_or(usual));
    let (latencies, wrong) = latencies(loaded, (options.block, options.rate));
    options.latencies = latencies;
    found.extend(wrong);
    let mut nodes = loaded.session.graph.nodes();
    if !has_network && !nodes.any(|(_, node)| node.outputs.is_empty()) {
        let nothing = Diagnostic::warning(
            SourceSpan::new(1, 1, 1),
            "nothing of it will be heard: it has no `sink`",
        );
        found.push(nothing.help("lead what is to be heard to a node of kind `sink`"));
    }
    match loaded.plan(&options) {
        Ok(plan) => (!has_errors(found)).then_some(plan),
        Err(wrong) => {
            found.extend(wrong);
            None
        }
    }
}

/// What there is in a session.
struct Counts {
    nodes: usize,
    edges: usize,
    inputs: u16,
    outputs: u16,
    latency_frames: u32,
    /// Edges that are delayed: from where, to where, by how much.
    delayed: Vec<(String, String, u32)>,
}

/// More delayed edges are only counted.
const LISTED: usize = 20;

impl Counts {
    fn of(loaded: &Loaded, plan: &Plan) -> Self {
        let delayed = plan.delayed_edges.iter().map(|it| {
            let (from, to) = ends(&loaded.session.graph, it);
            (from, to, it.tap.frames.0)
        });
        Self {
            delayed: delayed.collect(),
            nodes: loaded.session.graph.len(),
            edges: loaded.session.graph.edges().len(),
            inputs: loaded.inputs(),
            outputs: outputs(plan),
            latency_frames: plan.latency.0,
        }
    }

    fn in_words(&self, name: &str) -> String {
        let count = |n: usize, what: &str| match n {
            1 => format!("1 {what}"),
            n => format!("{n} {what}s"),
        };
        let mut text = format!(
            "{name}: {}, {}, {}, {}, latency {}\n",
            count(self.nodes, "node"),
            count(self.edges, "edge"),
            count(self.inputs.into(), "input channel"),
            count(self.outputs.into(), "output channel"),
            count(self.latency_frames as usize, "frame"),
        );
        for (from, to, frames) in self.delayed.iter().take(LISTED) {
            let frames = count(*frames as usize, "frame");
            text += &format!("  {from} -> {to} waits {frames} for what comes late\n");
        }
        if let Some(more @ 1..) = self.delayed.len().checked_sub(LISTED) {
            text += &format!("  … and {more} more\n");
        }
        text
    }
}

fn in_json(counts: Option<&Counts>, found: &[Diagnostic]) -> Value {
    let diagnostics: Vec<Value> = found.iter().map(diagnostic).collect();
    let mut all = json!({ "ok": counts.is_some(), "diagnostics": diagnostics });
    if let Some(counts) = counts {
        all["nodes"] = counts.nodes.into();
        all["edges"] = counts.edges.into();
        all["input_channels"] = counts.inputs.into();
        all["output_channels"] = counts.outputs.into();
        all["latency_frames"] = counts.latency_frames.into();
        let delayed = counts.delayed.iter();
        let delayed =
            delayed.map(|(from, to, frames)| json!({ "from": from, "to": to, "frames": frames }));
        all["delayed"] = delayed.collect();
    }
    all
}

fn diagnostic(found: &Diagnostic) -> Value {
    let also = found.related.iter().map(|(at, why)| {
        let mut note = json!({ "message": why });
        place(&mut note, *at);
        note
    });
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut all = json!({
        "severity": severity,
        "message": found.message,
        "help": found.help,
        "also": also.collect::<Vec<Value>>(),
    });
    place(&mut all, found.span);
    all
}

/// Where it is, if it is somewhere.
fn place(into: &mut Value, at: SourceSpan) {
    if at.is_known() {
        into["line"] = at.line.into();
        into["column"] = at.column.into();
        into["width"] = at.len.into();
    }
}
