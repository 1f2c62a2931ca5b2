//! Comments of a text, which a writer may lose.

/// The comments of a session: from `#` in `.toml`, from `//` or `#` in `.ag`, to the end of the line. Strings have none.
///
/// The test of the format is that of [`read_by_extension`](crate::read_by_extension).
pub fn comments<'t>(name: &str, text: &'t str) -> Vec<&'t str> {
    let is_ag = name.to_ascii_lowercase().ends_with(".ag");
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['#', '/', '"', '\'']) {
        rest = &rest[at..];
        let is_comment = rest.starts_with('#') || (is_ag && rest.starts_with("//"));
        let length = match () {
            () if is_comment => {
                let line = rest.lines().next().unwrap_or_default();
                all.push(line.trim_end());
                line.len()
            }
            () if rest.starts_with('/') => 1,
            () => string_length(rest),
        };
        rest = &rest[length..];
    }
    all
}

/// Length of the string at the beginning of `text`, with its quotes. One without an end is one line.
fn string_length(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let (open, close) = match text.starts_with(&triple) {
        true => (3, triple.as_str()),
        false => (1, quote),
    };
    let end = match open {
        1 => text.find('\n').unwrap_or(text.len()),
        _ => text.len(),
    };
    let mut at = open;
    while at < end {
        match text.as_bytes()[at] {
            b'\\' if quote == "\"" => at += 2,
            _ if text.as_bytes()[at..].starts_with(close.as_bytes()) => return at + close.len(),
            _ => at += 1,
        }
    }
    // Not inside of a character.
    let mut end = end.min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::comments;

    #[test]
    fn comments_are_found_and_strings_are_none() {
        let text = "a = \"# no \\\" #\" # one\n# two \nb = '#' # three\nc = \"\"\"\n# no\n\"\"\"\nd = \"é # no\n# é";
        assert_eq!(
            comments("a.toml", text),
            ["# one", "# two", "# three", "# é"]
        );
        assert_eq!(comments("a.ag", "x // one\ny / \"//\""), ["// one"]);
    }
}
