//! `channel_map`: moves MIDI messages to other channels.
//!
//! `map` lists pairs: a channel and where its messages go. `"1 10, 2 1, 3 off"` moves channel 1 to 10 and 2 to 1, and leaves 3
//! out; `"all 1, 10 10"` moves all but channel 10 to channel 1. Channels that are not in the list stay. Events that are no MIDI
//! messages have no channel and pass.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, events |
//! | parameters | `map` |
//! | latency, tail | none |

use graph::{Kind, Param, PortSpec};
use processor::{Block, EventBody, MakeContext, MakeError, ProcessStatus, Processor, Setup};

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::events("in")],
        outputs: vec![PortSpec::events("out")],
        params: vec![Param::text("map").doc(
            "Pairs of channels, from and to: \"1 10, 2 off, all 1\"; channels that are not named stay.",
        )],
        typical_ns: 30,
        ..Kind::new("channel_map", "Moves MIDI messages to other channels.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let map = read_map(creation.node.text("map").unwrap_or(""));
    let map = map.map_err(|message| MakeError::param("map", message))?;
    Ok(Box::new(ChannelMap { map }))
}

/// The new channel of each channel, from 0; `None` for one that is left out.
type Map = [Option<u8>; 16];

fn read_map(text: &str) -> Result<Map, String> {
    let mut map: [Option<Option<u8>>; 16] = [None; 16];
    let mut of_all = None;
    for pair in text
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty())
    {
        let mut words = pair.split_whitespace();
        let (Some(from), Some(to), None) = (words.next(), words.next(), words.next()) else {
            return Err(format!(
                "`{pair}` is not a pair of channels, such as `1 10`"
            ));
        };
        let to = match to {
            "off" => None,
            to => Some(channel(to)?),
        };
        let place = match from {
            "all" => &mut of_all,
            from => &mut map[usize::from(channel(from)?)],
        };
        if place.replace(to).is_some() {
            return Err(format!("`{from}` is there twice"));
        }
    }
    Ok(std::array::from_fn(|from| {
        map[from].or(of_all).unwrap_or(Some(from as u8))
    }))
}

/// A channel, counted from 0.
fn channel(word: &str) -> Result<u8, String> {
    match word.parse::<u8>() {
        Ok(channel @ 1..=16) => Ok(channel - 1),
        _ => Err(format!("`{word}` is not a channel from 1 to 16")),
    }
}

struct ChannelMap {
    map: Map,
}

impl Processor for ChannelMap {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for event in block.events().iter() {
            let body = match event.body {
                EventBody::Midi([status, a, b]) => {
                    let to = self.map[usize::from(status & 0xf)];
                    to.map(|to| EventBody::Midi([status & 0xf0 | to, a, b]))
                }
                body => Some(body),
            };
            if let Some(body) = body {
                block.send_event(0, event.frame, body);
            }
        }
        ProcessStatus::Sleep
    }

    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_and_a_wrong_one_says_where() {
        let map = read_map("all 1, 10 10 ,3 off").unwrap();
        assert_eq!(
            (map[0], map[9], map[2], map[15]),
            (Some(0), Some(9), None, Some(0))
        );
        assert_eq!(read_map("").unwrap()[7], Some(7));
        for (text, word) in [
            ("1", "`1`"),
            ("1 17", "`17`"),
            ("0 1", "`0`"),
            ("2 3, 2 4", "`2`"),
        ] {
            let message = read_map(text).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }
}
