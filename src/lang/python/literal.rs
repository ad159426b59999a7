//! Literals: the value of a string's pieces and of an integer.

/// Undoes the escapes of a string's content; in a raw string there are none.
pub fn unescape(content: &str, raw: bool) -> String {
    if raw || !content.contains('\\') {
        return content.to_owned();
    }
    let mut out = String::with_capacity(content.len());
    let mut chars = content.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escape) = chars.next() else {
            out.push('\\');
            break;
        };
        match escape {
            '\n' => {}
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '\\' | '\'' | '"' => out.push(escape),
            'x' => push_code(&mut out, &mut chars, 2, 16),
            'u' => push_code(&mut out, &mut chars, 4, 16),
            'U' => push_code(&mut out, &mut chars, 8, 16),
            '0'..='7' => {
                let mut value = escape.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    match chars.peek().and_then(|c| c.to_digit(8)) {
                        Some(digit) => {
                            value = value * 8 + digit;
                            chars.next();
                        }
                        None => break,
                    }
                }
                out.extend(char::from_u32(value));
            }
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out
}

/// The part of a string that a slice with written bounds takes (`::-1`, `1:-1`); `None` where a bound
/// is no number.
pub fn sliced(text: &str, slice: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let count = i64::try_from(chars.len()).ok()?;
    let mut bounds = [None; 3];
    for (at, bound) in slice.split(':').enumerate() {
        let bound = bound.trim();
        *bounds.get_mut(at)? = if bound.is_empty() { None } else { Some(bound.parse::<i64>().ok()?) };
    }
    let [start, end, step] = bounds;
    let step = step.unwrap_or(1);
    // Before the first character, or after the last, is where a walk in that direction ends.
    let (least, most) = if step < 0 { (-1, count - 1) } else { (0, count) };
    let place = |bound: Option<i64>, missing: i64| match bound {
        None => missing,
        Some(at) if at < 0 => at.saturating_add(count).clamp(least, most),
        Some(at) => at.clamp(least, most),
    };
    let (mut at, end) = if step < 0 {
        (place(start, count - 1), place(end, -1))
    } else {
        (place(start, 0), place(end, count))
    };
    let mut part = String::new();
    while step != 0 && if step < 0 { at > end } else { at < end } {
        part.extend(usize::try_from(at).ok().and_then(|at| chars.get(at)));
        at = at.saturating_add(step);
    }
    (step != 0).then_some(part)
}

fn push_code(
    out: &mut String,
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    digits: usize,
    radix: u32,
) {
    let mut value = 0u32;
    for _ in 0..digits {
        match chars.peek().and_then(|c| c.to_digit(radix)) {
            Some(digit) => {
                value = value.wrapping_mul(radix).wrapping_add(digit);
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
    let text = text.trim_end_matches('l');
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0o") => (&text[2..], 8),
        Some("0b") => (&text[2..], 2),
        _ => (text, 10),
    };
    i64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_unless_raw() {
        assert_eq!(unescape(r"a\x6b\u006bb\n\q\101", false), "akkb\n\\qA");
        assert_eq!(unescape(r"a\n", true), r"a\n");
        assert_eq!(unescape("tail\\", false), "tail\\");
    }

    #[test]
    fn integers_in_every_base() {
        assert_eq!(integer("0x0"), Some(0));
        assert_eq!(integer("1_000"), Some(1000));
        assert_eq!(integer("0L"), Some(0));
        assert_eq!(integer("1e5"), None);
    }

    #[test]
    fn slices_take_what_python_takes() {
        for (slice, want) in [
            ("::-1", "fedcba"),
            ("1:-1", "bcde"),
            ("-2:", "ef"),
            (":2", "ab"),
            ("::2", "ace"),
            ("4:1:-1", "edc"),
            ("9:", ""),
            ("-9:2", "ab"),
            (":", "abcdef"),
        ] {
            assert_eq!(sliced("abcdef", slice).as_deref(), Some(want), "{slice}");
        }
        assert_eq!(sliced("abc", "::0"), None);
        assert_eq!(sliced("abc", "n:"), None);
        assert_eq!(sliced("", "::-1").as_deref(), Some(""));
    }
}
