//! The facts of one Python file: program, watched uses, annotations, faults, and whether it
//! builds a stdio server.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::lower::lower;
use super::notebook;
use super::select::Selection;
use crate::base::facts::{AnnotationComment, FileFacts, Language, Problem, ProblemKind};
use crate::base::source::Source;
use crate::base::span::Span;
use crate::data::primitives::Catalogue;
use crate::lang::server;

/// Parsing stops after this time and is reported.
const PARSE_LIMIT: Duration = Duration::from_secs(5);

/// What a comment must begin with to be an annotation.
const MARK: &str = "restartlint:";

/// Reads one file. `watch` holds the symbols whose uses are recorded.
pub fn facts(path: &str, source: &Source, catalogue: &Catalogue, watch: &FxHashSet<String>) -> FileFacts {
    if path.ends_with(".ipynb") {
        return notebook::facts(path, source, catalogue, watch);
    }
    let mut facts = FileFacts::new(path, Language::Python);
    read_into(&mut facts, &source.text, catalogue, watch);
    facts
}

/// Reads only the chosen statements of a file.
pub fn selected(
    path: &str,
    source: &Source,
    selection: &Selection,
    catalogue: &Catalogue,
    watch: &FxHashSet<String>,
) -> FileFacts {
    let mut facts = FileFacts::new(path, Language::Python);
    let ranges: Vec<tree_sitter::Range> = selection
        .ranges
        .iter()
        .map(|range| tree_sitter::Range {
            start_byte: range.start,
            end_byte: range.end,
            // Rows only keep the order of ranges; places are taken from bytes.
            start_point: tree_sitter::Point { row: range.start, column: 0 },
            end_point: tree_sitter::Point { row: range.end, column: 0 },
        })
        .collect();
    let skipped: Vec<&str> = selection.skipped.iter().map(|name| &source.text[name.clone()]).collect();
    read_ranges(&mut facts, &source.text, &ranges, &skipped, catalogue, watch);
    facts
}

/// Parses and lowers a text into the facts of its file.
pub(super) fn read_into(facts: &mut FileFacts, text: &str, catalogue: &Catalogue, watch: &FxHashSet<String>) {
    read_ranges(facts, text, &[], &[], catalogue, watch);
}

fn read_ranges(
    facts: &mut FileFacts,
    text: &str,
    ranges: &[tree_sitter::Range],
    skipped: &[&str],
    catalogue: &Catalogue,
    watch: &FxHashSet<String>,
) {
    if nests_too_deep(text) {
        facts.problems.push(Problem {
            kind: ProblemKind::GaveUp,
            span: Span::default(),
            message: format!("nests more than {MOST_BLOCKS} blocks: it was not read"),
        });
        return;
    }
    let Some(tree) = parse_ranges(text, ranges) else {
        facts.problems.push(Problem {
            kind: ProblemKind::GaveUp,
            span: Span::default(),
            message: format!("took longer than {} s to parse: it was not read", PARSE_LIMIT.as_secs()),
        });
        return;
    };
    if let Some(problem) = syntax_problem(&tree, text) {
        facts.problems.push(problem);
    }
    let lowered = lower(&tree, text, watch, skipped);
    if let Some(span) = lowered.too_deep.first() {
        facts.problems.push(Problem {
            kind: ProblemKind::GaveUp,
            span: *span,
            message: "is nested too deep here: what lies inside was not read".to_owned(),
        });
    }
    facts.annotations = annotations(&tree, text);
    facts.server = server::reason(&lowered.program, catalogue);
    facts.watched = lowered.watched;
    facts.program = Some(lowered.program);
}

/// Parses a text; `None` if it took too long.
pub fn parse(text: &str) -> Option<Tree> {
    if nests_too_deep(text) {
        return None;
    }
    parse_ranges(text, &[])
}

/// Blocks in blocks, at most: the grammar's scanner has no room for more than about 500.
const MOST_BLOCKS: usize = 200;

/// Whether a text may nest its blocks deeper than the grammar can hold.
fn nests_too_deep(text: &str) -> bool {
    let mut open: Vec<usize> = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if indent == line.len() {
            continue;
        }
        while open.last().is_some_and(|outer| *outer >= indent) {
            open.pop();
        }
        open.push(indent);
        if open.len() > MOST_BLOCKS {
            return true;
        }
    }
    false
}

fn parse_ranges(text: &str, ranges: &[tree_sitter::Range]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    if !ranges.is_empty() {
        parser.set_included_ranges(ranges).ok()?;
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

/// The first syntax error, if there is one.
fn syntax_problem(tree: &Tree, text: &str) -> Option<Problem> {
    let root = tree.root_node();
    if !root.has_error() {
        return None;
    }
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        if node.is_error() && is_type_default(node, text) {
            continue;
        }
        if node.is_error() || node.is_missing() {
            let message = if node.is_missing() {
                format!("has a syntax error: {} is missing here", node.kind())
            } else {
                "has a syntax error here".to_owned()
            };
            let end = node.end_byte().min(node.start_byte() + 200);
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

/// `T =` of a type parameter with a default (`class A[T = int]`), which the grammar does not know.
fn is_type_default(error: Node<'_>, text: &str) -> bool {
    error.parent().is_some_and(|parent| matches!(parent.kind(), "type_parameter" | "constrained_type"))
        && text.get(error.byte_range()).is_some_and(|t| t.trim_end().ends_with('=') || t.starts_with('='))
}

/// Comments that begin with the mark.
fn annotations(tree: &Tree, text: &str) -> Vec<AnnotationComment> {
    if memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    'walk: loop {
        let node = cursor.node();
        if node.kind() == "comment"
            && let Some(comment) = text.get(node.byte_range())
            && let Some(rest) = comment.trim_start_matches('#').trim_start().strip_prefix(MARK)
        {
            let line_start = text[..node.start_byte()].rfind('\n').map_or(0, |at| at + 1);
            found.push(AnnotationComment {
                span: Span::new(node.start_byte(), node.end_byte()),
                text: rest.trim().to_owned(),
                below: None,
                alone: text[line_start..node.start_byte()].trim().is_empty(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_the_grammar_cannot_hold_are_reported() {
        let mut text = String::from("import os\n");
        for depth in 0..600 {
            text.push_str(&" ".repeat(depth));
            text.push_str("if x:\n");
        }
        text.push_str(&" ".repeat(600));
        text.push_str("os.abort()\n");
        let facts = facts("deep.py", &Source::new(text), &Catalogue::default(), &FxHashSet::default());
        assert_eq!(facts.problems.len(), 1);
        assert_eq!(facts.problems[0].kind, ProblemKind::GaveUp);
    }

    #[test]
    fn defaults_of_type_parameters_are_no_syntax_error() {
        let problem = |text: &str| syntax_problem(&parse(text).unwrap(), text);
        for text in [
            "class A[T = int]:\n    pass\n",
            "type B[T = int] = list[T]\n",
            "def f[T = int](x: T): pass\n",
            "class B[T: int = int]:\n    pass\n",
            "def g[T: (int, str) = int](x: T): pass\n",
            "type C[T: int = int] = list[T]\n",
            "class A[*Ts = Unpack[tuple[int]], **P = [int]](B):\n    def g(self): pass\n",
        ] {
            assert_eq!(problem(text), None, "{text}");
        }
        assert!(problem("class A[T = int]:\n    def g(self: pass\n").is_some());
        assert!(problem("x = f[a b]\n").is_some());
    }
}
