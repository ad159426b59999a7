//! The facts of one JavaScript or TypeScript file: program, watched uses, annotations,
//! faults, and whether it builds a stdio server.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use tree_sitter::Tree;

use super::lower::lower;
use super::respelled;
use crate::base::facts::{FileFacts, Language};
use crate::base::source::Source;
use crate::data::primitives::Catalogue;
use crate::lang::{reading, server};

/// Reads one file. `watch` holds the symbols whose uses are recorded.
pub fn facts(path: &str, source: &Source, catalogue: &Catalogue, watch: &FxHashSet<String>) -> FileFacts {
    let mut facts = FileFacts::new(path, Language::Javascript);
    let Some(tree) = parse(path, &source.text) else {
        facts.problems.push(reading::gave_up());
        return facts;
    };
    facts.problems.extend(reading::syntax_problem(&tree));
    let lowered = lower(&tree, &source.text, watch);
    facts.problems.extend(lowered.too_deep.first().map(|span| reading::too_deep(*span)));
    facts.annotations = reading::annotations(
        &tree,
        &source.text,
        |kind| matches!(kind, "comment" | "html_comment"),
        &['/', '*'],
        "*/",
    );
    facts.server = server::reason(&lowered.program, catalogue);
    facts.watched = lowered.watched;
    facts.program = Some(lowered.program);
    facts
}

/// Parses by the grammar that the file's name asks for. Types in a `.js` file (Flow) are read by the
/// TypeScript grammar, where JavaScript's does not take them.
fn parse(path: &str, text: &str) -> Option<Tree> {
    let text = &*respelled::without_nul(text);
    let typescript = || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into();
    let tsx = || tree_sitter_typescript::LANGUAGE_TSX.into();
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("ts" | "mts" | "cts") => typed(&typescript(), text),
        Some("tsx") => typed(&tsx(), text),
        _ => {
            let tree = reading::parse(&tree_sitter_javascript::LANGUAGE.into(), text)?;
            if !tree.root_node().has_error() {
                return Some(tree);
            }
            match typed(&tsx(), text) {
                Some(typed) if !typed.root_node().has_error() => Some(typed),
                _ => Some(tree),
            }
        }
    }
}

/// Parses TypeScript; what the grammar does not take is read again as it takes it.
fn typed(language: &tree_sitter::Language, text: &str) -> Option<Tree> {
    let tree = reading::parse(language, text)?;
    if !tree.root_node().has_error() {
        return Some(tree);
    }
    match respelled::for_grammar(text) {
        Cow::Borrowed(_) => Some(tree),
        Cow::Owned(text) => reading::parse(language, &text),
    }
}
