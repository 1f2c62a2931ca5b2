//! `netsend` and `netreceive` (`x_net.c`).

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::words;
use super::super::value::{Message, Value};
use super::Making;
use super::socket_link::SocketLink;
use crate::net::{MAX_MESSAGE, NetCommand, NetEvent, Served, SocketFormat};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let class = making.class;
    if !matches!(class, "netsend" | "netreceive") {
        return None;
    }
    making.globals.net.open();
    let arguments = Arguments::of(making);
    let link = SocketLink {
        class: if class == "netsend" {
            "netsend"
        } else {
            "netreceive"
        },
        format: arguments.format,
        number: 0,
        text: String::with_capacity(MAX_MESSAGE),
        arrived: Vec::with_capacity(MAX_MESSAGE),
        at: 0,
    };
    Some(match class {
        "netsend" => Box::new(NetSend {
            link,
            state: State::Closed,
        }),
        _ => Box::new(NetReceive {
            link,
            tells_address: arguments.tells_address,
            port: arguments.port,
            host: arguments.host,
            count: 0,
        }),
    })
}

/// Arguments of a box.
struct Arguments {
    format: SocketFormat,
    tells_address: bool,
    port: f32,
    host: String,
}

impl Arguments {
    fn of(making: &mut Making<'_>) -> Self {
        let is_sender = making.class == "netsend";
        let mut all = Self {
            format: SocketFormat::default(),
            tells_address: false,
            port: 0.0,
            host: String::new(),
        };
        let (class, globals) = (making.class, &mut *making.globals);
        let mut rest = making.values;
        let is_old = matches!(rest, [Value::Float(_), ..]);
        while let [Value::Symbol(flag), behind @ ..] = rest {
            match globals.symbols.text(*flag) {
                "-u" => all.format.is_udp = true,
                "-b" => all.format.is_binary = true,
                "-f" if !is_sender => all.tells_address = true,
                text if text.starts_with('-') => {
                    globals.print(&format!("error: {class}: unknown flag ..."));
                }
                _ => break,
            }
            rest = behind;
        }
        match (is_sender, rest) {
            (true, [Value::Float(is_udp), ..]) if is_old => {
                all.format.is_udp = *is_udp != 0.0;
                rest = &[];
            }
            (false, [Value::Float(port), behind @ ..]) => {
                all.port = *port;
                rest = behind;
                if let (true, [Value::Float(is_udp), behind @ ..]) = (is_old, behind) {
                    all.format.is_udp = *is_udp != 0.0;
                    rest = behind;
                } else if let [Value::Symbol(host), behind @ ..] = behind {
                    all.host = globals.symbols.text(*host).to_owned();
                    rest = behind;
                }
            }
            _ => {}
        }
        if !rest.is_empty() {
            globals.print(&format!("error: {class}: extra arguments ignored"));
        }
        all
    }
}

/// A port's number; 0 for what is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what lies outside is 0"
)]
fn port_of(number: f32) -> u16 {
    match number {
        1.0..65_536.0 => number as u16,
        _ => 0,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    /// The connection is under way.
    Asked,
    Open,
}

struct NetSend {
    link: SocketLink,
    state: State,
}

impl NetSend {
    fn connect(&mut self, values: &[Value], context: &mut Context<'_>) {
        let (host, port, source) = match values {
            [Value::Symbol(host), Value::Float(port)] => (*host, *port, 0.0),
            [
                Value::Symbol(host),
                Value::Float(port),
                Value::Float(source),
                ..,
            ] => (*host, *port, *source),
            _ => return self.link.print("bad connect arguments", context),
        };
        if self.state != State::Closed {
            return self.link.print("already connected", context);
        }
        let format = self.link.format;
        let (port, source) = (port_of(port), port_of(source));
        self.link.text.clear();
        let name = context.symbols().text(host);
        if name.len() > 255 {
            return self.link.print("bad host or port?", context);
        }
        self.link.text.push_str(name);
        let command = NetCommand::Connect {
            format,
            host: &self.link.text,
            port,
            source,
        };
        match self.link.serve(command, context) {
            Some(Served::Done) => {
                self.state = State::Open;
                context.send_float(0, 1.0);
            }
            Some(Served::Later) => self.state = State::Asked,
            None => context.send_float(0, 0.0),
        }
    }

    fn disconnect(&mut self, context: &mut Context<'_>) {
        if self.state == State::Closed {
            return;
        }
        self.link.close(context);
        if std::mem::replace(&mut self.state, State::Closed) == State::Open {
            context.send_float(0, 0.0);
        }
    }
}

impl Object for NetSend {
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if self.state != State::Closed {
            self.link.send(values, context);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::CONNECT => self.connect(message.values, context),
            words::DISCONNECT => self.disconnect(context),
            words::SEND => return self.list(message.values, context),
            selector => match context.symbols().text(selector) {
                // A connection to this machine stands at once, another one is waited for elsewhere.
                "timeout" => {}
                _ => return Handled::No,
            },
        }
        Handled::Yes
    }

    fn net(&mut self, number: u32, event: &NetEvent<'_>, context: &mut Context<'_>) {
        if number != self.link.number {
            return;
        }
        match event {
            NetEvent::Connected => {
                self.state = State::Open;
                context.send_float(0, 1.0);
            }
            NetEvent::Ended(why) => {
                if !why.is_empty() {
                    self.link.print(why, context);
                }
                self.state = State::Closed;
                self.link.number += 1;
                context.send_float(0, 0.0);
            }
            NetEvent::Trouble(why) => self.link.print(why, context),
            NetEvent::Text(_, text) => self.link.take(text.as_bytes(), context),
            NetEvent::Bytes(_, bytes) => self.link.take(bytes, context),
            NetEvent::Opened(_) | NetEvent::Closed => {}
        }
    }

    fn resume(&mut self, _: u32, context: &mut Context<'_>) {
        self.link.send_next(1, context);
    }
}

struct NetReceive {
    link: SocketLink,
    tells_address: bool,
    /// Port and host of its arguments.
    port: f32,
    host: String,
    /// Connections.
    count: u16,
}

impl NetReceive {
    /// The outlet of addresses, behind that of the number of connections.
    fn address_outlet(&self) -> usize {
        if self.link.format.is_udp { 1 } else { 2 }
    }

    fn send_count(&self, context: &mut Context<'_>) {
        if !self.link.format.is_udp {
            context.send_float(1, f32::from(self.count));
        }
    }

    fn listen(&mut self, port: f32, host: &str, context: &mut Context<'_>) {
        self.link.close(context);
        self.count = 0;
        let (format, port) = (self.link.format, port_of(port));
        if port > 0 {
            let command = NetCommand::Listen { format, host, port };
            self.link.serve(command, context);
        }
    }

    fn send(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match self.link.format.is_udp {
            true => self.link.print("'send' only works for TCP", context),
            false => self.link.send(values, context),
        }
        Handled::Yes
    }
}

impl Object for NetReceive {
    /// It listens before all loadbangs: in Pd it does once it is made.
    fn loadbang(&mut self, context: &mut Context<'_>) {
        if port_of(self.port) > 0 {
            let host = std::mem::take(&mut self.host);
            self.listen(self.port, &host, context);
        }
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        self.send(values, context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if message.selector == words::SEND {
            return self.send(message.values, context);
        }
        if context.symbols().text(message.selector) != "listen" {
            return Handled::No;
        }
        let mut host = std::mem::take(&mut self.link.text);
        host.clear();
        if let Some(Value::Symbol(name)) = message.values.get(1) {
            let name = context.symbols().text(*name);
            host.push_str(if name.len() > 255 { "" } else { name });
        }
        self.listen(message.number(), &host, context);
        self.link.text = host;
        self.send_count(context);
        Handled::Yes
    }

    fn net(&mut self, number: u32, event: &NetEvent<'_>, context: &mut Context<'_>) {
        if number != self.link.number {
            return;
        }
        match event {
            NetEvent::Opened(_) => {
                self.count = self.count.saturating_add(1);
                self.send_count(context);
            }
            NetEvent::Closed => {
                self.count = self.count.saturating_sub(1);
                self.send_count(context);
            }
            NetEvent::Text(from, _) | NetEvent::Bytes(from, _) => {
                if self.tells_address {
                    self.link
                        .send_address(self.address_outlet(), *from, context);
                }
                match event {
                    NetEvent::Text(_, text) => self.link.take(text.as_bytes(), context),
                    NetEvent::Bytes(_, bytes) => self.link.take(bytes, context),
                    _ => {}
                }
            }
            NetEvent::Ended(why) | NetEvent::Trouble(why) => self.link.print(why, context),
            NetEvent::Connected => {}
        }
    }

    fn resume(&mut self, _: u32, context: &mut Context<'_>) {
        self.link.send_next(0, context);
    }
}
