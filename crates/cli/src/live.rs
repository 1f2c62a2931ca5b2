//! While it plays: the engine is looked after, the user is listened to, and the end is found.

use crate::deck::Played;
use crate::failure::{Failure, in_full};
use crate::feed::Feeder;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::say;
use crate::tape::Tape;
use crate::trace::Tracer;
use crate::watch::Watch;
use divisi::driver::{DriverState, RunningDriver};
use divisi::prelude::Engine;
use std::time::Duration;

/// How often the engine is looked after.
const TICK: Duration = Duration::from_millis(5);

/// What is read and written beside a live run.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) tape: Option<Tape>,
    pub(crate) feeder: Option<Feeder>,
}

/// One live run.
pub(crate) struct Live<'a> {
    pub(crate) engine: &'a mut Engine,
    pub(crate) tracer: &'a mut Tracer,
    pub(crate) running: &'a dyn RunningDriver,
    pub(crate) played: Played,
    /// Frames in a block, and a second.
    pub(crate) block: u64,
    pub(crate) rate_hz: u32,
    /// After so many frames it ends by itself.
    pub(crate) frames: Option<u64>,
    /// What plays and how, where the user watches.
    pub(crate) watched: Option<(String, String)>,
}

/// What the user sees while it plays.
enum Face {
    Line(Progress),
    View(Watch),
}

impl Face {
    /// Says something beside.
    fn note(&mut self, text: &str) {
        match self {
            Self::Line(progress) => {
                progress.end();
                say::note(text);
            }
            Self::View(watch) => watch.note(text),
        }
    }

    fn show(&mut self, engine: &Engine, frames: u64) {
        match self {
            Self::Line(progress) => progress.show(frames),
            Self::View(watch) => watch.show(engine, frames),
        }
    }
}

impl Live<'_> {
    /// Plays until it ends by itself, the user ends it, or the driver does: then says why.
    pub(crate) fn play(mut self, files: &Files, interrupt: &Interrupt) -> Result<(), Failure> {
        let mut face = self.face();
        let mut told = 0;
        let mut tape_ran = files.tape.is_some();
        while !interrupt.is_asked() {
            let frames = self.played.blocks() * self.block;
            if self.frames.is_some_and(|all| frames >= all) {
                break;
            }
            if let DriverState::Ended { reason } = self.running.state() {
                return Err(Failure::failed(reason));
            }
            if let Some(told) = self.tracer.tend(self.engine) {
                face.note(&told);
            }
            if tape_ran && files.tape.as_ref().is_some_and(Tape::has_ended) {
                tape_ran = false;
                face.note("the recording has ended early; it plays on");
            }
            self.tell_quarantined(&mut told, &mut face);
            face.show(self.engine, frames);
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    fn face(&mut self) -> Face {
        match self.watched.take() {
            Some((title, facts)) => {
                let workers = self.engine.workers();
                Face::View(Watch::begin(title, facts, workers, self.rate_hz))
            }
            None => Face::Line(Progress::new(self.rate_hz, self.frames)),
        }
    }

    /// Says once of each node that it was taken out.
    fn tell_quarantined(&mut self, told: &mut usize, face: &mut Face) {
        for what in self.engine.quarantined().iter().skip(*told) {
            face.note(what);
            *told += 1;
        }
    }
}

impl Files {
    /// Ends both, and says what did not go well. The half that plays must be gone.
    pub(crate) fn end(self) -> Result<(), Failure> {
        if let Some(feeder) = self.feeder {
            let (missing, damage) = feeder.end();
            if missing > 0 {
                say::note(&format!(
                    "the input came too late for {missing} blocks: the disk is slow"
                ));
            }
            if let Some(damage) = damage {
                say::note(&format!("{damage}; it was silent from there on"));
            }
        }
        let Some(tape) = self.tape else { return Ok(()) };
        let lost = tape
            .end()
            .map_err(|error| Failure::failed(in_full(&error)))?;
        if lost > 0 {
            say::note(&format!(
                "{lost} blocks are silent in the recording: the disk is slow"
            ));
        }
        Ok(())
    }
}
