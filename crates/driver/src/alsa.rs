//! The ALSA driver: a sound card, or a PCM of the user's configuration, asks for blocks.
//!
//! libasound is loaded when the driver is opened (`library`), so the build needs no ALSA. Calls are asked of a
//! `stream::Stream`, behind which the tests put a double that fails where they like.
//!
//! | what | how |
//! |---|---|
//! | access | mapped interleaved, else mapped planar, else read and write |
//! | format | S32, else S24_3LE, S24, S16, FLOAT; exact and without dither ([`format`]) |
//! | rate | the one that is asked for, or an error that lists the device's; none asked: the device's nearest to 48000 |
//! | period | the nearest to the engine's block; a [`BlockAdapter`](crate::BlockAdapter) makes up for the difference |
//! | buffer | three periods, filled with silence before the start |
//! | lost sound | both streams are started anew, and the next callback hears of an xrun |
//! | a device that is gone | the driver ends with the reason |
//! | a device that does not wait (`null`) | paced by the clock (`device`) |

mod device;
mod format;
pub(crate) mod library;
mod params;
mod pcm;
mod probe;
pub(crate) mod stream;
#[cfg(test)]
mod tests;
mod thread;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use units::{Frames, SampleRate};

use crate::clock::SystemClock;
use crate::own_thread::{ThreadDevice, ThreadFlags};
use crate::{DriverConfig, DriverError, DriverInfo, OpenDriver, sequencer};
use device::{Device, OpenStream};
use library::Library;
use params::{ParamsError, WantedParams, negotiate};
use pcm::{Direction, Pcm};
use probe::has_card;
pub(crate) use probe::probe;
use stream::Errno;

/// Device that is played on where none is named.
const DEFAULT_DEVICE: &str = "default";

/// Opens the device that [`DriverConfig::server`] names, else `default`.
///
/// # Errors
///
/// There is no libasound, the device cannot be opened, or it cannot do what is asked.
///
/// Real-time: setup.
pub fn open(config: &DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError> {
    config.check()?;
    let library = Library::load()?;
    let name = config.server.as_deref().unwrap_or(DEFAULT_DEVICE);
    let mut rate = config.rate.map(SampleRate::hz);
    // Without any channel the output gives the time.
    let has_playback = config.outputs > 0 || config.inputs == 0;
    let mut open = |direction, channels| {
        let opened = open_stream(library, name, direction, (config, rate, channels))?;
        rate = opened.params.map(|params| params.rate);
        Ok::<_, DriverError>(opened)
    };
    let mut playback = match has_playback {
        true => Some(open(Direction::Playback, config.outputs)?),
        false => None,
    };
    let mut capture = match config.inputs {
        0 => None,
        channels => Some(open(Direction::Capture, channels)?),
    };
    let is_linked = match (&mut playback, &mut capture) {
        (Some(playback), Some(capture)) => playback.link(capture),
        _ => false,
    };
    let rate = rate.and_then(SampleRate::new).unwrap_or_default();
    let refused = refusals(config, &playback, &capture);
    let flags = Arc::new(ThreadFlags::default());
    let stop = flags.clone();
    let device = Device::new(
        playback.map(to_stream),
        capture.map(to_stream),
        is_linked,
        rate,
        SystemClock,
        Box::new(move || stop.stop.load(Ordering::Relaxed)),
    );
    let mut info = DriverInfo {
        name: "alsa",
        server: format!("ALSA's {name}"),
        rate,
        buffer_size: Frames(0),
        adapter_latency: Frames(0),
        device_latency: Frames(0),
        priority: None,
        has_midi: false,
        refused,
    };
    let (midi, periods) = sequencer::open_beside(config, &mut info);
    let of_thread = ThreadDevice {
        info,
        flags,
        midi,
        describe_end: thread::describe_end,
    };
    thread::open(config, device, of_thread, periods)
}

/// Opens ALSA's default device where there is a sound card; `None` where there is none.
pub(crate) fn open_card(config: &DriverConfig) -> Option<Result<Box<dyn OpenDriver>, DriverError>> {
    has_card().then(|| open(config))
}

fn open_stream(
    library: &'static Library,
    name: &str,
    direction: Direction,
    (config, rate, channels): (&DriverConfig, Option<u32>, u16),
) -> Result<Pcm, DriverError> {
    let opened = Pcm::open(library, name, direction);
    let mut pcm = opened.map_err(|error| device_error(library, name, direction, error))?;
    let wanted = WantedParams {
        channels,
        rate,
        period: config.block.0,
    };
    let described = format!("{name} ({})", direction.name());
    match negotiate(&mut pcm, wanted) {
        Ok(_) => Ok(pcm),
        Err(ParamsError::Rate(rate, rates)) => Err(DriverError::AlsaRate {
            device: described,
            rate,
            rates,
        }),
        Err(ParamsError::Format) => Err(DriverError::AlsaDevice {
            device: described,
            reason: "it has none of the formats S32, S24, S16 and FLOAT: try plughw".to_owned(),
        }),
        Err(ParamsError::Call(what, error)) => Err(DriverError::AlsaDevice {
            device: described,
            reason: format!("{what} cannot be set: {}", library.describe(error)),
        }),
    }
}

fn device_error(library: &Library, name: &str, direction: Direction, error: Errno) -> DriverError {
    let advice = match error.0 {
        libc::EBUSY => ": another program plays on it; stop that, or play through its server",
        libc::ENOENT | libc::ENODEV => ": `divisi devices` lists those that exist",
        libc::EACCES | libc::EPERM => ": add yourself to the group `audio`",
        _ => "",
    };
    DriverError::AlsaDevice {
        device: format!("{name} ({})", direction.name()),
        reason: format!("{}{advice}", library.describe(error)),
    }
}

/// Requests that the device does not fulfil.
fn refusals(config: &DriverConfig, playback: &Option<Pcm>, capture: &Option<Pcm>) -> Vec<String> {
    let mut refused = Vec::new();
    let sides = [
        (playback, config.outputs, "output"),
        (capture, config.inputs, "input"),
    ];
    for (pcm, wanted, name) in sides {
        let granted = pcm.as_ref().and_then(|pcm| pcm.params);
        if let Some(params) = granted
            && params.channels < wanted.into()
        {
            let channels = params.channels;
            refused.push(format!(
                "{wanted} {name} channels: the device has {channels}"
            ));
        }
    }
    refused
}

fn to_stream(pcm: Pcm) -> OpenStream {
    let params = pcm.params.expect("`negotiate` set them");
    (Box::new(pcm), params)
}
