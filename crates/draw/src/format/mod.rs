//! The writers: a picture as SVG, PDF or PNG. Each is one pass over the items and knows no chart.
//!
//! | format | made by | theme | text |
//! |---|---|---|---|
//! | [`svg`] | this project, it is text | light, or dark where the viewer asks for it | `<text>`, stretched to the measured width |
//! | [`pdf`] | `pdf-writer` | light | glyphs of the embedded font, searchable |
//! | [`png`] | `tiny-skia` paints, `png` encodes | light | filled outlines |
//!
//! The same picture gives the same bytes on every machine: text is measured by the built-in font, PDF has no date and no
//! random id, and the painter uses no SIMD (its feature is off), whose rounding would differ between machines.

pub(crate) mod pdf;
pub(crate) mod png;
pub(crate) mod svg;
