//! Parameters: what a kind says about them, and the events that turn them while they play.

use graph::{Param, ParamRange};
use processor::{Event, EventBody, EventTarget, MakeContext, MakeError};

/// A number that may change while it plays.
pub(crate) struct Knob {
    /// Its place among the kind's parameters: the target of its events.
    pub(crate) index: u16,
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// `NaN` where the node must say.
    pub(crate) default: f64,
    pub(crate) doc: &'static str,
}

impl Knob {
    /// As the kind describes it.
    pub(crate) fn param(&self) -> Param {
        Param {
            name: self.name,
            unit: self.unit,
            range: ParamRange::Number {
                min: self.least,
                max: self.most,
                default: self.default,
            },
            live: true,
            doc: self.doc,
        }
    }

    /// What the node says.
    pub(crate) fn of(&self, creation: &MakeContext<'_>) -> Result<f64, MakeError> {
        creation.number(self.name)
    }

    /// What `event` turns it to, within the range; `None` where the event is another's or says no number.
    ///
    /// Real-time: hot.
    pub(crate) fn turned(&self, event: &Event) -> Option<f64> {
        match (event.target, event.body) {
            (EventTarget::Param(index), EventBody::Value(value))
                if index == self.index && !value.is_nan() =>
            {
                Some(f64::from(value).clamp(self.least, self.most))
            }
            _ => None,
        }
    }
}

/// A number that is fixed while it plays.
pub(crate) fn fixed(
    name: &'static str,
    unit: &'static str,
    (least, most): (f64, f64),
    default: f64,
    doc: &'static str,
) -> Param {
    Param {
        name,
        unit,
        range: ParamRange::Number {
            min: least,
            max: most,
            default,
        },
        live: false,
        doc,
    }
}

/// One of several words.
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

/// Yes or no.
pub(crate) fn flag(name: &'static str, doc: &'static str) -> Param {
    Param {
        name,
        unit: "",
        range: ParamRange::Flag,
        live: false,
        doc,
    }
}

/// The width of the ports that follow the node.
pub(crate) fn channels() -> Param {
    fixed("channels", "", (1.0, 256.0), 1.0, "Channels of every port.")
}
