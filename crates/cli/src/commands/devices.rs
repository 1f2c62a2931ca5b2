//! `devices`: lists the drivers and devices of this machine.

use crate::failure::Failure;
use crate::guard::FileGuard;
use crate::output::json::JsonOutput;
use clap::Args;
use divisi::driver::{ProbeResult, probe};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi devices
  divisi devices --json -";

/// Lists drivers and devices
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Devices {
    /// Write it as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Devices {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut guard = FileGuard::new::<PathBuf>([]);
        let json = JsonOutput::open(self.json.as_deref(), &mut guard)?;
        let found = probe();
        let all: Vec<Value> = found.iter().map(to_json).collect();
        json.write(&to_text(&found), &Value::from(all).to_string())
    }
}

fn to_text(found: &[ProbeResult]) -> String {
    let mut text = String::new();
    for one in found {
        let mark = if one.is_available { "✓" } else { "·" };
        let _ = writeln!(text, "{mark} {:<6} {}", one.driver, one.description);
        if let Some(advice) = &one.advice {
            let _ = writeln!(text, "         {advice}");
        }
    }
    text
}

fn to_json(found: &ProbeResult) -> Value {
    json!({
        "driver": found.driver,
        "what": found.description,
        "answers": found.is_available,
        "advice": found.advice,
    })
}
