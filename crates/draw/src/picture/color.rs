//! The colours, each for light and for dark backgrounds.
//!
//! Colours that mean something differ in lightness too, so that they can be told apart by colour-blind readers and in
//! black-and-white prints.

use super::{Stroke, Style};

/// A colour: its name in style sheets, and its value as 0xRRGGBB in the light and in the dark theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color {
    pub(crate) name: &'static str,
    pub(crate) light: u32,
    pub(crate) dark: u32,
}

impl Color {
    /// A colour that is the same in both themes.
    pub(crate) const fn fixed(name: &'static str, value: u32) -> Self {
        color(name, value, value)
    }

    /// Red, green and blue in the light theme.
    pub(crate) fn rgb(self) -> [u8; 3] {
        let [_, red, green, blue] = self.light.to_be_bytes();
        [red, green, blue]
    }
}

const fn color(name: &'static str, light: u32, dark: u32) -> Color {
    Color { name, light, dark }
}

pub(crate) const BACKGROUND: Color = color("background", 0xffffff, 0x16181d);
pub(crate) const TEXT: Color = color("text", 0x20242c, 0xeceef2);
/// Labels, notes, legends.
pub(crate) const TEXT_MUTED: Color = color("muted", 0x5d6675, 0xa3abb8);
/// Text of nodes that are not enabled.
pub(crate) const TEXT_DISABLED: Color = color("disabled", 0x8b9099, 0x7b828e);
pub(crate) const EDGE: Color = color("edge", 0x8a94a3, 0x667085);
/// Edges of a graph that has very many.
pub(crate) const EDGE_THIN: Color = color("edge-thin", 0xb9c0ca, 0x454b57);
pub(crate) const GRID: Color = color("grid", 0xe4e6e9, 0x2a2e36);
pub(crate) const AXIS: Color = color("axis", 0x9aa4b2, 0x667085);
/// Idle time in a row of a chart.
pub(crate) const IDLE: Color = color("idle", 0xf1f2f4, 0x1d2027);
/// Highlights: late cycles, the critical path, feedback edges.
pub(crate) const ALERT: Color = color("alert", 0xb8306f, 0xe573a6);

/// The fill of a box and its darker border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoxColors {
    pub(crate) fill: Color,
    pub(crate) border: Color,
}

impl BoxColors {
    /// The fill, and the border as a solid line of this width.
    pub(crate) const fn style(self, width: f64) -> Style {
        Style::both(self.fill, Stroke::solid(self.border, width))
    }
}

/// Colours of a box by their name: fill and border, each for the light and for the dark theme.
macro_rules! box_colors {
    ($name:literal: $fill:literal $dark_fill:literal, $border:literal $dark_border:literal) => {
        BoxColors {
            fill: color($name, $fill, $dark_fill),
            border: color(concat!($name, "-border"), $border, $dark_border),
        }
    };
}

pub(crate) const GREEN: BoxColors = box_colors!("green": 0xe3f2e6 0x1b3224, 0x3f9a5a 0x58b877);
pub(crate) const BLUE: BoxColors = box_colors!("blue": 0xe6eefa 0x1d2a40, 0x4c78c0 0x6f9ae0);
pub(crate) const AMBER: BoxColors = box_colors!("amber": 0xfdf1dc 0x362a14, 0xb87f1c 0xd9a548);
pub(crate) const PINK: BoxColors = box_colors!("pink": 0xf8e4ee 0x391d2c, 0xc2447e 0xe573a6);
pub(crate) const VIOLET: BoxColors = box_colors!("violet": 0xece6f7 0x2a2240, 0x7d5bb8 0xa486dc);
pub(crate) const GREY: BoxColors = box_colors!("grey": 0xf1f1ef 0x22252b, 0xa9adb3 0x5a606b);
