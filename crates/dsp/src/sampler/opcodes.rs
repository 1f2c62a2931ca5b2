//! [`set_opcode`]: what an opcode says of a zone.

use super::crossfade::Crossfade;
use super::filter::FilterKind;
use super::zone::{LoopMode, Trigger, Zone};
use std::path::PathBuf;

/// Sets an opcode of a zone. Returns false if it is not known.
///
/// # Errors
///
/// The value is none of the opcode.
pub(super) fn set_opcode(
    zone: &mut Zone,
    name: &str,
    value: &str,
    (default_path, note_offset): (&str, i64),
) -> Result<bool, String> {
    if name.starts_with("xf") {
        return set_crossfade(zone, name, value, note_offset);
    }
    if let Some(is_known) = set_filter(zone, name, value, note_offset)? {
        return Ok(is_known);
    }
    let key = || key(name, value, note_offset);
    let frames = || whole(name, value, (0, 1 << 40)).map(|frames| frames as u64);
    let seconds = || number(name, value, (0.0, 100.0));
    match name {
        "sample" if value.starts_with('*') => return Ok(false),
        "sample" => {
            zone.sample = PathBuf::from(format!("{default_path}{}", value.replace('\\', "/")))
        }
        "key" => {
            let key = key()?;
            (zone.keys, zone.has_no_keys) = ((key, key), false);
            zone.root = f64::from(key);
            zone.takes_root_of_sample = false;
        }
        "lokey" if value == "-1" => zone.keys.0 = 0,
        // Controllers alone begin it, which is not read.
        "hikey" if value == "-1" => {
            zone.has_no_keys = true;
            return Ok(false);
        }
        "lokey" => zone.keys.0 = key()?,
        "hikey" => (zone.keys.1, zone.has_no_keys) = (key()?, false),
        "lovel" => zone.velocities.0 = whole(name, value, (0, 127))? as u8,
        "hivel" => zone.velocities.1 = whole(name, value, (0, 127))? as u8,
        "pitch_keycenter" if value == "sample" => zone.takes_root_of_sample = true,
        "pitch_keycenter" => {
            zone.root = f64::from(key()?);
            zone.takes_root_of_sample = false;
        }
        "pitch_keytrack" => zone.keytrack = number(name, value, (-1200.0, 1200.0))?,
        "tune" | "pitch" => zone.tune = number(name, value, (-9600.0, 9600.0))? / 100.0,
        "transpose" => zone.transpose = whole(name, value, (-127, 127))? as f64,
        "volume" | "group_volume" | "master_volume" | "global_volume" => {
            zone.volume_db = number(name, value, (-144.0, 48.0))?;
        }
        "pan" => zone.pan = number(name, value, (-100.0, 100.0))? / 100.0,
        "amp_veltrack" => zone.veltrack = number(name, value, (-100.0, 100.0))? / 100.0,
        "offset" => zone.offset = frames()?,
        // It is silent, and ends the voices of a group.
        "end" if value == "-1" => zone.end = Some(0),
        // Both name the last frame.
        "end" => zone.end = Some(frames()? + 1),
        "loop_end" | "loopend" => zone.loop_end = Some(frames()? + 1),
        "loop_start" | "loopstart" => zone.loop_start = Some(frames()?),
        "loop_mode" | "loopmode" => zone.loop_mode = Some(loop_mode(name, value)?),
        "loop_crossfade" => zone.loop_crossfade = seconds()?,
        "ampeg_attack" => zone.attack = seconds()?,
        "ampeg_hold" => zone.hold = seconds()?,
        "ampeg_decay" => zone.decay = seconds()?,
        "ampeg_sustain" => zone.sustain = number(name, value, (0.0, 100.0))? / 100.0,
        "ampeg_release" => zone.release = seconds()?,
        "seq_length" => zone.turns = whole(name, value, (1, 100))? as u32,
        "seq_position" => zone.turn = whole(name, value, (1, 100))? as u32,
        "group" | "polyphony_group" => zone.group = Some(whole(name, value, (i64::MIN, i64::MAX))?),
        "off_by" | "offby" => zone.off_by = Some(whole(name, value, (i64::MIN, i64::MAX))?),
        "trigger" => return Ok(set_trigger(zone, value)),
        "rt_decay" => zone.decay_db = number(name, value, (0.0, 200.0))?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn loop_mode(name: &str, value: &str) -> Result<LoopMode, String> {
    match value {
        "no_loop" => Ok(LoopMode::None),
        "one_shot" => Ok(LoopMode::OneShot),
        "loop_continuous" => Ok(LoopMode::Continuous),
        "loop_sustain" => Ok(LoopMode::Sustain),
        _ => Err(format!("`{name}` has no `{value}`")),
    }
}

/// Sets what begins the zone. Returns false if it is not known: the zone begins with its note then.
fn set_trigger(zone: &mut Zone, value: &str) -> bool {
    zone.trigger = match value {
        "release" => Trigger::Release,
        "release_key" => Trigger::ReleaseKey,
        _ => Trigger::Attack,
    };
    matches!(value, "attack" | "release" | "release_key")
}

/// Sets an opcode of the crossfades.
fn set_crossfade(
    zone: &mut Zone,
    name: &str,
    value: &str,
    note_offset: i64,
) -> Result<bool, String> {
    let Some((opcode, is_key)) = ["key", "vel"]
        .iter()
        .find_map(|end| Some((name.strip_suffix(end)?, *end == "key")))
    else {
        return set_curve(zone, name, value);
    };
    let fade = fade_of(zone, is_key);
    let end = match opcode {
        "xfin_lo" => &mut fade.into.0,
        "xfin_hi" => &mut fade.into.1,
        "xfout_lo" => &mut fade.out.0,
        "xfout_hi" => &mut fade.out.1,
        _ => return Ok(false),
    };
    *end = match is_key {
        true => f64::from(key(name, value, note_offset)?),
        false => whole(name, value, (0, 127))? as f64,
    };
    Ok(true)
}

fn set_curve(zone: &mut Zone, name: &str, value: &str) -> Result<bool, String> {
    let is_key = match name {
        "xf_keycurve" => true,
        "xf_velcurve" => false,
        _ => return Ok(false),
    };
    fade_of(zone, is_key).is_linear = match value {
        "gain" => true,
        "power" => false,
        _ => return Err(format!("`{name}` has no `{value}`")),
    };
    Ok(true)
}

fn fade_of(zone: &mut Zone, is_key: bool) -> &mut Crossfade {
    match is_key {
        true => &mut zone.fades.keys,
        false => &mut zone.fades.velocities,
    }
}

/// Sets an opcode of the filter; `None` if it is none of these.
fn set_filter(
    zone: &mut Zone,
    name: &str,
    value: &str,
    note_offset: i64,
) -> Result<Option<bool>, String> {
    let filter = &mut zone.filter;
    match name {
        "fil_type" | "filtype" => {
            filter.kind = match value {
                "lpf_2p" | "lpf_2p_sv" => FilterKind::Low,
                "hpf_2p" | "hpf_2p_sv" => FilterKind::High,
                "bpf_2p" | "bpf_2p_sv" => FilterKind::Band,
                "brf_2p" | "brf_2p_sv" => FilterKind::Notch,
                "lpf_1p" => FilterKind::LowOne,
                "hpf_1p" => FilterKind::HighOne,
                "lpf_4p" => FilterKind::LowFour,
                "hpf_4p" => FilterKind::HighFour,
                "lpf_6p" => FilterKind::LowSix,
                "hpf_6p" => FilterKind::HighSix,
                _ => FilterKind::Unknown,
            };
            return Ok(Some(filter.kind != FilterKind::Unknown));
        }
        "cutoff" => filter.cutoff = Some(number(name, value, (0.0, 1e6))?),
        "resonance" => filter.resonance_db = number(name, value, (0.0, 40.0))?,
        "fil_veltrack" => filter.veltrack = number(name, value, (-9600.0, 9600.0))?,
        "fil_keytrack" => filter.keytrack = number(name, value, (-1200.0, 1200.0))?,
        "fil_keycenter" => filter.center = f64::from(key(name, value, note_offset)?),
        _ => return Ok(None),
    }
    Ok(Some(true))
}

fn number(name: &str, value: &str, (min, max): (f64, f64)) -> Result<f64, String> {
    let read = value
        .parse::<f64>()
        .ok()
        .filter(|x| (min..=max).contains(x));
    read.ok_or_else(|| format!("`{name}={value}`: it takes a number from {min} to {max}"))
}

/// A whole number within these limits.
///
/// # Errors
///
/// It is none.
pub(super) fn whole(name: &str, value: &str, (min, max): (i64, i64)) -> Result<i64, String> {
    let read = value
        .parse::<i64>()
        .ok()
        .filter(|x| (min..=max).contains(x));
    read.ok_or_else(|| format!("`{name}={value}`: it takes a whole number from {min} to {max}"))
}

/// A key: its number, or its name, of which c4 is 60.
fn key(name: &str, value: &str, offset: i64) -> Result<u8, String> {
    let wrong = || format!("`{name}={value}`: it takes a key from 0 to 127, or a name as c#4");
    let number = value.parse::<i64>().ok().or_else(|| named_key(value));
    let number = number.and_then(|number| number.checked_add(offset));
    number
        .and_then(|number| u8::try_from(number).ok())
        .filter(|key| *key < 128)
        .ok_or_else(wrong)
}

fn named_key(name: &str) -> Option<i64> {
    let mut letters = name.chars();
    let step = match letters.next()?.to_ascii_lowercase() {
        'c' => 0,
        'd' => 2,
        'e' => 4,
        'f' => 5,
        'g' => 7,
        'a' => 9,
        'b' => 11,
        _ => return None,
    };
    let rest = letters.as_str();
    let (sign, octave) = match rest.chars().next()? {
        '#' | '♯' => (1, rest.chars().skip(1).collect::<String>()),
        'b' | '♭' => (-1, rest.chars().skip(1).collect()),
        _ => (0, rest.to_owned()),
    };
    let octave = octave
        .parse::<i64>()
        .ok()
        .filter(|octave| (-1..=9).contains(octave))?;
    Some(12 * (octave + 1) + step + sign)
}
