//! A source text, decoded, with the places of its lines.

use super::span::{LineIndex, Position, Span};

/// How the bytes of a file became text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoding {
    /// Valid UTF-8, or the encoding that the file declares.
    Clean,
    /// Not valid in its encoding: read with replacement characters.
    Lossy,
}

/// One file's text. A byte order mark is dropped before offsets are counted.
#[derive(Debug, Clone)]
pub struct Source {
    /// The decoded text.
    pub text: String,
    /// Whether decoding lost anything.
    pub decoding: Decoding,
    lines: std::sync::OnceLock<LineIndex>,
}

impl Source {
    /// A source of a text that is already decoded.
    pub fn new(text: impl Into<String>) -> Source {
        Source { text: text.into(), decoding: Decoding::Clean, lines: std::sync::OnceLock::new() }
    }

    /// Decodes bytes: drops a UTF-8 byte order mark, reads Latin-1 where a coding
    /// line (PEP 263) in the first two lines declares it, and replaces what is invalid.
    pub fn decode(bytes: Vec<u8>) -> Source {
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => rest.to_vec(),
            None => bytes,
        };
        match String::from_utf8(bytes) {
            Ok(text) => Source::new(text),
            Err(error) => {
                let bytes = error.into_bytes();
                if declares_latin1(&bytes) {
                    Source::new(bytes.iter().map(|&b| char::from(b)).collect::<String>())
                } else {
                    let mut source = Source::new(String::from_utf8_lossy(&bytes).into_owned());
                    source.decoding = Decoding::Lossy;
                    source
                }
            }
        }
    }

    /// The line starts, computed on first use.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }

    /// The line and column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        self.lines().position(&self.text, offset)
    }

    /// The text of a span; empty if the span does not lie on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

/// Whether a PEP 263 coding line in the first two lines names a Latin-1 encoding.
fn declares_latin1(bytes: &[u8]) -> bool {
    bytes.split(|&b| b == b'\n').take(2).any(|line| {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        let Some((_, rest)) = line.split_once("coding") else { return false };
        if !line.trim_start().starts_with('#') {
            return false;
        }
        let name = rest.trim_start_matches([':', '=']).trim_start();
        [
            "latin-1",
            "latin1",
            "latin_1",
            "iso-8859-1",
            "iso8859-1",
            "iso_8859_1",
            "iso-8859-15",
            "cp1252",
            "windows-1252",
            "l1",
        ]
        .iter()
        .any(|known| name.starts_with(known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin1_is_read_where_declared_and_replaced_where_not() {
        let declared = Source::decode(b"# -*- coding: latin-1 -*-\nn = 'caf\xe9'\n".to_vec());
        assert!(declared.text.contains("café"));
        assert_eq!(declared.decoding, Decoding::Clean);
        let lossy = Source::decode(b"n = 'caf\xe9'\n".to_vec());
        assert!(lossy.text.contains('\u{fffd}'));
        assert_eq!(lossy.decoding, Decoding::Lossy);
    }

    #[test]
    fn a_byte_order_mark_counts_for_nothing() {
        let source = Source::decode(b"\xef\xbb\xbfx".to_vec());
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.text, "x");
    }
}
