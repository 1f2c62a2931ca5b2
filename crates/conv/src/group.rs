//! Which channels are worked on together.
//!
//! Paths that share an input or an output belong together: an input is transformed once, an output once back. What has
//! one path and no neighbour is gathered by sixteen, which short levels do side by side.

use fft::LANES;

/// Channels that are worked on together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// The convolver's inputs that are heard.
    pub(crate) inputs: Vec<usize>,
    /// The convolver's outputs that are given.
    pub(crate) outputs: Vec<usize>,
    /// Input and output by their place above, and which path it is; sorted by output.
    pub(crate) wires: Vec<(usize, usize, usize)>,
    /// The first input, where there are sixteen neighbours in order.
    pub(crate) first_input: Option<usize>,
    /// The first output, where all are neighbours in order.
    pub(crate) first_of_row: Option<usize>,
    /// Whether channel k of the inputs leads to channel k of the outputs, and nothing else does.
    pub(crate) is_straight: bool,
}

/// Groups for paths from an input to an output.
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
    let place = |ends: &[usize], end| ends.iter().position(|e| *e == end).expect("it is there");
    let wire = |&member: &usize| {
        let (input, output) = paths[member];
        (place(&inputs, input), place(&outputs, output), member)
    };
    let mut wires: Vec<_> = members.iter().map(wire).collect();
    wires.sort_by_key(|&(input, output, path)| (output, input, path));
    Group {
        first_input: first_of_row(&inputs).filter(|_| inputs.len() == LANES),
        first_of_row: first_of_row(&outputs),
        inputs,
        outputs,
        wires,
        is_straight,
    }
}

fn first_of_row(ends: &[usize]) -> Option<usize> {
    let is_row = ends.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    ends.first().copied().filter(|_| is_row)
}

/// Paths that hang together by their ends, in order of their first one.
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
    fn straight_channels_are_gathered_by_sixteen() {
        let paths: Vec<_> = (0..20).map(|c| (c, c)).collect();
        let groups = groups(&paths);
        let sizes: Vec<_> = groups.iter().map(|g| g.outputs.len()).collect();
        assert_eq!(sizes, [16, 4]);
        assert!(
            groups
                .iter()
                .all(|g| g.is_straight && g.inputs == g.outputs)
        );
        assert_eq!(groups[1].wires[3], (3, 3, 19));
    }

    #[test]
    fn true_stereo_is_one_group_and_a_lonely_channel_another() {
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
        assert_eq!(mesh.wires, [(0, 0, 0), (1, 0, 3), (0, 1, 1), (1, 1, 4)]);
        assert!(!mesh.is_straight);
    }
}
