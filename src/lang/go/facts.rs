//! The facts of one Go file: program, watched uses, annotations, faults, and whether it
//! builds a stdio server.

use rustc_hash::FxHashSet;

use super::lower::lower;
use crate::base::facts::{FileFacts, Language};
use crate::base::source::Source;
use crate::data::primitives::Catalogue;
use crate::lang::{reading, server};

/// Reads one file. `watch` holds the symbols whose uses are recorded.
pub fn facts(path: &str, source: &Source, catalogue: &Catalogue, watch: &FxHashSet<String>) -> FileFacts {
    let mut facts = FileFacts::new(path, Language::Go);
    let Some(tree) = reading::parse(&tree_sitter_go::LANGUAGE.into(), &source.text) else {
        facts.problems.push(reading::gave_up());
        return facts;
    };
    facts.problems.extend(reading::syntax_problem(&tree));
    let lowered = lower(&tree, &source.text, watch, path.ends_with("_test.go"));
    facts.problems.extend(lowered.too_deep.first().map(|span| reading::too_deep(*span)));
    facts.annotations =
        reading::annotations(&tree, &source.text, |kind| kind == "comment", &['/', '*'], "*/");
    facts.server = server::reason(&lowered.program, catalogue);
    facts.watched = lowered.watched;
    facts.program = Some(lowered.program);
    facts
}
