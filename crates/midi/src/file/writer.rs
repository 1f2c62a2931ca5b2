//! `midi_writer`: writes its events to a standard MIDI file, and passes them on.
//!
//! ```text
//! audio thread: EventWriter ──▶ ring ──▶ MidiFileWriter: background task ──▶ disk
//! ```
//!
//! The file (format 0) begins with the first block that is played and ends when the engine stops; it is complete after
//! each look of the task at the ring, so it outlives a killed program. A tick is no longer than a frame, so `midi_file`
//! plays every event at the frame at which it was written. A beat is one of the session's tempo at its begin, or an
//! half, a quarter and so on where the format has no room for ticks as short.
//!
//! Channel messages are written as they are, texts as texts, notes on channel 1, or with `mpe` each on a channel of its
//! own. What a file cannot hold is counted and reported as lost: a value, and without `mpe` a bend, a timbre or a pitch
//! between two keys. In a rehearsal no file is touched.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, events; `out` is `in` |
//! | parameters | `file`, `mpe` |
//! | latency, tail | none |

use super::notes_to_midi::NotesToMidi;
use super::smf::{FileEventBody, TickUnit};
use super::smf_bytes::{header, put_end, put_event};
use files::NewFile;
use graph::{Kind, Param, PortSpec};
use processor::{
    BackgroundTask, Block, Event, EventBody, EventTarget, FileLog, FileProblem, Gauge, MakeContext,
    MakeError, Mode, ProcessStatus, Processor, Setup, TaskStatus,
};
use rtrb::{Consumer, Producer};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use units::SampleRate;

/// Events that the ring holds, whatever the block.
const MIN_RING: usize = 1 << 13;
/// Time between two looks at the ring while the callback waits for the disk.
const WAIT: Duration = Duration::from_micros(500);
/// Place of the track's length in the file, and of its content.
const LENGTH_AT: u64 = 18;
const CONTENT_AT: u64 = 22;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::events("in")],
        outputs: vec![PortSpec::events("out")],
        params: vec![
            Param::file("file", true).doc(
                "MIDI file, relative to the session's folder; an existing one is overwritten.",
            ),
            Param::flag("mpe")
                .doc("Gives each note a channel of its own, for bends of single notes."),
        ],
        writes: Some("file"),
        duplicable: false,
        typical_ns: 30,
        ..Kind::new(
            "midi_writer",
            "Writes its events to a standard MIDI file, and passes them on.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let Some(file) = creation.node.text("file").filter(|file| !file.is_empty()) else {
        return Err(MakeError::param("file", "`midi_writer` needs `file`"));
    };
    let path = creation.folder.join(file);
    // Created in `setup` only: checking a session changes nothing.
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
        let message = format!("{} cannot be a file: make its folder first", path.display());
        return Err(MakeError::param("file", message));
    }
    Ok(Box::new(MidiWriter {
        path,
        has_mpe: creation.node.flag("mpe"),
        bpm: creation.tempo.bpm(0.0),
        end: None,
    }))
}

struct MidiWriter {
    path: PathBuf,
    has_mpe: bool,
    bpm: f64,
    end: Option<EventWriter>,
}

/// An event and its frame, counted from the first block.
type RecordedEvent = (u64, EventBody);

/// Shared by both threads.
#[derive(Default)]
struct WriterState {
    /// Frames that have been played.
    frames: AtomicU64,
    /// Events that found no room.
    lost: AtomicU64,
    /// True once the disk has refused a write.
    failed: AtomicBool,
}

/// The end on the audio thread.
struct EventWriter {
    ring: Producer<RecordedEvent>,
    shared: Arc<WriterState>,
    frames: u64,
    lost: u64,
    /// Another thread writes the file beside the callback.
    is_live: bool,
    gauge: Gauge,
}

impl EventWriter {
    /// Writes the block's events to the ring. Returns false if one was lost.
    fn write_block(&mut self, block: &Block<'_>) -> bool {
        let before = self.lost;
        for event in block.events().iter().filter(is_input) {
            if self.is_live && block.time_for_late_results().is_none() {
                self.wait_for_room();
            }
            let at = self.frames + u64::from(event.frame);
            if self.ring.push((at, event.body)).is_err() {
                self.lost += 1;
                self.gauge.set(self.lost as f32);
            }
        }
        self.frames += block.frames() as u64;
        // Relaxed: the task reads both after the ring's last events, or again later.
        self.shared.lost.store(self.lost, Ordering::Relaxed);
        self.shared.frames.store(self.frames, Ordering::Relaxed);
        self.lost == before
    }

    /// Waits until an event fits into the ring. Returns if the disk has failed.
    ///
    /// Real-time: waits, on the thread that writes the file.
    fn wait_for_room(&mut self) {
        // Relaxed: nothing else travels with the flag.
        while self.ring.is_full()
            && !self.ring.is_abandoned()
            && !self.shared.failed.load(Ordering::Relaxed)
        {
            std::thread::sleep(WAIT);
        }
    }
}

fn is_input(event: &Event) -> bool {
    matches!(event.target, EventTarget::Input(_))
}

/// The end that writes the file, in the background.
struct MidiFileWriter {
    ring: Consumer<RecordedEvent>,
    shared: Arc<WriterState>,
    path: PathBuf,
    clock: WriterClock,
    file: RecordingFile,
    notes: NotesToMidi,
    log: FileLog,
    /// Tick of the last event.
    tick: u64,
    /// Bytes of the track, without its end.
    length: u64,
    bytes: Vec<u8>,
}

/// State of the file.
enum RecordingFile {
    /// Nothing was played yet: the file is as it was.
    Planned,
    Running(NewFile),
    /// In a rehearsal, after an error, and at the end: events are discarded.
    None,
}

/// From frames to ticks.
#[derive(Clone, Copy, Debug)]
struct WriterClock {
    /// Microseconds a beat, and ticks a beat.
    tempo: u32,
    ticks: u16,
    rate: SampleRate,
}

impl WriterClock {
    fn new(bpm: f64, rate: SampleRate) -> Self {
        let mut tempo = (60e6 / bpm).round().clamp(1.0, 16_777_215.0) as u32;
        loop {
            let ticks = (u64::from(tempo) * u64::from(rate.hz())).div_ceil(1_000_000);
            match u16::try_from(ticks) {
                Ok(ticks) if ticks < 1 << 15 => {
                    let ticks = ticks.max(1);
                    return Self { tempo, ticks, rate };
                }
                _ => tempo /= 2,
            }
        }
    }

    /// The tick nearest to a frame.
    fn tick(&self, frame: u64) -> u64 {
        let twice = u128::from(frame) * u128::from(self.ticks) * 2_000_000;
        let unit = u128::from(self.tempo) * u128::from(self.rate.hz());
        u64::try_from((twice + unit) / (2 * unit)).unwrap_or(u64::MAX)
    }
}

impl MidiWriter {
    fn open(&self, setup: &mut Setup<'_>) -> EventWriter {
        let log = setup.services.file_log();
        let file = match setup.mode {
            Mode::Live | Mode::Offline => self.plan(&log),
            Mode::DryRun => RecordingFile::None,
        };
        let room = MIN_RING.max(16 * setup.block.count());
        let (producer, consumer) = rt::ring::ring(room);
        let shared = Arc::new(WriterState::default());
        setup.services.spawn_background(Box::new(MidiFileWriter {
            ring: consumer,
            shared: shared.clone(),
            path: self.path.clone(),
            clock: WriterClock::new(self.bpm, setup.rate),
            file,
            notes: NotesToMidi::new(self.has_mpe),
            log,
            tick: 0,
            length: 0,
            bytes: Vec::new(),
        }));
        EventWriter {
            ring: producer,
            shared,
            frames: 0,
            lost: 0,
            is_live: setup.mode == Mode::Live,
            gauge: setup.services.gauge("lost"),
        }
    }

    /// A file that cannot be written is reported now.
    fn plan(&self, log: &FileLog) -> RecordingFile {
        let is_stream = self
            .path
            .metadata()
            .is_ok_and(|metadata| !metadata.is_file());
        let refused = match files::check_writable(&self.path) {
            Err(error) => Some(error.to_string()),
            Ok(()) if is_stream => Some("a MIDI file states its length at its begin".into()),
            Ok(()) => None,
        };
        match refused {
            Some(reason) => {
                let message = format!("cannot write {}: {reason}", self.path.display());
                log.report(FileProblem::Lost(message));
                RecordingFile::None
            }
            None => RecordingFile::Planned,
        }
    }
}

impl MidiFileWriter {
    /// Writes what the ring holds.
    fn write(&mut self) -> io::Result<()> {
        // Relaxed: a block that is not counted yet is written the next time.
        let frames = self.shared.frames.load(Ordering::Relaxed);
        if matches!(self.file, RecordingFile::Planned) {
            if frames == 0 {
                return Ok(());
            }
            self.begin()?;
        }
        while let Ok((frame, body)) = self.ring.pop() {
            self.add(frame, body);
        }
        self.flush(0)
    }

    fn begin(&mut self) -> io::Result<()> {
        let mut file = NewFile::create(&self.path)?;
        file.write_all(&header(0, 1, TickUnit::Beat(self.clock.ticks)))?;
        file.write_all(b"MTrk\0\0\0\0")?;
        put_event(&mut self.bytes, 0, &FileEventBody::Tempo(self.clock.tempo));
        for message in self.notes.preamble() {
            put_event(&mut self.bytes, 0, &FileEventBody::Message(*message));
        }
        self.file = RecordingFile::Running(file);
        self.flush(0)?;
        match &mut self.file {
            RecordingFile::Running(file) => file.publish().map(drop),
            _ => Ok(()),
        }
    }

    fn add(&mut self, frame: u64, body: EventBody) {
        let tick = self.clock.tick(frame).max(self.tick);
        let (now, bytes) = (&mut self.tick, &mut self.bytes);
        let mut put = |body: &FileEventBody| {
            put_event(bytes, tick - *now, body);
            *now = tick;
        };
        match body {
            EventBody::Text(text) => put(&FileEventBody::Text(text.text().to_owned())),
            body => self.notes.translate(body, |message| {
                put(&FileEventBody::Message(message));
            }),
        }
    }

    /// Writes the bytes that have gathered, and the end of the track `delta` ticks after its last event.
    fn flush(&mut self, delta: u64) -> io::Result<()> {
        let RecordingFile::Running(file) = &mut self.file else {
            self.bytes.clear();
            return Ok(());
        };
        if self.bytes.is_empty() && delta == 0 {
            return Ok(());
        }
        let begin = self.length;
        self.length += self.bytes.len() as u64;
        put_end(&mut self.bytes, delta);
        let all = u32::try_from(begin + self.bytes.len() as u64);
        let all = all.map_err(|_| io::Error::other("a track has at most 4 GB"))?;
        file.seek(SeekFrom::Start(CONTENT_AT + begin))?;
        file.write_all(&self.bytes)?;
        file.seek(SeekFrom::Start(LENGTH_AT))?;
        file.write_all(&all.to_be_bytes())?;
        self.bytes.clear();
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write()?;
        if !matches!(self.file, RecordingFile::Running(_)) {
            return Ok(());
        }
        // Relaxed: the other end has processed its last block before the engine ends this one.
        let frames = self.shared.frames.load(Ordering::Relaxed);
        let last = self.clock.tick(frames);
        self.flush(last.saturating_sub(self.tick))?;
        let path = self.path.display();
        // Relaxed: as above.
        let lost = self.shared.lost.load(Ordering::Relaxed);
        if lost > 0 {
            let message = format!("{path} lacks {lost} events: the disk was too slow");
            self.log.report(FileProblem::Lost(message));
        }
        let lost = self.notes.lost();
        if lost > 0 {
            let message = format!(
                "{path} lacks {lost} events that MIDI does not have: values, or (without `mpe`) bends of single notes"
            );
            self.log.report(FileProblem::Lost(message));
        }
        if let RecordingFile::Running(file) = std::mem::replace(&mut self.file, RecordingFile::None)
            && let Some(kept) = file.commit()?
        {
            self.log.report(FileProblem::kept(&self.path, &kept));
        }
        Ok(())
    }

    fn fail(&mut self, error: &io::Error) {
        let message = format!("cannot write {}: {error}", self.path.display());
        self.log.report(FileProblem::Lost(message));
        self.file = RecordingFile::None;
        // Relaxed: nothing else travels with the flag.
        self.shared.failed.store(true, Ordering::Relaxed);
    }
}

impl BackgroundTask for MidiFileWriter {
    fn poll(&mut self) -> TaskStatus {
        let closed = self.ring.is_abandoned();
        match self.write() {
            Err(error) => {
                self.fail(&error);
                TaskStatus::Done
            }
            Ok(()) if closed => {
                self.end();
                TaskStatus::Done
            }
            Ok(()) => TaskStatus::Idle,
        }
    }

    fn end(&mut self) {
        if let Err(error) = self.finish() {
            self.fail(&error);
        }
    }
}

impl Processor for MidiWriter {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        // Dropping this end finishes the old file, so that it cannot write into the new one.
        self.end = None;
        self.end = Some(self.open(setup));
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let is_complete = match &mut self.end {
            // Relaxed: nothing else travels with the flag.
            Some(end) if !end.shared.failed.load(Ordering::Relaxed) => end.write_block(block),
            _ => false,
        };
        if !is_complete {
            block.count_late();
        }
        for event in block.events().iter().filter(is_input) {
            block.send_event(0, event.frame, event.body);
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_no_longer_than_a_frame_at_any_rate_and_tempo() {
        for hz in [8000, 44_100, 48_000, 96_000, 768_000] {
            for bpm in [1.0, 33.3, 60.0, 120.0, 133.7, 999.0] {
                let rate = SampleRate::new(hz).unwrap();
                let clock = WriterClock::new(bpm, rate);
                let ticks_a_second = u64::from(clock.ticks) * 1_000_000;
                assert!(ticks_a_second >= u64::from(hz) * u64::from(clock.tempo));
            }
        }
    }
}
