//! What stands between a live driver and the player: the file that is heard, the file that is written, and a count.

use crate::failure::{Failure, in_full};
use crate::feed::{Feed, Feeder, Source, feed};
use crate::tape::{Head, Tape, record};
use divisi::media::Writer;
use divisi::prelude::{AudioCallback, CallbackInfo, EngineCallback, Frames};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A player with a tape deck.
pub(crate) struct Deck {
    player: EngineCallback,
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
    pub(crate) fn new(player: EngineCallback) -> Self {
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

impl AudioCallback for Deck {
    fn process(&mut self, beat: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        match &mut self.feed {
            Some(feed) => feed.with(|inputs| self.player.process(beat, inputs, outputs)),
            None => self.player.process(beat, inputs, outputs),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Loaded;
    use check::alloc::{Counting, calls, is_installed};
    use divisi::media::SampleFormat;
    use divisi::prelude::{EngineOptions, SampleRate};
    use divisi::units::Channels;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    const SESSION: &str = "edges = [\"ear -> out\"]\n[nodes.ear]\nkind = \"input\"\n\
        [nodes.out]\nkind = \"sink\"\n";

    #[test]
    fn a_block_is_heard_played_and_recorded_without_an_allocation() {
        let folder = std::env::temp_dir().join(format!("divisi-deck-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (rate, block) = (SampleRate::new(48_000).unwrap(), Frames(64));
        let wav =
            |name| Writer::create(folder.join(name), rate, Channels(1), SampleFormat::F32).unwrap();
        let mut heard = wav("in.wav");
        heard.write(&[&[0.5; 6400]]).unwrap();
        heard.finish().unwrap();
        std::fs::write(folder.join("ear.toml"), SESSION).unwrap();
        let loaded = Loaded::usable(&folder.join("ear.toml")).unwrap();
        let mut options = EngineOptions::new(block, rate);
        (options.input_channels, options.workers) = (1, 1);
        let (engine, player) = loaded.engine(options).unwrap();
        let mut deck = Deck::new(player);
        let beat = (block, rate.hz());
        let source = Source::open(&folder.join("in.wav"), rate).unwrap();
        let feeder = deck.hear(source, 1, beat).unwrap();
        let tape = deck.record(wav("out.wav"), 1, beat, None).unwrap();
        assert!(is_installed());
        let before = calls();
        for _ in 0..100 {
            let mut out = [9.0; 64];
            deck.process(CallbackInfo::default(), &[], &mut [&mut out]);
            assert_eq!(out, [0.5; 64]);
        }
        assert_eq!(calls(), before);
        assert_eq!(deck.played().blocks(), 100);
        drop((deck, engine));
        assert_eq!(feeder.end(), (0, None));
        assert_eq!(tape.end().unwrap(), 0);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
