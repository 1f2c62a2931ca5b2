//! Every unit keeps every promise: one line a unit.

use divisi_check::alloc::Counting;
use divisi_check::conformance::{check, driven, node};
use divisi_check::param_frames;
use graph::{ParamValue, Signal};
use media::{SampleFormat, Writer};
use processor::Registry;
use std::sync::LazyLock;
use units::{Channels, SampleRate};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn number(value: f64) -> ParamValue {
    ParamValue::Number(value)
}

fn word(value: &str) -> ParamValue {
    ParamValue::Text(value.into())
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    midi::register(&mut registry);
    registry
}

fn keeps_every_promise(kind: &str, params: &[(&str, ParamValue)]) {
    check(&registry(), &node(kind, params));
}

/// The same with every parameter driven that can be.
fn keeps_them_driven(kind: &str, params: &[(&str, ParamValue)]) {
    let (registry, node) = (registry(), node(kind, params));
    const SOUND: Signal = Signal::Audio(Channels(1));
    for signals in [
        &[SOUND][..],
        &[Signal::Event],
        &[SOUND, Signal::Event, SOUND],
    ] {
        let driven = driven(&registry, &node, signals);
        if driven.modulations().next().is_some() {
            check(&registry, &driven);
        }
    }
}

/// Every live parameter lands at its frame in blocks of any size.
fn lands_at_its_frame(kind: &str, params: &[(&str, ParamValue)]) {
    let heard = param_frames::check(registry(), &node(kind, params));
    let registry = registry();
    let kind = registry.catalogue().get(kind).unwrap();
    let live = kind.params.iter().filter(|param| param.live).count();
    // Work is not heard, nor is a delay that cannot move.
    let is_fixed = kind.name == "delay" && !params.iter().any(|(key, _)| *key == "max_time");
    // What decides about events alone is not in the sound.
    let sends = ["onset_tracker", "tempo_tracker"].contains(&kind.name);
    let is_quiet = is_fixed || sends || kind.name == "work" || live == 0;
    assert!(
        heard > 0 || is_quiet,
        "no change of `{}` was heard",
        kind.name
    );
}

macro_rules! units {
    ($($test:ident: $kind:literal $({ $($key:literal = $value:expr),+ })?;)+) => {
        /// The kinds that are tested here.
        const TESTED: &[&str] = &[$($kind),+];

        $(
            #[test]
            fn $test() {
                keeps_every_promise($kind, &[$($(($key, $value)),+)?]);
            }
        )+

        mod driven {
            use super::*;

            $(
                #[test]
                fn $test() {
                    keeps_them_driven($kind, &[$($(($key, $value)),+)?]);
                }
            )+
        }

        mod at_its_frame {
            use super::*;

            $(
                #[test]
                fn $test() {
                    lands_at_its_frame($kind, &[$($(($key, $value)),+)?]);
                }
            )+
        }
    };
}

units! {
    a_product: "multiply";
    a_product_of_three_pairs: "multiply" { "in" = number(3.0), "channels" = number(2.0) };
    a_sine: "osc" { "freq" = number(440.0) };
    a_saw: "osc" { "freq" = number(1234.5), "wave" = word("saw") };
    a_square: "osc" { "freq" = number(20_000.0), "wave" = word("square") };
    a_triangle: "osc" { "freq" = number(0.01), "wave" = word("triangle"), "phase" = number(0.3) };
    a_modulator: "mod" { "freq" = number(110.0), "volume" = number(0.7) };
    white_noise: "noise" { "seed" = number(7.0) };
    pink_noise: "noise" { "color" = word("pink") };
    a_mix: "mix" { "in" = number(3.0), "out" = number(2.0), "channels" = number(2.0) };
    a_mix_of_nothing: "mix" { "in" = number(0.0), "out" = number(2.0) };
    a_mix_in_groups: "mix" { "in" = number(4.0), "out" = number(2.0), "grouped" = ParamValue::Flag(true) };
    a_mix_that_copies_in_groups: "mix" { "in" = number(2.0), "out" = number(4.0), "grouped" = ParamValue::Flag(true) };
    a_mix_in_parts: "mix" { "in" = number(3.0), "out" = number(2.0), "split" = number(3.0) };
    a_mix_in_groups_in_parts: "mix" { "in" = number(4.0), "out" = number(2.0), "grouped" = ParamValue::Flag(true), "split" = number(7.0) };
    a_gain: "gain" { "gain_db" = number(-6.0), "channels" = number(2.0) };
    a_gain_that_turns_over: "gain" { "gain" = number(-2.0) };
    a_gain_in_parts: "gain" { "gain_db" = number(-6.0), "channels" = number(2.0), "split" = number(7.0) };
    a_mixer: "mixer" { "in" = number(3.0), "level2" = number(-6.0), "channels" = number(2.0) };
    a_mixer_in_parts: "mixer" { "in" = number(3.0), "level2" = number(-6.0), "split" = number(2.0) };
    a_pan: "pan" { "pan" = number(0.3) };
    a_pan_in_parts: "pan" { "pan" = number(0.3), "split" = number(3.0) };
    a_pan_between_two_channels_of_one_port: "pan" { "layout" = word("stereo"), "pan" = number(0.3) };
    a_pan_in_a_room: "pan" { "layout" = word("7.1.4"), "azimuth" = number(-100.0), "elevation" = number(20.0) };
    a_pan_in_a_sound_field: "pan" { "layout" = word("ambisonics-3"), "azimuth" = number(33.0), "split" = number(3.0) };
    a_split: "split" { "channels" = number(3.0) };
    a_split_of_a_layout: "split" { "layout" = word("5.1") };
    a_join: "join" { "channels" = number(3.0) };
    a_matrix: "matrix" { "gains" = word("1 0.5 0; -0.25 1 0.7") };
    a_matrix_with_gains_of_its_own_in_parts: "matrix" { "channels" = number(3.0), "g3_1" = number(-0.5), "split" = number(3.0) };
    a_soft_shape: "shape" { "drive_db" = number(12.0) };
    a_hard_shape: "shape" { "mode" = word("clip"), "channels" = number(2.0) };
    a_shape_in_parts: "shape" { "drive_db" = number(12.0), "split" = number(5.0) };
    a_fixed_delay: "delay" { "time" = number(0.01), "channels" = number(2.0) };
    a_delay_that_moves: "delay" { "time" = number(0.05), "min_time" = number(0.0), "max_time" = number(0.2) };
    a_lowpass: "biquad" { "freq" = number(30.0) };
    a_highpass: "biquad" { "mode" = word("highpass"), "channels" = number(3.0) };
    a_bandpass: "biquad" { "mode" = word("bandpass"), "q" = number(20.0) };
    a_notch: "biquad" { "mode" = word("notch") };
    a_peak: "biquad" { "mode" = word("peak"), "gain_db" = number(12.0) };
    a_low_shelf: "biquad" { "mode" = word("lowshelf"), "gain_db" = number(-12.0) };
    a_high_shelf: "biquad" { "mode" = word("highshelf"), "gain_db" = number(12.0) };
    a_state_variable_filter: "svf" { "freq" = number(500.0), "channels" = number(2.0) };
    a_designed_fir_lowpass: "fir" { "taps" = number(24.0), "freq" = number(3000.0) };
    a_designed_fir_highpass: "fir" { "taps" = number(33.0), "mode" = word("highpass"), "channels" = number(2.0) };
    a_fir_of_a_list_in_parts: "fir" { "coefs" = word("0.5 -0.25, 2 0 1e-3"), "split" = number(3.0) };
    a_fir_of_one_number: "fir" { "coefs" = word("-1"), "split" = number(7.0) };
    a_fir_in_parts: "fir" { "taps" = number(40.0), "freq" = number(50.0), "split" = number(2.0) };
    a_one_pole_lowpass: "onepole" { "freq" = number(5.0) };
    a_one_pole_highpass: "onepole" { "mode" = word("highpass"), "channels" = number(2.0) };
    an_envelope: "envelope" { "attack" = number(0.001), "release" = number(0.01) };
    an_envelope_of_segments: "mseg" { "points" = word("0.001 1 -4; loop; 0.002 0.2 s-curve; 0.001 0.7 step; hold; 0.003 0 8") };
    an_envelope_that_runs_to_its_end: "mseg" { "points" = word("0.004 1; 0 0.5; 0.01 0"), "velocity" = number(0.5) };
    a_metronome: "metro" { "bpm" = number(3000.0) };
    a_meter: "meter";
    a_meter_of_two_channels: "meter" { "channels" = number(2.0) };
    some_work: "work" { "ns" = number(100.0) };
    a_sink: "sink";
    a_transposition: "transpose" { "semitones" = number(7.0) };
    a_midi_filter: "midi_filter" { "low" = word("C4"), "high" = word("71.5"), "max_velocity" = number(101.0) };
    a_channel_map: "channel_map" { "map" = word("1 2, 2 off") };
    an_arpeggiator: "arpeggiator" { "rate" = number(32.0), "order" = word("updown"), "octaves" = number(2.0) };
    a_random_arpeggiator: "arpeggiator" { "rate" = number(29.0), "order" = word("random"), "gate" = number(1.0) };
    a_merge: "merge" { "in" = number(3.0) };
    a_midi_file: "midi_file" { "file" = word(INVENTION), "start" = number(10.0) };
    a_channel_of_a_midi_file_in_a_loop: "midi_file" { "file" = word(INVENTION), "channel" = number(2.0), "start" = number(63.1), "loop" = ParamValue::Flag(true) };
    a_score: "score" { "events" = word("0 C4 0.5 0.03; 0.01 F#3,A3; 0.02s 60.5 1 0.001s; 0.05 value 2; 0.06 text verse") };
    a_score_that_repeats: "score" { "events" = word("0 C4 0.5 9; 0.003 A3 1 0.001; 0.004 value 1"), "loop" = number(0.016) };
    a_step_sequencer: "steps" { "pattern" = word("x . C4,E4:0.3 - X"), "rate" = number(64.0), "swing" = number(0.3) };
    a_curve: "curve" { "points" = word("0.001 1; 0.02 -3; 0.03 0 s-curve; 0.03 5; 0.05 50 exponential; 0.1 0 step") };
    a_curve_that_repeats: "curve" { "points" = word("0 1; 0.004 2 exponential; 0.004 -1 step"), "loop" = number(0.01) };
    voices_for_notes: "voices" { "out" = number(2.0), "release" = number(0.005), "spread" = number(1.0) };
    voices_in_unison: "voices" { "out" = number(5.0), "unison" = number(2.0), "steal" = word("quietest"), "mpe" = number(3.0) };
    a_sum_with_a_number: "math" { "op" = word("add"), "b" = number(0.3) };
    a_fold: "math" { "op" = word("fold"), "b" = number(0.3), "channels" = number(2.0) };
    a_power: "math" { "op" = word("power"), "b" = number(1.5) };
    a_slew: "slew" { "rise" = number(0.001), "fall" = number(0.002), "channels" = number(2.0) };
    a_sample_and_hold: "sample_hold";
    a_track_and_hold: "sample_hold" { "mode" = word("track"), "channels" = number(2.0) };
    a_slow_sine: "lfo" { "freq" = number(7.0), "phase" = number(0.25) };
    a_slow_triangle: "lfo" { "freq" = number(40.0), "shape" = word("triangle"), "width" = number(0.0) };
    a_slow_square: "lfo" { "freq" = number(999.0), "shape" = word("square") };
    a_random_walk: "lfo" { "freq" = number(300.0), "shape" = word("drift"), "seed" = number(3.0) };
    a_ladder: "ladder" { "freq" = number(300.0), "resonance" = number(0.9), "channels" = number(2.0) };
    a_ladder_that_oscillates: "ladder" { "mode" = word("band24"), "resonance" = number(1.0), "drive_db" = number(30.0) };
    an_allpass: "allpass" { "freq" = number(500.0), "q" = number(3.0), "channels" = number(2.0) };
    an_allpass_of_first_order: "allpass" { "order" = word("first") };
    brown_noise: "noise" { "color" = word("brown"), "seed" = number(2.0) };
    an_operator: "operator" { "freq" = number(300.0), "ratio" = number(2.5), "feedback" = number(0.7) };
    a_saw_from_tables: "wavetable" { "freq" = number(5000.0) };
    a_pulse_from_tables: "wavetable" { "freq" = number(77.0), "shape" = word("pulse"), "width" = number(0.2) };
    a_triangle_from_tables: "wavetable" { "freq" = number(0.0), "shape" = word("triangle"), "phase" = number(0.1) };
    harmonics_from_tables: "wavetable" { "freq" = number(900.0), "shape" = word("harmonics"), "harmonics" = word("1 0 -0.5, 0.2") };
    a_comb: "comb" { "freq" = number(700.0), "feedback" = number(0.9), "damp" = number(0.3), "channels" = number(2.0) };
    a_comb_that_is_an_allpass: "comb" { "freq" = number(70.0), "feedback" = number(-0.7), "forward" = number(1.0), "blend" = number(0.7) };
    a_dc_blocker: "dc" { "freq" = number(20.0), "channels" = number(2.0) };
    an_equalizer: "eq" { "low_db" = number(6.0), "mid1_db" = number(-12.0), "mid1_q" = number(4.0), "mid2_db" = number(12.0), "high_db" = number(-6.0) };
    a_crossover: "crossover" { "freq1" = number(300.0), "freq2" = number(3000.0), "channels" = number(2.0) };
    two_phases: "hilbert" { "channels" = number(2.0) };
    a_chorus: "chorus" { "depth" = number(0.003), "voices" = number(4.0), "channels" = number(2.0) };
    a_flanger: "flanger" { "feedback" = number(-0.8), "speed" = number(3.0) };
    a_phaser: "phaser" { "stages" = number(6.0), "feedback" = number(0.6), "channels" = number(2.0) };
    a_compressor: "compressor" { "threshold_db" = number(-20.0), "channels" = number(2.0), "makeup_db" = number(3.0) };
    a_compressor_with_a_side_chain: "compressor" { "key" = word("side"), "lookahead" = number(0.002), "attack" = number(0.0), "knee_db" = number(0.0) };
    a_limiter: "limiter" { "gain_db" = number(12.0), "channels" = number(2.0) };
    a_limiter_with_a_short_release: "limiter" { "release" = number(0.0), "ceiling_db" = number(-20.0) };
    a_limiter_of_samples: "limiter" { "detector" = word("sample-peak"), "gain_db" = number(12.0), "channels" = number(2.0) };
    a_limiter_of_samples_with_a_short_release: "limiter" { "detector" = word("sample-peak"), "release" = number(0.0), "ceiling_db" = number(-20.0) };
    a_gate: "gate" { "threshold_db" = number(-3.0), "hold" = number(0.001), "release" = number(0.002), "channels" = number(2.0) };
    a_gate_with_a_side_chain: "gate" { "key" = word("side"), "range_db" = number(12.0) };
    an_expander: "expander" { "threshold_db" = number(-2.0), "ratio" = number(4.0), "channels" = number(2.0) };
    a_deesser: "deesser" { "threshold_db" = number(-20.0), "channels" = number(2.0) };
    a_transient_shaper: "transient" { "attack_db" = number(12.0), "sustain_db" = number(-12.0) };
    saturation: "saturate" { "drive_db" = number(12.0), "bias" = number(0.2), "channels" = number(2.0) };
    saturation_of_a_tube: "saturate" { "mode" = word("tube"), "oversample" = word("2"), "mix" = number(0.5) };
    saturation_at_the_rate: "saturate" { "mode" = word("tape"), "oversample" = word("1") };
    a_wave_folder: "fold" { "drive_db" = number(20.0), "oversample" = word("8") };
    a_sine_folder: "fold" { "mode" = word("sine"), "oversample" = word("1") };
    a_crusher: "crush" { "bits" = number(5.5), "hold_freq" = number(3000.0), "channels" = number(2.0) };
    a_crusher_at_a_higher_rate: "crush" { "bits" = number(3.0), "hold_freq" = number(5000.0), "mix" = number(0.8), "oversample" = word("2") };
    a_room: "reverb" { "decay" = number(0.1), "size" = number(0.2), "channels" = number(2.0) };
    a_plate: "plate" { "decay" = number(0.2), "channels" = number(2.0) };
    a_plate_of_one_channel: "plate" { "decay" = number(0.1), "predelay" = number(0.01), "mix" = number(1.0) };
    a_pitch_shift: "pitch" { "semitones" = number(7.0), "window" = number(0.01), "channels" = number(2.0) };
    a_crossfade: "crossfade" { "position" = number(0.3), "channels" = number(2.0) };
    a_linear_crossfade: "crossfade" { "law" = word("linear") };
    a_loudness_meter: "loudness" { "channels" = number(2.0) };
    a_sampler_of_one_file: "sampler" { "file" = word(&SHORT), "voices" = number(3.0), "root" = number(100.0), "loop" = ParamValue::Flag(true) };
    an_instrument: "sampler" { "file" = word(&INSTRUMENT), "voices" = number(5.0) };
    a_pitch_tracker: "pitch_tracker" { "clear" = number(0.3) };
    an_onset_tracker: "onset_tracker" { "threshold" = number(0.01), "gap" = number(0.02) };
    a_tempo_tracker: "tempo_tracker" { "clear" = number(0.0) };
    a_strip_of_one_channel: "strip" { "mid_db" = number(6.0), "threshold_db" = number(-30.0), "ratio" = number(4.0), "send1_db" = number(-6.0), "send2_db" = number(-3.0) };
    a_strip_of_two_channels: "strip" { "channels" = number(2.0), "pan" = number(0.3), "level_db" = number(-3.0) };
    a_bus: "bus" { "width" = number(1.5), "balance" = number(0.2) };
    filters_of_eleven_channels: "svf" { "freq" = number(900.0), "channels" = number(11.0) };
    grains_of_a_file: "grains" { "file" = word(&SHORT), "density" = number(400.0), "size" = number(0.01), "spread" = number(0.1), "position" = number(0.5), "jitter" = number(1.0), "channels" = number(2.0) };
    a_loudness_meter_of_one_channel: "loudness";
    the_signals_of_a_note: "note" { "glide" = number(0.003), "release" = number(0.01) };
}

/// A sound file of a quarter of a second, made once.
static SHORT: LazyLock<String> = LazyLock::new(|| {
    let path = std::env::temp_dir().join("divisi-units-quarter-second.wav");
    let mut writer = Writer::create(&path, rate(), Channels(1), SampleFormat::F32).unwrap();
    let mut numbers = units::SplitMix64(1);
    let samples: Vec<f32> = (0..12_000).map(|_| numbers.sample()).collect();
    writer.write_interleaved(&samples).unwrap();
    writer.finish().unwrap();
    path.to_str().unwrap().into()
});

/// An instrument of this file, with all that zones can do.
static INSTRUMENT: LazyLock<String> = LazyLock::new(|| {
    let sample = SHORT.as_str();
    let text = format!(
        "<global> sample={sample} pitch_keytrack=0 cutoff=900 resonance=9 fil_keytrack=100 ampeg_release=0.01
<region> hivel=90 xfout_lovel=50 xfout_hivel=90 <region> xfin_lovel=50 xfin_hivel=90 fil_type=hpf_2p group=1
<region> trigger=release end=2000 rt_decay=60 fil_type=bpf_2p <region> trigger=release_key end=1000 off_by=1
<region> loop_mode=loop_continuous loop_start=500 loop_end=900 loop_crossfade=0.004 seq_length=2 transpose=-7 fil_type=brf_2p
<region> loop_mode=loop_sustain loop_start=500 loop_end=900 loop_crossfade=0.004 xfin_lokey=40 xfin_hikey=90 transpose=9 fil_type=lpf_6p"
    );
    let path = std::env::temp_dir().join("divisi-units-instrument.sfz");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().into()
});

fn rate() -> SampleRate {
    SampleRate::new(48_000).unwrap()
}

/// A MIDI file of the examples.
const INVENTION: &str = "../../examples/media/invention.mid";

/// Kinds that depend on files or devices; they have tests of their own (`players.rs`, `sounds.rs`, `midi_files.rs`, and
/// `midi_ports.rs`).
const OUTSIDE: [&str; 6] = [
    "input",
    "player",
    "recorder",
    "midi_writer",
    "midi_input",
    "midi_output",
];

#[test]
fn no_kind_is_forgotten() {
    let (sounds, notes) = (dsp::catalogue(), midi::catalogue());
    for kind in sounds.kinds().chain(notes.kinds()) {
        let is_tested = TESTED.contains(&kind.name) || OUTSIDE.contains(&kind.name);
        assert!(is_tested, "`{}` needs a line above", kind.name);
    }
}
