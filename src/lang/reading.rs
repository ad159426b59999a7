//! What every tree-sitter reader does alike: parse within a time, report the first syntax
//! error, and find the annotations among the comments. Knows no language.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{Language, Node, ParseOptions, Parser, Point, Tree};

use crate::base::facts::{AnnotationComment, Problem, ProblemKind};
use crate::base::span::Span;

/// Parsing stops after this time and is reported.
const PARSE_LIMIT: Duration = Duration::from_secs(5);

/// What a comment must begin with to be an annotation.
const MARK: &str = "restartlint:";

/// Longest part of a syntax error that is shown, in bytes.
const LONGEST_ERROR: usize = 200;

/// Parses a text; `None` if it took too long.
pub fn parse(language: &Language, text: &str) -> Option<Tree> {
    parse_ranges(language, text, &[])
}

/// Parses the byte ranges of a text, all of it where there are none; `None` if it took too long.
pub fn parse_ranges(language: &Language, text: &str, ranges: &[Range<usize>]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    if !ranges.is_empty() {
        // Rows only keep the order of ranges; places are taken from bytes.
        let point = |row| Point { row, column: 0 };
        let range = |range: &Range<usize>| tree_sitter::Range {
            start_byte: range.start,
            end_byte: range.end,
            start_point: point(range.start),
            end_point: point(range.end),
        };
        let ranges: Vec<tree_sitter::Range> = ranges.iter().map(range).collect();
        parser.set_included_ranges(&ranges).ok()?;
    }
    let start = Instant::now();
    let mut progress = |_: &tree_sitter::ParseState| {
        if start.elapsed() > PARSE_LIMIT { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or(&[]),
        None,
        Some(ParseOptions::new().progress_callback(&mut progress)),
    )
}

/// The problem of a file whose parse was stopped.
pub fn gave_up() -> Problem {
    Problem {
        kind: ProblemKind::GaveUp,
        span: Span::default(),
        message: format!("took longer than {} s to parse: it was not read", PARSE_LIMIT.as_secs()),
    }
}

/// The problem of a file that is nested deeper than its reader follows.
pub fn too_deep(span: Span) -> Problem {
    Problem {
        kind: ProblemKind::GaveUp,
        span,
        message: "is nested too deep here: what lies inside was not read".to_owned(),
    }
}

/// The first syntax error, if there is one.
pub fn syntax_problem(tree: &Tree) -> Option<Problem> {
    let root = tree.root_node();
    if !root.has_error() {
        return None;
    }
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        if node.is_error() || node.is_missing() {
            let message = if node.is_missing() {
                format!("has a syntax error: {} is missing here", node.kind())
            } else {
                "has a syntax error here".to_owned()
            };
            let end = node.end_byte().min(node.start_byte() + LONGEST_ERROR);
            return Some(Problem {
                kind: ProblemKind::Syntax,
                span: Span::new(node.start_byte(), end.max(node.start_byte())),
                message,
            });
        }
        if node.has_error() {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            stack.extend(children.into_iter().rev());
        }
    }
    None
}

/// Whether a text may hold an annotation.
pub fn is_marked(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_some()
}

/// Comments that begin with the mark. `is_comment` tells which nodes are comments; for the others see
/// [`annotations_in`].
pub fn annotations(
    tree: &Tree,
    text: &str,
    is_comment: impl Fn(&str) -> bool,
    openers: &[char],
    closer: &str,
) -> Vec<AnnotationComment> {
    if !is_marked(text) {
        return Vec::new();
    }
    annotations_in(text, &comments(tree, is_comment), openers, closer)
}

/// The annotations among comments. `openers` are the characters that may stand before the mark, `closer` what
/// ends a block comment.
pub fn annotations_in(
    text: &str,
    comments: &[Span],
    openers: &[char],
    closer: &str,
) -> Vec<AnnotationComment> {
    let ends = ['\n', '\r'];
    let annotation = |span: &Span| {
        let (before, after) = (&text[..span.start as usize], &text[span.end as usize..]);
        let comment = text.get(span.range())?;
        let rest = comment.trim_start_matches(openers).trim_start().strip_prefix(MARK)?;
        let before = before.rsplit(ends).next().unwrap_or(before);
        let after = after.split(ends).next().unwrap_or(after);
        Some(AnnotationComment {
            span: *span,
            text: rest.trim().trim_end_matches(closer).trim().to_owned(),
            below: None,
            alone: before.trim().is_empty() && after.trim().is_empty(),
        })
    };
    comments.iter().filter_map(annotation).collect()
}

/// The comments of a tree, in order.
pub fn comments(tree: &Tree, is_comment: impl Fn(&str) -> bool) -> Vec<Span> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    'walk: loop {
        let node = cursor.node();
        if is_comment(node.kind()) {
            found.push(Span::new(node.start_byte(), node.end_byte()));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    found
}
