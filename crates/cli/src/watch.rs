//! `--watch`: a live view on a terminal, one line a second elsewhere.

mod meters;
mod screen;
mod seen_port;
mod styled_line;
mod terminal;

use crate::output::messages;
use divisi::control::TapHost;
use divisi::prelude::Engine;
use divisi::report::LiveStats;
use screen::{ScreenInput, screen_lines, summary_line};
use seen_port::SeenPort;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use terminal::Terminal;

/// Interval at which the view is redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
/// Redraws over which rates are averaged: one second.
const RATE_WINDOW: usize = 5;
/// Interval of lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// What a live view is of.
pub(crate) struct ViewTitles {
    /// The session.
    pub(crate) title: String,
    /// Scheduler, workers and driver.
    pub(crate) description: String,
    /// Ports that are looked at.
    pub(crate) seen: Vec<String>,
}

/// The live view.
pub(crate) struct LiveView {
    seen: Vec<SeenPort>,
    terminal: Option<Terminal>,
    title: String,
    description: String,
    workers: usize,
    rate_hz: u32,
    /// Stats of the last second, oldest first.
    history: VecDeque<LiveStats>,
    last: Option<Instant>,
    notes: Vec<String>,
}

impl LiveView {
    /// Takes the terminal, if there is one.
    pub(crate) fn new(titles: ViewTitles, workers: usize, rate_hz: u32) -> Self {
        let ViewTitles {
            title,
            description,
            seen,
        } = titles;
        Self {
            seen: seen
                .into_iter()
                .map(|name| SeenPort::new(name, rate_hz))
                .collect(),
            terminal: Terminal::enter(),
            title,
            description,
            workers,
            rate_hz,
            history: VecDeque::from([LiveStats::default()]),
            last: None,
            notes: Vec::new(),
        }
    }

    /// Redraws the view if it is time. `frames` is the number of played frames; `cells` have ports that the engine has not.
    pub(crate) fn show(&mut self, engine: &mut Engine, mut cells: TapHost<'_>, frames: u64) {
        self.seen
            .retain_mut(|port| port.listen(engine, cells.as_deref_mut()));
        let (every, back) = match self.terminal {
            Some(_) => (REDRAW_INTERVAL, RATE_WINDOW),
            None => (LINE_INTERVAL, 1),
        };
        let last = *self.last.get_or_insert_with(Instant::now);
        if last.elapsed() < every {
            return;
        }
        self.last = Some(Instant::now());
        let now = engine.live_stats();
        let view = ScreenInput {
            title: &self.title,
            description: &self.description,
            seconds: frames as f64 / f64::from(self.rate_hz.max(1)),
            workers: self.workers,
            before: self.history.front().unwrap_or(&now),
            now: &now,
            notes: &self.notes,
        };
        match &self.terminal {
            Some(terminal) => {
                let (columns, rows) = terminal.size();
                let mut lines = screen_lines(&view, columns, rows);
                for port in &mut self.seen {
                    lines.extend(port.lines(columns));
                }
                lines.truncate(rows);
                lines.iter_mut().for_each(|line| line.clip(columns));
                terminal.show(&lines);
            }
            None => {
                let seen = self.seen.iter_mut().filter_map(SeenPort::words);
                let words: Vec<String> = std::iter::once(summary_line(&view)).chain(seen).collect();
                messages::print_message(&words.join("; "));
            }
        }
        self.history.push_back(now);
        while self.history.len() > back {
            self.history.pop_front();
        }
    }

    /// Shows a note: in the view, and again after the view has ended.
    pub(crate) fn note(&mut self, text: &str) {
        match self.terminal {
            Some(_) => self.notes.push(text.to_owned()),
            None => messages::print_message(text),
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.terminal = None;
        self.notes
            .iter()
            .for_each(|note| messages::print_message(note));
    }
}
