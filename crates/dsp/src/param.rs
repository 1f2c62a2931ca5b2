//! Parameters of a kind: their description for readers and hosts, and the events that change them.
//!
//! A parameter is *live* (an event may change it while the graph runs: [`ParamSpec`]) or fixed for the node's life
//! ([`Param`]). The index of a parameter among its kind's is the target of its events.

use graph::Param;
use processor::{Event, EventBody, EventTarget, MakeContext, MakeError};

/// Description of a live number.
pub(crate) struct ParamSpec {
    /// Index among the kind's parameters, and target of its events.
    pub(crate) index: u16,
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// `NaN` if the node must set it.
    pub(crate) default: f64,
    pub(crate) doc: &'static str,
}

impl ParamSpec {
    /// A plain number from `min` to `max`.
    pub(crate) const fn new(
        index: u16,
        name: &'static str,
        (min, max): (f64, f64),
        default: f64,
    ) -> Self {
        Self {
            index,
            name,
            unit: "",
            min,
            max,
            default,
            doc: "",
        }
    }

    /// The same parameter in a unit.
    pub(crate) const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// The same parameter with a sentence about it.
    pub(crate) const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// The description as kinds have it.
    pub(crate) fn param(&self) -> Param {
        let number = Param::number(self.name, (self.min, self.max), self.default);
        number.unit(self.unit).doc(self.doc).live()
    }

    /// Reads the value that the node sets, or the default.
    ///
    /// # Errors
    ///
    /// It is missing or outside its range.
    pub(crate) fn read(&self, creation: &MakeContext<'_>) -> Result<f64, MakeError> {
        creation.number(self.name)
    }

    /// The new value if `event` changes this parameter, held within its range; `None` for other events and for NaN.
    ///
    /// Real-time: hot.
    pub(crate) fn value_of(&self, event: &Event) -> Option<f64> {
        match (event.target, event.body) {
            (EventTarget::Param(index), EventBody::Value(value))
                if index == self.index && !value.is_nan() =>
            {
                Some(f64::from(value).clamp(self.min, self.max))
            }
            _ => None,
        }
    }
}

/// Number of channels of the ports that follow the node.
pub(crate) fn channels() -> Param {
    Param::number("channels", (1.0, 256.0), 1.0)
        .doc("Channels of every port; without it those of the widest signal that enters.")
}
