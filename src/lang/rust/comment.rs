//! A scanner for what syn drops or cannot read: comments, and the bare tokens of a file that
//! does not parse. It knows strings, raw strings, characters, lifetimes and nested comments.

/// What the scanner finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `//…` or `/*…*/`, doc comments too.
    Comment,
    /// An identifier or keyword; `r#` stays.
    Word,
    /// A string literal without escapes to undo: the content lies between the quotes.
    String,
    /// Any other single character that is no white space.
    Mark,
}

/// A token: kind, and byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The tokens of a text in order. Never fails: what is open at the end ends there.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let start = at;
        let first = *bytes.get(at)?;
        let (kind, end) = match first {
            b'/' if bytes.get(at + 1) == Some(&b'/') => (Kind::Comment, line_end(bytes, at)),
            b'/' if bytes.get(at + 1) == Some(&b'*') => (Kind::Comment, block_end(bytes, at)),
            b'"' => (Kind::String, string_end(bytes, at + 1)),
            b'\'' => (Kind::Mark, quote_end(text, at)),
            _ if first == b'_' || first.is_ascii_alphabetic() || first >= 0x80 => {
                match literal_after_prefix(bytes, at) {
                    Some(end) => (Kind::String, end),
                    None => (Kind::Word, word_end(bytes, at)),
                }
            }
            _ => (Kind::Mark, at + 1),
        };
        at = end.max(start + 1).min(bytes.len());
        while !text.is_char_boundary(at) {
            at += 1;
        }
        Some(Token { kind, start, end: at })
    })
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(bytes.len(), |n| from + n)
}

fn block_end(bytes: &[u8], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0usize);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => {
                depth += 1;
                at += 2;
            }
            (b'*', Some(b'/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A character literal, or a lifetime's mark.
fn quote_end(text: &str, at: usize) -> usize {
    let rest = text.get(at + 1..).unwrap_or("");
    let mut chars = rest.char_indices();
    match chars.next() {
        Some((_, '\\')) => {
            // The escaped character may be the quote itself.
            let escaped = chars.next().map_or(0, |(n, c)| n + c.len_utf8());
            rest.get(escaped..).and_then(|r| r.find('\'')).map_or(at + 1, |n| at + 1 + escaped + n + 1)
        }
        Some((_, c)) if rest[c.len_utf8()..].starts_with('\'') => at + 1 + c.len_utf8() + 1,
        _ => at + 1,
    }
}

/// `r"…"`, `r#"…"#`, `b"…"`, `br"…"`, `c"…"`: where the literal ends.
fn literal_after_prefix(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at;
    while matches!(bytes.get(from), Some(b'b' | b'c' | b'r')) && from < at + 2 {
        from += 1;
    }
    let raw = bytes.get(at..from)?.contains(&b'r');
    match bytes.get(from)? {
        b'"' if raw => Some(raw_end(bytes, from, 0)),
        b'"' if from > at => Some(string_end(bytes, from + 1)),
        b'#' if raw => {
            let hashes = bytes.get(from..)?.iter().take_while(|b| **b == b'#').count();
            (bytes.get(from + hashes) == Some(&b'"')).then(|| raw_end(bytes, from + hashes, hashes))
        }
        _ => None,
    }
}

/// The end of a raw string whose opening quote stands at `quote`.
fn raw_end(bytes: &[u8], quote: usize, hashes: usize) -> usize {
    let mut at = quote + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        at += found + 1;
        let closing = bytes.get(at..at + hashes);
        if closing.is_some_and(|c| c.iter().all(|b| *b == b'#')) {
            return at + hashes;
        }
    }
    bytes.len()
}

fn word_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    if bytes.get(at) == Some(&b'r') && bytes.get(at + 1) == Some(&b'#') {
        at += 2;
    }
    while bytes.get(at).is_some_and(|b| *b == b'_' || b.is_ascii_alphanumeric() || *b >= 0x80) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(text: &str) -> Vec<&str> {
        tokens(text).filter(|t| t.kind == Kind::Comment).map(|t| &text[t.start..t.end]).collect()
    }

    #[test]
    fn comments_are_told_from_strings_and_characters() {
        let text = r####"a("// no", r#"/* no " */"#, '"', '\'', b'"', 'x') // yes
/* one /* two */ still */ let l: &'a str = "\"// no"; 'out: loop {} // also"####;
        assert_eq!(comments(text), ["// yes", "/* one /* two */ still */", "// also"]);
    }

    #[test]
    fn what_is_open_at_the_end_ends_there() {
        for text in ["/* a /* b */", "\"abc\\", "r#\"x\"", "'", "'\\", "r#", "é'é"] {
            let last = tokens(text).last().unwrap();
            assert_eq!(last.end, text.len(), "{text}");
        }
    }
}
