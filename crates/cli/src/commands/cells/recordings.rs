//! Recordings of a supervisor that was lost: the next one goes on in other files.

use crate::output::messages;
use crate::session::load::LoadedSession;
use divisi::graph::{NodeId, ParamValue};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Gives each node that writes a file that exists another one, and the recording of the output too, and says so: what was
/// recorded stays.
pub(super) fn go_on_in_other_files(loaded: &mut LoadedSession, record: &mut Option<PathBuf>) {
    let mut taken = written_places(loaded);
    taken.extend(record.as_deref().map(place));
    go_on_in_nodes(loaded, &mut taken);
    go_on_in_another_take(record, &mut taken);
}

/// Places of the files that nodes write or will write.
fn written_places(loaded: &LoadedSession) -> HashSet<PathBuf> {
    let nodes = loaded.session.graph.nodes();
    let names = nodes.filter_map(|(_, node)| {
        let kind = loaded.registry.catalogue().get(node.effective_kind())?;
        node.text(kind.writes?)
    });
    names.map(|name| place(&loaded.folder.join(name))).collect()
}

/// One path for all names of a file in one folder.
fn place(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = whole.parent().and_then(|it| it.canonicalize().ok());
    match (folder, whole.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => whole,
    }
}

fn go_on_in_nodes(loaded: &mut LoadedSession, taken: &mut HashSet<PathBuf>) {
    let mut changes: Vec<(NodeId, &'static str, PathBuf)> = Vec::new();
    for (id, node) in loaded.session.graph.nodes() {
        let kind = loaded.registry.catalogue().get(node.effective_kind());
        let Some(param) = kind.and_then(|kind| kind.writes) else {
            continue;
        };
        let Some(name) = node.text(param).map(PathBuf::from) else {
            continue;
        };
        if !loaded.folder.join(&name).exists() {
            continue;
        }
        let end = complete(&loaded.folder.join(&name));
        let free = free_name(&loaded.folder, &name, taken);
        messages::print_message(&format!(
            "`{}` goes on in {}; {} holds what came before{end}",
            node.name,
            free.display(),
            name.display()
        ));
        changes.push((id, param, free));
    }
    for (id, param, name) in changes {
        if let Some(node) = loaded.session.graph.node_mut(id) {
            node.set(param, ParamValue::Text(name.to_string_lossy().into_owned()));
        }
    }
}

fn go_on_in_another_take(record: &mut Option<PathBuf>, taken: &mut HashSet<PathBuf>) {
    let Some(path) = record.as_mut().filter(|path| path.exists()) else {
        return;
    };
    let end = complete(path);
    let free = free_name(Path::new(""), path, taken);
    messages::print_message(&format!(
        "the recording goes on in {}; {} holds what came before{end}",
        free.display(),
        path.display()
    ));
    *path = free;
}

/// Completes the file of a recorder that was killed. Returns what is to be said of its end.
fn complete(path: &Path) -> &'static str {
    let is_sound = path.extension().is_some_and(|it| it == "wav");
    match divisi::media::complete_recording(path) {
        Ok(_) if is_sound => "",
        // A header of sound is up to date after each second.
        _ => ", but for its end",
    }
}

/// `take-2.wav` for `take.wav`, or the next number that no file has and none of `taken`, which gets it.
fn free_name(folder: &Path, name: &Path, taken: &mut HashSet<PathBuf>) -> PathBuf {
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    let numbered = |number: u32| {
        let mut file = format!("{stem}-{number}");
        if let Some(extension) = name.extension() {
            file = format!("{file}.{}", extension.to_string_lossy());
        }
        name.with_file_name(file)
    };
    let mut is_free = |name: &PathBuf| {
        let path = folder.join(name);
        path.symlink_metadata().is_err() && taken.insert(place(&path))
    };
    let mut names = (2..).map(numbered);
    names
        .find(&mut is_free)
        .unwrap_or_else(|| name.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_numbered_until_it_is_free() {
        let folder = std::env::temp_dir().join(format!("divisi-free-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a")).unwrap();
        let free = |name: &str| free_name(&folder, Path::new(name), &mut HashSet::new());
        assert_eq!(free("a/take.wav"), Path::new("a/take-2.wav"));
        std::fs::write(folder.join("a/take-2.wav"), "").unwrap();
        assert_eq!(free("a/take.wav"), Path::new("a/take-3.wav"));
        assert_eq!(free("take"), Path::new("take-2"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_name_that_another_node_will_write_is_not_free() {
        let folder = std::env::temp_dir().join(format!("divisi-taken-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a")).unwrap();
        // `take-2.mid` is not there yet, and is named otherwise; the recording of the output has the next one.
        let others = ["a/../take-2.mid", "./take-3.mid"];
        let mut taken: HashSet<_> = others.map(|it| place(&folder.join(it))).into();
        let mut free = |name: &str| free_name(&folder, Path::new(name), &mut taken);
        assert_eq!(free("take.mid"), Path::new("take-4.mid"));
        assert_eq!(free("./take.mid"), Path::new("./take-5.mid"));
        assert_eq!(free("a/take.mid"), Path::new("a/take-2.mid"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
