//! [`Symbol`]: a text as a number, equal where the texts are equal.

use std::collections::HashMap;

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

/// The texts of all symbols.
#[derive(Debug)]
pub(crate) struct Symbols {
    numbers: HashMap<Box<str>, Symbol>,
    texts: Vec<Box<str>>,
}

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
}

impl Default for Symbols {
    fn default() -> Self {
        let mut symbols = Self {
            numbers: HashMap::new(),
            texts: Vec::new(),
        };
        for text in words::TEXTS {
            symbols.intern(text);
        }
        symbols
    }
}

impl Symbols {
    /// The symbol of a text.
    ///
    /// Real-time: hot for a text that is known; a new one allocates.
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.numbers.get(text) {
            return *symbol;
        }
        let symbol = Symbol(u32::try_from(self.texts.len()).expect("memory ends before"));
        self.texts.push(text.into());
        self.numbers.insert(text.into(), symbol);
        symbol
    }

    /// Its text.
    pub(crate) fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }
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
    }
}
