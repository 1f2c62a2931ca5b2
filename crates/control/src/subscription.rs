//! [`Subscriptions`]: the reports that clients have asked for.

use crate::ControlError;
use crate::cells::TapHost;
use crate::command::Topic;
use crate::controller::ClientMessage;
use crate::measured_port::MeasuredPort;
use crate::meters::PortMeter;
use crate::query;
use crate::target::audio_output;
use engine::Engine;
use graph::Graph;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Largest number of ports of one client.
const MAX_PORTS: usize = 64;

/// The subscriptions of all clients: at most one of each.
#[derive(Default)]
pub(crate) struct Subscriptions {
    all: Vec<Subscription>,
    /// Ports that are measured, by `node.port`.
    ports: BTreeMap<String, MeasuredPort>,
    /// Changes that subscribers have not been sent yet.
    changes: Vec<Value>,
}

/// The topics of one client.
struct Subscription {
    client: u64,
    topics: Vec<Topic>,
    ports: Vec<String>,
    interval: Duration,
    due: Instant,
    /// Dropouts as they were sent last.
    dropouts: Value,
}

impl Subscriptions {
    /// Replaces the subscription of `client`; no topic ends it. Ports are those of `graph`, of all cells together.
    pub(crate) fn set(
        &mut self,
        client: u64,
        (topics, ports): (&[Topic], &[String]),
        every_ms: u32,
        (engine, graph): (&Engine, &Graph),
    ) -> Result<(), ControlError> {
        if ports.len() > MAX_PORTS {
            let message = format!("at most {MAX_PORTS} ports are measured for a client");
            return Err(ControlError::TooMany(message));
        }
        let mut distinct: Vec<Topic> = Vec::new();
        for topic in topics {
            if !distinct.contains(topic) {
                distinct.push(*topic);
            }
        }
        let topics = distinct;
        let ports: Vec<String> = ports
            .iter()
            .map(|port| audio_output(graph, port))
            .collect::<Result<_, _>>()?;
        let needs_ports = |it| matches!(it, &Topic::Loudness | &Topic::Spectrum | &Topic::Scope);
        if ports.is_empty() && topics.iter().any(needs_ports) {
            return Err(ControlError::NoPorts);
        }
        self.end(client);
        if !topics.is_empty() {
            self.all.push(Subscription {
                client,
                topics,
                ports,
                interval: Duration::from_millis(every_ms.clamp(10, 60_000).into()),
                due: Instant::now(),
                dropouts: query::dropouts(engine),
            });
        }
        Ok(())
    }

    /// The ports that other clients than `client` have measured.
    pub(crate) fn ports_beside(&self, client: u64) -> impl Iterator<Item = &str> {
        let others = self.all.iter().filter(move |it| it.client != client);
        others.flat_map(|it| it.ports.iter().map(String::as_str))
    }

    /// Taps the ports that are asked for, ends the taps of others, and measures what has come.
    pub(crate) fn measure(&mut self, engine: &mut Engine, mut cells: TapHost<'_>, rate_hz: f64) {
        let wanted: BTreeSet<&String> = self.all.iter().flat_map(|it| &it.ports).collect();
        // Where the engine is busy, it is tried again.
        self.ports
            .retain(|name, port| wanted.contains(name) || !port.end(engine));
        for name in wanted {
            let port = self.ports.entry(name.clone());
            let port = port.or_insert_with(|| MeasuredPort::new(name, rate_hz));
            // One that is not there may come back.
            port.measure(engine, cells.as_deref_mut());
        }
    }

    /// Returns true if somebody gets meters.
    pub(crate) fn has_meters(&self) -> bool {
        let mut all = self.all.iter();
        all.any(|it| it.topics.contains(&Topic::Meters))
    }

    /// Ends the subscription of `client`.
    pub(crate) fn end(&mut self, client: u64) {
        self.all.retain(|it| it.client != client);
    }

    /// Keeps a change for the next [`Self::publish`].
    pub(crate) fn add_change(&mut self, change: Value) {
        self.changes.push(change);
    }

    /// Adds the messages that subscribers are to get now; `inside` are the meters in cells.
    pub(crate) fn publish(
        &mut self,
        (engine, inside): (&Engine, BTreeMap<String, f32>),
        messages: &mut Vec<ClientMessage>,
    ) {
        let changes = std::mem::take(&mut self.changes);
        let now = Instant::now();
        for it in &mut self.all {
            let mut send = |topic, data| {
                if it.topics.contains(&topic) {
                    messages.push((it.client, json!({ "topic": topic, "data": data })));
                }
            };
            for change in &changes {
                send(Topic::Changes, change.clone());
            }
            if now < it.due {
                continue;
            }
            it.due = now + it.interval;
            let mut measure = |topic, value: fn(&mut PortMeter) -> Value| {
                let is_wanted = it.topics.contains(&topic);
                is_wanted.then(|| measured(&it.ports, &mut self.ports, value))
            };
            let meters = measure(Topic::Meters, |meter| meter.levels()).map(|mut meters| {
                let gauges = engine.gauges().into_iter().chain(inside.clone());
                meters.extend(gauges.map(|(name, value)| (name, json!(value))));
                meters
            });
            let others = [
                (Topic::Meters, meters),
                (
                    Topic::Loudness,
                    measure(Topic::Loudness, |meter| meter.loudness()),
                ),
                (
                    Topic::Spectrum,
                    measure(Topic::Spectrum, PortMeter::spectrum),
                ),
                (Topic::Scope, measure(Topic::Scope, PortMeter::scope)),
            ];
            for (topic, values) in others {
                values
                    .into_iter()
                    .for_each(|values| send(topic, Value::Object(values)));
            }
            send(Topic::Load, query::load(engine));
            send(Topic::Transport, query::transport(engine));
            let dropouts = query::dropouts(engine);
            if dropouts != it.dropouts {
                send(Topic::Misses, dropouts.clone());
                it.dropouts = dropouts;
            }
        }
    }
}

/// A value of each of `names` that is measured by now.
fn measured(
    names: &[String],
    ports: &mut BTreeMap<String, MeasuredPort>,
    value: fn(&mut PortMeter) -> Value,
) -> Map<String, Value> {
    let mut all = Map::new();
    for name in names {
        let meter = ports.get_mut(name).and_then(MeasuredPort::meter);
        all.extend(meter.map(|meter| (name.clone(), value(meter))));
    }
    all
}
