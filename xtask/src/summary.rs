//! What all steps came to: a table, and the last line.

use crate::step::{self, Outcome};
use std::process::{Command, ExitCode};

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    steps: Vec<(String, Outcome)>,
    only: Vec<String>,
}

impl Summary {
    /// Of all steps, or of those whose names begin with one of these words.
    pub(crate) fn of(only: &[&str]) -> Self {
        Self {
            steps: Vec::new(),
            only: only.iter().map(ToString::to_string).collect(),
        }
    }

    /// Whether the step is wanted.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| name.starts_with(word.as_str()))
    }

    /// Runs a step, if it is wanted, for `minutes` at most; whether nothing of it failed.
    pub(crate) fn run(&mut self, name: &str, command: Command, minutes: u64) -> bool {
        if !self.wants(name) {
            return true;
        }
        let outcome = step::run(name, command, minutes);
        let is_right = outcome.failed == 0;
        self.add(name, outcome);
        is_right
    }

    /// Notes that a step could not be run.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        if self.wants(name) {
            self.add(name, step::skipped(name, why));
        }
    }

    /// Notes what came of a step.
    pub(crate) fn add(&mut self, name: &str, outcome: Outcome) {
        self.steps.push((name.to_string(), outcome));
    }

    /// Prints all of it; the exit code says whether anything failed.
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
