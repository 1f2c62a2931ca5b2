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
    /// Connects a port of ours. A refusal (they are connected, or of different types) changes nothing.
    fn connect(&self, own: &OwnPort<P>, other: &str);
    /// Full names of the ports to which a port of ours is connected, sorted.
    fn connections_of(&self, own: &OwnPort<P>) -> Vec<String>;
}

/// A connection that is wanted.
struct WantedConnection {
    /// Index of our port.
    own: usize,
    other: String,
    /// True if the other port was there at the last look: what the user disconnects stays so.
    was_there: bool,
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
                was_there: false,
            }));
        }
        Self { ports, wanted: all }
    }

    /// Makes the connections to ports that have appeared since the last call.
    ///
    /// Real-time: setup.
    pub(crate) fn restore(&mut self, graph: &impl PortGraph<P>) {
        for connection in &mut self.wanted {
            let is_there = graph.has_port(&connection.other);
            if is_there && !connection.was_there {
                graph.connect(&self.ports[connection.own], &connection.other);
            }
            connection.was_there = is_there;
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
