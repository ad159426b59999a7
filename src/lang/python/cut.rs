//! Cuts a Python text into its statements without parsing it: strings, brackets and
//! indentation are all that this pass knows. It is what keeps most of a tree from being parsed.

use std::ops::Range;

/// What a statement is, by its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A function definition.
    Function,
    /// A class definition.
    Class,
    /// An import.
    Import,
    /// A statement with a block: `if`, `for`, `while`, `try`, `with`, `match`.
    Compound,
    /// Any other statement.
    Simple,
}

/// A statement of the top level or of a class body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What it is.
    pub kind: Kind,
    /// The whole statement with its decorators, from the start of its first line to the end of its last.
    pub span: Range<usize>,
    /// For a class: decorators and header. Else the whole statement.
    pub head: Range<usize>,
    /// The defined name, for functions and classes.
    pub name: Range<usize>,
    /// For a class: the statements of its body.
    pub members: Vec<Statement>,
}

/// A logical line: one that brackets, strings and backslashes have been followed through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Its first byte, the indentation included.
    pub(super) start: usize,
    /// Its first byte after the indentation.
    pub(super) content: usize,
    /// One past its line end.
    pub(super) end: usize,
    /// Columns of indentation.
    pub(super) indent: usize,
}

/// Cuts a text; `None` where it does not hold together (an open string or bracket at its end, a
/// first line that is indented): then only the parser can tell.
pub fn cut(text: &str) -> Option<Cut> {
    let mut quiet = Vec::new();
    let lines = logical_lines(text.as_bytes(), &mut quiet)?;
    Some(Cut { statements: statements(text, &lines, 0)?, quiet })
}

/// A text's statements, and what of it is no code.
#[derive(Debug)]
pub struct Cut {
    /// The statements of the top level, in order.
    pub statements: Vec<Statement>,
    /// Strings with their quotes, and comments, in order.
    pub quiet: Vec<Quiet>,
}

/// A string or a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quiet {
    /// Where it stands, with its quotes.
    pub range: Range<usize>,
    /// A comment, or a string that is a statement of its own: nothing reads it.
    pub is_prose: bool,
}

impl Cut {
    /// The string or comment that a place lies in.
    pub fn quiet_at(&self, offset: usize) -> Option<&Quiet> {
        let at = self.quiet.partition_point(|quiet| quiet.range.end <= offset);
        self.quiet.get(at).filter(|quiet| quiet.range.start <= offset)
    }
}

fn statements(text: &str, lines: &[Line], depth: usize) -> Option<Vec<Statement>> {
    let Some(first) = lines.first() else { return Some(Vec::new()) };
    let indent = first.indent;
    if depth == 0 && indent != 0 {
        return None;
    }
    let mut found: Vec<Statement> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        // Decorators belong to the definition below them.
        let mut header = at;
        while lines.get(header).is_some_and(|l| text[l.content..].starts_with('@') && l.indent == indent) {
            header += 1;
        }
        let header = header.min(lines.len() - 1);
        let line = lines[header];
        let word = first_word(&text[line.content..line.end]);
        at = header + 1;
        while lines.get(at).is_some_and(|l| l.indent > indent || continues(&text[l.content..l.end])) {
            at += 1;
        }
        let span = lines[start].start..lines[at - 1].end;
        let (kind, name) = match word {
            "def" => (Kind::Function, name_after(text, line.content + 3)),
            "async" => {
                let rest = text[line.content + 5..line.end].trim_start();
                if rest.starts_with("def") {
                    (Kind::Function, name_after(text, line.end - rest.len() + 3))
                } else {
                    (Kind::Compound, 0..0)
                }
            }
            "class" => (Kind::Class, name_after(text, line.content + 5)),
            "import" | "from" => (Kind::Import, 0..0),
            "if" | "for" | "while" | "try" | "with" => (Kind::Compound, 0..0),
            "match" if at > header + 1 => (Kind::Compound, 0..0),
            _ => (Kind::Simple, 0..0),
        };
        let members = match kind {
            Kind::Class if depth == 0 => statements(text, &lines[header + 1..at], depth + 1)?,
            _ => Vec::new(),
        };
        let head =
            if kind == Kind::Class && depth == 0 { lines[start].start..line.end } else { span.clone() };
        found.push(Statement { kind, span, head, name, members });
    }
    Some(found)
}

/// Whether a line goes on with the statement above it.
pub(super) fn continues(line: &str) -> bool {
    let word = first_word(line);
    matches!(word, "else" | "elif" | "except" | "finally")
        && line[word.len()..].trim_start().starts_with(|c: char| c != '=' && c != ',')
}

pub(super) fn first_word(line: &str) -> &str {
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
    &line[..end]
}

fn name_after(text: &str, from: usize) -> Range<usize> {
    let Some(rest) = text.get(from..) else { return 0..0 };
    let start = from + (rest.len() - rest.trim_start().len());
    let name = first_word(&text[start..]);
    start..start + name.len()
}

/// The logical lines of a text; blank lines and comments alone are none.
pub(super) fn logical_lines(bytes: &[u8], quiet: &mut Vec<Quiet>) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut indent = 0;
        while let Some(b) = bytes.get(at) {
            match b {
                b' ' => indent += 1,
                b'\t' => indent = (indent / 8 + 1) * 8,
                b'\x0c' => indent = 0,
                _ => break,
            }
            at += 1;
        }
        match bytes.get(at) {
            None => break,
            Some(b'\n' | b'\r') => {
                at += 1;
                continue;
            }
            Some(b'#') => {
                let start = at;
                at = line_end(bytes, at);
                quiet.push(Quiet { range: start..at, is_prose: true });
                continue;
            }
            Some(_) => {}
        }
        let content = at;
        at = logical_end(bytes, at, quiet)?;
        lines.push(Line { start, content, end: at, indent });
    }
    Some(lines)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |at| from + at + 1)
}

/// One past the line end that closes the logical line which starts at `at`.
fn logical_end(bytes: &[u8], mut at: usize, quiet: &mut Vec<Quiet>) -> Option<usize> {
    let mut depth = 0usize;
    let first = at;
    loop {
        let Some(&byte) = bytes.get(at) else {
            // A backslash may be the last byte.
            return (depth == 0).then_some(at.min(bytes.len()));
        };
        match byte {
            b'\n' if depth == 0 => return Some(at + 1),
            b'#' => {
                let start = at;
                at = line_end(bytes, at).saturating_sub(1).max(at + 1);
                quiet.push(Quiet { range: start..at, is_prose: true });
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'\\' => at += if bytes.get(at + 1) == Some(&b'\r') { 3 } else { 2 },
            b'"' | b'\'' => {
                let start = at;
                at = string_end(bytes, at)?;
                let is_prose = depth == 0
                    && bytes[first..start].iter().all(|b| matches!(b, b'r' | b'R' | b'u' | b'U'))
                    && matches!(bytes.get(at), None | Some(b'\n' | b'\r'));
                quiet.push(Quiet { range: start..at, is_prose });
            }
            _ => at += 1,
        }
    }
}

/// One past the end of the string that starts at `at`; `None` if it never ends.
pub(super) fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let triple = bytes.get(at + 1) == Some(&quote) && bytes.get(at + 2) == Some(&quote);
    let mut at = at + if triple { 3 } else { 1 };
    loop {
        let found = at + memchr::memchr3(quote, b'\\', b'\n', bytes.get(at..)?)?;
        match bytes[found] {
            b'\\' => at = found + 2,
            b'\n' if triple => at = found + 1,
            // A string that a line end cuts off is an error: the parser tells.
            b'\n' => return None,
            _ if !triple => return Some(found + 1),
            _ if bytes.get(found + 1) == Some(&quote) && bytes.get(found + 2) == Some(&quote) => {
                return Some(found + 3);
            }
            _ => at = found + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_classes_and_members_are_cut_where_they_stand() {
        let text = "import os\n\"\"\"doc\ndef no(): pass\n\"\"\"\nX = [\n1,\n]\n@dec\nclass A(B):\n    x = 1\n    def f(self):\n        return 1\n\n    # c\n    async def g(self): pass\nif X:\n    pass\nelse:\n    pass\n";
        let found = cut(text).unwrap().statements;
        let kinds: Vec<Kind> = found.iter().map(|s| s.kind).collect();
        assert_eq!(kinds, [Kind::Import, Kind::Simple, Kind::Simple, Kind::Class, Kind::Compound]);
        let class = &found[3];
        assert_eq!(&text[class.head.clone()], "@dec\nclass A(B):\n");
        assert_eq!(&text[class.name.clone()], "A");
        assert_eq!(class.members.len(), 3);
        assert_eq!(&text[class.members[2].name.clone()], "g");
        assert!(text[found[4].span.clone()].ends_with("else:\n    pass\n"));
    }

    #[test]
    fn what_does_not_hold_together_is_left_to_the_parser() {
        assert!(cut("x = (1,\n").is_none());
        assert!(cut("x = 'open\n").is_none());
        assert!(cut("  x = 1\n").is_none());
    }
}
