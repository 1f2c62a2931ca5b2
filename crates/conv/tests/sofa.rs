//! SOFA files, in a build that reads them.
#![cfg(feature = "sofa")]

use divisi_conv::ir::{Ir, IrError, IrLimit, IrReason, LoadNote, LoadedIr, SourceDirection};
use std::path::PathBuf;
use units::SampleRate;

fn ears() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/convolution/ears.sofa")
}

fn load(left: f32, up: f32, hz: u32, limit: &IrLimit) -> Result<LoadedIr, IrError> {
    let direction = SourceDirection {
        azimuth_deg: left,
        elevation_deg: up,
    };
    Ir::load_sofa(ears(), direction, SampleRate::new(hz).unwrap(), limit)
}

#[test]
fn both_ears_get_the_nearest_measured_response_after_its_delay() {
    for (left, up, measured, late) in [
        (0.0, 0.0, 0, (0, 0)),
        (80.0, 10.0, 1, (0, 3)),
        (-170.0, 0.0, 2, (0, 0)),
        (-90.0, 0.0, 3, (3, 0)),
        (0.0, 80.0, 4, (0, 0)),
    ] {
        let LoadedIr { ir, notes } = load(left, up, 48_000, &IrLimit::default()).unwrap();
        let frames = 8 + late.0.max(late.1);
        let (mut a, mut b) = (vec![0.0_f32; frames], vec![0.0_f32; frames]);
        a[late.0] = (0.1 * f64::from(measured + 1)) as f32;
        a[late.0 + measured as usize + 1] = -0.25;
        b[late.1 + 1] = (0.01 * f64::from(measured + 1)) as f32;
        b[late.1 + 7] = 0.5;
        assert_eq!((&*ir.channels()[0], &*ir.channels()[1]), (&*a, &*b));
        let note = notes[0].to_string();
        assert!(matches!(notes[0], LoadNote::Direction { .. }), "{note}");
    }
}

#[test]
fn another_rate_is_resampled_with_a_note_and_limits_hold() {
    let loaded = load(0.0, 0.0, 44_100, &IrLimit::default()).unwrap();
    assert_eq!(loaded.ir.rate().hz(), 44_100);
    assert!(matches!(loaded.notes[0], LoadNote::Resampled { .. }));
    let limit = IrLimit {
        frames: 5,
        ..IrLimit::default()
    };
    assert!(matches!(
        load(0.0, 0.0, 48_000, &limit).unwrap_err().reason(),
        Some(IrReason::TooLong { .. })
    ));
    // Five directions, two ears, eight frames: all of them are unpacked, whichever is used.
    let limit = IrLimit {
        samples: 80,
        ..IrLimit::default()
    };
    assert!(matches!(
        load(0.0, 0.0, 48_000, &limit).unwrap_err().reason(),
        Some(IrReason::TooLarge { samples: 81.., .. })
    ));
}

#[test]
fn damage_anywhere_is_refused_or_harmless() {
    let good = std::fs::read(ears()).unwrap();
    let name = format!("divisi-sofa-{}.sofa", std::process::id());
    let path = std::env::temp_dir().join(name);
    let rate = SampleRate::new(48_000).unwrap();
    let mut refused = 0;
    for at in (0..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[at] ^= 0xff;
        if at % 2 == 0 {
            bad.truncate(at + 1);
        }
        std::fs::write(&path, &bad).unwrap();
        let read = Ir::load_sofa(&path, SourceDirection::default(), rate, &IrLimit::default());
        refused += usize::from(read.is_err());
    }
    std::fs::remove_file(&path).unwrap();
    assert!(refused > 45, "{refused} of 91: each file that was cut off");
    let missing = Ir::load_sofa(
        "none.sofa",
        SourceDirection::default(),
        rate,
        &IrLimit::default(),
    );
    assert!(missing.unwrap_err().to_string().contains("none.sofa"));
}
