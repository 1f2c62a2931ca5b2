//! Adds several channels into one, in a fixed order, so that the bits do not depend on the order of steps.

use super::claim::set_flag;
use crate::bound::Sum;
use processor::RawChannel;

/// Frames that are held in registers while the sources are added.
const STRIP: usize = 32;

/// Adds `frames` frames from frame `offset` on. Sources that are known to be silent are skipped. If all are, the sum is
/// marked silent, provided that this is the `whole` block.
///
/// # Safety
///
/// No thread writes the sources now, the target is the caller's alone, and all have at least `offset + frames` frames.
pub(super) unsafe fn add(sum: &Sum, (offset, frames): (u32, u32), whole: bool) {
    // SAFETY: a flag belongs to its channel, which no thread writes.
    let is_not_silent = |c: &&RawChannel| unsafe { *c.silent == 0 };
    let is_silent = !sum.from.iter().any(|c| is_not_silent(&c));
    // SAFETY: the target is ours.
    unsafe { set_flag(sum.into.silent, is_silent && whole) };
    let (mut at, end) = (offset as usize, (offset + frames) as usize);
    while at < end {
        let strip = (end - at).min(STRIP);
        // SAFETY: `at + strip` is within the target, which is ours and none of the sources.
        let out = unsafe { std::slice::from_raw_parts_mut(sum.into.data.add(at), strip) };
        // SAFETY: `at + strip` is within every source, and no thread writes these.
        let strip_of =
            |c: &RawChannel| unsafe { std::slice::from_raw_parts(c.data.add(at), strip) };
        add_strip(out, sum.from.iter().filter(is_not_silent).map(strip_of));
        at += strip;
    }
}

/// Adds strips. A whole strip is added in registers.
fn add_strip<'a>(out: &mut [f32], mut sources: impl Iterator<Item = &'a [f32]>) {
    let Some(first) = sources.next() else {
        return out.fill(0.0);
    };
    if let Ok(whole) = <&mut [f32; STRIP]>::try_from(&mut *out) {
        let strip = |source: &'a [f32]| -> &'a [f32; STRIP] {
            source.try_into().expect("a source is as long as its strip")
        };
        let mut sum = *strip(first);
        for source in sources {
            for (s, x) in sum.iter_mut().zip(strip(source)) {
                *s += x;
            }
        }
        *whole = sum;
        return;
    }
    out.copy_from_slice(first);
    for source in sources {
        out.iter_mut().zip(source).for_each(|(s, x)| *s += x);
    }
}
