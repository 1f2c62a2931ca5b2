//! Summary of all steps: a table, and the last line.

use crate::step::{self, Outcome};
use std::process::{Command, ExitCode};

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    steps: Vec<(String, Outcome)>,
    only: Vec<String>,
}

impl Summary {
    /// Makes a summary of all steps, or of those whose names begin with one of these words.
    pub(crate) fn of(only: &[&str]) -> Self {
        Self {
            steps: Vec::new(),
            only: only.iter().map(ToString::to_string).collect(),
        }
    }

    /// Returns true if the step is selected.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| name.starts_with(word.as_str()))
    }

    /// Runs a selected step for at most `minutes`. Returns true if nothing failed.
    pub(crate) fn run(&mut self, name: &str, command: Command, minutes: u64) -> bool {
        if !self.wants(name) {
            return true;
        }
        let outcome = step::run(name, command, minutes);
        let is_right = outcome.failed == 0;
        self.add(name, outcome);
        is_right
    }

    /// Records that a step could not run.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        if self.wants(name) {
            self.add(name, step::skipped(name, why));
        }
    }

    /// Records the outcome of a step.
    pub(crate) fn add(&mut self, name: &str, outcome: Outcome) {
        self.steps.push((name.to_string(), outcome));
    }

    /// Prints the summary. The exit code is 1 if anything failed.
    pub(crate) fn finish(self) -> ExitCode {
        self.print_details();
        println!(
            "\n{:<33} {:>8} {:>7} {:>7} {:>8}",
            "step", "seconds", "passed", "failed", "skipped"
        );
        let (mut passed, mut failed, mut skipped, mut seconds) = (0, 0, 0, 0.0);
        for (name, step) in &self.steps {
            let left_out = step.skips.len() as u64 + step.ignored;
            println!(
                "{name:<33} {:>8.1} {:>7} {:>7} {left_out:>8}",
                step.seconds, step.passed, step.failed
            );
            passed += step.passed;
            failed += step.failed;
            skipped += left_out;
            seconds += step.seconds;
        }
        println!("{:<33} {seconds:>8.1}\n", "all");
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        ExitCode::from(u8::from(failed > 0))
    }

    fn print_details(&self) {
        println!();
        for (name, step) in &self.steps {
            step.skips
                .iter()
                .for_each(|skip| println!("SKIPPED {skip}"));
            if step.ignored > 0 {
                println!(
                    "SKIPPED {} tests of `{name}`: they are ignored here; the long tier runs them",
                    step.ignored
                );
            }
        }
        for (name, step) in &self.steps {
            step.failures
                .iter()
                .for_each(|what| println!("FAILED {name}: {what}"));
        }
    }
}
