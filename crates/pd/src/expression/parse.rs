//! Tokens to code, by precedence.
//!
//! Operators of one precedence group from the left. An operator with one operand stands before a value, not before another such
//! operator: `!!3` is a mistake, as in Pd.

use super::Dialect;
use super::code::{InletType, Instruction, Program};
use super::functions::Function;
use super::lex::{MAX_PORTS, Token, tokens};
use super::operators::{BinaryOperator, UnaryOperator};

/// Parentheses within one another, at most.
const MAX_NESTING: usize = 200;

/// Reads the text of a box.
///
/// # Errors
///
/// A sentence that says what is wrong: in Pd such a box is not made.
///
/// Real-time: setup.
pub(crate) fn parse(dialect: Dialect, text: &str) -> Result<Program, String> {
    let first = match dialect {
        Dialect::Messages => InletType::Unused,
        _ => InletType::Signal,
    };
    let mut program = Program {
        inlets: vec![first],
        outlets: Vec::new(),
        names: Vec::new(),
        depth: 0,
        has_signal_outlets: dialect != Dialect::Messages,
    };
    let text = text.trim_end_matches(|c: char| c == '\\' || c.is_ascii_whitespace());
    let text = match text.strip_suffix(';').unwrap_or(text).trim() {
        "" => "0",
        text => text,
    };
    for part in text.split(';') {
        let mut parser = Parser {
            dialect,
            tokens: tokens(part)?,
            at: 0,
            nesting: 0,
            height: 0,
            code: Vec::new(),
            program: &mut program,
        };
        parser.expression(0)?;
        if let Some(token) = parser.peek() {
            return Err(format!(
                "an operator is missing before {}",
                described(token)
            ));
        }
        let code = parser.code;
        program.outlets.push(code);
        if program.outlets.len() > MAX_PORTS {
            return Err(format!("there are at most {MAX_PORTS} expressions"));
        }
    }
    number_signals(&mut program);
    Ok(program)
}

/// Counts inlets of signals among themselves.
fn number_signals(program: &mut Program) {
    let mut numbers = Vec::new();
    let mut next = 0;
    for kind in &program.inlets {
        numbers.push(next);
        next += u8::from(*kind == InletType::Signal);
    }
    for instruction in program.outlets.iter_mut().flatten() {
        if let Instruction::Block(inlet)
        | Instruction::Sample(inlet)
        | Instruction::SampleAt(inlet) = instruction
        {
            *inlet = numbers[usize::from(*inlet)];
        }
    }
}

fn described(token: &Token) -> String {
    match token {
        Token::Int(number) => format!("`{number}`"),
        Token::Float(number) => format!("`{number}`"),
        Token::Inlet(letter, index) => format!("`${letter}{}`", index + 1),
        Token::Name(name) => format!("`{name}`"),
        Token::Quoted(_) => "a quoted name".into(),
        Token::Comma => "a comma".into(),
        Token::CloseParenthesis => "`)`".into(),
        Token::CloseBracket => "`]`".into(),
        _ => "an operator".into(),
    }
}

struct Parser<'p> {
    dialect: Dialect,
    tokens: Vec<Token>,
    at: usize,
    /// Parentheses and brackets that are open.
    nesting: usize,
    /// Operands on the stack after the code so far.
    height: usize,
    code: Vec<Instruction>,
    program: &'p mut Program,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += usize::from(token.is_some());
        token
    }

    fn take_if(&mut self, token: &Token) -> bool {
        let is_there = self.peek() == Some(token);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, token: &Token) -> Result<(), String> {
        match self.take_if(token) {
            true => Ok(()),
            false => Err(format!("{} is missing", described(token))),
        }
    }

    /// Adds an instruction that takes `takes` operands and gives one.
    fn emit(&mut self, instruction: Instruction, takes: usize) {
        self.code.push(instruction);
        self.height = self.height + 1 - takes;
        self.program.depth = self.program.depth.max(self.height);
    }

    /// Operators of at least this precedence. `=` has the lowest.
    fn expression(&mut self, precedence: u8) -> Result<(), String> {
        self.operand()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Store) if precedence == 0 => {
                    self.at += 1;
                    self.store()?;
                    continue;
                }
                Some(Token::Binary(operator)) => *operator,
                Some(Token::Minus) => BinaryOperator::Subtract,
                _ => return Ok(()),
            };
            if operator.precedence() < precedence.max(1) {
                return Ok(());
            }
            self.at += 1;
            self.expression(operator.precedence() + 1)?;
            self.emit(Instruction::Binary(operator), 2);
        }
    }

    /// `name = …` and `name[…] = …`; what stands on the left has been read as a value.
    fn store(&mut self) -> Result<(), String> {
        let (store, takes) = match self.code.last() {
            Some(Instruction::Variable(name)) => (Instruction::StoreVariable(*name), 1),
            Some(Instruction::Table(name)) => (Instruction::StoreTable(*name), 2),
            Some(Instruction::TableOfInlet(inlet)) => (Instruction::StoreTableOfInlet(*inlet), 2),
            _ => {
                return Err(
                    "left of `=` there is neither a variable nor a point of an array".into(),
                );
            }
        };
        self.code.pop();
        // The index of an array stays on the stack, a variable's own value does not.
        self.height -= 2 - takes;
        self.expression(1)?;
        self.emit(store, takes);
        Ok(())
    }

    fn operand(&mut self) -> Result<(), String> {
        let operator = match self.peek() {
            Some(Token::Minus) => UnaryOperator::Negate,
            Some(Token::Unary(operator)) => *operator,
            _ => return self.value(),
        };
        self.at += 1;
        if matches!(self.peek(), Some(Token::Minus | Token::Unary(_))) {
            return Err("two operators follow one another, and each takes one value".into());
        }
        self.value()?;
        self.emit(Instruction::Unary(operator), 1);
        Ok(())
    }

    fn value(&mut self) -> Result<(), String> {
        match self.take() {
            Some(Token::Int(0)) if self.peek() == Some(&Token::OpenBracket) => {
                self.index()?;
                self.emit(Instruction::NoTable, 1);
            }
            Some(Token::Int(number)) => self.emit(Instruction::Int(number), 0),
            Some(Token::Float(number)) => self.emit(Instruction::Float(number), 0),
            Some(Token::Inlet(letter, inlet)) => self.variable(letter, inlet)?,
            Some(Token::Name(name)) => self.named(&name)?,
            Some(Token::OpenParenthesis) => self.inside(&Token::CloseParenthesis)?,
            Some(Token::Quoted(_)) => {
                return Err("a quoted name is an argument of a function, nothing else".into());
            }
            Some(token) => return Err(format!("a value is missing before {}", described(&token))),
            None => return Err("a value is missing at the end".into()),
        }
        Ok(())
    }

    /// What stands between parentheses or brackets, up to the closing one.
    fn inside(&mut self, end: &Token) -> Result<(), String> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(format!(
                "there are more than {MAX_NESTING} parentheses within one another"
            ));
        }
        self.expression(0)?;
        self.nesting -= 1;
        self.expect(end)
    }

    fn index(&mut self) -> Result<(), String> {
        self.expect(&Token::OpenBracket)?;
        self.inside(&Token::CloseBracket)
    }

    fn variable(&mut self, letter: char, inlet: u8) -> Result<(), String> {
        let kind = match (letter, self.dialect) {
            ('i', _) => InletType::Int,
            ('f', _) => InletType::Float,
            ('s', _) => InletType::Symbol,
            ('v', Dialect::Blocks) | ('x', Dialect::Samples) => InletType::Signal,
            ('y', Dialect::Samples) => return self.result(inlet),
            ('v', _) => return Err("`$v` is for `expr~` alone".into()),
            _ => return Err(format!("`${letter}` is for `fexpr~` alone")),
        };
        self.set_type(usize::from(inlet), kind)?;
        let is_indexed = self.peek() == Some(&Token::OpenBracket);
        match (letter, is_indexed) {
            ('x', true) => {
                self.index()?;
                self.emit(Instruction::SampleAt(inlet), 1);
            }
            ('s', true) => {
                self.index()?;
                self.emit(Instruction::TableOfInlet(inlet), 1);
            }
            ('s', false) => {
                return Err("`$s` names an array, and is followed by `[`, or by `\"`".into());
            }
            ('x', false) => self.emit(Instruction::Sample(inlet), 0),
            ('v', _) => self.emit(Instruction::Block(inlet), 0),
            _ => self.emit(Instruction::Inlet(inlet), 0),
        }
        Ok(())
    }

    /// `$y`: a past sample of an outlet.
    fn result(&mut self, outlet: u8) -> Result<(), String> {
        if self.peek() == Some(&Token::OpenBracket) {
            self.index()?;
            self.emit(Instruction::ResultAt(outlet), 1);
        } else {
            self.emit(Instruction::Result(outlet), 0);
        }
        Ok(())
    }

    /// One inlet has one type.
    fn set_type(&mut self, inlet: usize, kind: InletType) -> Result<(), String> {
        let inlets = &mut self.program.inlets;
        inlets.resize(inlets.len().max(inlet + 1), InletType::Unused);
        if inlets[inlet] == InletType::Unused {
            inlets[inlet] = kind;
        }
        match inlets[inlet] == kind {
            true => Ok(()),
            false if inlet == 0 && kind != InletType::Signal => {
                Err("the first inlet is a signal".into())
            }
            false => Err(format!("inlet {} has variables of two types", inlet + 1)),
        }
    }

    /// A function, a point of an array, or a variable.
    fn named(&mut self, name: &str) -> Result<(), String> {
        match self.peek() {
            Some(Token::OpenBracket) => {
                self.index()?;
                let name = self.name(name)?;
                self.emit(Instruction::Table(name), 1);
            }
            Some(Token::OpenParenthesis) => {
                self.at += 1;
                self.call(name)?;
            }
            _ if name == "sys_idx" => self.emit(Instruction::Index, 0),
            _ => {
                let name = self.name(name)?;
                self.emit(Instruction::Variable(name), 0);
            }
        }
        Ok(())
    }

    /// Number of a name.
    fn name(&mut self, name: &str) -> Result<u16, String> {
        let names = &mut self.program.names;
        let at = names
            .iter()
            .position(|known| **known == *name)
            .unwrap_or_else(|| {
                names.push(name.into());
                names.len() - 1
            });
        u16::try_from(at).map_err(|_| "there are too many names".into())
    }

    fn call(&mut self, name: &str) -> Result<(), String> {
        let function =
            Function::named(name).ok_or_else(|| format!("there is no function `{name}`"))?;
        let expected = function.argument_count();
        let is_if = matches!(function, Function::If);
        let mut jumps = Vec::new();
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(format!(
                "there are more than {MAX_NESTING} parentheses within one another"
            ));
        }
        for argument in 0..expected {
            if argument > 0 && !self.take_if(&Token::Comma) {
                return Err(format!("`{name}` needs {expected} arguments"));
            }
            self.argument()?;
            if is_if && argument < 2 {
                jumps.push(self.code.len());
                self.code.push(Instruction::If(0));
            }
        }
        self.nesting -= 1;
        if self.peek() == Some(&Token::Comma) {
            return Err(format!("`{name}` needs {expected} arguments"));
        }
        self.expect(&Token::CloseParenthesis)?;
        if is_if {
            self.emit(Instruction::Select, 3);
            let place = |at: usize| u32::try_from(at).expect("a text has fewer tokens");
            self.code[jumps[0]] = Instruction::If(place(jumps[1] + 1));
            self.code[jumps[1]] = Instruction::Else(place(self.code.len()));
        } else {
            self.emit(Instruction::Call(function), expected);
        }
        Ok(())
    }

    /// An argument of a function: an expression or a quoted name.
    fn argument(&mut self) -> Result<(), String> {
        let Some(Token::Quoted(inner)) = self.peek().cloned() else {
            return self.expression(0);
        };
        self.at += 1;
        match *inner {
            Token::Name(name) => {
                let name = self.name(&name)?;
                self.emit(Instruction::Name(name), 0);
            }
            Token::Inlet(_, inlet) => {
                self.set_type(usize::from(inlet), InletType::Symbol)?;
                self.emit(Instruction::NameOfInlet(inlet), 0);
            }
            _ => return Err("a name is missing".into()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pd 0.53 refuses each of these with "expr: syntax error".
    #[test]
    fn what_pd_refuses_is_a_mistake() {
        let deep = format!("{}1{}", "(".repeat(300), ")".repeat(300));
        for text in [
            "- - 3",
            "!!3",
            "5 10",
            "a#b",
            "\"abc\"",
            "$f0",
            "$f101",
            "$x1",
            "$v1",
            "$y",
            "nofunc(3)",
            "()",
            "3+",
            "(3",
            "3)",
            "(1,2)",
            "if(1,2)",
            "sin()",
            "sin(1,2)",
            "1 + 2, 3",
            "$f1 = 3",
            "$f1+$i1",
            "$s1",
            "sum($s2)",
            "size(\"1a\")",
            "*3",
            ".",
            "t[",
            "t[]",
            "t[1",
            "\"",
            "$",
            "$q1",
            &deep,
        ] {
            let wrong = parse(Dialect::Messages, text);
            assert!(wrong.is_err(), "{text}: {wrong:?}");
        }
        for text in ["$f1", "$i1*2", "$x1"] {
            assert!(parse(Dialect::Blocks, text).is_err(), "{text}");
        }
        for text in ["$f1", "$v1"] {
            assert!(parse(Dialect::Samples, text).is_err(), "{text}");
        }
    }

    #[test]
    fn any_text_is_code_or_a_mistake() {
        let pieces = [
            "$f1", "$v2", "$x", "(", ")", "[", "]", ",", ";", "-", "!", "3", "t", "if(", "\"t\"",
            "=", "*", "sum(",
        ];
        let mut state = 1_u32;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text += pieces[(state >> 16) as usize % pieces.len()];
            }
            for dialect in [Dialect::Messages, Dialect::Blocks, Dialect::Samples] {
                let _ = parse(dialect, &text);
            }
        }
    }
}
