//! [`Held`]: values that a state can hold.

use super::{StateReader, StateWriter, Unfit};
use crate::control::{ObjectId, Pointer, Symbol, TextWord, Value};
use std::collections::VecDeque;

/// A value that a state can hold.
pub(crate) trait Held {
    /// Writes it.
    ///
    /// Real-time: hot if the writer's vector has the capacity.
    fn save(&self, state: &mut StateWriter<'_>);

    /// Reads it. In the case of an error it may be anything.
    ///
    /// Real-time: setup.
    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Held for $number {
            #[inline]
            fn save(&self, state: &mut StateWriter<'_>) {
                state.put(&self.to_le_bytes());
            }

            #[inline]
            fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
                *self = Self::from_le_bytes(state.array()?);
                Ok(())
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, i32, i64, f32, f64);

impl Held for usize {
    fn save(&self, state: &mut StateWriter<'_>) {
        (*self as u64).save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let mut number = 0_u64;
        number.load(state)?;
        *self = Self::try_from(number).map_err(|_| Unfit)?;
        Ok(())
    }
}

impl Held for bool {
    fn save(&self, state: &mut StateWriter<'_>) {
        state.put(&[u8::from(*self)]);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        *self = match state.array()? {
            [0] => false,
            [1] => true,
            _ => return Err(Unfit),
        };
        Ok(())
    }
}

impl Held for String {
    fn save(&self, state: &mut StateWriter<'_>) {
        state.put_len(self.len());
        state.put(self.as_bytes());
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let len = state.len()?;
        let text = std::str::from_utf8(state.take(len)?).map_err(|_| Unfit)?;
        self.clear();
        self.push_str(text);
        Ok(())
    }
}

impl Held for Symbol {
    fn save(&self, state: &mut StateWriter<'_>) {
        state.put_len(self.index());
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let at = state.u32()? as usize;
        *self = *state.symbols.get(at).ok_or(Unfit)?;
        Ok(())
    }
}

impl Held for ObjectId {
    fn save(&self, state: &mut StateWriter<'_>) {
        state.put_u32(self.0);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        self.0 = state.u32()?;
        let is_there = (self.0 as usize) < state.objects;
        is_there.then_some(()).ok_or(Unfit)
    }
}

impl Held for Value {
    fn save(&self, state: &mut StateWriter<'_>) {
        match self {
            Self::Float(number) => {
                state.put(&[0]);
                number.save(state);
            }
            Self::Symbol(symbol) => {
                state.put(&[1]);
                symbol.save(state);
            }
            // Data structures begin anew, so it would lead elsewhere.
            Self::Pointer(_) => state.put(&[2]),
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        *self = match state.array()? {
            [0] => {
                let mut number = 0.0;
                Held::load(&mut number, state)?;
                Self::Float(number)
            }
            [1] => {
                let mut symbol = crate::control::words::EMPTY;
                symbol.load(state)?;
                Self::Symbol(symbol)
            }
            [2] => Self::Pointer(Pointer::default()),
            _ => return Err(Unfit),
        };
        Ok(())
    }
}

impl Held for TextWord {
    fn save(&self, state: &mut StateWriter<'_>) {
        match self {
            Self::Value(value) => value.save(state),
            Self::Comma => state.put(&[3]),
            Self::Semicolon => state.put(&[4]),
            Self::Dollar(number) => {
                state.put(&[5]);
                number.save(state);
            }
            Self::DollarSymbol(symbol) => {
                state.put(&[6]);
                symbol.save(state);
            }
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let mut ahead = *state;
        *self = match ahead.array()? {
            [3] => Self::Comma,
            [4] => Self::Semicolon,
            [5] => {
                let number = ahead.u32()?;
                Self::Dollar(number)
            }
            [6] => {
                let mut symbol = crate::control::words::EMPTY;
                symbol.load(&mut ahead)?;
                Self::DollarSymbol(symbol)
            }
            _ => {
                let mut value = Value::Float(0.0);
                value.load(state)?;
                *self = Self::Value(value);
                return Ok(());
            }
        };
        *state = ahead;
        Ok(())
    }
}

impl<T: Held> Held for [T] {
    /// Its length is fixed.
    fn save(&self, state: &mut StateWriter<'_>) {
        state.put_len(self.len());
        self.iter().for_each(|item| item.save(state));
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        if state.len()? != self.len() {
            return Err(Unfit);
        }
        self.iter_mut().try_for_each(|item| item.load(state))
    }
}

impl<T: Held, const N: usize> Held for [T; N] {
    fn save(&self, state: &mut StateWriter<'_>) {
        self.iter().for_each(|item| item.save(state));
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        self.iter_mut().try_for_each(|item| item.load(state))
    }
}

impl<T: Held + ?Sized> Held for Box<T> {
    fn save(&self, state: &mut StateWriter<'_>) {
        (**self).save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        (**self).load(state)
    }
}

/// A name, or none.
impl Held for Option<Symbol> {
    fn save(&self, state: &mut StateWriter<'_>) {
        self.is_some().save(state);
        self.unwrap_or(crate::control::words::EMPTY).save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let (mut is_some, mut name) = (false, crate::control::words::EMPTY);
        is_some.load(state)?;
        name.load(state)?;
        *self = is_some.then_some(name);
        Ok(())
    }
}

macro_rules! options {
    ($($value:ty),*) => {$(
impl Held for Option<$value> {
    fn save(&self, state: &mut StateWriter<'_>) {
        self.is_some().save(state);
        if let Some(value) = self {
            value.save(state);
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let mut is_some = false;
        is_some.load(state)?;
        *self = match is_some {
            true => {
                let mut value = <$value>::default();
                value.load(state)?;
                Some(value)
            }
            false => None,
        };
        Ok(())
    }
}
    )*};
}

options!(u8, f32, f64, usize);

macro_rules! tuples {
    ($($name:ident: $at:tt),*) => {
        impl<$($name: Held),*> Held for ($($name,)*) {
            fn save(&self, state: &mut StateWriter<'_>) {
                $(self.$at.save(state);)*
            }

            fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
                $(self.$at.load(state)?;)*
                Ok(())
            }
        }
    };
}

tuples!(A: 0, B: 1);
tuples!(A: 0, B: 1, C: 2);

/// Memory whose length is fixed.
macro_rules! held_arrays {
    ($($item:ty),*) => {$(
        impl crate::state::Held for Vec<$item> {
            fn save(&self, state: &mut crate::state::StateWriter<'_>) {
                self[..].save(state);
            }

            fn load(&mut self, state: &mut crate::state::StateReader<'_>) -> Result<(), crate::state::Unfit> {
                self[..].load(state)
            }
        }
    )*};
}

pub(crate) use held_arrays;

held_arrays!(f32, f64, Vec<f32>);

/// Lists of any length: their memory grows where it must. Each item is read into the one that is given here.
macro_rules! held_lists {
    ($($item:ty: $empty:expr),* $(,)?) => {$(
        impl crate::state::Held for Vec<$item> {
            fn save(&self, state: &mut crate::state::StateWriter<'_>) {
                self[..].save(state);
            }

            fn load(&mut self, state: &mut crate::state::StateReader<'_>) -> Result<(), crate::state::Unfit> {
                let len = state.len()?;
                self.clear();
                for _ in 0..len {
                    let mut item = $empty;
                    crate::state::Held::load(&mut item, state)?;
                    self.push(item);
                }
                Ok(())
            }
        }
    )*};
}

pub(crate) use held_lists;

held_lists! {
    u8: 0,
    u32: 0,
    bool: false,
    usize: 0,
    Value: Value::Float(0.0),
    TextWord: TextWord::Comma,
    Option<f32>: None,
}

impl<T: Held + Default> Held for VecDeque<T> {
    fn save(&self, state: &mut StateWriter<'_>) {
        state.put_len(self.len());
        self.iter().for_each(|item| item.save(state));
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let len = state.len()?;
        self.clear();
        for _ in 0..len {
            let mut item = T::default();
            item.load(state)?;
            self.push_back(item);
        }
        Ok(())
    }
}
