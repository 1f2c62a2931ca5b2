//! [`Answering`]: a reply that waits until it is known from which frame on its request is heard.

use crate::ControlError;
use crate::cells::CellHost;
use crate::command::Reply;
use crate::events::SentWords;
use engine::{Engine, WordsFate};
use serde_json::Value;

/// A reply that waits for its frame.
pub(super) struct Answering {
    pub(super) client: u64,
    pub(super) reply: Reply,
    pub(super) waits_for: EffectTime,
    /// Messages in words that the request has sent.
    pub(super) words: Vec<SentWords>,
}

/// The moment from which on a request is heard.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectTime {
    /// It changes no sound.
    Never,
    /// At this frame.
    At(u64),
    /// With the executor that is on its way.
    WithSwap,
    /// With the messages in words.
    WithWords,
    /// With the change of the cells.
    WithCells,
    /// With events: their ticket, and the earliest frame for which they are meant.
    WithEvents(u64, u64),
}

impl EffectTime {
    /// Returns true if no other request is carried out until then.
    pub(super) fn holds_others(self) -> bool {
        matches!(self, Self::WithSwap | Self::WithCells)
    }
}

impl Answering {
    /// The frame at which its messages in words have come to their patches, if that is known; `None` as long as one waits. A message
    /// that nothing receives makes the reply a refusal.
    pub(super) fn words_frame(
        &mut self,
        engine: &mut Engine,
        cells: Option<&dyn CellHost>,
    ) -> Option<Option<u64>> {
        let (mut first, mut is_waiting) = (None, false);
        for sent in &mut self.words {
            let frame = match sent.fate(engine, cells) {
                WordsFate::Waits => {
                    is_waiting = true;
                    None
                }
                WordsFate::Received(frame) => Some(frame),
                WordsFate::Unheard(frame) => {
                    (self.reply.ok, self.reply.error) = (false, Some(sent.unheard().to_string()));
                    Some(frame)
                }
                WordsFate::Unknown => None,
            };
            first = first.or(frame);
        }
        (!is_waiting).then_some(first)
    }

    /// Enters what has become of a command of cells.
    pub(super) fn settle(&mut self, changed: Result<(Value, Option<u64>), String>) {
        self.waits_for = EffectTime::Never;
        match changed {
            Ok((answer, frame)) => {
                (self.reply.data, self.reply.frame) = (vec![answer], frame);
            }
            Err(why) => {
                let id = std::mem::take(&mut self.reply.id);
                self.reply = refusal(id, &ControlError::Cells(why), Some(1));
            }
        }
    }
}

/// The reply to a request that is refused, with the place of its command where one is wrong.
pub(super) fn refusal(id: Value, error: &ControlError, command: Option<usize>) -> Reply {
    Reply {
        id,
        error: Some(error.to_string()),
        command,
        ..Reply::default()
    }
}
