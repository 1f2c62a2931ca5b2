//! [`read`]: the zones of an SFZ file.
//!
//! ```text
//! <control> default_path=samples/      <group> ampeg_release=0.3 // for the regions below
//! <region> sample=piano c4.wav lokey=c4 hikey=e4 pitch_keycenter=c4
//! ```
//!
//! Headers: `control`, `global`, `master`, `group`, `region`; each gives its opcodes to those below it. Opcodes are `name=value`, and a
//! value may have spaces. Comments are `// …` and `/* … */`. What is not read is counted, for a message to the user.
//!
//! The format: [sfzformat.com](https://sfzformat.com), version 1 and the opcodes of ARIA that many files have.

use super::zone::{LoopMode, Zone};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Largest number of zones.
pub(super) const MAX_ZONES: usize = 16_384;

/// The zones of a file, and what was not read of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SfzFile {
    pub(super) zones: Vec<Zone>,
    /// Opcodes and headers that this reader does not know, with their numbers.
    pub(super) unread: BTreeMap<String, usize>,
}

/// Place of an opcode in the levels of headers.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Control,
    Global,
    Master,
    Group,
    Region,
    /// A header that is not read, with all its opcodes.
    Other,
}

struct SfzReader {
    file: SfzFile,
    level: Level,
    /// What global, master and group have set so far: each begins as the one before it.
    above: [Zone; 3],
    region: Option<Zone>,
    default_path: String,
    note_offset: i64,
}

/// Reads the text of an SFZ file. Paths of samples are relative to it.
///
/// # Errors
///
/// A value is none of its opcode, or there is no zone. The message has the line.
pub(super) fn read(text: &str) -> Result<SfzFile, String> {
    let mut reader = SfzReader {
        file: SfzFile::default(),
        level: Level::Other,
        above: Default::default(),
        region: None,
        default_path: String::new(),
        note_offset: 0,
    };
    for (line, text) in (1..).zip(without_comments(text).lines()) {
        reader
            .read_line(text)
            .map_err(|message| format!("line {line}: {message}"))?;
    }
    reader.end_region();
    match reader.file.zones.is_empty() {
        true => Err("it has no `<region>` with a `sample`".into()),
        false => Ok(reader.file),
    }
}

/// The text with its comments as spaces; line ends stay.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        kept.push_str(&rest[..at]);
        let is_block = rest[at..].starts_with("/*");
        let end = match is_block {
            true => rest[at + 2..].find("*/").map(|end| at + end + 4),
            false => rest[at..].find('\n').map(|end| at + end),
        };
        let end = end.unwrap_or(rest.len());
        kept.extend(
            rest[at..end]
                .chars()
                .map(|c| if c == '\n' { '\n' } else { ' ' }),
        );
        rest = &rest[end..];
    }
    kept + rest
}

/// Where the next `name=` of `text` begins, if its name is one.
fn next_opcode(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(equals) = text[from..].find('=').map(|at| from + at) {
        let name = text[..equals].bytes().rev();
        let length = name
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        let begin = equals - length;
        let is_begin = begin == 0 || text.as_bytes()[begin - 1].is_ascii_whitespace();
        if length > 0 && is_begin {
            return Some(begin);
        }
        from = equals + 1;
    }
    None
}

impl SfzReader {
    fn read_line(&mut self, line: &str) -> Result<(), String> {
        let mut rest = line.trim();
        while !rest.is_empty() {
            if let Some(behind) = rest.strip_prefix('<') {
                let (name, behind) = behind.split_once('>').ok_or("a header has no `>`")?;
                self.begin_header(name)?;
                rest = behind.trim_start();
            } else if rest.starts_with('#') {
                let word = rest.split_whitespace().next().unwrap_or_default();
                self.count_unread(word);
                return Ok(());
            } else {
                rest = self.read_opcode(rest)?;
            }
        }
        Ok(())
    }

    /// Reads the opcode at the begin of `text`; returns what is behind it.
    fn read_opcode<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        let wrong = || format!("`{text}` is no opcode; an opcode is `name=value`");
        let (name, behind) = text.split_once('=').ok_or_else(wrong)?;
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(wrong());
        }
        let ends = [next_opcode(behind), behind.find('<')]
            .into_iter()
            .flatten();
        let end = ends.min().unwrap_or(behind.len());
        self.set(name, behind[..end].trim())?;
        Ok(behind[end..].trim_start())
    }

    fn begin_header(&mut self, name: &str) -> Result<(), String> {
        self.end_region();
        self.level = match name {
            "control" => Level::Control,
            "global" => Level::Global,
            "master" => Level::Master,
            "group" => Level::Group,
            "region" => Level::Region,
            _ => Level::Other,
        };
        let [global, master, group] = &mut self.above;
        match self.level {
            Level::Global => {
                *global = Zone::default();
                (*master, *group) = (global.clone(), global.clone());
            }
            Level::Master => {
                *master = global.clone();
                *group = global.clone();
            }
            Level::Group => *group = master.clone(),
            Level::Region if self.file.zones.len() == MAX_ZONES => {
                return Err(format!("there are more than {MAX_ZONES} regions"));
            }
            Level::Region => self.region = Some(group.clone()),
            Level::Control => {}
            Level::Other => self.count_unread(&format!("<{name}>")),
        }
        Ok(())
    }

    /// Keeps the region that was read, if it has a sample. One without may be a generator of ARIA's.
    fn end_region(&mut self) {
        let Some(region) = self.region.take() else {
            return;
        };
        match region.sample.as_os_str().is_empty() {
            true => self.count_unread("a region without a sample"),
            false => self.file.zones.push(region),
        }
    }

    fn count_unread(&mut self, name: &str) {
        // Hostile files have many names.
        if self.file.unread.len() < 1000 || self.file.unread.contains_key(name) {
            *self.file.unread.entry(name.to_owned()).or_default() += 1;
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let [global, master, group] = &mut self.above;
        let zones: &mut [&mut Zone] = match self.level {
            Level::Other => return Ok(()),
            Level::Control => return self.set_control(name, value),
            Level::Global => &mut [global, master, group],
            Level::Master => &mut [master, group],
            Level::Group => &mut [group],
            Level::Region => match &mut self.region {
                Some(region) => &mut [region],
                None => return Ok(()),
            },
        };
        let mut is_known = true;
        for zone in zones {
            let context = (self.default_path.as_str(), self.note_offset);
            is_known &= set_opcode(zone, name, value, context)?;
        }
        if !is_known {
            self.count_unread(name);
        }
        Ok(())
    }

    fn set_control(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "default_path" => self.default_path = value.replace('\\', "/"),
            "note_offset" => self.note_offset = whole(name, value, (-127, 127))?,
            "octave_offset" => self.note_offset = 12 * whole(name, value, (-10, 10))?,
            _ => self.count_unread(name),
        }
        Ok(())
    }
}

/// Sets an opcode of a zone. Returns false if it is not known.
fn set_opcode(
    zone: &mut Zone,
    name: &str,
    value: &str,
    (default_path, note_offset): (&str, i64),
) -> Result<bool, String> {
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
            zone.keys = (key, key);
            zone.root = f64::from(key);
        }
        "lokey" if value == "-1" => return Ok(false),
        "hikey" if value == "-1" => return Ok(false),
        "lokey" => zone.keys.0 = key()?,
        "hikey" => zone.keys.1 = key()?,
        "lovel" => zone.velocities.0 = whole(name, value, (0, 127))? as u8,
        "hivel" => zone.velocities.1 = whole(name, value, (0, 127))? as u8,
        "pitch_keycenter" if value == "sample" => return Ok(false),
        "pitch_keycenter" => zone.root = f64::from(key()?),
        "pitch_keytrack" => zone.keytrack = number(name, value, (-1200.0, 1200.0))?,
        "tune" | "pitch" => zone.tune = number(name, value, (-9600.0, 9600.0))? / 100.0,
        "transpose" => zone.transpose = whole(name, value, (-127, 127))? as f64,
        "volume" | "group_volume" | "master_volume" | "global_volume" => {
            zone.volume_db = number(name, value, (-144.0, 48.0))?;
        }
        "pan" => zone.pan = number(name, value, (-100.0, 100.0))? / 100.0,
        "amp_veltrack" => zone.veltrack = number(name, value, (-100.0, 100.0))? / 100.0,
        "offset" => zone.offset = frames()?,
        "end" if value == "-1" => return Ok(false),
        // Both name the last frame.
        "end" => zone.end = Some(frames()? + 1),
        "loop_end" | "loopend" => zone.loop_end = Some(frames()? + 1),
        "loop_start" | "loopstart" => zone.loop_start = frames()?,
        "loop_mode" | "loopmode" => {
            zone.loop_mode = match value {
                "no_loop" => LoopMode::None,
                "one_shot" => LoopMode::OneShot,
                "loop_continuous" => LoopMode::Continuous,
                "loop_sustain" => LoopMode::Sustain,
                _ => return Err(format!("`{name}` has no `{value}`")),
            }
        }
        "ampeg_attack" => zone.attack = seconds()?,
        "ampeg_hold" => zone.hold = seconds()?,
        "ampeg_decay" => zone.decay = seconds()?,
        "ampeg_sustain" => zone.sustain = number(name, value, (0.0, 100.0))? / 100.0,
        "ampeg_release" => zone.release = seconds()?,
        "seq_length" => zone.turns = whole(name, value, (1, 100))? as u32,
        "seq_position" => zone.turn = whole(name, value, (1, 100))? as u32,
        "group" | "polyphony_group" => zone.group = Some(whole(name, value, (i64::MIN, i64::MAX))?),
        "off_by" | "offby" => zone.off_by = Some(whole(name, value, (i64::MIN, i64::MAX))?),
        "trigger" => return Ok(value == "attack"),
        _ => return Ok(false),
    }
    Ok(true)
}

fn number(name: &str, value: &str, (min, max): (f64, f64)) -> Result<f64, String> {
    let read = value
        .parse::<f64>()
        .ok()
        .filter(|x| (min..=max).contains(x));
    read.ok_or_else(|| format!("`{name}={value}`: it takes a number from {min} to {max}"))
}

fn whole(name: &str, value: &str, (min, max): (i64, i64)) -> Result<i64, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_has_what_the_headers_above_it_say_and_its_own() {
        let text = "/* a piano
of two zones */
<control> default_path=samples\\ note_offset=12
<global> ampeg_release=0.5 volume=-6 // quiet
<group> lovel=1 hivel=100
<region> sample=soft c 4.wav lokey=c3 hikey=36 pitch_keycenter=c#3 tune=-50 <region> key=40
sample=e.wav
loop_mode=loop_sustain loop_start=100 loop_end=199
<group>
<region>sample=..\\hit.flac key=41 volume=3 cutoff=200 fil_type=lpf_2p cutoff=300
<curve>
v000=1
";
        let file = read(text).unwrap();
        assert_eq!(file.zones.len(), 3);
        let [first, second, third] = &file.zones[..] else {
            panic!("three")
        };
        assert_eq!(first.sample, PathBuf::from("samples/soft c 4.wav"));
        // c3 is 48, and all keys are an octave higher.
        assert_eq!((first.keys, first.root, first.tune), ((60, 48), 61.0, -0.5));
        assert_eq!(
            (first.velocities, first.release, first.volume_db),
            ((1, 100), 0.5, -6.0)
        );
        assert_eq!(
            (second.keys, second.loop_mode),
            ((52, 52), LoopMode::Sustain)
        );
        assert_eq!((second.loop_start, second.loop_end), (100, Some(200)));
        assert_eq!((third.velocities, third.volume_db), ((0, 127), 3.0));
        assert_eq!(third.sample, PathBuf::from("samples/../hit.flac"));
        let unread: Vec<_> = file
            .unread
            .iter()
            .map(|(name, n)| (name.as_str(), *n))
            .collect();
        assert_eq!(unread, [("<curve>", 1), ("cutoff", 2), ("fil_type", 1)]);
    }

    #[test]
    fn mistakes_have_their_line() {
        for (text, message) in [
            ("", "no `<region>`"),
            ("<region> key=60", "no `<region>`"),
            ("<region>\nsample=a.wav key=h4", "line 2: `key=h4`"),
            ("<region> sample=a.wav key=128", "from 0 to 127"),
            ("<region> sample=a.wav volume=loud", "line 1: `volume=loud`"),
            (
                "<region> sample=a.wav loop_mode=twice",
                "`loop_mode` has no `twice`",
            ),
            ("<region> sample=a.wav lovel=nan", "`lovel=nan`"),
            ("<region> sample=a.wav pan=nan", "`pan=nan`"),
            ("<region\nsample=a.wav", "no `>`"),
            ("<region>\nhello", "line 2: `hello` is no opcode"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
        let many = "<region>sample=a\n".repeat(MAX_ZONES + 1);
        assert!(read(&many).unwrap_err().contains("more than 16384 regions"));
        assert!(read("<region>sample=a /* open").is_ok());
    }

    #[test]
    fn damaged_files_are_read_or_refused() {
        let text = "/* c */<control> default_path=é/ note_offset=12 // n\n<group>lovel=1 <region> sample=ü b.wav \
            key=c#4 tune=-50 loop_mode=one_shot loop_end=9\r\n#define $A 1\n<region>sample=*sine key=61";
        let mut numbers = units::SplitMix64(9);
        let mut read_some = 0;
        for _ in 0..20_000 {
            let mut letters: Vec<char> = text.chars().collect();
            for _ in 0..1 + numbers.below(6) {
                if letters.len() < 2 {
                    break;
                }
                let at = numbers.below(letters.len());
                match numbers.below(3) {
                    0 => drop(letters.remove(at)),
                    1 => letters.insert(
                        at,
                        ['<', '>', '=', '/', '*', '\n', '#', '9'][numbers.below(8)],
                    ),
                    _ => letters.truncate(at + 1),
                }
            }
            let damaged: String = letters.into_iter().collect();
            read_some += usize::from(read(&damaged).is_ok());
        }
        assert!((1000..19_000).contains(&read_some), "{read_some}");
    }
}
