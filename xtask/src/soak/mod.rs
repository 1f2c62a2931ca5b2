//! `cargo xtask soak`: tests that take long, or need quiet, privilege or a sanitizer; in parts of at most 25 minutes.

mod commands;
mod miri;
mod parts;

use crate::huge_pages::HugePages;
use crate::packages;
use crate::summary::Summary;
use parts::{Part, parts};

/// Limit of one part; the build of its programs counts too.
const PART_MINUTES: u64 = 25;

/// Parts of the long tier that are requested.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SoakOptions {
    /// Names of parts, or their first words; all parts if there is none.
    only: Vec<String>,
    /// Minutes of each fuzzer.
    minutes: u64,
    /// Print the names of the selected parts, and run none.
    list: bool,
}

impl SoakOptions {
    /// Parses the words after `soak`.
    ///
    /// # Errors
    ///
    /// The word that is wrong, and why.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            only: Vec::new(),
            minutes: 10,
            list: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--list" => options.list = true,
                "--minutes" => {
                    let minutes = words.next().and_then(|n| n.parse().ok());
                    let minutes = minutes.filter(|n| (1..=PART_MINUTES - 12).contains(n));
                    options.minutes = minutes.ok_or("--minutes takes 1 to 13")?;
                }
                word if word.starts_with('-') => {
                    return Err(format!("there is no option `{word}`"));
                }
                word => options.only.push(word.to_string()),
            }
        }
        Ok(options)
    }

    /// Returns true if only the names of parts are asked for.
    pub(crate) fn is_list(&self) -> bool {
        self.list
    }

    /// Returns true if the part is selected: by its name, or by the first words of it.
    fn wants(&self, name: &str) -> bool {
        let begins = |only: &String| {
            let rest = name.strip_prefix(only.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        self.only.is_empty() || self.only.iter().any(begins)
    }
}

/// The selected parts.
///
/// # Errors
///
/// No part has such a name.
fn selected(options: &SoakOptions) -> Result<Vec<Part>, String> {
    let mut parts = parts();
    let unknown = options.only.iter().find(|word| {
        let one = SoakOptions {
            only: vec![(*word).clone()],
            ..*options
        };
        !parts.iter().any(|part| one.wants(&part.name))
    });
    if let Some(word) = unknown {
        return Err(format!("there is no part `{word}`: see `soak --list`"));
    }
    parts.retain(|part| options.wants(&part.name));
    Ok(parts)
}

/// Prints the names of the selected parts.
///
/// # Errors
///
/// No part has such a name.
pub(crate) fn list(options: &SoakOptions) -> Result<(), String> {
    let parts = selected(options)?;
    parts.iter().for_each(|part| println!("{}", part.name));
    Ok(())
}

/// Runs the selected parts.
///
/// # Errors
///
/// No part has such a name.
pub(crate) fn run(options: &SoakOptions) -> Result<Summary, String> {
    let parts = selected(options)?;
    let mut summary = Summary::of(&[]);
    packages::install(&mut summary, packages::FOR_TEST);
    if parts.iter().any(|part| part.name == "neon") {
        packages::install(&mut summary, packages::FOR_SOAK);
    }
    let _huge_pages = HugePages::set_aside();
    for part in parts {
        part.run(&mut summary, options.minutes);
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_by_name_or_by_their_first_words() {
        let options = SoakOptions::parse(&["tsan-rt", "fuzz", "--minutes", "3"]).unwrap();
        assert_eq!(options.minutes, 3);
        for (name, wanted) in [
            ("tsan-rt", true),
            ("tsan-rt-x", true),
            ("tsan-rtx", false),
            ("fuzz-read_ag", true),
            ("asan-rt", false),
        ] {
            assert_eq!(options.wants(name), wanted, "{name}");
        }
        assert!(SoakOptions::parse(&[]).unwrap().wants("neon"));
        for wrong in [&["--minutes"][..], &["--minutes", "99"], &["--all"]] {
            assert!(SoakOptions::parse(wrong).is_err(), "{wrong:?}");
        }
        let unknown = SoakOptions::parse(&["nothing", "--list"]).unwrap();
        assert!(unknown.is_list() && list(&unknown).is_err());
    }

    #[test]
    fn every_part_has_a_name_of_its_own() {
        let mut names: Vec<String> = parts().into_iter().map(|part| part.name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        for name in [
            "tsan-exec",
            "tsan-check-stuck",
            "miri-rt",
            "loom-rt-deque",
            "fuzz-read_toml",
            "neon",
        ] {
            assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
        }
    }
}
