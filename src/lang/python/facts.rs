//! The facts of one Python file: program, watched uses, annotations, faults, and whether it
//! builds a stdio server.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::ast;
use super::grammar;
use super::lower::lower;
use super::notebook;
use super::select::Selection;
use super::tree::Rows;
use crate::base::facts::{FileFacts, Language, Problem, ProblemKind};
use crate::base::source::Source;
use crate::base::span::Span;
use crate::data::primitives::Catalogue;
use crate::lang::{reading, server};

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
        facts.problems.push(reading::gave_up());
        return;
    };
    facts.problems.extend(problem);
    let lowered = lower(&rows, text, watch, skipped);
    facts.problems.extend(lowered.too_deep.first().map(|span| reading::too_deep(*span)));
    facts.annotations = reading::annotations_in(text, &comments, &['#'], "");
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
    let is_marked = reading::is_marked(text);
    if let Some(ast::Read { rows, comments }) = ast::read(text, ranges, is_marked) {
        return Some(Parsed { rows, comments, problem: None });
    }
    let tree = grammar::parse(text, ranges)?;
    let comments = if is_marked { reading::comments(&tree, |kind| kind == "comment") } else { Vec::new() };
    Some(Parsed { rows: grammar::rows(&tree), comments, problem: reading::syntax_problem(&tree) })
}

/// Blocks in blocks, at most: the grammar's scanner has no room for more than about 500, and trees are walked
/// by recursion.
const MOST_BLOCKS: usize = 200;

/// Whether a text may nest its blocks deeper than is followed.
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
    fn todays_syntax_is_no_fault() {
        let problems = |text: &str| {
            facts("a.py", &Source::new(text.to_owned()), &Catalogue::default(), &FxHashSet::default())
                .problems
        };
        for text in [
            "class A[T = int]:\n    pass\n",
            "type B[T = int] = list[T]\n",
            "class A[*Ts = Unpack[tuple[int]], **P = [int]](B):\n    def g(self): pass\n",
            "x = f'{a['b']}'\n",
        ] {
            assert_eq!(problems(text), [], "{text}");
        }
        for text in ["class A[T = int]:\n    def g(self: pass\n", "x = f[a b]\n"] {
            assert_eq!(problems(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn an_annotation_is_alone_on_its_line_whatever_ends_it() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["import os", "# restartlint: ignore[RL301] r", "os.abort()", ""].join(end);
            let facts = facts("a.py", &Source::new(text), &Catalogue::default(), &FxHashSet::default());
            assert!(facts.annotations[0].alone, "{end:?}");
        }
    }
}
