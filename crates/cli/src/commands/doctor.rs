//! `doctor`: shows which real-time privileges this machine grants, and how to get the others.

use crate::failure::Failure;
use crate::guard::FileGuard;
use crate::output::json::JsonOutput;
use clap::Args;
use divisi::workers::{Finding, Grants};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi doctor
  divisi doctor --json -

Divisi also plays without these privileges; interruptions of the sound are then more likely.";

/// Shows which real-time privileges this machine grants, and how to get the others
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// Write it as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Doctor {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut guard = FileGuard::new::<PathBuf>([]);
        let json = JsonOutput::open(self.json.as_deref(), &mut guard)?;
        let findings = Grants::probe().findings();
        let all: Vec<Value> = findings.iter().map(to_json).collect();
        json.write(&to_text(&findings), &Value::from(all).to_string())
    }
}

fn to_text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for one in findings {
        let mark = if one.is_good() { "✓" } else { "✗" };
        let _ = writeln!(text, "{mark} {}: {}", one.topic, one.finding);
        if let Some(fix) = one.fix {
            let _ = writeln!(text, "    {fix}");
        }
    }
    text
}

fn to_json(one: &Finding) -> Value {
    json!({
        "topic": one.topic,
        "good": one.is_good(),
        "finding": one.finding,
        "fix": one.fix,
    })
}
