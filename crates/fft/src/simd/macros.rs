//! The operations that are one instruction on every machine, written once for all vector types.

/// `+`, `-` and `*` of a vector type.
macro_rules! operators {
    ($vector:ident, $add:path, $sub:path, $mul:path) => {
        operators!($vector: Add::add by $add);
        operators!($vector: Sub::sub by $sub);
        operators!($vector: Mul::mul by $mul);
    };
    ($vector:ident: $operator:ident::$function:ident by $instruction:path) => {
        impl std::ops::$operator for $vector {
            type Output = Self;
            #[inline(always)]
            #[allow(unused_unsafe, reason = "the scalar operators need no instructions")]
            fn $function(self, other: Self) -> Self {
                // SAFETY: there is a value of this type, so the machine has its instructions.
                Self(unsafe { $instruction(self.0, other.0) })
            }
        }
    };
}

/// Inside `impl Vector`: between memory, floats and vectors.
macro_rules! memory {
    ($load:ident, $store:ident, $splat:ident, $first:path) => {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller's promise.
            Self(unsafe { $load(from) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller's promise.
            unsafe { $store(to, self.0) }
        }

        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: the caller's promise.
            Self(unsafe { $splat(value) })
        }

        #[inline(always)]
        fn first(self) -> f32 {
            // SAFETY: there is a value of this type, so the machine has its instructions.
            unsafe { $first(self.0) }
        }
    };
}
