//! Every unit keeps every promise: one line a unit.

use divisi_check::alloc::Counting;
use divisi_check::unit::{check, node};
use graph::Value;
use processor::Registry;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn number(value: f64) -> Value {
    Value::Number(value)
}

fn word(value: &str) -> Value {
    Value::Text(value.into())
}

fn keeps_every_promise(kind: &str, params: &[(&str, Value)]) {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    check(&registry, &node(kind, params));
}

macro_rules! units {
    ($($test:ident: $kind:literal $({ $($key:literal = $value:expr),+ })?;)+) => {
        $(
            #[test]
            fn $test() {
                keeps_every_promise($kind, &[$($(($key, $value)),+)?]);
            }
        )+
    };
}

units! {
    a_sine: "osc" { "freq" = number(440.0) };
    a_saw: "osc" { "freq" = number(1234.5), "wave" = word("saw") };
    a_square: "osc" { "freq" = number(20_000.0), "wave" = word("square") };
    a_triangle: "osc" { "freq" = number(0.01), "wave" = word("triangle"), "phase" = number(0.3) };
    a_modulator: "mod" { "freq" = number(110.0), "volume" = number(0.7) };
    white_noise: "noise" { "seed" = number(7.0) };
    pink_noise: "noise" { "color" = word("pink") };
    a_mix: "mix" { "in" = number(3.0), "out" = number(2.0), "channels" = number(2.0) };
    a_mix_of_nothing: "mix" { "in" = number(0.0), "out" = number(2.0) };
    a_mix_in_groups: "mix" { "in" = number(4.0), "out" = number(2.0), "grouped" = Value::Flag(true) };
    a_mix_that_copies_in_groups: "mix" { "in" = number(2.0), "out" = number(4.0), "grouped" = Value::Flag(true) };
    a_gain: "gain" { "gain_db" = number(-6.0), "channels" = number(2.0) };
    a_gain_that_turns_over: "gain" { "gain" = number(-2.0) };
    some_work: "work" { "ns" = number(100.0) };
    a_sink: "sink";
}
