//! Colours, by day and by night: told apart by the colour-blind, and by their lightness in black and white.

/// A colour: a short name for style sheets, and what it is by day and by night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ink {
    pub(crate) name: &'static str,
    pub(crate) day: u32,
    pub(crate) night: u32,
}

const fn ink(name: &'static str, day: u32, night: u32) -> Ink {
    Ink { name, day, night }
}

pub(crate) const SHEET: Ink = ink("sheet", 0xffffff, 0x16181d);
pub(crate) const DARK: Ink = ink("dark", 0x20242c, 0xeceef2);
pub(crate) const FAINT: Ink = ink("faint", 0x5d6675, 0xa3abb8);
pub(crate) const PALE: Ink = ink("pale", 0x8b9099, 0x7b828e);
pub(crate) const WIRE: Ink = ink("wire", 0x8a94a3, 0x667085);
pub(crate) const THIN: Ink = ink("thin", 0xb9c0ca, 0x454b57);
pub(crate) const GRID: Ink = ink("grid", 0xe4e6e9, 0x2a2e36);
pub(crate) const AXIS: Ink = ink("axis", 0x9aa4b2, 0x667085);
pub(crate) const IDLE: Ink = ink("idle", 0xf1f2f4, 0x1d2027);
/// Late, critical, leading back: what the eye shall find first.
pub(crate) const ALARM: Ink = ink("alarm", 0xb8306f, 0xe573a6);

/// The fill and the border of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) fill: Ink,
    pub(crate) line: Ink,
}

/// The fill by day and by night, then the border.
const fn pair(names: [&'static str; 2], fill: [u32; 2], line: [u32; 2]) -> Pair {
    Pair {
        fill: ink(names[0], fill[0], fill[1]),
        line: ink(names[1], line[0], line[1]),
    }
}

pub(crate) const GREEN: Pair = pair(
    ["green", "greens"],
    [0xe3f2e6, 0x1b3224],
    [0x3f9a5a, 0x58b877],
);
pub(crate) const BLUE: Pair = pair(
    ["blue", "blues"],
    [0xe6eefa, 0x1d2a40],
    [0x4c78c0, 0x6f9ae0],
);
pub(crate) const AMBER: Pair = pair(
    ["amber", "ambers"],
    [0xfdf1dc, 0x362a14],
    [0xb87f1c, 0xd9a548],
);
pub(crate) const PINK: Pair = pair(
    ["pink", "pinks"],
    [0xf8e4ee, 0x391d2c],
    [0xc2447e, 0xe573a6],
);
pub(crate) const VIOLET: Pair = pair(
    ["violet", "violets"],
    [0xece6f7, 0x2a2240],
    [0x7d5bb8, 0xa486dc],
);
pub(crate) const GREY: Pair = pair(
    ["grey", "greys"],
    [0xf1f1ef, 0x22252b],
    [0xa9adb3, 0x5a606b],
);
