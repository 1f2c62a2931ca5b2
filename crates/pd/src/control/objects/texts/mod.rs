//! `text` and its functions (`x_text.c`).
//!
//! | file | holds |
//! |---|---|
//! | `define` | `text define` |
//! | `file` | `read` and `write`, of everything that holds a text |
//! | `read` | `text get`, `size`, `tolist` |
//! | `write` | `text set`, `insert`, `delete`, `fromlist` |
//! | `search` | `text search` |
//! | `sequence` | `text sequence` |
//! | `shared` | words, lines and pointers of a text |

mod define;
mod file;
mod read;
mod search;
mod sequence;
mod shared;
mod write;

pub(super) use file::TextFile;
pub(super) use shared::{restored, send_pointer};

use super::Making;
use super::sources::DataSource;
use crate::control::object::Object;
use define::define;
use read::{Get, Size, ToList};
use search::{Search, keys};
use sequence::Sequence;
use write::{Delete, FromList, Insert, Set};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "text" {
        return None;
    }
    let function = making.symbol(0);
    let function = function.map_or("define", |symbol| making.globals.symbols.text(symbol));
    let function = function.to_owned();
    if matches!(function.as_str(), "define" | "d") {
        return Some(Box::new(define(making)));
    }
    let (name, numbers) = DataSource::of(making.values.get(1..).unwrap_or_default(), making);
    let number = |at: usize, default: f32| numbers.get(at).map_or(default, |value| value.number());
    Some(match function.as_str() {
        "get" => Box::new(Get {
            name,
            field: number(0, -1.0),
            count: number(1, 1.0),
        }),
        "set" => Box::new(Set {
            name,
            line: number(0, 0.0),
            field: number(1, -1.0),
        }),
        "insert" => Box::new(Insert {
            name,
            line: number(0, 0.0),
        }),
        "delete" => Box::new(Delete(name)),
        "size" => Box::new(Size(name)),
        "tolist" => Box::new(ToList(name)),
        "fromlist" => Box::new(FromList(name)),
        "search" => Box::new(Search {
            name,
            keys: keys(making, numbers),
        }),
        "sequence" => Box::new(Sequence::new(making, name, numbers)),
        _ => return None,
    })
}
