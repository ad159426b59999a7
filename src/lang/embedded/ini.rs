//! `tox.ini` and supervisord's configuration: sections, keys, continued values.

use crate::base::facts::ProblemKind;
use crate::base::span::Span;
use crate::base::text::Text;
use crate::lang::collect::Collector;
use crate::lang::fragment::Fragment;

/// One key of an INI file.
struct Entry {
    section: String,
    key: String,
    key_span: Span,
    /// Lines of the value with their places, comments and blank lines left out.
    lines: Vec<(String, u32)>,
}

/// Reads `[section]`, `key = value`, and indented lines that continue a value.
fn entries(text: &str, inline_comment: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut section = String::new();
    let mut at = 0usize;
    let mut open = false;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end();
        let trimmed = body.trim_start();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let indented = body.len() != trimmed.len();
        let push = |entry: &mut Entry, value: &str, from: usize| {
            let value = match value.find(inline_comment) {
                Some(end) if !inline_comment.is_empty() => value.get(..end).unwrap_or(value),
                _ => value,
            };
            if !value.trim().is_empty() {
                entry.lines.push((value.trim_end().to_owned(), u32::try_from(from).unwrap_or(u32::MAX)));
            }
        };
        if indented && open {
            if let Some(entry) = found.last_mut() {
                push(entry, trimmed, start + body.len() - trimmed.len());
            }
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[') {
            section = name.split(']').next().unwrap_or("").to_owned();
            open = false;
            continue;
        }
        let Some(split) = trimmed.find(['=', ':']) else { continue };
        let (key, value) = trimmed.split_at(split);
        let value = value.get(1..).unwrap_or("");
        let from = start + body.len() - value.trim_start().len();
        let key_start = start + body.len() - trimmed.len();
        let mut entry = Entry {
            section: section.clone(),
            key: key.trim().to_ascii_lowercase(),
            key_span: Span::new(key_start, key_start + key.trim_end().len()),
            lines: Vec::new(),
        };
        push(&mut entry, value.trim_start(), from);
        found.push(entry);
        open = true;
    }
    found
}

/// `tox.ini`: `commands`, `commands_pre`, `commands_post`.
pub(super) fn tox(collector: &mut Collector<'_>) {
    let text = collector.source.text.clone();
    tox_text(collector, &text, &|at| at);
}

/// The same of a text that stands elsewhere; `host` maps its offsets.
pub(super) fn tox_text(collector: &mut Collector<'_>, text: &str, host: &dyn Fn(u32) -> u32) {
    for entry in entries(text, "") {
        if !matches!(entry.key.as_str(), "commands" | "commands_pre" | "commands_post") {
            continue;
        }
        let mut fragment = Fragment::default();
        let mut pending = false;
        for (line, at) in &entry.lines {
            // A dash before a command means that its failure is ignored; `{…}` is tox's own substitution.
            let body = if pending { line.as_str() } else { after_factors(line) };
            let at = at + u32::try_from(line.len() - body.len()).unwrap_or(0);
            pending = body.ends_with('\\');
            substituted(&mut fragment, body, '{', '}', host, at);
            fragment.literal("\n", host(at));
        }
        collector.shell(&fragment);
    }
}

/// A line of tox's commands without the factors that it is for (`py38,lint: `) and the mark that its failure
/// is ignored.
fn after_factors(line: &str) -> &str {
    let factors = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | '-' | '!' | '{' | '}' | ' '))
    };
    let body = match line.split_once(": ") {
        Some((before, command)) if factors(before) => command,
        _ => line,
    };
    body.trim_start_matches(['-', '!', ' ', '\t'])
}

/// Appends text in which `open … close` stands for something unknown; of `{posargs:…}` it is known what stands
/// there if nothing is given.
fn substituted(
    fragment: &mut Fragment,
    text: &str,
    open: char,
    close: char,
    host: &dyn Fn(u32) -> u32,
    at: u32,
) {
    let mut from = 0usize;
    let place = |i: usize| host(at.saturating_add(u32::try_from(i).unwrap_or(0)));
    while let Some(start) = text.get(from..).and_then(|r| r.find(open)).map(|i| from + i) {
        let Some(end) = text.get(start..).and_then(|r| r.find(close)).map(|i| start + i) else { break };
        fragment.literal(text.get(from..start).unwrap_or(""), place(from));
        let inner = text.get(start + open.len_utf8()..end).unwrap_or("");
        match inner.strip_prefix("posargs:") {
            Some(default) => fragment.literal(default, place(end - default.len())),
            None => fragment.free(),
        }
        from = end + close.len_utf8();
    }
    fragment.literal(text.get(from..).unwrap_or(""), place(from));
}

/// supervisord: `command`, and `autorestart` without an end.
pub(super) fn supervisord(collector: &mut Collector<'_>) {
    let text = collector.source.text.clone();
    for entry in entries(&text, " ;") {
        let program =
            ["program:", "eventlistener:", "fcgi-program:"].iter().any(|s| entry.section.starts_with(s));
        if !program {
            continue;
        }
        match entry.key.as_str() {
            "command" => {
                // Quotes go over line ends: the lines stand in one text, as far apart as they are in the file.
                let first = entry.lines.first().map_or(0, |(_, at)| *at);
                let mut value = String::new();
                for (line, at) in &entry.lines {
                    value.extend(std::iter::repeat_n(
                        ' ',
                        ((at - first) as usize).saturating_sub(value.len()),
                    ));
                    value.push_str(line);
                }
                collector.argv(&split(&value, first, Escapes::Characters));
            }
            "autorestart" if entry.lines.first().is_some_and(|(v, _)| v.eq_ignore_ascii_case("true")) => {
                let message = "`autorestart=true` starts the program again for ever, whatever it exits with; \
                               `autorestart=unexpected` with `exitcodes` gives it a final exit status";
                collector.problem(ProblemKind::UnboundedRestart, entry.key_span, message);
            }
            _ => {}
        }
    }
}

/// What a backslash spells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// The character after it.
    Characters,
    /// The same, and bytes by their numbers (`\x70`, `\160`), in any quotes.
    Numbers,
}

/// Words with quotes and backslashes, as supervisord and systemd split them; no shell reads them.
pub(super) fn split(line: &str, at: u32, escapes: Escapes) -> Vec<(Text, Span)> {
    let mut words = Vec::new();
    let mut word: Option<(String, usize)> = None;
    let mut quote = None;
    let mut chars = line.char_indices();
    let place = |i: usize| at.saturating_add(u32::try_from(i).unwrap_or(0));
    while let Some((i, c)) = chars.next() {
        if let (Escapes::Numbers, '\\', Some((meant, length))) = (escapes, c, number(chars.as_str())) {
            word.get_or_insert((String::new(), i)).0.push(meant);
            chars.nth(length - 1);
            continue;
        }
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"') | None, '\\') => {
                let (text, _) = word.get_or_insert((String::new(), i));
                match chars.next() {
                    Some((_, next)) => text.push(next),
                    None => text.push('\\'),
                }
            }
            (Some(_), c) => word.get_or_insert((String::new(), i)).0.push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert((String::new(), i));
            }
            (None, c) if c.is_whitespace() => {
                if let Some((text, start)) = word.take() {
                    words.push((Text::literal(text), Span { start: place(start), end: place(i) }));
                }
            }
            (None, c) => word.get_or_insert((String::new(), i)).0.push(c),
        }
    }
    if let Some((text, start)) = word {
        words.push((Text::literal(text), Span { start: place(start), end: place(line.len()) }));
    }
    words
}

/// The ASCII character that a number after a backslash spells, and the number's length: `x70`, `160`.
fn number(rest: &str) -> Option<(char, usize)> {
    let (digits, base) = match rest.strip_prefix('x') {
        Some(hex) => (hex.get(..2)?, 16),
        None => (rest.get(..3)?, 8),
    };
    let code = u8::from_str_radix(digits, base).ok().filter(u8::is_ascii)?;
    // Three characters either way.
    Some((char::from(code), 3))
}
