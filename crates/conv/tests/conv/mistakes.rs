//! Convolvers that cannot be made are refused with the reason.

use divisi_conv::{AddedLatency, Convolver, ConvolverError, ConvolverOptions, Partition, Path};

fn refused(paths: &[Path]) -> ConvolverError {
    let partition = Partition::uniform(64, AddedLatency::None, 128).unwrap();
    match Convolver::new(2, 2, paths, &ConvolverOptions::new(partition)) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error,
    }
}

#[test]
fn a_path_without_a_channel_or_a_response_is_refused() {
    use ConvolverError as E;
    assert_eq!(refused(&[]), E::NoPaths);
    let good = Path::new(0, 0, vec![1.0]);
    let nowhere = refused(&[good.clone(), Path::new(2, 0, vec![1.0])]);
    assert_eq!(
        nowhere.to_string(),
        "path 1 names input 2; there are 2, counted from 0"
    );
    assert!(matches!(
        refused(&[Path::new(0, 7, vec![1.0])]),
        E::NoChannel {
            is_input: false,
            ..
        }
    ));
    assert_eq!(
        refused(&[good.clone(), Path::new(1, 1, vec![])]),
        E::Empty { path: 1 }
    );
    let bad = Path::new(1, 1, vec![0.0, f32::NAN]);
    assert_eq!(
        refused(&[bad]),
        E::NotFinite {
            path: 0,
            frame: Some(1)
        }
    );
    let mut loud = good.clone();
    loud.gain = f32::INFINITY;
    assert_eq!(
        refused(&[loud]),
        E::NotFinite {
            path: 0,
            frame: None
        }
    );
    let long = refused(&[good, Path::new(0, 1, vec![0.0; 129])]);
    let (frames, max_frames) = (129, 128);
    assert_eq!(
        long,
        E::TooLong {
            path: 1,
            frames,
            max_frames
        }
    );
}

#[test]
fn an_exchange_has_as_many_responses_as_there_are_paths() {
    let partition = Partition::uniform(64, AddedLatency::None, 128).unwrap();
    let path = Path::new(0, 0, vec![1.0]);
    let convolver = Convolver::new(1, 1, &[path], &ConvolverOptions::new(partition)).unwrap();
    let (given, paths) = (0, 1);
    let error = convolver.preparer().prepare(&[]).err();
    assert_eq!(error, Some(ConvolverError::PathCount { given, paths }));
}

#[test]
fn a_response_that_overflows_with_its_gain_is_refused() {
    use ConvolverError as E;
    let mut loud = Path::new(0, 0, vec![0.0, 1e30, 0.5]);
    loud.gain = 1e30;
    let (path, frame) = (0, Some(1));
    assert_eq!(refused(&[loud]), E::NotFinite { path, frame });
    // Each frame is finite, but the sum in a transform is not.
    let many = Path::new(0, 0, vec![f32::MAX / 3.0; 5]);
    let frame = Some(3);
    assert_eq!(refused(&[many]), E::NotFinite { path, frame });
}

#[test]
#[cfg(target_os = "linux")] // where the system reports the free memory
fn a_convolver_larger_than_the_free_memory_is_refused_before_it_allocates() {
    let partition = Partition::parse(64, AddedLatency::None, "1048576x64").unwrap();
    let paths: Vec<Path> = (0..2048).map(|c| Path::new(c, c, vec![1.0])).collect();
    let refused = Convolver::new(2048, 2048, &paths, &ConvolverOptions::new(partition)).err();
    let Some(ConvolverError::Memory { bytes, free }) = refused else {
        panic!("{refused:?}");
    };
    // A spectrum of sound for each partition of each channel: twice the frames, four bytes each.
    assert!(bytes >= 2048 << 29 && free < bytes);
}
