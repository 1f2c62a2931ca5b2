//! What stands between a live driver and the player: the file that is heard, the file that is written, and a count.

use crate::failure::{Failure, in_full};
use crate::feed::{Feed, Feeder, Source, feed};
use crate::tape::{Head, Tape, record};
use divisi::media::Writer;
use divisi::prelude::{Beat, Cycle, Frames, Player};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A player with a tape deck.
pub(crate) struct Deck {
    player: Player,
    feed: Option<Feed>,
    head: Option<Head>,
    blocks: Played,
}

/// How many blocks have been played.
#[derive(Clone, Default)]
pub(crate) struct Played(Arc<AtomicU64>);

impl Played {
    /// So many.
    pub(crate) fn blocks(&self) -> u64 {
        // Relaxed: the count is all there is.
        self.0.load(Ordering::Relaxed)
    }
}

impl Deck {
    /// Only the player, so far.
    pub(crate) fn new(player: Player) -> Self {
        Self {
            player,
            feed: None,
            head: None,
            blocks: Played::default(),
        }
    }

    /// Hears `source` in place of the device.
    pub(crate) fn hear(
        &mut self,
        source: Source,
        inputs: u16,
        beat: (Frames, u32),
    ) -> Result<Feeder, Failure> {
        let (end, feeder) = feed(source, inputs, beat).map_err(|error| no_thread(&error))?;
        self.feed = Some(end);
        Ok(feeder)
    }

    /// Records what is heard, `frames` frames at most.
    pub(crate) fn record(
        &mut self,
        writer: Writer,
        channels: u16,
        beat: (Frames, u32),
        frames: Option<u64>,
    ) -> Result<Tape, Failure> {
        let begun = record(writer, channels, beat, frames);
        let (head, tape) = begun.map_err(|error| no_thread(&error))?;
        self.head = Some(head);
        Ok(tape)
    }

    /// The count, to be read while it plays.
    pub(crate) fn played(&self) -> Played {
        self.blocks.clone()
    }
}

impl Cycle for Deck {
    fn cycle(&mut self, beat: Beat, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        match &mut self.feed {
            Some(feed) => feed.with(|inputs| self.player.cycle(beat, inputs, outputs)),
            None => self.player.cycle(beat, inputs, outputs),
        }
        if let Some(head) = &mut self.head {
            head.keep(outputs);
        }
        // Relaxed: as in `blocks`.
        self.blocks.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn no_thread(error: &std::io::Error) -> Failure {
    Failure::failed(format!(
        "a thread for files cannot be started: {}",
        in_full(error)
    ))
}
