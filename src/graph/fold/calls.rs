//! Folding calls: string methods, formats, path functions, groups of processes, functions of the tree.

use super::given::product;
use super::words::{first, join_words, map_literal};
use super::{ALTERNATIVES, Folder, Text};
use crate::base::facts::Language;
use crate::base::ir::{Expr, ExprId, Spread};
use crate::base::text::{Origin, Piece};
use crate::data::primitives::ValueKind;
use crate::graph::solve::Base;
use crate::graph::value::{UnitId, Value};

/// What starts a child on a terminal of its own, at the head of a session.
const LEADS_A_SESSION: [&str; 3] = ["pexpect.spawn", "pty.fork", "os.forkpty"];

impl<'f, 'a> Folder<'f, 'a> {
    /// Python's `%` formatting.
    pub(super) fn percent(&self, unit: UnitId, left: ExprId, right: ExprId, depth: usize) -> Vec<Text> {
        let values = match &self.solver.program(unit).exprs[right as usize].expr {
            Expr::Seq(items) => items.iter().map(|(item, _)| *item).collect(),
            Expr::Map(entries) => return self.named_format(unit, left, entries, depth),
            _ => vec![right],
        };
        self.formatted(unit, left, &values, depth)
    }

    /// A format string with `%(name)s` verbs and the mapping of their values.
    fn named_format(
        &self,
        unit: UnitId,
        left: ExprId,
        entries: &[(Option<ExprId>, ExprId)],
        depth: usize,
    ) -> Vec<Text> {
        let mut texts = Vec::new();
        for format in self.strings(unit, left, depth + 1) {
            let Some(format) = format.as_literal() else {
                texts.push(format);
                continue;
            };
            let mut text = Text::default();
            let mut parts = format.split("%(");
            text.push(Piece::Literal(parts.next().unwrap_or("").to_owned()));
            for part in parts {
                let (name, rest) = part.split_once(')').unwrap_or((part, ""));
                let is_key = |key: &ExprId| matches!(&self.solver.program(unit).exprs[*key as usize].expr, Expr::Str(k) if k == name);
                match entries.iter().find(|(key, _)| key.as_ref().is_some_and(is_key)) {
                    Some((_, value)) => text.extend(&first(self.strings(unit, *value, depth + 1))),
                    None => text.push(Piece::Free(Origin::Unknown)),
                }
                let verb = rest.find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |at| at + 1);
                text.push(Piece::Literal(rest.get(verb..).unwrap_or("").to_owned()));
            }
            texts.push(text);
        }
        texts
    }

    /// A format string with `%` verbs and its values.
    pub(super) fn formatted(&self, unit: UnitId, left: ExprId, values: &[ExprId], depth: usize) -> Vec<Text> {
        let mut texts = Vec::new();
        for format in self.strings(unit, left, depth + 1) {
            let Some(format) = format.as_literal() else {
                texts.push(format);
                continue;
            };
            let mut made = vec![Text::default()];
            let mut rest = format;
            let mut next = values.iter();
            while let Some(at) = rest.find('%') {
                push(&mut made, &rest[..at]);
                let spec = &rest[at + 1..];
                if let Some(after) = spec.strip_prefix('%') {
                    push(&mut made, "%");
                    rest = after;
                    continue;
                }
                let named = spec.starts_with('(');
                let end = spec.find(|c: char| c.is_ascii_alphabetic()).filter(|_| !named).or_else(|| {
                    let close = spec.find(')')?;
                    spec[close..].find(|c: char| c.is_ascii_alphabetic()).map(|at| close + at)
                });
                let Some(end) = end else {
                    rest = "";
                    break;
                };
                let options = match next.next().filter(|_| !named) {
                    Some(value) => self.strings(unit, *value, depth + 1),
                    None => vec![Text::free(Origin::Unknown)],
                };
                made = product(&made, &options);
                rest = &spec[end + 1..];
            }
            push(&mut made, rest);
            texts.extend(made);
        }
        texts
    }

    pub(super) fn call_strings(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Text> {
        let program = self.solver.program(unit);
        let Expr::Call(call) = &program.exprs[expr as usize].expr else { return Vec::new() };
        if let Some(origin) = self.origin(unit, expr) {
            return vec![Text::free(origin)];
        }
        let arg = |at: usize| call.args.get(at).map(|a| a.value);
        // The program that is found is the one that was asked for.
        if let Some(name) = arg(0).filter(|_| self.is_which(unit, call.callee)) {
            return self.strings(unit, name, depth + 1);
        }
        let held = self.held_by(unit, expr, depth);
        if !held.items.is_empty() {
            return self.texts_of(unit, expr, &held, depth);
        }
        // Of a method, any class's own may run.
        let mut of_functions: Vec<Text> = Vec::new();
        for value in self.solver.values_of(unit, call.callee) {
            match value {
                Value::Func(u, f) | Value::Bound(u, f, _) => {
                    let returns = &self.solver.program(u).functions[f as usize].returns;
                    let is_type = |r: &&ExprId| {
                        matches!(self.solver.program(u).exprs[**r as usize].expr, Expr::Instance(_))
                    };
                    let Some(entered) = self.entered(unit, call, value) else { continue };
                    let texts = returns
                        .iter()
                        .filter(|r| !is_type(r))
                        .flat_map(|r| self.strings(u, *r, depth + 1))
                        .flat_map(|text| self.text_at(&entered, &text, depth));
                    of_functions.extend(texts.take(ALTERNATIVES));
                    if of_functions.len() >= ALTERNATIVES {
                        break;
                    }
                }
                // A number or text of a class of the tree's own is what it was made of.
                Value::Class(u, c) => {
                    let order = self.solver.hierarchy.orders.get(&(u, c));
                    let of_plain = order.is_some_and(|order| order.iter().any(|base| matches!(base,
                        Base::External(path) if matches!(self.solver.interner.text(*path), "builtins.int" | "builtins.str"))));
                    if let Some(first) = arg(0).filter(|_| of_plain && call.args.len() == 1) {
                        return self.strings(unit, first, depth + 1);
                    }
                }
                Value::External { path, .. } => {
                    let path = self.solver.interner.text(path);
                    match self.solver.catalogue(unit).value(path) {
                        Some(ValueKind::FirstArgument) => {
                            return match arg(0) {
                                Some(first) if call.args.len() > 1 && path.ends_with("Path") => {
                                    let parts: Vec<ExprId> = call.args.iter().map(|a| a.value).collect();
                                    let _ = first;
                                    self.joined_path(unit, &parts, depth)
                                }
                                Some(first) => self.strings(unit, first, depth + 1),
                                None => vec![Text::free(Origin::Unknown)],
                            };
                        }
                        Some(ValueKind::JoinedPath) => {
                            let parts: Vec<ExprId> = call.args.iter().map(|a| a.value).collect();
                            return self.joined_path(unit, &parts, depth);
                        }
                        Some(ValueKind::Formatted) => {
                            let Some(format) = arg(0) else { return vec![Text::free(Origin::Unknown)] };
                            let values: Vec<ExprId> = call.args.iter().skip(1).map(|a| a.value).collect();
                            return self.formatted(unit, format, &values, depth);
                        }
                        Some(ValueKind::Directory) => return vec![Text::free(Origin::Unknown)],
                        Some(ValueKind::JoinedWords) => {
                            let separator = arg(1).map(|s| first(self.strings(unit, s, depth + 1)));
                            let separator = separator.as_ref().and_then(Text::as_literal).unwrap_or(" ");
                            return arg(0).map_or_else(Vec::new, |list| {
                                self.sequences(unit, list, depth + 1)
                                    .into_iter()
                                    .map(|w| join_words(&w, separator))
                                    .collect()
                            });
                        }
                        Some(ValueKind::GroupOf) => return vec![self.group_of(unit, arg(0), depth)],
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        if !of_functions.is_empty() {
            return of_functions;
        }
        match &program.exprs[call.callee as usize].expr {
            Expr::Attr { base, name } => self.method_strings(unit, *base, name, call, depth),
            _ => vec![Text::free(Origin::Unknown)],
        }
    }

    /// `getpgid(pid)`: the own group for the own pid, and for a child that got no session of its own.
    pub(super) fn group_of(&self, unit: UnitId, pid: Option<ExprId>, depth: usize) -> Text {
        let Some(pid) = pid else { return Text::free(Origin::OwnGroup) };
        let text = first(self.strings(unit, pid, depth + 1));
        match (text.as_literal(), text.origin()) {
            (Some("0"), _) | (_, Some(Origin::OwnPid | Origin::OwnGroup)) => Text::free(Origin::OwnGroup),
            (_, Some(Origin::ChildPid)) => match self.has_own_session(unit, pid) {
                Some(true) => Text::free(Origin::ChildPid),
                Some(false) => Text::free(Origin::OwnGroup),
                None => Text::free(Origin::Unknown),
            },
            _ => Text::free(Origin::Unknown),
        }
    }

    /// Whether the call that made a child asks for a session or group of its own; `None` where options
    /// that nothing is known of could ask for it.
    pub(super) fn has_own_session(&self, unit: UnitId, pid: ExprId) -> Option<bool> {
        let mut answer = Some(false);
        for value in self.solver.values_of(unit, pid) {
            let Value::External { made, .. } = value else { continue };
            let maker = made.checked_sub(1).and_then(|at| self.solver.makers.get(at as usize)).copied();
            let Some((u, call, _)) = maker else { continue };
            let Expr::Call(call) = &self.solver.program(u).exprs[call as usize].expr else { continue };
            let path = |value| match value {
                Value::External { path, .. } => self.solver.interner.text(path),
                _ => "",
            };
            if self.solver.values_of(u, call.callee).any(|v| LEADS_A_SESSION.contains(&path(v))) {
                return Some(true);
            }
            // `cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}`.
            if ["Setpgid", "Setsid"].iter().any(|field| !self.solver.stores_of(u, field).is_empty()) {
                return Some(true);
            }
            for arg in &call.args {
                let asks = matches!(
                    arg.name.as_deref(),
                    Some("start_new_session" | "preexec_fn" | "process_group" | "creationflags")
                );
                if asks && self.truth(u, arg.value) != Some(false) {
                    return Some(true);
                }
                if arg.spread == Spread::Mapping {
                    answer = None;
                }
            }
        }
        answer
    }

    pub(super) fn method_strings(
        &self,
        unit: UnitId,
        base: ExprId,
        name: &str,
        call: &crate::base::ir::Call,
        depth: usize,
    ) -> Vec<Text> {
        let arg = |at: usize| call.args.get(at).map(|a| a.value);
        match name {
            "strip" | "lstrip" | "rstrip" | "trim" | "lower" | "upper" | "encode" | "decode"
            | "expanduser" | "resolve" | "absolute" | "as_posix" | "toString" | "to_string" | "to_owned"
            | "into" | "as_str" | "format_map" | "removesuffix" | "removeprefix" | "toLowerCase" => {
                let texts = self.strings(unit, base, depth + 1);
                match name {
                    "strip" | "trim" => {
                        texts.into_iter().map(|t| map_literal(t, |s| s.trim().to_owned())).collect()
                    }
                    "lower" | "toLowerCase" => {
                        texts.into_iter().map(|t| map_literal(t, |s| s.to_lowercase())).collect()
                    }
                    "upper" => texts.into_iter().map(|t| map_literal(t, |s| s.to_uppercase())).collect(),
                    _ => texts,
                }
            }
            "join" | "concat" if self.is_joined(unit, base, depth) => {
                let separator = arg(0).map(|s| first(self.strings(unit, s, depth + 1)));
                let separator = match (name, &separator) {
                    ("concat", _) => "",
                    (_, None) => ",",
                    (_, Some(text)) => match text.as_literal() {
                        Some(text) => text,
                        None => return vec![Text::free(Origin::Unknown)],
                    },
                };
                self.sequences(unit, base, depth + 1)
                    .into_iter()
                    .map(|words| join_words(&words, separator))
                    .collect()
            }
            "concat" => {
                let mut parts = vec![base];
                parts.extend(call.args.iter().map(|a| a.value));
                self.concatenate(unit, &parts, depth)
            }
            "join" => {
                let separator = first(self.strings(unit, base, depth + 1));
                let (Some(separator), Some(list)) = (separator.as_literal(), arg(0)) else {
                    return vec![Text::free(Origin::Unknown)];
                };
                let joined: Vec<Text> = self
                    .sequences(unit, list, depth + 1)
                    .into_iter()
                    .map(|w| join_words(&w, separator))
                    .collect();
                if joined.is_empty() { vec![Text::free(Origin::Unknown)] } else { joined }
            }
            "joinpath" => {
                let mut parts = vec![base];
                parts.extend(call.args.iter().map(|a| a.value));
                self.joined_path(unit, &parts, depth)
            }
            "with_name" | "with_suffix" => vec![Text::free(Origin::Unknown)],
            "format" => self.brace_format(unit, base, call, depth),
            "replace" => {
                let texts = self.strings(unit, base, depth + 1);
                let (Some(old), Some(new)) = (arg(0), arg(1)) else { return texts };
                let old = first(self.strings(unit, old, depth + 1));
                let new = first(self.strings(unit, new, depth + 1));
                match (old.as_literal(), new.as_literal()) {
                    (Some(old), Some(new)) if !old.is_empty() => {
                        texts.into_iter().map(|t| map_literal(t, |s| s.replace(old, new))).collect()
                    }
                    _ => texts,
                }
            }
            "get" => {
                // A dictionary's default, and its constants.
                let mut texts: Vec<Text> =
                    arg(0).map_or_else(Vec::new, |key| self.indexed(unit, base, base, key, depth));
                if let Some(default) = arg(1) {
                    texts.extend(self.strings(unit, default, depth + 1));
                }
                texts
            }
            _ => vec![Text::free(Origin::Unknown)],
        }
    }

    /// Whether a list of words joins itself, as in JavaScript and Rust; Python's separator joins.
    fn is_joined(&self, unit: UnitId, base: ExprId, depth: usize) -> bool {
        let language = self.solver.units()[unit as usize].language;
        matches!(language, Language::Javascript | Language::Rust)
            && !self.sequences(unit, base, depth + 1).is_empty()
    }

    /// `str.format`: positional, automatic and named fields.
    pub(super) fn brace_format(
        &self,
        unit: UnitId,
        base: ExprId,
        call: &crate::base::ir::Call,
        depth: usize,
    ) -> Vec<Text> {
        let positional: Vec<ExprId> = call
            .args
            .iter()
            .filter(|a| a.name.is_none() && a.spread == Spread::No)
            .map(|a| a.value)
            .collect();
        let mut texts = Vec::new();
        for format in self.strings(unit, base, depth + 1) {
            let Some(format) = format.as_literal() else {
                texts.push(format);
                continue;
            };
            let mut made = vec![Text::default()];
            let mut automatic = 0usize;
            let mut rest = format;
            while let Some(at) = rest.find(['{', '}']) {
                push(&mut made, &rest[..at]);
                let tail = &rest[at..];
                if tail.starts_with("{{") || tail.starts_with("}}") {
                    push(&mut made, &tail[..1]);
                    rest = &tail[2..];
                    continue;
                }
                let Some(end) = tail.find('}').filter(|_| tail.starts_with('{')) else {
                    rest = &tail[1..];
                    continue;
                };
                let field = tail[1..end].split(['!', ':']).next().unwrap_or("");
                let value = if field.is_empty() {
                    automatic += 1;
                    positional.get(automatic - 1).copied()
                } else if let Ok(position) = field.parse::<usize>() {
                    positional.get(position).copied()
                } else {
                    call.args.iter().find(|a| a.name.as_deref() == Some(field)).map(|a| a.value)
                };
                let options = match value {
                    Some(value) => self.strings(unit, value, depth + 1),
                    None => vec![Text::free(Origin::Unknown)],
                };
                made = product(&made, &options);
                rest = &tail[end + 1..];
            }
            push(&mut made, rest);
            texts.extend(made);
        }
        texts
    }

    /// Whether a callee is a search for a program by its name, whoever wrote it.
    fn is_which(&self, unit: UnitId, callee: ExprId) -> bool {
        let program = self.solver.program(unit);
        match &program.exprs[callee as usize].expr {
            Expr::Attr { name, .. } => name == "which",
            Expr::Cell(cell) => program.cells[*cell as usize].name == "which",
            _ => false,
        }
    }
}

/// Adds literal text to each alternative.
fn push(texts: &mut [Text], literal: &str) {
    for text in texts {
        text.push(Piece::Literal(literal.to_owned()));
    }
}
