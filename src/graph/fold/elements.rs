//! What containers hold, as expressions: what a loop goes over, what stands under a key or at a position,
//! what was added after the container was made. Unlike texts, expressions stay apart: a table of many
//! commands is as many expressions, whatever the number of alternatives that a composed text may have.

use super::{DEPTH, Folder, WRITTEN};
use crate::base::ir::{Call, Expr, ExprId, Slot, Spread};
use crate::base::text::{Origin, Piece, Text};
use crate::data::primitives::ValueKind;
use crate::graph::fills::Fill;
use crate::graph::value::{Object, UnitId, Value};

/// Calls that give a list of what their arguments hold.
const LISTS: [&str; 12] = [
    "builtins.list",
    "builtins.tuple",
    "builtins.set",
    "builtins.frozenset",
    "builtins.sorted",
    "builtins.reversed",
    "builtins.iter",
    "collections.deque",
    "itertools.chain",
    "itertools.cycle",
    "itertools.islice",
    "builtins.filter",
];
/// Those of them that leave each element in its place.
pub(super) const ORDERED: [&str; 3] = ["builtins.list", "builtins.tuple", "collections.deque"];
/// Calls that give a table of their arguments.
const TABLES: [&str; 4] =
    ["builtins.dict", "collections.OrderedDict", "collections.defaultdict", "types.MappingProxyType"];

/// Some expressions, of which one is meant.
#[derive(Debug, Default)]
pub(in crate::graph) struct Held {
    /// The expressions, each once, in the order of the text.
    pub(in crate::graph) items: Vec<(UnitId, ExprId)>,
    /// It may be something else.
    pub(in crate::graph) open: bool,
}

impl Held {
    pub(super) fn push(&mut self, unit: UnitId, expr: ExprId) {
        if self.items.contains(&(unit, expr)) {
            return;
        }
        match self.items.len() < WRITTEN {
            true => self.items.push((unit, expr)),
            false => self.open = true,
        }
    }

    pub(super) fn extend(&mut self, other: Held) {
        other.items.into_iter().for_each(|(unit, expr)| self.push(unit, expr));
        self.open |= other.open;
    }

    pub(super) fn open() -> Held {
        Held { items: Vec::new(), open: true }
    }
}

/// Where a container is read.
pub(in crate::graph) type Reader = (UnitId, ExprId);

impl Folder<'_, '_> {
    /// The expressions of which an element, an entry or the result of a lookup is one; none where an
    /// expression is no such thing.
    pub(super) fn held_by(&self, unit: UnitId, expr: ExprId, depth: usize) -> Held {
        if depth > DEPTH || !self.spend() {
            return Held::open();
        }
        match &self.solver.program(unit).exprs[expr as usize].expr {
            Expr::Element(list) => self.elements(unit, *list, depth + 1),
            Expr::Item(whole, position) => self.at_position(unit, *whole, *position, depth + 1),
            Expr::Index { base, key } => self.under(unit, *base, Some(*key), depth + 1),
            Expr::Call(call) => self.looked_up(unit, call, depth + 1),
            _ => Held::default(),
        }
    }

    /// The texts of some expressions, as they are read at another.
    pub(super) fn texts_of(&self, unit: UnitId, at: ExprId, held: &Held, depth: usize) -> Vec<Text> {
        let texts = |of: UnitId, item: ExprId| self.strings(of, item, depth + 1);
        self.read_at((unit, at), held, texts, |text| without_parameters(&text))
    }

    /// The lists that some expressions are, as they are read at another.
    pub(super) fn lists_of(&self, unit: UnitId, at: ExprId, held: &Held, depth: usize) -> Vec<Vec<Text>> {
        let lists = |of: UnitId, item: ExprId| self.sequences(of, item, depth + 1);
        self.read_at((unit, at), held, lists, |list| list.iter().map(without_parameters).collect())
    }

    /// What some expressions are, as they are read at another: what is a parameter of the function that such an
    /// expression stands in is no parameter there (`foreign`), but what its callers give.
    fn read_at<T>(
        &self,
        at: Reader,
        held: &Held,
        read: impl Fn(UnitId, ExprId) -> Vec<T>,
        foreign: impl Fn(T) -> T,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for &(of, item) in &held.items {
            if self.is_of_one_function(at, (of, item)) {
                found.extend(read(of, item));
                continue;
            }
            found.extend(read(of, item).into_iter().map(&foreign));
            for (of, given) in self.given_to_maker(of, item) {
                found.extend(read(of, given).into_iter().map(&foreign));
            }
        }
        found
    }

    fn is_of_one_function(&self, a: (UnitId, ExprId), b: (UnitId, ExprId)) -> bool {
        let function =
            |(unit, expr): (UnitId, ExprId)| self.solver.program(unit).exprs[expr as usize].function;
        a.0 == b.0 && function(a) == function(b)
    }

    /// What a loop over an expression goes over.
    pub(in crate::graph) fn elements(&self, unit: UnitId, list: ExprId, depth: usize) -> Held {
        if depth > DEPTH || !self.spend() {
            return Held::open();
        }
        let mut held = Held::default();
        let mut known = false;
        for value in self.solver.values_of(unit, list) {
            known = true;
            match value {
                Value::Container(object) => held.extend(self.elements_of(object, (unit, list), depth + 1)),
                Value::Class(u, c) if self.is_enumeration(u, c) => {
                    self.all_members(u, c).into_iter().for_each(|(u, member)| held.push(u, member));
                }
                _ => held.open = true,
            }
        }
        held.open |= !known;
        held
    }

    pub(super) fn elements_of(&self, object: Object, at: Reader, depth: usize) -> Held {
        let Object::Literal(unit, id) = object else { return Held::open() };
        if depth > DEPTH || !self.spend() {
            return Held::open();
        }
        let mut held = Held::default();
        match &self.solver.program(unit).exprs[id as usize].expr {
            Expr::Seq(items) => {
                for (item, spread) in items {
                    match spread {
                        Spread::No => held.push(unit, *item),
                        _ => held.extend(self.elements(unit, *item, depth + 1)),
                    }
                }
            }
            // A loop over a table goes over its keys.
            Expr::Map(entries) => {
                for (key, value) in entries {
                    match key {
                        Some(key) => held.push(unit, *key),
                        None => held.extend(self.elements(unit, *value, depth + 1)),
                    }
                }
            }
            Expr::Slice(base, start) => {
                let whole = self.elements(unit, *base, depth + 1);
                let skipped = start.filter(|_| !whole.open).map_or(0, |start| start as usize);
                whole.items.into_iter().skip(skipped).for_each(|(u, item)| held.push(u, item));
                held.open |= whole.open;
            }
            Expr::Call(call) => held.extend(self.elements_given(unit, call, depth + 1)),
            _ => held.open = true,
        }
        let is_table = self.is_table(unit, id);
        for (unit, fill) in self.fills(object, at) {
            match self.filling(unit, fill) {
                Filling::Items(items) => items.into_iter().for_each(|item| held.push(unit, item)),
                Filling::Lists(lists) | Filling::Entries(lists, _) => {
                    lists.into_iter().for_each(|list| held.extend(self.elements(unit, list, depth + 1)));
                }
                Filling::Entry(key, value) => held.push(unit, if is_table { key } else { value }),
            }
        }
        held
    }

    /// The elements of the container that a call gives.
    pub(super) fn elements_given(&self, unit: UnitId, call: &Call, depth: usize) -> Held {
        let mut held = Held::default();
        let given = |from: usize, count: usize| {
            let plain = call.args.iter().filter(|arg| arg.name.is_none()).skip(from).take(count);
            let mut held = Held::default();
            plain.for_each(|arg| held.extend(self.elements(unit, arg.value, depth)));
            held
        };
        if let Some(path) = self.outside(unit, call.callee) {
            match path {
                // What a filter lets through is its second argument's.
                "builtins.filter" => held.extend(given(1, 1)),
                "itertools.chain" => held.extend(given(0, usize::MAX)),
                "builtins.map" if self.maps_to_same(unit, call) => held.extend(given(1, 1)),
                _ if LISTS.contains(&path) => held.extend(given(0, 1)),
                _ => held.open = true,
            }
            return held;
        }
        match self.container_method(unit, call) {
            Some((base, "values")) => held.extend(self.entries(unit, base, &None, depth)),
            Some((base, "copy" | "keys" | "filter" | "slice" | "reverse" | "sort")) => {
                held.extend(self.elements(unit, base, depth));
            }
            _ => held.open = true,
        }
        held
    }

    /// `map(str, commands)`: each element is what it was.
    pub(super) fn maps_to_same(&self, unit: UnitId, call: &Call) -> bool {
        let mapped = call.args.first().and_then(|arg| self.outside(unit, arg.value));
        mapped.is_some_and(|path| self.gives_back(unit, path))
    }

    /// What stands at a position of what an expression gives.
    pub(super) fn at_position(&self, unit: UnitId, whole: ExprId, position: u32, depth: usize) -> Held {
        if depth > DEPTH || !self.spend() {
            return Held::open();
        }
        let mut held = Held::default();
        let mut known = false;
        for value in self.solver.values_of(unit, whole) {
            known = true;
            match value {
                Value::Container(Object::Pair(of, call)) => {
                    let Expr::Call(call) = &self.solver.program(of).exprs[call as usize].expr else {
                        continue;
                    };
                    held.extend(self.of_pair(of, call, position, depth + 1));
                }
                Value::Container(object) => {
                    let wanted = Some(vec![position.to_string()]);
                    held.extend(self.entries_of(object, (unit, whole), &wanted, depth + 1));
                }
                _ => held.open = true,
            }
        }
        held.open |= !known;
        held
    }

    /// One part of the pairs that a call gives.
    fn of_pair(&self, unit: UnitId, call: &Call, position: u32, depth: usize) -> Held {
        let argument = |at: usize| call.args.iter().filter(|arg| arg.name.is_none()).nth(at);
        match self.outside(unit, call.callee) {
            Some("builtins.enumerate") if position == 1 => {
                argument(0).map_or_else(Held::open, |arg| self.elements(unit, arg.value, depth))
            }
            Some("builtins.zip" | "itertools.zip_longest") => argument(position as usize)
                .filter(|arg| arg.spread == Spread::No)
                .map_or_else(Held::open, |arg| self.elements(unit, arg.value, depth)),
            Some(_) => Held::open(),
            None => match (self.container_method(unit, call), position) {
                (Some((base, "items" | "entries")), 0) => self.elements(unit, base, depth),
                (Some((base, "items" | "entries")), 1) => self.entries(unit, base, &None, depth),
                _ => Held::open(),
            },
        }
    }

    /// What a call that looks something up gives back: `table.get(key, default)`, `list.pop()`, `next(it)`.
    fn looked_up(&self, unit: UnitId, call: &Call, depth: usize) -> Held {
        let arg = |at: usize| call.args.get(at).map(|arg| arg.value);
        match self.outside(unit, call.callee) {
            Some("builtins.next" | "random.choice") => {
                return arg(0).map_or_else(Held::default, |list| self.elements(unit, list, depth));
            }
            Some("builtins.getattr") => {
                let (Some(object), Some(name)) = (arg(0), arg(1)) else { return Held::default() };
                let mut held = Held::default();
                for name in self.keys(unit, name, depth).into_iter().flatten() {
                    let members = self.member_values(unit, object, &name);
                    members.into_iter().for_each(|(u, member)| held.push(u, member));
                }
                // The default stands where nothing is found.
                if held.items.is_empty() {
                    held.open = true;
                    arg(2).into_iter().for_each(|default| held.push(unit, default));
                }
                return held;
            }
            Some(_) => return Held::default(),
            None => {}
        }
        match self.container_method(unit, call) {
            Some((base, "get" | "setdefault" | "__getitem__")) => {
                let mut held = self.under(unit, base, arg(0), depth);
                if let Some(default) = arg(1) {
                    held.push(unit, default);
                }
                held
            }
            Some((base, "pop")) if self.is_of_tables(unit, base) => self.under(unit, base, arg(0), depth),
            // What stands at a position of a list is another thing each time.
            Some((base, "pop" | "popleft" | "shift")) => self.elements(unit, base, depth),
            _ => Held::default(),
        }
    }

    /// Whether the expression that makes a container makes a table.
    pub(super) fn is_table(&self, unit: UnitId, id: ExprId) -> bool {
        match &self.solver.program(unit).exprs[id as usize].expr {
            Expr::Map(_) => true,
            Expr::Call(call) => match self.outside(unit, call.callee) {
                Some(path) => TABLES.contains(&path),
                None => matches!(self.container_method(unit, call), Some((_, "copy"))),
            },
            _ => false,
        }
    }

    fn is_of_tables(&self, unit: UnitId, expr: ExprId) -> bool {
        self.solver.values_of(unit, expr).any(|value| match value {
            Value::Container(Object::Literal(of, id)) => self.is_table(of, id),
            _ => false,
        })
    }

    /// Whether an operation gives back its first argument, as far as texts go.
    fn gives_back(&self, unit: UnitId, path: &str) -> bool {
        self.solver.catalogue(unit).value(path) == Some(ValueKind::FirstArgument)
    }

    /// The access path of a callee from outside the tree.
    pub(super) fn outside(&self, unit: UnitId, callee: ExprId) -> Option<&str> {
        self.solver.values_of(unit, callee).find_map(|value| match value {
            Value::External { path, .. } => Some(self.solver.interner.text(path)),
            _ => None,
        })
    }

    /// The container that a call's method is of, and the method.
    pub(super) fn container_method<'c>(&'c self, unit: UnitId, call: &Call) -> Option<(ExprId, &'c str)> {
        let Expr::Attr { base, name } = &self.solver.program(unit).exprs[call.callee as usize].expr else {
            return None;
        };
        let is_method = |value: Value| matches!(value, Value::ContainerMethod(..));
        self.solver.values_of(unit, call.callee).any(is_method).then_some((*base, name.as_str()))
    }

    /// What fills a container that is read at a place. A function makes a container of its own at each call:
    /// what one caller puts into its own is not in another's.
    pub(super) fn fills(&self, object: Object, at: Reader) -> Vec<(UnitId, Fill)> {
        let all = self.solver.fills_of(object).iter().copied();
        let Object::Literal(made_in, made) = object else { return all.collect() };
        let maker = self.solver.program(made_in).exprs[made as usize].function;
        let variable = |unit: UnitId, expr: ExprId| {
            let program = self.solver.program(unit);
            match program.exprs[expr as usize].expr {
                Expr::Cell(cell) => Some((cell, program.cells[cell as usize].name.as_str())),
                _ => None,
            }
        };
        let function =
            |unit: UnitId, expr: ExprId| (unit, self.solver.program(unit).exprs[expr as usize].function);
        let counts = |(unit, fill): &(UnitId, Fill)| {
            let Some(base) = self.filled(*unit, *fill) else { return false };
            let Some((cell, name)) = variable(*unit, base) else { return true };
            let here = function(*unit, base);
            maker == 0
                || *unit == made_in && self.solver.is_inside(*unit, here.1, maker)
                || self.solver.parameter(*unit, cell).is_some()
                || here == function(at.0, at.1) && variable(at.0, at.1).is_some_and(|(_, of)| of == name)
        };
        all.filter(counts).collect()
    }

    /// The expression of the container that is filled.
    fn filled(&self, unit: UnitId, fill: Fill) -> Option<ExprId> {
        let program = self.solver.program(unit);
        match fill {
            Fill::Store(at) => Some(program.stores[at as usize].base),
            Fill::Call(call) => {
                let Expr::Call(call) = &program.exprs[call as usize].expr else { return None };
                match program.exprs[call.callee as usize].expr {
                    Expr::Attr { base, .. } => Some(base),
                    _ => None,
                }
            }
        }
    }

    pub(super) fn filling(&self, unit: UnitId, fill: Fill) -> Filling {
        let program = self.solver.program(unit);
        let call = match fill {
            Fill::Store(at) => {
                let store = &program.stores[at as usize];
                return match store.slot {
                    Slot::Key(key) => Filling::Entry(key, store.value),
                    _ => Filling::Items(vec![store.value]),
                };
            }
            Fill::Call(call) => call,
        };
        let Expr::Call(call) = &program.exprs[call as usize].expr else { return Filling::Items(Vec::new()) };
        let Expr::Attr { name, .. } = &program.exprs[call.callee as usize].expr else {
            return Filling::Items(Vec::new());
        };
        let plain: Vec<ExprId> =
            call.args.iter().filter(|arg| arg.name.is_none()).map(|arg| arg.value).collect();
        match (name.as_str(), plain.as_slice()) {
            ("insert", [_, item]) => Filling::Items(vec![*item]),
            ("setdefault", [key, value]) => Filling::Entry(*key, *value),
            ("extend" | "extendleft", _) => Filling::Lists(plain),
            ("update", _) => {
                let named = call.args.iter().filter_map(|arg| Some((arg.name.clone()?, arg.value)));
                Filling::Entries(plain, named.collect())
            }
            _ => Filling::Items(plain),
        }
    }
}

/// What comes into a container at one place.
pub(super) enum Filling {
    /// Elements.
    Items(Vec<ExprId>),
    /// What lists hold.
    Lists(Vec<ExprId>),
    /// A value under a key.
    Entry(ExprId, ExprId),
    /// What tables hold, or sets; and values by name.
    Entries(Vec<ExprId>, Vec<(String, ExprId)>),
}

/// A text of another function: its parameters are not known here.
fn without_parameters(text: &Text) -> Text {
    let mut known = Text::default();
    for piece in text.pieces() {
        known.push(match piece {
            Piece::Free(Origin::Parameter(_)) => Piece::Free(Origin::Unknown),
            Piece::Rest(Origin::Parameter(_)) => Piece::Rest(Origin::Unknown),
            other => other.clone(),
        });
    }
    known
}
