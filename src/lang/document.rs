//! Markdown: commands in fenced shell blocks, and in inline code that a sentence tells
//! the reader to run. What is forbidden, or marked as a bad example, is no site.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Range, Tree};

use crate::base::effect::Effect;
use crate::base::facts::{AnnotationComment, FileFacts, Language, ProblemKind};
use crate::base::source::Source;
use crate::base::span::Span;
use crate::data::commands::CommandCatalogue;

use super::collect::{Collector, Comments, HASH, annotations};
use super::fragment::Fragment;
use super::prose::{self, Says};
use super::rst;
use super::syntax::walk;

/// Markdown's comment. A `#` begins a heading, so that `# restartlint: the linter` is none.
const COMMENTS: Comments = Comments { line: &[], block: Some(("<!--", "-->")) };
/// reStructuredText's comment.
const RST_COMMENTS: Comments = Comments { line: &[".."], block: None };
/// How many bytes of a sentence before a command are looked at.
const MOST_BEFORE: usize = 600;
/// How large a document is parsed.
const MAX_SIZE: usize = 4 << 20;

/// The facts of a document.
pub fn facts(path: &str, source: &Source, catalogue: &CommandCatalogue) -> FileFacts {
    let mut collector = Collector::new(path, Language::Document, source, catalogue);
    let mut fences = Vec::new();
    let mut comments = &COMMENTS;
    let mut in_scripts = Vec::new();
    if path.to_ascii_lowercase().ends_with(".rst") {
        rst::read(&mut collector);
        comments = &RST_COMMENTS;
    } else if source.text.len() > MAX_SIZE {
        collector.problem(ProblemKind::GaveUp, Span::default(), "is too large to be read as a document");
    } else if let Some(tree) = parse(&tree_sitter_md::LANGUAGE.into(), &source.text, &[]) {
        read(&mut collector, &tree);
        fences = fence_ranges(&tree);
        in_scripts = script_annotations(&source.text, &tree);
    } else {
        collector.problem(ProblemKind::GaveUp, Span::default(), "could not be parsed");
    }
    collector.annotations(comments);
    let mut facts = collector.finish();
    // A fence shows text: a document's comment in it is an example of one, a script's own comment is none.
    facts.annotations.retain(|a| !fences.iter().any(|f| f.contains(&(a.span.start as usize))));
    facts.annotations.extend(in_scripts);
    facts.annotations.sort_by_key(|a| a.span);
    let first_site = |from: usize, to: usize| {
        facts.sites.iter().map(|s| s.span.start).find(|&at| (from..to).contains(&(at as usize)))
    };
    for annotation in &mut facts.annotations {
        let (start, end) = (annotation.span.start as usize, annotation.span.end as usize);
        let line_start = source.text.get(..start).and_then(|t| t.rfind('\n')).map_or(0, |at| at + 1);
        let before = source.text.get(line_start..start).unwrap_or("");
        // The mark of a quotation is no text beside the comment.
        let after = source.text.get(end..).unwrap_or("");
        let ends = after.lines().next().is_none_or(|rest| rest.trim().is_empty());
        annotation.alone |= ends && before.trim_matches(['>', ' ', '\t']).is_empty();
        if let (true, Some(block)) = (annotation.alone, block_below(&source.text, end, &fences)) {
            annotation.below = first_site(block.start, block.end);
        }
    }
    facts
}

/// The block that begins on the line below a comment: a fence, a directive, or lines up to a blank one.
fn block_below(text: &str, end: usize, fences: &[std::ops::Range<usize>]) -> Option<std::ops::Range<usize>> {
    let start = end + text.get(end..)?.find('\n')? + 1;
    let rest = text.get(start..)?;
    let first = rest.lines().next()?;
    let line = start..start + first.len();
    if let Some(fence) = fences.iter().find(|f| line.contains(&f.start)) {
        return Some(start..fence.end);
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let directive = first.trim_start().starts_with(".. ") && first.contains("::");
    let mut length = 0;
    for (at, line) in rest.split_inclusive('\n').enumerate() {
        let blank = line.trim_matches(['>', ' ', '\t', '\r', '\n']).is_empty();
        let over = if directive { at > 0 && !blank && indent(line) <= indent(first) } else { blank };
        if over {
            break;
        }
        length += line.len();
    }
    Some(start..start + length)
}

/// The byte ranges of fenced code.
fn fence_ranges(tree: &Tree) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    walk(tree.root_node(), |node| {
        let fence = node.kind() == "fenced_code_block";
        if fence {
            found.push(node.byte_range());
        }
        !fence
    });
    found
}

/// The annotations in `#` comments of shell blocks.
fn script_annotations(text: &str, tree: &Tree) -> Vec<AnnotationComment> {
    let mut found = Vec::new();
    if !text.contains("restartlint:") {
        return found;
    }
    walk(tree.root_node(), |node| {
        let mut cursor = node.walk();
        if node.kind() == "fenced_code_block" {
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            let info = children.iter().find(|n| n.kind() == "info_string").map_or("", |n| source(text, *n));
            if let Some(content) = children.iter().find(|n| n.kind() == "code_fence_content")
                && fence_kind(info).is_some()
            {
                for mut one in annotations(source(text, *content), &HASH) {
                    let shift = u32::try_from(content.start_byte()).unwrap_or(u32::MAX);
                    one.span = Span { start: one.span.start + shift, end: one.span.end + shift };
                    found.push(one);
                }
            }
        }
        node.kind() != "fenced_code_block"
    });
    found
}

/// Parses the given ranges of a text (none: all of it), within a budget that its length allows.
fn parse(language: &tree_sitter::Language, text: &str, ranges: &[Range]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    parser.set_included_ranges(ranges).ok()?;
    let mut budget = 4_000 + text.len();
    let mut progress = |_: &tree_sitter::ParseState| {
        budget = budget.saturating_sub(1);
        if budget == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or(&[]), None, Some(options))
}

/// What the blocks before say about a fence or a list.
#[derive(Default)]
struct Lead {
    /// The paragraph right before.
    paragraph: String,
    /// The heading that it stands under.
    heading: String,
}

impl Lead {
    /// Whether a fence here is a bad example.
    fn forbids(&self) -> bool {
        let text = self.paragraph.trim_end();
        let last = prose::sentence_starts(text).last().and_then(|&at| text.get(at..)).unwrap_or(text);
        (text.ends_with(':') && prose::marks_as_bad(last)) || prose::marks_as_bad(&self.heading)
    }

    /// Whether a list here is one of commands to run.
    fn instructs(&self) -> bool {
        let text = self.paragraph.trim_end();
        text.ends_with(':') && !prose::forbids(text) && prose::instructs(text)
    }
}

fn read(collector: &mut Collector<'_>, tree: &Tree) {
    let text = collector.source.text.clone();
    let mut lead = Lead::default();
    let mut cursor = tree.walk();
    let mut depth = 0u32;
    loop {
        let node = cursor.node();
        let mut descend = false;
        match node.kind() {
            "fenced_code_block" => {
                fence(collector, &text, node, &lead);
                lead.paragraph.clear();
            }
            "atx_heading" | "setext_heading" => {
                lead.heading = source(&text, node).to_owned();
                lead.paragraph.clear();
            }
            "paragraph" => {
                inline(collector, &text, node, &lead);
                // A list keeps the lead of the paragraph before it for all of its items.
                if !in_list(node) || source(&text, node).trim_end().ends_with(':') {
                    lead.paragraph = source(&text, node).to_owned();
                }
            }
            "pipe_table_cell" => inline(collector, &text, node, &Lead::default()),
            "minus_metadata" | "plus_metadata" | "html_block" | "indented_code_block" => {}
            _ => descend = true,
        }
        if descend && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if depth == 0 || !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

fn source<'t>(text: &'t str, node: Node<'_>) -> &'t str {
    text.get(node.start_byte()..node.end_byte()).unwrap_or("")
}

fn in_list(node: Node<'_>) -> bool {
    node.parent().is_some_and(|p| p.kind() == "list_item")
}

/// How the lines of a fence are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fence {
    /// Every line is a command.
    Script,
    /// Lines with a prompt are commands, the rest is output.
    Console,
}

/// What a fence's first word says.
pub(super) fn fence_kind(info: &str) -> Option<Fence> {
    // `{code-block} bash` of MyST.
    let info = info.trim();
    let info = ["{code-block}", "{code}", "{sourcecode}"]
        .iter()
        .find_map(|directive| info.strip_prefix(directive))
        .unwrap_or(info);
    let word =
        info.trim().trim_start_matches(['{', '.']).split([' ', ',', '}', '{', ':']).next().unwrap_or("");
    match word.to_ascii_lowercase().as_str() {
        "bash" | "sh" | "shell" | "zsh" | "ksh" | "shellscript" => Some(Fence::Script),
        "console" | "shell-session" | "shellsession" | "sh-session" | "bash-session" | "terminal" => {
            Some(Fence::Console)
        }
        _ => None,
    }
}

fn fence(collector: &mut Collector<'_>, text: &str, node: Node<'_>, lead: &Lead) {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    let info = children.iter().find(|n| n.kind() == "info_string").map(|n| source(text, *n)).unwrap_or("");
    let Some(kind) = fence_kind(info) else { return };
    if lead.forbids() {
        return;
    }
    let Some(content) = children.iter().find(|n| n.kind() == "code_fence_content") else { return };
    // Inside quotes and lists, each line begins with marks that belong to the block around it.
    let mut cursor = content.walk();
    let marks: Vec<Span> = content
        .named_children(&mut cursor)
        .filter(|n| n.kind() == "block_continuation")
        .map(|n| Span::new(n.start_byte(), n.end_byte()))
        .collect();
    let mut lines = Vec::new();
    let mut at = content.start_byte();
    for line in source(text, *content).split_inclusive('\n') {
        let end = at + line.len();
        let mark = marks.iter().find(|m| at <= m.start as usize && (m.start as usize) < end);
        let start = mark.map_or(at, |m| m.end as usize).min(end);
        lines.push((text.get(start..end).unwrap_or(""), start));
        at = end;
    }
    script(collector, &lines, kind);
}

/// Lines of a shell block; a comment can mark the command after it as a bad example.
pub(super) fn script(collector: &mut Collector<'_>, lines: &[(&str, usize)], kind: Fence) {
    let span = match (lines.first(), lines.last()) {
        (Some((_, first)), Some((line, last))) => Span::new(*first, last + line.len()),
        _ => return,
    };
    let mut fragment = Fragment::at(span);
    let mut bad = Vec::new();
    let mut continued = false;
    let prompts = lines.iter().any(|(line, _)| prompt(line).is_some());
    for (line, at) in lines {
        let (body, skipped) = match prompt(line) {
            Some(skip) => (line.get(skip..).unwrap_or(""), skip),
            None if kind == Fence::Console && !continued => continue,
            // A block with prompts shows output between its commands.
            None if prompts && !continued => continue,
            None => (*line, 0),
        };
        continued = body.trim_end().ends_with('\\');
        if let Some((code, comment)) = body.split_once('#')
            && (code.is_empty() || code.ends_with(char::is_whitespace))
            && prose::marks_as_bad(comment)
        {
            // On a line of its own it speaks of the next one.
            let line_end = at + line.len();
            let next = lines.iter().find(|(_, start)| *start >= line_end);
            let end =
                if code.trim().is_empty() { next.map_or(line_end, |(l, s)| s + l.len()) } else { line_end };
            bad.push(Span::new(*at, end));
        }
        fragment.literal(body, u32::try_from(at + skipped).unwrap_or(u32::MAX));
    }
    let before = collector.facts.sites.len();
    collector.shell(&fragment);
    let added = collector.facts.sites.split_off(before);
    let kept = added.into_iter().filter(|s| !bad.iter().any(|b| b.contains(s.span.start)));
    collector.facts.sites.extend(kept);
}

/// The length of a prompt at a line's start.
fn prompt(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let body = line.trim_start();
    for mark in ["$ ", "% ", "❯ "] {
        if body.starts_with(mark) {
            return Some(indent + mark.len());
        }
    }
    // `user@host:~$ command`.
    let end = body.find("$ ")?;
    let host = body.get(..end)?;
    (host.contains('@') && !host.contains(char::is_whitespace)).then_some(indent + end + 2)
}

/// Code spans of a paragraph that its sentences tell the reader to run.
fn inline(collector: &mut Collector<'_>, text: &str, node: Node<'_>, lead: &Lead) {
    if !source(text, node).contains('`') {
        return;
    }
    let mut spans: Vec<(Span, Span)> = Vec::new();
    let mut cursor = node.walk();
    let mut inlines: Vec<Node<'_>> =
        node.named_children(&mut cursor).filter(|n| n.kind() == "inline").collect();
    if inlines.is_empty() {
        inlines.push(node);
    }
    for inline in inlines {
        let Some(tree) = parse(&tree_sitter_md::INLINE_LANGUAGE.into(), text, &ranges(inline)) else {
            continue;
        };
        code_spans(tree.root_node(), &mut spans);
    }
    let start = node.start_byte();
    let paragraph = source(text, node);
    spoken(collector, text, start, paragraph, &spans, lead.instructs(), lead_forbids_list(lead));
}

/// The parts of an inline node that are its own: marks of the blocks around it are left out.
fn ranges(node: Node<'_>) -> Vec<Range> {
    let mut found = Vec::new();
    let mut range = node.range();
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        let here = child.range();
        found.push(Range { end_byte: here.start_byte, end_point: here.start_point, ..range });
        range.start_byte = here.end_byte;
        range.start_point = here.end_point;
    }
    found.push(range);
    found
}

fn lead_forbids_list(lead: &Lead) -> bool {
    let text = lead.paragraph.trim_end();
    text.ends_with(':') && prose::marks_as_bad(text)
}

/// The code spans below a node: the whole span, and its content.
fn code_spans(root: Node<'_>, found: &mut Vec<(Span, Span)>) {
    let mut cursor = root.walk();
    let mut depth = 0u32;
    loop {
        let node = cursor.node();
        if node.kind() == "code_span" {
            let mut inner = node.walk();
            let marks: Vec<Node<'_>> =
                node.named_children(&mut inner).filter(|n| n.kind() == "code_span_delimiter").collect();
            if let (Some(open), Some(close)) = (marks.first(), marks.last()) {
                found.push((
                    Span::new(node.start_byte(), node.end_byte()),
                    Span::new(open.end_byte(), close.start_byte().max(open.end_byte())),
                ));
            }
        } else if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if depth == 0 || !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

/// Holds each piece of inline code against the sentence that it stands in.
pub(super) fn spoken(
    collector: &mut Collector<'_>,
    text: &str,
    start: usize,
    paragraph: &str,
    spans: &[(Span, Span)],
    list_instructs: bool,
    list_forbids: bool,
) {
    // Code is blanked, so that its words and full stops are no prose; offsets stay.
    let mut prose_text: Vec<u8> = paragraph.bytes().collect();
    for (whole, _) in spans {
        for at in whole.range() {
            if let Some(byte) = at.checked_sub(start).and_then(|i| prose_text.get_mut(i)) {
                *byte = b'x';
            }
        }
    }
    let blanked = String::from_utf8_lossy(&prose_text).into_owned();
    if blanked.len() != paragraph.len() {
        return;
    }
    let sentences = prose::sentence_starts(&blanked);
    for (whole, content) in spans {
        let at = whole.start as usize - start;
        let index = sentences.partition_point(|&s| s <= at);
        let sentence = index.checked_sub(1).and_then(|i| sentences.get(i)).copied().unwrap_or(0);
        // What a sentence says far before a command it no longer says of it.
        let mut sentence = sentence.max(at.saturating_sub(MOST_BEFORE));
        while !blanked.is_char_boundary(sentence) {
            sentence += 1;
        }
        let before = without_code(&blanked, sentence, at, start, spans);
        let said = match prose::before_code(&before) {
            Says::Nothing if before.trim_matches(|c: char| !c.is_alphanumeric()).is_empty() => {
                match (list_forbids, list_instructs) {
                    (true, _) => Says::Never,
                    (false, true) => Says::Run,
                    _ => Says::Nothing,
                }
            }
            said => said,
        };
        if said == Says::Run && !list_forbids {
            told(collector, text, *content, prose::calls(&before));
        }
    }
}

/// A command in inline code. A call of a function, the bare name of a tool that needs a target, and a bare
/// word that is to be `called` are names and no commands.
fn told(collector: &mut Collector<'_>, text: &str, content: Span, called: bool) {
    let code = text.get(content.range()).unwrap_or("");
    let name = code.trim_start().find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':')));
    if name.is_some_and(|end| code.trim_start().get(end..).is_some_and(|rest| rest.starts_with('('))) {
        return;
    }
    let before = collector.facts.sites.len();
    collector.shell(&Fragment::of_host(text, content));
    let added = collector.facts.sites.split_off(before);
    let kept = added.into_iter().filter(|s| {
        let bare = s.command.len() <= 1;
        let ends_others = matches!(s.effect, Effect::Kill | Effect::Supervise);
        !(bare && (called || (ends_others && s.target.is_none())))
    });
    collector.facts.sites.extend(kept);
}

/// The sentence before a place, with the code in it left out.
fn without_code(blanked: &str, from: usize, to: usize, start: usize, spans: &[(Span, Span)]) -> String {
    let mut out = String::new();
    let mut at = from;
    let first = spans.partition_point(|(whole, _)| (whole.end as usize) <= start + from);
    for (whole, _) in spans.get(first..).unwrap_or(&[]) {
        let (begin, end) =
            ((whole.start as usize).saturating_sub(start), (whole.end as usize).saturating_sub(start));
        if begin >= to {
            break;
        }
        if end <= at {
            continue;
        }
        out.push_str(blanked.get(at..begin.max(at)).unwrap_or(""));
        at = end;
    }
    out.push_str(blanked.get(at..to).unwrap_or(""));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(path: &str, text: &str) -> Vec<String> {
        let source = Source::new(text);
        let facts = facts(path, &source, &CommandCatalogue::built_in());
        facts
            .sites
            .iter()
            .map(|s| format!("{} {}", source.position(s.span.start).line, s.primitive))
            .collect()
    }

    #[test]
    fn fences_are_read_by_their_language() {
        let text = "# A\n\n```bash\n# stop\npkill -f x\n```\n\n```console\n$ systemctl restart x\npkill: output\n```\n\n```python\npkill x\n```\n\n\
                    ```\npkill x\n```\n\n~~~sh\nsudo docker restart x\n~~~\n\n> ```sh\n> killall y\n> ```\n\n- a:\n\n  ```sh\n  reboot\n  ```\n";
        assert_eq!(
            sites("a.md", text),
            ["5 pkill", "9 systemctl restart", "22 docker restart", "26 killall", "32 reboot"]
        );
    }

    #[test]
    fn bad_examples_are_silent() {
        let text = "Never do this:\n\n```bash\npkill -f x\n```\n\nRun this:\n\n```bash\nkillall y\n```\n\n## Wrong\n\n```bash\nreboot\n```\n\n## Use\n\n\
                    ```bash\n# never run this\npkill a\npkill b  # bad\npkill c\n```\n";
        assert_eq!(sites("a.md", text), ["10 killall", "25 pkill"]);
    }

    #[test]
    fn inline_code_needs_an_instruction() {
        let text = "To restart, run `pkill -f mcp_server.py`.\nThen use `systemctl --user restart x` if it hangs.\n\n\
                    The guard calls `pkill -f python` contamination. `killall` is broad.\n\n- Never run `pkill -f x`.\n- Avoid `pkill y`.\n\n\
                    Under no circumstances may an agent\nrun `pkill -f z`.\n\nDo not run `killall a`. Run `docker restart b`.\n\n\
                    If the relay hangs: `pkill -f \"relay worker\" || true`, then start it again.\n\nRun one of these:\n\n- `killall q`\n- `ls`\n";
        assert_eq!(
            sites("AGENTS.md", text),
            ["1 pkill", "2 systemctl restart", "12 docker restart", "14 pkill", "18 killall"]
        );
    }

    #[test]
    fn a_bare_word_that_is_called_is_a_function() {
        let text = "The loader will call `shutdown` at its end. Then call `reboot`.\n\nRun `reboot`. Call `pkill -f x`.\n\nStop it by calling `halt`.\n";
        assert_eq!(sites("a.md", text), ["3 reboot", "3 pkill"]);
    }

    #[test]
    fn front_matter_tables_and_annotations() {
        let text = "---\ndescription: run `pkill x`\n---\n\n| a | b |\n|---|---|\n| stop | run `pkill y` |\n\n<!-- restartlint: path=a -->\nRun `pkill z`.\n";
        let source = Source::new(text);
        let facts = facts("a.md", &source, &CommandCatalogue::built_in());
        assert_eq!(facts.sites.len(), 2);
        assert_eq!(facts.annotations.len(), 1);
        assert!(facts.annotations[0].alone);
    }

    #[test]
    fn a_comment_is_for_the_first_command_of_what_stands_below_it() {
        let lines = |path: &str, text: &str| -> Vec<Option<u32>> {
            let source = Source::new(text);
            let facts = facts(path, &source, &CommandCatalogue::built_in());
            facts.annotations.iter().map(|a| a.below.map(|at| source.position(at).line)).collect()
        };
        let note = "<!-- restartlint: path=a -->\n";
        assert_eq!(lines("a.md", &format!("{note}```sh\nls\n\npkill x\n```\n")), [Some(5)]);
        assert_eq!(lines("a.md", &format!("{note}Then,\nrun `pkill x`\nnow.\n")), [Some(3)]);
        assert_eq!(lines("a.md", &format!("> {note}> ```sh\n> pkill x\n> ```\n")), [Some(3)]);
        assert_eq!(lines("a.md", &format!("- a\n\n  {note}  ```sh\n  pkill x\n  ```\n")), [Some(5)]);
        // A blank line between, or nothing to be for.
        assert_eq!(lines("a.md", &format!("{note}\n```sh\npkill x\n```\n")), [None]);
        assert_eq!(lines("a.md", &format!("{note}Words.\n\nRun `pkill x`.\n")), [None]);
        let note = ".. restartlint: path=a\n";
        assert_eq!(
            lines("a.rst", &format!("{note}.. code-block:: sh\n\n   ls\n   pkill x\n\nx\n")),
            [Some(5)]
        );
    }

    #[test]
    fn a_comment_in_a_shell_block_is_an_annotation() {
        let text = "```sh\n# restartlint: path=a\npkill x\npkill y # restartlint: path=b\n```\n\n```py\n# restartlint: path=c\n```\n";
        let source = Source::new(text);
        let facts = facts("a.md", &source, &CommandCatalogue::built_in());
        let found: Vec<_> = facts
            .annotations
            .iter()
            .map(|a| (a.text.as_str(), a.alone, source.position(a.span.start).line))
            .collect();
        assert_eq!(found, [("path=a", true, 2), ("path=b", false, 4)]);
    }

    #[test]
    fn a_heading_and_a_fence_hold_no_annotation() {
        let text = "# restartlint: the linter\n\n```md\n<!-- restartlint: path=a -->\n```\n\n<!-- restartlint: path=b -->\nx\n";
        let source = Source::new(text);
        let facts = facts("a.md", &source, &CommandCatalogue::built_in());
        assert_eq!(facts.annotations.iter().map(|a| a.text.as_str()).collect::<Vec<_>>(), ["path=b"]);
    }
}
