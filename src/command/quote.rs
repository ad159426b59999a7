//! Quote removal: what backslashes and `$'…'` leave. Knows single texts only.

use super::word::{Placeholders, Word};

/// Which backslashes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escapes {
    /// Outside quotes: each one.
    Bare,
    /// In double quotes and here-documents: before `$`, `` ` ``, `"`, `\` and a line end.
    Double,
    /// None.
    Raw,
}

/// Appends a source text to a word with its backslashes taken out. `at` is the offset of
/// its first byte; each stretch between backslashes keeps its own place.
pub fn append(word: &mut Word, placeholders: &Placeholders, text: &str, at: u32, escapes: Escapes) {
    if escapes == Escapes::Raw || !text.contains('\\') {
        placeholders.append(word, text, at);
        return;
    }
    let place = |i: usize| at.saturating_add(u32::try_from(i).unwrap_or(u32::MAX));
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        if c != '\\' {
            continue;
        }
        let Some(&(next_at, next)) = chars.peek() else { break };
        let counts = escapes == Escapes::Bare || matches!(next, '$' | '`' | '"' | '\\' | '\n');
        if !counts {
            continue;
        }
        placeholders.append(word, &text[start..i], place(start));
        chars.next();
        start = if next == '\n' { next_at + 1 } else { next_at };
    }
    placeholders.append(word, text.get(start..).unwrap_or(""), place(start));
}

/// Whether a word's source has braces that make several words, or a wildcard, outside quotes.
pub fn expands(source: &str) -> bool {
    let bytes = source.as_bytes();
    let mut at = 0;
    let mut quote = None;
    let mut depth = 0usize;
    let (mut opened, mut comma, mut bracket) = (false, false, false);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match (quote, byte) {
            (Some(b'"') | None, b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'$') => {
                // An expansion: `$?`, `${…}`, `$(…)`; what stands in it is looked at for itself.
                match bytes.get(at) {
                    Some(b'{' | b'(') => depth += 1,
                    Some(b'?' | b'*' | b'$' | b'!' | b'#' | b'@') => {}
                    _ => continue,
                }
                at += 1;
            }
            (None, b'{' | b'(') if depth > 0 => depth += 1,
            (None, b'}' | b')') if depth > 0 => depth -= 1,
            (None, _) if depth > 0 => {}
            (None, b'*' | b'?') => return true,
            (None, b'[') => bracket = true,
            (None, b']') if bracket => return true,
            (None, b'{') => opened = true,
            (None, b',') => comma |= opened,
            (None, b'.') => comma |= opened && bytes.get(at) == Some(&b'.'),
            (None, b'}') if comma => return true,
            (None, _) => {}
        }
    }
    false
}

/// The text of a `$'…'` string, given without its quotes.
pub fn ansi_c(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let mut digits = |radix: u32, most: usize| {
            let mut value = 0u32;
            let mut any = false;
            for _ in 0..most {
                let Some(d) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                value = value.saturating_mul(radix).saturating_add(d);
                any = true;
                chars.next();
            }
            any.then_some(value)
        };
        if let Some(value) = digits(8, 3) {
            out.extend(char::from_u32(value & 0xFF));
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('e' | 'E') => out.push('\u{1b}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some(kind @ ('x' | 'u' | 'U')) => {
                let most = match kind {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let mut value = None;
                for _ in 0..most {
                    let Some(d) = chars.peek().and_then(|c| c.to_digit(16)) else { break };
                    value = Some(value.unwrap_or(0u32).saturating_mul(16).saturating_add(d));
                    chars.next();
                }
                out.extend(value.and_then(char::from_u32));
            }
            Some('c') => {
                chars.next();
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, escapes: Escapes) -> String {
        let mut word = Word::default();
        append(&mut word, &Placeholders::default(), text, 0, escapes);
        word.text().unwrap()
    }

    #[test]
    fn backslashes_go_as_the_quotes_say() {
        assert_eq!(plain(r"\pk\ill", Escapes::Bare), "pkill");
        assert_eq!(plain("a\\\nb", Escapes::Bare), "ab");
        assert_eq!(plain(r#"\n\"\$"#, Escapes::Double), r#"\n"$"#);
        assert_eq!(plain(r"\é\", Escapes::Bare), r"é\");
    }

    #[test]
    fn braces_and_wildcards_count_outside_quotes() {
        for word in ["{a,b}", "a{1..3}", "p*", "p?", "[p]kill", "x\"y\"*", "a'b'{c,}", "$x*"] {
            assert!(expands(word), "{word}");
        }
        for word in ["{}", "a", "'*'", "\"[a]\"", "\\*", "$?", "${x[*]}", "$(ls *)", "$*", "{a}", "[", "a,b"]
        {
            assert!(!expands(word), "{word}");
        }
    }

    #[test]
    fn ansi_c_strings_are_decoded() {
        assert_eq!(ansi_c(r"\x70kill"), "pkill");
        assert_eq!(ansi_c(r"\160kill\n"), "pkill\n");
        assert_eq!(ansi_c(r"\u0070\"), "p");
    }
}
