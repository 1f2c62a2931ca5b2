//! [`Source`]: the lines of an SFZ file, with the files that it includes and with its variables replaced.
//!
//! ```text
//! #define $KEY 60            $KEY is 60 from here on, in names and values; the longest name that fits is taken
//! #include "parts/low.sfz"   its lines stand here; the path is relative to the first file, and stays within its folder
//! ```
//!
//! A file may be included many times, but not within itself. All sizes are bounded: few bytes must not become many.

use std::collections::HashMap;

/// Most files that are open within each other.
const MAX_DEPTH: usize = 16;
/// Most bytes of all files, and of all lines with their variables replaced.
pub(super) const MAX_TEXT: u64 = 16 << 20;
const MAX_EXPANDED: usize = 64 << 20;
/// Most inclusions and definitions.
const MAX_INCLUSIONS: usize = 1000;
const MAX_DEFINITIONS: usize = 10_000;
/// Most bytes of the name of a variable.
const MAX_NAME: usize = 64;

/// Gives the text of the file at a path that is relative to the folder of the first file.
pub(super) type ReadText<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;
/// Takes a piece of a line, without comments and directives.
pub(super) type TakeLine<'a> = dyn FnMut(&str) -> Result<(), String> + 'a;

/// State of the reading that all files of an instrument share: variables, and bounds.
pub(super) struct Source<'a> {
    read: &'a mut ReadText<'a>,
    variables: HashMap<String, String>,
    /// Files that are being read, from the first included one on.
    open: Vec<String>,
    inclusions: usize,
    bytes: u64,
    expanded: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(read: &'a mut ReadText<'a>) -> Self {
        Self {
            read,
            variables: HashMap::new(),
            open: Vec::new(),
            inclusions: 0,
            bytes: 0,
            expanded: 0,
        }
    }

    /// Passes the lines of `text`, and of what it includes, to `take`.
    ///
    /// # Errors
    ///
    /// `take` refuses a line, or a directive cannot be followed. The message has the line, and the file if it is an included
    /// one.
    pub(super) fn pass(&mut self, text: &str, take: &mut TakeLine<'_>) -> Result<(), String> {
        self.bytes += text.len() as u64;
        if self.bytes > MAX_TEXT {
            return Err(format!("all files have more than {MAX_TEXT} bytes"));
        }
        let text = without_comments(text.trim_start_matches('\u{feff}'));
        for (number, line) in (1..).zip(text.lines()) {
            let depth = self.open.len();
            let passed = self.pass_line(line, take);
            // A message of an included file has its place.
            passed.map_err(
                |message| match (self.open.len() > depth, self.open.last()) {
                    (true, _) => message,
                    (false, None) => format!("line {number}: {message}"),
                    (false, Some(file)) => format!("{file}, line {number}: {message}"),
                },
            )?;
        }
        Ok(())
    }

    fn pass_line(&mut self, line: &str, take: &mut TakeLine<'_>) -> Result<(), String> {
        let mut rest = line;
        while let Some((before, directive)) = split_at_directive(rest) {
            take(&self.expand(before)?)?;
            rest = match directive {
                Directive::Define(behind) => self.define(behind)?,
                Directive::Include(behind) => self.include(behind, take)?,
            };
        }
        take(&self.expand(rest)?)
    }

    /// Reads `$NAME value`; returns what is behind it.
    fn define<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        let wrong = || "`#define` takes a name and a value, as `#define $KEY 60`".to_owned();
        let text = text.trim_start();
        let name = text.strip_prefix('$').ok_or_else(wrong)?;
        let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
        if !(1..=MAX_NAME).contains(&end) {
            return Err(format!("a variable has a name of 1 to {MAX_NAME} letters"));
        }
        let (name, behind) = name.split_at(end);
        let value = behind.trim_start();
        let end = value.find(char::is_whitespace).unwrap_or(value.len());
        let (value, rest) = value.split_at(end);
        if value.is_empty() {
            return Err(wrong());
        }
        if self.variables.len() == MAX_DEFINITIONS && !self.variables.contains_key(name) {
            return Err(format!("there are more than {MAX_DEFINITIONS} variables"));
        }
        let value = self.expand(value)?;
        self.variables.insert(name.to_owned(), value);
        Ok(rest)
    }

    /// Reads `"path"`, and passes the lines of that file; returns what is behind it.
    fn include<'t>(&mut self, text: &'t str, take: &mut TakeLine<'_>) -> Result<&'t str, String> {
        let wrong = || "`#include` takes a file in quotes, as `#include \"keys.sfz\"`".to_owned();
        let quoted = text.trim_start().strip_prefix('"').ok_or_else(wrong)?;
        let (path, rest) = quoted.split_once('"').ok_or_else(wrong)?;
        let path = inner_path(&self.expand(path)?)?;
        if let Some(at) = self.open.iter().position(|open| *open == path) {
            let chain = self.open[at..].join(" -> ");
            return Err(format!("{chain} -> {path}: a file cannot include itself"));
        }
        if self.open.len() == MAX_DEPTH {
            let chain = self.open.join(" -> ");
            return Err(format!(
                "more than {MAX_DEPTH} files within each other: {chain}"
            ));
        }
        self.inclusions += 1;
        if self.inclusions > MAX_INCLUSIONS {
            return Err(format!("there are more than {MAX_INCLUSIONS} inclusions"));
        }
        let text = (self.read)(&path)?;
        self.open.push(path);
        // After an error it stays open: so its message is known to have its place.
        self.pass(&text, take)?;
        self.open.pop();
        Ok(rest)
    }

    /// `text` with the variables that are defined replaced. An unknown one stays, for a message.
    fn expand(&mut self, text: &str) -> Result<String, String> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('$') {
            expanded.push_str(before);
            let longest = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
            let mut lengths = (1..=longest.min(MAX_NAME)).rev();
            let known = lengths.find_map(|end| Some((end, self.variables.get(&behind[..end])?)));
            match known {
                Some((end, value)) => {
                    expanded.push_str(value);
                    rest = &behind[end..];
                }
                None => {
                    expanded.push('$');
                    rest = behind;
                }
            }
            if self.expanded + expanded.len() > MAX_EXPANDED {
                return Err("its variables make it too long".into());
            }
        }
        expanded.push_str(rest);
        self.expanded += expanded.len();
        match self.expanded > MAX_EXPANDED {
            true => Err("its variables make it too long".into()),
            false => Ok(expanded),
        }
    }
}

/// Letters of a variable: each has one byte.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A directive, with what is behind its word.
enum Directive<'t> {
    Define(&'t str),
    Include(&'t str),
}

/// The first directive of a line, and what is before it.
fn split_at_directive(line: &str) -> Option<(&str, Directive<'_>)> {
    for (at, _) in line.match_indices('#') {
        let (before, word) = line.split_at(at);
        let is_begin = before.ends_with(|c: char| c.is_whitespace() || c == '>');
        if !before.is_empty() && !is_begin {
            continue;
        }
        let is_end = |behind: &&str| behind.starts_with(|c: char| c.is_whitespace() || c == '"');
        if let Some(behind) = word.strip_prefix("#define").filter(is_end) {
            return Some((before, Directive::Define(behind)));
        }
        if let Some(behind) = word.strip_prefix("#include").filter(is_end) {
            return Some((before, Directive::Include(behind)));
        }
    }
    None
}

/// A path that goes down from the folder of the first file, written in one way.
fn inner_path(path: &str) -> Result<String, String> {
    let path = path.replace('\\', "/");
    let outside = || format!("`#include \"{path}\"` is not within the folder of the instrument");
    if path.starts_with('/') || path.contains(':') {
        return Err(outside());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or_else(outside)?),
            part => parts.push(part),
        }
    }
    match parts.is_empty() {
        true => Err("`#include` names no file".into()),
        false => Ok(parts.join("/")),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of lines of `text`, with these files beside it.
    fn lines(text: &str, files: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let mut read = |path: &str| {
            let file = files.iter().find(|(name, _)| *name == path);
            file.map(|(_, text)| (*text).to_owned())
                .ok_or_else(|| format!("{path}: not found"))
        };
        let mut lines = Vec::new();
        Source::new(&mut read).pass(text, &mut |line| {
            if line.contains("bad") {
                return Err("it is bad".into());
            }
            lines.extend(Some(line.trim().to_owned()).filter(|line| !line.is_empty()));
            Ok(())
        })?;
        Ok(lines)
    }

    #[test]
    fn variables_and_files_stand_where_they_are_named() {
        let text = "#define $K 60 #define $KEY $K\n<region> key=$KEY lo$Kx=$K1 $Z /* $K\n*/ a\n#define $K c#4
b=$K #include \"sub/../low.sfz\" c\n#include \"sub\\high.sfz\"\nsample=x#define y#include";
        let files = [
            ("low.sfz", "low=$K // no\n#define $V 9"),
            ("sub/high.sfz", "v=$V #include \"low.sfz\""),
        ];
        let want = [
            "<region> key=60 lo60x=601 $Z",
            "a",
            "b=c#4",
            "low=c#4",
            "c",
            "v=9",
            "low=c#4",
            "sample=x#define y#include",
        ];
        assert_eq!(lines(text, &files).unwrap(), want);
    }

    #[test]
    fn mistakes_have_their_file_and_cycles_their_chain() {
        let files = [
            ("a.sfz", "\n#include \"b.sfz\""),
            ("b.sfz", "\n\n #include \"./a.sfz\""),
            ("bad.sfz", "\nit is bad"),
            ("outer.sfz", "#include \"bad.sfz\""),
        ];
        for (text, message) in [
            (
                "#include \"a.sfz\"",
                "b.sfz, line 3: a.sfz -> b.sfz -> a.sfz: a file cannot include itself",
            ),
            ("\n#include \"outer.sfz\"", "bad.sfz, line 2: it is bad"),
            ("\nbad", "line 2: it is bad"),
            (
                "#include \"../a.sfz\"",
                "line 1: `#include \"../a.sfz\"` is not within the folder",
            ),
            ("#include \"sub/../../a.sfz\"", "is not within"),
            ("#include \"/etc/passwd\"", "is not within"),
            ("#include \"C:\\a.sfz\"", "is not within"),
            ("#include \"\"", "names no file"),
            ("#include a.sfz", "takes a file in quotes"),
            ("#include \"a.sfz", "takes a file in quotes"),
            ("#include \"none.sfz\"", "line 1: none.sfz: not found"),
            ("#define KEY 60", "takes a name and a value"),
            ("#define $KEY", "takes a name and a value"),
            ("#define $ 60", "a name of 1 to 64"),
        ] {
            let error = lines(text, &files).unwrap_err();
            assert!(
                error.starts_with(message) || error.contains(message),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn few_bytes_do_not_become_many() {
        let value = "x".repeat(100_000);
        let long = format!("#define $A {value}\n{}", "$A$A$A$A\n".repeat(1000));
        assert!(lines(&long, &[]).unwrap_err().contains("too long"));
        let twice = "#define $A xx\n".to_owned() + &"#define $A $A$A\n".repeat(60);
        assert!(lines(&twice, &[]).unwrap_err().contains("too long"));
        let many = "#include \"a.sfz\"\n".repeat(1001);
        assert!(
            lines(&many, &[("a.sfz", "")])
                .unwrap_err()
                .contains("inclusions")
        );
        let large = " ".repeat(1 << 20);
        let error = lines(&many, &[("a.sfz", &large)]).unwrap_err();
        assert!(error.contains("all files have more"), "{error}");
        let names: Vec<String> = (0..20).map(|n| format!("{n}.sfz")).collect();
        let texts: Vec<String> = (1..21).map(|n| format!("#include \"{n}.sfz\"")).collect();
        let files: Vec<(&str, &str)> = names
            .iter()
            .zip(&texts)
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        let error = lines("#include \"0.sfz\"", &files).unwrap_err();
        assert!(
            error.contains("more than 16 files within each other: 0.sfz -> 1.sfz"),
            "{error}"
        );
        let names: String = (0..10_001).map(|n| format!("#define $v{n} 1\n")).collect();
        assert!(lines(&names, &[]).unwrap_err().contains("10000 variables"));
    }
}
