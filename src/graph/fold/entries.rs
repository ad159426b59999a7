//! What tables hold under a key, and lists at a position, as expressions.

use std::collections::BTreeSet;

use super::elements::{Filling, Held, ORDERED, Reader};
use super::{DEPTH, Folder};
use crate::base::ir::{Arg, Expr, ExprId, Spread};
use crate::base::text::Text;
use crate::graph::value::{Object, UnitId, Value};

/// The keys that a lookup may mean; nothing where they are not known.
pub(super) type Wanted = Option<Vec<String>>;
/// Names that stand behind a table which is spread: it does not give these.
type Hidden = BTreeSet<String>;

/// A part of a table's text.
enum Entry {
    /// A value under a constant name.
    Named(String, ExprId),
    /// A value under a key that is not known.
    Unnamed,
    /// A table, or what one is made of, all of which comes in.
    Table(ExprId),
}

impl Folder<'_, '_> {
    /// What an expression holds under a key; under any where the key is not known.
    pub(super) fn under(&self, unit: UnitId, base: ExprId, key: Option<ExprId>, depth: usize) -> Held {
        // A key is only asked for where it decides.
        let has_entries = |value: Value| matches!(value, Value::Container(_) | Value::Class(..));
        if !self.solver.values_of(unit, base).any(has_entries) {
            return Held::open();
        }
        let wanted = key.and_then(|key| self.keys(unit, key, depth));
        self.entries(unit, base, &wanted, depth)
    }

    /// What an expression holds under one of some keys.
    pub(super) fn entries(&self, unit: UnitId, base: ExprId, wanted: &Wanted, depth: usize) -> Held {
        if depth > DEPTH || !self.spend() {
            return Held::open();
        }
        let mut held = Held::default();
        let mut known = false;
        for value in self.solver.values_of(unit, base) {
            known = true;
            match value {
                Value::Container(object) => {
                    held.extend(self.entries_of(object, (unit, base), wanted, depth + 1));
                }
                Value::Class(u, c) if self.is_enumeration(u, c) => {
                    let members = &self.solver.program(u).classes[c as usize].members;
                    let is_wanted =
                        |name: &String| wanted.as_ref().is_none_or(|wanted| wanted.contains(name));
                    for (_, member) in members.iter().filter(|(name, _)| is_wanted(name)) {
                        self.members(u, *member).into_iter().for_each(|(u, member)| held.push(u, member));
                    }
                }
                _ => held.open = true,
            }
        }
        held.open |= !known;
        held
    }

    pub(super) fn entries_of(&self, object: Object, at: Reader, wanted: &Wanted, depth: usize) -> Held {
        let Object::Literal(unit, id) = object else { return Held::open() };
        if depth > DEPTH || !self.spend() {
            return Held::open();
        }
        let mut held = Held::default();
        let is_table = self.is_table(unit, id);
        let mut length = None;
        match &self.solver.program(unit).exprs[id as usize].expr {
            Expr::Map(entries) => {
                for (key, value) in entries {
                    match key {
                        Some(key) if self.is_wanted(unit, *key, wanted, depth) => held.push(unit, *value),
                        Some(_) => {}
                        None => held.extend(self.entries(unit, *value, wanted, depth + 1)),
                    }
                }
            }
            Expr::Seq(items) => {
                length = Some(items.len());
                let fixed = items.iter().all(|(_, spread)| *spread == Spread::No);
                let whole = match fixed {
                    true => {
                        Held { items: items.iter().map(|(item, _)| (unit, *item)).collect(), open: false }
                    }
                    false => self.elements_of(object, at, depth + 1),
                };
                held.extend(positions(whole, wanted));
            }
            Expr::Call(call) if is_table => {
                for arg in &call.args {
                    match &arg.name {
                        Some(name) if wanted.as_ref().is_none_or(|wanted| wanted.contains(name)) => {
                            held.push(unit, arg.value);
                        }
                        Some(_) => {}
                        None => held.extend(self.pairs_or_table(unit, arg.value, wanted, depth + 1)),
                    }
                }
            }
            Expr::Call(call) => match self.container_method(unit, call) {
                Some((base, "copy")) => held.extend(self.entries(unit, base, wanted, depth + 1)),
                _ => {
                    let whole = self.elements_given(unit, call, depth + 1);
                    let path = self.outside(unit, call.callee);
                    match path.is_some_and(|path| ORDERED.contains(&path)) && !whole.open {
                        true => held.extend(positions(whole, wanted)),
                        false => held.extend(whole),
                    }
                }
            },
            _ => held.extend(self.elements_of(object, at, depth + 1)),
        }
        // What was added to a list stands behind what it was made of.
        let is_behind = |wanted: &Wanted| {
            wanted.as_ref().is_none_or(|wanted| {
                wanted.iter().any(|key| {
                    key.parse::<i64>().is_ok_and(|at| at < 0 || length.is_some_and(|len| at >= len as i64))
                })
            })
        };
        for (unit, fill) in self.fills(object, at) {
            match self.filling(unit, fill) {
                Filling::Entry(key, value) if self.is_wanted(unit, key, wanted, depth) => {
                    held.push(unit, value);
                }
                Filling::Items(items) if !is_table && is_behind(wanted) => {
                    items.into_iter().for_each(|item| held.push(unit, item));
                }
                Filling::Lists(lists) if !is_table && is_behind(wanted) => {
                    lists.into_iter().for_each(|list| held.extend(self.elements(unit, list, depth + 1)));
                }
                Filling::Entries(tables, named) if is_table => {
                    for table in tables {
                        held.extend(self.pairs_or_table(unit, table, wanted, depth + 1));
                    }
                    let is_wanted =
                        |name: &String| wanted.as_ref().is_none_or(|wanted| wanted.contains(name));
                    let named = named.into_iter().filter(|(name, _)| is_wanted(name));
                    named.for_each(|(_, value)| held.push(unit, value));
                }
                _ => {}
            }
        }
        held
    }

    /// What a table holds under constant names, in the order of the text; and whether it may hold more. What is
    /// written out behind a table that is spread stands in the place of what that one has.
    pub(in crate::graph) fn named(
        &self,
        object: Object,
        at: Reader,
    ) -> (Vec<(String, UnitId, ExprId)>, bool) {
        let mut found = Vec::new();
        let mut open = false;
        let mut waiting = vec![(object, at, Hidden::default())];
        let mut seen = Vec::new();
        while let Some((object, at, hidden)) = waiting.pop() {
            if seen.contains(&(object, hidden.clone())) || seen.len() > DEPTH {
                continue;
            }
            seen.push((object, hidden.clone()));
            let mut tables: Vec<(UnitId, ExprId, Hidden)> = Vec::new();
            let (own, is_known) = self.own_entries(object, &hidden, &mut tables);
            open |= !is_known;
            found.extend(own);
            for (unit, fill) in self.fills(object, at) {
                let mut more: Vec<(String, UnitId, ExprId)> = Vec::new();
                match self.filling(unit, fill) {
                    Filling::Entry(key, value) => match self.solver.constant_key(unit, key) {
                        Some(name) => more.push((name, unit, value)),
                        None => open = true,
                    },
                    Filling::Entries(of, named) => {
                        tables.extend(of.into_iter().map(|table| (unit, table, hidden.clone())));
                        more.extend(named.into_iter().map(|(name, value)| (name, unit, value)));
                    }
                    Filling::Items(_) | Filling::Lists(_) => {}
                }
                found.extend(more.into_iter().filter(|(name, ..)| !hidden.contains(name)));
            }
            for (unit, table, hidden) in tables {
                let mut known = false;
                for value in self.solver.values_of(unit, table) {
                    match value {
                        Value::Container(object) => {
                            known = true;
                            waiting.push((object, (unit, table), hidden.clone()));
                        }
                        _ => open = true,
                    }
                }
                open |= !known;
            }
        }
        (found, open)
    }

    /// What stands in a table's own text under constant names but those that are hidden, and whether that is all.
    /// The tables that are spread there come into `tables`, each with the names that stand behind it.
    fn own_entries(
        &self,
        object: Object,
        hidden: &Hidden,
        tables: &mut Vec<(UnitId, ExprId, Hidden)>,
    ) -> (Vec<(String, UnitId, ExprId)>, bool) {
        // What callers give is asked of them.
        let Object::Literal(unit, id) = object else { return (Vec::new(), false) };
        let Some(entries) = self.written_entries(unit, id) else { return (Vec::new(), false) };
        let mut found = Vec::new();
        let mut is_known = true;
        let mut behind = hidden.clone();
        for entry in entries.into_iter().rev() {
            match entry {
                Entry::Named(name, _) if behind.contains(&name) => {}
                Entry::Named(name, value) => {
                    behind.insert(name.clone());
                    found.push((name, unit, value));
                }
                Entry::Unnamed => is_known = false,
                Entry::Table(table) => {
                    tables.push((unit, table, behind.clone()));
                    behind.extend(self.surely_in(unit, table));
                }
            }
        }
        found.reverse();
        tables.reverse();
        (found, is_known)
    }

    /// What stands in the text of a table, or of a list of pairs that one is made of, in its order.
    fn written_entries(&self, unit: UnitId, table: ExprId) -> Option<Vec<Entry>> {
        let entry = |key: ExprId, value: ExprId| match self.solver.constant_key(unit, key) {
            Some(name) => Entry::Named(name, value),
            None => Entry::Unnamed,
        };
        let exprs = &self.solver.program(unit).exprs;
        match &exprs[table as usize].expr {
            Expr::Map(entries) => {
                let of = |(key, value): &(Option<ExprId>, ExprId)| match key {
                    Some(key) => entry(*key, *value),
                    None => Entry::Table(*value),
                };
                Some(entries.iter().map(of).collect())
            }
            Expr::Seq(items) => {
                let pair = |(item, spread): &(ExprId, Spread)| match &exprs[*item as usize].expr {
                    Expr::Seq(parts) if *spread == Spread::No => match parts.as_slice() {
                        [(key, Spread::No), (value, Spread::No)] => entry(*key, *value),
                        _ => Entry::Unnamed,
                    },
                    _ => Entry::Unnamed,
                };
                Some(items.iter().map(pair).collect())
            }
            Expr::Call(call) if self.is_table(unit, table) => {
                let of = |arg: &Arg| match &arg.name {
                    Some(name) => Entry::Named(name.clone(), arg.value),
                    None => Entry::Table(arg.value),
                };
                let base = self.container_method(unit, call).map(|(base, _)| Entry::Table(base));
                Some(base.into_iter().chain(call.args.iter().map(of)).collect())
            }
            _ => None,
        }
    }

    /// The constant names that a table has in any case: those that are written out where it is made.
    fn surely_in(&self, unit: UnitId, table: ExprId) -> Vec<String> {
        let mut values = self.solver.values_of(unit, table);
        let (Some(Value::Container(Object::Literal(unit, id))), None) = (values.next(), values.next()) else {
            return Vec::new();
        };
        let Expr::Map(entries) = &self.solver.program(unit).exprs[id as usize].expr else {
            return Vec::new();
        };
        entries.iter().filter_map(|(key, _)| self.solver.constant_key(unit, (*key)?)).collect()
    }

    /// What a table holds, or a list of pairs that a table is made of.
    fn pairs_or_table(&self, unit: UnitId, expr: ExprId, wanted: &Wanted, depth: usize) -> Held {
        let mut held = Held::default();
        for value in self.solver.values_of(unit, expr) {
            let Value::Container(Object::Literal(of, id)) = value else {
                held.open = true;
                continue;
            };
            if self.is_table(of, id) {
                held.extend(self.entries_of(Object::Literal(of, id), (unit, expr), wanted, depth));
                continue;
            }
            for (of, pair) in self.elements_of(Object::Literal(of, id), (unit, expr), depth).items {
                match &self.solver.program(of).exprs[pair as usize].expr {
                    Expr::Seq(parts) if parts.len() == 2 => {
                        if self.is_wanted(of, parts[0].0, wanted, depth) {
                            held.push(of, parts[1].0);
                        }
                    }
                    _ => held.open = true,
                }
            }
        }
        held
    }

    /// The constants that a key stands for, if it stands for nothing else.
    pub(super) fn keys(&self, unit: UnitId, key: ExprId, depth: usize) -> Wanted {
        let texts = self.strings(unit, key, depth + 1);
        texts.iter().map(|text| text.as_literal().map(str::to_owned)).collect()
    }

    /// Whether a table's key is one of those that are looked up. One that is not known is none of them.
    fn is_wanted(&self, unit: UnitId, key: ExprId, wanted: &Wanted, depth: usize) -> bool {
        let Some(wanted) = wanted else { return true };
        // Most keys are written out, and a table may have very many.
        if let Expr::Str(key) = &self.solver.program(unit).exprs[key as usize].expr {
            return wanted.contains(key);
        }
        let texts = self.strings(unit, key, depth + 1);
        texts.iter().filter_map(Text::as_literal).any(|text| wanted.iter().any(|wanted| wanted == text))
    }
}

/// Those of the elements of a list that stand at some positions.
fn positions(whole: Held, wanted: &Wanted) -> Held {
    let Some(wanted) = wanted else { return whole };
    if whole.open {
        return whole;
    }
    let mut held = Held::default();
    for at in wanted.iter().filter_map(|key| key.parse::<i64>().ok()) {
        let at = if at < 0 { at + whole.items.len() as i64 } else { at };
        if let Some((unit, item)) = usize::try_from(at).ok().and_then(|at| whole.items.get(at)) {
            held.push(*unit, *item);
        }
    }
    held
}
