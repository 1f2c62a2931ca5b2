//! Notes of a `sampler`: the voices that an event or a MIDI message begins, bends and ends.

use super::Sampler;
use super::held::HeldNote;
use super::voice::SampleVoice;
use super::zone::Trigger;
use processor::EventBody;

/// Bit of the note of a MIDI key, which no other note has.
const KEY: u64 = 1 << 40;
/// Bit of the voices that the end of a note began: they belong to no note any more.
const ENDED: u64 = 1 << 41;

/// The note of a MIDI key.
fn key_note(channel: u8, key: u8) -> u64 {
    KEY | u64::from(channel) << 8 | u64::from(key)
}

/// The MIDI channel of a note, if it is that of a key.
fn channel_of(note: u64) -> Option<u8> {
    (note & KEY != 0).then_some((note >> 8) as u8 & 0x0f)
}

impl Sampler {
    pub(super) fn handle_note(&mut self, body: EventBody) {
        match body {
            EventBody::NoteOn {
                id,
                pitch,
                velocity,
            } => self.begin(u64::from(id), f64::from(pitch), f64::from(velocity), 0.0),
            EventBody::NoteOff { id, .. } => self.release(u64::from(id)),
            EventBody::NoteChoke { id } => self.cut(|note| note == u64::from(id)),
            EventBody::NoteBend { id, semitones } => {
                self.bend(|note| note == u64::from(id), f64::from(semitones));
            }
            EventBody::Midi([status, first, second]) => {
                self.handle_midi(status, first & 0x7f, second & 0x7f);
            }
            _ => {}
        }
    }

    fn handle_midi(&mut self, status: u8, first: u8, second: u8) {
        let channel = status & 0x0f;
        let is_here = move |note: u64| channel_of(note) == Some(channel);
        let mask = 1u16 << channel;
        match (status & 0xf0, first, second) {
            (0x90, key, 1..) => {
                let bend = self.keys.bends[usize::from(channel)];
                let velocity = f64::from(second) / 127.0;
                self.begin(key_note(channel, key), f64::from(key), velocity, bend);
            }
            (0x80 | 0x90, key, _) => self.release(key_note(channel, key)),
            (0xb0, 64, 64..) => self.keys.pedals |= mask,
            (0xb0, 64, _) => {
                self.keys.pedals &= !mask;
                for voice in &mut self.voices {
                    if voice.is_released && is_here(voice.note) {
                        voice.release(&self.zones[voice.zone]);
                    }
                }
                let is_over = |held: &HeldNote| held.is_released && is_here(held.note);
                while let Some(held) = self.held.take(is_over) {
                    self.end_note(held, Trigger::Release);
                }
            }
            (0xb0, 120, _) => self.cut(is_here),
            (0xb0, 123, _) => {
                for key in 0..128 {
                    self.release(key_note(channel, key));
                }
            }
            (0xe0, low, high) => {
                let value = f64::from(u16::from(high) << 7 | u16::from(low));
                let bend = (value - 8192.0) / 8192.0 * self.bend_range;
                self.keys.bends[usize::from(channel)] = bend;
                self.bend(is_here, bend);
            }
            _ => {}
        }
    }

    /// Begins all zones that take a note.
    fn begin(&mut self, note: u64, pitch: f64, velocity: f64, bend: f64) {
        let key = libm::floor(pitch + 0.5);
        if !(0.0..128.0).contains(&key) || velocity.is_nan() {
            return;
        }
        let velocity = velocity.clamp(0.0, 1.0);
        // A key that is pressed again ends its first note.
        if note & KEY != 0 {
            self.release_now(note);
        }
        let held = HeldNote {
            note,
            pitch,
            velocity,
            bend,
            since: self.keys.frames,
            is_released: false,
        };
        self.held.push(held);
        self.begin_zones(held, Trigger::Attack);
    }

    /// Begins the samples for the end of a note.
    fn end_note(&mut self, held: HeldNote, trigger: Trigger) {
        let note = held.note | ENDED;
        self.begin_zones(HeldNote { note, ..held }, trigger);
    }

    fn begin_zones(&mut self, held: HeldNote, trigger: Trigger) {
        let HeldNote {
            note,
            pitch,
            velocity,
            bend,
            since,
            ..
        } = held;
        let key = libm::floor(pitch + 0.5) as usize;
        let number = self.keys.notes;
        self.keys.notes = number.wrapping_add(1);
        let seconds = self.keys.frames.wrapping_sub(since) as f64 / self.rate;
        for at in 0..self.of_key[key].len() {
            let index = self.of_key[key][at] as usize;
            let zone = &self.zones[index].zone;
            if zone.trigger != trigger || !zone.takes(pitch, velocity) || !self.is_turn(index) {
                continue;
            }
            let zone = &self.zones[index].zone;
            let (group, lost_db) = (zone.group, zone.decay_db * seconds);
            if let Some(group) = group {
                self.end_group(group, number);
            }
            let place = self.place();
            let order = (note, number);
            let mut voice =
                SampleVoice::new(index, &self.zones[index], order, (pitch, bend), velocity);
            if trigger != Trigger::Attack {
                voice.lower(lost_db);
            }
            self.voices[place] = voice;
        }
    }

    /// Counts a note of a zone, and returns true if it is one that it plays.
    fn is_turn(&mut self, index: usize) -> bool {
        let zone = &self.zones[index].zone;
        let count = self.turns[index];
        self.turns[index] = (count + 1) % zone.turns;
        count % zone.turns + 1 == zone.turn
    }

    /// Ends the voices that a note of `group` ends, but those of the note itself.
    fn end_group(&mut self, group: i64, number: u64) {
        for voice in &mut self.voices {
            if voice.number != number && self.zones[voice.zone].zone.off_by == Some(group) {
                voice.cut();
            }
        }
    }

    /// The place for one more voice. Where too many sound another begins to end.
    fn place(&mut self) -> usize {
        let sounding = self.voices.iter().filter(|voice| !voice.is_cut()).count();
        if sounding >= self.limit {
            let all = self.voices.iter_mut().filter(|voice| !voice.is_cut());
            if let Some(oldest) = all.min_by_key(|voice| (!voice.is_ending(), voice.number)) {
                oldest.cut();
            }
        }
        let idle = self.voices.iter().position(SampleVoice::is_idle);
        idle.unwrap_or_else(|| {
            let all = self.voices.iter().enumerate();
            let oldest = all.min_by_key(|(_, voice)| (!voice.is_cut(), voice.number));
            oldest.map_or(0, |(place, _)| place)
        })
    }

    /// Releases a note, or lets the pedal hold it.
    fn release(&mut self, note: u64) {
        let is_pressed = |held: &HeldNote| held.note == note && !held.is_released;
        if let Some(held) = self.held.find(is_pressed) {
            held.is_released = true;
            let held = *held;
            self.end_note(held, Trigger::ReleaseKey);
        }
        let is_held = channel_of(note).is_some_and(|it| self.keys.pedals & (1 << it) != 0);
        if !is_held {
            return self.release_now(note);
        }
        for voice in self.voices.iter_mut().filter(|voice| voice.note == note) {
            voice.is_released = true;
        }
    }

    fn release_now(&mut self, note: u64) {
        for voice in self.voices.iter_mut().filter(|voice| !voice.is_idle()) {
            if voice.note == note {
                voice.is_released = true;
                voice.release(&self.zones[voice.zone]);
            }
        }
        if let Some(held) = self.held.take(|held| held.note == note) {
            self.end_note(held, Trigger::Release);
        }
    }

    fn cut(&mut self, is_meant: impl Fn(u64) -> bool) {
        for voice in self.voices.iter_mut().filter(|voice| is_meant(voice.note)) {
            voice.cut();
        }
        while self.held.take(|held| is_meant(held.note)).is_some() {}
    }

    fn bend(&mut self, is_meant: impl Fn(u64) -> bool, semitones: f64) {
        if semitones.is_nan() {
            return;
        }
        let semitones = semitones.clamp(-192.0, 192.0);
        for voice in self.voices.iter_mut().filter(|voice| !voice.is_idle()) {
            if is_meant(voice.note) {
                voice.bend(&self.zones[voice.zone], semitones);
            }
        }
        for held in self.held.iter_mut().filter(|held| is_meant(held.note)) {
            held.bend = semitones;
        }
    }
}
