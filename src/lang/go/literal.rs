//! Literals: the value of a string's text and of an integer.

/// Undoes the escapes of an interpreted string's content.
pub fn unescape(content: &str) -> String {
    if !content.contains('\\') {
        return content.to_owned();
    }
    let mut out = String::with_capacity(content.len());
    let mut chars = content.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            None => {}
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('x') => push_code(&mut out, &mut chars, 2),
            Some('u') => push_code(&mut out, &mut chars, 4),
            Some('U') => push_code(&mut out, &mut chars, 8),
            Some(other) => out.push(other),
        }
    }
    out
}

/// Reads up to `digits` hexadecimal digits.
fn push_code(out: &mut String, chars: &mut std::iter::Peekable<std::str::Chars<'_>>, digits: usize) {
    let mut value = 0u32;
    for _ in 0..digits {
        match chars.peek().and_then(|c| c.to_digit(16)) {
            Some(digit) => {
                value = value.wrapping_mul(16).wrapping_add(digit);
                chars.next();
            }
            None => break,
        }
    }
    out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
}

/// The value of an integer literal, if it fits.
pub fn integer(text: &str) -> Option<i64> {
    let text = text.replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0o") => (&text[2..], 8),
        Some("0b") => (&text[2..], 2),
        _ => (text.as_str(), 10),
    };
    i64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape(r"a\x6b\u006b\U0000006b\n\\"), "akkk\n\\");
        assert_eq!(unescape("tail\\"), "tail");
    }

    #[test]
    fn integers_in_every_base() {
        assert_eq!(integer("0x0"), Some(0));
        assert_eq!(integer("1_000"), Some(1000));
        assert_eq!(integer("1.5"), None);
    }
}
