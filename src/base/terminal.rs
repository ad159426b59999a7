//! Text from a checkout made safe for a terminal: a name or a line of a file may hold
//! escape sequences, and none of them is ever sent raw.

/// Whether a character can steer a terminal or reorder what is shown.
pub fn steers(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text with every steering character shown as an escape (`\u{1b}`). Line ends and tabs stay.
pub fn visible(text: &str) -> String {
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    text.chars().fold(String::with_capacity(text.len() + 8), |mut out, c| {
        if steers(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
        out
    })
}

/// The text on one line: [`visible`], with line ends and tabs shown as blanks.
pub fn one_line(text: &str) -> String {
    visible(&text.replace(['\n', '\r', '\t'], " "))
}

/// The text with every steering character replaced by a stand-in of the same length in
/// bytes, so that spans into the original fit the result. `\r` before `\n` stays.
pub fn same_length(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !steers(c) || (c == '\r' && rest.peek() == Some(&'\n')) {
            out.push(c);
        } else {
            out.push_str(match c.len_utf8() {
                1 => "?",
                2 => "\u{bf}",
                _ => "\u{fffd}",
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steering_survives_and_offsets_hold() {
        let text = "a\u{1b}[31mb\u{9b}c\u{202e}d\r\ne\rf";
        for safe in [visible(text), same_length(text)] {
            assert!(!safe.replace("\r\n", "\n").chars().any(steers), "{safe:?}");
        }
        assert_eq!(same_length(text).len(), text.len());
        assert_eq!(visible("plain\ttext\n"), "plain\ttext\n");
        assert_eq!(one_line("a\nb"), "a b");
    }
}
