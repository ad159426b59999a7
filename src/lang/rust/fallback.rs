//! What can be said of a file that does not parse: full paths that are called, and commands
//! given as literals, found token by token. Never sure.

use rustc_hash::{FxHashMap, FxHashSet};

use super::comment::{self, Kind, Token};
use crate::base::facts::{WatchKind, WatchedUse};
use crate::base::site::{Confidence, Site, Via};
use crate::base::span::Span;
use crate::base::text::{Origin, Text};
use crate::command::{CommandContext, Invocation, actions};
use crate::data::commands::CommandCatalogue;
use crate::data::primitives::{Catalogue, RunnerForm};

/// Words that a command's argument list may have after its program here.
const MOST_WORDS: usize = 64;

/// What the tokens say.
#[derive(Debug, Default)]
pub struct Found {
    /// Sites, sorted by place.
    pub sites: Vec<Site>,
    /// Uses of watched names.
    pub watched: Vec<WatchedUse>,
}

/// Reads a text that does not parse.
pub fn read(
    text: &str,
    catalogue: &Catalogue,
    commands: &CommandCatalogue,
    watch: &FxHashSet<String>,
) -> Found {
    let tokens: Vec<Token> = comment::tokens(text).filter(|t| t.kind != Kind::Comment).collect();
    let mut found = Found::default();
    let mut at = 0;
    let imports = imports(text, &tokens);
    while let Some(token) = tokens.get(at) {
        if token.kind != Kind::Word {
            at += 1;
            continue;
        }
        let (path, last) = path_at(text, &tokens, at, watch, &mut found.watched);
        let next = tokens.get(last + 1);
        if next.is_some_and(|t| is_mark(text, t, '(')) && !is_method(text, &tokens, at) {
            let full = expand(&path, &imports);
            let end = tokens.get(last).map_or(token.end, |t| t.end);
            let span = Span::new(token.start, end);
            if let Some(entry) = catalogue.primitive(&full) {
                let mut site = Site::new(span, entry.reported(&full), entry.effect);
                site.confidence = Confidence::Possible;
                found.sites.push(site);
            } else if catalogue.runner(&full).is_some_and(|r| r.form == RunnerForm::Builder) {
                let words = words_after(text, &tokens, last + 1);
                for action in actions(&Invocation::Argv(words), commands, &CommandContext::default()) {
                    let primitive =
                        if action.primitive.is_empty() { full.clone() } else { action.primitive.clone() };
                    let mut site = Site::new(span, primitive, action.effect);
                    site.via = Via::ArgvList;
                    site.target = action.target;
                    site.command = action.words;
                    site.confidence = Confidence::Possible;
                    found.sites.push(site);
                }
            }
        }
        at = last + 1;
    }
    found
}

fn slice<'t>(text: &'t str, token: &Token) -> &'t str {
    text.get(token.start..token.end).unwrap_or("")
}

fn is_mark(text: &str, token: &Token, mark: char) -> bool {
    token.kind == Kind::Mark && slice(text, token).starts_with(mark)
}

fn is_method(text: &str, tokens: &[Token], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|at| tokens.get(at));
    before(1).is_some_and(|t| is_mark(text, t, '.') || slice(text, t) == "fn")
}

/// The path that begins at a word, and the index of its last token.
fn path_at(
    text: &str,
    tokens: &[Token],
    at: usize,
    watch: &FxHashSet<String>,
    watched: &mut Vec<WatchedUse>,
) -> (String, usize) {
    let mut path = String::new();
    let mut last = at;
    let mut next = at;
    while let Some(token) = tokens.get(next).filter(|t| t.kind == Kind::Word) {
        let word = slice(text, token).trim_start_matches("r#");
        if watch.contains(word) {
            watched.push(WatchedUse {
                kind: WatchKind::Symbol,
                name: word.to_owned(),
                span: Span::new(token.start, token.end),
                symbol: "<module>".to_owned(),
            });
        }
        if !path.is_empty() {
            path.push_str("::");
        }
        path.push_str(word);
        last = next;
        let colons = (1..=2).all(|n| tokens.get(next + n).is_some_and(|t| is_mark(text, t, ':')));
        if !colons {
            break;
        }
        next += 3;
    }
    (path, last)
}

/// The last words of plain `use` paths, with the whole path.
fn imports(text: &str, tokens: &[Token]) -> FxHashMap<String, String> {
    let mut found = FxHashMap::default();
    for (at, token) in tokens.iter().enumerate() {
        if slice(text, token) != "use" {
            continue;
        }
        let (path, last) = path_at(text, tokens, at + 1, &FxHashSet::default(), &mut Vec::new());
        let mut name = path.rsplit("::").next().unwrap_or("").to_owned();
        if let (Some(word), Some(renamed)) = (tokens.get(last + 1), tokens.get(last + 2))
            && slice(text, word) == "as"
        {
            name = slice(text, renamed).to_owned();
        }
        if path.contains("::") {
            found.insert(name, path);
        }
    }
    found
}

fn expand(path: &str, imports: &FxHashMap<String, String>) -> String {
    let (first, rest) = path.split_once("::").map_or((path, ""), |(first, rest)| (first, rest));
    match imports.get(first) {
        Some(full) if rest.is_empty() => full.clone(),
        Some(full) => format!("{full}::{rest}"),
        None => path.to_owned(),
    }
}

/// The string literals of the same statement, from its opening parenthesis on.
fn words_after(text: &str, tokens: &[Token], open: usize) -> Vec<Text> {
    let mut words = Vec::new();
    for token in tokens.iter().skip(open) {
        if is_mark(text, token, ';') || words.len() >= MOST_WORDS {
            break;
        }
        if token.kind == Kind::String {
            let literal = slice(text, token);
            let inner = literal.trim_start_matches(['r', 'b', 'c', '#']).trim_end_matches('#');
            words.push(Text::literal(inner.trim_matches('"')));
        }
    }
    if words.is_empty() { vec![Text::free(Origin::Unknown)] } else { words }
}
