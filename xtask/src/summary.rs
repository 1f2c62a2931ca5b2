//! What all steps came to: a table, and the last line.

use crate::step::Outcome;
use std::process::ExitCode;

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Summary(Vec<(String, Outcome)>);

impl Summary {
    /// Notes what came of a step.
    pub(crate) fn add(&mut self, name: &str, outcome: Outcome) {
        self.0.push((name.to_string(), outcome));
    }

    /// Prints all of it; the exit code says whether anything failed.
    pub(crate) fn finish(self) -> ExitCode {
        self.print_details();
        println!(
            "\n{:<28} {:>8} {:>7} {:>7} {:>8}",
            "step", "seconds", "passed", "failed", "skipped"
        );
        let (mut passed, mut failed, mut skipped, mut seconds) = (0, 0, 0, 0.0);
        for (name, step) in &self.0 {
            let left_out = step.skips.len() as u64 + step.ignored;
            println!(
                "{name:<28} {:>8.1} {:>7} {:>7} {left_out:>8}",
                step.seconds, step.passed, step.failed
            );
            passed += step.passed;
            failed += step.failed;
            skipped += left_out;
            seconds += step.seconds;
        }
        println!("{:<28} {seconds:>8.1}\n", "all");
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        ExitCode::from(u8::from(failed > 0))
    }

    fn print_details(&self) {
        println!();
        for (name, step) in &self.0 {
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
        for (name, step) in &self.0 {
            step.failures
                .iter()
                .for_each(|what| println!("FAILED {name}: {what}"));
        }
    }
}
