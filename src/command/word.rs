//! Words of the shell grammar: literal and undecided parts, each with its place.
//!
//! A word is what quoting leaves of one argument. Variables and substitutions stay
//! apart until they are folded; free pieces of a given [`Text`] travel through the
//! grammar as private-use characters and come out as [`Part::Free`]. Pure values.

use std::ops::Range;

use crate::base::span::Span;
use crate::base::text::{Origin, Piece, Text};

/// First private-use character that stands for a free piece.
const PLACEHOLDER_BASE: u32 = 0x10_0000;
/// How many free pieces one string may have; further ones are [`Origin::Unknown`].
const PLACEHOLDER_MAX: u32 = 0xFFF0;
/// What a character of the placeholder plane that the text itself holds is read as (same length).
const FOREIGN: char = '\u{F0000}';

/// One part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Literal text, quoting removed.
    Literal(String),
    /// Text that is not known.
    Free(Origin),
    /// Any number of words that are not known.
    Rest(Origin),
    /// A variable that is not folded yet.
    Variable {
        /// Its name, without `$` and braces.
        name: String,
        /// Inside double quotes: its value is not split into words.
        quoted: bool,
        /// All elements of an array (`${x[@]}`).
        all: bool,
        /// The value of `${x:-value}`.
        default: Option<Box<Word>>,
    },
    /// A file that holds the output of commands (`<(…)`).
    File {
        /// The script's number among those that one analysis parses.
        scene: u32,
        /// Indices of the commands.
        commands: Range<u32>,
    },
    /// The output of commands: a range of the script's command list.
    Output {
        /// The script's number among those that one analysis parses.
        scene: u32,
        /// Indices of the commands.
        commands: Range<u32>,
        /// Inside double quotes.
        quoted: bool,
    },
}

/// A part and the offset where it starts in the text that was parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchored {
    /// The part.
    pub part: Part,
    /// Byte offset of its first byte.
    pub at: u32,
}

/// One word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// Its parts in order.
    pub parts: Vec<Anchored>,
    /// Its place in the text that was parsed; empty for argument lists.
    pub span: Span,
}

impl Word {
    /// A fully known word.
    pub fn literal(text: impl Into<String>, span: Span) -> Word {
        Word { parts: vec![Anchored { part: Part::Literal(text.into()), at: span.start }], span }
    }

    /// A word of one undecided part.
    pub fn of(part: Part, span: Span) -> Word {
        Word { parts: vec![Anchored { part, at: span.start }], span }
    }

    /// The word that an argument list gives.
    pub fn from_text(text: &Text) -> Word {
        let part = |piece: &Piece| match piece {
            Piece::Literal(text) => Part::Literal(text.clone()),
            Piece::Free(origin) => Part::Free(*origin),
            Piece::Rest(origin) => Part::Rest(*origin),
        };
        let parts = text.pieces().iter().map(|p| Anchored { part: part(p), at: 0 }).collect();
        Word { parts, span: Span::default() }
    }

    /// Appends a part.
    pub fn push(&mut self, part: Part, at: u32) {
        self.parts.push(Anchored { part, at });
    }

    /// The whole word, if no part is undecided.
    pub fn text(&self) -> Option<String> {
        let mut out = String::new();
        for piece in &self.parts {
            match &piece.part {
                Part::Literal(text) => out.push_str(text),
                _ => return None,
            }
        }
        Some(out)
    }

    /// The literal text that the word starts with; empty if it starts undecided.
    pub fn leading(&self) -> String {
        let mut out = String::new();
        for piece in &self.parts {
            let Part::Literal(text) = &piece.part else { break };
            out.push_str(text);
        }
        out
    }

    /// The word for people, `…` for undecided parts.
    pub fn display(&self) -> String {
        let mut out = String::new();
        for piece in &self.parts {
            match &piece.part {
                Part::Literal(text) => out.push_str(text),
                _ => {
                    if !out.ends_with('…') {
                        out.push('…');
                    }
                }
            }
        }
        out
    }

    /// The single undecided part that the word consists of.
    pub fn only(&self) -> Option<&Part> {
        match self.parts.as_slice() {
            [one] if !matches!(one.part, Part::Literal(_)) => Some(&one.part),
            _ => None,
        }
    }

    /// The origin, if the word is one free part.
    pub fn origin(&self) -> Option<Origin> {
        match self.only() {
            Some(Part::Free(origin) | Part::Rest(origin)) => Some(*origin),
            _ => None,
        }
    }

    /// Whether some part is not literal.
    pub fn is_free(&self) -> bool {
        self.parts.iter().any(|p| !matches!(p.part, Part::Literal(_)))
    }

    /// Whether the word has no part at all, or only empty ones.
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|p| matches!(&p.part, Part::Literal(text) if text.is_empty()))
    }
}

/// Which free piece a private-use character stands for.
#[derive(Debug, Clone, Default)]
pub struct Placeholders {
    parts: Vec<Part>,
}

impl Placeholders {
    /// The character for a part; the caller pushes it into the text to be parsed.
    pub fn stand_in(&mut self, part: Part) -> char {
        let at = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        if at >= PLACEHOLDER_MAX {
            // The last one stands for all further pieces: nothing is known of any of them.
            return char::from_u32(PLACEHOLDER_BASE + PLACEHOLDER_MAX).unwrap_or(FOREIGN);
        }
        self.parts.push(part);
        char::from_u32(PLACEHOLDER_BASE + at).unwrap_or(FOREIGN)
    }

    /// The part that a character stands for, if it is of the placeholder plane.
    pub fn part(&self, c: char) -> Option<Part> {
        let at = u32::from(c).checked_sub(PLACEHOLDER_BASE)?;
        Some(self.parts.get(at as usize).cloned().unwrap_or(Part::Free(Origin::Unknown)))
    }

    /// Splits a literal text at placeholders and appends it to a word. `at` is the
    /// offset of its first byte.
    pub fn append(&self, word: &mut Word, text: &str, at: u32) {
        let mut start = 0;
        for (i, c) in text.char_indices() {
            let Some(part) = self.part(c) else { continue };
            if start < i {
                word.push(Part::Literal(text[start..i].to_owned()), offset(at, start));
            }
            word.push(part, offset(at, i));
            start = i + c.len_utf8();
        }
        if start < text.len() {
            word.push(Part::Literal(text[start..].to_owned()), offset(at, start));
        }
    }
}

fn offset(base: u32, by: usize) -> u32 {
    base.saturating_add(u32::try_from(by).unwrap_or(u32::MAX))
}

/// A text to be parsed, with what its placeholders stand for and where its bytes came from.
#[derive(Debug, Clone, Default)]
pub struct Composed {
    /// The text, with a private-use character for each free piece.
    pub text: String,
    /// What they stand for.
    pub placeholders: Placeholders,
    /// Pairs of an offset in `text` and the offset in the host that it came from, ascending.
    pub anchors: Vec<(u32, u32)>,
}

impl Composed {
    /// A plain text that is its own host.
    pub fn plain(text: &str) -> Composed {
        let mut composed = Composed::default();
        composed.push_literal(text, 0);
        composed
    }

    /// The text of a partly known string.
    pub fn from_text(text: &Text) -> Composed {
        let mut composed = Composed::default();
        let mut at = 0;
        for piece in text.pieces() {
            match piece {
                Piece::Literal(text) => {
                    composed.push_literal(text, at);
                    at = offset(at, text.len());
                }
                Piece::Free(origin) => composed.push_part(Part::Free(*origin), at),
                Piece::Rest(origin) => composed.push_part(Part::Rest(*origin), at),
            }
        }
        composed
    }

    /// The text that words joined by blanks make.
    pub fn from_words(words: &[Word]) -> Composed {
        let mut composed = Composed::default();
        for (i, word) in words.iter().enumerate() {
            if i > 0 {
                composed.push_literal(" ", word.span.start);
            }
            composed.push_word(word);
        }
        composed
    }

    /// Appends a word's parts.
    pub fn push_word(&mut self, word: &Word) {
        for piece in &word.parts {
            match &piece.part {
                Part::Literal(text) => self.push_literal(text, piece.at),
                part => self.push_part(part.clone(), piece.at),
            }
        }
    }

    fn push_literal(&mut self, text: &str, at: u32) {
        self.anchors.push((offset(0, self.text.len()), at));
        if text.chars().any(|c| u32::from(c) >= PLACEHOLDER_BASE) {
            self.text
                .extend(text.chars().map(|c| if u32::from(c) >= PLACEHOLDER_BASE { FOREIGN } else { c }));
        } else {
            self.text.push_str(text);
        }
    }

    fn push_part(&mut self, part: Part, at: u32) {
        self.anchors.push((offset(0, self.text.len()), at));
        let c = self.placeholders.stand_in(part);
        self.text.push(c);
        self.anchors.push((offset(0, self.text.len()), at));
    }

    /// The text without `length` bytes at each of these offsets, ascending; places lead where they led.
    pub(super) fn without(self, offsets: &[usize], length: usize) -> Composed {
        let mut out = Composed { placeholders: self.placeholders.clone(), ..Composed::default() };
        let mut from = 0;
        let mut anchors = self.anchors.iter().peekable();
        for end in offsets.iter().copied().chain([self.text.len()]) {
            let shift = from - out.text.len();
            out.anchors.push((offset(0, out.text.len()), self.host(offset(0, from))));
            while let Some((here, host)) = anchors.next_if(|(here, _)| (*here as usize) < end) {
                if *here as usize > from {
                    out.anchors.push((offset(0, *here as usize - shift), *host));
                }
            }
            out.text.push_str(self.text.get(from..end).unwrap_or(""));
            from = end + length;
        }
        out
    }

    /// Where an offset of `text` came from in the host.
    pub fn host(&self, at: u32) -> u32 {
        let i = self.anchors.partition_point(|&(here, _)| here <= at);
        let Some(&(here, host)) = i.checked_sub(1).and_then(|i| self.anchors.get(i)) else { return at };
        let found = host.saturating_add(at - here);
        // A stand-in is longer than what it stands for: it ends where the next stretch begins.
        match self.anchors.get(i) {
            Some(&(_, next)) if next >= host => found.min(next),
            _ => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_pieces_pass_through_as_single_characters() {
        let mut text = Text::literal("kill ");
        text.push(Piece::Free(Origin::ChildPid));
        text.push(Piece::Literal(" x".to_owned()));
        let composed = Composed::from_text(&text);
        let mut word = Word::default();
        composed.placeholders.append(&mut word, &composed.text, 0);
        assert_eq!(word.parts.len(), 3);
        assert_eq!(word.display(), "kill … x");
        assert_eq!(composed.host(0), 0);
    }

    #[test]
    fn the_placeholder_plane_in_a_text_is_no_placeholder() {
        let composed = Composed::plain("a\u{100000}b");
        let mut word = Word::default();
        composed.placeholders.append(&mut word, &composed.text, 0);
        assert!(!word.is_free());
    }
}
