//! Expressions in values: parsed once for each text, computed for each copy.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = sign { ("*" | "/" | "%") sign }
//! sign    = [ "-" | "+" ] power              (-2^2 is -4)
//! power   = atom [ "^" sign ]                (to the right: 2^3^2 is 2^9)
//! atom    = number | "(" sum ")" | name | function "(" sum { "," sum } ")"
//! ```
//!
//! The computation uses `libm`, so that it has the same bits on every machine.

use crate::source::ByteRange;

/// Longest expression, in bytes: its text is computed for each of very many copies.
const MAX_LENGTH: usize = 1000;
/// Deepest nesting of parentheses and signs.
const MAX_DEPTH: usize = 32;

/// Names with a meaning of their own, which no parameter of a part may have.
pub(super) const RESERVED: [&str; 11] = [
    "i", "n", "pi", "min", "max", "floor", "abs", "sin", "sqrt", "log2", "exp2",
];

/// One operation on the stack of numbers.
#[derive(Clone, Copy, Debug)]
enum Op {
    Number(f64),
    /// Index of the copy.
    Index,
    /// Number of copies.
    Count,
    /// A parameter of the part, by its index.
    Param(u32),
    Negate,
    Binary(Binary),
    Unary(fn(f64) -> f64),
}

/// Function of two numbers.
type Binary = fn(f64, f64) -> f64;

/// A parsed expression, in postfix order.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    ops: Vec<Op>,
}

/// The expression is wrong: why, and where in its text.
#[derive(Debug, PartialEq)]
pub(super) struct ExpressionError {
    pub(super) message: String,
    pub(super) at: ByteRange,
}

/// Values of the names in an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variables<'a> {
    /// Index of the copy, from 0.
    pub(super) index: f64,
    /// Number of copies.
    pub(super) count: f64,
    /// The part's parameters as numbers; texts are `NaN`.
    pub(super) params: &'a [f64],
}

impl Expression {
    /// Parses `text`. `param` gives the index of a parameter by its name, or why it has none.
    pub(super) fn parse(
        text: &str,
        param: &dyn Fn(&str) -> Result<u32, String>,
    ) -> Result<Self, ExpressionError> {
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
            ops: Vec::new(),
            param,
        };
        if text.len() > MAX_LENGTH {
            let message = format!("an expression has at most {MAX_LENGTH} bytes");
            return Err(parser.error_at(message, 0..text.len()));
        }
        parser.sum()?;
        parser.skip_blank();
        if parser.at < text.len() {
            return Err(parser.expected("an operator"));
        }
        Ok(Self { ops: parser.ops })
    }

    /// The value; not finite where the expression has none, as for a division by zero.
    pub(super) fn value(&self, variables: &Variables<'_>) -> f64 {
        let mut stack: Vec<f64> = Vec::with_capacity(8);
        let pop = |stack: &mut Vec<f64>| stack.pop().expect("the parser counts the operands");
        for op in &self.ops {
            let value = match op {
                Op::Number(number) => *number,
                Op::Index => variables.index,
                Op::Count => variables.count,
                Op::Param(index) => variables.params[*index as usize],
                Op::Negate => -pop(&mut stack),
                Op::Unary(function) => function(pop(&mut stack)),
                Op::Binary(function) => {
                    let right = pop(&mut stack);
                    function(pop(&mut stack), right)
                }
            };
            stack.push(value);
        }
        pop(&mut stack)
    }

    /// Number of operations: the time that one value takes.
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    ops: Vec<Op>,
    param: &'t dyn Fn(&str) -> Result<u32, String>,
}

type Parsed = Result<(), ExpressionError>;

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips white space and returns the next of `marks`, if it comes.
    fn accept(&mut self, marks: &[char]) -> Option<char> {
        self.skip_blank();
        let next = self.rest().chars().next().filter(|c| marks.contains(c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn error_at(&self, message: impl Into<String>, at: ByteRange) -> ExpressionError {
        ExpressionError {
            message: message.into(),
            at,
        }
    }

    fn expected(&self, what: &str) -> ExpressionError {
        let (found, width) = match self.rest().chars().next() {
            Some(c) => (format!("found `{c}`"), c.len_utf8()),
            None => ("the expression ends".into(), 0),
        };
        let message = format!("expected {what}, but {found}");
        self.error_at(message, self.at..self.at + width)
    }

    fn sum(&mut self) -> Parsed {
        self.product()?;
        while let Some(mark) = self.accept(&['+', '-']) {
            self.product()?;
            self.ops.push(Op::Binary(match mark {
                '+' => |a, b| a + b,
                _ => |a, b| a - b,
            }));
        }
        Ok(())
    }

    fn product(&mut self) -> Parsed {
        self.sign()?;
        while let Some(mark) = self.accept(&['*', '/', '%']) {
            self.sign()?;
            self.ops.push(Op::Binary(match mark {
                '*' => |a, b| a * b,
                '/' => |a, b| a / b,
                _ => |a, b| a - b * libm::floor(a / b),
            }));
        }
        Ok(())
    }

    fn sign(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error_at("this expression is nested too deeply", self.at..self.at + 1));
        }
        match self.accept(&['-', '+']) {
            Some('-') => {
                self.sign()?;
                self.ops.push(Op::Negate);
            }
            Some(_) => self.sign()?,
            None => self.power()?,
        }
        self.depth -= 1;
        Ok(())
    }

    fn power(&mut self) -> Parsed {
        self.atom()?;
        if self.accept(&['^']).is_some() {
            self.sign()?;
            self.ops.push(Op::Binary(libm::pow));
        }
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        if self.accept(&['(']).is_some() {
            self.sum()?;
            return self.close();
        }
        let next = self.rest().chars().next();
        match next {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.expected("a number or a name")),
        }
    }

    fn close(&mut self) -> Parsed {
        match self.accept(&[')']) {
            Some(_) => Ok(()),
            None => Err(self.expected("`)`")),
        }
    }

    fn number(&mut self) -> Parsed {
        let (rest, bytes) = (self.rest(), self.rest().as_bytes());
        let digits = |from: usize| {
            let digits = bytes[from..].iter().take_while(|b| b.is_ascii_digit());
            from + digits.count()
        };
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let last = digits(end + 1 + sign);
            end = if last > end + 1 + sign { last } else { end };
        }
        let number = rest[..end].parse::<f64>().ok().filter(|n| n.is_finite());
        let Some(number) = number else {
            return Err(self.error_at("this is no finite number", self.at..self.at + end.max(1)));
        };
        self.at += end;
        self.ops.push(Op::Number(number));
        Ok(())
    }

    fn name(&mut self) -> Parsed {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let name = &rest[..end.unwrap_or(rest.len())];
        let at = self.at..self.at + name.len();
        self.at = at.end;
        let op = match name {
            "i" => Op::Index,
            "n" => Op::Count,
            "pi" => Op::Number(std::f64::consts::PI),
            "min" => return self.fold(f64::min),
            "max" => return self.fold(f64::max),
            "floor" => return self.call(libm::floor),
            "abs" => return self.call(libm::fabs),
            "sin" => return self.call(libm::sin),
            "sqrt" => return self.call(libm::sqrt),
            "log2" => return self.call(libm::log2),
            "exp2" => return self.call(libm::exp2),
            name => Op::Param((self.param)(name).map_err(|why| self.error_at(why, at))?),
        };
        self.ops.push(op);
        Ok(())
    }

    /// The argument of a function of one number.
    fn call(&mut self, function: fn(f64) -> f64) -> Parsed {
        self.open()?;
        self.sum()?;
        self.ops.push(Op::Unary(function));
        self.close()
    }

    /// The arguments of `min` or `max`.
    fn fold(&mut self, function: Binary) -> Parsed {
        self.open()?;
        self.sum()?;
        while self.accept(&[',']).is_some() {
            self.sum()?;
            self.ops.push(Op::Binary(function));
        }
        self.close()
    }

    fn open(&mut self) -> Parsed {
        match self.accept(&['(']) {
            Some(_) => Ok(()),
            None => Err(self.expected("`(`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, ExpressionError> {
        let names = |name: &str| match name {
            "cutoff" => Ok(0),
            _ => Err(format!("there is no parameter `{name}`")),
        };
        let variables = Variables {
            index: 3.0,
            count: 8.0,
            params: &[800.0],
        };
        Expression::parse(text, &names).map(|parsed| parsed.value(&variables))
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, expected) in [
            ("440 * 2^((9 + i) / 12)", 880.0),
            ("-2^2", -4.0),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("1 - 2 - 3", -4.0),
            ("-7 % 4", 1.0),
            ("1e3 + .5 + 2.", 1002.5),
            ("min(i, n, 2) + max(1, cutoff)", 802.0),
            ("floor(sqrt(10)) + abs(-1) + log2(8) + exp2(3)", 15.0),
            ("sin(pi / 2) + i / n", 1.375),
            ("+ - - 4", 4.0),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_wrong_expression_says_where() {
        for (text, message, at) in [
            (
                "1 +",
                "expected a number or a name, but the expression ends",
                3..3,
            ),
            ("(1 + 2", "expected `)`, but the expression ends", 6..6),
            ("2 cut", "expected an operator, but found `c`", 2..3),
            ("2 * cutof", "there is no parameter `cutof`", 4..9),
            ("sin 3", "expected `(`, but found `3`", 4..5),
            ("1e999", "this is no finite number", 0..5),
            ("é", "there is no parameter `é`", 0..2),
        ] {
            let error = value(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.at), (message, at), "{text}");
        }
        assert!(value(&"(".repeat(900)).is_err());
        assert!(value(&"-".repeat(900)).is_err());
        assert!(value(&"1+".repeat(900)).is_err());
    }
}
