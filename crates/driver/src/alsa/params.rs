//! Negotiation of a device's parameters: access, format, channels, rate, period, buffer.

use std::ffi::{c_int, c_uint, c_ulong};
use std::ptr::null_mut;

use super::format::SampleFormat;
use super::library::{Library, RawHwParams, RawSwParams, check};
use super::pcm::Pcm;
use super::stream::{Errno, StreamParams};
use crate::DriverConfig;

/// Rates that a message lists where a device can do them.
const COMMON_RATES: [c_uint; 12] = [
    8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000,
    384_000,
];

/// Rate that is asked for where none is named.
const USUAL_RATE: c_uint = 48_000;

/// Periods in a buffer: two play without a gap, the third is for devices whose transfers come in bursts (USB).
const PERIODS: c_ulong = 3;

/// Values of `snd_pcm_access_t`, with whether it is mapped and planar; the preferred one first.
const ACCESSES: [(c_int, bool, bool); 4] = [
    (0, true, false),
    (1, true, true),
    (3, false, false),
    (4, false, true),
];

/// Parameters that are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedParams {
    pub(crate) channels: u16,
    pub(crate) rate: Option<u32>,
    pub(crate) period: u32,
}

/// A device that cannot be set up, with the reason.
#[derive(Debug)]
pub(crate) enum ParamsError {
    /// A call failed; its purpose and its error.
    Call(&'static str, Errno),
    /// None of our formats.
    Format,
    /// Another rate; those that it can do.
    Rate(u32, String),
}

/// Abilities of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Abilities {
    pub(crate) channels: (u32, u32),
    pub(crate) rates: String,
}

/// A `snd_pcm_hw_params_t`, freed when dropped.
struct HwParams<'a> {
    pcm: &'a Pcm,
    raw: *mut RawHwParams,
}

impl Drop for HwParams<'_> {
    fn drop(&mut self) {
        // SAFETY: it was allocated by the library and is not used after this.
        unsafe { (self.pcm.library.functions.snd_pcm_hw_params_free)(self.raw) };
    }
}

impl<'a> HwParams<'a> {
    /// All that the device can do.
    fn any(pcm: &'a Pcm) -> Result<Self, Errno> {
        let f = &pcm.library.functions;
        let mut raw = null_mut();
        // SAFETY: `raw` is ours to write.
        check(unsafe { (f.snd_pcm_hw_params_malloc)(&mut raw) })?;
        let params = Self { pcm, raw };
        // SAFETY: both exist.
        check(unsafe { (f.snd_pcm_hw_params_any)(pcm.raw, params.raw) })?;
        Ok(params)
    }

    fn set_access(&self) -> Result<(bool, bool), Errno> {
        let set = self.pcm.library.functions.snd_pcm_hw_params_set_access;
        let mut refused = Errno(libc::EINVAL);
        for (access, is_mapped, is_planar) in ACCESSES {
            // SAFETY: both exist; a refused value changes nothing.
            match check(unsafe { set(self.pcm.raw, self.raw, access) }) {
                Ok(_) => return Ok((is_mapped, is_planar)),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    fn set_format(&self) -> Option<SampleFormat> {
        let set = self.pcm.library.functions.snd_pcm_hw_params_set_format;
        SampleFormat::ALL
            .into_iter()
            // SAFETY: both exist; a refused value changes nothing.
            .find(|format| unsafe { set(self.pcm.raw, self.raw, format.code()) } >= 0)
    }

    fn set_channels(&self, wanted: u16) -> Result<usize, Errno> {
        let mut channels = c_uint::from(wanted.max(1));
        let set = self
            .pcm
            .library
            .functions
            .snd_pcm_hw_params_set_channels_near;
        // SAFETY: all exist.
        check(unsafe { set(self.pcm.raw, self.raw, &mut channels) })?;
        if channels == 0 || channels > DriverConfig::MAX_CHANNELS.into() {
            return Err(Errno(libc::ERANGE));
        }
        Ok(channels as usize)
    }

    fn set_rate(&self, wanted: Option<u32>) -> Result<u32, ParamsError> {
        let f = &self.pcm.library.functions;
        let Some(exact) = wanted else {
            let (mut rate, mut side) = (USUAL_RATE, 0);
            let set = f.snd_pcm_hw_params_set_rate_near;
            // SAFETY: all exist.
            check(unsafe { set(self.pcm.raw, self.raw, &mut rate, &mut side) })
                .map_err(|error| ParamsError::Call("its rate", error))?;
            return Ok(rate);
        };
        // SAFETY: both exist; a refused value changes nothing.
        check(unsafe { (f.snd_pcm_hw_params_set_rate)(self.pcm.raw, self.raw, exact, 0) })
            .map_err(|_| ParamsError::Rate(exact, self.rates()))?;
        Ok(exact)
    }

    /// The rates that the device can do, in words.
    fn rates(&self) -> String {
        let f = &self.pcm.library.functions;
        let (mut min, mut max, mut side) = (0, 0, 0);
        // SAFETY: all exist.
        let is_known = unsafe {
            (f.snd_pcm_hw_params_get_rate_min)(self.raw, &mut min, &mut side) >= 0
                && (f.snd_pcm_hw_params_get_rate_max)(self.raw, &mut max, &mut side) >= 0
        };
        // SAFETY: both exist; a test changes nothing.
        let can = |rate: &c_uint| unsafe {
            (f.snd_pcm_hw_params_test_rate)(self.pcm.raw, self.raw, *rate, 0) == 0
        };
        let common: Vec<c_uint> = COMMON_RATES.into_iter().filter(can).collect();
        match (common.as_slice(), is_known) {
            (all, true) if all.len() == COMMON_RATES.len() => format!("any from {min} Hz"),
            ([], true) if min == max => format!("{min} Hz"),
            ([], true) => format!("{min} to {max} Hz"),
            ([], false) => "unknown".to_owned(),
            (some, _) => {
                let names: Vec<String> = some.iter().map(c_uint::to_string).collect();
                format!("{} Hz", names.join(", "))
            }
        }
    }

    fn set_sizes(&self, period: u32) -> Result<(usize, usize), Errno> {
        let f = &self.pcm.library.functions;
        let (pcm, raw) = (self.pcm.raw, self.raw);
        let (mut period, mut side) = (c_ulong::from(period), 0);
        // SAFETY: all exist, here and below.
        check(unsafe {
            (f.snd_pcm_hw_params_set_period_size_near)(pcm, raw, &mut period, &mut side)
        })?;
        let mut buffer = period * PERIODS;
        // SAFETY: as above.
        check(unsafe { (f.snd_pcm_hw_params_set_buffer_size_near)(pcm, raw, &mut buffer) })?;
        // SAFETY: as above.
        check(unsafe { (f.snd_pcm_hw_params)(pcm, raw) })?;
        // SAFETY: as above.
        check(unsafe { (f.snd_pcm_hw_params_get_period_size)(raw, &mut period, &mut side) })?;
        // SAFETY: as above.
        check(unsafe { (f.snd_pcm_hw_params_get_buffer_size)(raw, &mut buffer) })?;
        match (1..=1 << 24).contains(&period) && (period..=1 << 26).contains(&buffer) {
            true => Ok((period as usize, buffer as usize)),
            false => Err(Errno(libc::ERANGE)),
        }
    }
}

/// Sets a device up and returns what it granted.
pub(crate) fn negotiate(pcm: &mut Pcm, wanted: WantedParams) -> Result<StreamParams, ParamsError> {
    let hw = HwParams::any(pcm).map_err(|error| ParamsError::Call("its abilities", error))?;
    let access = hw.set_access();
    let (is_mapped, is_planar) = access.map_err(|error| ParamsError::Call("its access", error))?;
    let format = hw.set_format().ok_or(ParamsError::Format)?;
    let channels = hw.set_channels(wanted.channels);
    let channels = channels.map_err(|error| ParamsError::Call("its channels", error))?;
    let rate = hw.set_rate(wanted.rate)?;
    let sizes = hw.set_sizes(wanted.period);
    let (period, buffer) = sizes.map_err(|error| ParamsError::Call("its buffer", error))?;
    drop(hw);
    let params = StreamParams {
        format,
        is_planar,
        is_mapped,
        channels,
        rate,
        period,
        buffer,
    };
    set_software(pcm, period).map_err(|error| ParamsError::Call("its thresholds", error))?;
    pcm.params = Some(params);
    Ok(params)
}

/// The driver starts the device itself and is woken for each period.
fn set_software(pcm: &Pcm, period: usize) -> Result<(), Errno> {
    struct SwParams(&'static Library, *mut RawSwParams);
    impl Drop for SwParams {
        fn drop(&mut self) {
            // SAFETY: it was allocated by the library and is not used after this.
            unsafe { (self.0.functions.snd_pcm_sw_params_free)(self.1) };
        }
    }
    let f = &pcm.library.functions;
    let mut raw = null_mut();
    // SAFETY: `raw` is ours to write.
    check(unsafe { (f.snd_pcm_sw_params_malloc)(&mut raw) })?;
    let params = SwParams(pcm.library, raw);
    let mut boundary = 0;
    // SAFETY: all exist, here and below.
    check(unsafe { (f.snd_pcm_sw_params_current)(pcm.raw, params.1) })?;
    // SAFETY: as above.
    check(unsafe { (f.snd_pcm_sw_params_get_boundary)(params.1, &mut boundary) })?;
    // SAFETY: as above.
    check(unsafe { (f.snd_pcm_sw_params_set_start_threshold)(pcm.raw, params.1, boundary) })?;
    // SAFETY: as above.
    check(unsafe { (f.snd_pcm_sw_params_set_avail_min)(pcm.raw, params.1, period as c_ulong) })?;
    // SAFETY: as above.
    check(unsafe { (f.snd_pcm_sw_params)(pcm.raw, params.1) }).map(drop)
}

/// Abilities of an open device.
pub(crate) fn abilities(pcm: &Pcm) -> Result<Abilities, Errno> {
    let hw = HwParams::any(pcm)?;
    let f = &pcm.library.functions;
    let (mut min, mut max) = (0, 0);
    // SAFETY: all exist.
    check(unsafe { (f.snd_pcm_hw_params_get_channels_min)(hw.raw, &mut min) })?;
    // SAFETY: as above.
    check(unsafe { (f.snd_pcm_hw_params_get_channels_max)(hw.raw, &mut max) })?;
    Ok(Abilities {
        channels: (min, max),
        rates: hw.rates(),
    })
}
