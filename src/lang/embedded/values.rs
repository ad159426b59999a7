//! Values of a host file as command texts and argument lists.

use crate::base::facts::ProblemKind;
use crate::base::span::Span;
use crate::base::text::Text;
use crate::lang::collect::Collector;
use crate::lang::fragment::{Fragment, Spelling};

use super::data::{Data, Id};
use super::ini::Escapes;

/// How many scalars of one list are looked at; aliases may repeat them without end.
const MOST_SCRIPTS: usize = 100_000;

/// A scalar as a command text.
pub(super) fn fragment(collector: &Collector<'_>, data: &Data, id: Id) -> Option<Fragment> {
    let value = data.text(id)?;
    let node = data.node(id)?;
    let host = collector.source.text.as_str();
    let mut span = node.span;
    let raw = host.get(span.range()).unwrap_or("");
    // The header of a block scalar (`|-`, `>2`) is no text.
    if node.spelling == Spelling::Plain
        && raw.starts_with(['|', '>'])
        && let Some(end) = raw.find('\n')
    {
        span = Span::new(span.start as usize + end, span.end as usize);
    }
    let mut fragment = Fragment::of_value(host, span, value, node.spelling);
    fragment.span = node.span;
    Some(fragment)
}

/// The scalars of a list, or one scalar, as an argument list.
pub(super) fn words(collector: &Collector<'_>, data: &Data, ids: &[Id]) -> Vec<(Text, Span)> {
    ids.iter()
        .filter_map(|&id| {
            let fragment = fragment(collector, data, id)?;
            Some((fragment.text, data.node(id)?.span))
        })
        .collect()
}

/// A command as many formats write it: a string is a shell's, a list is an argument list.
pub(super) fn command(collector: &mut Collector<'_>, data: &Data, id: Id) {
    let items = data.items(id);
    if items.is_empty() {
        shell(collector, data, id);
    } else {
        list(collector, data, items);
    }
}

/// An argument list. The script of `["sh", "-c", SCRIPT]` is read where it stands, which can be many lines.
/// True if it held a site.
pub(super) fn list(collector: &mut Collector<'_>, data: &Data, ids: &[Id]) -> bool {
    if let [program, option, script] = ids
        && let (Some(program), Some(option)) = (data.text(*program), data.text(*option))
        && matches!(program.rsplit('/').next(), Some("sh" | "bash" | "dash" | "zsh" | "ash"))
        && option.starts_with('-')
        && option.ends_with('c')
    {
        let before = collector.facts.sites.len();
        shell(collector, data, *script);
        return collector.facts.sites.len() > before;
    }
    let words = words(collector, data, ids);
    collector.argv(&words)
}

/// A list as it is, or a scalar's words, which a host format parts at blanks outside of quotes; each stands
/// where the scalar does.
pub(super) fn split(collector: &Collector<'_>, data: &Data, id: Id) -> Vec<(Text, Span)> {
    let items = data.items(id);
    if !items.is_empty() {
        return words(collector, data, items);
    }
    let Some(fragment) = fragment(collector, data, id) else { return Vec::new() };
    let span = fragment.span;
    match fragment.text.as_literal() {
        Some(text) => super::ini::split(text, 0, Escapes::Characters)
            .into_iter()
            .map(|(word, _)| (word, span))
            .collect(),
        None => vec![(fragment.text, span)],
    }
}

/// A scalar that a shell runs.
pub(super) fn shell(collector: &mut Collector<'_>, data: &Data, id: Id) {
    if let Some(fragment) = fragment(collector, data, id) {
        collector.shell(&fragment);
    }
}

/// A scalar, or a list of scalars (lists in it are flattened), each of which a shell runs.
pub(super) fn scripts(collector: &mut Collector<'_>, data: &Data, id: Id) {
    let mut pending = vec![id];
    let mut seen = 0;
    while let Some(id) = pending.pop() {
        seen += 1;
        if seen > MOST_SCRIPTS {
            collector.problem(ProblemKind::GaveUp, Span::default(), "holds too many commands to be read");
            return;
        }
        let items = data.items(id);
        if items.is_empty() {
            shell(collector, data, id);
        } else {
            pending.extend(items.iter().rev());
        }
    }
}
