//! [`SettingChase`]: what controllers, programs and bends are set to at a place of a file, to be sent after a jump to it.
//!
//! A table is kept for every [`STEP`] events, so that a jump looks at few of them on the audio thread.

use super::timeline::{TimedEvent, setting};
use std::collections::HashMap;

/// Events between two tables.
const STEP: usize = 256;
/// No setting.
const NONE: u32 = u32::MAX;

/// Settings of a file, and those that are to be sent.
pub(super) struct SettingChase {
    /// Of each event, the number of what it sets, or [`NONE`].
    slots: Vec<u32>,
    count: usize,
    /// Before every [`STEP`]th event and at the end, the event that last set each of `count` settings, or [`NONE`].
    tables: Vec<u32>,
    /// Events that are to be sent, in their order.
    pending: Vec<u32>,
}

impl SettingChase {
    /// The settings of `events`.
    ///
    /// Real-time: setup.
    pub(super) fn new(events: &[TimedEvent]) -> Self {
        let mut numbers = HashMap::new();
        let slots = events.iter().map(|event| {
            let Some(setting) = setting(event.body) else {
                return NONE;
            };
            let next = numbers.len() as u32;
            *numbers.entry(setting).or_insert(next)
        });
        let slots: Vec<u32> = slots.collect();
        let count = numbers.len();
        let (mut last, mut tables) = (vec![NONE; count], Vec::new());
        for (index, slot) in slots.iter().enumerate() {
            if index % STEP == 0 {
                tables.extend_from_slice(&last);
            }
            if let Some(place) = last.get_mut(*slot as usize) {
                *place = index as u32;
            }
        }
        tables.extend_from_slice(&last);
        Self {
            slots,
            count,
            tables,
            pending: Vec::with_capacity(2 * count),
        }
    }

    /// Has what is set before event `next` sent, in a later round of a loop also what the round before left.
    ///
    /// Real-time: hot.
    pub(super) fn begin(&mut self, round: u64, next: usize) {
        self.pending.clear();
        let count = self.count;
        if count == 0 || (round == 0 && next == 0) {
            return;
        }
        let table = (next / STEP).min(self.tables.len() / count - 1);
        self.pending
            .extend_from_slice(&self.tables[table * count..][..count]);
        for index in (table * STEP).min(next)..next.min(self.slots.len()) {
            if let Some(place) = self.pending.get_mut(self.slots[index] as usize) {
                *place = index as u32;
            }
        }
        if round > 0 {
            let end = self.tables.len() - count;
            for (place, last) in self.pending.iter_mut().zip(&self.tables[end..]) {
                if *place == NONE {
                    *place = *last;
                }
            }
        }
        self.pending.retain(|index| *index != NONE);
        self.pending.sort_unstable();
    }

    /// Index of the event that is number `sent` of those to be sent.
    ///
    /// Real-time: hot.
    pub(super) fn event(&self, sent: usize) -> Option<usize> {
        self.pending.get(sent).map(|index| *index as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use processor::EventBody;

    fn pending(chase: &mut SettingChase, round: u64, next: usize) -> Vec<usize> {
        chase.begin(round, next);
        (0..).map_while(|sent| chase.event(sent)).collect()
    }

    #[test]
    fn the_last_of_each_setting_before_a_place_is_found_as_by_looking_at_all_events() {
        let events: Vec<TimedEvent> = (0..1000_u32)
            .map(|n| TimedEvent {
                at: n.into(),
                body: EventBody::Midi(match n * n % 7 {
                    0 => [0xb0, (n % 5) as u8, 1],
                    1 => [0xc1, (n % 128) as u8, 0],
                    2 if n > 600 => [0xe2, 0, 64],
                    _ => [0x90, 60, 100],
                }),
            })
            .collect();
        let mut chase = SettingChase::new(&events);
        for next in [0, 1, 10, 255, 256, 257, 599, 768, 999, 1000] {
            let mut last = HashMap::new();
            for (index, event) in events[..next].iter().enumerate() {
                if let Some(setting) = setting(event.body) {
                    last.insert(setting, index);
                }
            }
            let mut wanted: Vec<usize> = last.into_values().collect();
            wanted.sort_unstable();
            assert_eq!(pending(&mut chase, 0, next), wanted, "{next}");
        }
        let end = pending(&mut chase, 0, 1000);
        assert_eq!(pending(&mut chase, 1, 0), end);
        assert!(pending(&mut SettingChase::new(&[]), 3, 0).is_empty());
    }
}
