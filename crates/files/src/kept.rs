//! Keeping of an earlier file under another name: `NAME~`, or the first of `NAME~2`, `NAME~3`, … that is free.

use crate::regular;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Earlier files that are kept beside one name.
const MAX_KEPT: usize = 9999;

/// Gives the file at `path` a second name, `NAME~`, or the first of `NAME~2`, `NAME~3`, … that is not there. Where one of them
/// has the same content, nothing is made. Returns that name. What is there under any of the names stays.
///
/// # Errors
///
/// There is no file at `path`, its folder may not be written, or all 9999 names are taken.
///
/// Real-time: waits, on the disk.
pub fn keep(path: &Path) -> io::Result<PathBuf> {
    second_name(path).map(|second| second.path)
}

/// Another name of a file that is kept.
#[derive(Debug)]
pub(crate) struct SecondName {
    pub(crate) path: PathBuf,
    /// False if a file with the same content was there.
    pub(crate) is_new: bool,
}

impl SecondName {
    /// Removes it, unless it was there before.
    pub(crate) fn remove(self) {
        if self.is_new {
            let _ = fs::remove_file(self.path);
        }
    }
}

/// As [`keep`].
pub(crate) fn second_name(path: &Path) -> io::Result<SecondName> {
    for number in 1..=MAX_KEPT {
        let mut name = path.as_os_str().to_owned();
        name.push("~");
        if number > 1 {
            name.push(number.to_string());
        }
        let name = PathBuf::from(name);
        let is_new = match link(path, &name) {
            Ok(()) => true,
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Err(_) if have_equal_content(path, &name) => false,
            Err(_) => continue,
        };
        return Ok(SecondName { path: name, is_new });
    }
    let many = format!("{MAX_KEPT} old files are beside it already, up to `NAME~{MAX_KEPT}`");
    Err(io::Error::other(many))
}

/// Makes `to` a name of the file `from`, or a copy of it where the disk knows no second names. Fails if `to` is there.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
            copy(from, to)
        }
        linked => linked,
    }
}

/// Copies `from` to the new file `to`; what is not complete is removed.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = regular::open(from)?;
    let permissions = source.metadata()?.permissions();
    let mut new = File::create_new(to)?;
    let copied = new
        .set_permissions(permissions)
        .and_then(|()| io::copy(&mut source, &mut new))
        .and_then(|_| new.sync_all());
    if copied.is_err() {
        let _ = fs::remove_file(to);
    }
    copied
}

/// Returns true if both are files with the same bytes. A file that cannot be read is equal to none.
pub(crate) fn have_equal_content(a: &Path, b: &Path) -> bool {
    let open = |path| regular::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
    match (open(a), open(b)) {
        (Ok((a_bytes, a)), Ok((b_bytes, b))) if a_bytes == b_bytes => {
            read_equal(a, b).unwrap_or(false)
        }
        _ => false,
    }
}

fn read_equal(mut a: File, mut b: File) -> io::Result<bool> {
    const PORTION: u64 = 1 << 16;
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    loop {
        of_a.clear();
        of_b.clear();
        a.by_ref().take(PORTION).read_to_end(&mut of_a)?;
        b.by_ref().take(PORTION).read_to_end(&mut of_b)?;
        if of_a != of_b || of_a.is_empty() {
            return Ok(of_a == of_b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_copy_has_the_content_and_the_mode_and_replaces_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("divisi-files-copy-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (from, to) = (folder.join("a"), folder.join("a~"));
        fs::write(&from, "mine").unwrap();
        fs::set_permissions(&from, fs::Permissions::from_mode(0o600)).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"mine");
        assert_eq!(to.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            copy(&from, &to).unwrap_err().kind(),
            ErrorKind::AlreadyExists
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
