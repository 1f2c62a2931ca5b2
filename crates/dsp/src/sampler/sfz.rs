//! [`read`]: the zones of an SFZ file.
//!
//! ```text
//! <control> default_path=samples/      <group> ampeg_release=0.3 // for the regions below
//! <region> sample=piano c4.wav lokey=c4 hikey=e4 pitch_keycenter=c4
//! ```
//!
//! Headers: `control`, `global`, `master`, `group`, `region`; each gives its opcodes to those below it. Opcodes are
//! `name=value`, and a value may have spaces. Comments are `// …` and `/* … */`; `#define` and `#include` are in `source.rs`,
//! the opcodes in `opcodes.rs`. What is not read is counted, for a message to the user.
//!
//! The format: [sfzformat.com](https://sfzformat.com), version 1 and the opcodes of ARIA that many files have.

use super::opcodes::{set_opcode, whole};
use super::source::{ReadText, Source};
use super::zone::Zone;
use std::collections::BTreeMap;

/// Name under which samples that a program makes are counted.
const GENERATOR: &str = "sample=*…";
/// Name under which regions are counted whose keys, velocities or turns are none.
const UNPLAYED: &str = "a region that no note plays";
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

/// Reads the text of an SFZ file, and with `open` the files that it includes. Paths of samples are relative to it.
///
/// # Errors
///
/// A value is none of its opcode, a file cannot be included, or there is no zone. The message has the line.
pub(super) fn read(text: &str, open: &mut ReadText<'_>) -> Result<SfzFile, String> {
    let mut reader = SfzReader {
        file: SfzFile::default(),
        level: Level::Other,
        above: Default::default(),
        region: None,
        default_path: String::new(),
        note_offset: 0,
    };
    Source::new(open).pass(text, &mut |line| reader.read_line(line))?;
    reader.end_region();
    let unread = |name| reader.file.unread.contains_key(name);
    if reader.file.zones.is_empty() && unread(UNPLAYED) {
        return Err(
            "no note plays any of its regions: its keys, velocities or turns are none".into(),
        );
    }
    match (reader.file.zones.is_empty(), unread(GENERATOR)) {
        (true, true) => Err(format!(
            "no `<region>` has a file as `sample`: {GENERATOR} is not played"
        )),
        (true, false) => Err("it has no `<region>` with a `sample`".into()),
        (false, _) => Ok(reader.file),
    }
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

    /// Keeps the region that was read, if it has a sample and some note plays it. One without a sample may be a generator of
    /// ARIA's.
    fn end_region(&mut self) {
        let Some(region) = self.region.take() else {
            return;
        };
        match (region.sample.as_os_str().is_empty(), region.is_playable()) {
            (true, _) => self.count_unread("a region without a sample"),
            (false, false) => self.count_unread(UNPLAYED),
            (false, true) => self.file.zones.push(region),
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
        match (is_known, name) {
            (true, _) => {}
            (false, "sample") => self.count_unread(GENERATOR),
            (false, _) => self.count_unread(name),
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

#[cfg(test)]
mod tests {
    use super::super::filter::FilterKind;
    use super::super::zone::{LoopMode, Trigger};
    use super::*;
    use std::path::PathBuf;

    /// Reads a text that includes `more.sfz`.
    fn read(text: &str) -> Result<SfzFile, String> {
        super::read(text, &mut |path| match path {
            "more.sfz" => Ok("<region> sample=more.wav key=$K".into()),
            _ => Err(format!("{path}: there is no such file")),
        })
    }

    #[test]
    fn a_region_has_what_the_headers_above_it_say_and_its_own() {
        let text = "/* a piano
of two zones */
<control> default_path=samples\\ note_offset=12
<global> ampeg_release=0.5 volume=-6 // quiet
<group> lovel=1 hivel=100
<region> sample=soft c 4.wav lokey=c3 hikey=55 pitch_keycenter=c#3 tune=-50 <region> key=40
sample=e.wav
loop_mode=loop_sustain loop_start=100 loop_end=199
<group>
<region>sample=..\\hit.flac key=41 volume=3 cutoff2=200 fil_type=comb cutoff2=300
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
        assert_eq!((first.keys, first.root, first.tune), ((60, 67), 61.0, -0.5));
        assert_eq!(
            (first.velocities, first.release, first.volume_db),
            ((1, 100), 0.5, -6.0)
        );
        assert_eq!(
            (second.keys, second.loop_mode),
            ((52, 52), Some(LoopMode::Sustain))
        );
        assert_eq!((second.loop_start, second.loop_end), (Some(100), Some(200)));
        assert_eq!((third.velocities, third.volume_db), ((0, 127), 3.0));
        assert_eq!(third.sample, PathBuf::from("samples/../hit.flac"));
        let unread: Vec<_> = file
            .unread
            .iter()
            .map(|(name, n)| (name.as_str(), *n))
            .collect();
        assert_eq!(unread, [("<curve>", 1), ("cutoff2", 2), ("fil_type", 1)]);
    }

    #[test]
    fn variables_includes_fades_filters_and_triggers_are_read() {
        let text = "#define $K 61\n#define $C 800\n<global> fil_type=bpf_2p cutoff=$C resonance=6 fil_veltrack=1200 fil_keytrack=100
<group> xfin_lovel=10 xfin_hivel=20 xfout_lokey=c4 xfout_hikey=c5 xf_keycurve=gain #include \"more.sfz\"
<region> sample=r.wav trigger=release rt_decay=6 pitch_keycenter=sample
<region> sample=k.wav trigger=release_key fil_keycenter=62 pitch_keycenter=62";
        let file = read(text).unwrap();
        assert!(file.unread.is_empty(), "{:?}", file.unread);
        let [more, release, key] = &file.zones[..] else {
            panic!("three")
        };
        assert_eq!((more.keys, more.trigger), ((61, 61), Trigger::Attack));
        assert_eq!(more.fades.velocities.into, (10.0, 20.0));
        assert_eq!(more.fades.keys.out, (60.0, 72.0));
        assert!(more.fades.keys.is_linear && !more.fades.velocities.is_linear);
        let filter = more.filter;
        assert_eq!(
            (filter.kind, filter.cutoff),
            (FilterKind::Band, Some(800.0))
        );
        assert_eq!(filter.resonance_db, 6.0);
        assert_eq!(filter.cutoff_of(72.0, 0.5), Some(800.0 * 2.0 * 2f64.sqrt()));
        assert_eq!((release.trigger, release.decay_db), (Trigger::Release, 6.0));
        assert!(release.takes_root_of_sample && !key.takes_root_of_sample);
        assert_eq!(
            (key.trigger, key.filter.center),
            (Trigger::ReleaseKey, 62.0)
        );
    }

    #[test]
    fn regions_that_no_note_plays_are_left_out_and_counted() {
        for never in [
            "lokey=60 hikey=50",
            "lovel=2 hivel=1",
            "seq_length=2 seq_position=3",
            "lokey=-1 hikey=-1",
        ] {
            let text = format!("<region> sample=a.wav {never}");
            assert!(read(&text).unwrap_err().contains("no note plays any"));
            let file = read(&format!("{text}\n<region> sample=b.wav lokey=-1 hikey=60")).unwrap();
            assert_eq!(file.zones.len(), 1, "{never}");
            assert_eq!(file.zones[0].keys, (0, 60));
            assert_eq!(file.unread["a region that no note plays"], 1);
        }
        // A group may have no keys, and a region of it one.
        let file = read("<group> hikey=-1 <region> sample=a.wav key=60").unwrap();
        assert_eq!(file.zones[0].keys, (60, 60));
        let silent = read("<region> sample=a.wav end=-1").unwrap();
        assert_eq!((silent.zones[0].end, silent.unread.len()), (Some(0), 0));
    }

    #[test]
    fn mistakes_have_their_line() {
        for (text, message) in [
            ("", "no `<region>`"),
            ("<region> key=60", "no `<region>`"),
            ("<region> sample=*sine", "sample=*… is not played"),
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
            ("<region> sample=a.wav cutoff=-1", "`cutoff=-1`"),
            ("<region> sample=a.wav xfin_lovel=128", "`xfin_lovel=128`"),
            ("<region> sample=a.wav xf_velcurve=round", "has no `round`"),
            (
                "#define $K 200\n\n#include \"more.sfz\"",
                "more.sfz, line 1: `key=200`",
            ),
            ("#include \"more.sfz\"", "more.sfz, line 1: `key=$K`"),
            ("\n#include \"no.sfz\"", "line 2: no.sfz"),
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
            key=c#4 tune=-50 loop_mode=one_shot loop_end=9\r\n#define $K 61\n<region>sample=*sine key=$K #include \"more.sfz\" \
            cutoff=800 fil_type=hpf_2p resonance=3 xfin_lovel=1 xfout_hikey=c9 xf_keycurve=gain trigger=release rt_decay=1";
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
                        ['<', '>', '=', '/', '*', '\n', '#', '$', '"', '9'][numbers.below(10)],
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
