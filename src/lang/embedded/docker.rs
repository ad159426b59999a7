//! Dockerfiles: `RUN`, `CMD`, `ENTRYPOINT` and `HEALTHCHECK`, in both forms.

use crate::base::span::Span;
use crate::base::text::Text;
use crate::lang::collect::Collector;
use crate::lang::fragment::Fragment;

use super::data::{Data, Id};

/// One instruction: its keyword and its lines with their places, comments left out.
struct Instruction {
    keyword: String,
    lines: Vec<(String, u32)>,
    /// Lines of a here-document, its end among them.
    document: Vec<(String, u32)>,
}

/// Reads every instruction, stage by stage.
pub(super) fn read(collector: &mut Collector<'_>) {
    let text = collector.source.text.clone();
    let mut entrypoint: Vec<(Text, Span)> = Vec::new();
    let mut entrypoint_found = false;
    for instruction in instructions(&text) {
        let mut keyword = instruction.keyword.as_str();
        let mut lines = instruction.lines.clone();
        // `ONBUILD RUN …`, `HEALTHCHECK --interval=5s CMD …`: the inner instruction counts.
        while matches!(keyword, "ONBUILD" | "HEALTHCHECK") {
            strip_flags(&mut lines);
            let inner = take_word(&mut lines);
            keyword = match inner.to_ascii_uppercase().as_str() {
                "RUN" | "CMD" | "ENTRYPOINT" => "RUN",
                "HEALTHCHECK" => "HEALTHCHECK",
                _ => "",
            };
        }
        match keyword {
            "RUN" => {
                strip_flags(&mut lines);
                run(collector, &lines, &instruction.document);
            }
            "CMD" | "ENTRYPOINT" => {
                let words = exec_form(&lines);
                if words.is_empty() {
                    run(collector, &lines, &[]);
                } else {
                    let found = collector.argv(&words);
                    if keyword == "ENTRYPOINT" {
                        entrypoint_found = found;
                        entrypoint = words;
                    } else if !found && !entrypoint.is_empty() {
                        // The command is the entry point's arguments: a kill there is aimed at what they name.
                        let place =
                            |words: &[(Text, Span)]| words.first().map(|(_, s)| *s).unwrap_or_default();
                        let at = if entrypoint_found { place(&entrypoint) } else { place(&words) };
                        let earlier = std::mem::take(&mut collector.facts.sites);
                        let joined: Vec<_> =
                            entrypoint.iter().chain(&words).map(|(text, _)| (text.clone(), at)).collect();
                        let replaced = collector.argv(&joined) && entrypoint_found;
                        let kept = earlier.into_iter().filter(|s| !(replaced && s.span.start == at.start));
                        collector.facts.sites.extend(kept);
                    }
                }
            }
            "FROM" => entrypoint.clear(),
            _ => {}
        }
    }
}

fn run(collector: &mut Collector<'_>, lines: &[(String, u32)], document: &[(String, u32)]) {
    let words = exec_form(lines);
    if !words.is_empty() {
        collector.argv(&words);
        return;
    }
    let span = lines
        .first()
        .map(|(line, at)| Span::new(*at as usize, *at as usize + line.len()))
        .unwrap_or_default();
    let mut fragment = Fragment::at(span);
    let bare = lines.first().is_some_and(|(line, _)| line.trim_start().starts_with("<<"));
    if bare {
        // `RUN <<EOF`: the document is the script, unless it names another interpreter.
        let shebang = document.first().and_then(|(line, _)| line.trim().strip_prefix("#!"));
        if shebang.is_some_and(|s| !s.contains("sh")) {
            return;
        }
        let body = document.get(..document.len().saturating_sub(1)).unwrap_or(&[]);
        for (line, at) in body {
            fragment.literal(line, *at);
        }
    } else {
        for (line, at) in lines.iter().chain(document) {
            fragment.literal(line, *at);
        }
    }
    collector.shell(&fragment);
}

/// The words of `["a", "b"]`; nothing for the shell form.
fn exec_form(lines: &[(String, u32)]) -> Vec<(Text, Span)> {
    let Some((first, at)) = lines.first() else { return Vec::new() };
    if !first.trim_start().starts_with('[') {
        return Vec::new();
    }
    let mut text = String::new();
    let mut anchors: Vec<(usize, u32)> = Vec::new();
    for (line, at) in lines {
        anchors.push((text.len(), *at));
        text.push_str(line.trim_end().strip_suffix('\\').unwrap_or(line));
    }
    let data = Data::json(&text);
    if data.fault.is_some() {
        return Vec::new();
    }
    let host = |offset: u32| {
        let i = anchors.partition_point(|(here, _)| *here <= offset as usize);
        anchors
            .get(i.saturating_sub(1))
            .map_or(*at, |(here, host)| host + (offset - u32::try_from(*here).unwrap_or(0)))
    };
    let root: Option<Id> = data.roots.first().copied();
    let items = root.map(|r| data.items(r)).unwrap_or(&[]);
    items
        .iter()
        .filter_map(|&id| {
            let node = data.node(id)?;
            let span = Span { start: host(node.span.start), end: host(node.span.end) };
            Some((Text::literal(data.text(id)?), span))
        })
        .collect()
}

/// Takes `--flag=value` words off the front.
fn strip_flags(lines: &mut [(String, u32)]) {
    for (line, at) in lines.iter_mut() {
        loop {
            let body = line.trim_start();
            if !body.starts_with("--") {
                break;
            }
            let end = body.find(char::is_whitespace).unwrap_or(body.len());
            cut(line, at, line.len() - body.len() + end);
        }
        let body = line.trim_start();
        if !(body.is_empty() || body.trim_end() == "\\") {
            return;
        }
    }
}

fn take_word(lines: &mut [(String, u32)]) -> String {
    for (line, at) in lines.iter_mut() {
        let body = line.trim_start();
        let word = body.split_whitespace().next().unwrap_or("").to_owned();
        if word.is_empty() || word == "\\" {
            let all = line.len();
            cut(line, at, all);
            continue;
        }
        let end = line.len() - body.len() + word.len();
        cut(line, at, end);
        return word;
    }
    String::new()
}

/// Takes the first `bytes` off a line and moves its place.
fn cut(line: &mut String, at: &mut u32, bytes: usize) {
    *at = at.saturating_add(u32::try_from(bytes).unwrap_or(0));
    *line = line.get(bytes..).unwrap_or("").to_owned();
}

fn instructions(text: &str) -> Vec<Instruction> {
    let mut found: Vec<Instruction> = Vec::new();
    let escape = if text.lines().take(3).any(is_backtick_escape) { '`' } else { '\\' };
    let mut open: Option<Instruction> = None;
    let mut ends: Vec<String> = Vec::new();
    let mut at = 0usize;
    for line in text.split_inclusive('\n') {
        let start = u32::try_from(at).unwrap_or(u32::MAX);
        at += line.len();
        if let Some(end) = ends.first() {
            let closes = line.trim() == end.as_str();
            if let Some(instruction) = &mut open {
                instruction.document.push((line.to_owned(), start));
            }
            if closes {
                ends.remove(0);
                if ends.is_empty() {
                    found.extend(open.take());
                }
            }
            continue;
        }
        let body = line.trim();
        // A blank line does not end an instruction that is continued.
        if body.starts_with('#') || body.is_empty() {
            continue;
        }
        let continued = body.ends_with(escape);
        let mut lines =
            vec![(if escape == '`' && continued { line.replace('`', "\\") } else { line.to_owned() }, start)];
        match &mut open {
            Some(instruction) => instruction.lines.append(&mut lines),
            None => {
                let keyword = take_word(&mut lines).to_ascii_uppercase();
                open = Some(Instruction { keyword, lines, document: Vec::new() });
            }
        }
        if continued {
            continue;
        }
        let here = open.as_ref().is_some_and(|i| matches!(i.keyword.as_str(), "RUN" | "COPY" | "ADD"));
        if here {
            ends = here_documents(line);
        }
        if ends.is_empty() {
            found.extend(open.take());
        }
    }
    found.extend(open);
    found
}

/// `# escape=` with a backtick, however it is spaced.
fn is_backtick_escape(line: &str) -> bool {
    let setting = line.trim().strip_prefix('#').and_then(|rest| rest.split_once('='));
    setting.is_some_and(|(key, value)| key.trim().eq_ignore_ascii_case("escape") && value.trim() == "`")
}

/// The delimiters of the here-documents that a line opens: words of their own, outside of quotes, as
/// the builder reads them, so that `$((1<<3))` opens none.
fn here_documents(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut quote = None;
    let mut start = None;
    let mut escaped = false;
    for (i, c) in line.char_indices().chain([(line.len(), ' ')]) {
        if quote.is_none() && !escaped && c.is_whitespace() {
            let word = start.take().and_then(|start: usize| line.get(start..i)).unwrap_or("");
            found.extend(here_document(word));
            continue;
        }
        start = start.or(Some(i));
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    found
}

/// The delimiter of `<<EOF`, `3<<-"EOF"` and their like.
fn here_document(word: &str) -> Option<String> {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix("<<")?;
    let name = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(['"', '\'']);
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    (end > 0 && !rest.contains('<')).then(|| name.get(..end).unwrap_or("").to_owned())
}
