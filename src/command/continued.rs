//! Line ends that a backslash hides: the shell takes both out before it looks for words,
//! so that `pk\⏎ill` is one word.
//!
//! Knows quotes, comments and here-documents as far as it takes to tell where a backslash
//! is one; no catalogue.

use super::word::Composed;

/// What a piece of text stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Commands, down to the closing bracket if there is an opening one.
    Code,
    /// Commands between backquotes.
    Backquotes,
    /// Double quotes.
    Double,
}

/// A here-document whose lines are still to come.
struct Document {
    end: String,
    literal: bool,
    tabs: bool,
}

/// Takes the hidden line ends out; places still lead to where the bytes came from.
pub(super) fn rejoined(composed: Composed) -> Composed {
    let hidden = hidden(&composed.text);
    if hidden.is_empty() { composed } else { composed.without(&hidden, 2) }
}

/// The offsets of the backslashes that hide a line end inside a word.
fn hidden(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    if memchr::memmem::find(bytes, b"\\\n").is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // What is open, and how many `case` of it: their patterns end with a bracket that nothing opened.
    let mut open = vec![(Within::Code, 0u32)];
    let mut documents: Vec<Document> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let (within, cases) = open.last().copied().unwrap_or((Within::Code, 0));
        let code = within != Within::Double;
        let before = at.checked_sub(1).and_then(|i| bytes.get(i)).copied();
        match byte {
            b'\\' => {
                // In double quotes, whoever takes the quotes off takes it out.
                if code && bytes.get(at + 1) == Some(&b'\n') && inside(text, at) {
                    found.push(at);
                }
                at += 1;
            }
            b'\'' if code => at = quoted_end(bytes, at, before == Some(b'$')),
            b'"' if code => open.push((Within::Double, 0)),
            b'"' => drop(open.pop()),
            b'`' if within == Within::Backquotes => drop(open.pop()),
            b'`' => open.push((Within::Backquotes, 0)),
            b'(' if code || before == Some(b'$') => open.push((Within::Code, 0)),
            b')' if within == Within::Code && open.len() > 1 && cases == 0 => drop(open.pop()),
            b'c' | b'e' if code && before.is_none_or(begins_word) => {
                let change = keyword(text, at);
                if let Some((_, cases)) = open.last_mut() {
                    *cases = cases.saturating_add_signed(change);
                }
            }
            b'#' if code && before.is_none_or(begins_word) => {
                at = memchr::memchr2(b'\n', b'\r', bytes.get(at..).unwrap_or(&[]))
                    .map_or(bytes.len(), |end| at + end);
                continue;
            }
            b'<' if code && bytes.get(at + 1) == Some(&b'<') => {
                if bytes.get(at + 2) == Some(&b'<') {
                    at += 2;
                } else if let Some((document, end)) = document(text, at + 2) {
                    documents.push(document);
                    at = end;
                    continue;
                }
            }
            b'\n' if !documents.is_empty() => {
                at = lines_end(text, at + 1, std::mem::take(&mut documents), &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// How the word at `at` changes the number of `case` that are open: 1 for one that begins, -1 for `esac`.
fn keyword(text: &str, at: usize) -> i32 {
    let (before, word) = (text.get(..at).unwrap_or(""), text.get(at..).unwrap_or(""));
    let is = |name: &str| {
        let ends = |rest: &str| rest.starts_with(|c: char| c.is_whitespace() || ";&|)".contains(c));
        word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || ends(rest))
    };
    if is("esac") {
        return -1;
    }
    // An argument may be called so: only where a command begins.
    let before = before.trim_end_matches([' ', '\t']);
    let command = before.is_empty()
        || before.ends_with(['\n', ';', '&', '|', '(', '{', '`', ')'])
        || ["do", "then", "else", "!"].iter().any(|word| before.ends_with(word));
    i32::from(command && is("case"))
}

/// Whether a hidden line end stands inside a word: beside a blank it only parts words.
fn inside(text: &str, at: usize) -> bool {
    let (before, after) = (text.get(..at).unwrap_or(""), text.get(at + 2..).unwrap_or(""));
    let blank = |c: char| c.is_whitespace();
    !before.is_empty() && !after.is_empty() && !before.ends_with(blank) && !after.starts_with(blank)
}

/// Whether a `#` after this byte begins a comment.
fn begins_word(before: u8) -> bool {
    before.is_ascii_whitespace() || matches!(before, b';' | b'&' | b'|' | b'(' | b')' | b'`')
}

/// The offset of the quote that ends the one at `at`; of `$'…'` where a backslash keeps one.
fn quoted_end(bytes: &[u8], at: usize, escapes: bool) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' if escapes => end += 1,
            b'\'' => break,
            _ => {}
        }
        end += 1;
    }
    end
}

/// The here-document that `<<` before `at` announces, and the offset after its delimiter.
fn document(text: &str, at: usize) -> Option<(Document, usize)> {
    let rest = text.get(at..)?;
    let tabs = rest.starts_with('-');
    let blanks = rest.get(usize::from(tabs)..)?;
    let word = blanks.trim_start_matches([' ', '\t']);
    let length = word
        .find(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')'))
        .unwrap_or(word.len());
    let raw = word.get(..length)?;
    let end: String = raw.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let literal = end.len() != raw.len();
    let shift = end.starts_with(|c: char| c.is_ascii_digit());
    (!end.is_empty() && !shift).then(|| (Document { end, literal, tabs }, text.len() - word.len() + length))
}

/// The offset after the lines of here-documents; a hidden line end in a literal one is text.
fn lines_end(text: &str, mut at: usize, documents: Vec<Document>, found: &mut Vec<usize>) -> usize {
    for document in documents {
        let (mut end, mut hidden) = (at, Vec::new());
        for line in text.get(at..).unwrap_or("").split_inclusive('\n') {
            end += line.len();
            let body = line.trim_end_matches(['\n', '\r']);
            let body = if document.tabs { body.trim_start_matches('\t') } else { body };
            if body == document.end {
                // One that does not end is none: `<<` was a shift.
                found.append(&mut hidden);
                at = end;
                break;
            }
            let slash = end.checked_sub(2).filter(|_| line.ends_with("\\\n") && !document.literal);
            hidden.extend(slash.filter(|&slash| inside(text, slash)));
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> String {
        rejoined(Composed::plain(text)).text
    }

    #[test]
    fn a_line_end_inside_a_word_is_taken_out() {
        assert_eq!(joined("pk\\\nill -f x"), "pkill -f x");
        assert_eq!(joined("echo \"a$(pk\\\nill x)\" `pk\\\nill y`"), "echo \"a$(pkill x)\" `pkill y`");
        assert_eq!(joined("cat <<E\npk\\\nill\nE\npk\\\nill x"), "cat <<E\npkill\nE\npkill x");
        assert_eq!(
            joined("echo \"$(case a in a) pk\\\nill x;; esac)\""),
            "echo \"$(case a in a) pkill x;; esac)\""
        );
        // Beside a blank it parts words, as it does for the grammar.
        assert_eq!(joined("pkill \\\n  -f x\\\n y"), "pkill \\\n  -f x\\\n y");
    }

    #[test]
    fn text_that_only_looks_like_one_stays() {
        for text in [
            "true # x\\\npkill -f mcp_server.py",
            "true;#x\\\npkill x",
            "echo 'a\\\nb'",
            "cat <<'E'\na\\\nb\nE\n",
            "cat <<-\\E\na\\\nb\n\tE\n",
            "echo \"$(true # x\\\npkill x)\"",
            "echo $'\\'# a\\\nb'",
            ": $((1 << a))\n# x\\\npkill x\n",
            ": $((1<<2))\n# x\\\npkill x\n2\n",
            "echo \"$(case a in a) true # x\\\npkill x;; esac)\"",
            "echo \"$(echo case) it's # \\\nb\"",
        ] {
            assert_eq!(joined(text), text, "{text}");
        }
        // A `#` inside a word, after a dollar sign and in quotes begins no comment.
        assert_eq!(joined("a#b $# ${#c} \"# d\" pk\\\nill"), "a#b $# ${#c} \"# d\" pkill");
    }

    #[test]
    fn places_lead_to_the_text_as_written() {
        let composed = rejoined(Composed::plain("ls\npk\\\nill x; k\\\nill y"));
        assert_eq!(composed.text, "ls\npkill x; kill y");
        assert_eq!(composed.host(3), 3);
        assert_eq!(composed.host(5), 7);
        assert_eq!(composed.host(11), 13);
        assert_eq!((composed.host(12), composed.host(13)), (14, 17));
    }

    proptest::proptest! {
        #[test]
        fn what_is_left_stands_where_it_stood(text in "(a|é| |\\\\\n|\n|'|\"|`|\\$\\(|\\(|\\)|#|<<E|E\n|<<'E'|;){0,24}") {
            let composed = rejoined(Composed::plain(&text));
            for (at, c) in composed.text.char_indices() {
                let host = composed.host(u32::try_from(at).unwrap()) as usize;
                proptest::prop_assert_eq!(text[host..].chars().next(), Some(c));
            }
            // Only hidden line ends are gone.
            proptest::prop_assert_eq!(composed.text.replace("\\\n", ""), text.replace("\\\n", ""));
        }
    }
}
