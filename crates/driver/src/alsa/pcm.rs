//! [`Pcm`]: one direction of a device, through libasound.

use std::ffi::{CString, c_int, c_ulong, c_void};
use std::ptr::null_mut;

use super::library::{Library, RawPcm, check, check_frames};
use super::stream::{Errno, Stream, StreamBuffer, StreamParams};
use crate::DriverConfig;

/// Direction of a stream; its value is that of `snd_pcm_stream_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Playback = 0,
    Capture = 1,
}

impl Direction {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Playback => "playback",
            Self::Capture => "capture",
        }
    }
}

/// `SND_PCM_NONBLOCK`.
const NONBLOCK: c_int = 1;

/// An open PCM; it is closed when dropped.
pub(crate) struct Pcm {
    pub(super) library: &'static Library,
    pub(super) raw: *mut RawPcm,
    /// Access and channels, once they are set.
    pub(super) params: Option<StreamParams>,
    /// Pointers to the channels of a planar transfer.
    channels: Vec<*mut c_void>,
}

// SAFETY: a PCM may be used from any thread, one at a time; `&mut self` sees to that. The pointers mean nothing between
// two calls.
unsafe impl Send for Pcm {}

impl Pcm {
    /// Opens a device by its name, without waiting for one that is in use.
    pub(crate) fn open(
        library: &'static Library,
        name: &str,
        direction: Direction,
    ) -> Result<Self, Errno> {
        let name = CString::new(name).map_err(|_| Errno(libc::EINVAL))?;
        let mut raw = null_mut();
        let open = library.functions.snd_pcm_open;
        // SAFETY: the name is a C string, and `raw` is ours to write.
        check(unsafe { open(&mut raw, name.as_ptr(), direction as c_int, NONBLOCK) })?;
        if raw.is_null() {
            return Err(Errno(libc::ENODEV));
        }
        Ok(Self {
            library,
            raw,
            params: None,
            channels: Vec::with_capacity(DriverConfig::MAX_CHANNELS.into()),
        })
    }

    /// Has `other` start and stop with this one. Returns false if the devices cannot.
    pub(crate) fn link(&mut self, other: &mut Self) -> bool {
        // SAFETY: both are open.
        unsafe { (self.library.functions.snd_pcm_link)(self.raw, other.raw) == 0 }
    }

    /// Fills the list of channels.
    ///
    /// Real-time: hot: the list has room for as many channels as a driver opens.
    fn point_to(&mut self, count: usize, mut pointer: impl FnMut(usize) -> *mut c_void) {
        self.channels.clear();
        self.channels
            .extend((0..count.min(self.channels.capacity())).map(&mut pointer));
    }
}

impl Drop for Pcm {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody uses it after this. An error leaves nothing to do.
        unsafe { (self.library.functions.snd_pcm_close)(self.raw) };
    }
}

impl Stream for Pcm {
    fn prepare(&mut self) -> Result<(), Errno> {
        // SAFETY: it is open.
        check(unsafe { (self.library.functions.snd_pcm_prepare)(self.raw) }).map(drop)
    }

    fn start(&mut self) -> Result<(), Errno> {
        // SAFETY: it is open.
        check(unsafe { (self.library.functions.snd_pcm_start)(self.raw) }).map(drop)
    }

    fn stop(&mut self) -> Result<(), Errno> {
        // SAFETY: it is open.
        check(unsafe { (self.library.functions.snd_pcm_drop)(self.raw) }).map(drop)
    }

    fn resume(&mut self) -> Result<(), Errno> {
        // SAFETY: it is open.
        check(unsafe { (self.library.functions.snd_pcm_resume)(self.raw) }).map(drop)
    }

    fn wait(&mut self, timeout_ms: i32) -> Result<bool, Errno> {
        // SAFETY: it is open.
        check(unsafe { (self.library.functions.snd_pcm_wait)(self.raw, timeout_ms) })
            .map(|ready| ready > 0)
    }

    fn available(&mut self) -> Result<usize, Errno> {
        // SAFETY: it is open.
        check_frames(unsafe { (self.library.functions.snd_pcm_avail_update)(self.raw) })
    }

    fn read(&mut self, to: &mut StreamBuffer, from: usize, count: usize) -> Result<usize, Errno> {
        let Some(params) = self.params else {
            return Err(Errno(libc::EBADFD));
        };
        let f = &self.library.functions;
        let frames = count as c_ulong;
        if params.is_planar {
            self.point_to(params.channels, |channel| {
                to.bytes_mut(channel, from, count).as_mut_ptr().cast()
            });
            let read = if params.is_mapped {
                f.snd_pcm_mmap_readn
            } else {
                f.snd_pcm_readn
            };
            // SAFETY: it is open with planar access; each channel has room for `count` frames of its format.
            return check_frames(unsafe { read(self.raw, self.channels.as_mut_ptr(), frames) });
        }
        let read = if params.is_mapped {
            f.snd_pcm_mmap_readi
        } else {
            f.snd_pcm_readi
        };
        let bytes = to.bytes_mut(0, from, count);
        // SAFETY: it is open with interleaved access, and there is room for `count` frames of its format.
        check_frames(unsafe { read(self.raw, bytes.as_mut_ptr().cast(), frames) })
    }

    fn write(&mut self, buffer: &StreamBuffer, from: usize, count: usize) -> Result<usize, Errno> {
        let Some(params) = self.params else {
            return Err(Errno(libc::EBADFD));
        };
        let f = &self.library.functions;
        let frames = count as c_ulong;
        if params.is_planar {
            self.point_to(params.channels, |channel| {
                buffer
                    .bytes(channel, from, count)
                    .as_ptr()
                    .cast_mut()
                    .cast()
            });
            let write = if params.is_mapped {
                f.snd_pcm_mmap_writen
            } else {
                f.snd_pcm_writen
            };
            // SAFETY: it is open with planar access; each channel has `count` frames of its format, which are only read.
            return check_frames(unsafe { write(self.raw, self.channels.as_mut_ptr(), frames) });
        }
        let write = if params.is_mapped {
            f.snd_pcm_mmap_writei
        } else {
            f.snd_pcm_writei
        };
        let bytes = buffer.bytes(0, from, count);
        // SAFETY: it is open with interleaved access; there are `count` frames of its format, which are only read.
        check_frames(unsafe { write(self.raw, bytes.as_ptr().cast_mut().cast(), frames) })
    }
}
