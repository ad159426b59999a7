//! What shells take and the grammar does not, spelled so that it does. Offsets stay, and
//! words are read from the text as it was written.
//!
//! Knows the gaps of tree-sitter-bash; no catalogue and no script's meaning.

use std::borrow::Cow;

/// The text as the grammar is given it; as long as the text itself.
pub(super) fn for_grammar(text: &str) -> Cow<'_, str> {
    let text = with_line_ends(Cow::Borrowed(text));
    let text = without_leading_backslashes(text);
    let text = with_loops_parted(text);
    with_plain_braces(with_tests_opened(with_files_read(text)))
}

/// A character beyond ASCII where the grammar looks for the digits of `{1..9}`: it asks a table of the C
/// library that ends before such characters, which reads beyond it. A letter stands for a part of a word as well.
fn with_plain_braces(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    for open in memchr::memchr_iter(b'{', bytes) {
        let after_digits = |from: usize| {
            let digits = bytes.get(from..).unwrap_or(&[]).iter().take_while(|byte| byte.is_ascii_digit());
            from + digits.count()
        };
        let first = after_digits(open + 1);
        let mut places = vec![first];
        if bytes.get(first..first + 2) == Some(b"..") {
            places.push(after_digits(first + 2));
        }
        for at in places {
            let letter = text.get(at..).and_then(|rest| rest.chars().next());
            if let Some(letter) = letter.filter(|letter| !letter.is_ascii()) {
                found.extend(at..at + letter.len_utf8());
            }
        }
    }
    replaced(text, &found, "x")
}

/// A carriage return alone ends a line for whoever reads the text, so that it hides nothing here.
fn with_line_ends(text: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let alone = |&at: &usize| {
        bytes.get(at + 1) != Some(&b'\n') && at.checked_sub(1).and_then(|i| bytes.get(i)) != Some(&b'\\')
    };
    let found: Vec<usize> = memchr::memchr_iter(b'\r', bytes).filter(alone).collect();
    replaced(text, &found, "\n")
}

/// `exec 3<>file`: the grammar has no redirection that reads and writes.
fn with_files_read(text: Cow<'_, str>) -> Cow<'_, str> {
    let found: Vec<usize> = text.match_indices("<>").map(|(at, _)| at + 1).collect();
    replaced(text, &found, " ")
}

/// `@test "name" {` of bats opens a group: without its head, the group is one to the grammar.
fn with_tests_opened(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("@test ") {
        let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let begins = text.get(line_start..at).is_some_and(|before| before.trim().is_empty());
        let line = text.get(at..).and_then(|rest| rest.lines().next()).unwrap_or("").trim_end();
        if let (true, Some(head)) = (begins, line.strip_suffix('{')) {
            found.extend(at..at + head.len());
        }
    }
    replaced(text, &found, " ")
}

/// The text with one byte for another at each of these places; they are bytes of whole characters.
fn replaced<'t>(text: Cow<'t, str>, places: &[usize], by: &str) -> Cow<'t, str> {
    if places.is_empty() {
        return text;
    }
    let mut bytes = text.into_owned().into_bytes();
    for &at in places {
        if let (Some(byte), Some(new)) = (bytes.get_mut(at), by.bytes().next()) {
            *byte = new;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text with the backslash of a line's first word blanked: the grammar takes the line end
/// before `\pkill` for no end at all. Offsets stay; the word means the same.
fn without_leading_backslashes(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('\\') {
        let letter = text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphabetic);
        let before = text.get(..at).unwrap_or("").trim_end_matches([' ', '\t']);
        if letter && before.ends_with('\n') {
            found.push(at);
        }
    }
    replaced(text, &found, " ")
}

/// The text with the blank of `for name do`, which goes over the arguments, as a separator: the
/// grammar knows only the form that has one. Offsets stay.
fn with_loops_parted(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(" do") {
        let after = text.as_bytes().get(at + 3);
        let before = text.get(..at).unwrap_or("");
        let line = before.rfind('\n').map_or(before, |end| before.get(end + 1..).unwrap_or(""));
        let mut words = line.split_whitespace().rev();
        let name = words.next().unwrap_or("");
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let is_loop = is_name && words.next() == Some("for") && words.next().is_none_or(begins_command);
        if is_loop && after.is_none_or(u8::is_ascii_whitespace) {
            found.push(at);
        }
    }
    replaced(text, &found, ";")
}

/// Whether a command may follow a word.
fn begins_command(word: &str) -> bool {
    word.ends_with([';', ')', '&', '|', '{', '(']) || matches!(word, "then" | "do" | "else" | "!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_stay() {
        for text in [
            "exec {p}<> <(:)\n",
            "a\rb\r\nc\\\rd\r",
            "  @test \"déjà vu\" {\n  run x\n}\n",
            "ls\n  \\pkill x\nfor a do x; done",
            "echo {\u{100000} {1..é} {12é..3}",
        ] {
            assert_eq!(for_grammar(text).len(), text.len(), "{text}");
        }
        assert_eq!(for_grammar("a\rb\r\nc\\\rd"), "a\nb\r\nc\\\rd");
        assert_eq!(for_grammar("@test \"é\" {\n}"), "           {\n}");
        assert_eq!(for_grammar("a {é {1é {1..é {é}é"), "a {xx {1xx {1..xx {xx}é");
        assert_eq!(for_grammar("echo @test a {"), "echo @test a {");
    }

    proptest::proptest! {
        #[test]
        fn any_text_keeps_its_length(text in "(@test |é|1|\\.\\.| |\\{|\n|\r|\\\\|<>|for a do|x){0,20}") {
            proptest::prop_assert_eq!(for_grammar(&text).len(), text.len());
        }
    }
}
