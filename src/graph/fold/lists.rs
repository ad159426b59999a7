//! Folding argument lists: literals, concatenations, slices, what grows them, and splits.

use super::words::{first, first_list, split_words};
use super::{ALTERNATIVES, DEPTH, Folder, LONGEST, Text, WRITTEN, keep};
use crate::base::ir::{BinaryOp, CellId, Expr, ExprId, GuardId, GuardKind, Spread};
use crate::base::text::Origin;
use crate::data::primitives::ValueKind;
use crate::graph::value::{UnitId, Value};

impl<'f, 'a> Folder<'f, 'a> {
    pub(super) fn sequences(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Vec<Text>> {
        if depth > DEPTH || !self.spend() {
            return Vec::new();
        }
        let program = self.solver.program(unit);
        let mut lists = match &program.exprs[expr as usize].expr {
            Expr::Seq(items) => self.literal_list(unit, items, depth),
            Expr::Cell(cell) => self.cell_lists(unit, *cell, depth),
            Expr::Same(inner) => self.sequences(unit, *inner, depth + 1),
            Expr::Union(options) => {
                options.iter().flat_map(|o| self.sequences(unit, *o, depth + 1)).collect()
            }
            // A text and what is added to it.
            Expr::Binary { op: BinaryOp::Add, left, right }
                if [left, right].iter().any(|side| program.exprs[**side as usize].is_text()) =>
            {
                Vec::new()
            }
            Expr::Binary { op: BinaryOp::Add, left, right } => {
                let left = self.sequences(unit, *left, depth + 1);
                let right = self.sequences(unit, *right, depth + 1);
                // Of two texts, for all that is known.
                if left.is_empty() && right.is_empty() {
                    return Vec::new();
                }
                let (left, right) = (or_rest(left), or_rest(right));
                let mut sums = Vec::new();
                for l in &left {
                    for r in &right {
                        sums.push([l.as_slice(), r.as_slice()].concat());
                    }
                }
                sums
            }
            Expr::Binary { op: BinaryOp::Or | BinaryOp::And, left, right } => {
                let mut both = self.sequences(unit, *left, depth + 1);
                both.extend(self.sequences(unit, *right, depth + 1));
                both
            }
            Expr::Slice(base, start) => self.sliced(unit, *base, *start, depth),
            Expr::Call(_) => self.call_lists(unit, expr, depth),
            Expr::Attr { base, name } => match self.known_list(unit, expr) {
                Some(list) => vec![list],
                None => {
                    let members = self.member_values(unit, *base, name);
                    let given = members.is_empty().then(|| self.given_value(unit, *base, name)).flatten();
                    let lists =
                        members.into_iter().flat_map(|(u, value)| self.sequences(u, value, depth + 1));
                    lists.chain(given.map(|origin| vec![Text::rest(origin)])).collect()
                }
            },
            // The loop over a list of lists, a table of lists.
            Expr::Element(_) | Expr::Index { .. } => {
                self.lists_of(unit, expr, &self.held_by(unit, expr, depth), depth)
            }
            Expr::Item(whole, position) => {
                let held = || self.lists_of(unit, expr, &self.held_by(unit, expr, depth), depth);
                let given = || self.lists_at(unit, *whole, *position, depth);
                // What a function gives back is known best at its call.
                let is_of_loop = matches!(program.exprs[*whole as usize].expr, Expr::Element(_));
                let first = if is_of_loop { held() } else { given() };
                match first.is_empty() {
                    true if is_of_loop => given(),
                    true => held(),
                    false => first,
                }
            }
            Expr::Import(import) => match self.imported(unit, import) {
                Some((target, cell)) => self.cell_lists(target, cell, depth + 1),
                None => self.known_list(unit, expr).into_iter().collect(),
            },
            Expr::External(_) => self.known_list(unit, expr).into_iter().collect(),
            _ => Vec::new(),
        };
        lists.retain(|l| l.len() <= LONGEST);
        if lists.len() > ALTERNATIVES {
            let is_written = |list: &Vec<Text>| list.iter().all(|word| word.as_literal().is_some());
            keep(&mut lists, self.is_choice(unit, expr), is_written);
        }
        lists
    }

    /// The words of a list that the catalogue knows.
    pub(super) fn known_list(&self, unit: UnitId, expr: ExprId) -> Option<Vec<Text>> {
        let kind = self.solver.values_of(unit, expr).find_map(|value| match value {
            Value::External { path, .. } => {
                self.solver.catalogue(unit).value(self.solver.interner.text(path))
            }
            _ => None,
        });
        match kind {
            Some(ValueKind::RuntimeArgv) => {
                Some(vec![Text::free(Origin::Interpreter), Text::rest(Origin::OwnArgv)])
            }
            Some(ValueKind::NoWords) => Some(Vec::new()),
            _ => self.origin(unit, expr).map(|origin| vec![Text::rest(origin)]),
        }
    }

    pub(super) fn list_or_rest(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Vec<Text>> {
        or_rest(self.sequences(unit, expr, depth + 1))
    }

    pub(super) fn literal_list(
        &self,
        unit: UnitId,
        items: &[(ExprId, Spread)],
        depth: usize,
    ) -> Vec<Vec<Text>> {
        let mut lists: Vec<Vec<Text>> = vec![Vec::new()];
        for (item, spread) in items.iter().take(LONGEST) {
            let options: Vec<Vec<Text>> = match spread {
                Spread::No => self.strings(unit, *item, depth + 1).into_iter().map(|t| vec![t]).collect(),
                _ => self.list_or_rest(unit, *item, depth),
            };
            let mut next = Vec::new();
            for list in &lists {
                for option in &options {
                    if next.len() < ALTERNATIVES {
                        next.push([list.as_slice(), option.as_slice()].concat());
                    }
                }
            }
            lists = next;
        }
        lists
    }

    pub(super) fn cell_lists(&self, unit: UnitId, cell: CellId, depth: usize) -> Vec<Vec<Text>> {
        let mut lists = Vec::new();
        for value in self.cell_values(unit, cell) {
            lists.extend(self.sequences(unit, value, depth + 1));
            if lists.len() > WRITTEN {
                break;
            }
        }
        if let Some((_, position, _)) = self.solver.parameter(unit, cell) {
            lists.push(vec![Text::rest(Origin::Parameter(position))]);
        }
        let growth = self.solver.growth_behind(unit, cell);
        if !growth.is_empty() {
            lists.truncate(ALTERNATIVES);
        }
        // `cmd.append(x)`, `cmd.extend([…])` after the literal.
        for &id in growth {
            let program = self.solver.program(unit);
            let node = &program.exprs[id as usize];
            let Expr::Call(call) = &node.expr else { continue };
            let Expr::Attr { name, .. } = &program.exprs[call.callee as usize].expr else { continue };
            let Some(arg) = call.args.last().map(|a| a.value) else { continue };
            let more: Vec<Vec<Text>> = match name.as_str() {
                "append" => self.strings(unit, arg, depth + 1).into_iter().map(|t| vec![t]).collect(),
                "push" => vec![
                    call.args
                        .iter()
                        .flat_map(|a| match a.spread {
                            Spread::No => vec![first(self.strings(unit, a.value, depth + 1))],
                            _ => first_list(self.list_or_rest(unit, a.value, depth)),
                        })
                        .collect(),
                ],
                _ => self.list_or_rest(unit, arg, depth),
            };
            // What only some runs add may be left out.
            let is_optional = node.guard.is_some_and(|guard| {
                matches!(program.guards[guard as usize].kind, GuardKind::Branch(..))
                    && !self.cell_values(unit, cell).iter().any(|v| self.stands_under(unit, *v, guard))
            });
            let mut longer = if is_optional { lists.clone() } else { Vec::new() };
            for list in &lists {
                for more in &more {
                    longer.push([list.as_slice(), more.as_slice()].concat());
                }
            }
            longer.truncate(ALTERNATIVES);
            lists = longer;
        }
        lists
    }

    /// Whether an expression stands under a condition.
    fn stands_under(&self, unit: UnitId, expr: ExprId, guard: GuardId) -> bool {
        let program = self.solver.program(unit);
        let mut at = program.exprs[expr as usize].guard;
        for _ in 0..DEPTH {
            match at {
                Some(id) if id == guard => return true,
                Some(id) => at = program.guards[id as usize].parent,
                None => return false,
            }
        }
        false
    }

    pub(super) fn sliced(
        &self,
        unit: UnitId,
        base: ExprId,
        start: Option<u32>,
        depth: usize,
    ) -> Vec<Vec<Text>> {
        let lists = self.sequences(unit, base, depth + 1);
        lists
            .into_iter()
            .map(|list| {
                let Some(start) = start.map(|s| s as usize) else { return vec![Text::rest(Origin::Unknown)] };
                let first_rest = list.iter().position(Text::is_rest);
                match first_rest.and_then(|at| Some((at, list.get(at)?.origin()))) {
                    Some((at, Some(Origin::OwnArgv))) if start == at + 1 => {
                        let mut rest = vec![Text::rest(Origin::OwnArgs)];
                        rest.extend(list.into_iter().skip(start));
                        rest
                    }
                    Some((at, _)) if start > at => vec![Text::rest(Origin::Unknown)],
                    _ => list.into_iter().skip(start).collect(),
                }
            })
            .collect()
    }

    pub(super) fn call_lists(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Vec<Text>> {
        let program = self.solver.program(unit);
        let Expr::Call(call) = &program.exprs[expr as usize].expr else { return Vec::new() };
        let arg = |at: usize| call.args.get(at).map(|a| a.value);
        if let Some(origin) = self.origin(unit, expr) {
            return vec![vec![Text::rest(origin)]];
        }
        let held = self.held_by(unit, expr, depth);
        if !held.items.is_empty() {
            return self.lists_of(unit, expr, &held, depth);
        }
        // Of a method, any class's own may run.
        let mut of_functions: Vec<Vec<Text>> = Vec::new();
        for value in self.solver.values_of(unit, call.callee) {
            match value {
                Value::Func(u, f) | Value::Bound(u, f, _) => {
                    let returns = &self.solver.program(u).functions[f as usize].returns;
                    let Some(entered) = self.entered(unit, call, value) else { continue };
                    let lists = returns
                        .iter()
                        .flat_map(|r| self.sequences(u, *r, depth + 1))
                        .flat_map(|list| self.list_at(&entered, &list, depth));
                    of_functions.extend(lists.take(ALTERNATIVES));
                    if of_functions.len() >= ALTERNATIVES {
                        break;
                    }
                }
                Value::External { path, .. } => {
                    let path = self.solver.interner.text(path);
                    if path == "builtins.map" && self.maps_to_same(unit, call) {
                        return arg(1).map_or_else(Vec::new, |a| self.sequences(unit, a, depth + 1));
                    }
                    match self.solver.catalogue(unit).value(path) {
                        Some(ValueKind::FirstArgument) => {
                            return arg(0).map_or_else(Vec::new, |a| self.sequences(unit, a, depth + 1));
                        }
                        Some(ValueKind::Split) => {
                            return arg(0).map_or_else(Vec::new, |a| {
                                self.strings(unit, a, depth + 1).iter().map(split_words).collect()
                            });
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        if !of_functions.is_empty() {
            return of_functions;
        }
        let Expr::Attr { base, name } = &program.exprs[call.callee as usize].expr else { return Vec::new() };
        match name.as_str() {
            "split" if call.args.is_empty() || self.splits_at_space(unit, arg(0), depth) => {
                self.strings(unit, *base, depth + 1).iter().map(split_words).collect()
            }
            "copy" | "slice" if call.args.is_empty() => self.sequences(unit, *base, depth + 1),
            "slice" => match arg(0).map(|a| &program.exprs[a as usize].expr) {
                Some(Expr::Int(start)) => self.sliced(unit, *base, u32::try_from(*start).ok(), depth),
                _ => Vec::new(),
            },
            "concat" => {
                let mut lists = self.list_or_rest(unit, *base, depth);
                for a in &call.args {
                    let more = first_list(self.list_or_rest(unit, a.value, depth));
                    for list in &mut lists {
                        list.extend(more.iter().cloned());
                    }
                }
                lists
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn splits_at_space(&self, unit: UnitId, separator: Option<ExprId>, depth: usize) -> bool {
        separator.is_some_and(|s| first(self.strings(unit, s, depth + 1)).as_literal() == Some(" "))
    }
}

/// Lists, or one of which nothing is known.
fn or_rest(lists: Vec<Vec<Text>>) -> Vec<Vec<Text>> {
    if lists.is_empty() { vec![vec![Text::rest(Origin::Unknown)]] } else { lists }
}
