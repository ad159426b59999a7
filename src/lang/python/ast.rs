//! What ruff's parser makes of a text, as rows of the shape that tree-sitter-python gives them: it is several
//! times as fast, and knows all of today's Python. A text that it finds fault with is left to the grammar.

mod expression;
mod shallow;
mod statement;

use std::ops::Range;

use ruff_python_ast::Mod;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};

use super::tree::{Field, Kind, Rows};
use crate::base::span::Span;

/// A text without faults.
pub(super) struct Read {
    pub(super) rows: Rows,
    /// Where its comments stand, if they were asked for.
    pub(super) comments: Vec<Span>,
}

/// Reads a text, or only the ranges of it, each of whole lines; `None` if there is a fault in it, or if it is
/// nested deeper than a parser should follow.
pub(super) fn read(text: &str, ranges: &[Range<usize>], comments: bool) -> Option<Read> {
    let pieces = Pieces::new(text, ranges);
    let code = pieces.code();
    if !shallow::is_shallow(code) {
        return None;
    }
    let parsed = parse_unchecked(code, ParseOptions::from(Mode::Module));
    let Mod::Module(module) = parsed.syntax() else { return None };
    if !parsed.errors().is_empty() {
        return None;
    }
    let comments = parsed
        .tokens()
        .iter()
        .filter(|token| comments && token.kind() == TokenKind::Comment)
        .map(|token| pieces.span(token.range()))
        .collect();
    let mut writer = Writer { pieces: &pieces, code, rows: Rows::empty() };
    writer.module(module);
    Some(Read { rows: writer.rows, comments })
}

/// The chosen ranges of a text, put together.
struct Pieces<'t> {
    /// The text itself, where all of it was chosen.
    text: &'t str,
    joined: Option<String>,
    /// Where each range begins, in what was put together and in the text.
    starts: Vec<(u32, u32)>,
}

impl<'t> Pieces<'t> {
    fn new(text: &'t str, ranges: &[Range<usize>]) -> Pieces<'t> {
        let mut pieces = Pieces { text, joined: None, starts: Vec::new() };
        if !ranges.is_empty() {
            let mut joined = String::with_capacity(ranges.iter().map(|range| range.len() + 1).sum());
            for range in ranges {
                pieces.starts.push((joined.len() as u32, range.start as u32));
                joined.push_str(text.get(range.clone()).unwrap_or(""));
                if !joined.ends_with('\n') {
                    joined.push('\n');
                }
            }
            pieces.joined = Some(joined);
        }
        pieces
    }

    fn code(&self) -> &str {
        self.joined.as_deref().unwrap_or(self.text)
    }

    /// The place in the text.
    fn span(&self, range: TextRange) -> Span {
        let (start, end) = (u32::from(range.start()), u32::from(range.end()));
        // An end belongs to what stands before it; the text may lack its last line end.
        let end = if end > start { self.place(end - 1) + 1 } else { self.place(end) };
        let most = self.text.len() as u32;
        Span { start: self.place(start).min(most), end: end.min(most) }
    }

    fn place(&self, at: u32) -> u32 {
        let after = self.starts.partition_point(|(start, _)| *start <= at);
        match after.checked_sub(1).and_then(|before| self.starts.get(before)) {
            Some((start, place)) => place + (at - start),
            None => at,
        }
    }
}

/// Puts nodes into rows.
struct Writer<'p> {
    pieces: &'p Pieces<'p>,
    code: &'p str,
    rows: Rows,
}

impl Writer<'_> {
    /// A node with what `below` puts below it.
    fn node(&mut self, kind: Kind, field: Field, range: TextRange, below: impl FnOnce(&mut Self)) {
        let at = self.rows.push(kind, field, true, self.pieces.span(range));
        below(self);
        self.rows.close(at);
    }

    /// A node with nothing below it.
    fn leaf(&mut self, kind: Kind, field: Field, range: TextRange) {
        self.rows.push(kind, field, true, self.pieces.span(range));
    }

    /// A keyword or an operator: where exactly it stands is asked of none.
    fn word(&mut self, kind: Kind, field: Field, range: TextRange) {
        self.rows.push(kind, field, false, self.pieces.span(range));
    }

    /// The code of a range.
    fn text(&self, range: TextRange) -> &str {
        self.code.get(usize::from(range.start())..usize::from(range.end())).unwrap_or("")
    }
}

/// From the start of the first to the end of the last.
fn over<T: Ranged>(all: &[T]) -> Option<TextRange> {
    Some(TextRange::new(all.first()?.start(), all.last()?.end()))
}

#[cfg(test)]
mod tests;
