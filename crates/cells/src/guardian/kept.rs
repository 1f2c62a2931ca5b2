//! [`ChangeTable`]: what commands have changed, kept with the guardian for the next supervisor: a text for each key.
//!
//! The supervisor writes a log into memory that the guardian holds: each change of an entry is one record behind the others.
//! The next supervisor reads it to its end, or to the first record that is not whole. When most of it is outdated, a new log
//! takes its place.
//!
//! | bytes of a record | hold |
//! |---|---|
//! | 0 to 3 | length of the key |
//! | 4 to 7 | length of the value; [`REMOVED`] for an entry that is no more |
//! | 8 to 15 | a sum over lengths, key and value |
//! | then | key, value |

use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

/// Most entries, and most bytes of all their keys and values.
const MAX_ENTRIES: usize = 1 << 16;
const MAX_BYTES: usize = 4 << 20;
/// Bytes of a log that may be outdated beside as many that are not.
const SLACK: u64 = 256 << 10;
/// Longest log that is read.
const MAX_LOG: u64 = 4 * (MAX_BYTES as u64) + SLACK + ((MAX_ENTRIES * HEAD) as u64);
const HEAD: usize = 16;
const REMOVED: u32 = u32::MAX;

/// Texts by key, for the next supervisor.
#[derive(Default)]
pub struct ChangeTable {
    entries: BTreeMap<String, String>,
    /// Bytes of all keys and values.
    bytes: usize,
    log: Option<Log>,
}

/// A log, and where the guardian hears of another one.
struct Log {
    file: File,
    len: u64,
    leave: LeaveLog,
}

/// Gives a new log to the guardian.
pub(crate) type LeaveLog = Rc<dyn Fn(OwnedFd)>;

impl ChangeTable {
    /// The entries in the log of the supervisor before.
    pub(crate) fn read(file: OwnedFd) -> Self {
        let file = File::from(file);
        let len = file.metadata().map_or(0, |it| it.len()).min(MAX_LOG);
        let mut bytes = vec![0; len as usize];
        let mut kept = Self::default();
        if file.read_exact_at(&mut bytes, 0).is_err() {
            return kept;
        }
        let mut rest = bytes.as_slice();
        while let Some((key, value, next)) = read_record(rest) {
            match value {
                Some(value) => kept.insert(key, value),
                None => kept.take(key),
            };
            rest = next;
        }
        kept
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(String::as_str)
    }

    /// The entries whose keys begin with `prefix`: rest of the key, value.
    pub fn all<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let from = self.entries.range::<str, _>(from);
        from.map_while(move |(key, value)| Some((key.strip_prefix(prefix)?, value.as_str())))
    }

    /// Keeps a value. Returns false if there is no room for it: then the key has none.
    ///
    /// Real-time: setup.
    pub fn set(&mut self, key: &str, value: &str) -> bool {
        if self.get(key) == Some(value) {
            return true;
        }
        if !self.insert(key, value) {
            self.remove(key);
            return false;
        }
        self.append(key, Some(value));
        true
    }

    /// Keeps no value for a key.
    ///
    /// Real-time: setup.
    pub fn remove(&mut self, key: &str) {
        if self.take(key) {
            self.append(key, None);
        }
    }

    fn insert(&mut self, key: &str, value: &str) -> bool {
        let before = self.get(key).map_or(0, |it| key.len() + it.len());
        let bytes = self.bytes - before + key.len() + value.len();
        let is_new = before == 0;
        if bytes > MAX_BYTES || (is_new && self.entries.len() >= MAX_ENTRIES) {
            return false;
        }
        self.bytes = bytes;
        self.entries.insert(key.to_owned(), value.to_owned());
        true
    }

    fn take(&mut self, key: &str) -> bool {
        let taken = self.entries.remove(key);
        if let Some(value) = &taken {
            self.bytes -= key.len() + value.len();
        }
        taken.is_some()
    }

    /// Writes a record, or a new log if this one is long.
    fn append(&mut self, key: &str, value: Option<&str>) {
        let Some(log) = &mut self.log else {
            return;
        };
        let record = record(key, value);
        let len = log.len + record.len() as u64;
        let live = (self.bytes + HEAD * self.entries.len()) as u64;
        let done = match len > 2 * live + SLACK {
            true => {
                let leave = log.leave.clone();
                self.begin_log(leave)
            }
            false => {
                let at = std::mem::replace(&mut log.len, len);
                log.file.write_all_at(&record, at)
            }
        };
        if done.is_err() {
            // No memory: the guardian has the entries up to here.
            self.log = None;
        }
    }

    /// From now on the guardian has the entries: it gets each log by `leave`.
    ///
    /// # Errors
    ///
    /// There is no memory.
    ///
    /// Real-time: setup.
    pub(crate) fn begin_log(&mut self, leave: LeaveLog) -> io::Result<()> {
        let file = File::from(memfd_create("divisi-kept", MemfdFlags::CLOEXEC)?);
        let entries = self.entries.iter();
        let bytes: Vec<u8> = entries
            .flat_map(|(key, value)| record(key, Some(value)))
            .collect();
        file.write_all_at(&bytes, 0)?;
        leave(file.try_clone()?.into());
        let len = bytes.len() as u64;
        self.log = Some(Log { file, len, leave });
        Ok(())
    }
}

fn record(key: &str, value: Option<&str>) -> Vec<u8> {
    let text = value.unwrap_or_default();
    let lens = [
        key.len() as u32,
        value.map_or(REMOVED, |it| it.len() as u32),
    ];
    let mut record = Vec::with_capacity(HEAD + key.len() + text.len());
    lens.iter().for_each(|len| record.extend(len.to_le_bytes()));
    record.extend(sum(lens, key.as_bytes(), text.as_bytes()).to_le_bytes());
    record.extend(key.as_bytes());
    record.extend(text.as_bytes());
    record
}

/// Key, value and what is behind the record at the begin of `bytes`, if it is whole.
fn read_record(bytes: &[u8]) -> Option<(&str, Option<&str>, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let (lens, _) = head.as_chunks::<4>();
    let lens = [u32::from_le_bytes(lens[0]), u32::from_le_bytes(lens[1])];
    let expected = u64::from_le_bytes(*head.last_chunk::<8>()?);
    let (key, rest) = rest.split_at_checked(lens[0] as usize)?;
    let value_len = if lens[1] == REMOVED { 0 } else { lens[1] };
    let (value, rest) = rest.split_at_checked(value_len as usize)?;
    if sum(lens, key, value) != expected {
        return None;
    }
    let value = match lens[1] {
        REMOVED => None,
        _ => Some(std::str::from_utf8(value).ok()?),
    };
    Some((std::str::from_utf8(key).ok()?, value, rest))
}

fn sum(lens: [u32; 2], key: &[u8], value: &[u8]) -> u64 {
    let bytes = lens.iter().flat_map(|len| len.to_le_bytes());
    let bytes = bytes
        .chain(key.iter().copied())
        .chain(value.iter().copied());
    // FNV-1a.
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// The last log that the guardian got.
    type Left = Rc<RefCell<Option<File>>>;

    /// A table with a log.
    fn table() -> (ChangeTable, Left) {
        let (mut kept, left) = (ChangeTable::default(), Left::default());
        let to = left.clone();
        let leave = move |file| *to.borrow_mut() = Some(File::from(file));
        kept.begin_log(Rc::new(leave)).unwrap();
        (kept, left)
    }

    fn last(left: &Left) -> File {
        left.borrow().as_ref().unwrap().try_clone().unwrap()
    }

    fn read(file: &File) -> ChangeTable {
        ChangeTable::read(file.try_clone().unwrap().into())
    }

    #[test]
    fn the_next_supervisor_has_the_newest_value_of_each_key() {
        let (mut kept, received) = table();
        let file = last(&received);
        assert!(kept.set("param a.freq", "1") && kept.set("param b.freq", "2"));
        assert!(kept.set("param a.freq", "3") && kept.set("cell x", "stopped"));
        kept.remove("param b.freq");
        let next = read(&file);
        assert_eq!(next.get("param a.freq"), Some("3"));
        assert_eq!(next.all("param ").collect::<Vec<_>>(), [("a.freq", "3")]);
        assert_eq!(next.entries, kept.entries);
        assert_eq!(next.bytes, kept.bytes);
    }

    #[test]
    fn a_log_stays_short_and_a_table_bounded() {
        let (mut kept, received) = table();
        let mut longest = 0;
        for round in 0..50_000 {
            assert!(kept.set("param tone.freq", &format!("{round}")));
            longest = longest.max(kept.log.as_ref().unwrap().len);
        }
        assert!(longest <= 2 * SLACK, "{longest}");
        assert_eq!(read(&last(&received)).get("param tone.freq"), Some("49999"));
        assert!(kept.set("long", &"x".repeat(MAX_BYTES - 100)));
        assert!(!kept.set("more", &"x".repeat(100)), "there is no room");
        assert_eq!(kept.get("more"), None);
        assert!(!kept.set("param tone.freq", &"x".repeat(100)));
        assert_eq!(
            kept.get("param tone.freq"),
            None,
            "no old value in place of a new one"
        );
    }

    #[test]
    fn a_log_that_is_cut_or_changed_gives_what_is_whole() {
        let (mut kept, received) = table();
        let file = last(&received);
        assert!(kept.set("a", "1") && kept.set("b", "2") && kept.set("c", "3"));
        let len = file.metadata().unwrap().len() as usize;
        let mut bytes = vec![0; len];
        file.read_exact_at(&mut bytes, 0).unwrap();
        for at in 0..len {
            file.set_len(at as u64).unwrap();
            let found = read(&file).entries;
            assert!(
                found
                    .iter()
                    .all(|(key, value)| kept.get(key) == Some(value))
            );
            assert_eq!(found.len(), at / (HEAD + 2));
            file.write_all_at(&bytes, 0).unwrap();
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x55;
            file.write_all_at(&wrong, 0).unwrap();
            let found = read(&file).entries;
            assert_eq!(found.len(), at / (HEAD + 2), "{at}");
            file.write_all_at(&bytes, 0).unwrap();
        }
    }
}
