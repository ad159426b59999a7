//! Templates of YAML, as Helm's charts have them: `{{ … }}` is no YAML, and what stands
//! around it is read all the same.
//!
//! Knows how an action stands in a line; knows no format that is written in YAML.

use super::data::Data;

/// What stands for `{{` and `}}` while YAML is read: two bytes each, and of no alphabet.
const OPEN: char = '\u{7be}';
const CLOSE: char = '\u{7bf}';

/// Reads YAML; a text with actions is read without them: where it is none otherwise, or where `template` says
/// that it is one. Places and values are those of the text: an action in a value is a free piece of it.
pub(super) fn yaml(text: &str, template: bool) -> Data {
    if !text.contains("{{") || text.contains([OPEN, CLOSE]) {
        return Data::yaml(text);
    }
    if !template {
        let data = Data::yaml(text);
        if data.fault.is_none() {
            return data;
        }
    }
    let mut read = Data::yaml(&masked(text));
    let comment = format!("#{OPEN}");
    read.retext(|value| {
        let value = value.contains(OPEN).then(|| value.replace(&comment, "{{_"))?;
        Some(value.replace(OPEN, "{{").replace(CLOSE, "}}"))
    });
    read
}

/// The text without its actions, as long as it was: one that has its lines to itself is blank, one in a
/// value is a word. At the beginning of a text of several lines it is a comment, since blanks would indent
/// that text.
fn masked(text: &str) -> String {
    let pieces = pieces(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = pieces.as_slice();
    let mut begins = false;
    while !rest.is_empty() {
        // A line, and those that its actions go on to.
        let end =
            rest.iter().position(|p| !p.action && p.text.ends_with('\n')).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        let alone = line.iter().all(|p| p.action || p.text.trim().is_empty());
        let mut comment = begins;
        for piece in line {
            if !piece.action {
                out.push_str(piece.text);
            } else if !alone {
                action(&mut out, piece.text.len());
            } else if comment && piece.text.len() > 4 && !piece.text.contains('\n') {
                out.push('#');
                action(&mut out, piece.text.len() - 1);
                comment = false;
            } else {
                out.extend(piece.text.chars().flat_map(blank));
            }
        }
        if !alone {
            let last = line.last().map_or("", |p| if p.action { "" } else { p.text.trim_end() });
            begins = last
                .trim_end_matches(|c: char| matches!(c, '+' | '-') || c.is_ascii_digit())
                .ends_with(['|', '>']);
        }
        rest = after;
    }
    out
}

/// A word of so many bytes that stands for an action.
fn action(out: &mut String, length: usize) {
    out.push(OPEN);
    out.extend(std::iter::repeat_n('_', length.saturating_sub(4)));
    out.push(CLOSE);
}

/// As many blanks as a character has bytes; line ends stay.
fn blank(c: char) -> impl Iterator<Item = char> {
    let (by, length) = if matches!(c, '\n' | '\r') { (c, 1) } else { (' ', c.len_utf8()) };
    std::iter::repeat_n(by, length)
}

/// An action, or text between actions up to the end of its line.
struct Piece<'t> {
    text: &'t str,
    action: bool,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let action =
            rest.find("{{").and_then(|start| Some((start, start + rest.get(start..)?.find("}}")? + 2)));
        let (before, action, after) = match action {
            Some((start, end)) => (rest.get(..start), rest.get(start..end), rest.get(end..)),
            None => (Some(rest), None, None),
        };
        let lines = before.unwrap_or("").split_inclusive('\n');
        found.extend(lines.map(|text| Piece { text, action: false }));
        let Some((text, after)) = action.zip(after) else { return found };
        found.push(Piece { text, action: true });
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_lines_of_their_own_or_words() {
        let text = "{{- if .A }}\na: {{ .B | quote }}x\n{{/* c\nd */}}\n  {{ a }} {{ b }}\n- |-\n  {{ c }}\n";
        let like = masked(text);
        assert_eq!(like.len(), text.len());
        let lines: Vec<&str> = like.lines().collect();
        assert_eq!(lines[1], format!("a: {OPEN}____________{CLOSE}x"));
        assert!([0, 2, 3, 4].iter().all(|&at| lines[at].trim().is_empty()), "{lines:?}");
        assert_eq!(lines[6], format!("  #{OPEN}__{CLOSE}"));
        assert_eq!(masked("a: {{ b"), "a: {{ b");
    }

    #[test]
    fn values_keep_where_their_actions_are() {
        let text = "a: {{ .B }}\nb: pkill {{ .C }}\nc: |\n  {{- if .D }}\n  ls\n{{- end }}\n  pwd\n";
        let data = yaml(text, true);
        assert!(data.fault.is_none(), "{:?}", data.fault);
        let root = data.roots[0];
        let value = |key| data.get(root, key).and_then(|v| data.text(v));
        assert_eq!(value("a"), Some("{{____}}"));
        assert_eq!(value("b"), Some("pkill {{____}}"));
        assert!(value("c").is_some_and(|text| text.contains("ls\n") && text.contains("pwd\n")));
    }

    proptest::proptest! {
        #[test]
        fn any_text_keeps_its_length_and_its_lines(text in "(\\{\\{|\\}\\}|é| |\n|a: |- |\\||#|\"|-){0,24}") {
            let like = masked(&text);
            proptest::prop_assert_eq!(like.len(), text.len());
            let _ = yaml(&text, true);
        }
    }
}
