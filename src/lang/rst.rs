//! reStructuredText: code-block directives and inline literals, line by line.

use crate::base::span::Span;

use super::collect::Collector;
use super::document::{Fence, fence_kind, script, spoken};
use super::prose;

/// Reads a document.
pub(super) fn read(collector: &mut Collector<'_>) {
    let text = collector.source.text.clone();
    let lines = lines(&text);
    let mut paragraph: Vec<(&str, usize)> = Vec::new();
    let mut lead = String::new();
    let mut i = 0;
    while let Some(&(line, at)) = lines.get(i) {
        let body = line.trim();
        if let Some(info) = directive(body) {
            let end = block_end(&lines, i);
            close(collector, &text, &mut paragraph, &mut lead);
            let last =
                prose::sentence_starts(&lead).last().and_then(|&s| lead.get(s..)).unwrap_or("").to_owned();
            let forbidden = lead.trim_end().ends_with(':') && prose::marks_as_bad(&last);
            if let (Some(kind), false) = (fence_kind(info), forbidden) {
                block(collector, lines.get(i + 1..end).unwrap_or(&[]), kind);
            }
            lead.clear();
            i = end;
            continue;
        }
        if let Some(said) = around(body) {
            close(collector, &text, &mut paragraph, &mut lead);
            lead.clear();
            if !said.is_empty() {
                paragraph.push((said, at + line.trim_end().len() - said.len()));
            }
            i += 1;
            continue;
        }
        if body.starts_with(".. ") {
            // Another directive or a comment: its block is no prose.
            close(collector, &text, &mut paragraph, &mut lead);
            i = block_end(&lines, i);
            continue;
        }
        if body.is_empty() {
            close(collector, &text, &mut paragraph, &mut lead);
        } else if body.ends_with("::") {
            // A literal block without a language is not read.
            paragraph.push((line, at));
            close(collector, &text, &mut paragraph, &mut lead);
            i = block_end(&lines, i);
            continue;
        } else {
            paragraph.push((line, at));
        }
        i += 1;
    }
    close(collector, &text, &mut paragraph, &mut lead);
}

fn lines(text: &str) -> Vec<(&str, usize)> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let start = at;
            at += line.len();
            (line, start)
        })
        .collect()
}

/// The language of a code directive.
fn directive(body: &str) -> Option<&str> {
    let rest = body.strip_prefix(".. ")?;
    let (name, language) = rest.split_once("::")?;
    matches!(name.trim(), "code-block" | "code" | "sourcecode" | "prompt").then_some(language.trim())
}

/// Directives whose block is a part of the document like any other.
const AROUND: &[&str] = &[
    "admonition",
    "attention",
    "card",
    "caution",
    "collapse",
    "container",
    "danger",
    "deprecated",
    "details",
    "dropdown",
    "error",
    "group-tab",
    "hint",
    "important",
    "note",
    "only",
    "seealso",
    "sidebar",
    "tab",
    "tab-item",
    "tab-set",
    "tabs",
    "tip",
    "topic",
    "versionadded",
    "versionchanged",
    "warning",
];

/// What stands on the line of a directive whose block is read as a part of the document.
fn around(body: &str) -> Option<&str> {
    let (name, said) = body.strip_prefix(".. ")?.split_once("::")?;
    AROUND.contains(&name.trim()).then(|| said.trim())
}

/// The line after the indented block that follows line `i`.
fn block_end(lines: &[(&str, usize)], i: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = lines.get(i).map_or(0, |(line, _)| indent(line));
    let mut end = i + 1;
    while let Some((line, _)) = lines.get(end) {
        if !line.trim().is_empty() && indent(line) <= own {
            break;
        }
        end += 1;
    }
    end
}

/// A code block's lines, its options left out.
fn block(collector: &mut Collector<'_>, lines: &[(&str, usize)], kind: Fence) {
    let mut found = Vec::new();
    let mut options = true;
    for (line, at) in lines {
        let body = line.trim_start();
        if options && body.starts_with(':') {
            continue;
        }
        options &= body.trim().is_empty();
        found.push((body, at + line.len() - body.len()));
    }
    script(collector, &found, kind);
}

/// The end of a paragraph: its inline literals are held against its sentences.
fn close(collector: &mut Collector<'_>, text: &str, paragraph: &mut Vec<(&str, usize)>, lead: &mut String) {
    let (Some((_, start)), Some((line, last))) = (paragraph.first().copied(), paragraph.last().copied())
    else {
        return;
    };
    let end = last + line.len();
    let body = text.get(start..end).unwrap_or("");
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(open) = body.get(from..).and_then(|r| r.find("``")).map(|i| from + i) {
        let Some(close) = body.get(open + 2..).and_then(|r| r.find("``")).map(|i| open + 2 + i) else {
            break;
        };
        spans.push((Span::new(start + open, start + close + 2), Span::new(start + open + 2, start + close)));
        from = close + 2;
    }
    spoken(collector, text, start, body, &spans, false, false);
    *lead = body.to_owned();
    paragraph.clear();
}

#[cfg(test)]
mod tests {
    use crate::base::source::Source;
    use crate::data::commands::CommandCatalogue;
    use crate::lang::document::facts;

    #[test]
    fn blocks_and_literals() {
        let text = "Title\n=====\n\n.. code-block:: bash\n   :caption: x\n\n   pkill -f x\n\nNever run ``killall a``.\n\nRun ``killall b``.\n\n\
                    .. code-block:: python\n\n   t = \"pkill\"\n\nNever do this:\n\n.. code-block:: sh\n\n   reboot\n\nText::\n\n   pkill y\n";
        let source = Source::new(text);
        let facts = facts("a.rst", &source, &CommandCatalogue::built_in());
        let lines: Vec<_> = facts.sites.iter().map(|s| source.position(s.span.start).line).collect();
        assert_eq!(lines, [7, 11]);
    }

    #[test]
    fn what_stands_in_a_note_or_a_tab_is_read() {
        let text = ".. note:: Run ``killall a``.\n\n   .. code-block:: sh\n\n      reboot\n\n.. tabs::\n\n   .. tab:: x\n\n      .. code:: sh\n\n         pkill b\n\n\
                    .. danger::\n\n   Never run ``killall c``.\n\n.. a comment\n\n   .. code:: sh\n\n      reboot\n";
        let source = Source::new(text);
        let facts = facts("a.rst", &source, &CommandCatalogue::built_in());
        let lines: Vec<_> = facts.sites.iter().map(|s| source.position(s.span.start).line).collect();
        assert_eq!(lines, [1, 5, 13]);
    }
}
