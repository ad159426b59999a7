//! Makefiles: recipe lines and `$(shell …)`, with variables that fold.

use std::collections::BTreeMap;

use crate::base::span::Span;
use crate::lang::collect::Collector;
use crate::lang::fragment::Fragment;

/// How deep variables are expanded in variables.
const MAX_DEPTH: u32 = 6;
/// How long an expanded line may become.
const MAX_LENGTH: usize = 1 << 16;

/// A line with its continued lines.
struct Logical<'t> {
    text: &'t str,
    at: usize,
}

/// Reads recipes and shell functions.
pub(super) fn read(collector: &mut Collector<'_>) {
    let text = collector.source.text.clone();
    let lines = logical_lines(&text);
    let definitions = definitions(&lines);
    let variables = variables(&lines, &definitions);
    let mut prefix = '\t';
    let mut defined = None;
    for line in &lines {
        if let Some(plain) = defined {
            if is_word(line.text, "endef") {
                defined = None;
            }
            if plain {
                continue;
            }
        } else if let Some(definition) = definitions.iter().find(|d| d.at == line.at) {
            defined = Some(!definition.makes_rules);
            continue;
        }
        if let Some((_, '!', command)) = assignment(line.text).filter(|_| !line.text.starts_with(prefix)) {
            let at = line.at + line.text.find(command).unwrap_or(0);
            recipe(collector, &variables, command, at);
            continue;
        }
        if let Some(value) = line.text.trim().strip_prefix(".RECIPEPREFIX") {
            prefix = value.trim_start_matches([' ', ':', '=']).chars().next().unwrap_or('\t');
            continue;
        }
        if line.text.starts_with(prefix) {
            recipe(
                collector,
                &variables,
                line.text.get(prefix.len_utf8()..).unwrap_or(""),
                line.at + prefix.len_utf8(),
            );
            // make runs these itself, before the recipe.
            shell_functions(collector, &variables, line);
        } else if !line.text.trim_start().starts_with('#') {
            if assignment(line.text).is_none()
                && let Some((rule, inline)) = line.text.split_once(';')
                && rule.contains(':')
            {
                recipe(collector, &variables, inline, line.at + rule.len() + 1);
            }
            shell_functions(collector, &variables, line);
        }
    }
}

fn logical_lines(text: &str) -> Vec<Logical<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            continue;
        }
        found.push(Logical { text: text.get(start..at).unwrap_or(""), at: start });
        start = at;
    }
    if start < at {
        found.push(Logical { text: text.get(start..at).unwrap_or(""), at: start });
    }
    found
}

/// `NAME = value` with any of make's operators: the name, the sign before the `=` (a blank for none), the value.
fn assignment(line: &str) -> Option<(&str, char, &str)> {
    let line = line.split('#').next().unwrap_or(line);
    let mut body = line.trim_start();
    for word in ["export ", "override ", "private "] {
        body = body.strip_prefix(word).unwrap_or(body).trim_start();
    }
    let at = body.find('=')?;
    let before = body.get(..at)?;
    let sign = before.chars().next_back().filter(|c| matches!(c, ':' | '?' | '+' | '!')).unwrap_or(' ');
    let name = before.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
    let plain =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    plain.then(|| (name, sign, body.get(at + 1..).unwrap_or("").trim()))
}

/// `define NAME … endef`.
struct Definition<'t> {
    name: &'t str,
    /// Where its first line stands.
    at: usize,
    /// Its lines, as a recipe has them.
    value: String,
    /// It holds rules, for `$(eval …)`: the lines of their recipes are read where they stand.
    makes_rules: bool,
}

fn definitions<'t>(lines: &[Logical<'t>]) -> Vec<Definition<'t>> {
    let mut found: Vec<Definition<'t>> = Vec::new();
    let mut open = false;
    for line in lines {
        if open {
            open = !is_word(line.text, "endef");
            if let Some(definition) = found.last_mut().filter(|_| open) {
                let rule = line.text.split_once(':').is_some_and(|(target, _)| !target.trim().contains(' '));
                definition.makes_rules |= rule && !line.text.starts_with(['\t', ' ', '@']);
                definition.value.push_str(line.text.trim_start_matches(['@', '-', '+', ' ', '\t']));
            }
            continue;
        }
        let body = line.text.trim_start_matches(' ');
        let body = ["export ", "override "]
            .iter()
            .fold(body, |b, word| b.strip_prefix(word).unwrap_or(b).trim_start());
        if let Some(name) = body.strip_prefix("define").filter(|rest| rest.starts_with([' ', '\t'])) {
            let name = name.trim().trim_end_matches(['=', ':', '?', '+', ' ', '\t']);
            found.push(Definition { name, at: line.at, value: String::new(), makes_rules: false });
            open = true;
        }
    }
    found
}

fn is_word(line: &str, word: &str) -> bool {
    line.split_whitespace().next() == Some(word)
}

/// Variables that the file gives one value.
fn variables(lines: &[Logical<'_>], definitions: &[Definition<'_>]) -> BTreeMap<String, Option<String>> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut add = |name: &str, sign: char, value: String| {
        let known = found.entry(name.to_owned());
        known
            .and_modify(|known| match known {
                Some(text) if sign == '+' => *text = format!("{text} {value}"),
                Some(text) if *text == value => {}
                _ => *known = None,
            })
            .or_insert(Some(value));
    };
    for line in lines.iter().filter(|l| !l.text.starts_with('\t')) {
        // `target: NAME = value` holds for that target.
        let of_target = || line.text.split_once(':').and_then(|(_, rest)| assignment(rest));
        let Some((name, sign, value)) = assignment(line.text).or_else(of_target) else { continue };
        if sign != '!' {
            add(name, sign, value.replace("\\\r\n", " ").replace("\\\n", " "));
        }
    }
    for definition in definitions.iter().filter(|d| !d.makes_rules) {
        add(definition.name, ' ', definition.value.clone());
    }
    found
}

fn recipe(
    collector: &mut Collector<'_>,
    variables: &BTreeMap<String, Option<String>>,
    line: &str,
    at: usize,
) {
    let body = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
    let at = at + line.len() - body.len();
    let mut fragment = Fragment::at(Span::new(at, at + body.trim_end().len()));
    let known = Known { variables, prefixes: &collector.catalogue.prefix_variables };
    expand(&mut fragment, &known, body, Some(at), 0);
    collector.shell(&fragment);
}

struct Known<'a> {
    variables: &'a BTreeMap<String, Option<String>>,
    prefixes: &'a [String],
}

/// Appends a text with make's references taken out; `at` is `None` inside a variable's value.
fn expand(fragment: &mut Fragment, known: &Known<'_>, text: &str, at: Option<usize>, depth: u32) {
    let place = |i: usize| u32::try_from(at.map_or(fragment_end(fragment), |at| at + i)).unwrap_or(u32::MAX);
    let mut pending: Vec<(usize, usize, Reference)> = Vec::new();
    let mut i = 0;
    while let Some(dollar) = text.get(i..).and_then(|r| r.find('$')).map(|f| i + f) {
        let (reference, end) = reference(text, dollar);
        pending.push((dollar, end, reference));
        i = end;
    }
    let mut from = 0;
    let mut places = Vec::new();
    for (start, end, _) in &pending {
        places.push((place(from), place(*start)));
        from = *end;
    }
    let tail = place(from);
    let mut from = 0;
    for ((start, end, reference), (before, here)) in pending.into_iter().zip(places) {
        fragment.literal(text.get(from..start).unwrap_or(""), before);
        from = end;
        match reference {
            Reference::Dollar => fragment.literal("$", here),
            Reference::Free => fragment.free(),
            Reference::Name(name) => match known.variables.get(&name) {
                Some(Some(value)) if depth < MAX_DEPTH && value.len() < MAX_LENGTH => {
                    let value = value.clone();
                    let mut inner = Fragment::at(Span { start: here, end: here });
                    expand(&mut inner, known, &value, Some(here as usize), depth + 1);
                    append(fragment, &inner, here);
                }
                _ => match name.as_str() {
                    "MAKE" => fragment.literal("make", here),
                    "RM" => fragment.literal("rm -f", here),
                    "SHELL" => fragment.literal("sh", here),
                    _ if known.prefixes.contains(&name) => {}
                    _ => fragment.free(),
                },
            },
        }
    }
    fragment.literal(text.get(from..).unwrap_or(""), tail);
}

fn fragment_end(fragment: &Fragment) -> usize {
    fragment.span.start as usize
}

/// A variable's value stands where it is used.
fn append(fragment: &mut Fragment, value: &Fragment, at: u32) {
    for piece in value.text.pieces() {
        match piece {
            crate::base::text::Piece::Literal(text) => fragment.literal(text, at),
            _ => fragment.free(),
        }
    }
}

enum Reference {
    Dollar,
    Name(String),
    Free,
}

/// What stands at a dollar sign, and where it ends.
fn reference(text: &str, at: usize) -> (Reference, usize) {
    let rest = text.get(at + 1..).unwrap_or("");
    let Some(first) = rest.chars().next() else { return (Reference::Free, at + 1) };
    let close = match first {
        '$' => return (Reference::Dollar, at + 2),
        '(' => ')',
        '{' => '}',
        _ => return (Reference::Free, at + 1 + first.len_utf8()),
    };
    let mut depth = 0;
    for (i, c) in rest.char_indices() {
        if c == first {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                let name = rest.get(1..i).unwrap_or("");
                // `$(call NAME,…)` is its value, with places for the arguments.
                let called = name.strip_prefix("call ").map(|c| c.split(',').next().unwrap_or(c).trim());
                let name = called.unwrap_or(name);
                let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
                let reference = if plain { Reference::Name(name.to_owned()) } else { Reference::Free };
                return (reference, at + 1 + i + c.len_utf8());
            }
        }
    }
    (Reference::Free, text.len())
}

/// The commands of `$(shell …)`.
fn shell_functions(
    collector: &mut Collector<'_>,
    variables: &BTreeMap<String, Option<String>>,
    line: &Logical<'_>,
) {
    for (at, _) in line.text.match_indices("$(shell ").chain(line.text.match_indices("${shell ")) {
        let (_, end) = reference(line.text, at);
        let body = at + "$(shell ".len();
        let text = line.text.get(body..end.saturating_sub(1)).unwrap_or("");
        recipe(collector, variables, text, line.at + body);
    }
}
