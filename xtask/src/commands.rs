//! Paths of the workspace, and the commands that both tiers use.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask stands in the root").into()
}

/// `cargo WORDS` in the root.
pub(crate) fn cargo(words: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(words).current_dir(root());
    command
}

/// A separate target folder for builds with other flags, so that they do not replace the usual ones.
pub(crate) fn target(name: &str) -> PathBuf {
    let usual =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    usual.join(name)
}

/// Folder names of the crates for which `is_right` holds.
pub(crate) fn crates_where(is_right: impl Fn(&Path) -> bool) -> Vec<String> {
    let folders = std::fs::read_dir(root().join("crates"))
        .into_iter()
        .flatten();
    let mut names: Vec<String> = folders
        .flatten()
        .filter(|folder| folder.path().join("Cargo.toml").exists() && is_right(&folder.path()))
        .filter_map(|folder| folder.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// `-p NAME` for each crate.
pub(crate) fn packages_of(crates: &[String]) -> Vec<String> {
    crates
        .iter()
        .flat_map(|name| ["-p".to_string(), format!("divisi-{name}")])
        .collect()
}

/// Returns true if `file` can be read and contains `words`.
pub(crate) fn says(file: &Path, words: &str) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains(words))
}

/// `cargo test` of the loom models; `None` where there are none.
pub(crate) fn loom() -> Option<Command> {
    let crates = crates_where(|folder| says(&folder.join("Cargo.toml"), "cfg(loom)"));
    (!crates.is_empty()).then(|| loom_of(&crates))
}

/// `cargo test` of the loom models of `crates`.
pub(crate) fn loom_of(crates: &[String]) -> Command {
    let mut command = cargo(&["test", "--release", "--lib", "--no-fail-fast"]);
    command
        .args(packages_of(crates))
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_TARGET_DIR", target("loom"));
    command
}
