//! systemd units: the commands of `Exec…=`, and `Restart=always` without an end.

use crate::base::facts::ProblemKind;
use crate::base::span::Span;
use crate::base::text::{Origin, Piece, Text};
use crate::lang::collect::Collector;

use super::ini::{Escapes, split};

/// Reads a unit or a drop-in.
pub(super) fn read(collector: &mut Collector<'_>) {
    let text = collector.source.text.clone();
    let mut restart: Option<(Span, String)> = None;
    let (mut limited, mut counted, mut no_window) = (false, false, false);
    for (key, value, at) in settings(&text) {
        let bare = value.trim();
        match key.as_str() {
            _ if key.starts_with("Exec") => command(collector, &value, at),
            "Restart" => {
                let end = at.saturating_add(u32::try_from(value.len()).unwrap_or(0));
                restart = (bare == "always").then(|| (Span { start: at, end }, bare.to_owned()));
            }
            // A window of nothing counts no starts, whatever their number may be.
            "StartLimitIntervalSec" | "StartLimitInterval" => {
                no_window = is_zero(bare);
                counted |= !no_window && !bare.is_empty();
            }
            "StartLimitBurst" | "StartLimitAction" => counted |= !is_zero(bare) && !bare.is_empty(),
            "RestartPreventExitStatus" | "RestartMaxDelaySec" | "RestartSteps" => limited |= !bare.is_empty(),
            _ => {}
        }
    }
    if let Some((span, policy)) = restart
        && !limited
        && (no_window || !counted)
    {
        let message = format!(
            "`Restart={policy}` starts the service again for ever, whatever it exits with; `StartLimitIntervalSec=` \
             with `StartLimitBurst=`, or `RestartPreventExitStatus=`, sets an end"
        );
        collector.problem(ProblemKind::UnboundedRestart, span, message);
    }
}

fn is_zero(span: &str) -> bool {
    span.trim_end_matches(|c: char| c.is_ascii_alphabetic()) == "0"
}

/// Settings with their values' places. A continued line is joined with blanks of the same
/// length, so that offsets hold; comment lines between are blanks too.
fn settings(text: &str) -> Vec<(String, String, u32)> {
    let mut found = Vec::new();
    let mut at = 0usize;
    let mut logical = String::new();
    let mut start = 0usize;
    // A file that ends in a continued line ends that setting too.
    let ended = if text.trim_end_matches(['\r', '\n']).ends_with('\\') { "\n" } else { "" };
    for line in text.split_inclusive('\n').chain((!ended.is_empty()).then_some(ended)) {
        let comment = line.trim_start().starts_with(['#', ';']);
        if logical.is_empty() {
            start = at;
        }
        at += line.len();
        let body = line.trim_end();
        if comment {
            if !logical.is_empty() {
                logical.push_str(&" ".repeat(line.len()));
            }
            continue;
        }
        if let Some(continued) = body.strip_suffix('\\') {
            logical.push_str(continued);
            logical.push_str(&" ".repeat(line.len() - continued.len()));
            continue;
        }
        logical.push_str(body);
        let setting = std::mem::take(&mut logical);
        if setting.trim_start().starts_with('[') {
            continue;
        }
        let Some((key, value)) = setting.split_once('=') else { continue };
        let lead = value.len() - value.trim_start().len();
        let place = u32::try_from(start + setting.len() - value.len() + lead).unwrap_or(u32::MAX);
        found.push((key.trim().to_owned(), value.trim().to_owned(), place));
    }
    found
}

/// One `Exec…=` value: special characters before the path, words, commands parted by `;`.
fn command(collector: &mut Collector<'_>, value: &str, at: u32) {
    let body = value.trim_start_matches(['-', '@', ':', '+', '!', '|']);
    let at = at.saturating_add(u32::try_from(value.len() - body.len()).unwrap_or(0));
    let mut words: Vec<(Text, Span)> = Vec::new();
    for (text, span) in split(body, at, Escapes::Numbers) {
        if text.as_literal() == Some(";") {
            collector.argv(&words);
            words.clear();
            continue;
        }
        words.push((text.as_literal().map(variables).unwrap_or(text), span));
    }
    collector.argv(&words);
}

/// `$MAINPID` and `${NAME}` are the manager's own values; `sh -c` gets its `$$` back.
fn variables(word: &str) -> Text {
    let mut out = Text::default();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        out.push(Piece::Literal(before.to_owned()));
        if let Some(tail) = after.strip_prefix('$') {
            out.push(Piece::Literal("$".to_owned()));
            rest = tail;
            continue;
        }
        let (name, tail) = match after.strip_prefix('{') {
            Some(inner) => inner.split_once('}').unwrap_or((inner, "")),
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                after.split_at(end)
            }
        };
        if name.is_empty() {
            out.push(Piece::Literal("$".to_owned()));
        } else {
            out.push(Piece::Free(Origin::Unknown));
        }
        rest = tail;
    }
    out.push(Piece::Literal(rest.to_owned()));
    out
}
