//! [`FileQuery`]: questions about files and folders, and changes to them (`x_file.c`).

use super::access::FileAccess;
use super::name::{FileName, ShortText};
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Files that `file glob` finds, at most.
const MAX_FOUND: usize = 4096;

/// Question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileQuestion {
    /// Path at which a name is found.
    Which,
    /// Files whose names match.
    Glob,
    Stat,
    MakeFolder,
    Delete,
    Copy,
    Move,
}

impl FileQuestion {
    /// Returns true if it changes files.
    pub(crate) fn is_write(self) -> bool {
        !matches!(self, Self::Which | Self::Glob | Self::Stat)
    }
}

/// A question about a file; `to` where it is copied or moved.
#[derive(Clone, Debug)]
pub(crate) struct FileQuery {
    pub question: FileQuestion,
    pub name: FileName,
    pub to: Option<FileName>,
}

/// Facts about a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileFacts {
    /// Numbers by their names, in Pd's order.
    pub numbers: [(&'static str, f32); 11],
    pub kind: &'static str,
    /// Last read and last change: year, month, day, hour, minute, second, all of UTC.
    pub times: [[f32; 6]; 2],
}

/// The answer. A mistake is a sentence.
#[derive(Debug)]
pub(crate) enum FileAnswer {
    /// Paths, each with true for a folder.
    Found(Vec<(String, bool)>),
    Facts(Box<FileFacts>),
    Done,
    No(Option<String>),
}

impl FileQuery {
    /// Answers.
    ///
    /// Real-time: waits, on the disk.
    pub(super) fn serve(&self, access: &FileAccess) -> FileAnswer {
        let path = self.name.folder.join(&*self.name.name);
        let result = match self.question {
            FileQuestion::Which => return which(&self.name, access),
            FileQuestion::Glob => {
                let found = glob(&self.name.folder, &self.name.name);
                return match found.is_empty() {
                    true => FileAnswer::No(None),
                    false => FileAnswer::Found(found),
                };
            }
            FileQuestion::Stat => {
                return facts(&path).map_or(FileAnswer::No(None), |facts| {
                    FileAnswer::Facts(Box::new(facts))
                });
            }
            FileQuestion::MakeFolder => make_folder(&self.name, access),
            FileQuestion::Delete => access.target(&self.name).and_then(|path| {
                let is_folder = path.is_dir() && !path.is_symlink();
                let removed = if is_folder {
                    fs::remove_dir(&path)
                } else {
                    fs::remove_file(&path)
                };
                removed.map_err(text)
            }),
            FileQuestion::Copy | FileQuestion::Move => self.transfer(&path, access),
        };
        match result {
            Ok(()) => FileAnswer::Done,
            Err(why) => {
                access.count_lost();
                FileAnswer::No(Some(format!("{}: {why}", self.name.name)))
            }
        }
    }

    /// Copies or moves a file.
    fn transfer(&self, from: &Path, access: &FileAccess) -> Result<(), String> {
        let to = self.to.as_ref().ok_or("no destination")?;
        let mut inside = to.clone();
        if to.folder.join(&*to.name).is_dir() {
            let name = from
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or("");
            let parts = [&*to.name, "/", name];
            inside.name = ShortText::new(&parts).ok_or("the name is too long")?;
        }
        let target = access.target(&inside)?;
        if from.is_dir() {
            return Err("it is a folder".into());
        }
        // A copy of a copy, and not the file itself, takes the place of an older one.
        let content = files::read(from, 4 << 30).map_err(text)?;
        if self.question == FileQuestion::Move {
            let source = access.target(&self.name)?;
            files::replace(&target, &content).map_err(text)?;
            return fs::remove_file(source).map_err(text);
        }
        files::replace(&target, &content).map_err(text)
    }
}

fn text(why: io::Error) -> String {
    why.to_string()
}

fn which(name: &FileName, access: &FileAccess) -> FileAnswer {
    let path = access.find(name);
    let path = std::path::absolute(&path).unwrap_or(path);
    match path.is_file() {
        true => FileAnswer::Found(vec![(path.to_string_lossy().into_owned(), false)]),
        false => FileAnswer::No(None),
    }
}

/// Makes a folder and those around it that are missing: the first that is there lies where a patch may write.
fn make_folder(name: &FileName, access: &FileAccess) -> Result<(), String> {
    let path = name.folder.join(&*name.name);
    if path.is_dir() {
        return Ok(());
    }
    if path
        .components()
        .any(|part| part == std::path::Component::ParentDir)
    {
        return Err("a new folder is named without `..`".into());
    }
    let mut around = path.as_path();
    while !around.exists() {
        around = around.parent().ok_or("there is no such folder")?;
    }
    let inside = FileName {
        folder: around.into(),
        name: ShortText::new(&["new"]).ok_or("too long")?,
    };
    access.target(&inside)?;
    fs::create_dir_all(&path).map_err(text)
}

fn facts(path: &Path) -> Option<FileFacts> {
    let link = fs::symlink_metadata(path).ok()?;
    let data = fs::metadata(path).ok()?;
    let yes = |is: bool| f32::from(u8::from(is));
    let own = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == data.uid());
    let readable = match data.is_dir() {
        true => fs::read_dir(path).is_ok(),
        false => data.is_file() && fs::File::open(path).is_ok(),
    };
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    let number = |n: u64| n as f32;
    let kind = match data.file_type() {
        kind if kind.is_file() => "file",
        kind if kind.is_dir() => "directory",
        kind if kind.is_fifo() => "fifo",
        kind if kind.is_char_device() => "character",
        kind if kind.is_block_device() => "block",
        kind if kind.is_socket() => "socket",
        _ => "unknown",
    };
    let time =
        |seconds: i64| civil(UNIX_EPOCH + Duration::from_secs(seconds.max(0).cast_unsigned()));
    Some(FileFacts {
        numbers: [
            (
                "size",
                if data.is_dir() {
                    0.0
                } else {
                    number(data.len())
                },
            ),
            ("readable", yes(readable)),
            ("writable", yes(!data.permissions().readonly())),
            ("executable", yes(data.mode() & 0o111 != 0)),
            ("owned", yes(own)),
            ("isfile", yes(data.is_file())),
            ("isdirectory", yes(data.is_dir())),
            ("issymlink", yes(link.is_symlink())),
            ("uid", number(data.uid().into())),
            ("gid", number(data.gid().into())),
            ("permissions", number((data.mode() & 0o777).into())),
        ],
        kind,
        times: [time(data.atime()), time(data.mtime())],
    })
}

/// Year, month, day, hour, minute and second of a time, in UTC.
fn civil(time: std::time::SystemTime) -> [f32; 6] {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days from 0000-03-01, in eras of 400 years: a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    [year, month, day, rest / 3600, rest / 60 % 60, rest % 60].map(|n| n as f32)
}

/// Paths that match a pattern of `*`, `?` and `[…]`, sorted.
fn glob(folder: &Path, pattern: &str) -> Vec<(String, bool)> {
    let mut found = vec![match pattern.starts_with('/') {
        true => ("/".to_owned(), PathBuf::from("/")),
        false => (String::new(), folder.to_owned()),
    }];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for (shown, path) in found {
            let is_open = shown.is_empty() || shown.ends_with('/');
            let shown = |name: &str| format!("{shown}{}{name}", if is_open { "" } else { "/" });
            if !part.contains(['*', '?', '[']) {
                let path = path.join(part);
                if path.exists() {
                    next.push((shown(part), path));
                }
                continue;
            }
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            let is_hidden = |name: &String| name.starts_with('.') && !part.starts_with('.');
            let mut names: Vec<String> = names
                .filter(|name| !is_hidden(name) && matches(part.as_bytes(), name.as_bytes()))
                .collect();
            names.sort_unstable();
            next.extend(names.iter().map(|name| (shown(name), path.join(name))));
        }
        next.truncate(MAX_FOUND);
        found = next;
    }
    let found = found.into_iter().filter(|(shown, _)| !shown.is_empty());
    found.map(|(shown, path)| (shown, path.is_dir())).collect()
}

/// Returns true if a name matches a pattern. The work is at most their lengths multiplied.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some(_) => {
                if let Some(length) = one(&pattern[p..], name[n]) {
                    (p, n) = (p + length, n + 1);
                    continue;
                }
            }
            None => {}
        }
        // The last star takes one byte more.
        let Some((after, taken)) = star else {
            return false;
        };
        star = Some((after, taken + 1));
        (p, n) = (after, taken + 1);
    }
    pattern[p..].iter().all(|rest| *rest == b'*')
}

/// Bytes of the pattern that stand for one byte, if it is this.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', set @ ..] => {
            let is_not = matches!(set.first(), Some(b'!' | b'^'));
            let set = &set[usize::from(is_not)..];
            let end = set.iter().skip(1).position(|b| *b == b']').map(|at| at + 1);
            let Some(end) = end else {
                return (byte == b'[').then_some(1);
            };
            let (mut at, mut is_in) = (0, false);
            while at < end {
                let is_range = at + 2 < end && set[at + 1] == b'-';
                let last = if is_range { set[at + 2] } else { set[at] };
                is_in |= (set[at]..=last).contains(&byte);
                at += if is_range { 3 } else { 1 };
            }
            (is_in != is_not).then_some(1 + usize::from(is_not) + end + 1)
        }
        [other, ..] => (*other == byte).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns() {
        for (pattern, name, is) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "a.tx", false),
            ("a?c", "abc", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("**a*b", "xxaxxb", true),
            ("[", "[", true),
            ("", "", true),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes()),
                is,
                "{pattern} {name}"
            );
        }
        let stars = "*a".repeat(50);
        assert!(!matches(stars.as_bytes(), "a".repeat(49).as_bytes()));
    }

    #[test]
    fn dates_follow_the_calendar() {
        let date = |seconds| civil(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(date(0), [1970.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(date(951_782_400 + 3661), [2000.0, 2.0, 29.0, 1.0, 1.0, 1.0]);
        assert_eq!(date(1_767_225_599), [2025.0, 12.0, 31.0, 23.0, 59.0, 59.0]);
    }
}
