//! The facts of one Rust file: program, watched uses, annotations, faults, and whether it
//! builds a stdio server.

use rustc_hash::FxHashSet;

use super::comment::{self, Kind};
use super::lower::lower;
use super::{depth, fallback, server};
use crate::base::facts::{AnnotationComment, FileFacts, Language, Problem, ProblemKind};
use crate::base::source::Source;
use crate::base::span::Span;
use crate::data::commands::CommandCatalogue;
use crate::data::primitives::Catalogue;

/// What a comment must begin with to be an annotation.
const MARK: &str = "restartlint:";

/// Reads one file. `watch` holds the symbols whose uses are recorded.
pub fn facts(
    path: &str,
    source: &Source,
    catalogue: &Catalogue,
    commands: &CommandCatalogue,
    watch: &FxHashSet<String>,
) -> FileFacts {
    let mut facts = FileFacts::new(path, Language::Rust);
    let text = source.text.as_str();
    facts.annotations = annotations(text);
    let offset = shebang(text);
    let problem = match parse(text.get(offset..).unwrap_or("")) {
        Ok(file) => {
            let lowered = lower(file, offset, text.len(), watch);
            facts.server = server::reason(&lowered.program, catalogue);
            facts.watched = lowered.watched;
            facts.program = Some(lowered.program);
            None
        }
        Err(Fault::Syntax(span, message)) => {
            let span = Span::new(span.start + offset, span.end + offset);
            Some(Problem { kind: ProblemKind::Syntax, span, message })
        }
        Err(Fault::TooDeep) => Some(Problem {
            kind: ProblemKind::GaveUp,
            span: Span::default(),
            message: "is nested too deep to be parsed: only its words were looked at".to_owned(),
        }),
    };
    // The parser keeps the text of every file of this thread for its spans.
    proc_macro2::extra::invalidate_current_thread_spans();
    if let Some(problem) = problem {
        facts.problems.push(problem);
        let found = fallback::read(text, catalogue, commands, watch);
        facts.sites = found.sites;
        facts.watched = found.watched;
    }
    facts
}

/// Why a text has no syntax tree.
enum Fault {
    Syntax(std::ops::Range<usize>, String),
    TooDeep,
}

fn parse(text: &str) -> Result<syn::File, Fault> {
    let syntax = |span: proc_macro2::Span, message: String| {
        Fault::Syntax(span.byte_range(), format!("has a syntax error here: {message}"))
    };
    let tokens: proc_macro2::TokenStream = text.parse().map_err(|e: proc_macro2::LexError| {
        syntax(e.span(), "the text is no sequence of tokens".to_owned())
    })?;
    if depth::too_deep(tokens.clone()) {
        return Err(Fault::TooDeep);
    }
    syn::parse2(tokens).map_err(|e: syn::Error| syntax(e.span(), e.to_string()))
}

/// The length of a byte order mark and a shebang line at the start. `#![…]` is an attribute.
fn shebang(text: &str) -> usize {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = &text[mark..];
    let is_attribute = rest.strip_prefix("#!").is_none_or(|r| r.trim_start().starts_with('['));
    match is_attribute {
        true => mark,
        false => mark + rest.find('\n').unwrap_or(rest.len()),
    }
}

/// Comments that begin with the mark.
fn annotations(text: &str) -> Vec<AnnotationComment> {
    if memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return Vec::new();
    }
    comment::tokens(text)
        .filter(|token| token.kind == Kind::Comment)
        .filter_map(|token| {
            let comment = text.get(token.start..token.end)?;
            let body = match comment.strip_prefix("/*") {
                Some(body) => body.trim_start_matches(['*', '!']).trim_end_matches("*/"),
                None => comment.trim_start_matches('/').trim_start_matches('!'),
            };
            let said = body.trim_start().strip_prefix(MARK)?;
            let line_start = text.get(..token.start)?.rfind('\n').map_or(0, |at| at + 1);
            Some(AnnotationComment {
                span: Span::new(token.start, token.end),
                text: said.trim().to_owned(),
                below: None,
                alone: text.get(line_start..token.start)?.trim().is_empty(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> FileFacts {
        let catalogue = Catalogue::embedded(Language::Rust).unwrap();
        let source = Source::decode(text.as_bytes().to_vec());
        let watch = ["old_restart".to_owned()].into_iter().collect();
        facts("a.rs", &source, &catalogue, &CommandCatalogue::built_in(), &watch)
    }

    #[test]
    fn comments_that_begin_with_the_mark_are_annotations() {
        let facts = read(
            "fn f() {\n  // restartlint: path=boot\n  g(); /* restartlint: ignore[RL108] why */\n  \"// restartlint: no\";\n  // see restartlint: no\n}\n",
        );
        let said: Vec<(&str, bool)> = facts.annotations.iter().map(|a| (a.text.as_str(), a.alone)).collect();
        assert_eq!(said, [("path=boot", true), ("ignore[RL108] why", false)]);
    }

    #[test]
    fn watched_names_are_seen_where_they_are_defined_imported_and_used() {
        let facts = read("use a::old_restart;\nfn f() { old_restart(); b.old_restart; \"old_restart\"; }\n");
        assert_eq!(facts.watched.len(), 3);
        assert_eq!(facts.watched[1].symbol, "f");
    }

    #[test]
    fn a_text_that_does_not_parse_keeps_its_sites_at_a_lower_confidence() {
        let facts = read("fn f( {\n  std::process::abort();\n  // libc::abort();\n}\n");
        assert_eq!(facts.problems[0].kind, ProblemKind::Syntax);
        assert_eq!(facts.sites.len(), 1);
        assert_eq!(facts.sites[0].primitive, "std::process::abort");
        assert!(facts.sites[0].confidence < crate::base::site::Confidence::Certain);
    }

    #[test]
    fn hostile_nesting_is_reported_and_costs_no_stack() {
        // The pipeline's threads have this much.
        let run = || {
            for text in [
                format!("fn f() {{ {}1{} }}", "(".repeat(100_000), ")".repeat(100_000)),
                format!("fn f() {{ {}1 }}", "!".repeat(100_000)),
                format!("fn f() {{ {}1 }}", "return ".repeat(100_000)),
                format!("fn f() {{ {}1 }}", "|x| ".repeat(100_000)),
                format!("fn f() {{ x{} }}", ".y()".repeat(100_000)),
                format!("fn f() {{ 1{} }}", " + 1".repeat(100_000)),
                format!("fn f() {{ {} {{}} }}", "if a {} else ".repeat(100_000)),
                format!("type A = {}u8{};", "A<".repeat(100_000), ">".repeat(100_000)),
                format!("use {}b;", "a::".repeat(100_000)),
                format!("fn f() {{ m!({}{}) }}", "(".repeat(100_000), ")".repeat(100_000)),
            ] {
                let facts = read(&text);
                assert!(facts.problems.iter().any(|p| p.kind == ProblemKind::GaveUp), "{}", &text[..40]);
            }
            // Just below the limits.
            for text in [
                format!("fn f() {{ {}1{} }}", "(".repeat(380), ")".repeat(380)),
                format!("fn f() {{ {}1 }}", "!".repeat(950)),
                format!("fn f() {{ {}1 }}", "return ".repeat(950)),
                format!("fn f() {{ {}1 }}", "|x| ".repeat(950)),
                format!("fn f() {{ {}1 }}", "&".repeat(950)),
                format!("fn f() {{ x{} }}", ".y()".repeat(3_900)),
                format!("fn f() {{ 1{} }}", " + 1".repeat(5_900)),
                format!("fn f() {{ {} {{}} }}", "if a {} else ".repeat(900)),
                format!("type A = {}u8{};", "A<".repeat(950), ">".repeat(950)),
                format!("fn f(a: {}u8) {{}}", "&".repeat(950)),
                format!("use {}b;", "a::".repeat(3_900)),
            ] {
                let facts = read(&text);
                assert!(facts.program.is_some(), "{} {:?}", &text[..40], facts.problems);
            }
        };
        std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap();
    }

    #[test]
    fn a_shebang_and_a_byte_order_mark_do_not_move_places() {
        for text in ["#!/usr/bin/env x\r\nfn f() {}\r\n", "\u{feff}fn f() {}"] {
            let facts = read(text);
            let span = facts.program.unwrap().functions[1].span;
            let source = Source::decode(text.as_bytes().to_vec());
            assert_eq!(source.text.get(span.start as usize..span.end as usize), Some("fn f() {}"));
        }
    }
}
