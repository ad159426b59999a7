//! Inline annotations: what a comment that begins with `restartlint:` asks for, and for
//! which line. Whether it gets it is decided once, in `decide` and by the rules.

use crate::base::facts::{AnnotationComment, RelPath};
use crate::base::finding::Place;
use crate::base::sources::Sources;
use crate::base::span::Span;

/// What an annotation asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    /// `path=ID`: ties the site to a registered path.
    Path(String),
    /// `ignore[CODES] reason`: silences these rules there.
    Ignore {
        /// The codes as written.
        codes: Vec<String>,
        /// The reason; empty if there is none.
        reason: String,
    },
    /// Nothing that is known.
    Unknown,
}

/// An annotation with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// What it asks for.
    pub asks: Asks,
    /// Where it stands.
    pub place: Place,
    /// The line that it is for.
    pub line: u32,
}

/// Reads what stands after `restartlint:`.
pub fn parse(text: &str) -> Asks {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("path=") {
        let id = rest.split_whitespace().next().unwrap_or("");
        return if id.is_empty() { Asks::Unknown } else { Asks::Path(id.to_owned()) };
    }
    let Some(rest) = text.strip_prefix("ignore") else { return Asks::Unknown };
    let Some((codes, reason)) = rest.trim_start().strip_prefix('[').and_then(|r| r.split_once(']')) else {
        return Asks::Unknown;
    };
    let codes: Vec<String> =
        codes.split(',').map(|c| c.trim().to_owned()).filter(|c| !c.is_empty()).collect();
    if codes.is_empty() {
        return Asks::Unknown;
    }
    let reason = reason.trim().trim_start_matches([':', '-', '–', '—']).trim();
    Asks::Ignore { codes, reason: reason.to_owned() }
}

/// Places the comments of a file: a comment with code before it is for its own line, one
/// that stands alone for the line directly below.
pub fn place(path: &RelPath, comments: &[AnnotationComment], sources: &Sources) -> Vec<Annotation> {
    comments
        .iter()
        .map(|comment| {
            let place = sources.place(path, comment.span);
            let line = if let Some(at) = comment.below {
                sources.place(path, Span { start: at, end: at }).start.line
            } else if comment.alone {
                // A comment's span may or may not hold the line end after it.
                let ends_at_start = place.end.column == 1 && place.end.line > place.start.line;
                if ends_at_start { place.end.line } else { place.end.line + 1 }
            } else {
                place.start.line
            };
            Annotation { asks: parse(&comment.text), place, line }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::source::Source;

    #[test]
    fn the_forms() {
        assert_eq!(parse(" path=cli_reexec since #4"), Asks::Path("cli_reexec".into()));
        let ignore = |codes: &[&str], reason: &str| Asks::Ignore {
            codes: codes.iter().map(|c| c.to_string()).collect(),
            reason: reason.into(),
        };
        assert_eq!(parse("ignore[RL108] a tool"), ignore(&["RL108"], "a tool"));
        assert_eq!(parse("ignore[RL108, RL301]: a tool"), ignore(&["RL108", "RL301"], "a tool"));
        assert_eq!(parse("ignore[RL108]"), ignore(&["RL108"], ""));
        for unknown in ["", "ignore", "ignore[] x", "disable", "path= x y", "path="] {
            let asks = parse(unknown);
            assert!(matches!(asks, Asks::Unknown | Asks::Path(_)), "{unknown}: {asks:?}");
        }
    }

    #[test]
    fn alone_is_for_the_next_line() {
        let mut sources = Sources::default();
        sources.insert("a.py", Source::new("# restartlint: path=x\nos.abort()  # restartlint: path=y\n"));
        let comment = |start, end, alone| AnnotationComment {
            span: Span::new(start, end),
            text: "path=x".into(),
            alone,
            below: None,
        };
        let placed = place(
            &"a.py".to_owned(),
            &[comment(0, 21, true), comment(0, 22, true), comment(34, 55, false)],
            &sources,
        );
        assert_eq!(placed.iter().map(|a| a.line).collect::<Vec<_>>(), [2, 2, 2]);
    }
}
