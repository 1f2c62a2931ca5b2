//! [`OwnParam`]: a parameter that a node has beside those of its kind, and [`BoxFace`]: what a face shows of it.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// A parameter of a node's own: a name that its patch receives, or a box of the patch that shows a value.
#[derive(Clone, Debug)]
pub struct OwnParam {
    /// Its name, unique in the node.
    pub name: String,
    /// Its box, if one shows it, as a face sees it.
    pub face: Option<BoxFace>,
}

/// A box as a face sees it: its class, its range and its value.
#[derive(Clone, Debug)]
pub struct BoxFace {
    /// Class of the box: `hsl`, `tgl` and so on.
    pub class: &'static str,
    /// Its label; empty without one.
    pub label: String,
    /// Value with which it was loaded; `None` if it shows no number.
    pub initial: Option<f32>,
    /// True if it can be looked at and not moved.
    pub is_read_only: bool,
    /// The box as it is now.
    pub shown: Arc<ShownBox>,
}

/// A box as it is now. Its patch writes it, a face reads it.
///
/// Each number stands for itself: none tells of another, so no order is needed between them.
#[derive(Debug, Default)]
pub struct ShownBox {
    value: AtomicU32,
    low: AtomicU32,
    high: AtomicU32,
    is_logarithmic: AtomicU32,
}

impl ShownBox {
    /// Shows a value.
    ///
    /// Real-time: hot.
    pub fn set_value(&self, value: f32) {
        // Relaxed: it tells of nothing else.
        self.value.store(value.to_bits(), Relaxed);
    }

    /// Shows the range within which it can be moved, and its law.
    ///
    /// Real-time: hot.
    pub fn set_range(&self, [low, high]: [f32; 2], is_logarithmic: bool) {
        self.low.store(low.to_bits(), Relaxed);
        self.high.store(high.to_bits(), Relaxed);
        self.is_logarithmic.store(is_logarithmic.into(), Relaxed);
    }

    /// The value that it shows.
    pub fn value(&self) -> f32 {
        f32::from_bits(self.value.load(Relaxed))
    }

    /// Its lowest and highest value; `None` where it has no limits.
    pub fn range(&self) -> Option<[f32; 2]> {
        let range = [&self.low, &self.high].map(|it| f32::from_bits(it.load(Relaxed)));
        (range[0] != range[1]).then_some(range)
    }

    /// Returns true if equal ways are equal ratios.
    pub fn is_logarithmic(&self) -> bool {
        self.is_logarithmic.load(Relaxed) != 0
    }
}

impl OwnParam {
    /// The parameter of a name that no box shows.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            face: None,
        }
    }

    /// Returns true if it can be set.
    pub fn can_be_set(&self) -> bool {
        self.face.as_ref().is_none_or(|face| !face.is_read_only)
    }

    /// The value that is shown now, if one is.
    pub fn value(&self) -> Option<f32> {
        let face = self.face.as_ref()?;
        face.initial.map(|_| face.shown.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_shows_what_was_set_last() {
        let shown = Arc::new(ShownBox::default());
        assert_eq!(shown.range(), None);
        shown.set_range([20.0, 2000.0], true);
        shown.set_value(440.0);
        let face = BoxFace {
            class: "hsl",
            label: String::new(),
            initial: Some(0.0),
            is_read_only: true,
            shown: shown.clone(),
        };
        let param = OwnParam {
            name: "hsl1".into(),
            face: Some(face),
        };
        assert_eq!(param.value(), Some(440.0));
        assert!(!param.can_be_set() && OwnParam::named("freq").can_be_set());
        assert_eq!(
            (shown.range(), shown.is_logarithmic()),
            (Some([20.0, 2000.0]), true)
        );
    }
}
