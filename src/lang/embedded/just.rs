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
    let mut commands = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if commands.last().is_some_and(|&(_, end)| start < end) {
            // Still inside of a command over several lines.
            continue;
        }
        let indented = line.starts_with([' ', '\t']);
        if in_recipe && (indented || line.trim().is_empty()) {
            body.push((line, start));
            continue;
        }
        recipe(collector, &variables, &std::mem::take(&mut body));
        in_recipe = is_header(line);
        if !line.starts_with('#') {
            expression(&text, start, start + line.len(), &mut commands);
        }
    }
    recipe(collector, &variables, &body);
    for (start, end) in commands {
        collector.shell(&Fragment::of_host(&text, Span::new(start, end)));
    }
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
    interpolated(collector, body);
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

/// The commands in the expressions of `{{ … }}`.
fn interpolated(collector: &mut Collector<'_>, body: &[(&str, usize)]) {
    let text = collector.source.text.clone();
    let mut commands = Vec::new();
    for (line, at) in body {
        let mut from = 0;
        while let Some(start) = line.get(from..).and_then(|r| r.find("{{")).map(|f| from + f + 2) {
            let Some(end) = line.get(start..).and_then(|r| r.find("}}")).map(|f| start + f) else { break };
            expression(&text, at + start, at + end, &mut commands);
            from = end + 2;
        }
    }
    for (start, end) in commands {
        collector.shell(&Fragment::of_host(&text, Span::new(start, end)));
    }
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

/// The commands of an expression between two offsets: in backticks, which three of them open over several lines,
/// and the text that is given to `shell`.
fn expression(text: &str, from: usize, to: usize, found: &mut Vec<(usize, usize)>) {
    let mut at = from;
    while at < to {
        let rest = text.get(at..).unwrap_or("");
        let mark = ["```", "`", "\"", "'"].into_iter().find(|mark| rest.starts_with(mark));
        let Some(mark) = mark else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let start = at + mark.len();
        // Only the long form goes over line ends.
        let within = if mark.len() == 3 { text.get(start..) } else { text.get(start..to) };
        let Some(length) = within.and_then(|t| t.find(mark)) else { return };
        let given = text.get(from..at).is_some_and(|t| t.trim_end().ends_with("shell("));
        if mark.starts_with('`') || given {
            found.push((start, start + length));
        }
        at = start + length + mark.len();
    }
}
