//! The facts of one Python file: program, watched uses, annotations, faults, and whether it
//! builds a stdio server.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::ast;
use super::grammar::{self, PARSE_LIMIT};
use super::lower::lower;
use super::notebook;
use super::select::Selection;
use super::tree::Rows;
use crate::base::facts::{AnnotationComment, FileFacts, Language, Problem, ProblemKind};
use crate::base::source::Source;
use crate::base::span::Span;
use crate::data::primitives::Catalogue;
use crate::lang::server;

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
    let skipped: Vec<&str> = selection.skipped.iter().map(|name| &source.text[name.clone()]).collect();
    read_ranges(&mut facts, &source.text, &selection.ranges, &skipped, catalogue, watch);
    facts
}

/// Parses and lowers a text into the facts of its file.
pub(super) fn read_into(facts: &mut FileFacts, text: &str, catalogue: &Catalogue, watch: &FxHashSet<String>) {
    read_ranges(facts, text, &[], &[], catalogue, watch);
}

fn read_ranges(
    facts: &mut FileFacts,
    text: &str,
    ranges: &[Range<usize>],
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
    let Some(Parsed { rows, comments, problem }) = parsed(text, ranges) else {
        facts.problems.push(Problem {
            kind: ProblemKind::GaveUp,
            span: Span::default(),
            message: format!("took longer than {} s to parse: it was not read", PARSE_LIMIT.as_secs()),
        });
        return;
    };
    facts.problems.extend(problem);
    let lowered = lower(&rows, text, watch, skipped);
    if let Some(span) = lowered.too_deep.first() {
        facts.problems.push(Problem {
            kind: ProblemKind::GaveUp,
            span: *span,
            message: "is nested too deep here: what lies inside was not read".to_owned(),
        });
    }
    facts.annotations = annotations(&comments, text);
    facts.server = server::reason(&lowered.program, catalogue);
    facts.watched = lowered.watched;
    facts.program = Some(lowered.program);
}

/// A text as rows.
struct Parsed {
    rows: Rows,
    /// Its comments, if one of them may be an annotation.
    comments: Vec<Span>,
    /// The first syntax error.
    problem: Option<Problem>,
}

/// Parses a text, or the ranges of it; `None` if it took too long.
fn parsed(text: &str, ranges: &[Range<usize>]) -> Option<Parsed> {
    let is_marked = memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_some();
    if let Some(ast::Read { rows, comments }) = ast::read(text, ranges, is_marked) {
        return Some(Parsed { rows, comments, problem: None });
    }
    let tree = grammar::parse(text, ranges)?;
    let comments = if is_marked { grammar::comments(&tree) } else { Vec::new() };
    Some(Parsed { rows: grammar::rows(&tree), comments, problem: grammar::syntax_problem(&tree, text) })
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

/// Comments that begin with the mark.
fn annotations(comments: &[Span], text: &str) -> Vec<AnnotationComment> {
    let annotation = |span: &Span| {
        let comment = text.get(span.range())?;
        let rest = comment.trim_start_matches('#').trim_start().strip_prefix(MARK)?;
        let before = &text[..span.start as usize];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some(AnnotationComment {
            span: *span,
            text: rest.trim().to_owned(),
            below: None,
            alone: before[line_start..].trim().is_empty(),
        })
    };
    comments.iter().filter_map(annotation).collect()
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
}
