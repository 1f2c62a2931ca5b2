//! Adds several channels into one, in a fixed order, so that the bits do not depend on the order of steps.

use crate::bound::Sum;
use processor::{Content, RawChannel};

/// Frames that are held in registers while the sources are added.
const STRIP: usize = 32;

/// Adds `frames` frames from frame `offset` on. Sources that are known to be silent are skipped. If all are, or if all others
/// are constant, so is the sum, provided that this is the `whole` block.
///
/// # Safety
///
/// No thread writes the sources now, the target is the caller's alone, and all have at least `offset + frames` frames.
pub(super) unsafe fn add(sum: &Sum, (offset, frames): (u32, u32), whole: bool) {
    // SAFETY: what is known of a channel belongs to it, and no thread writes that of a source now.
    let is_not_silent = |c: &&RawChannel| unsafe { !c.is(Content::Silent) };
    // SAFETY: as above.
    let is_unknown = |c: &&RawChannel| unsafe { c.is(Content::Unknown) };
    let first = sum.from.iter().find(is_not_silent);
    if whole && !first.is_some_and(|first| is_unknown(&first)) {
        // SAFETY: the contract is the same.
        if unsafe { add_constants(sum, first.is_none(), frames) } {
            return;
        }
    }
    // SAFETY: the target is ours.
    unsafe { sum.into.set(Content::Unknown) };
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

/// Adds sources that are all constant, one sample for the whole block, or that are all silent. Returns false, and does
/// nothing, if some source is neither.
///
/// # Safety
///
/// As for [`add`], for the whole block of `frames` frames.
#[inline(never)]
unsafe fn add_constants(sum: &Sum, is_silent: bool, frames: u32) -> bool {
    // SAFETY: the whole target is ours, and it is none of the sources.
    let out = || unsafe { std::slice::from_raw_parts_mut(sum.into.data, frames as usize) };
    if is_silent {
        // SAFETY: the target is ours. A slot that is marked holds silence already.
        unsafe {
            if !sum.into.is(Content::Silent) {
                out().fill(0.0);
                sum.into.set(Content::Silent);
            }
        }
        return true;
    }
    // SAFETY: no thread writes the sources.
    let is_unknown = |c: &RawChannel| unsafe { c.is(Content::Unknown) };
    if sum.from.iter().any(is_unknown) {
        return false;
    }
    // SAFETY: as above, and a slot has a frame.
    let sounding = sum
        .from
        .iter()
        .filter(|c| unsafe { !c.is(Content::Silent) });
    // In the order of `add_strip`, so that the bits are the same.
    // SAFETY: as above.
    let value = sounding
        .map(|c| unsafe { *c.data })
        .reduce(|sum, x| sum + x);
    out().fill(value.unwrap_or(0.0));
    // SAFETY: the target is ours.
    unsafe { sum.into.set(Content::Constant) };
    true
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
