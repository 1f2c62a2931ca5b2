//! [`SocketLink`]: what `netsend` and `netreceive` have in common: a socket, what has come by it, and what is sent.

use super::super::context::Context;
use super::super::text::write_escaped;
use super::super::value::{Message, Value};
use crate::file::parse_float;
use crate::net::{MAX_MESSAGE, NetCommand, Served, SocketFormat};
use std::fmt::{Error, Write};
use std::net::SocketAddr;

/// A text that takes what it has room for.
struct Limited<'t>(&'t mut String);

impl Write for Limited<'_> {
    fn write_str(&mut self, text: &str) -> Result<(), Error> {
        match self.0.len() + text.len() <= MAX_MESSAGE {
            true => self.0.push_str(text),
            false => return Err(Error),
        }
        Ok(())
    }
}

/// State that both classes have.
pub(super) struct SocketLink {
    pub class: &'static str,
    pub format: SocketFormat,
    /// Number of the socket: what comes from an older one is left out.
    pub number: u32,
    /// Room for a message that is sent, and for a word that has come.
    pub text: String,
    /// Bytes that have come and are still to be sent to the outlet, from `at` on.
    pub arrived: Vec<u8>,
    pub at: usize,
}

impl SocketLink {
    pub(super) fn serve(
        &self,
        command: NetCommand<'_>,
        context: &mut Context<'_>,
    ) -> Option<Served> {
        match context.serve_net(self.number, command) {
            Ok(served) => Some(served),
            Err(why) => {
                self.print(&why, context);
                None
            }
        }
    }

    pub(super) fn print(&self, why: &str, context: &mut Context<'_>) {
        context.print_with(|_, line| write!(line, "error: {}: {why}", self.class));
    }

    pub(super) fn close(&mut self, context: &mut Context<'_>) {
        self.serve(NetCommand::Close, context);
        self.number += 1;
        self.arrived.clear();
    }

    /// Sends a list: words with a semicolon, or bytes.
    pub(super) fn send(&mut self, values: &[Value], context: &mut Context<'_>) {
        if self.format.is_binary {
            return self.send_bytes(values, context);
        }
        self.text.clear();
        let symbols = context.symbols();
        let mut to = Limited(&mut self.text);
        let mut write = || {
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    to.write_str(" ")?;
                }
                match value {
                    Value::Symbol(symbol) => write_escaped(symbols.text(*symbol), &mut to)?,
                    value => value.write(symbols, &mut to)?,
                }
            }
            to.write_str(";\n")
        };
        if write().is_err() {
            return self.print("a message is too long and lost", context);
        }
        self.serve(NetCommand::Send(self.text.as_bytes()), context);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a byte"
    )]
    pub(super) fn send_bytes(&mut self, values: &[Value], context: &mut Context<'_>) {
        let mut bytes = [0; MAX_MESSAGE];
        let Some(to) = bytes.get_mut(..values.len()) else {
            return self.print("a message is too long and lost", context);
        };
        for (to, value) in to.iter_mut().zip(values) {
            *to = value.number() as i64 as u8;
        }
        if !values.is_empty() {
            self.serve(NetCommand::Send(&bytes[..values.len()]), context);
        }
    }

    /// Takes bytes in that have come; they leave by [`SocketLink::send_next`].
    pub(super) fn take(&mut self, bytes: &[u8], context: &mut Context<'_>) {
        self.arrived.clear();
        self.arrived.extend_from_slice(bytes);
        self.at = 0;
        context.resume(0);
    }

    /// Sends what comes next of what has come.
    pub(super) fn send_next(&mut self, outlet: usize, context: &mut Context<'_>) {
        match self.format {
            SocketFormat {
                is_binary: false, ..
            } => self.send_words(outlet, context),
            // All bytes of a datagram are a list.
            SocketFormat { is_udp: true, .. } => context.with_line(|line, context| {
                let bytes = self.arrived.iter();
                line.extend(bytes.map(|byte| Value::Float(f32::from(*byte))));
                context.send_list(outlet, line);
                self.arrived.clear();
            }),
            _ => {
                if let Some(byte) = self.arrived.get(self.at) {
                    self.at += 1;
                    context.send_float(outlet, f32::from(*byte));
                    context.resume(0);
                }
            }
        }
    }

    /// Sends the words before the next comma.
    pub(super) fn send_words(&mut self, outlet: usize, context: &mut Context<'_>) {
        context.with_line(|line, context| {
            while line.is_empty() && self.at < self.arrived.len() {
                match self.read_words(line, context) {
                    Ok(()) => {}
                    Err(why) => {
                        line.clear();
                        self.print(why, context);
                    }
                }
            }
            if !line.is_empty() {
                context.send(outlet, Message::of_words(line));
                context.resume(0);
            }
        });
    }

    /// Reads words into `line` until a comma.
    pub(super) fn read_words(
        &mut self,
        line: &mut Vec<Value>,
        context: &mut Context<'_>,
    ) -> Result<(), &'static str> {
        let mut result = Ok(());
        while let Some(byte) = self.arrived.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b',' | b';' => {
                    self.at += 1;
                    break;
                }
                _ => match self.read_word(context) {
                    Ok(word) => line.push(word),
                    Err(why) => result = Err(why),
                },
            }
        }
        result
    }

    pub(super) fn read_word(&mut self, context: &mut Context<'_>) -> Result<Value, &'static str> {
        let from = self.at;
        let mut is_escaped = false;
        let rest = self.arrived[from..].iter();
        let length = rest
            .take_while(|byte| {
                let ends = matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b';');
                let was_escaped = is_escaped;
                is_escaped = !was_escaped && **byte == b'\\';
                !ends || was_escaped
            })
            .count();
        self.at += length;
        // It came as a text, and is cut at letters of one byte.
        let word = std::str::from_utf8(&self.arrived[from..self.at]).unwrap_or_default();
        if let Some(number) = parse_float(word) {
            return Ok(Value::Float(number));
        }
        self.text.clear();
        let mut letters = word.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => self.text.extend(letters.next()),
                '$' if letters.peek().is_some_and(char::is_ascii_digit) => {
                    return Err("got dollar sign in message");
                }
                letter => self.text.push(letter),
            }
        }
        let symbol = context.symbol_from_outside(&self.text);
        symbol
            .map(Value::Symbol)
            .ok_or("too many new words: a message is left out")
    }

    /// Sends the address that something came from.
    pub(super) fn send_address(
        &mut self,
        outlet: usize,
        from: SocketAddr,
        context: &mut Context<'_>,
    ) {
        self.text.clear();
        // A text has room.
        let _ = write!(self.text, "{}", from.ip());
        if let Some(symbol) = context.symbol_from_outside(&self.text) {
            let port = Value::Float(f32::from(from.port()));
            context.send_list(outlet, &[Value::Symbol(symbol), port]);
        }
    }
}
