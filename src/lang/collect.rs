//! Commands of a file become sites: what every reader of scripts and host files shares.

use crate::base::facts::{AnnotationComment, FileFacts, Language, Problem, ProblemKind};
use crate::base::site::{Confidence, Site, Via};
use crate::base::source::Source;
use crate::base::span::Span;
use crate::base::text::Text;
use crate::command::{Action, CommandContext, Invocation, analyse};
use crate::data::commands::CommandCatalogue;

use super::fragment::Fragment;

/// Facts of one file in the making.
pub struct Collector<'a> {
    /// The file's text.
    pub source: &'a Source,
    /// The command catalogue.
    pub catalogue: &'a CommandCatalogue,
    /// What was found so far.
    pub facts: FileFacts,
    /// The least sure that a site may be reported as.
    pub confidence: Confidence,
}

impl<'a> Collector<'a> {
    /// Nothing found yet.
    pub fn new(
        path: &str,
        language: Language,
        source: &'a Source,
        catalogue: &'a CommandCatalogue,
    ) -> Collector<'a> {
        Collector {
            source,
            catalogue,
            facts: FileFacts::new(path, language),
            confidence: Confidence::Certain,
        }
    }

    /// A text that a child shell runs.
    pub fn shell(&mut self, fragment: &Fragment) {
        if fragment.text.pieces().is_empty() {
            return;
        }
        let invocation = Invocation::Shell(fragment.text.clone());
        let analysis = analyse(&invocation, self.catalogue, &CommandContext::default(), false);
        for found in analysis.found {
            let mut span = fragment.host_span(found.action.span);
            // A free piece at its end has no length of its own; the blank after it is no part of the command.
            span.end = span.start + u32::try_from(self.source.slice(span).trim_end().len()).unwrap_or(0);
            self.site(found.action, span);
        }
    }

    /// An argument list; its sites stand at the first word. True if there was one.
    pub fn argv(&mut self, words: &[(Text, Span)]) -> bool {
        let Some((_, span)) = words.first() else { return false };
        let span = words
            .last()
            .map_or(*span, |(_, last)| if last.start >= span.start { join(*span, *last) } else { *span });
        let invocation = Invocation::Argv(words.iter().map(|(text, _)| text.clone()).collect());
        let found = analyse(&invocation, self.catalogue, &CommandContext::default(), false).found;
        let any = !found.is_empty();
        for found in found {
            self.site(found.action, span);
        }
        any
    }

    /// Adds a site. What an alias stands for is reported where the alias is defined.
    pub fn site(&mut self, action: Action, span: Span) {
        if action.nested_in.iter().any(|by| by.starts_with("alias ")) {
            return;
        }
        let mut site = Site::new(span, action.primitive, action.effect);
        site.via = Via::Command;
        site.target = action.target;
        site.command = action.words;
        site.nested_in = action.nested_in;
        site.launcher = action.launcher;
        site.confidence = action.confidence.min(self.confidence);
        if let Some(function) = action.function {
            site.symbol = function;
        }
        self.facts.sites.push(site);
    }

    /// Notes a fault of the file.
    pub fn problem(&mut self, kind: ProblemKind, span: Span, message: impl Into<String>) {
        self.facts.problems.push(Problem { kind, span, message: message.into() });
    }

    /// Notes the comments that begin with `restartlint:` after one of these marks.
    pub fn annotations(&mut self, comments: &Comments) {
        self.facts.annotations = annotations(&self.source.text, comments);
    }

    /// The facts, in order.
    pub fn finish(mut self) -> FileFacts {
        self.facts
            .sites
            .sort_by(|a, b| (a.span, a.effect, &a.primitive).cmp(&(b.span, b.effect, &b.primitive)));
        self.facts
            .sites
            .dedup_by(|a, b| a.span == b.span && a.effect == b.effect && a.primitive == b.primitive);
        self.facts.problems.sort_by_key(|p| (p.span, p.kind));
        self.facts
    }
}

/// How a format writes comments.
pub struct Comments {
    /// Marks of comments that run to the line's end.
    pub line: &'static [&'static str],
    /// Opening and closing marks.
    pub block: Option<(&'static str, &'static str)>,
}

/// `#` to the line's end.
pub const HASH: Comments = Comments { line: &["#"], block: None };

/// The comments of a text that begin with `restartlint:`.
pub(super) fn annotations(text: &str, comments: &Comments) -> Vec<AnnotationComment> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("restartlint:") {
        let line_start = text.get(..at).and_then(|s| s.rfind('\n')).map_or(0, |i| i + 1);
        let line_end = text.get(at..).and_then(|s| s.find('\n')).map_or(text.len(), |i| at + i);
        let before = text.get(line_start..at).unwrap_or("").trim_end();
        let mut add = |mark: &str, end: usize, closing: &str| {
            let Some(lead) = before.strip_suffix(mark) else { return false };
            // A mark inside a word is no comment: `x#restartlint:`.
            if !lead.is_empty() && !lead.ends_with(char::is_whitespace) {
                return false;
            }
            let body = text.get(at + "restartlint:".len()..end).unwrap_or("");
            let body = body.strip_suffix(closing).unwrap_or(body).trim();
            found.push(AnnotationComment {
                span: Span::new(line_start + lead.len(), end),
                text: body.to_owned(),
                below: None,
                alone: lead.trim().is_empty() && text.get(end..line_end).is_none_or(|s| s.trim().is_empty()),
            });
            true
        };
        let end = line_start + text.get(line_start..line_end).unwrap_or("").trim_end().len();
        if comments.line.iter().any(|mark| add(mark, end, "")) {
            continue;
        }
        if let Some((open, close)) = comments.block {
            let end = text.get(at..).and_then(|s| s.find(close)).map_or(line_end, |i| at + i + close.len());
            add(open, end, close);
        }
    }
    found
}

/// From the start of one span to the end of another.
pub fn join(first: Span, last: Span) -> Span {
    Span { start: first.start.min(last.start), end: first.end.max(last.end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_that_begin_with_the_name_are_annotations() {
        let text = "pkill x # restartlint: path=a\n  # restartlint: ignore[RL1] why \n# see restartlint: path=b\n'#restartlint: c'\n";
        let found = annotations(text, &HASH);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].text.as_str(), found[0].alone), ("path=a", false));
        assert_eq!((found[1].text.as_str(), found[1].alone), ("ignore[RL1] why", true));
        let html = Comments { line: &[], block: Some(("<!--", "-->")) };
        let found = annotations("a\n<!-- restartlint: path=a -->\n", &html);
        assert_eq!((found[0].text.as_str(), found[0].alone), ("path=a", true));
    }
}
