//! [`MeasuredPort`]: an output port that is measured, wherever its node plays.

use crate::cells::{CellTap, TapHost};
use crate::meters::PortMeter;
use engine::{Engine, EngineError, Tap};
use std::time::{Duration, Instant};

/// Time between two looks for where its node plays.
const LOOK_UP: Duration = Duration::from_millis(50);
/// A cell that sends nothing for so long, and for so many blocks, is silent.
const SILENT_AFTER: Duration = Duration::from_millis(150);
const SILENT_BLOCKS: u32 = 4;
/// Longest silence that a meter takes at once: all that it remembers.
const MAX_SILENCE: Duration = Duration::from_secs(5);
/// Samples of a piece of it.
const PIECE: usize = 1024;

/// An output port, by `node.port`. It is looked up again and again, since edits make nodes anew and move them between
/// cells.
pub struct MeasuredPort {
    name: String,
    rate_hz: f64,
    source: Option<Source>,
    meter: Option<PortMeter>,
    /// If it stays inside a cell, and when that was looked up.
    inside: Option<(bool, Instant)>,
}

/// The way of its samples.
enum Source {
    Engine(Tap),
    /// In a cell, and the time of its last samples.
    Cell(Box<dyn CellTap>, Instant),
}

impl MeasuredPort {
    /// A port of this name, at a rate in Hz.
    pub fn new(name: impl Into<String>, rate_hz: f64) -> Self {
        Self {
            name: name.into(),
            rate_hz,
            source: None,
            meter: None,
            inside: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The meter; none until it is known how many channels there are.
    pub fn meter(&mut self) -> Option<&mut PortMeter> {
        self.meter.as_mut()
    }

    /// Takes what has come. Returns false if there is no such port: it may have gone by an edit.
    ///
    /// Real-time: setup.
    pub fn measure(&mut self, engine: &mut Engine, cells: TapHost<'_>) -> bool {
        let is_inside = self.is_inside(&cells);
        if matches!(self.source, Some(Source::Cell(..))) != is_inside && !self.end(engine) {
            return true;
        }
        match (&self.source, cells) {
            (None, Some(cells)) if is_inside => match cells.add_tap(&self.name) {
                Ok(tap) => self.source = Some(Source::Cell(tap, Instant::now())),
                // It has just left its cell, or there are too many: it is tried again.
                Err(_) => {
                    self.inside = None;
                    return true;
                }
            },
            (None, _) => match self.tap(engine) {
                Ok(()) => {}
                // It is tried again.
                Err(EngineError::Busy) => return true,
                Err(_) => return false,
            },
            _ => {}
        }
        let plan = engine.plan();
        let block = Duration::from_nanos(plan.block.duration(plan.rate).0);
        self.read(SILENT_AFTER.max(SILENT_BLOCKS * block));
        true
    }

    /// Returns true if it stays inside a cell. It is looked up now and then.
    fn is_inside(&mut self, cells: &TapHost<'_>) -> bool {
        let Some(cells) = cells else { return false };
        match self.inside {
            Some((is_inside, at)) if at.elapsed() < LOOK_UP => is_inside,
            _ => {
                let is_inside = cells.stays_inside(&self.name);
                self.inside = Some((is_inside, Instant::now()));
                is_inside
            }
        }
    }

    /// Ends its tap. Returns false where the engine is busy: to be tried again.
    ///
    /// Real-time: setup.
    pub fn end(&mut self, engine: &mut Engine) -> bool {
        if let Some(Source::Engine(tap)) = &self.source
            && engine.remove_tap(tap).is_err()
        {
            return false;
        }
        self.source = None;
        true
    }

    fn tap(&mut self, engine: &mut Engine) -> Result<(), EngineError> {
        let (node, port) = self.name.rsplit_once('.').unwrap_or((&self.name, "out"));
        let tap = engine.add_tap(node, port)?;
        self.meter = Some(PortMeter::new(tap.channels(), self.rate_hz));
        self.source = Some(Source::Engine(tap));
        Ok(())
    }

    /// Reads what has come; nothing for `patience` is silence.
    fn read(&mut self, patience: Duration) {
        let (meter, rate_hz) = (&mut self.meter, self.rate_hz);
        match &mut self.source {
            Some(Source::Engine(tap)) => {
                tap.read(|samples| meter.iter_mut().for_each(|it| it.write(samples)));
            }
            Some(Source::Cell(tap, last)) => {
                let mut has_come = false;
                tap.read(&mut |channels, samples| {
                    has_come |= !samples.is_empty();
                    let meter = match &mut *meter {
                        Some(meter) if meter.channels() == channels => meter,
                        other => other.insert(PortMeter::new(channels, rate_hz)),
                    };
                    meter.write(samples);
                });
                let silence = last.elapsed();
                if has_come {
                    *last = Instant::now();
                } else if let (Some(meter), true) = (meter, silence > patience) {
                    *last = Instant::now();
                    write_silence(meter, silence.min(MAX_SILENCE).as_secs_f64() * rate_hz);
                }
            }
            None => {}
        }
    }
}

/// Gives a meter so many frames of silence.
fn write_silence(meter: &mut PortMeter, frames: f64) {
    let mut left = frames as usize * meter.channels();
    let piece = vec![0.0; PIECE.next_multiple_of(meter.channels())];
    while left > 0 {
        let now = left.min(piece.len());
        meter.write(&piece[..now]);
        left -= now;
    }
}
