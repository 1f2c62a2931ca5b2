//! [`held!`]: the fields of an object that its state consists of.

/// Writes and reads the fields of an object (`Object::save` and `Object::load`). All fields are named, so none is forgotten: those behind
/// `not` follow from the box, from other fields or from the next block. `check` returns true if they can be true together, and may set what
/// follows from them. `tuple` has names for fields without names; `nothing` is an object that never changes.
macro_rules! held {
    (nothing) => {
        fn save(&self, _: &mut crate::state::StateWriter<'_>) {}
    };
    (tuple $($kept:ident),+ $(; check $check:expr)?) => {
        crate::state::held!(@ ( $($kept,)+ ) ($($kept),+) $($check)?);
    };
    (@ $fields:tt ($($kept:ident),*) $($check:expr)?) => {
        fn save(&self, state: &mut crate::state::StateWriter<'_>) {
            let _ = &state;
            crate::state::held!(@let $fields self);
            $(crate::state::Held::save($kept, state);)*
        }

        fn load(&mut self, state: &mut crate::state::StateReader<'_>) -> Result<(), crate::state::Unfit> {
            let _ = &state;
            crate::state::held!(@let $fields self);
            $(crate::state::Held::load($kept, state)?;)*
            $(
                let check: fn(&mut Self) -> bool = $check;
                if !check(self) {
                    return Err(crate::state::Unfit);
                }
            )?
            Ok(())
        }
    };
    (@let { $($fields:tt)* } $own:ident) => { let Self { $($fields)* } = $own; };
    (@let ( $($fields:tt)* ) $own:ident) => { let Self($($fields)*) = $own; };
    ($($kept:ident),* $(; not $($not:ident),+)? $(; check $check:expr)?) => {
        crate::state::held!(@ { $($kept,)* $($($not: _,)+)? } ($($kept),*) $($check)?);
    };
}

pub(crate) use held;
