//! justfiles: recipe lines, recipes with a shebang, and backticks in assignments.

use std::collections::BTreeMap;

use crate::base::span::Span;
use crate::lang::collect::Collector;
use crate::lang::fragment::Fragment;

/// Reads recipes and assignments.
pub(super) fn read(collector: &mut Collector<'_>) {
    let text = collector.source.text.clone();
    let variables = variables(&text);
    let mut body: Vec<(&str, usize)> = Vec::new();
    let mut in_recipe = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let indented = line.starts_with([' ', '\t']);
        if in_recipe && (indented || line.trim().is_empty()) {
            body.push((line, start));
            continue;
        }
        recipe(collector, &variables, &std::mem::take(&mut body));
        in_recipe = is_header(line);
        backticks(collector, line, start);
    }
    recipe(collector, &variables, &body);
}

/// A recipe's first line: no assignment, no setting, a colon.
fn is_header(line: &str) -> bool {
    let body = line.trim_end();
    !body.starts_with(['#', '[', ' ', '\t'])
        && !["set ", "export ", "alias ", "import ", "mod "].iter().any(|word| body.starts_with(word))
        && body.contains(':')
        && !body.split_once(":=").is_some_and(|(name, _)| !name.contains(':') && !name.trim().contains(' '))
}

fn variables(text: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let body = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = body.split_once(":=") else { continue };
        let value = value.trim();
        let quoted =
            value.len() >= 2 && matches!(value.chars().next(), Some(q @ ('"' | '\'')) if value.ends_with(q));
        if quoted {
            found.insert(name.trim(), value.get(1..value.len() - 1).unwrap_or(""));
        }
    }
    found
}

fn recipe(collector: &mut Collector<'_>, variables: &BTreeMap<&str, &str>, body: &[(&str, usize)]) {
    let Some((first, _)) = body.iter().find(|(line, _)| !line.trim().is_empty()) else { return };
    if let Some(shebang) = first.trim().strip_prefix("#!") {
        let program = shebang.rsplit(['/', ' ']).next().unwrap_or(shebang);
        if !program.ends_with("sh") && !shebang.contains("sh ") {
            return;
        }
        let mut script = Fragment::default();
        for (line, at) in body {
            interpolate(&mut script, variables, line, *at);
        }
        collector.shell(&script);
        return;
    }
    let mut command = Fragment::default();
    for (line, at) in body {
        let trimmed = line.trim_start();
        let bare =
            if command.text.pieces().is_empty() { trimmed.trim_start_matches(['@', '-']) } else { trimmed };
        let from = at + line.len() - bare.len();
        if command.text.pieces().is_empty() {
            command = Fragment::at(Span::new(from, from + bare.trim_end().len()));
        }
        interpolate(&mut command, variables, bare, from);
        if !line.trim_end().ends_with('\\') {
            collector.shell(&std::mem::take(&mut command));
        }
    }
    collector.shell(&command);
}

/// Appends a line with `{{ … }}` replaced.
fn interpolate(fragment: &mut Fragment, variables: &BTreeMap<&str, &str>, line: &str, at: usize) {
    let place = |i: usize| u32::try_from(at + i).unwrap_or(u32::MAX);
    let mut from = 0;
    while let Some(start) = line.get(from..).and_then(|r| r.find("{{")).map(|f| from + f) {
        let Some(end) = line.get(start..).and_then(|r| r.find("}}")).map(|f| start + f) else { break };
        fragment.literal(line.get(from..start).unwrap_or(""), place(from));
        match variables.get(line.get(start + 2..end).unwrap_or("").trim()) {
            Some(value) => fragment.literal(value, place(start)),
            None => fragment.free(),
        }
        from = end + 2;
    }
    fragment.literal(line.get(from..).unwrap_or(""), place(from));
}

/// `` name := `command` ``.
fn backticks(collector: &mut Collector<'_>, line: &str, start: usize) {
    let Some((name, value)) = line.split_once(":=") else { return };
    let mut parts = value.split('`');
    let Some(before) = parts.next() else { return };
    if let Some(command) = parts.next() {
        let at = start + name.len() + 2 + before.len() + 1;
        let mut fragment = Fragment::at(Span::new(at, at + command.len()));
        fragment.literal(command, u32::try_from(at).unwrap_or(u32::MAX));
        collector.shell(&fragment);
    }
}
