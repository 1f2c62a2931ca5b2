//! [`Stream`]: the calls of a PCM device that the audio thread makes. libasound is behind them, or a test double.

use std::fmt;

use super::format::SampleFormat;

/// A negative answer of libasound, as the positive number of `errno.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    /// No room or nothing to read now.
    pub(crate) const AGAIN: Self = Self(libc::EAGAIN);
    /// A signal came.
    pub(crate) const INTERRUPTED: Self = Self(libc::EINTR);
    /// The device had nothing to play, or no room for what it recorded.
    pub(crate) const XRUN: Self = Self(libc::EPIPE);
    /// The machine sleeps or slept.
    pub(crate) const SUSPENDED: Self = Self(libc::ESTRPIPE);

    /// Returns true if the device is gone.
    pub(crate) fn is_gone(self) -> bool {
        matches!(self.0, libc::ENODEV | libc::ENXIO | libc::EBADFD)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

/// One direction of a device, open and with its parameters set. No call waits but [`Stream::wait`].
pub(crate) trait Stream: Send {
    /// Makes it ready to start, with an empty buffer.
    fn prepare(&mut self) -> Result<(), Errno>;
    /// Starts it.
    fn start(&mut self) -> Result<(), Errno>;
    /// Stops it at once.
    fn stop(&mut self) -> Result<(), Errno>;
    /// Takes it up again after the machine slept; [`Errno::AGAIN`] while it still does.
    fn resume(&mut self) -> Result<(), Errno>;
    /// Waits until a period can be read or written, at most `timeout_ms`. Returns false if none can.
    fn wait(&mut self, timeout_ms: i32) -> Result<bool, Errno>;
    /// Number of frames that can be read or written now.
    fn available(&mut self) -> Result<usize, Errno>;
    /// Reads up to `count` frames to `buffer`, from its frame `from` on, and returns how many.
    fn read(
        &mut self,
        buffer: &mut StreamBuffer,
        from: usize,
        count: usize,
    ) -> Result<usize, Errno>;
    /// Writes up to `count` frames of `buffer`, from its frame `from` on, and returns how many.
    fn write(&mut self, buffer: &StreamBuffer, from: usize, count: usize) -> Result<usize, Errno>;
}

/// Facts about an open stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamParams {
    pub(crate) format: SampleFormat,
    pub(crate) is_planar: bool,
    pub(crate) is_mapped: bool,
    pub(crate) channels: usize,
    pub(crate) rate: u32,
    pub(crate) period: usize,
    pub(crate) buffer: usize,
}

/// One period of a device in its own format, interleaved or planar.
#[derive(Debug)]
pub(crate) struct StreamBuffer {
    params: StreamParams,
    /// Frames that it holds.
    frames: usize,
    bytes: Box<[u8]>,
}

impl StreamBuffer {
    /// A buffer of `frames` frames, silent.
    ///
    /// Real-time: setup.
    pub(crate) fn new(params: StreamParams, frames: usize) -> Self {
        let bytes = vec![0; frames * params.channels * params.format.size()];
        Self {
            params,
            frames,
            bytes: bytes.into_boxed_slice(),
        }
    }

    /// Index of the first byte of a sample.
    fn at(&self, channel: usize, frame: usize) -> usize {
        let sample = match self.params.is_planar {
            true => channel * self.frames + frame,
            false => frame * self.params.channels + channel,
        };
        sample * self.params.format.size()
    }

    /// The bytes of `count` frames from frame `from` on: of one channel if planar, else of all.
    ///
    /// Real-time: hot.
    pub(crate) fn bytes(&self, channel: usize, from: usize, count: usize) -> &[u8] {
        let size = self.len_of(count);
        &self.bytes[self.at(channel, from)..][..size]
    }

    /// As [`StreamBuffer::bytes`], to be written.
    ///
    /// Real-time: hot.
    pub(crate) fn bytes_mut(&mut self, channel: usize, from: usize, count: usize) -> &mut [u8] {
        let (at, size) = (self.at(channel, from), self.len_of(count));
        &mut self.bytes[at..][..size]
    }

    fn len_of(&self, count: usize) -> usize {
        let channels = if self.params.is_planar {
            1
        } else {
            self.params.channels
        };
        count * channels * self.params.format.size()
    }

    /// Converts one period of each channel to the device's format.
    ///
    /// Real-time: hot.
    pub(crate) fn encode(&mut self, channels: &[Box<[f32]>]) {
        let format = self.params.format;
        for (channel, samples) in channels.iter().enumerate() {
            for (frame, &sample) in samples.iter().enumerate().take(self.frames) {
                let at = self.at(channel, frame);
                format.write(sample, &mut self.bytes[at..]);
            }
        }
    }

    /// Converts one period of each channel from the device's format.
    ///
    /// Real-time: hot.
    pub(crate) fn decode(&self, channels: &mut [Box<[f32]>]) {
        for (channel, samples) in channels.iter_mut().enumerate() {
            for (frame, sample) in samples.iter_mut().enumerate().take(self.frames) {
                *sample = self
                    .params
                    .format
                    .read(&self.bytes[self.at(channel, frame)..]);
            }
        }
    }

    /// Makes it silent.
    ///
    /// Real-time: hot.
    pub(crate) fn silence(&mut self) {
        self.bytes.fill(0);
    }
}
