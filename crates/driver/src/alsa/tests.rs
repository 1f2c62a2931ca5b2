//! The driver on a double of a device that fails where a test likes, and on ALSA's own `null` and `file`.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use units::{Frames, Nanos, SampleRate};

use super::device::Device;
use super::format::SampleFormat;
use super::stream::{Errno, Stream, StreamBuffer, StreamParams};
use super::{open, thread};
use crate::clock::Clock;
use crate::own_thread::{ThreadDevice, ThreadFlags};
use crate::{AudioCallback, CallbackInfo, DriverConfig, DriverInfo, DriverState};

/// A clock that is at the time to which it slept last.
#[derive(Clone, Default)]
struct VirtualClock(Arc<Mutex<u64>>);

impl Clock for VirtualClock {
    fn now(&mut self) -> Nanos {
        Nanos(*self.0.lock().unwrap())
    }

    fn sleep_until(&mut self, time: Nanos) {
        let mut now = self.0.lock().unwrap();
        *now = time.0.max(*now);
    }
}

/// State of a double: calls that came, and answers that it will give.
#[derive(Default)]
struct Script {
    /// Answers of the next writes: an error, or the largest number of frames that is taken.
    writes: VecDeque<Result<usize, Errno>>,
    available: VecDeque<Result<usize, Errno>>,
    resumes: VecDeque<Errno>,
    written: Vec<u8>,
    calls: Vec<&'static str>,
    /// Answers of every write, if there is one.
    always: Option<Errno>,
}

struct Double {
    script: Arc<Mutex<Script>>,
    clock: VirtualClock,
    period_ns: u64,
}

impl Double {
    fn call(&self, name: &'static str) -> Result<(), Errno> {
        self.script.lock().unwrap().calls.push(name);
        Ok(())
    }
}

impl Stream for Double {
    fn prepare(&mut self) -> Result<(), Errno> {
        self.call("prepare")
    }

    fn start(&mut self) -> Result<(), Errno> {
        self.call("start")
    }

    fn stop(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn resume(&mut self) -> Result<(), Errno> {
        self.call("resume")?;
        let next = self.script.lock().unwrap().resumes.pop_front();
        next.map_or(Ok(()), Err)
    }

    fn wait(&mut self, _: i32) -> Result<bool, Errno> {
        self.call("wait")?;
        Ok(true)
    }

    fn available(&mut self) -> Result<usize, Errno> {
        *self.clock.0.lock().unwrap() += self.period_ns;
        let next = self.script.lock().unwrap().available.pop_front();
        next.unwrap_or(Ok(1_000))
    }

    fn read(&mut self, to: &mut StreamBuffer, from: usize, count: usize) -> Result<usize, Errno> {
        to.bytes_mut(0, from, count).fill(0);
        Ok(count)
    }

    fn write(&mut self, buffer: &StreamBuffer, from: usize, count: usize) -> Result<usize, Errno> {
        let mut script = self.script.lock().unwrap();
        let answer = match script.always {
            Some(error) => Err(error),
            None => script.writes.pop_front().unwrap_or(Ok(count)),
        };
        let taken = answer?.min(count);
        script
            .written
            .extend_from_slice(buffer.bytes(0, from, taken));
        Ok(taken)
    }
}

fn params(period: usize, buffer: usize) -> StreamParams {
    StreamParams {
        format: SampleFormat::S16,
        is_planar: false,
        is_mapped: false,
        channels: 1,
        rate: 48_000,
        period,
        buffer,
    }
}

/// Counts frames from 1 on, as words of 16 bits.
struct Counter {
    next: i32,
    blocks: SyncSender<u32>,
}

impl AudioCallback for Counter {
    fn process(&mut self, info: CallbackInfo, _: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let frames = outputs.first().map_or(0, |output| output.len());
        for at in 0..frames {
            let word = self.next + at as i32;
            outputs
                .iter_mut()
                .for_each(|output| output[at] = word as f32 / 32_768.0);
        }
        self.next += frames as i32;
        let _ = self.blocks.send(info.xruns);
    }
}

/// Plays `blocks` blocks of 48 frames on the double; the xruns of each, the state, and the double's script.
fn play(script: Script, buffer: usize, blocks: usize) -> (Vec<u32>, DriverState, Script) {
    let script = Arc::new(Mutex::new(script));
    let clock = VirtualClock::default();
    let double = Double {
        script: script.clone(),
        clock: clock.clone(),
        period_ns: 1_000_000,
    };
    let flags = Arc::new(ThreadFlags::default());
    let stop = flags.clone();
    let rate = SampleRate::new(48_000).unwrap();
    let is_stopping = Box::new(move || stop.stop.load(Ordering::Relaxed));
    let playback: (Box<dyn Stream>, _) = (Box::new(double), params(48, buffer));
    let device = Device::new(Some(playback), None, false, rate, clock, is_stopping);
    let config = DriverConfig {
        outputs: 1,
        priority: None,
        ..DriverConfig::new("test", Frames(48))
    };
    let info = DriverInfo {
        name: "alsa",
        server: "the double".to_owned(),
        rate,
        buffer_size: Frames(0),
        adapter_latency: Frames(0),
        device_latency: Frames(0),
        priority: None,
        has_midi: false,
        refused: Vec::new(),
    };
    let of_thread = ThreadDevice {
        info,
        flags,
        midi: None,
        describe_end: thread::describe_end,
    };
    let opened = thread::open(&config, device, of_thread, None).unwrap();
    let (sender, receiver) = sync_channel(0);
    let counter = Counter {
        next: 1,
        blocks: sender,
    };
    let running = opened.start(Box::new(counter)).unwrap();
    let mut xruns = Vec::new();
    while xruns.len() < blocks && running.state() == DriverState::Playing {
        if let Ok(count) = receiver.recv_timeout(std::time::Duration::from_millis(1)) {
            xruns.push(count);
        }
    }
    let state = running.state();
    drop(receiver);
    running.stop();
    let script = std::mem::take(&mut *script.lock().unwrap());
    (xruns, state, script)
}

fn words(bytes: &[u8]) -> Vec<i16> {
    let word = |pair: &[u8]| i16::from_le_bytes([pair[0], pair[1]]);
    bytes.chunks_exact(2).map(word).collect()
}

fn restarts(script: &Script) -> usize {
    script.calls.iter().filter(|call| **call == "start").count()
}

#[test]
fn short_writes_and_full_buffers_lose_nothing() {
    let script = Script {
        writes: [
            Ok(1),
            Err(Errno::AGAIN),
            Ok(13),
            Ok(0),
            Err(Errno::INTERRUPTED),
            Ok(7),
        ]
        .into(),
        ..Script::default()
    };
    let (xruns, state, script) = play(script, 96, 10);
    assert_eq!((xruns, state), (vec![0; 10], DriverState::Playing));
    let words = words(&script.written);
    assert!(
        words[..96].iter().all(|word| *word == 0),
        "two periods of silence"
    );
    assert!(
        words[96..]
            .iter()
            .zip(1..)
            .all(|(word, n)| i32::from(*word) == n)
    );
    assert!(words.len() >= 96 + 9 * 48);
}

#[test]
fn an_xrun_starts_the_device_anew_and_is_counted_once() {
    let script = Script {
        writes: [Ok(48), Ok(48), Ok(48), Err(Errno::XRUN)].into(),
        ..Script::default()
    };
    let (xruns, state, script) = play(script, 96, 6);
    assert_eq!(
        (xruns, state),
        (vec![0, 0, 1, 0, 0, 0], DriverState::Playing)
    );
    assert_eq!(restarts(&script), 2);
}

#[test]
fn a_device_that_was_suspended_is_resumed_and_started_anew() {
    let script = Script {
        available: [Ok(48), Err(Errno::SUSPENDED)].into(),
        resumes: [Errno::AGAIN, Errno::AGAIN, Errno(libc::ENOSYS)].into(),
        ..Script::default()
    };
    let (xruns, state, script) = play(script, 96, 4);
    assert_eq!((xruns, state), (vec![0, 1, 0, 0], DriverState::Playing));
    assert_eq!(restarts(&script), 2);
    assert_eq!(
        script
            .calls
            .iter()
            .filter(|call| **call == "resume")
            .count(),
        3
    );
}

#[test]
fn a_device_that_is_gone_ends_the_driver_with_the_reason() {
    let script = Script {
        available: [Ok(48), Err(Errno(libc::ENODEV))].into(),
        ..Script::default()
    };
    let (_, state, _) = play(script, 96, 100);
    let DriverState::Ended { reason } = state else {
        panic!("it plays");
    };
    assert!(reason.starts_with("the double is gone"), "{reason}");
}

#[test]
fn a_device_that_always_fails_ends_the_driver() {
    let script = Script {
        always: Some(Errno::XRUN),
        ..Script::default()
    };
    let (xruns, state, _) = play(script, 96, 100);
    assert_eq!(xruns, []);
    let DriverState::Ended { reason } = state else {
        panic!("it plays");
    };
    assert!(reason.contains("loses sound again and again"), "{reason}");
}

#[test]
fn a_device_that_takes_nothing_ends_the_driver() {
    let script = Script {
        always: Some(Errno::AGAIN),
        ..Script::default()
    };
    let (_, state, _) = play(script, 96, 100);
    let DriverState::Ended { reason } = state else {
        panic!("it plays");
    };
    assert!(reason.contains("stands still"), "{reason}");
}

#[test]
fn a_device_with_too_little_room_is_waited_for() {
    let script = Script {
        available: [Ok(0), Ok(47), Ok(1), Ok(48)].into(),
        ..Script::default()
    };
    let (xruns, _, script) = play(script, 96, 3);
    assert_eq!(xruns, [0, 0, 0]);
    assert!(script.calls.contains(&"wait"));
}

#[test]
fn odd_periods_are_adapted_to_the_block() {
    // A buffer of 70 frames holds two periods of 35, blocks have 48.
    let (_, state, script) = play(Script::default(), 70, 20);
    assert_eq!(state, DriverState::Playing);
    let words = words(&script.written);
    let first = words.iter().position(|word| *word != 0).unwrap();
    // The buffer's silence, and the adapter's 48 - gcd(35, 48) frames.
    assert_eq!(first, 70 + 47);
    assert!(
        words[first..]
            .iter()
            .zip(1..)
            .all(|(word, n)| i32::from(*word) == n)
    );
}

#[test]
fn a_device_that_does_not_wait_is_paced_by_the_clock_as_soon_as_that_is_known() {
    let clock = VirtualClock::default();
    let double = Double {
        script: Arc::default(),
        clock: clock.clone(),
        period_ns: 0,
    };
    let rate = SampleRate::new(48_000).unwrap();
    // Two periods of 48 frames, 1 ms each.
    let playback: (Box<dyn Stream>, _) = (Box::new(double), params(48, 96));
    let is_stopping = Box::new(|| false);
    let mut device = Device::new(
        Some(playback),
        None,
        false,
        rate,
        clock.clone(),
        is_stopping,
    );
    device.restart().unwrap();
    let mut times = Vec::new();
    for _ in 0..60 {
        device.begin().unwrap();
        times.push(clock.clone().now().0);
        device.end().unwrap();
    }
    // 16 periods and two buffers are measured. From then on each has its time.
    let paced = (0..40).map(|n| n * 1_000_000);
    let wanted: Vec<u64> = std::iter::repeat_n(0, 20).chain(paced).collect();
    assert_eq!(times, wanted);
    assert_eq!(device.take_xruns(), 0);
}

/// Returns false, and says so, where there is no libasound.
fn has_alsa(test: &str) -> bool {
    let is_here = super::library::Library::load().is_ok();
    if !is_here {
        let message = format!("SKIPPED {test}: needs the Debian package libasound2");
        eprintln!("{message}");
        if let Some(path) = std::env::var_os("DIVISI_SKIPS") {
            use std::io::Write;
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.create(true).append(true).open(path).unwrap();
            writeln!(file, "{message}").unwrap();
        }
    }
    is_here
}

fn on(device: &str, block: u32) -> DriverConfig {
    DriverConfig {
        server: Some(device.to_owned()),
        outputs: 1,
        ..DriverConfig::new("test", Frames(block))
    }
}

#[test]
fn null_plays_on() {
    if !has_alsa("null_plays_on") {
        return;
    }
    let opened = open(&on("null", 480)).unwrap();
    assert_eq!(
        (opened.info().name, opened.info().rate.hz()),
        ("alsa", 48_000)
    );
    let (blocks, receiver) = sync_channel(0);
    let running = opened.start(Box::new(Counter { next: 1, blocks })).unwrap();
    for _ in 0..60 {
        receiver.recv().unwrap();
    }
    assert_eq!(running.state(), DriverState::Playing);
    drop(receiver);
    running.stop();
}

#[test]
fn what_is_played_on_a_file_device_is_in_the_file_bit_for_bit() {
    if !has_alsa("what_is_played_on_a_file_device_is_in_the_file_bit_for_bit") {
        return;
    }
    let path = std::env::temp_dir().join(format!("divisi-alsa-{}.raw", std::process::id()));
    let device = format!("file:'{}',raw", path.display());
    // ALSA defines `file` over `null`.
    let opened = open(&on(&device, 96)).unwrap();
    let queued = opened.info().device_latency.count();
    let (blocks, receiver) = sync_channel(0);
    let running = opened.start(Box::new(Counter { next: 1, blocks })).unwrap();
    for _ in 0..100 {
        receiver.recv().unwrap();
    }
    drop(receiver);
    running.stop();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let words: Vec<i32> = bytes
        .chunks_exact(4)
        .map(|word| i32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    assert!(words.len() >= queued + 99 * 96, "{} frames", words.len());
    assert!(words[..queued].iter().all(|word| *word == 0));
    // Word n of 16 bits is n times 2^16 in 32 bits.
    assert!(
        words[queued..]
            .iter()
            .zip(1..)
            .all(|(word, n)| *word == n << 16)
    );
}

#[test]
fn a_device_that_does_not_exist_is_refused_with_its_name() {
    if !has_alsa("a_device_that_does_not_exist_is_refused_with_its_name") {
        return;
    }
    let message = open(&on("nosuch", 64)).err().unwrap().to_string();
    assert!(message.contains("nosuch (playback)"), "{message}");
    assert!(message.contains("`divisi devices` lists"), "{message}");
}

#[test]
fn capture_and_playback_play_together_on_null() {
    if !has_alsa("capture_and_playback_play_together_on_null") {
        return;
    }
    let config = DriverConfig {
        inputs: 2,
        ..on("null", 64)
    };
    let (blocks, receiver) = sync_channel(0);
    let opened = open(&config).unwrap();
    let running = opened.start(Box::new(Counter { next: 1, blocks })).unwrap();
    for _ in 0..50 {
        receiver.recv().unwrap();
    }
    assert_eq!(running.state(), DriverState::Playing);
    drop(receiver);
    running.stop();
}

#[test]
fn the_list_of_devices_has_null_with_its_channels_and_rates() {
    if !has_alsa("the_list_of_devices_has_null_with_its_channels_and_rates") {
        return;
    }
    let list = super::probe();
    let null = list
        .iter()
        .find(|one| one.description.starts_with("null: "));
    let null = &null.expect("ALSA's hints name it").description;
    assert!(
        null.contains("playback of 1 or more channels, any from"),
        "{null}"
    );
}
