//! [`Layout`]: the names of usual numbers of channels, and what each channel is.

use units::Channels;

/// Maximum width of a port.
pub(crate) const MAX_CHANNELS: Channels = Channels(256);

/// One channel of a layout of loudspeakers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speaker {
    /// Its name, which is the name of a port of `split` and `join`.
    pub name: &'static str,
    /// Its direction in degrees from the front, positive to the left; as ITU-R BS.2051 has it.
    pub azimuth: f64,
    /// Its height in degrees above the ear.
    pub elevation: f64,
}

/// A layout: loudspeakers, or the components of a sound field (Ambisonics).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Its name in sessions.
    pub name: &'static str,
    /// Its loudspeakers in the order of the channels; empty for Ambisonics.
    pub speakers: &'static [Speaker],
    /// Order of the sound field, 1 to 7; 0 for loudspeakers. Channels are in the order ACN, and gains are SN3D.
    pub order: u16,
}

/// A loudspeaker at the height of the ear.
const fn ear(name: &'static str, azimuth: f64) -> Speaker {
    top(name, azimuth, 0.0)
}

const fn top(name: &'static str, azimuth: f64, elevation: f64) -> Speaker {
    Speaker {
        name,
        azimuth,
        elevation,
    }
}

/// Name of the channel for low effects: no sound is panned to it.
pub const LFE: &str = "lfe";

const LEFT: Speaker = ear("left", 30.0);
const RIGHT: Speaker = ear("right", -30.0);
const CENTER: Speaker = ear("center", 0.0);
const SUB: Speaker = ear(LFE, 0.0);
const SURROUND: [Speaker; 2] = [ear("surround_left", 110.0), ear("surround_right", -110.0)];
const SIDE: [Speaker; 2] = [ear("side_left", 90.0), ear("side_right", -90.0)];
const BACK: [Speaker; 2] = [ear("back_left", 135.0), ear("back_right", -135.0)];
const QUAD: [Speaker; 4] = [ear("left", 45.0), ear("right", -45.0), BACK[0], BACK[1]];
const TOP: [Speaker; 4] = [
    top("top_front_left", 45.0, 45.0),
    top("top_front_right", -45.0, 45.0),
    top("top_back_left", 135.0, 45.0),
    top("top_back_right", -135.0, 45.0),
];

const fn speakers(name: &'static str, speakers: &'static [Speaker]) -> Layout {
    Layout {
        name,
        speakers,
        order: 0,
    }
}

const fn field(name: &'static str, order: u16) -> Layout {
    Layout {
        name,
        speakers: &[],
        order,
    }
}

/// All layouts.
static LAYOUTS: [Layout; 15] = [
    speakers("mono", &[CENTER]),
    speakers("stereo", &[LEFT, RIGHT]),
    speakers("lcr", &[LEFT, RIGHT, CENTER]),
    speakers("quad", &QUAD),
    speakers("5.0", &[LEFT, RIGHT, CENTER, SURROUND[0], SURROUND[1]]),
    speakers("5.1", &[LEFT, RIGHT, CENTER, SUB, SURROUND[0], SURROUND[1]]),
    speakers(
        "7.1",
        &[LEFT, RIGHT, CENTER, SUB, SIDE[0], SIDE[1], BACK[0], BACK[1]],
    ),
    speakers(
        "7.1.4",
        &[
            LEFT, RIGHT, CENTER, SUB, SIDE[0], SIDE[1], BACK[0], BACK[1], TOP[0], TOP[1], TOP[2],
            TOP[3],
        ],
    ),
    field("ambisonics-1", 1),
    field("ambisonics-2", 2),
    field("ambisonics-3", 3),
    field("ambisonics-4", 4),
    field("ambisonics-5", 5),
    field("ambisonics-6", 6),
    field("ambisonics-7", 7),
];

impl Layout {
    /// Every layout.
    pub fn all() -> &'static [Self] {
        &LAYOUTS
    }

    /// The layout called `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| layout.name == name)
    }

    /// The names of all layouts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        LAYOUTS.iter().map(|layout| layout.name)
    }

    /// Number of channels.
    pub fn channels(&self) -> Channels {
        match self.order {
            0 => Channels(self.speakers.len() as u16),
            order => Channels((order + 1) * (order + 1)),
        }
    }

    /// Name of a channel: its loudspeaker, or `acn` with its number from 0.
    pub fn port_name(&self, channel: usize) -> String {
        match self.speakers.get(channel) {
            Some(speaker) => speaker.name.to_owned(),
            None => format!("acn{channel}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_have_the_channels_that_their_names_say() {
        let widths: Vec<u16> = LAYOUTS.iter().map(|l| l.channels().0).collect();
        assert_eq!(widths, [1, 2, 3, 4, 5, 6, 8, 12, 4, 9, 16, 25, 36, 49, 64]);
        for layout in &LAYOUTS {
            let names: std::collections::HashSet<String> = (0..layout.channels().count())
                .map(|c| layout.port_name(c))
                .collect();
            assert_eq!(names.len(), layout.channels().count(), "{}", layout.name);
        }
    }
}
