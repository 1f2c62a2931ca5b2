//! While it plays: the engine is looked after, the user is listened to, and the end is found.

use crate::deck::Played;
use crate::failure::{Failure, in_full};
use crate::feed::Feeder;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::say;
use crate::tape::Tape;
use crate::trace::Tracer;
use divisi::driver::{Running, State};
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
    pub(crate) running: &'a dyn Running,
    pub(crate) played: Played,
    /// Frames in a block, and a second.
    pub(crate) block: u64,
    pub(crate) rate_hz: u32,
    /// After so many frames it ends by itself.
    pub(crate) frames: Option<u64>,
}

impl Live<'_> {
    /// Plays until it ends by itself, the user ends it, or the driver does: then says why.
    pub(crate) fn play(mut self, files: &Files, interrupt: &Interrupt) -> Result<(), Failure> {
        let mut progress = Progress::new(self.rate_hz, self.frames);
        let mut told = 0;
        let mut tape_ran = files.tape.is_some();
        while !interrupt.is_asked() {
            let frames = self.played.blocks() * self.block;
            if self.frames.is_some_and(|all| frames >= all) {
                break;
            }
            if let State::Ended { reason } = self.running.state() {
                return Err(Failure::failed(reason));
            }
            if let Some(told) = self.tracer.tend(self.engine) {
                progress.end();
                say::note(&told);
            }
            if tape_ran && files.tape.as_ref().is_some_and(Tape::has_ended) {
                tape_ran = false;
                progress.end();
                say::note("the recording has ended early; it plays on");
            }
            self.tell_quarantined(&mut told, &mut progress);
            progress.show(frames);
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    /// Says once of each node that it was taken out.
    fn tell_quarantined(&mut self, told: &mut usize, progress: &mut Progress) {
        for what in self.engine.quarantined().iter().skip(*told) {
            progress.end();
            say::note(what);
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
