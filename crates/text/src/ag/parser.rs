//! Parses tokens into the syntax tree, by recursive descent with one token of lookahead. A mistake costs one entry or one
//! statement.

use super::lexer::{Lexeme, Lexer, Token};
use crate::ast::{Ast, AstEnd, AstEntry, AstNode, Ident, PortName};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use crate::time::from_micros;
use graph::ParamValue;
use std::borrow::Cow;
use units::Nanos;

/// Parses `text` into its nodes and edges, and its deadline.
pub(super) fn parse<'t>(
    text: &'t str,
    diagnostics: &mut Diagnostics<'_>,
) -> (Ast<'t>, Option<Nanos>) {
    let mut lexer = Lexer::new(text);
    let lookahead = [lexer.lexeme(diagnostics), lexer.lexeme(diagnostics)];
    let mut parser = Parser {
        text,
        lexer,
        lookahead,
        previous_end: 0,
        count: 0,
        ast: Ast::default(),
        deadline: None,
        diagnostics,
    };
    while parser.token() != Token::End {
        let start = parser.count;
        if parser.statement().is_err() {
            parser.recover(start);
        }
    }
    (parser.ast, parser.deadline)
}

/// Marker for an error that is in the diagnostics already.
struct Reported;

struct Parser<'t, 'f, 's> {
    text: &'t str,
    lexer: Lexer<'t>,
    /// The current token and the one after it.
    lookahead: [Lexeme; 2],
    /// End of the previous token, in bytes.
    previous_end: usize,
    /// Number of consumed tokens.
    count: usize,
    ast: Ast<'t>,
    deadline: Option<Nanos>,
    diagnostics: &'f mut Diagnostics<'s>,
}

impl<'t> Parser<'t, '_, '_> {
    /// Consumes the current token.
    fn advance(&mut self) {
        self.previous_end = self.lookahead[0].at.end;
        self.count += 1;
        self.lookahead.swap(0, 1);
        self.lookahead[1] = self.lexer.lexeme(self.diagnostics);
    }

    fn token(&self) -> Token {
        self.lookahead[0].token
    }

    /// The place of the current token.
    fn at(&self) -> ByteRange {
        self.lookahead[0].at.clone()
    }

    /// The empty range right after the previous token.
    fn after_previous(&self) -> ByteRange {
        self.previous_end..self.previous_end
    }

    /// Consumes the current token and returns its place.
    fn step(&mut self) -> ByteRange {
        let at = self.at();
        self.advance();
        at
    }

    /// Consumes the current token if it is `token`.
    fn accept(&mut self, token: Token) -> bool {
        let is_next = self.token() == token;
        if is_next {
            self.advance();
        }
        is_next
    }

    fn ident(&mut self) -> Ident<'t> {
        let at = self.step();
        Ident {
            text: self.text[at.clone()].into(),
            at,
        }
    }

    /// Reports that something else was expected, unless the current token is reported already.
    fn expected(&mut self, what: &str) -> Reported {
        let at = self.at();
        match self.token() {
            Token::Bad => {}
            Token::End => {
                let message = format!("the file ends, but expected {what}");
                self.diagnostics.error(self.after_previous(), message);
            }
            _ => {
                let found = self.text[at.clone()].chars().take(40).collect::<String>();
                let message = format!("expected {what}, found `{found}`");
                self.diagnostics.error(at, message);
            }
        }
        Reported
    }

    /// Skips the rest of the statement that began at token `start`: past the next `;`, or to a line that begins a
    /// statement.
    fn recover(&mut self, start: usize) {
        while self.count == start || !self.begins_statement() {
            if self.token() == Token::End || self.accept(Token::Mark(';')) {
                return;
            }
            self.advance();
        }
    }

    /// Returns true if the current token begins a line that looks like a statement.
    fn begins_statement(&self) -> bool {
        let following = self.lookahead[1].token;
        self.lookahead[0].is_first
            && match self.token() {
                Token::Name => following == Token::Mark('=') || following == Token::Arrow,
                Token::Port { .. } => following == Token::Arrow,
                _ => false,
            }
    }

    fn statement(&mut self) -> Result<(), Reported> {
        match (self.token(), self.lookahead[1].token) {
            (Token::Mark(';'), _) => {
                self.advance();
                return Ok(());
            }
            (Token::Name, Token::Mark('=')) => {
                let name = self.ident();
                self.advance();
                if self.token() != Token::Mark('{') {
                    self.setting(name)?;
                } else if !self.node(name) {
                    return Ok(());
                }
            }
            (Token::Port { .. }, _) | (Token::Name, Token::Arrow) => self.chain()?,
            (Token::Name, _) => {
                self.advance();
                return Err(self.expected("`=` or an edge like `a.1 -> b.1`"));
            }
            _ => return Err(self.expected("a node or an edge")),
        }
        self.end_of_statement()
    }

    fn end_of_statement(&mut self) -> Result<(), Reported> {
        if self.accept(Token::Mark(';')) {
            return Ok(());
        }
        if self.begins_statement() || self.token() == Token::End {
            let at = self.after_previous();
            let more = self.diagnostics.error(at, "a `;` is missing here");
            more.help("every statement ends with one");
            return Ok(());
        }
        Err(self.expected("`;`"))
    }

    /// Parses a setting after its `=`.
    fn setting(&mut self, name: Ident<'t>) -> Result<(), Reported> {
        if self.token() != Token::Number {
            return Err(self.expected("`{` or a number"));
        }
        let at = self.at();
        let number = self.number();
        if name.text != "deadline" {
            let message = format!("there is no setting `{}`", name.text);
            let help = "an .ag file knows only `deadline`; a node is written NAME = { ... };";
            self.diagnostics.error(name.at, message).help(help);
            return Ok(());
        }
        self.deadline = number.and_then(|n| self.time("deadline", n, at));
        Ok(())
    }

    /// A number of µs as a time; `None` if it is out of range, which is reported.
    fn time(&mut self, key: &str, number: f64, at: ByteRange) -> Option<Nanos> {
        let time = from_micros(number);
        if time.is_none() {
            let message = format!("`{key}` is {number}; it takes 0 to 10^9 µs");
            self.diagnostics.error(at, message);
        }
        time
    }

    /// Consumes a number; `None` if it is not valid, which is reported.
    fn number(&mut self) -> Option<f64> {
        let at = self.step();
        let text = &self.text[at.clone()];
        let Some(number) = text.parse().ok().filter(|n: &f64| n.is_finite()) else {
            let message = format!(
                "`{}` is not a number",
                text.chars().take(40).collect::<String>()
            );
            self.diagnostics.error(at, message);
            return None;
        };
        if text.contains(['-', '+', 'e', 'E']) {
            self.diagnostics
                .warning(at, "a number in an .ag file has no sign and no exponent")
                .help("other readers take it only in quotes");
        }
        Some(number)
    }

    /// Parses a node after its `=`. Returns false if it has no closing brace, which is reported.
    fn node(&mut self, name: Ident<'t>) -> bool {
        self.advance();
        let mut node = AstNode::new(name);
        while !self.accept(Token::Mark('}')) {
            let ends = matches!(self.token(), Token::End | Token::Mark(';'));
            if ends || self.begins_statement() {
                let at = node.name.at.clone();
                let message = format!("the `{{` of `{}` is never closed", node.name.text);
                self.diagnostics
                    .error(at, message)
                    .help("close it with `};`");
                self.accept(Token::Mark(';'));
                self.ast.nodes.push(node);
                return false;
            }
            if self.entry(&mut node).is_err() {
                node.is_damaged = true;
                self.recover_in_node();
            }
        }
        self.ast.nodes.push(node);
        true
    }

    /// Skips past the next comma, or to the end of the node.
    fn recover_in_node(&mut self) {
        while !self.begins_statement() {
            match self.token() {
                Token::Mark('}' | ';') | Token::End => return,
                Token::Mark(',') => {
                    self.advance();
                    return;
                }
                _ => self.advance(),
            }
        }
    }

    /// Parses `key: value,`.
    fn entry(&mut self, node: &mut AstNode<'t>) -> Result<(), Reported> {
        if self.token() != Token::Name {
            return Err(self.expected("a key"));
        }
        let key = self.ident();
        if !self.accept(Token::Mark(':')) {
            return Err(self.expected("`:`"));
        }
        let value_at = self.at();
        let value = match self.token() {
            Token::Number => self.number().map(ParamValue::Number),
            Token::String => self.quoted().map(ParamValue::Text),
            _ => return Err(self.expected("a number or a string")),
        };
        match value {
            Some(value) => self.store(
                node,
                AstEntry {
                    key,
                    value,
                    value_at,
                    is_own: false,
                },
            ),
            None => node.is_damaged = true,
        }
        if !self.accept(Token::Mark(',')) {
            if self.token() == Token::Mark('}') {
                let more = self
                    .diagnostics
                    .warning(self.after_previous(), "a `,` is missing here");
                more.help("other readers want one after every entry, the last included");
                return Ok(());
            }
            return Err(self.expected("`,`"));
        }
        Ok(())
    }

    /// Consumes a string and decodes it; `None` if an escape is wrong, which is reported.
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
                .diagnostics
                .error(at, "this string has an invalid escape");
            more.help("a backslash is written `\\\\`");
        }
        text
    }

    /// Stores an entry in its field of the node, or among the parameters.
    fn store(&mut self, node: &mut AstNode<'t>, entry: AstEntry<'t>) {
        let at = entry.value_at.clone();
        match (entry.key.text.as_ref(), entry.value) {
            ("kind", ParamValue::Text(text)) if node.kind.is_none() => {
                node.kind = Some(Ident {
                    text: Cow::Owned(text),
                    at,
                });
            }
            ("kind", ParamValue::Text(_)) => {
                self.diagnostics
                    .error(entry.key.at, "`kind` is written twice");
            }
            ("kind", _) => {
                self.diagnostics.error(at, "`kind` takes a string");
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
                        self.diagnostics.error(at, "`wcet` takes a number");
                    }
                }
            }
            (_, value) => node.entries.push(AstEntry { value, ..entry }),
        }
    }

    /// Parses an edge or a chain of them.
    fn chain(&mut self) -> Result<(), Reported> {
        let mut from = self.end()?;
        if self.token() != Token::Arrow {
            return Err(self.expected("`->`"));
        }
        while self.accept(Token::Arrow) {
            let to = self.end()?;
            if let (Some(from), Some(to)) = (from, to.clone()) {
                self.ast.edges.push((from, to));
            }
            from = to;
        }
        Ok(())
    }

    /// Parses one end of an edge; `None` if its port is wrong, which is reported.
    fn end(&mut self) -> Result<Option<AstEnd<'t>>, Reported> {
        let at = self.at();
        let dot = match self.token() {
            Token::Port { dot } => dot,
            Token::Name => {
                let name = &self.text[at.clone()];
                let message = format!("`{name}` has no port number here");
                let more = self.diagnostics.error(at, message);
                more.help(format!("write `{name}.1` for the first"));
                self.advance();
                return Ok(None);
            }
            _ => return Err(self.expected("a port like `a.1`")),
        };
        self.advance();
        let port = &self.text[dot + 1..at.end];
        if port.is_empty() || !port.bytes().all(|b| b.is_ascii_digit()) {
            let more = self
                .diagnostics
                .error(dot..at.end, "a port is a number here");
            more.help("ports count from 1, with no space around the dot");
            // A number after a space belongs to it.
            self.accept(Token::Number);
            return Ok(None);
        }
        let name = at.start..dot;
        Ok(Some(AstEnd {
            path: Vec::new(),
            node: Ident {
                text: self.text[name.clone()].into(),
                at: name,
            },
            port: PortName::Number(port.into()),
            port_at: dot + 1..at.end,
            is_middle: false,
            amount: None,
        }))
    }
}
