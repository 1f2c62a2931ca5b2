//! [`Subscriptions`]: what clients have asked to be sent.

use crate::command::Topic;
use crate::controller::Message;
use crate::query;
use engine::Engine;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The subscriptions of all clients: at most one of each.
#[derive(Default)]
pub(crate) struct Subscriptions {
    all: Vec<Subscription>,
    /// Changes that subscribers have not been sent yet.
    changes: Vec<Value>,
}

/// The topics of one client.
struct Subscription {
    client: u64,
    topics: Vec<Topic>,
    interval: Duration,
    due: Instant,
    /// Dropouts as they were sent last.
    dropouts: Value,
}

impl Subscriptions {
    /// Replaces the subscription of `client`; no topic ends it.
    pub(crate) fn set(&mut self, client: u64, topics: &[Topic], every_ms: u32, engine: &Engine) {
        self.end(client);
        if !topics.is_empty() {
            self.all.push(Subscription {
                client,
                topics: topics.to_vec(),
                interval: Duration::from_millis(every_ms.clamp(10, 60_000).into()),
                due: Instant::now(),
                dropouts: query::dropouts(engine),
            });
        }
    }

    /// Ends the subscription of `client`.
    pub(crate) fn end(&mut self, client: u64) {
        self.all.retain(|it| it.client != client);
    }

    /// Keeps a change for the next [`Self::publish`].
    pub(crate) fn add_change(&mut self, change: Value) {
        self.changes.push(change);
    }

    /// Adds the messages that subscribers are to get now.
    pub(crate) fn publish(&mut self, engine: &Engine, messages: &mut Vec<Message>) {
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
            send(Topic::Meters, json!(engine.gauges()));
            send(Topic::Load, query::load(engine));
            let dropouts = query::dropouts(engine);
            if dropouts != it.dropouts {
                send(Topic::Misses, dropouts.clone());
                it.dropouts = dropouts;
            }
        }
    }
}
