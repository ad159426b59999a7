//! What every tree-sitter reader does alike: parse within a time, report the first syntax
//! error, and find the annotations among the comments. Knows no language.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Language, Node, ParseOptions, Parser, Tree};

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
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
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

/// Comments that begin with the mark. `is_comment` tells which nodes are comments, `openers`
/// are the characters that may stand before the mark, `closer` what ends a block comment.
pub fn annotations(
    tree: &Tree,
    text: &str,
    is_comment: impl Fn(&str) -> bool,
    openers: &[char],
    closer: &str,
) -> Vec<AnnotationComment> {
    if memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    'walk: loop {
        let node = cursor.node();
        if is_comment(node.kind())
            && let Some(comment) = text.get(node.byte_range())
            && let Some(rest) = comment.trim_start_matches(openers).trim_start().strip_prefix(MARK)
        {
            let line_start = text[..node.start_byte()].rfind('\n').map_or(0, |at| at + 1);
            let line_end = text[node.end_byte()..].find('\n').map_or(text.len(), |at| node.end_byte() + at);
            let before = text[line_start..node.start_byte()].trim();
            let after = text[node.end_byte()..line_end].trim();
            found.push(AnnotationComment {
                span: Span::new(node.start_byte(), node.end_byte()),
                text: rest.trim().trim_end_matches(closer).trim().to_owned(),
                below: None,
                alone: before.is_empty() && after.is_empty(),
            });
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
