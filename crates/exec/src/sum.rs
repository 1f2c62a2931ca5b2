//! Several slots added into one, in a fixed order, so that the bits never depend on who ran first.

use processor::RawChannel;

/// One sum: sources in order, and where it goes.
pub(crate) struct Sum {
    pub(crate) from: Box<[RawChannel]>,
    pub(crate) into: RawChannel,
}

/// How many frames are held in registers while the sources pass by.
const STRIP: usize = 32;

impl Sum {
    /// Adds frames `offset .. offset + frames`. Sources that are known to be silent are passed over; when all are, the
    /// sum is marked silent (where `whole` says that this is the whole block).
    ///
    /// # Safety
    ///
    /// The sources are not written and the target is this step's alone, for so many frames.
    pub(crate) unsafe fn run(&self, offset: usize, frames: usize, whole: bool) {
        // SAFETY: flags go with their slots.
        let heard = |c: &&RawChannel| unsafe { *c.silent == 0 };
        let silent = !self.from.iter().any(|c| heard(&c));
        // SAFETY: the target is ours.
        unsafe { set_flag(self.into.silent, silent && whole) };
        let mut at = offset;
        let end = offset + frames;
        while at < end {
            let strip = (end - at).min(STRIP);
            // SAFETY: `at + strip` is within the block, and so within every slot; the target is none of the sources.
            let out = unsafe { std::slice::from_raw_parts_mut(self.into.data.add(at), strip) };
            let sources = self.from.iter().filter(heard);
            // SAFETY: as above; the sources are only read.
            let sources =
                sources.map(|c| unsafe { std::slice::from_raw_parts(c.data.add(at), strip) });
            add_strip(out, sources);
            at += strip;
        }
    }
}

fn add_strip<'a>(out: &mut [f32], sources: impl Iterator<Item = &'a [f32]>) {
    if let Ok(whole) = <&mut [f32; STRIP]>::try_from(&mut *out) {
        let mut sum = [0.0; STRIP];
        let mut first = true;
        for source in sources {
            let source: &[f32; STRIP] =
                source.try_into().expect("a source is as long as its strip");
            if first {
                sum = *source;
                first = false;
            } else {
                for (s, x) in sum.iter_mut().zip(source) {
                    *s += x;
                }
            }
        }
        *whole = sum;
        return;
    }
    let mut first = true;
    for source in sources {
        if first {
            out.copy_from_slice(source);
            first = false;
        } else {
            out.iter_mut().zip(source).for_each(|(s, x)| *s += x);
        }
    }
    if first {
        out.fill(0.0);
    }
}

/// Writes a flag only where it changes: neighbours' flags share its cache line.
///
/// # Safety
///
/// The flag is the caller's to write.
#[inline]
pub(crate) unsafe fn set_flag(flag: *mut u8, on: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        if *flag != u8::from(on) {
            *flag = u8::from(on);
        }
    }
}
