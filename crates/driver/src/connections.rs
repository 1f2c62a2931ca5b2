//! [`Connections`]: the connections of a client that are kept with its session, made again whenever a port appears.
//!
//! Neither JACK nor ALSA's sequencer may be asked for them on an audio thread: a callback or an event says that ports
//! have changed, and another thread connects.

use crate::PortConnections;

/// Direction of a port, seen from us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortDirection {
    /// Sound or MIDI comes to us.
    Input,
    /// Sound or MIDI goes from us.
    Output,
}

/// A port of our own.
#[derive(Clone, Debug)]
pub(crate) struct OwnPort<P> {
    /// Name without the client's.
    pub(crate) name: String,
    /// The port, as the server knows it.
    pub(crate) port: P,
    pub(crate) direction: PortDirection,
}

/// The ports of a server and their connections.
pub(crate) trait PortGraph<P> {
    /// Returns true if a port of this full name is there.
    fn has_port(&self, name: &str) -> bool;
    /// Connects a port of ours. Returns false if the server refuses: a port of JACK can be seen before it can be connected.
    fn connect(&self, own: &OwnPort<P>, other: &str) -> bool;
    /// Full names of the ports to which a port of ours is connected, sorted.
    fn connections_of(&self, own: &OwnPort<P>) -> Vec<String>;
}

/// A connection that is wanted.
struct WantedConnection {
    /// Index of our port.
    own: usize,
    other: String,
    /// True if it was made since the other port appeared: what the user disconnects stays so.
    was_made: bool,
}

/// Connections of one client.
pub(crate) struct Connections<P> {
    ports: Vec<OwnPort<P>>,
    wanted: Vec<WantedConnection>,
}

impl<P> Connections<P> {
    /// The connections that are wanted of these ports.
    pub(crate) fn new(ports: Vec<OwnPort<P>>, wanted: &[PortConnections]) -> Self {
        let mut all = Vec::new();
        for connections in wanted {
            let found = ports.iter().position(|port| port.name == connections.port);
            let Some(own) = found else {
                continue;
            };
            all.extend(connections.others.iter().map(|other| WantedConnection {
                own,
                other: other.clone(),
                was_made: false,
            }));
        }
        Self { ports, wanted: all }
    }

    /// Makes the connections to ports that have appeared. One that is refused is tried again at the next call.
    ///
    /// Real-time: setup.
    pub(crate) fn restore(&mut self, graph: &impl PortGraph<P>) {
        for connection in &mut self.wanted {
            let own = &self.ports[connection.own];
            connection.was_made = graph.has_port(&connection.other)
                && (connection.was_made || graph.connect(own, &connection.other));
        }
    }

    /// The connections that there are now, of ports that have any.
    ///
    /// Real-time: setup.
    pub(crate) fn current(&self, graph: &impl PortGraph<P>) -> Vec<PortConnections> {
        let connections = self.ports.iter().map(|port| PortConnections {
            port: port.name.clone(),
            others: graph.connections_of(port),
        });
        connections.filter(|it| !it.others.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// A server whose other client has a port before it is active.
    #[derive(Default)]
    struct Server {
        has_port: Cell<bool>,
        is_active: Cell<bool>,
        made: RefCell<u32>,
    }

    impl PortGraph<()> for Server {
        fn has_port(&self, _: &str) -> bool {
            self.has_port.get()
        }

        fn connect(&self, _: &OwnPort<()>, _: &str) -> bool {
            *self.made.borrow_mut() += u32::from(self.is_active.get());
            self.is_active.get()
        }

        fn connections_of(&self, _: &OwnPort<()>) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn a_connection_that_is_refused_is_tried_again_and_one_that_was_made_is_not() {
        let own = OwnPort {
            name: "in".into(),
            port: (),
            direction: PortDirection::Input,
        };
        let wanted = PortConnections {
            port: "in".into(),
            others: vec!["other:out".into()],
        };
        let mut connections = Connections::new(vec![own], &[wanted]);
        let server = Server::default();
        let mut made_after = |has_port, is_active| {
            server.has_port.set(has_port);
            server.is_active.set(is_active);
            connections.restore(&server);
            *server.made.borrow()
        };
        assert_eq!(made_after(false, false), 0);
        assert_eq!(made_after(true, false), 0);
        assert_eq!(made_after(true, true), 1);
        assert_eq!(
            made_after(true, true),
            1,
            "what the user disconnects stays so"
        );
        assert_eq!(made_after(false, true), 1);
        assert_eq!(made_after(true, true), 2, "it has come back");
    }
}
