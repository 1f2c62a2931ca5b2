//! `choice`: the stored list that is most like an incoming one.

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::words;
use super::super::value::{Message, Value};
use super::Making;
use super::math::narrow;
use crate::state::{Held, held, held_lists};

/// Numbers of a stored list.
const DIMENSIONS: usize = 10;
/// Stored lists, at most.
const MAX_STORED: usize = 65_536;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    (making.class == "choice").then(|| {
        let new = Choice {
            stored: Vec::new(),
            avoids: making.number(0, 0.0) != 0.0,
        };
        Box::new(new) as Box<dyn Object>
    })
}

/// A stored list of length 1, and how many choices ago it was chosen.
struct Stored {
    age: f32,
    weights: [f32; DIMENSIONS],
}

struct Choice {
    stored: Vec<Stored>,
    /// True if what was chosen lately is avoided.
    avoids: bool,
}

fn numbers(values: &[Value]) -> [f32; DIMENSIONS] {
    let mut numbers = [0.0; DIMENSIONS];
    for (number, value) in numbers.iter_mut().zip(values) {
        *number = value.number();
    }
    numbers
}

impl Held for Stored {
    held!(age, weights);
}

held_lists!(Stored: Stored { age: 0.0, weights: [0.0; DIMENSIONS] });

impl Choice {
    fn add(&mut self, values: &[Value], context: &mut Context<'_>) {
        if self.stored.len() >= MAX_STORED {
            return context.print_with(|_, line| {
                write!(line, "error: choice: at most {MAX_STORED} lists are kept")
            });
        }
        let mut weights = numbers(values);
        let sum = weights.iter().fold(0.0_f32, |sum, x| sum + x * x);
        let factor = match sum > 0.0 {
            true => narrow(1.0 / f64::from(sum).sqrt()),
            false => 1.0,
        };
        weights.iter_mut().for_each(|weight| *weight *= factor);
        self.stored.push(Stored { age: 2.0, weights });
    }

    /// The index of the most similar one.
    fn choose(&mut self, wanted: [f32; DIMENSIONS]) -> Option<usize> {
        let (mut best, mut best_sum) = (None, 0.0);
        for (at, stored) in self.stored.iter().enumerate() {
            let products = stored.weights.iter().zip(wanted);
            let mut sum = products.fold(0.0_f32, |sum, (weight, x)| sum + weight * x);
            if self.avoids {
                sum *= narrow(f64::from(stored.age).ln());
            }
            if sum > best_sum {
                (best, best_sum) = (Some(at), sum);
            }
        }
        let chosen = best?;
        self.stored.iter_mut().for_each(|stored| stored.age += 1.0);
        self.stored[chosen].age = 1.0;
        Some(chosen)
    }

    fn print(&self, context: &mut Context<'_>) {
        for (at, stored) in self.stored.iter().enumerate() {
            context.print_with(|_, line| {
                write!(line, "{at:2} age {:2} w", stored.age)?;
                let mut weights = stored.weights.iter();
                weights.try_for_each(|weight| write!(line, " {weight:5.2}"))
            });
        }
    }
}

impl Object for Choice {
    held!(stored, avoids; check |it| it.stored.len() <= MAX_STORED);

    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let chosen = self.choose(numbers(values));
        context.send_float(0, chosen.map_or(-1.0, |at| at as f32));
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::ADD => self.add(message.values, context),
            words::CLEAR => self.stored.clear(),
            selector if context.symbols().text(selector) == "print" => self.print(context),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
