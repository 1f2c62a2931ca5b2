//! Text to tokens.

use super::operators::{BinaryOperator as B, UnaryOperator as U};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Int(i64),
    Float(f32),
    /// A letter and a number, from 0: `$f2` is `('f', 1)`. `$x` and `$y` without a number are the first.
    Inlet(char, u8),
    Name(Box<str>),
    /// `"name"` or `"$s2"`.
    Quoted(Box<Token>),
    Minus,
    Unary(U),
    Binary(B),
    Store,
    Comma,
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
}

/// Inlets and outlets that variables can name, at most, as in Pd.
pub(super) const MAX_PORTS: usize = 100;

/// The tokens of one expression.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut rest = text;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c == '\\' || c.is_ascii_whitespace());
        if rest.is_empty() {
            return Ok(tokens);
        }
        let (token, behind) = token(rest)?;
        tokens.push(token);
        rest = behind;
    }
}

const TWO: &[(&str, B)] = &[
    ("!=", B::NotEqual),
    ("<<", B::ShiftLeft),
    ("<=", B::LessOrEqual),
    (">>", B::ShiftRight),
    (">=", B::GreaterOrEqual),
    ("==", B::Equal),
    ("&&", B::LogicalAnd),
    ("||", B::LogicalOr),
];

const ONE: &[(char, Token)] = &[
    (',', Token::Comma),
    ('(', Token::OpenParenthesis),
    (')', Token::CloseParenthesis),
    ('[', Token::OpenBracket),
    (']', Token::CloseBracket),
    ('-', Token::Minus),
    ('=', Token::Store),
    ('~', Token::Unary(U::Invert)),
    ('!', Token::Unary(U::Not)),
    ('*', Token::Binary(B::Multiply)),
    ('/', Token::Binary(B::Divide)),
    ('%', Token::Binary(B::Remainder)),
    ('+', Token::Binary(B::Add)),
    ('^', Token::Binary(B::Xor)),
    ('<', Token::Binary(B::Less)),
    ('>', Token::Binary(B::Greater)),
    ('&', Token::Binary(B::And)),
    ('|', Token::Binary(B::Or)),
];

fn token(text: &str) -> Result<(Token, &str), String> {
    for (word, operator) in TWO {
        if let Some(rest) = text.strip_prefix(word) {
            return Ok((Token::Binary(*operator), rest));
        }
    }
    for (letter, token) in ONE {
        if let Some(rest) = text.strip_prefix(*letter) {
            return Ok((token.clone(), rest));
        }
    }
    match text.as_bytes()[0] {
        b'$' => variable(&text[1..]),
        b'"' => quoted(&text[1..]),
        b'.' | b'0'..=b'9' => number(text),
        _ => name(text).ok_or_else(|| format!("`{text}` is not understood")),
    }
}

fn name(text: &str) -> Option<(Token, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    (!name.is_empty()).then(|| (Token::Name(name.into()), rest))
}

fn quoted(text: &str) -> Result<(Token, &str), String> {
    let wrong = || format!("a name is missing behind `\"` in `\"{text}`");
    let (inner, rest) = match text.strip_prefix('$') {
        Some(rest) => variable(rest)?,
        None if text.starts_with(|c: char| c.is_ascii_digit()) => return Err(wrong()),
        None => name(text).ok_or_else(wrong)?,
    };
    if !matches!(inner, Token::Name(_) | Token::Inlet('s', _)) {
        return Err(wrong());
    }
    let rest = rest.strip_prefix('"').ok_or("a `\"` is missing")?;
    Ok((Token::Quoted(Box::new(inner)), rest))
}

/// Behind a dollar: a letter and a number from 1, or the number of an argument that is missing, which is 0.
fn variable(text: &str) -> Result<(Token, &str), String> {
    let letter = text.chars().next().unwrap_or(' ').to_ascii_lowercase();
    let after = text.get(1..).unwrap_or("");
    let end = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    match letter {
        '0'..='9' => Ok((Token::Int(0), &text[end(text)..])),
        'x' | 'y' if end(after) == 0 => Ok((Token::Inlet(letter, 0), after)),
        'i' | 'f' | 's' | 'v' | 'x' | 'y' => {
            let (digits, rest) = after.split_at(end(after));
            match digits.parse::<usize>() {
                Ok(number @ 1..=MAX_PORTS) => {
                    let index = u8::try_from(number - 1).expect("it is at most 100");
                    Ok((Token::Inlet(letter, index), rest))
                }
                _ => Err(format!(
                    "`${letter}{digits}`: inlets and outlets count from 1 to {MAX_PORTS}"
                )),
            }
        }
        _ => Err(format!("`${text}` is no variable")),
    }
}

/// A number as C reads it. It is an integer if it has neither point nor exponent.
fn number(text: &str) -> Result<(Token, &str), String> {
    if let Some(rest) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = rest
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(rest.len());
        if let Ok(value) = i64::from_str_radix(&rest[..end], 16) {
            return Ok((Token::Int(value), &rest[end..]));
        }
    }
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let whole = digits(0);
    let mut end = whole;
    let mut places = 0;
    if bytes.get(end) == Some(&b'.') {
        places = digits(end + 1);
        end += 1 + places;
    }
    if whole + places == 0 {
        return Err(format!("`{text}` is no number"));
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end += 1 + sign + digits(end + 1 + sign);
        }
    }
    let value: f64 = text[..end]
        .parse()
        .map_err(|_| format!("`{text}` is no number"))?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "Pd's numbers are floats; larger integers saturate"
    )]
    let token = match (end == whole, value as f32) {
        // Integers that a float of 32 bits does not hold are floats.
        (true, float) if f64::from(float) == value && value < 2_147_483_648.0 => {
            Token::Int(value as i64)
        }
        (_, float) => Token::Float(float),
    };
    Ok((token, &text[end..]))
}
