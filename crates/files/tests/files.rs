//! Pipes, devices, links, full disks: what is read ends, what is written is whole, and one file is one file.
#![cfg(unix)]

use divisi_files::{FileId, NewFile, check_writable, open, read, replace, write};
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("divisi-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        path
    }

    fn names(&self) -> Vec<String> {
        let all = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = all
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_pipe_a_device_and_a_folder_are_refused_at_once() {
    let folder = Folder::new("refused");
    let pipe = folder.pipe("pipe");
    let link = folder.0.join("link");
    symlink(&pipe, &link).unwrap();
    for (path, what) in [
        (pipe.as_path(), "a pipe"),
        (&link, "a pipe"),
        (Path::new("/dev/zero"), "a device"),
        (&folder.0, "a folder"),
    ] {
        let error = open(path).unwrap_err().to_string();
        assert!(error.contains(what), "{path:?}: {error}");
        assert!(read(path, 10).is_err(), "{path:?}");
    }
    assert_eq!(
        open(folder.0.join("none")).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn no_more_than_the_limit_is_read() {
    let folder = Folder::new("limit");
    let path = folder.file("ten", "0123456789");
    assert_eq!(read(&path, 10).unwrap(), b"0123456789");
    assert_eq!(read(&path, 9).unwrap_err().kind(), ErrorKind::FileTooLarge);
    let sparse = folder.file("sparse", "");
    fs::File::options()
        .write(true)
        .open(&sparse)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    assert_eq!(
        read(&sparse, 1 << 20).unwrap_err().kind(),
        ErrorKind::FileTooLarge
    );
    // Files of the system state no length.
    assert!(!read("/proc/self/status", 1 << 20).unwrap().is_empty());
    assert_eq!(
        read("/proc/self/status", 3).unwrap_err().kind(),
        ErrorKind::FileTooLarge
    );
}

#[test]
fn a_file_is_replaced_as_a_whole_or_not_at_all() {
    let folder = Folder::new("whole");
    let path = folder.file("a", "old");
    let mut new = NewFile::create(&path).unwrap();
    new.write_all(b"ne").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(new);
    assert_eq!(
        (fs::read(&path).unwrap(), folder.names()),
        (b"old".to_vec(), vec!["a".to_owned()])
    );
    replace(&path, "new").unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), folder.names()),
        (b"new".to_vec(), vec!["a".to_owned()])
    );
    check_writable(folder.0.join("b")).unwrap();
    assert_eq!(folder.names(), ["a"]);
    assert!(check_writable(folder.0.join("none/b")).is_err());
    assert!(check_writable(&folder.0).is_err());
}

#[test]
fn an_earlier_file_is_kept_under_the_next_free_name() {
    let folder = Folder::new("kept");
    let path = folder.0.join("a");
    let in_folder = |name: &str| Some(folder.0.join(name));
    let texts = |names: &[&str]| -> Vec<String> {
        let read = |name| fs::read_to_string(folder.0.join(name)).unwrap();
        names.iter().map(read).collect()
    };
    assert_eq!(write(&path, "one").unwrap(), None);
    assert_eq!(write(&path, "one").unwrap(), None, "the same bytes");
    assert_eq!(write(&path, "two").unwrap(), in_folder("a~"));
    assert_eq!(write(&path, "three").unwrap(), in_folder("a~2"));
    assert_eq!(texts(&["a", "a~", "a~2"]), ["three", "one", "two"]);
    // What is there already under another name is not kept twice.
    assert_eq!(write(&path, "one").unwrap(), in_folder("a~3"));
    assert_eq!(write(&path, "four").unwrap(), in_folder("a~"));
    assert_eq!(
        texts(&["a", "a~", "a~2", "a~3"]),
        ["four", "one", "two", "three"]
    );
    // An empty file holds nothing to keep.
    let empty = folder.file("empty", "");
    assert_eq!(write(&empty, "full").unwrap(), None);
    assert_eq!(folder.names(), ["a", "a~", "a~2", "a~3", "empty"]);
}

#[test]
fn an_earlier_take_is_kept_unless_the_new_one_is_equal() {
    let folder = Folder::new("takes");
    let path = folder.file("take", "first");
    // A second name that was there before stays.
    folder.file("mine", "first");
    folder.file("mine~", "first");
    let mut new = NewFile::create(folder.0.join("mine")).unwrap();
    new.publish().unwrap();
    new.write_all(b"first").unwrap();
    assert_eq!(new.commit().unwrap(), None);
    assert_eq!(folder.names(), ["mine", "mine~", "take"]);
    for (content, kept) in [("first", None), ("second", Some("take~"))] {
        let mut new = NewFile::create(&path).unwrap();
        new.write_all(&content.as_bytes()[..2]).unwrap();
        new.publish().unwrap();
        assert_eq!(fs::read_to_string(folder.0.join("take~")).unwrap(), "first");
        new.write_all(&content.as_bytes()[2..]).unwrap();
        assert_eq!(new.commit().unwrap(), kept.map(|name| folder.0.join(name)));
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        assert_eq!(folder.names().len(), 3 + kept.iter().count());
    }
}

#[test]
fn a_published_file_grows_under_its_name() {
    let folder = Folder::new("published");
    let path = folder.file("take", "old");
    let other_name = folder.0.join("copy");
    fs::hard_link(&path, &other_name).unwrap();
    let mut new = NewFile::create(&path).unwrap();
    new.write_all(b"1").unwrap();
    new.publish().unwrap();
    new.write_all(b"2").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"12");
    drop(new);
    assert_eq!(
        (fs::read(&path).unwrap(), fs::read(other_name).unwrap()),
        (b"12".to_vec(), b"old".to_vec())
    );
}

#[test]
fn the_mode_of_a_replaced_file_stays_and_a_link_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("mode");
    let path = folder.file("a", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.0.join("link");
    symlink("a", &link).unwrap();
    write(&link, "new").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let dangling = folder.0.join("dangling");
    symlink("made", &dangling).unwrap();
    write(&dangling, "made").unwrap();
    assert_eq!(fs::read(folder.0.join("made")).unwrap(), b"made");
    symlink("circle", folder.0.join("circle")).unwrap();
    assert!(write(folder.0.join("circle"), "").is_err());
}

#[test]
fn a_device_is_written_and_never_replaced() {
    use std::os::unix::fs::FileTypeExt;
    write("/dev/null", "gone").unwrap();
    assert!(write("/dev/full", "lost").is_err());
    for device in ["/dev/null", "/dev/full"] {
        assert!(fs::metadata(device).unwrap().file_type().is_char_device());
    }
    let folder = Folder::new("stream");
    assert!(write(folder.pipe("unread"), "lost").is_err());
    let pipe = folder.pipe("read");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    // Until the reader is there, the pipe is refused.
    while write(&pipe, "heard").is_err() {
        std::thread::yield_now();
    }
    assert_eq!(reader.join().unwrap(), b"heard");
}

#[test]
fn one_file_has_one_identity_under_all_its_names() {
    let folder = Folder::new("identity");
    let path = folder.file("a", "");
    let (hard, soft) = (folder.0.join("hard"), folder.0.join("soft"));
    fs::hard_link(&path, &hard).unwrap();
    symlink("a", &soft).unwrap();
    let id = FileId::of(&path);
    assert!(id.is_some());
    assert_eq!(
        (FileId::of(&hard), FileId::of(&soft)),
        (id.clone(), id.clone())
    );
    assert_eq!(FileId::of(folder.0.join("./a")), id);
    assert_ne!(FileId::of(folder.file("b", "")), id);
    symlink("missing", folder.0.join("to-missing")).unwrap();
    let missing = FileId::of(folder.0.join("missing"));
    assert!(missing.is_some());
    assert_eq!(FileId::of(folder.0.join("to-missing")), missing);
    for none in [Path::new("/dev/null"), &folder.0, &folder.0.join("none/a")] {
        assert_eq!(FileId::of(none), None, "{none:?}");
    }
}
