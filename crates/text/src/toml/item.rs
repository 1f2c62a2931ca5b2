//! Keys and values of the tree of the `toml` crate, with their places.

use crate::ast::Ident;
use ::toml::Spanned;
use ::toml::de::{DeString, DeTable, DeValue};

/// A key with its place in the text.
pub(super) type Key<'t> = Spanned<DeString<'t>>;
/// A value with its place in the text.
pub(super) type Item<'t> = Spanned<DeValue<'t>>;

/// The entries of `table` in the order of the text.
pub(super) fn in_order<'a, 't>(table: &'a DeTable<'t>) -> Vec<(&'a Key<'t>, &'a Item<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// The key as an identifier.
pub(super) fn ident<'t>(key: &Key<'t>) -> Ident<'t> {
    Ident {
        text: key.get_ref().clone(),
        at: key.span(),
    }
}
