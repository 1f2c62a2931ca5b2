//! [`Globals`]: the state that all objects share.

use super::arrays::Arrays;
use super::clocks::Clocks;
use super::symbol::{Symbol, Symbols};
use crate::expression::LibraryRandom;
use std::collections::HashMap;

/// State that all objects share.
pub(crate) struct Globals {
    pub symbols: Symbols,
    pub clocks: Clocks,
    pub arrays: Arrays,
    /// Numbers of `value`, by name.
    pub values: HashMap<Symbol, f32>,
    /// Random numbers of `expr`.
    pub random: LibraryRandom,
    pub rate: f32,
    /// True once `; pd dsp 1` was sent, or the host turned it on.
    pub dsp: bool,
    /// Number of `random` and `noise~` made, from which their seeds follow.
    pub seeds: (u32, u32),
    console: Vec<String>,
    lost_lines: u64,
}

/// Lines that wait to be read, at most.
const MAX_LINES: usize = 10_000;

impl Globals {
    pub(super) fn new(rate: f32) -> Self {
        Self {
            symbols: Symbols::default(),
            clocks: Clocks::default(),
            arrays: Arrays::default(),
            values: HashMap::new(),
            random: LibraryRandom::default(),
            rate,
            dsp: false,
            seeds: (0, 0),
            console: Vec::new(),
            lost_lines: 0,
        }
    }

    pub(crate) fn print(&mut self, line: String) {
        match self.console.len() < MAX_LINES {
            true => self.console.push(line),
            false => self.lost_lines += 1,
        }
    }

    /// Takes what was printed.
    pub(super) fn take_console(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.console);
        match std::mem::take(&mut self.lost_lines) {
            0 => {}
            lost => lines.push(format!("… and {lost} more lines")),
        }
        lines
    }
}
