//! [`Device`]: the two streams of a device, period by period, with recovery from lost sound.
//!
//! ```text
//!   restart ─▶ wait ─▶ read ─▶ callback ─▶ write ─┐      XRUN, SUSPENDED ─▶ recover ─▶ restart, one xrun more
//!               ▲                                 │      gone, or no progress ─▶ the driver ends
//!               └─────────────────────────────────┘
//! ```
//!
//! A device that does not wait (`null`, or `file` over it) is noticed by its speed: it took [`MEASURED_PERIODS`] and
//! two buffers in less than half of their time. From then on the clock paces it.

use units::{Frames, Nanos, SampleRate};

use super::stream::{Errno, Stream, StreamBuffer, StreamParams};
use crate::clock::{BlockTimer, Clock};

/// Periods over which the speed of a device is measured, besides two buffers.
const MEASURED_PERIODS: usize = 16;
/// Longest single wait. Between two waits the thread looks whether it is to stop.
const WAIT_MS: i32 = 100;
/// Waits without progress until the device counts as dead.
const MAX_WAITS: u32 = 20;
/// Recoveries without a whole period between them until the device counts as dead.
const MAX_RECOVERIES: u32 = 32;
/// Waits for a machine that wakes up, of [`WAIT_MS`] each.
const MAX_RESUME_WAITS: u32 = 100;

/// One direction.
pub(super) struct DeviceStream {
    stream: Box<dyn Stream>,
    capacity: usize,
    buffer: StreamBuffer,
    /// Channels x frames of one period.
    pub(super) channels: Vec<Box<[f32]>>,
}

impl DeviceStream {
    fn new(stream: Box<dyn Stream>, params: StreamParams, period: usize) -> Self {
        Self {
            stream,
            capacity: params.buffer,
            buffer: StreamBuffer::new(params, period),
            channels: vec![vec![0.0; period].into_boxed_slice(); params.channels],
        }
    }
}

/// An open device.
pub(super) struct Device<C> {
    pub(super) playback: Option<DeviceStream>,
    pub(super) capture: Option<DeviceStream>,
    /// True if starting one stream starts the other.
    is_linked: bool,
    pub(super) period: usize,
    rate: SampleRate,
    clock: C,
    pace: Pace,
    recoveries: u32,
    /// Xruns since the last callback.
    xruns: u32,
    is_stopping: Box<dyn Fn() -> bool + Send>,
}

/// Measures the speed of a device, and replaces its waiting where it has none.
struct Pace {
    since: Nanos,
    periods: usize,
    measured: usize,
    timer: Option<BlockTimer>,
}

/// A stream with its parameters.
pub(super) type OpenStream = (Box<dyn Stream>, StreamParams);

impl<C: Clock> Device<C> {
    /// A device of at least one stream; both have one rate.
    pub(super) fn new(
        playback: Option<OpenStream>,
        capture: Option<OpenStream>,
        is_linked: bool,
        rate: SampleRate,
        mut clock: C,
        is_stopping: Box<dyn Fn() -> bool + Send>,
    ) -> Self {
        let params = || playback.iter().chain(&capture).map(|(_, params)| *params);
        let period = params().map(|one| one.period.min(one.buffer / 2));
        let period = period.min().unwrap_or(1).max(1);
        let buffer = params().map(|one| one.buffer / period).max().unwrap_or(0);
        let pace = Pace {
            since: clock.now(),
            periods: 0,
            measured: MEASURED_PERIODS + 2 * buffer,
            timer: None,
        };
        let side = |(stream, params)| DeviceStream::new(stream, params, period);
        Self {
            playback: playback.map(side),
            capture: capture.map(side),
            is_linked,
            period,
            rate,
            clock,
            pace,
            recoveries: 0,
            xruns: 0,
            is_stopping,
        }
    }

    /// Frames between the callback and the device, both directions together.
    pub(super) fn latency(&self) -> Frames {
        let queued = self
            .playback
            .as_ref()
            .map_or(0, |side| side.capacity / self.period * self.period);
        let read = self.capture.as_ref().map_or(0, |_| self.period);
        Frames((queued + read) as u32)
    }

    /// Xruns that were not reported yet.
    ///
    /// Real-time: hot.
    pub(super) fn take_xruns(&mut self) -> u32 {
        std::mem::take(&mut self.xruns)
    }

    /// Time by the clock of the driver.
    ///
    /// Real-time: hot.
    pub(super) fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    /// Time that one period lasts.
    pub(super) fn duration(&self) -> Nanos {
        Frames(self.period as u32).duration(self.rate)
    }

    /// Prepares both streams, fills the output with silence and starts them.
    ///
    /// Real-time: waits, on the device.
    pub(super) fn restart(&mut self) -> Result<(), Errno> {
        for side in self.playback.iter_mut().chain(&mut self.capture) {
            // A stream that does not run cannot be stopped: `prepare` tells if it is in order.
            let _ = side.stream.stop();
        }
        for side in self.playback.iter_mut().chain(&mut self.capture) {
            side.stream.prepare()?;
        }
        if let Some(side) = &mut self.playback {
            side.buffer.silence();
        }
        let capacity = self.playback.as_ref().map_or(0, |side| side.capacity);
        for _ in 0..capacity / self.period {
            self.write()?;
        }
        if !(self.is_linked && self.playback.is_some())
            && let Some(side) = &mut self.capture
        {
            side.stream.start()?;
        }
        if let Some(side) = &mut self.playback {
            side.stream.start()?;
        }
        self.pace.since = self.clock.now();
        self.pace.periods = 0;
        Ok(())
    }

    /// Waits for the next period and reads its input.
    ///
    /// Real-time: waits, on the device.
    pub(super) fn begin(&mut self) -> Result<(), Errno> {
        if let Some(timer) = &mut self.pace.timer {
            self.clock.sleep_until(timer.next_due());
            self.xruns += timer.advance(self.clock.now()).xruns;
        }
        if self.capture.is_some() {
            self.read()?;
        } else {
            self.wait_for_room()?;
        }
        Ok(())
    }

    /// Writes the output of the period.
    ///
    /// Real-time: waits, on the device.
    pub(super) fn end(&mut self) -> Result<(), Errno> {
        if let Some(side) = &mut self.playback {
            side.buffer.encode(&side.channels);
            self.write()?;
        }
        self.recoveries = 0;
        self.measure_pace();
        Ok(())
    }

    /// Takes the device up again after `error`, with one xrun more. An error that ends the driver comes back.
    ///
    /// Real-time: waits, on the device.
    pub(super) fn recover(&mut self, mut error: Errno) -> Result<(), Errno> {
        loop {
            self.recoveries += 1;
            if self.recoveries > MAX_RECOVERIES {
                return Err(error);
            }
            self.xruns = self.xruns.saturating_add(1);
            match error {
                Errno::XRUN => {}
                Errno::SUSPENDED => self.resume()?,
                other => return Err(other),
            }
            match self.restart() {
                Ok(()) => return Ok(()),
                Err(again) => error = again,
            }
        }
    }

    /// Stops both streams when the queued frames are played.
    ///
    /// Real-time: waits, on the device.
    pub(super) fn finish(&mut self) {
        let queued = self.latency().duration(self.rate).0.min(500_000_000);
        let now = self.clock.now().0;
        self.clock.sleep_until(Nanos(now + queued));
        for side in self.playback.iter_mut().chain(&mut self.capture) {
            // It is closed next; an error leaves nothing to do.
            let _ = side.stream.stop();
        }
    }

    /// Waits until the machine is awake. A device that cannot go on where it was is started anew by the caller.
    fn resume(&mut self) -> Result<(), Errno> {
        for side in self.playback.iter_mut().chain(&mut self.capture) {
            for _ in 0..MAX_RESUME_WAITS {
                match side.stream.resume() {
                    Err(Errno::AGAIN) if !(self.is_stopping)() => {
                        let now = self.clock.now().0;
                        self.clock
                            .sleep_until(Nanos(now + WAIT_MS as u64 * 1_000_000));
                    }
                    Err(gone) if gone.is_gone() => return Err(gone),
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn wait_for_room(&mut self) -> Result<(), Errno> {
        let quarter = self.duration().0 / 4;
        let Some(side) = &mut self.playback else {
            return Ok(());
        };
        let mut waits = Waits::default();
        while side.stream.available()? < self.period {
            let is_ready = waits.wait(&mut *side.stream, &*self.is_stopping)?;
            if is_ready && side.stream.available()? < self.period {
                // Woken early: no loop without a pause.
                let now = self.clock.now().0;
                self.clock.sleep_until(Nanos(now + quarter));
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), Errno> {
        let Some(side) = &mut self.capture else {
            return Ok(());
        };
        transfer(side, self.period, &*self.is_stopping, |side, done, left| {
            side.stream.read(&mut side.buffer, done, left)
        })?;
        side.buffer.decode(&mut side.channels);
        Ok(())
    }

    /// Writes the period that is in the buffer.
    fn write(&mut self) -> Result<(), Errno> {
        let Some(side) = &mut self.playback else {
            return Ok(());
        };
        transfer(side, self.period, &*self.is_stopping, |side, done, left| {
            side.stream.write(&side.buffer, done, left)
        })
    }

    fn measure_pace(&mut self) {
        self.pace.periods += 1;
        if self.pace.timer.is_some() || self.pace.periods < self.pace.measured {
            return;
        }
        let now = self.clock.now();
        let nominal = self.duration().0 * self.pace.periods as u64;
        if now.0.saturating_sub(self.pace.since.0) < nominal / 2 {
            let period = Frames(self.period as u32);
            self.pace.timer = Some(BlockTimer::new(period, self.rate, now));
        }
        self.pace.since = now;
        self.pace.periods = 0;
    }
}

/// Moves a period between the buffer of `side` and its device, in as many pieces as that likes. `piece` gets the frames that
/// are done and those that are left.
fn transfer(
    side: &mut DeviceStream,
    period: usize,
    is_stopping: &dyn Fn() -> bool,
    piece: impl Fn(&mut DeviceStream, usize, usize) -> Result<usize, Errno>,
) -> Result<(), Errno> {
    let (mut done, mut waits) = (0, Waits::default());
    while done < period {
        match piece(side, done, period - done) {
            Ok(count @ 1..) => {
                done = (done + count).min(period);
                waits = Waits::default();
            }
            Ok(_) | Err(Errno::AGAIN | Errno::INTERRUPTED) => {
                waits.wait(&mut *side.stream, is_stopping)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Counts the waits without progress.
#[derive(Default)]
struct Waits {
    count: u32,
}

impl Waits {
    fn wait(
        &mut self,
        stream: &mut dyn Stream,
        is_stopping: &dyn Fn() -> bool,
    ) -> Result<bool, Errno> {
        self.count += 1;
        if self.count > MAX_WAITS {
            return Err(Errno(libc::ETIMEDOUT));
        }
        if is_stopping() {
            return Err(Errno(libc::ECANCELED));
        }
        match stream.wait(WAIT_MS) {
            Err(Errno::INTERRUPTED | Errno::AGAIN) => Ok(false),
            answer => answer,
        }
    }
}
