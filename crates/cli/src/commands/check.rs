//! `check`: shows every mistake in a session. It plays nothing and changes no file; `--write` makes a new one.

use crate::failure::Failure;
use crate::guard::FileGuard;
use crate::network::NetworkCheck;
use crate::output::json::JsonOutput;
use crate::patch::PatchCheck;
use crate::session::as_ag::write_as_ag;
use crate::session::file_problems::{check_damage, damaged_files};
use crate::session::latencies::{edge_names, latencies};
use crate::session::load::{LoadedSession, has_errors, output_channels};
use crate::session::midi_files::not_played;
use clap::Args;
use divisi::graph::{Diagnostic, Severity, SourceSpan, channel_sums};
use divisi::plan::{Plan, PlanOptions};
use serde_json::{Value, json};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi check examples/04-diamond-16.ag
  divisi check patch.pd --path ~/pd/abstractions
  divisi check session.toml --json -
  divisi check session.toml --write session.ag";

/// Checks a session and shows every mistake; changes nothing
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The session: a .toml or .ag file, or a Pure Data patch (.pd)
    file: PathBuf,

    /// Folder in which a patch's abstractions are looked for, after its own; may be given several times
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,

    /// End with exit code 1 if a sound file is damaged or cut off, or an object of a patch is missing; without it, that is a warning
    #[arg(long)]
    strict: bool,

    /// Write the findings as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the session, if it has no mistake, as a new .ag file, flat: parts become their nodes
    #[arg(long, value_name = "NEW.ag")]
    write: Option<PathBuf>,
}

impl Check {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        if PatchCheck::is_patch(&self.file) {
            return self.check_patch();
        }
        let loaded = LoadedSession::read(&self.file)?;
        let mut guard = loaded.guard(std::iter::once(&self.file))?;
        if let Some(path) = &self.write {
            guard.output(path)?;
        }
        let json = JsonOutput::open(self.json.as_deref(), &mut guard)?;
        let Findings {
            found,
            network,
            plan,
            damaged_count,
        } = Findings::of(&loaded);
        loaded.print_diagnostics(&found);
        let plan = plan.as_ref();
        let counts = plan.map(|plan| GraphSummary::from_plan(&loaded, plan));
        let mut text = match &counts {
            Some(counts) => counts.to_text(&self.file.display().to_string()),
            None => String::new(),
        };
        let mut all = to_json(counts.as_ref(), &found);
        if let Some(network) = network.filter(|_| counts.is_some()) {
            text += &network.to_text();
            all["network"] = network.to_json();
        }
        json.write(&text, &all.to_string())?;
        if counts.is_none() {
            return Err(Failure::bad_input_reported());
        }
        if let Some(path) = &self.write {
            write_as_ag(&loaded, path)?;
        }
        if self.strict && loaded.lacks_objects {
            return Err(Failure::failed("objects of a patch are missing"));
        }
        check_damage(damaged_count, self.strict)
    }
}

/// Everything that is found in a session.
struct Findings {
    found: Vec<Diagnostic>,
    network: Option<NetworkCheck>,
    /// True if there is no mistake.
    plan: Option<Plan>,
    /// Number of files that are damaged.
    damaged_count: usize,
}

impl Findings {
    fn of(loaded: &LoadedSession) -> Self {
        let mut found = loaded.diagnostics.clone();
        let network = NetworkCheck::check(loaded, &mut found);
        found.extend(loaded.left_out_channels());
        found.extend(channel_sums(&loaded.session.graph));
        if loaded.has_patch() && !has_errors(&found) {
            found.extend(loaded.patch_mistakes());
        }
        #[cfg(target_os = "linux")]
        found.extend(super::cell_mistakes(loaded));
        // On a graph that was read only in part, later passes would report mistakes that are not in the file.
        let plan = match has_errors(&found) {
            true => None,
            false => diagnose(loaded, network.is_some(), &mut found),
        };
        let damaged = damaged_files(loaded);
        let damaged_count = damaged.len();
        found.extend(damaged);
        found.extend(not_played(loaded));
        Self {
            found,
            network,
            plan,
            damaged_count,
        }
    }
}

impl Check {
    /// Checks a Pure Data patch.
    fn check_patch(&self) -> Result<(), Failure> {
        if self.write.is_some() {
            let message = "a Pure Data patch cannot be written as .ag";
            return Err(Failure::bad_input(message));
        }
        let check = PatchCheck::read(&self.file, &self.path)?;
        let mut guard = FileGuard::new(check.files());
        let json = JsonOutput::open(self.json.as_deref(), &mut guard)?;
        check.print_diagnostics();
        json.write(
            &check.to_text(),
            &check.to_json(diagnostic_json).to_string(),
        )?;
        match check.has_errors() {
            false if self.strict && check.has_stand_ins() => {
                Err(Failure::failed("objects of a patch are missing"))
            }
            false => Ok(()),
            true => Err(Failure::bad_input_reported()),
        }
    }
}

/// Adds what the constructors and the planner find. Returns the plan if there is no error.
fn diagnose(
    loaded: &LoadedSession,
    has_network: bool,
    found: &mut Vec<Diagnostic>,
) -> Option<Plan> {
    let mut options = PlanOptions::new(loaded.block_or_default(None), loaded.rate_or_default(None));
    let (latencies, wrong) = latencies(loaded, (options.block, options.rate));
    options.latencies = latencies;
    found.extend(wrong);
    let mut nodes = loaded.session.graph.nodes();
    if !has_network && !nodes.any(|(_, node)| node.outputs.is_empty()) {
        let no_sink = Diagnostic::warning(
            SourceSpan::new(1, 1, 1),
            "the session has no `sink`, so it makes no sound",
        );
        found.push(no_sink.help("connect an output to a node of kind `sink`"));
    }
    match loaded.plan(&options) {
        Ok(plan) => (!has_errors(found)).then_some(plan),
        Err(wrong) => {
            found.extend(wrong);
            None
        }
    }
}

/// Counts of a session's graph.
struct GraphSummary {
    nodes: usize,
    edges: usize,
    inputs: u16,
    outputs: u16,
    latency_frames: u32,
    /// Edges that latency compensation delays: from, to, delay.
    delayed: Vec<(String, String, u32)>,
}

/// Delayed edges that are listed; more are only counted.
const MAX_LISTED: usize = 20;

impl GraphSummary {
    fn from_plan(loaded: &LoadedSession, plan: &Plan) -> Self {
        let delayed = plan.delayed_edges.iter().map(|edge| {
            let (from, to) = edge_names(&loaded.session.graph, edge);
            (from, to, edge.tap.frames.0)
        });
        Self {
            delayed: delayed.collect(),
            nodes: loaded.session.graph.len(),
            edges: loaded.session.graph.edges().len(),
            inputs: loaded.input_channels(),
            outputs: output_channels(plan),
            latency_frames: plan.latency.0,
        }
    }

    fn to_text(&self, name: &str) -> String {
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
        for (from, to, frames) in self.delayed.iter().take(MAX_LISTED) {
            let frames = count(*frames as usize, "frame");
            text += &format!("  {from} -> {to} is delayed by {frames}\n");
        }
        if let Some(more @ 1..) = self.delayed.len().checked_sub(MAX_LISTED) {
            text += &format!("  … and {more} more\n");
        }
        text
    }
}

fn to_json(counts: Option<&GraphSummary>, found: &[Diagnostic]) -> Value {
    let diagnostics: Vec<Value> = found.iter().map(diagnostic_json).collect();
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

fn diagnostic_json(found: &Diagnostic) -> Value {
    let also = found.related.iter().map(|(at, why)| {
        let mut note = json!({ "message": why });
        add_span(&mut note, *at);
        note
    });
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut all = json!({
        "severity": severity,
        "message": found.message,
        "help": found.help,
        "also": also.collect::<Vec<Value>>(),
    });
    add_span(&mut all, found.span);
    all
}

/// Adds the span, if it is known.
fn add_span(into: &mut Value, at: SourceSpan) {
    if at.is_known() {
        into["line"] = at.line.into();
        into["column"] = at.column.into();
        into["width"] = at.len.into();
    }
}
