//! [`Symbol`]: a text as a number, equal where the texts are equal.

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// Its place among all symbols.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// The symbol of an index.
    pub(super) fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("memory ends before"))
    }
}

/// The texts of all symbols, with room for some that messages make while a patch plays.
#[derive(Debug)]
pub(crate) struct Symbols {
    /// All texts, one behind the other.
    arena: String,
    /// End of each text in the arena.
    ends: Vec<usize>,
    /// Hash table with open addresses: one more than the number of a symbol, or 0. Its length is a power of two.
    table: Vec<u32>,
    /// Text that is being put together.
    scratch: String,
}

/// Symbols and bytes of text that messages may make before that allocates.
pub(super) const ROOM: (usize, usize) = (8192, 1 << 18);

macro_rules! words {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// Symbols that the program knows by name.
        pub(crate) mod words {
            use super::Symbol;

            #[expect(clippy::upper_case_acronyms, reason = "named as the constants are")]
            enum Number { $($name),* }

            $(pub(crate) const $name: Symbol = Symbol(Number::$name as u32);)*

            pub(super) const TEXTS: &[&str] = &[$($text),*];
        }
    };
}

words! {
    EMPTY = "", BANG = "bang", FLOAT = "float", SYMBOL = "symbol", LIST = "list",
    SET = "set", STOP = "stop", TEMPO = "tempo", CLEAR = "clear", FLUSH = "flush", SEED = "seed", RESIZE = "resize",
    CONST = "const", NORMALIZE = "normalize", SINESUM = "sinesum", COSINESUM = "cosinesum",
    DSP = "dsp", PD = "pd", APPEND = "append", PREPEND = "prepend", ADD = "add", ADD2 = "add2", SEND = "send", RESET = "reset",
    NEXT = "next", THIS = "this", ALL = "all", RECEIVE = "receive", INIT = "init", NONZERO = "nonzero", LOADBANG = "loadbang",
    QUIT = "quit", FORWARD = "fast-forward", POINTER = "pointer", TEXT = "text", POINTS = "float-array", CONNECT = "connect", DISCONNECT = "disconnect", RENAME = "rename",
    NOTEIN = "#notein", CTLIN = "#ctlin", PGMIN = "#pgmin", BENDIN = "#bendin", TOUCHIN = "#touchin",
    POLYTOUCHIN = "#polytouchin", MIDIIN = "#midiin", SYSEXIN = "#sysexin", MIDIREALTIMEIN = "#midirealtimein",
}

impl Default for Symbols {
    fn default() -> Self {
        let mut symbols = Self {
            arena: String::new(),
            ends: Vec::new(),
            table: vec![0; 1024],
            scratch: String::with_capacity(4096),
        };
        for text in words::TEXTS {
            symbols.intern(text);
        }
        symbols
    }
}

impl Symbols {
    /// Makes room for the symbols of messages.
    ///
    /// Real-time: setup.
    pub(crate) fn reserve(&mut self) {
        self.arena.reserve(ROOM.1);
        self.ends.reserve(ROOM.0);
        self.resize((self.ends.len() + ROOM.0) * 2);
    }

    /// Symbols with the memory for `count` of them in `bytes`, and for the new ones of messages.
    ///
    /// Real-time: setup.
    pub(super) fn with_room(count: usize, bytes: usize) -> Self {
        let (count, bytes) = (count + ROOM.0, bytes + ROOM.1);
        Self {
            arena: String::with_capacity(bytes),
            ends: Vec::with_capacity(count),
            table: vec![0; (count * 2 + 2).next_power_of_two()],
            scratch: String::with_capacity(4096),
        }
    }

    /// Moves into the memory of `other`, which was made with more room, and leaves the own one there.
    ///
    /// Real-time: hot, by the number of symbols.
    pub(super) fn move_into(&mut self, other: &mut Self) {
        if self.arena.len() > other.arena.capacity() || self.ends.len() > other.ends.capacity() {
            return;
        }
        other.arena.clear();
        other.arena.push_str(&self.arena);
        other.ends.clear();
        other.ends.extend_from_slice(&self.ends);
        other.fill_table();
        std::mem::swap(&mut self.arena, &mut other.arena);
        std::mem::swap(&mut self.ends, &mut other.ends);
        std::mem::swap(&mut self.table, &mut other.table);
    }

    /// Number of symbols.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        self.arena.len()
    }

    /// Symbols and bytes for which there is room.
    pub(super) fn room(&self) -> (usize, usize) {
        let count = self.ends.capacity().min(self.table.len() / 2);
        (
            count.saturating_sub(self.ends.len()),
            self.arena.capacity() - self.arena.len(),
        )
    }

    /// All texts, by number.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|at| {
            let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.arena[from..self.ends[at]]
        })
    }

    /// The symbol of a text.
    ///
    /// Real-time: hot for a text that is known, and for as many new ones as there is room for ([`Symbols::reserve`]); then it
    /// allocates.
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        let mut at = self.slot(text);
        if let Some(number) = self.table[at].checked_sub(1) {
            return Symbol(number);
        }
        if (self.ends.len() + 1) * 2 > self.table.len() {
            self.resize(self.table.len() * 2);
            at = self.slot(text);
        }
        let symbol = Symbol(u32::try_from(self.ends.len()).expect("memory ends before"));
        self.arena.push_str(text);
        self.ends.push(self.arena.len());
        self.table[at] = symbol.0 + 1;
        symbol
    }

    /// The symbol of a text, if it is known.
    ///
    /// Real-time: hot.
    pub(super) fn find(&self, text: &str) -> Option<Symbol> {
        self.table[self.slot(text)].checked_sub(1).map(Symbol)
    }

    /// The symbol of a text that `write` puts together.
    ///
    /// Real-time: as [`Symbols::intern`].
    pub(crate) fn intern_with(&mut self, write: impl FnOnce(&Self, &mut String)) -> Symbol {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        write(self, &mut text);
        let symbol = self.intern(&text);
        self.scratch = text;
        symbol
    }

    /// Its text.
    pub(crate) fn text(&self, symbol: Symbol) -> &str {
        let at = symbol.index();
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.arena[from..self.ends[at]]
    }

    /// Place of a text in the table: its own, or the free one where it belongs.
    fn slot(&self, text: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash(text) & mask;
        while let Some(number) = self.table[at].checked_sub(1) {
            if self.text(Symbol(number)) == text {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    fn resize(&mut self, len: usize) {
        self.table = vec![0; len.next_power_of_two().max(self.table.len())];
        self.fill_table();
    }

    /// Puts all symbols into the table.
    fn fill_table(&mut self) {
        let mut table = std::mem::take(&mut self.table);
        table.fill(0);
        let mask = table.len() - 1;
        for number in 0..self.ends.len() {
            let number = u32::try_from(number).expect("memory ends before");
            let mut at = hash(self.text(Symbol(number))) & mask;
            while table[at] != 0 {
                at = (at + 1) & mask;
            }
            table[at] = number + 1;
        }
        self.table = table;
    }
}

/// FNV-1a, with the high bits mixed into the low ones.
#[expect(clippy::cast_possible_truncation, reason = "a hash")]
fn hash(text: &str) -> usize {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    (hash ^ (hash >> 32)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_have_their_texts() {
        let mut symbols = Symbols::default();
        assert_eq!(symbols.text(words::COSINESUM), "cosinesum");
        assert_eq!(symbols.intern("list"), words::LIST);
        let new = symbols.intern("gold-0");
        assert_eq!(symbols.intern("gold-0"), new);
        assert_eq!(symbols.text(new), "gold-0");
        let many: Vec<Symbol> = (0..3000)
            .map(|n| symbols.intern(&format!("s{n}")))
            .collect();
        assert_eq!(symbols.text(many[2999]), "s2999");
        assert_eq!(symbols.intern("s17"), many[17]);
    }
}
