//! [`SequencerPeriods`]: MIDI of the periods of a device, on its audio thread: times become frames, and frames times.

use std::sync::Arc;

use rtrb::{Consumer, Producer};
use units::{Nanos, SampleRate};

use crate::midi::MidiLossCounts;
use crate::{AudioCallback, MidiEvent, MidiParser};

/// Messages, or parts of one, that wait in a ring.
const RING: usize = 4096;
/// Time that a message may need from the sequencer to our ring. One that is stamped later belongs to the next period.
const INPUT_SLACK_NS: f64 = 1_000_000.0;
/// Shortest time from the begin of a period to when its first frame is sent.
const MIN_OUTPUT_LEAD_NS: f64 = 2_000_000.0;
/// Bandwidth of the loop that filters the begins of periods.
const BANDWIDTH_HZ: f64 = 1.0;

/// Bytes of one part of a message.
pub(super) const PART_BYTES: usize = 12;

/// Bytes of one port at one time: a message, or a part of one whose other parts are its neighbours in the ring.
#[derive(Clone, Copy)]
pub(super) struct MidiPart {
    /// Time by the driver's clock.
    pub(super) at: Nanos,
    pub(super) port: u16,
    pub(super) len: u8,
    pub(super) bytes: [u8; PART_BYTES],
}

impl MidiPart {
    /// Splits a message.
    ///
    /// Real-time: hot.
    pub(super) fn split(
        at: Nanos,
        port: u16,
        message: &[u8],
    ) -> impl ExactSizeIterator<Item = Self> {
        message.chunks(PART_BYTES).map(move |chunk| {
            let mut bytes = [0; PART_BYTES];
            bytes[..chunk.len()].copy_from_slice(chunk);
            Self {
                at,
                port,
                len: chunk.len() as u8,
                bytes,
            }
        })
    }

    /// Its bytes.
    ///
    /// Real-time: hot.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len).min(PART_BYTES)]
    }
}

/// The other ends of the rings, for the thread that talks to the sequencer.
pub(super) struct ThreadEnds {
    pub(super) to_audio: Producer<MidiPart>,
    pub(super) from_audio: Consumer<MidiPart>,
}

/// MIDI of the periods of a device.
pub(crate) struct SequencerPeriods {
    input: Consumer<MidiPart>,
    output: Producer<MidiPart>,
    parsers: Box<[MidiParser]>,
    losses: Arc<MidiLossCounts>,
    begins: PeriodFilter,
    /// Begins of this period and of the one before.
    begin: f64,
    previous: f64,
    frames: usize,
}

impl SequencerPeriods {
    /// Rings between the audio thread and the sequencer's, for `inputs` ports.
    pub(super) fn new(
        inputs: usize,
        rate: SampleRate,
        losses: Arc<MidiLossCounts>,
    ) -> (Self, ThreadEnds) {
        let (to_audio, input) = rt::ring::ring(RING);
        let (output, from_audio) = rt::ring::ring(RING);
        let periods = Self {
            input,
            output,
            parsers: (0..inputs).map(|_| MidiParser::default()).collect(),
            losses,
            begins: PeriodFilter::new(rate),
            begin: 0.0,
            previous: 0.0,
            frames: 0,
        };
        let ends = ThreadEnds {
            to_audio,
            from_audio,
        };
        (periods, ends)
    }

    /// Begins a period of `frames` frames at `now`.
    ///
    /// Real-time: hot.
    pub(crate) fn begin(&mut self, now: Nanos, frames: usize) {
        self.previous = self.begin;
        self.begin = self.begins.advance(now, frames);
        self.frames = frames;
        if self.begins.is_restarted {
            self.previous = self.begin - self.begins.duration(frames);
        }
    }

    /// Gives the callback what came for `frames` frames of this period from `from` on, as that of its next block from
    /// `to` on.
    ///
    /// Real-time: hot.
    pub(crate) fn read(
        &mut self,
        callback: &mut dyn AudioCallback,
        from: usize,
        to: usize,
        frames: usize,
    ) {
        let length = (self.begin - self.previous).max(1.0);
        let frame_of = |at: Nanos| {
            let since = self.begins.since_origin(at) + INPUT_SLACK_NS - self.previous;
            // What is late comes first.
            (since / length * self.frames as f64).max(0.0) as usize
        };
        while let Ok(part) = self.input.peek() {
            let frame = frame_of(part.at);
            if frame >= from + frames {
                break;
            }
            let port = part.port;
            let frame = (frame.saturating_sub(from) + to) as u32;
            if let Some(parser) = self.parsers.get_mut(usize::from(port)) {
                parser.parse_counted(part.bytes(), &self.losses, |message| {
                    callback.push_midi(MidiEvent {
                        port,
                        frame,
                        message,
                    });
                });
            }
            let _ = self.input.pop();
        }
    }

    /// Takes what the callback sends in `frames` frames of its last block from `from` on, for this period from `to` on.
    ///
    /// Real-time: hot.
    pub(crate) fn write(
        &mut self,
        callback: &mut dyn AudioCallback,
        from: usize,
        to: usize,
        frames: usize,
    ) {
        let lead = self.begins.duration(self.frames).max(MIN_OUTPUT_LEAD_NS);
        let (begins, begin) = (&self.begins, self.begin + lead);
        let (output, losses) = (&mut self.output, &self.losses);
        callback.pop_midi((from + frames) as u32, &mut |event| {
            let frame = (event.frame as usize).saturating_sub(from) + to;
            let at = begins.to_time(begin + begins.duration(frame));
            let parts = MidiPart::split(at, event.port, event.message);
            if output.slots() < parts.len() {
                losses.add_no_room();
                return;
            }
            for part in parts {
                // There is room: only this thread fills the ring.
                let _ = output.push(part);
            }
        });
    }
}

/// A delay-locked loop: begins of periods without the jitter of the thread that sees them (after F. Adriaensen, "Using a
/// DLL to filter time", 2005). Where a begin is more than a period off, it starts anew.
struct PeriodFilter {
    rate: SampleRate,
    /// Time of the first begin. What follows counts from there, in nanoseconds.
    origin: Option<Nanos>,
    /// Next begin as the loop expects it.
    next: f64,
    /// Length of a period of `frames` as the loop has learned it.
    period: f64,
    frames: usize,
    is_restarted: bool,
}

impl PeriodFilter {
    fn new(rate: SampleRate) -> Self {
        Self {
            rate,
            origin: None,
            next: 0.0,
            period: 0.0,
            frames: 0,
            is_restarted: true,
        }
    }

    /// Nominal duration of `frames` frames, in nanoseconds.
    fn duration(&self, frames: usize) -> f64 {
        frames as f64 * 1e9 / f64::from(self.rate.hz())
    }

    fn since_origin(&self, at: Nanos) -> f64 {
        let origin = self.origin.unwrap_or(at);
        match at.0.checked_sub(origin.0) {
            Some(since) => since as f64,
            None => -((origin.0 - at.0) as f64),
        }
    }

    fn to_time(&self, since: f64) -> Nanos {
        let origin = self.origin.unwrap_or_default().0;
        Nanos(origin.saturating_add_signed(since as i64))
    }

    /// The begin of a period of `frames` frames that was seen at `now`.
    fn advance(&mut self, now: Nanos, frames: usize) -> f64 {
        self.origin.get_or_insert(now);
        let (seen, nominal) = (self.since_origin(now), self.duration(frames));
        let error = seen - self.next;
        self.is_restarted = frames != self.frames || error.abs() > nominal;
        if self.is_restarted {
            (self.frames, self.period) = (frames, nominal);
            self.next = seen + nominal;
            return seen;
        }
        let omega = (std::f64::consts::TAU * BANDWIDTH_HZ * nominal / 1e9).min(0.5);
        let begin = self.next;
        self.next += std::f64::consts::SQRT_2 * omega * error + self.period;
        self.period += omega * omega * error;
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: SampleRate = SampleRate::new(48_000).unwrap();

    #[derive(Default)]
    struct MidiRecorder {
        /// Absolute frames.
        events: Vec<(u64, u16, Vec<u8>)>,
        begin: u64,
        to_send: Vec<(u32, Vec<u8>)>,
    }

    impl AudioCallback for MidiRecorder {
        fn process(&mut self, _: crate::CallbackInfo, _: &[&[f32]], _: &mut [&mut [f32]]) {}

        fn push_midi(&mut self, event: MidiEvent<'_>) {
            let at = self.begin + u64::from(event.frame);
            self.events.push((at, event.port, event.message.to_vec()));
        }

        fn pop_midi(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
            for (frame, message) in self.to_send.extract_if(.., |(frame, _)| *frame < end) {
                send(MidiEvent {
                    port: 0,
                    frame,
                    message: &message,
                });
            }
        }
    }

    /// Begin of period `number` of 480 frames (10 ms), seen up to 2 ms late.
    fn seen(number: u64) -> Nanos {
        Nanos(5_000_000_000 + number * 10_000_000 + number * 7_919 % 200 * 10_000)
    }

    #[test]
    fn a_message_is_late_by_one_period_and_the_slack_however_the_audio_thread_jitters() {
        let losses = Arc::new(MidiLossCounts::default());
        let (mut periods, mut ends) = SequencerPeriods::new(1, RATE, losses);
        let mut heard = MidiRecorder::default();
        let mut delays = Vec::new();
        for number in 0..2_000_u64 {
            // A note somewhere in the period that ends now.
            let at = Nanos(5_000_000_000 + number * 10_000_000 + number * 13_331 % 9_000_000);
            let now = seen(number + 1);
            for part in MidiPart::split(at, 0, &[0x90, 60, 1]) {
                ends.to_audio.push(part).ok().unwrap();
            }
            periods.begin(now, 480);
            heard.begin = (number + 1) * 480;
            periods.read(&mut heard, 0, 0, 200);
            heard.begin += 200;
            periods.read(&mut heard, 200, 0, 280);
            for (frame, _, message) in heard.events.drain(..) {
                assert_eq!(message, [0x90, 60, 1]);
                let sent = (at.0 - 5_000_000_000) as f64 * 48e-6;
                delays.push((number, frame as f64 - sent));
            }
        }
        assert!(delays.len() >= 1_990, "{}", delays.len());
        // Once the loop has settled. A thread that is late by 1 ms on average makes this 1 ms less.
        let settled = delays.iter().filter(|(number, _)| *number > 500);
        let settled: Vec<f64> = settled.map(|(_, delay)| *delay).collect();
        let min = settled.iter().copied().fold(f64::MAX, f64::min);
        let max = settled.iter().copied().fold(f64::MIN, f64::max);
        assert!(max - min < 24.0 && min > 450.0, "{min} to {max} frames");
    }

    #[test]
    fn a_message_that_is_sent_has_the_time_of_its_frame_one_period_later() {
        let losses = Arc::new(MidiLossCounts::default());
        let (mut periods, mut ends) = SequencerPeriods::new(0, RATE, losses.clone());
        let sysex: Vec<u8> = [0xf0].into_iter().chain(0..30).chain([0xf7]).collect();
        let mut heard = MidiRecorder {
            to_send: vec![(0, vec![0x90, 1, 2]), (48, sysex.clone())],
            ..MidiRecorder::default()
        };
        periods.begin(Nanos(1_000), 480);
        periods.write(&mut heard, 0, 0, 48);
        periods.write(&mut heard, 48, 48, 432);
        let parts: Vec<MidiPart> = std::iter::from_fn(|| ends.from_audio.pop().ok()).collect();
        let at = |ms: u64| Nanos(1_000 + ms * 1_000_000);
        assert_eq!((parts[0].at, parts[0].bytes()), (at(10), &[0x90, 1, 2][..]));
        assert!(parts[1..].iter().all(|part| part.at == at(11)));
        let bytes: Vec<u8> = parts[1..]
            .iter()
            .flat_map(MidiPart::bytes)
            .copied()
            .collect();
        assert_eq!(bytes, sysex);
        // Nobody empties the ring: what finds no room is counted.
        for _ in 0..RING + 5 {
            heard.to_send.push((0, vec![0xf8]));
        }
        periods.write(&mut heard, 0, 0, 48);
        assert_eq!(losses.get().no_room, 5);
    }

    #[test]
    fn after_lost_sound_the_filter_starts_anew_and_what_is_late_comes_first() {
        let losses = Arc::new(MidiLossCounts::default());
        let (mut periods, mut ends) = SequencerPeriods::new(1, RATE, losses);
        let mut heard = MidiRecorder::default();
        periods.begin(Nanos(1_000_000_000), 480);
        for at in [900_000_000, 1_500_000_000] {
            for part in MidiPart::split(Nanos(at), 0, &[0xf8]) {
                ends.to_audio.push(part).ok().unwrap();
            }
        }
        periods.begin(Nanos(2_000_000_000), 480);
        periods.read(&mut heard, 0, 0, 480);
        let frames: Vec<u64> = heard.events.iter().map(|event| event.0).collect();
        assert_eq!(frames, [0, 0]);
    }
}
