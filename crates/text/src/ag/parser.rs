//! Tokens to nodes and edges as they are written. A mistake costs one entry or one statement.

use super::lexer::{Lexeme, Lexer, Token};
use crate::draft::{Draft, DraftEnd, DraftNode, Entry, PortWord, Word};
use crate::findings::Findings;
use crate::number::micros;
use crate::source::Span;
use graph::ParamValue;
use std::borrow::Cow;
use units::Nanos;

/// What `text` says, and its deadline.
pub(super) fn parse<'t>(text: &'t str, findings: &mut Findings<'_>) -> (Draft<'t>, Option<Nanos>) {
    let mut lexer = Lexer::new(text);
    let next = [lexer.lexeme(findings), lexer.lexeme(findings)];
    let mut parser = Parser {
        text,
        lexer,
        next,
        behind: 0,
        gone: 0,
        draft: Draft::default(),
        deadline: None,
        findings,
    };
    while parser.token() != Token::End {
        let start = parser.gone;
        if parser.statement().is_err() {
            parser.recover(start);
        }
    }
    (parser.draft, parser.deadline)
}

/// What is wrong has been said.
struct Said;

struct Parser<'t, 'f, 's> {
    text: &'t str,
    lexer: Lexer<'t>,
    /// The token that stands here, and the one behind it.
    next: [Lexeme; 2],
    /// Where the last token ended.
    behind: usize,
    /// How many tokens have been passed.
    gone: usize,
    draft: Draft<'t>,
    deadline: Option<Nanos>,
    findings: &'f mut Findings<'s>,
}

impl<'t> Parser<'t, '_, '_> {
    /// Goes behind the token that stands here.
    fn go(&mut self) {
        self.behind = self.next[0].at.end;
        self.gone += 1;
        self.next.swap(0, 1);
        self.next[1] = self.lexer.lexeme(self.findings);
    }

    fn token(&self) -> Token {
        self.next[0].token
    }

    /// Where the next token stands.
    fn at(&self) -> Span {
        self.next[0].at.clone()
    }

    /// Where the last token ended.
    fn behind(&self) -> Span {
        self.behind..self.behind
    }

    fn step(&mut self) -> Span {
        let at = self.at();
        self.go();
        at
    }

    fn accept(&mut self, token: Token) -> bool {
        let is = self.token() == token;
        if is {
            self.go();
        }
        is
    }

    fn word(&mut self) -> Word<'t> {
        let at = self.step();
        Word {
            text: self.text[at.clone()].into(),
            at,
        }
    }

    /// Says that something else should stand here, unless what stands here has been said to be bad.
    fn expected(&mut self, what: &str) -> Said {
        let at = self.at();
        match self.token() {
            Token::Bad => {}
            Token::End => {
                let message = format!("the file ends where {what} should follow");
                self.findings.error(self.behind(), message);
            }
            _ => {
                let found = self.text[at.clone()].chars().take(40).collect::<String>();
                let message = format!("expected {what}, found `{found}`");
                self.findings.error(at, message);
            }
        }
        Said
    }

    /// Goes from the statement that began at `start` to the next: behind the next `;`, or before a line that begins
    /// one.
    fn recover(&mut self, start: usize) {
        while self.gone == start || !self.begins_statement() {
            if self.token() == Token::End || self.accept(Token::Mark(';')) {
                return;
            }
            self.go();
        }
    }

    /// Whether a line begins here that looks like a statement.
    fn begins_statement(&self) -> bool {
        let then = self.next[1].token;
        self.next[0].opens_line
            && match self.token() {
                Token::Word => then == Token::Mark('=') || then == Token::Arrow,
                Token::Port { .. } => then == Token::Arrow,
                _ => false,
            }
    }

    fn statement(&mut self) -> Result<(), Said> {
        match (self.token(), self.next[1].token) {
            (Token::Mark(';'), _) => {
                self.go();
                return Ok(());
            }
            (Token::Word, Token::Mark('=')) => {
                let name = self.word();
                self.go();
                if self.token() != Token::Mark('{') {
                    self.setting(name)?;
                } else if !self.node(name) {
                    return Ok(());
                }
            }
            (Token::Port { .. }, _) | (Token::Word, Token::Arrow) => self.chain()?,
            (Token::Word, _) => {
                self.go();
                return Err(self.expected("`=` or an edge like `a.1 -> b.1`"));
            }
            _ => return Err(self.expected("a node or an edge")),
        }
        self.end_of_statement()
    }

    fn end_of_statement(&mut self) -> Result<(), Said> {
        if self.accept(Token::Mark(';')) {
            return Ok(());
        }
        if self.begins_statement() || self.token() == Token::End {
            let behind = self.behind();
            let more = self.findings.error(behind, "a `;` is missing here");
            more.help("every statement ends with one");
            return Ok(());
        }
        Err(self.expected("`;`"))
    }

    fn setting(&mut self, name: Word<'t>) -> Result<(), Said> {
        if self.token() != Token::Number {
            return Err(self.expected("`{` or a number"));
        }
        let at = self.at();
        let number = self.number();
        if name.text != "deadline" {
            let message = format!("there is no setting `{}`", name.text);
            let help = "an .ag file knows only `deadline`; a node is written NAME = { ... };";
            self.findings.error(name.at, message).help(help);
            return Ok(());
        }
        self.deadline = number.and_then(|n| self.time("deadline", n, at));
        Ok(())
    }

    fn time(&mut self, key: &str, number: f64, at: Span) -> Option<Nanos> {
        let time = micros(number);
        if time.is_none() {
            let message = format!("`{key}` is {number}; it takes 0 to 10^9 µs");
            self.findings.error(at, message);
        }
        time
    }

    /// The number that stands here, if it is one.
    fn number(&mut self) -> Option<f64> {
        let at = self.step();
        let text = &self.text[at.clone()];
        let Some(number) = text.parse().ok().filter(|n: &f64| n.is_finite()) else {
            let message = format!(
                "`{}` is no number",
                text.chars().take(40).collect::<String>()
            );
            self.findings.error(at, message);
            return None;
        };
        if text.contains(['-', '+', 'e', 'E']) {
            self.findings
                .warning(at, "a number in an .ag file has no sign and no exponent")
                .help("other readers take it only in quotes");
        }
        Some(number)
    }

    /// Whether the node has an end.
    fn node(&mut self, name: Word<'t>) -> bool {
        self.go();
        let mut node = DraftNode::new(name);
        while !self.accept(Token::Mark('}')) {
            let ends = matches!(self.token(), Token::End | Token::Mark(';'));
            if ends || self.begins_statement() {
                let at = node.name.at.clone();
                let message = format!("the `{{` of `{}` is never closed", node.name.text);
                self.findings.error(at, message).help("close it with `};`");
                self.accept(Token::Mark(';'));
                self.draft.nodes.push(node);
                return false;
            }
            if self.entry(&mut node).is_err() {
                node.is_damaged = true;
                self.recover_in_node();
            }
        }
        self.draft.nodes.push(node);
        true
    }

    /// Goes behind the next comma, or before the end of the node.
    fn recover_in_node(&mut self) {
        while !self.begins_statement() {
            match self.token() {
                Token::Mark('}' | ';') | Token::End => return,
                Token::Mark(',') => {
                    self.go();
                    return;
                }
                _ => self.go(),
            }
        }
    }

    fn entry(&mut self, node: &mut DraftNode<'t>) -> Result<(), Said> {
        if self.token() != Token::Word {
            return Err(self.expected("a key"));
        }
        let key = self.word();
        if !self.accept(Token::Mark(':')) {
            return Err(self.expected("`:`"));
        }
        let value_at = self.at();
        let value = match self.token() {
            Token::Number => self.number().map(ParamValue::Number),
            Token::Text => self.quoted().map(ParamValue::Text),
            _ => return Err(self.expected("a number or a text in quotes")),
        };
        match value {
            Some(value) => self.keep(
                node,
                Entry {
                    key,
                    value,
                    value_at,
                },
            ),
            None => node.is_damaged = true,
        }
        if !self.accept(Token::Mark(',')) {
            if self.token() == Token::Mark('}') {
                let more = self
                    .findings
                    .warning(self.behind(), "a `,` is missing here");
                more.help("other readers want one behind every entry, the last included");
                return Ok(());
            }
            return Err(self.expected("`,`"));
        }
        Ok(())
    }

    /// The text that stands here in quotes, without them, if its escapes are right.
    fn quoted(&mut self) -> Option<String> {
        let at = self.step();
        let raw = &self.text[at.clone()];
        let inside = &raw[1..raw.len() - 1];
        if !inside.contains('\\') {
            return Some(inside.into());
        }
        let text = serde_json::from_str(raw).ok();
        if text.is_none() {
            let more = self
                .findings
                .error(at, "this text has an escape that means nothing");
            more.help("a backslash is written `\\\\`");
        }
        text
    }

    /// Puts an entry where it belongs.
    fn keep(&mut self, node: &mut DraftNode<'t>, entry: Entry<'t>) {
        let at = entry.value_at.clone();
        match (entry.key.text.as_ref(), entry.value) {
            ("kind", ParamValue::Text(text)) if node.kind.is_none() => {
                node.kind = Some(Word {
                    text: Cow::Owned(text),
                    at,
                });
            }
            ("kind", ParamValue::Text(_)) => {
                self.findings.error(entry.key.at, "`kind` is written twice");
            }
            ("kind", _) => {
                self.findings.error(at, "`kind` takes a text in quotes");
            }
            ("wcet", value) => {
                let number = match value {
                    ParamValue::Number(n) => Some(n),
                    ParamValue::Text(text) => text.trim().parse().ok(),
                    ParamValue::Flag(_) => None,
                };
                match number {
                    Some(n) => node.cost = self.time("wcet", n, at),
                    None => {
                        self.findings.error(at, "`wcet` takes a number");
                    }
                }
            }
            (_, value) => node.entries.push(Entry { value, ..entry }),
        }
    }

    fn chain(&mut self) -> Result<(), Said> {
        let mut from = self.end()?;
        if self.token() != Token::Arrow {
            return Err(self.expected("`->`"));
        }
        while self.accept(Token::Arrow) {
            let to = self.end()?;
            if let (Some(from), Some(to)) = (from, to.clone()) {
                self.draft.edges.push((from, to));
            }
            from = to;
        }
        Ok(())
    }

    /// One end of an edge. `None` where its port is wrong, which is said.
    fn end(&mut self) -> Result<Option<DraftEnd<'t>>, Said> {
        let at = self.at();
        let dot = match self.token() {
            Token::Port { dot } => dot,
            Token::Word => {
                let name = &self.text[at.clone()];
                let message = format!("`{name}` has no port number here");
                let more = self.findings.error(at, message);
                more.help(format!("write `{name}.1` for the first"));
                self.go();
                return Ok(None);
            }
            _ => return Err(self.expected("a port like `a.1`")),
        };
        self.go();
        let port = &self.text[dot + 1..at.end];
        if port.is_empty() || !port.bytes().all(|b| b.is_ascii_digit()) {
            let more = self.findings.error(dot..at.end, "a port is a number here");
            more.help("ports count from 1, with no space around the dot");
            // A number that stands apart belongs to it.
            self.accept(Token::Number);
            return Ok(None);
        }
        let name = at.start..dot;
        Ok(Some(DraftEnd {
            node: Word {
                text: self.text[name.clone()].into(),
                at: name,
            },
            port: PortWord::Number(port.parse().unwrap_or(u64::MAX)),
            port_at: dot + 1..at.end,
            is_middle: false,
        }))
    }
}
