//! Samples of a `sampler` in memory, at the rate of the graph, and their copies for high notes.

use super::Sampler;
use super::held::HeldNotes;
use super::instrument::MAX_SAMPLES;
use super::loaded_zone::LoadedZone;
use super::octaves::{Octaves, samples_of_copies};
use super::zone::Trigger;
use graph::error_chain;
use media::Sound;
use processor::{FileProblem, Setup};
use std::collections::HashMap;

impl Sampler {
    /// Loads the samples. What cannot be read any more is reported and silent.
    pub(super) fn load_zones(&mut self, setup: &mut Setup<'_>) {
        let log = setup.services.file_log();
        // The old ones are kept until the new ones are there, so that they share their memory.
        let _old = std::mem::take(&mut self.zones);
        for zone in &self.instrument.zones {
            let rate_of_file = media::open(&zone.sample).map(|file| file.rate());
            // A file at a lower rate has more samples here. One that has grown since it was looked at is not taken.
            let sound = Sound::load(&zone.sample, setup.rate, 8 * MAX_SAMPLES);
            match (rate_of_file, sound) {
                (Ok(rate_of_file), Ok(Some(sound))) => {
                    if let Some(damage) = sound.damage() {
                        log.report(FileProblem::Damaged(damage.to_owned()));
                    }
                    let rate = f64::from(setup.rate.hz());
                    let scale = rate / f64::from(rate_of_file.hz());
                    self.zones
                        .push(LoadedZone::new(zone.clone(), sound, scale, rate));
                }
                (Err(error), _) | (_, Err(error)) => {
                    log.report(FileProblem::Damaged(error_chain(&error)));
                }
                (Ok(_), Ok(None)) => {
                    let message = format!("{} is too long to be held", zone.sample.display());
                    log.report(FileProblem::Damaged(message));
                }
            }
        }
        self.make_octaves(setup);
        let takes = |key: usize| {
            let zones = (0u32..).zip(&self.zones);
            let of_key = zones.filter(|(_, loaded)| {
                let (low, high) = loaded.zone.keys;
                (usize::from(low)..=usize::from(high)).contains(&key)
            });
            of_key.map(|(index, _)| index).collect()
        };
        self.of_key = (0..128).map(takes).collect();
        self.turns = vec![0; self.zones.len()];
        let has_releases = |loaded: &LoadedZone| loaded.zone.trigger != Trigger::Attack;
        self.held = HeldNotes::new(self.zones.iter().any(has_releases));
    }

    /// Makes the copies for notes above their roots, each once for all zones with the same sample and loop.
    fn make_octaves(&mut self, setup: &mut Setup<'_>) {
        let key = |zone: &LoadedZone| {
            let cycle = zone.endless_cycle();
            (zone.zone.sample.clone(), cycle.map(|cycle| cycle.bits()))
        };
        let mut needed = HashMap::new();
        for zone in &self.zones {
            let count: &mut usize = needed.entry(key(zone)).or_default();
            *count = zone.octaves_needed(self.bend_range).max(*count);
        }
        let (mut made, mut samples) = (HashMap::new(), 0);
        let mut is_missing = false;
        for zone in &mut self.zones {
            let key = key(zone);
            let count = needed[&key];
            let octaves = made.entry(key).or_insert_with(|| {
                let cycle = zone.endless_cycle();
                samples += samples_of_copies(&zone.sound, cycle, count);
                let has_room = samples <= MAX_SAMPLES;
                is_missing |= !has_room;
                let count = if has_room { count } else { 0 };
                Octaves::shared(&zone.sound, cycle, count)
            });
            zone.octaves = octaves.clone();
        }
        if is_missing {
            let message =
                "its samples are too large for copies: notes far above a root have aliases";
            setup.services.notify_user(message.into());
        }
    }
}
