//! [`Library`]: finds libasound and binds its functions.
//!
//! The functions have two versions each where ALSA 0.9 changed them; a look-up by name gives the newer one, which takes
//! its results by pointer.

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::sync::OnceLock;

use libloading::os::unix::Library as Handle;

use super::stream::Errno;
use crate::DriverError;
use crate::loaded::{self, functions, text};
use crate::sequencer::SequencerFunctions;

/// `snd_pcm_t`.
#[repr(C)]
pub(crate) struct RawPcm(c_void);

/// `snd_pcm_hw_params_t`.
#[repr(C)]
pub(crate) struct RawHwParams(c_void);

/// `snd_pcm_sw_params_t`.
#[repr(C)]
pub(crate) struct RawSwParams(c_void);

type OfPcm = unsafe extern "C" fn(*mut RawPcm) -> c_int;
type OfHw = unsafe extern "C" fn(*mut RawPcm, *mut RawHwParams) -> c_int;
type OfHwValue = unsafe extern "C" fn(*mut RawPcm, *mut RawHwParams, c_int) -> c_int;
type OfHwRate = unsafe extern "C" fn(*mut RawPcm, *mut RawHwParams, c_uint, c_int) -> c_int;
type OfHwNear =
    unsafe extern "C" fn(*mut RawPcm, *mut RawHwParams, *mut c_ulong, *mut c_int) -> c_int;
type OfSwValue = unsafe extern "C" fn(*mut RawPcm, *mut RawSwParams, c_ulong) -> c_int;
type Transfer = unsafe extern "C" fn(*mut RawPcm, *mut c_void, c_ulong) -> c_long;
type PlanarTransfer = unsafe extern "C" fn(*mut RawPcm, *mut *mut c_void, c_ulong) -> c_long;
type GetRange = unsafe extern "C" fn(*const RawHwParams, *mut c_uint) -> c_int;
type GetRate = unsafe extern "C" fn(*const RawHwParams, *mut c_uint, *mut c_int) -> c_int;
type OnError = unsafe extern "C" fn(*const c_char, c_int, *const c_char, c_int, *const c_char);

functions! {
    /// The functions of libasound, as in `alsa/pcm.h`, `alsa/control.h` and `alsa/error.h`.
    Functions {
        snd_asoundlib_version: unsafe extern "C" fn() -> *const c_char,
        snd_lib_error_set_handler: unsafe extern "C" fn(Option<OnError>) -> c_int,
        snd_strerror: unsafe extern "C" fn(c_int) -> *const c_char,
        snd_card_next: unsafe extern "C" fn(*mut c_int) -> c_int,
        snd_card_get_name: unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int,
        snd_device_name_hint: unsafe extern "C" fn(c_int, *const c_char, *mut *mut *mut c_void) -> c_int,
        snd_device_name_get_hint: unsafe extern "C" fn(*const c_void, *const c_char) -> *mut c_char,
        snd_device_name_free_hint: unsafe extern "C" fn(*mut *mut c_void) -> c_int,
        snd_pcm_open: unsafe extern "C" fn(*mut *mut RawPcm, *const c_char, c_int, c_int) -> c_int,
        snd_pcm_close: OfPcm,
        snd_pcm_link: unsafe extern "C" fn(*mut RawPcm, *mut RawPcm) -> c_int,
        snd_pcm_prepare: OfPcm,
        snd_pcm_start: OfPcm,
        snd_pcm_drop: OfPcm,
        snd_pcm_resume: OfPcm,
        snd_pcm_wait: unsafe extern "C" fn(*mut RawPcm, c_int) -> c_int,
        snd_pcm_avail_update: unsafe extern "C" fn(*mut RawPcm) -> c_long,
        snd_pcm_readi: Transfer,
        snd_pcm_writei: Transfer,
        snd_pcm_mmap_readi: Transfer,
        snd_pcm_mmap_writei: Transfer,
        snd_pcm_readn: PlanarTransfer,
        snd_pcm_writen: PlanarTransfer,
        snd_pcm_mmap_readn: PlanarTransfer,
        snd_pcm_mmap_writen: PlanarTransfer,
        snd_pcm_hw_params_malloc: unsafe extern "C" fn(*mut *mut RawHwParams) -> c_int,
        snd_pcm_hw_params_free: unsafe extern "C" fn(*mut RawHwParams),
        snd_pcm_hw_params_any: OfHw,
        snd_pcm_hw_params: OfHw,
        snd_pcm_hw_params_set_access: OfHwValue,
        snd_pcm_hw_params_set_format: OfHwValue,
        snd_pcm_hw_params_set_channels_near: unsafe extern "C" fn(*mut RawPcm, *mut RawHwParams, *mut c_uint) -> c_int,
        snd_pcm_hw_params_set_rate: OfHwRate,
        snd_pcm_hw_params_test_rate: OfHwRate,
        snd_pcm_hw_params_set_rate_near: unsafe extern "C" fn(*mut RawPcm, *mut RawHwParams, *mut c_uint, *mut c_int) -> c_int,
        snd_pcm_hw_params_set_period_size_near: OfHwNear,
        snd_pcm_hw_params_set_buffer_size_near: unsafe extern "C" fn(*mut RawPcm, *mut RawHwParams, *mut c_ulong) -> c_int,
        snd_pcm_hw_params_get_period_size: unsafe extern "C" fn(*const RawHwParams, *mut c_ulong, *mut c_int) -> c_int,
        snd_pcm_hw_params_get_buffer_size: unsafe extern "C" fn(*const RawHwParams, *mut c_ulong) -> c_int,
        snd_pcm_hw_params_get_channels_min: GetRange,
        snd_pcm_hw_params_get_channels_max: GetRange,
        snd_pcm_hw_params_get_rate_min: GetRate,
        snd_pcm_hw_params_get_rate_max: GetRate,
        snd_pcm_sw_params_malloc: unsafe extern "C" fn(*mut *mut RawSwParams) -> c_int,
        snd_pcm_sw_params_free: unsafe extern "C" fn(*mut RawSwParams),
        snd_pcm_sw_params_current: unsafe extern "C" fn(*mut RawPcm, *mut RawSwParams) -> c_int,
        snd_pcm_sw_params_get_boundary: unsafe extern "C" fn(*const RawSwParams, *mut c_ulong) -> c_int,
        snd_pcm_sw_params_set_start_threshold: OfSwValue,
        snd_pcm_sw_params_set_avail_min: OfSwValue,
        snd_pcm_sw_params: unsafe extern "C" fn(*mut RawPcm, *mut RawSwParams) -> c_int,
    }
}

/// libasound, open to the end of the program.
pub(crate) struct Library {
    pub(crate) functions: Functions,
    /// Those of the sequencer, where the library was built with it.
    pub(crate) sequencer: Option<SequencerFunctions>,
    _handle: Handle,
}

impl Library {
    /// The library, opened when it is first asked for.
    pub(crate) fn load() -> Result<&'static Self, DriverError> {
        static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
        let found = LIBRARY.get_or_init(Self::open);
        found.as_ref().ok_or(DriverError::NoAlsaLibrary)
    }

    fn open() -> Option<Self> {
        // SAFETY: opening libasound runs its initialisers, which expect nothing of us.
        let handle = unsafe { loaded::open("libasound.so.2".as_ref()) }?;
        // SAFETY: it goes by libasound's name, and stays open: it lies in a static beside its functions.
        let functions = unsafe { Functions::find(&handle) }.ok()?;
        // SAFETY: as above.
        let sequencer = unsafe { SequencerFunctions::find(&handle) }.ok();
        // SAFETY: the handler lives as long as the program. The header's type has further arguments (`...`) that it does
        // not read; the C calling conventions of Linux pass the first ones alike, and the caller removes them all.
        unsafe { (functions.snd_lib_error_set_handler)(Some(ignore_message)) };
        Some(Self {
            functions,
            sequencer,
            _handle: handle,
        })
    }

    /// Version of the library.
    pub(crate) fn version(&self) -> String {
        // SAFETY: it gives a constant C string.
        unsafe { text((self.functions.snd_asoundlib_version)()) }
    }

    /// libasound's own words for an error.
    pub(crate) fn describe(&self, error: Errno) -> String {
        // SAFETY: it takes any number and gives a C string that stays.
        unsafe { text((self.functions.snd_strerror)(-error.0)) }
    }
}

/// Ignores a message. Without this libasound writes to standard error; errors come as a status as well.
unsafe extern "C" fn ignore_message(
    _: *const c_char,
    _: c_int,
    _: *const c_char,
    _: c_int,
    _: *const c_char,
) {
}

/// A status of libasound as a result.
///
/// Real-time: hot.
pub(crate) fn check(status: c_int) -> Result<c_int, Errno> {
    match status {
        0.. => Ok(status),
        failed => Err(Errno(failed.saturating_neg())),
    }
}

/// A number of frames of libasound as a result.
///
/// Real-time: hot.
pub(crate) fn check_frames(frames: c_long) -> Result<usize, Errno> {
    usize::try_from(frames).map_err(|_| Errno(i32::try_from(-frames).unwrap_or(libc::EIO)))
}
