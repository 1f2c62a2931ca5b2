//! `experiment`: repeats the experiments of the papers that Divisi builds on.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::messages;
use clap::Args;
use divisi::graph::error_chain;
use lab::{Effort, LabError, RunObserver};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  divisi experiment graphs --quick
  divisi experiment session --out results/session
  divisi experiment session --out results/session --page

  graphs       lines, diamonds and rakes with every scheduler: number of threads, block sizes, other load on the machine
  session      500 objects, 64 of them expensive: takes from the queue, wake-ups, processor time idle and playing
  scale        simulation of 1 to 128 cores, and its error on the cores of this machine
  convolution  long impulse responses with and without threads: kernels, load, maximum of channels, cores, jitter
  queues       FFT filters on mirrored rings and on copying rings; round trips between threads and between processes
  channels     round trips of 512 to 4480 bytes between two cells, alone and through a graph, beside a bare ping-pong
  isolation    response times of a session and a patch beside a load in a cell, a process and a control group

It writes results.csv with every run, plots as SVG, and index.html, which explains the results. After an interruption
the same command continues where it stopped.";

/// Repeats an experiment of a source paper
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Experiment {
    /// The experiment: graphs, session, scale, convolution, queues, channels or isolation
    #[arg(value_parser = experiment)]
    name: lab::Experiment,

    /// Fewer and shorter runs, in under a minute
    #[arg(long)]
    quick: bool,

    /// Run nothing: write the plots and the page again from the results in the folder
    #[arg(long)]
    page: bool,

    /// Folder of the results; without it, experiment-NAME in the current folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Experiment {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let effort = if self.quick {
            Effort::Quick
        } else {
            Effort::Full
        };
        let folder = self.out.clone().unwrap_or_else(|| self.folder());
        let mut line = ProgressLine {
            interrupt: Interrupt::listen()?,
            is_shown: std::io::stderr().is_terminal(),
            is_drawn: false,
        };
        let done = match self.page {
            true => self.name.write_page(&folder),
            false => self.name.perform(effort, &folder, &mut line),
        };
        line.end();
        let done = done.map_err(|error| to_failure(&error))?;
        let page = done.page.display();
        messages::print_result(&format!("{} runs, explained in {page}\n", done.runs))?;
        if done.is_complete {
            return Ok(());
        }
        let message = "interrupted: the same command continues from here";
        Err(Failure::failed(message))
    }

    fn folder(&self) -> PathBuf {
        let quick = if self.quick { "-quick" } else { "" };
        format!("experiment-{}{quick}", self.name.name()).into()
    }
}

fn to_failure(error: &LabError) -> Failure {
    match error {
        LabError::OtherExperiment(_) | LabError::OtherMachine(..) => {
            Failure::bad_input(error_chain(error))
        }
        _ => Failure::failed(error_chain(error)),
    }
}

fn experiment(name: &str) -> Result<lab::Experiment, String> {
    let mut all = lab::Experiment::all();
    all.find(|one| one.name() == name).ok_or_else(|| {
        let names: Vec<_> = lab::Experiment::all().map(lab::Experiment::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// Line with the current run and the remaining time; on a terminal only.
struct ProgressLine {
    interrupt: Interrupt,
    is_shown: bool,
    is_drawn: bool,
}

impl ProgressLine {
    fn end(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

impl RunObserver for ProgressLine {
    fn run_starts(&mut self, at: usize, of: usize, what: &str, left: Duration) {
        if self.is_shown {
            self.is_drawn = true;
            let line = progress_text(at, of, what, left);
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
        }
    }

    fn should_stop(&self) -> bool {
        self.interrupt.is_requested()
    }
}

fn progress_text(at: usize, of: usize, what: &str, left: Duration) -> String {
    let seconds = left.as_secs();
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    format!("{at} of {of}, {minutes}:{seconds:02} left: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_the_run_and_the_remaining_time() {
        let text = progress_text(3, 20, "rake 101", Duration::from_secs(125));
        assert_eq!(text, "3 of 20, 2:05 left: rake 101");
        assert!(experiment("graphs").is_ok());
        assert!(experiment("grafs").unwrap_err().contains("graphs"));
    }
}
