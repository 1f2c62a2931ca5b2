//! Lists the cards and devices of ALSA. A hardware device is opened for as long as it takes to ask for its abilities,
//! without waiting for one that is in use.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;

use super::library::Library;
use super::params::abilities;
use super::pcm::{Direction, Pcm};
use crate::ProbeResult;
use crate::loaded::text;

/// Most devices that are listed.
const MAX_DEVICES: usize = 256;

/// Returns true if libasound finds a sound card.
pub(super) fn has_card() -> bool {
    Library::load().is_ok_and(|library| !card_names(library).is_empty())
}

/// Lists the library, the cards and the devices.
pub(crate) fn probe() -> Vec<ProbeResult> {
    let Ok(library) = Library::load() else {
        return vec![found(
            "ALSA: no library".to_owned(),
            false,
            Some("install libasound2"),
        )];
    };
    let version = library.version();
    let cards = card_names(library);
    let mut all = Vec::new();
    all.push(match cards.as_slice() {
        [] => found(
            format!("ALSA {version}: no sound card"),
            false,
            Some("plug one in, or load its driver; `aplay -l` lists the kernel's"),
        ),
        names => found(format!("ALSA {version}: {}", names.join(", ")), true, None),
    });
    all.extend(
        device_names(library)
            .iter()
            .map(|name| device(library, name)),
    );
    all
}

fn found(description: String, is_available: bool, advice: Option<&str>) -> ProbeResult {
    ProbeResult {
        driver: "alsa",
        description,
        is_available,
        advice: advice.map(str::to_owned),
    }
}

/// Describes the abilities of a device, or why it cannot be asked.
fn device(library: &'static Library, name: &str) -> ProbeResult {
    if !can_be_asked(name) {
        return found(
            format!("{name}: not asked"),
            false,
            Some("it may wait for a server: play on it to find out"),
        );
    }
    let ask = |direction: Direction| {
        let opened = Pcm::open(library, name, direction);
        let asked = opened.and_then(|pcm| abilities(&pcm))?;
        let ((min, max), rates) = (asked.channels, asked.rates);
        let channels = match (min, max) {
            (min, max) if min == max => format!("{min}"),
            (min, 10_000..) => format!("{min} or more"),
            (min, max) => format!("{min} to {max}"),
        };
        let word = direction.name();
        Ok(format!("{word} of {channels} channels, {rates}"))
    };
    match (ask(Direction::Playback), ask(Direction::Capture)) {
        (Ok(playback), Ok(capture)) => found(format!("{name}: {playback}; {capture}"), true, None),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => found(format!("{name}: {one}"), true, None),
        (Err(super::stream::Errno(libc::EBUSY)), _) => {
            found(format!("{name}: another program plays on it"), false, None)
        }
        (Err(error), _) => found(format!("{name}: {}", library.describe(error)), false, None),
    }
}

/// Devices of the kernel answer at once. A plug-in that talks to a server may wait for it, so it is only named.
fn can_be_asked(name: &str) -> bool {
    let kind = name.split(':').next().unwrap_or_default();
    matches!(kind, "hw" | "plughw" | "sysdefault" | "front" | "null")
}

fn card_names(library: &Library) -> Vec<String> {
    let f = &library.functions;
    let (mut names, mut card) = (Vec::new(), -1);
    while names.len() < MAX_DEVICES {
        // SAFETY: `card` is ours to write.
        if unsafe { (f.snd_card_next)(&mut card) } < 0 || card < 0 {
            break;
        }
        let mut name: *mut c_char = null_mut();
        // SAFETY: `name` is ours to write; the string is ours to free.
        let named = match unsafe { (f.snd_card_get_name)(card, &mut name) } {
            // SAFETY: as above.
            0 => unsafe { take_text(name) },
            _ => None,
        };
        names.push(format!("hw:{card} ({})", named.unwrap_or_default()));
    }
    names
}

fn device_names(library: &Library) -> Vec<String> {
    const ALL_CARDS: i32 = -1;
    let f = &library.functions;
    let mut hints: *mut *mut c_void = null_mut();
    let interface: &CStr = c"pcm";
    let key = CString::new("NAME").expect("it has no zero byte");
    let mut names = Vec::new();
    // SAFETY: the interface is a C string, and `hints` is ours to write.
    if unsafe { (f.snd_device_name_hint)(ALL_CARDS, interface.as_ptr(), &mut hints) } < 0
        || hints.is_null()
    {
        return names;
    }
    for at in 0..MAX_DEVICES {
        // SAFETY: the list ends with a null, at which the loop ends.
        let hint = unsafe { *hints.add(at) };
        if hint.is_null() {
            break;
        }
        // SAFETY: the hint is one of the list; the string is ours to free.
        names.extend(unsafe { take_text((f.snd_device_name_get_hint)(hint, key.as_ptr())) });
    }
    // SAFETY: the list came from `snd_device_name_hint` and is not used after this. An error leaves nothing to do.
    unsafe { (f.snd_device_name_free_hint)(hints) };
    names
}

/// A copy of a string of the library, which is freed; `None` for none.
///
/// # Safety
/// `string` is null or a C string from `malloc` that nobody else frees.
unsafe fn take_text(string: *mut c_char) -> Option<String> {
    if string.is_null() {
        return None;
    }
    // SAFETY: the caller says so.
    unsafe {
        let copy = text(string);
        libc::free(string.cast());
        Some(copy)
    }
}
