//! The reply to a block: it is received, or what is lost fades.

use super::CellNode;
use crate::events;
use crate::message::ReplyError;
use crate::node_events::count_lost;
use processor::Block;
use std::sync::atomic::Ordering;
use units::Nanos;

/// Longest wait, offline, before the node looks if there is another process.
const OFFLINE_WAIT: Nanos = Nanos(5_000_000);

impl CellNode {
    /// Receives the reply to block `wanted` into `samples`, live within `limit`, and returns true if it came.
    pub(super) fn receive(&mut self, wanted: u64, limit: Nanos) -> bool {
        if wanted < self.first || !self.was_sent(wanted) {
            return false;
        }
        let limit = match self.is_offline {
            true => OFFLINE_WAIT,
            false => limit,
        };
        self.link
            .status
            .waits
            .store(self.is_offline, Ordering::Relaxed);
        let got = loop {
            let Some(end) = &mut self.end else {
                break false;
            };
            let (frames, outputs, events) = (self.block, &self.outputs, &mut self.events);
            let (mut samples, mut not_finite, mut lost) = (self.samples.iter_mut(), 0, 0);
            let got = end.receive(wanted, limit, |mut words| {
                for (port, channels) in outputs.iter().enumerate() {
                    let len = match channels {
                        0 => events::words(frames),
                        channels => channels * frames,
                    };
                    let here = words.split_off(..len).unwrap_or_default();
                    if *channels == 0 {
                        lost += events.receive(here, port, frames);
                        continue;
                    }
                    for (word, sample) in here.iter().zip(&mut samples) {
                        let value = f32::from_bits(*word);
                        *sample = if value.is_finite() { value } else { 0.0 };
                        not_finite += u64::from(!value.is_finite());
                    }
                }
            });
            count_lost(&self.link.status, lost);
            if not_finite > 0 {
                let count = &self.link.status.not_finite;
                count.fetch_add(not_finite, Ordering::Relaxed);
            }
            match got {
                Ok(()) => break true,
                Err(ReplyError::Late) if !self.is_offline => break false,
                // The monitor ends a process that hangs, and sends other rings or gives it up.
                Err(ReplyError::Late) if self.link.fresh.is_empty() => {
                    if self.link.status.is_gone() {
                        break false;
                    }
                }
                Err(ReplyError::Late) => break false,
                Err(error) => {
                    self.give_up(error);
                    break false;
                }
            }
        };
        self.link.status.waits.store(false, Ordering::Relaxed);
        got
    }

    /// Writes the outputs: the reply, or a fade from the last one.
    pub(super) fn write(&mut self, block: &mut Block<'_>, has_reply: bool) {
        let frames = self.block;
        let step = 1.0 / frames as f32;
        let mut channels = self.samples.chunks_exact(frames).zip(&mut self.last);
        let (is_fading_in, is_silent) = (has_reply && self.was_lost, !has_reply && self.was_lost);
        for mut output in block.outputs() {
            for (channel, (from, last)) in (0..output.channels().count()).zip(&mut channels) {
                let to = output.channel(channel);
                match has_reply {
                    true if is_fading_in => {
                        for (at, (to, from)) in (1u32..).zip(to.iter_mut().zip(from)) {
                            *to = from * (at as f32 * step);
                        }
                    }
                    true => to.copy_from_slice(from),
                    false if is_silent => to.fill(0.0),
                    false => {
                        for (at, to) in (1u32..).zip(to.iter_mut()) {
                            *to = *last * (1.0 - at as f32 * step);
                        }
                    }
                }
                *last = to[frames - 1];
            }
        }
        match has_reply {
            true => self.events.send(block),
            false if is_silent => {}
            false => self.events.release(block),
        }
        self.was_lost = !has_reply;
    }
}
