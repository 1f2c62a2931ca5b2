//! [`Pod`]: types that a ring can hold. Any bits are a valid value of them.

/// A type without padding, pointers or meaning in its bits: whatever another process wrote is a value of it.
///
/// # Safety
/// Every pattern of bits is a valid value, no byte is padding, nothing in it is a reference, and dropping it does
/// nothing.
pub unsafe trait Pod: Copy + Send + Sync + 'static {
    /// Number that tells types of one size apart when another process opens a ring.
    const TAG: u64;
}

macro_rules! pod {
    ($($kind:ty => $tag:literal),*) => {
        $(
            // SAFETY: a number of the machine.
            unsafe impl Pod for $kind {
                const TAG: u64 = $tag;
            }
        )*
    };
}

pod!(u8 => 1, i8 => 2, u16 => 3, i16 => 4, u32 => 5, i32 => 6, u64 => 7, i64 => 8, f32 => 9, f64 => 10);

// SAFETY: items of an array lie next to each other without padding.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {
    const TAG: u64 = T::TAG.wrapping_mul(1_000_003).wrapping_add(N as u64);
}
