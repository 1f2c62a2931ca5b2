//! One step: runs a program, reads its output, counts its tests.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Outcome of a step.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Passed tests; 1 for a passed step without tests.
    pub(crate) passed: u64,
    /// Failed tests.
    pub(crate) failed: u64,
    /// Skipped tests, each with the reason.
    pub(crate) skips: Vec<String>,
    /// Tests kept for the long tier.
    pub(crate) ignored: u64,
    /// Names of the failed tests.
    pub(crate) failures: Vec<String>,
    /// Duration.
    pub(crate) seconds: f64,
}

/// Environment variable with the file to which a test that cannot run appends `SKIPPED NAME: WHY`.
const SKIPS: &str = "DIVISI_SKIPS";

/// Runs `command` for at most `minutes`. Passes its output on as it comes.
pub(crate) fn run(name: &str, mut command: Command, minutes: u64) -> Outcome {
    println!("\n=== {name}");
    let begin = Instant::now();
    let file = format!(
        "divisi-skips-{}-{}",
        std::process::id(),
        name.replace(' ', "-")
    );
    let skips = std::env::temp_dir().join(file);
    let _ = fs::remove_file(&skips);
    command.env(SKIPS, &skips).stdout(Stdio::piped());
    let mut outcome = match command.spawn() {
        Ok(child) => watch(name, child, begin + Duration::from_secs(60 * minutes)),
        Err(error) => Outcome::failed(format!("{name}: {error}")),
    };
    outcome.take_skips(&skips);
    outcome.seconds = begin.elapsed().as_secs_f64();
    outcome
}

/// Outcome of a step that did not run.
pub(crate) fn skipped(name: &str, why: &str) -> Outcome {
    println!("\n=== {name}\nSKIPPED {name}: {why}");
    Outcome {
        skips: vec![format!("{name}: {why}")],
        ..Outcome::default()
    }
}

fn watch(name: &str, mut child: Child, end: Instant) -> Outcome {
    let lines = child.stdout.take().expect("it was piped");
    let listener = thread::spawn(move || listen(BufReader::new(lines)));
    let mut in_time = true;
    let status = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() > end && in_time => {
                in_time = false;
                kill_with_children(child.id());
            }
            Ok(None) => thread::sleep(Duration::from_millis(20)),
            Ok(Some(status)) => break status.success(),
            Err(_) => break false,
        }
    };
    let mut outcome = listener.join().unwrap_or_default();
    if !in_time {
        outcome.fail(format!("{name}: stopped, it took too long"));
    } else if !status && outcome.failed == 0 {
        outcome.fail(name.to_string());
    } else if status && outcome.passed == 0 && outcome.ignored == 0 {
        outcome.passed = 1;
    }
    outcome
}

/// Passes lines on and counts libtest's results.
fn listen(lines: impl BufRead) -> Outcome {
    let mut outcome = Outcome::default();
    for line in lines.split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        outcome.count(&line);
    }
    outcome
}

impl Outcome {
    fn failed(what: String) -> Self {
        let mut outcome = Self::default();
        outcome.fail(what);
        outcome
    }

    fn fail(&mut self, what: String) {
        self.failed += 1;
        self.failures.push(what);
    }

    /// One line of libtest's: a result or a failed test's name.
    fn count(&mut self, line: &str) {
        if let Some(test) = line
            .strip_prefix("test ")
            .and_then(|l| l.strip_suffix(" ... FAILED"))
        {
            self.failures.push(test.to_string());
        }
        if let Some(skip) = line.strip_prefix("SKIPPED ") {
            self.skip(skip);
        }
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        let number = |word: &str| -> u64 {
            let parts = result.split(['.', ';']).map(str::trim);
            let found = parts.filter_map(|part| part.strip_suffix(word));
            found.filter_map(|n| n.trim().parse::<u64>().ok()).sum()
        };
        self.passed += number("passed");
        self.failed += number("failed");
        self.ignored += number("ignored");
    }

    /// A test that skipped itself, once: it may say so in the file and in its output.
    fn skip(&mut self, line: &str) {
        let test = |line: &str| line.split(": ").next().map(str::to_owned);
        if !self.skips.iter().any(|known| test(known) == test(line)) {
            self.skips.push(line.to_owned());
        }
    }

    /// Moves tests that skipped themselves from passed, where libtest counts them, to skipped.
    fn take_skips(&mut self, file: &Path) {
        let text = fs::read_to_string(file).unwrap_or_default();
        let _ = fs::remove_file(file);
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("SKIPPED "));
        lines.for_each(|line| self.skip(line));
        self.passed = self.passed.saturating_sub(self.skips.len() as u64);
    }
}

/// Kills a process and all its children.
fn kill_with_children(id: u32) {
    let mut family = vec![id];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        family.extend(children_of(parent));
        next += 1;
    }
    let words = family.iter().map(u32::to_string);
    let _ = Command::new("kill").arg("-KILL").args(words).status();
}

fn children_of(parent: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The name in brackets may hold anything; the state and the parent follow it.
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        after_name.split_whitespace().nth(1) == Some(parent.to_string().as_str())
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_test_programs_add_up() {
        let text = "running 3 tests\ntest a::b ... FAILED\n\
            test result: FAILED. 2 passed; 1 failed; 4 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
            test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s\n";
        let outcome = listen(text.as_bytes());
        assert_eq!((outcome.passed, outcome.failed, outcome.ignored), (7, 1, 4));
        assert_eq!(outcome.failures, ["a::b"]);
    }

    #[test]
    fn a_step_that_fails_without_a_failed_test_is_one_failure() {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'; exit 3",
        ]);
        let outcome = run("sh", command, 1);
        assert_eq!((outcome.passed, outcome.failed), (2, 1));
    }

    #[test]
    fn a_skipped_test_is_not_a_passed_one() {
        let mut command = Command::new("sh");
        let script = "echo 'SKIPPED jack: no server' >> $DIVISI_SKIPS; echo 'test result: ok. 2 passed; 0 failed'";
        command.args(["-c", script]);
        let outcome = run("skipping", command, 1);
        assert_eq!(outcome.passed, 1);
        assert_eq!(outcome.skips, ["jack: no server"]);
    }

    #[test]
    fn a_skip_that_a_test_prints_counts_once() {
        let mut command = Command::new("sh");
        let script = "echo 'SKIPPED jack: no server' | tee -a $DIVISI_SKIPS; echo 'SKIPPED share: one core'; echo 'test result: ok. 3 passed; 0 failed'";
        command.args(["-c", script]);
        let outcome = run("printing", command, 1);
        assert_eq!(outcome.passed, 1);
        assert_eq!(outcome.skips, ["jack: no server", "share: one core"]);
    }
}
