//! Unresolved merge conflicts: one problem for each, at its `<<<<<<<`.
//!
//! In a language with a grammar, markers inside a string of a file that parses are no
//! conflict; a conflict that breaks the syntax replaces the syntax error. In documents,
//! a heading underlined with `=` is none, nor is a conflict shown in a code fence.

use crate::base::facts::{FileFacts, Language, Problem, ProblemKind};
use crate::base::source::Source;
use crate::base::span::Span;

/// Adds the conflicts of a file to its problems.
pub fn mark(facts: &mut FileFacts, source: &Source) {
    let found = conflicts(&source.text, facts.language == Language::Document);
    if found.is_empty() {
        return;
    }
    let broken = facts.problems.iter().any(|p| p.kind == ProblemKind::Syntax);
    if has_grammar(facts.language) && !broken {
        return;
    }
    facts.problems.retain(|p| p.kind != ProblemKind::Syntax);
    facts.problems.extend(found.into_iter().map(|span| Problem {
        kind: ProblemKind::Conflict,
        span,
        message: "an unresolved merge conflict begins here".to_owned(),
    }));
}

fn has_grammar(language: Language) -> bool {
    matches!(
        language,
        Language::Python | Language::Rust | Language::Shell | Language::Javascript | Language::Go
    )
}

/// The first lines of the conflicts: `<<<<<<<`, then `=======`, then `>>>>>>>`, each at the start of a line.
pub fn conflicts(text: &str, fences: bool) -> Vec<Span> {
    if memchr::memmem::find(text.as_bytes(), b"<<<<<<<").is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut open: Option<(Span, bool)> = None;
    let mut fence: Option<char> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let span = Span::new(at, at + body.len());
        at += line.len();
        if fences {
            let mark =
                ['`', '~'].into_iter().find(|c| body.trim_start().starts_with(&c.to_string().repeat(3)));
            match (fence, mark) {
                (None, Some(c)) => fence = Some(c),
                (Some(open), Some(c)) if open == c => fence = None,
                _ => {}
            }
            if fence.is_some() {
                continue;
            }
        }
        if is_marker(body, '<') {
            open = Some((span, false));
        } else if let Some((start, middle)) = open {
            if body == "=======" {
                open = Some((start, true));
            } else if is_marker(body, '>') && middle {
                found.push(start);
                open = None;
            }
        }
    }
    found
}

/// Seven of the character, then a blank or the end of the line.
fn is_marker(line: &str, c: char) -> bool {
    let rest = line.trim_start_matches(c);
    line.len() - rest.len() == 7 && (rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFLICT: &str = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n";

    #[test]
    fn one_span_a_conflict_at_its_start() {
        let text = format!("{CONFLICT}{CONFLICT}");
        let spans = conflicts(&text, false);
        assert_eq!(spans.len(), 2);
        assert!(text[spans[0].range()].starts_with("<<<<<<< HEAD"));
        assert!(conflicts("Title\n=======\n", true).is_empty());
        assert!(conflicts("<<<<<<< x\n", false).is_empty());
        assert!(conflicts("  <<<<<<< x\n=======\n>>>>>>> y\n", false).is_empty());
    }

    #[test]
    fn a_fence_shows_a_conflict_and_is_none() {
        assert!(conflicts(&format!("```\n{CONFLICT}```\n"), true).is_empty());
        assert_eq!(conflicts(&format!("```\nx\n```\n{CONFLICT}"), true).len(), 1);
    }

    #[test]
    fn a_file_that_parses_has_none() {
        let source = Source::new(CONFLICT);
        let mut facts = FileFacts::new("a.py", Language::Python);
        mark(&mut facts, &source);
        assert!(facts.problems.is_empty());
        facts.problems.push(Problem {
            kind: ProblemKind::Syntax,
            span: Span::default(),
            message: String::new(),
        });
        mark(&mut facts, &source);
        assert_eq!(facts.problems.len(), 1);
        assert_eq!(facts.problems[0].kind, ProblemKind::Conflict);
    }
}
