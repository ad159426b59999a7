//! A command text that stands inside another format, and where its bytes stand there.
//!
//! Knows how formats quote (escapes, folded lines, indentation); knows no format's structure.

use crate::base::span::Span;
use crate::base::text::{Origin, Piece, Text};

/// How a host format spells a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spelling {
    /// As it is, perhaps with indentation taken off or lines folded.
    #[default]
    Plain,
    /// With backslash escapes.
    Escaped,
    /// With character references (`&amp;`).
    Markup,
}

/// A text taken out of a host file. Offsets count its literal bytes; a free piece has none.
#[derive(Debug, Clone, Default)]
pub struct Fragment {
    /// What the shell is given.
    pub text: Text,
    /// Pairs of an offset in the text and the host's offset, ascending.
    anchors: Vec<(u32, u32)>,
    length: usize,
    /// The value's place in the host.
    pub span: Span,
}

impl Fragment {
    /// An empty fragment at a place.
    pub fn at(span: Span) -> Fragment {
        Fragment { span, ..Fragment::default() }
    }

    /// A value and its place: each character is found again in the host's own spelling.
    pub fn of_value(host: &str, span: Span, value: &str, spelling: Spelling) -> Fragment {
        let mut fragment = Fragment::at(span);
        fragment.append_value(host, span, value, spelling);
        fragment
    }

    /// A stretch of the host itself.
    pub fn of_host(host: &str, span: Span) -> Fragment {
        let mut fragment = Fragment::at(span);
        fragment.literal(host.get(span.range()).unwrap_or(""), span.start);
        fragment
    }

    /// Appends literal text whose first byte stands at `at` in the host.
    pub fn literal(&mut self, text: &str, at: u32) {
        if text.is_empty() {
            return;
        }
        self.anchors.push((u32::try_from(self.length).unwrap_or(u32::MAX), at));
        self.text.push(Piece::Literal(text.to_owned()));
        self.length += text.len();
    }

    /// Appends a piece that is not known.
    pub fn free(&mut self) {
        self.text.push(Piece::Free(Origin::Unknown));
    }

    /// Appends a value. `{{ … }}` and `${{ … }}` are a template's free pieces.
    pub fn append_value(&mut self, host: &str, span: Span, value: &str, spelling: Spelling) {
        let raw = host.get(span.range()).unwrap_or("");
        let mut at = 0usize;
        let mut rest = value;
        while let Some((before, tail)) = before_action(rest) {
            at = self.align(raw, span.start, at, before, spelling);
            self.free();
            at = raw.get(at..).and_then(|r| r.find("}}")).map_or(at, |found| at + found + 2);
            rest = tail;
        }
        self.align(raw, span.start, at, rest, spelling);
    }

    /// Appends literal text, a line at a time, each found again in `raw` from `at` on; gives the offset after it.
    fn align(&mut self, raw: &str, base: u32, mut at: usize, text: &str, spelling: Spelling) -> usize {
        for line in text.split_inclusive('\n') {
            let Some(first) = line.chars().next() else { continue };
            if first != '\n' {
                at = skip_to(raw, at, first, spelling);
            }
            self.literal(line, base.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)));
            for c in line.chars() {
                at = step(raw, at, c, spelling);
            }
        }
        at
    }

    /// Where an offset of the text stands in the host.
    pub fn host(&self, at: u32) -> u32 {
        let i = self.anchors.partition_point(|&(here, _)| here <= at);
        match i.checked_sub(1).and_then(|i| self.anchors.get(i)) {
            Some(&(here, host)) => host.saturating_add(at - here),
            None => self.anchors.first().map_or(self.span.start, |&(_, host)| host),
        }
    }

    /// Where a span of the text stands in the host.
    pub fn host_span(&self, span: Span) -> Span {
        let start = self.host(span.start);
        let end = self.host(span.end.saturating_sub(1)).saturating_add(1);
        Span { start, end: end.max(start) }
    }
}

/// What stands before a text's first action, and what after it. `{{` alone opens one that ends on its line: over
/// line ends it would take the commands between for its own.
fn before_action(text: &str) -> Option<(&str, &str)> {
    for (at, _) in text.match_indices("{{") {
        let (inside, tail) = text.get(at + 2..)?.split_once("}}")?;
        let before = text.get(..at)?;
        match before.strip_suffix('$') {
            Some(before) => return Some((before, tail)),
            None if !inside.contains('\n') => return Some((before, tail)),
            None => {}
        }
    }
    None
}

/// The offset of the next place in `raw` that can spell `c`.
fn skip_to(raw: &str, at: usize, c: char, spelling: Spelling) -> usize {
    let rest = raw.get(at..).unwrap_or("");
    for (i, here) in rest.char_indices() {
        let escape = (here == '\\'
            && spelling == Spelling::Escaped
            && escaped(rest.get(i..).unwrap_or("")).0 == Some(c))
            || (here == '&' && spelling == Spelling::Markup);
        if here == c || escape {
            return at + i;
        }
    }
    at
}

/// The offset after what spells `c`.
fn step(raw: &str, at: usize, c: char, spelling: Spelling) -> usize {
    let rest = raw.get(at..).unwrap_or("");
    let Some(here) = rest.chars().next() else { return at };
    if here == '\\' && spelling == Spelling::Escaped {
        let (meant, length) = escaped(rest);
        if meant == Some(c) {
            return at + length;
        }
    }
    if here == '&' && spelling == Spelling::Markup && c != '&' || (here == '&' && rest.starts_with("&amp;")) {
        return at + rest.find(';').map_or(1, |end| end + 1);
    }
    if here == c {
        return at + here.len_utf8();
    }
    if c == '\n' || c == ' ' {
        // A folded line end, or one that an escape spells: the indentation after it is skipped with the next character.
        return if here.is_whitespace() { at + here.len_utf8() } else { at };
    }
    let found = skip_to(raw, at, c, spelling);
    if found == at { at } else { step(raw, found, c, spelling) }
}

/// What the escape at the start of `rest` means, and its length.
fn escaped(rest: &str) -> (Option<char>, usize) {
    let mut chars = rest.chars();
    chars.next();
    match chars.next() {
        Some('n') => (Some('\n'), 2),
        Some('t') => (Some('\t'), 2),
        Some('r') => (Some('\r'), 2),
        Some('u') => {
            let code = rest.get(2..6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
            (code.and_then(char::from_u32), 6)
        }
        Some('x') => {
            let code = rest.get(2..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
            (code.and_then(char::from_u32), 4)
        }
        Some(other) => (Some(other), 1 + other.len_utf8()),
        None => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_found_again_in_the_host() {
        let host = r#"{"a": "x \"y\"\npkill z"}"#;
        let start = host.find("\"x").unwrap();
        let fragment =
            Fragment::of_value(host, Span::new(start, host.len() - 1), "x \"y\"\npkill z", Spelling::Escaped);
        let at = "x \"y\"\npkill z".find("pkill").unwrap() as u32;
        assert_eq!(&host[fragment.host(at) as usize..][..5], "pkill");
    }

    #[test]
    fn indentation_is_skipped() {
        let host = "run: |\n    set -e\n    pkill z\n";
        let value = "set -e\npkill z\n";
        let fragment = Fragment::of_value(host, Span::new(5, host.len()), value, Spelling::Plain);
        let at = value.find("pkill").unwrap() as u32;
        assert_eq!(&host[fragment.host(at) as usize..][..5], "pkill");
    }

    #[test]
    fn templates_are_free() {
        let host = "pkill ${{ a.b }}-x {{ c }} y";
        let fragment = Fragment::of_value(host, Span::new(0, host.len()), host, Spelling::Plain);
        assert_eq!(fragment.text.display(), "pkill …-x … y");
        assert_eq!(fragment.host(6), host.find("-x").unwrap() as u32);
        // Over line ends only `${{` is one.
        for (host, want) in [
            ("a {{\npkill x\n}} b {{ c }}", "a {{\npkill x\n}} b …"),
            ("a ${{ b\n&& c }} d", "a … d"),
            ("a {{ b", "a {{ b"),
        ] {
            let fragment = Fragment::of_value(host, Span::new(0, host.len()), host, Spelling::Plain);
            assert_eq!(fragment.text.display(), want);
        }
    }
}
