//! Parameters of a kind: their description for readers and hosts, and the events that change them.
//!
//! A parameter is *live* (an event may change it while the graph runs: [`ParamSpec`]) or fixed for the node's life
//! ([`Param`]). The index of a parameter among its kind's is the target of its events.

use graph::Param;
use processor::{Event, EventBody, EventTarget, MODULATION_INTERVAL, MakeContext, MakeError};

/// Description of a live number.
#[derive(Clone, Copy)]
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
    /// True if an input can drive it at audio rate.
    pub(crate) audio_rate: bool,
}

/// Number of frames in which a parameter reaches the value of `event`, if that says so; else `usual`.
///
/// Real-time: hot.
pub(crate) fn ramp_frames(event: &Event, usual: u32) -> u32 {
    match event.body {
        EventBody::Glide(_) => MODULATION_INTERVAL,
        _ => usual,
    }
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
            audio_rate: false,
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
        let param = number.unit(self.unit).doc(self.doc).live();
        match self.audio_rate {
            true => param.audio_rate(),
            false => param,
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
            (EventTarget::Param(index), EventBody::Value(value) | EventBody::Glide(value))
                if index == self.index && !value.is_nan() =>
            {
                Some(f64::from(value).clamp(self.min, self.max))
            }
            _ => None,
        }
    }

    /// The same parameter, which an input can drive at audio rate.
    pub(crate) const fn audio_rate(self) -> Self {
        Self {
            audio_rate: true,
            ..self
        }
    }
}

/// Number of channels of the ports that follow the node.
pub(crate) fn channels() -> Param {
    Param::number("channels", (1.0, 256.0), 1.0)
        .doc("Channels of every port; without it those of the widest signal that enters.")
}
