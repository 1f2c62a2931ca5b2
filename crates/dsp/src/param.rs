//! Parameters of a kind: their description for readers and hosts, and the events that change them.
//!
//! A parameter is *live* (an event may change it while the graph runs: [`ParamSpec`]) or fixed for the node's life
//! ([`fixed`], [`choice`], [`flag`]). The index of a parameter among its kind's is the target of its events.

use graph::{Param, ParamRange};
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
    /// The description as kinds have it.
    pub(crate) fn param(&self) -> Param {
        Param {
            name: self.name,
            unit: self.unit,
            range: ParamRange::Number {
                min: self.min,
                max: self.max,
                default: self.default,
            },
            live: true,
            doc: self.doc,
        }
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

/// A number that is fixed for the node's life.
pub(crate) fn fixed(
    name: &'static str,
    unit: &'static str,
    (min, max): (f64, f64),
    default: f64,
    doc: &'static str,
) -> Param {
    Param {
        name,
        unit,
        range: ParamRange::Number { min, max, default },
        live: false,
        doc,
    }
}

/// One of several words; the first is the default.
pub(crate) fn choice(
    name: &'static str,
    words: &'static [&'static str],
    doc: &'static str,
) -> Param {
    Param {
        name,
        unit: "",
        range: ParamRange::Choice(words),
        live: false,
        doc,
    }
}

/// Yes or no; no is the default.
pub(crate) fn flag(name: &'static str, doc: &'static str) -> Param {
    Param {
        name,
        unit: "",
        range: ParamRange::Flag,
        live: false,
        doc,
    }
}

/// Number of channels of the ports that follow the node.
pub(crate) fn channels() -> Param {
    fixed("channels", "", (1.0, 256.0), 1.0, "Channels of every port.")
}
