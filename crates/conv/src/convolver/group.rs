//! Groups of channels that share a delay line.
//!
//! Paths that share an input or an output belong together: then each input is transformed once, and each output once back.
//! Channels that go straight from one input to one output are grouped by sixteen, which short levels process side by side.
//!
//! ```text
//!   in 0 ──▶ out 0  ┐                         in 5 ──▶ out 7 ┐ straight: one lane each
//!    │ ╲  ╱         │ one group, 4 filters    in 6 ──▶ out 8 ┘
//!   in 1 ──▶ out 1  ┘
//! ```

use fft::LANES;

/// Channels that share a delay line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Inputs of the convolver.
    pub(crate) inputs: Vec<usize>,
    /// Outputs of the convolver.
    pub(crate) outputs: Vec<usize>,
    /// Places of input and output in the lists above, and number of the path; sorted by output.
    pub(crate) paths: Vec<(usize, usize, usize)>,
    /// The first input, if the inputs are sixteen consecutive ones.
    pub(crate) first_input: Option<usize>,
    /// The first output, if the outputs are consecutive.
    pub(crate) first_output: Option<usize>,
    /// True if input k goes to output k, and nowhere else.
    pub(crate) is_straight: bool,
}

/// Groups the paths, each from an input to an output.
///
/// Real-time: setup.
pub(crate) fn groups(paths: &[(usize, usize)]) -> Vec<Group> {
    let (singles, meshes): (Vec<_>, Vec<_>) =
        components(paths).into_iter().partition(|c| c.len() == 1);
    let gather = |chunk: &[Vec<usize>]| group(paths, &chunk.concat(), true);
    let mut groups: Vec<Group> = singles.chunks(LANES).map(gather).collect();
    groups.extend(meshes.iter().map(|mesh| group(paths, mesh, false)));
    groups
}

fn group(paths: &[(usize, usize)], members: &[usize], is_straight: bool) -> Group {
    let unique = |ends: &mut dyn Iterator<Item = usize>| {
        let mut ends: Vec<usize> = ends.collect();
        if !is_straight {
            ends.sort_unstable();
            ends.dedup();
        }
        ends
    };
    let inputs = unique(&mut members.iter().map(|m| paths[*m].0));
    let outputs = unique(&mut members.iter().map(|m| paths[*m].1));
    let place = |ends: &[usize], end| {
        ends.iter()
            .position(|e| *e == end)
            .expect("it is one of the ends")
    };
    let ends_of = |&member: &usize| {
        let (input, output) = paths[member];
        (place(&inputs, input), place(&outputs, output), member)
    };
    let mut sorted: Vec<_> = members.iter().map(ends_of).collect();
    sorted.sort_by_key(|&(input, output, path)| (output, input, path));
    Group {
        first_input: first_consecutive(&inputs).filter(|_| inputs.len() == LANES),
        first_output: first_consecutive(&outputs),
        inputs,
        outputs,
        paths: sorted,
        is_straight,
    }
}

/// The first channel, if all are consecutive.
fn first_consecutive(ends: &[usize]) -> Option<usize> {
    let is_consecutive = ends.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    ends.first().copied().filter(|_| is_consecutive)
}

/// Connected components of the paths, by union-find over channels; in order of their first path.
fn components(paths: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let inputs = paths.iter().map(|p| p.0 + 1).max().unwrap_or(0);
    let outputs = paths.iter().map(|p| p.1 + 1).max().unwrap_or(0);
    let mut parent: Vec<usize> = (0..inputs + outputs).collect();
    for &(input, output) in paths {
        let (a, b) = (root(&mut parent, input), root(&mut parent, inputs + output));
        parent[a.max(b)] = a.min(b);
    }
    let mut place = vec![usize::MAX; inputs + outputs];
    let mut components: Vec<Vec<usize>> = Vec::new();
    for (path, &(input, _)) in paths.iter().enumerate() {
        let root = root(&mut parent, input);
        if place[root] == usize::MAX {
            place[root] = components.len();
            components.push(Vec::new());
        }
        components[place[root]].push(path);
    }
    components
}

/// Representative of a channel's component; halves the path to it.
fn root(parent: &mut [usize], mut of: usize) -> usize {
    while parent[of] != of {
        parent[of] = parent[parent[of]];
        of = parent[of];
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_channels_are_grouped_by_sixteen() {
        let paths: Vec<_> = (0..20).map(|c| (c, c)).collect();
        let groups = groups(&paths);
        let sizes: Vec<_> = groups.iter().map(|g| g.outputs.len()).collect();
        assert_eq!(sizes, [16, 4]);
        assert!(
            groups
                .iter()
                .all(|g| g.is_straight && g.inputs == g.outputs)
        );
        assert_eq!(groups[1].paths[3], (3, 3, 19));
    }

    #[test]
    fn true_stereo_is_one_group_and_a_straight_channel_another() {
        let paths = [(0, 0), (0, 1), (5, 7), (1, 0), (1, 1)];
        let groups = groups(&paths);
        assert_eq!(groups.len(), 2);
        assert_eq!(
            (&groups[0].inputs[..], &groups[0].outputs[..]),
            (&[5][..], &[7][..])
        );
        let mesh = &groups[1];
        assert_eq!(
            (&mesh.inputs[..], &mesh.outputs[..]),
            (&[0, 1][..], &[0, 1][..])
        );
        assert_eq!(mesh.paths, [(0, 0, 0), (1, 0, 3), (0, 1, 1), (1, 1, 4)]);
        assert!(!mesh.is_straight);
    }
}
