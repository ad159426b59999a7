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

    fn decode_wide(bytes: &[u8], big: bool) -> Source {
        let units = bytes.get(2..).unwrap_or(&[]).chunks(2).map(|pair| match (pair, big) {
            ([a, b], true) => u16::from_be_bytes([*a, *b]),
            ([a, b], false) => u16::from_le_bytes([*a, *b]),
            // Half a unit at the end is none.
            _ => 0xd800,
        });
        let mut lossy = false;
        let text: String = char::decode_utf16(units)
            .map(|c| {
                c.unwrap_or_else(|_| {
                    lossy = true;
                    char::REPLACEMENT_CHARACTER
                })
            })
            .collect();
        let mut source = Source::new(text);
        if lossy {
            source.decoding = Decoding::Lossy;
        }
        source
    }

    /// Decodes bytes: UTF-16 with a byte order mark; drops a UTF-8 byte order mark, reads Latin-1 where a coding
    /// line (PEP 263) in the first two lines declares it, and replaces what is invalid.
    pub fn decode(bytes: Vec<u8>) -> Source {
        if let Some(big) = wide(&bytes) {
            return Source::decode_wide(&bytes, big);
        }
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

/// Whether bytes begin with a byte order mark of UTF-16; true is the big end first.
pub fn wide(bytes: &[u8]) -> Option<bool> {
    match bytes.get(..2)? {
        b"\xfe\xff" => Some(true),
        b"\xff\xfe" => Some(false),
        _ => None,
    }
}

/// The encoding that a PEP 263 coding line in the first two lines names, in lower case.
pub fn declared_encoding(bytes: &[u8]) -> Option<String> {
    bytes.split(|&b| b == b'\n').take(2).find_map(|line| {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        if !line.trim_start().starts_with('#') {
            return None;
        }
        let after = |(at, word): (usize, &str)| line.get(at + word.len()..)?.strip_prefix([':', '=']);
        let name = line.match_indices("coding").find_map(after)?.trim_start_matches([' ', '\t']);
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
        let name = name.get(..end.unwrap_or(name.len()))?;
        (!name.is_empty()).then(|| name.replace('_', "-"))
    })
}

/// Whether in an encoding each ASCII byte means the ASCII character, so that code in it reads the same.
pub fn keeps_ascii(encoding: &str) -> bool {
    let plain: String = encoding.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let starts = |names: &[&str]| names.iter().any(|name| plain.starts_with(name));
    matches!(
        plain.as_str(),
        "utf8" | "utf8sig" | "utf8unix" | "utf8dos" | "utf8mac" | "u8" | "ascii" | "usascii" | "646" | "l1"
    ) || starts(&[
        "latin",
        "iso8859",
        "88591",
        "cp125",
        "windows125",
        "koi8",
        "euc",
        "gb",
        "big5",
        "cp437",
        "cp85",
        "cp86",
        "cp93",
        "cp949",
        "cp950",
        "ms949",
        "sjis",
        "shiftjis",
        "mac",
        "tis620",
        "hz",
        "kz1048",
        "ptcp154",
        "cp720",
        "cp737",
        "cp775",
        "cp874",
        "cp65001",
    ])
}

/// Whether a PEP 263 coding line names a Latin-1 encoding.
fn declares_latin1(bytes: &[u8]) -> bool {
    let name = declared_encoding(bytes).unwrap_or_default();
    ["latin-1", "latin1", "iso-8859-1", "iso8859-1", "cp1252", "windows-1252", "l1"]
        .iter()
        .any(|known| name.starts_with(known))
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
    fn utf_16_is_read_by_its_byte_order_mark() {
        for text in [&b"\xff\xfea\x00\n\x00"[..], b"\xfe\xff\x00a\x00\n"] {
            let source = Source::decode(text.to_vec());
            assert_eq!((source.text.as_str(), source.decoding), ("a\n", Decoding::Clean));
        }
        assert_eq!(Source::decode(b"\xff\xfea".to_vec()).decoding, Decoding::Lossy);
    }

    #[test]
    fn an_encoding_that_changes_ascii_is_told_apart() {
        let declared = |line: &str| declared_encoding(line.as_bytes());
        assert_eq!(declared("# -*- coding: UTF_8 -*-\n").as_deref(), Some("utf-8"));
        assert_eq!(declared("#!/usr/bin/python\n# vim: fileencoding=utf-7 :\n").as_deref(), Some("utf-7"));
        for none in ["x = 1  # coding: utf-7\n", "# encoding utf-7\n", "\n\n# coding: utf-7\n"] {
            assert_eq!(declared(none), None, "{none}");
        }
        for name in ["utf-8", "latin-1", "iso-8859-15", "cp1252", "euc-jp", "gbk", "shift-jis", "ascii"] {
            assert!(keeps_ascii(name), "{name}");
        }
        for name in ["utf-7", "utf-16", "cp037", "rot13", "unicode-escape", "foobar"] {
            assert!(!keeps_ascii(name), "{name}");
        }
    }

    #[test]
    fn a_byte_order_mark_counts_for_nothing() {
        let source = Source::decode(b"\xef\xbb\xbfx".to_vec());
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.text, "x");
    }
}
