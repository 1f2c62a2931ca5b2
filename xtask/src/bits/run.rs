//! Runs every case with both programs and compares the files.

use super::cases::{Case, cases};
use crate::step::Outcome;
use crate::summary::Summary;
use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Test graphs: arguments of `divisi shape`.
const SHAPES: &[&[&str]] = &[
    &["line", "--nodes", "20"],
    &["rake", "--nodes", "101"],
    &["diamond", "--nodes", "76"],
    &["random", "--nodes", "60", "--seed", "1"],
    &["random", "--nodes", "60", "--seed", "2"],
    &["random", "--nodes", "200", "--seed", "3"],
];

/// Compares the programs `old` and `new`. One test passes for each file that is equal to its group's first one.
pub(crate) fn run(old: &str, new: &str) -> Summary {
    let mut summary = Summary::of(&[]);
    let folder = std::env::temp_dir().join(format!("divisi-bits-{}", std::process::id()));
    let made = fs::create_dir_all(&folder)
        .and_then(|()| prepare(old, &folder))
        .and_then(|shapes| cases(&folder, &shapes));
    let (files, failures) = match made {
        Ok(cases) => (2 * cases.len(), compare(old, new, &folder, &cases)),
        Err(error) => (1, vec![format!("cases: {error}")]),
    };
    let outcome = Outcome {
        passed: (files - failures.len()) as u64,
        failed: failures.len() as u64,
        failures,
        ..Outcome::default()
    };
    summary.add("bits", outcome);
    let _ = fs::remove_dir_all(&folder);
    summary
}

/// Copies the sounds that the sessions name, and lets `program` write the test graphs.
fn prepare(program: &str, folder: &Path) -> std::io::Result<Vec<String>> {
    fs::copy("examples/media/loop.wav", folder.join("loop.wav"))?;
    fs::copy("examples/convolution/hall.wav", folder.join("hall.wav"))?;
    let mut files = Vec::new();
    for (index, shape) in SHAPES.iter().enumerate() {
        let file = folder.join(format!("shape-{index}.ag"));
        let status = Command::new(program)
            .arg("shape")
            .args(*shape)
            .arg("-o")
            .arg(&file)
            .status()?;
        if !status.success() {
            return Err(std::io::Error::other(format!(
                "shape {} failed",
                shape.join(" ")
            )));
        }
        files.push(file.display().to_string());
    }
    Ok(files)
}

/// Runs every case with both programs. Returns the differences.
fn compare(old: &str, new: &str, folder: &Path, cases: &[Case]) -> Vec<String> {
    let mut first: HashMap<&str, u64> = HashMap::new();
    let mut failures = Vec::new();
    for case in cases {
        for program in [old, new] {
            let what = || format!("{program} {}", case.args.join(" "));
            match hash_of(program, case, &folder.join("out.wav")) {
                Ok(hash) => {
                    let expected = *first.entry(&case.group).or_insert(hash);
                    if hash != expected {
                        failures.push(format!("other bits: {}", what()));
                    }
                }
                Err(why) => failures.push(format!("{why}: {}", what())),
            }
        }
    }
    failures
}

/// Hash of the file that `program` writes for `case`.
fn hash_of(program: &str, case: &Case, out: &PathBuf) -> Result<u64, String> {
    let _ = fs::remove_file(out);
    let mut command = Command::new(program);
    command
        .args(&case.args)
        .arg("-o")
        .arg(out)
        .stdout(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(text.lines().next().unwrap_or("failed").to_string());
    }
    let bytes = fs::read(out).map_err(|error| error.to_string())?;
    let bytes = samples(&bytes).ok_or("no chunk `data`")?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Ok(hasher.finish())
}

/// The samples of a WAV file: the content of its chunk `data`. Headers may differ between two programs.
fn samples(wav: &[u8]) -> Option<&[u8]> {
    let mut rest = wav.get(12..)?;
    loop {
        let (header, content) = rest.split_at_checked(8)?;
        let length = u32::from_le_bytes(header[4..].try_into().ok()?) as usize;
        if &header[..4] == b"data" {
            return content.get(..length);
        }
        rest = content.get(length + length % 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::samples;

    #[test]
    fn samples_are_found_behind_any_header() {
        let wav = b"RIFF....WAVEJUNK\x01\0\0\0x\0fmt \x02\0\0\0abdata\x03\0\0\0xyz!";
        assert_eq!(samples(wav), Some(&b"xyz"[..]));
        assert_eq!(samples(&wav[..30]), None);
    }
}
