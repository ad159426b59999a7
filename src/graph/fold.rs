//! Constants: the strings, lists and commands that expressions stand for, as far as literals
//! go. Free parts keep their origin (this program, its arguments, a child's pid).
//!
//! Folding is bounded: by depth, by the number of alternatives, and by a count of steps.

use std::cell::Cell as Count;

use super::link::Target;
use super::solve::Solver;
use super::value::{Object, UnitId, Value};
use crate::base::ir::{BinaryOp, CellId, Expr, ExprId, FuncId, Slot, Spread};
use crate::base::text::{Origin, Piece, Text};
use crate::data::primitives::{ValueKind, origin_of};

const DEPTH: usize = 24;
const ALTERNATIVES: usize = 8;
const STEPS: u32 = 2000;
/// Steps for a container's key, of which there are many.
const KEY_STEPS: u32 = 100;
/// Longest list or string that is built.
const LONGEST: usize = 4096;

impl<'a> Solver<'a> {
    /// The one constant that an expression stands for, as a container's key. Asked for often: the
    /// first answer stays.
    pub(super) fn key_of(&mut self, unit: UnitId, expr: ExprId) -> Option<std::rc::Rc<str>> {
        match &self.program(unit).exprs[expr as usize].expr {
            Expr::Str(text) => return Some(text.as_str().into()),
            Expr::Int(value) => return Some(value.to_string().into()),
            Expr::Unknown => return None,
            _ => {}
        }
        if let Some(known) = self.keys.get(&(unit, expr)) {
            return known.clone();
        }
        let key: Option<std::rc::Rc<str>> = self.constant_key(unit, expr).map(Into::into);
        self.keys.insert((unit, expr), key.clone());
        key
    }

    /// The one constant that an expression stands for.
    pub(super) fn constant_key(&self, unit: UnitId, expr: ExprId) -> Option<String> {
        let folder = Folder { solver: self, steps: Count::new(KEY_STEPS) };
        match folder.texts(unit, expr).as_slice() {
            [only] => only.as_literal().map(str::to_owned),
            _ => None,
        }
    }

    /// Every constant name that an expression may stand for; free ones are left out.
    pub(super) fn constant_names(&self, unit: UnitId, expr: ExprId) -> Vec<String> {
        let texts = Folder::new(self).texts(unit, expr);
        texts.iter().filter_map(|t| t.as_literal()).filter(|t| !t.is_empty()).map(str::to_owned).collect()
    }
}

impl Solver<'_> {
    /// A member of an options object that is written out.
    pub(super) fn member_of(&self, unit: UnitId, object: ExprId, member: &str) -> Option<ExprId> {
        self.values_of(unit, object).find_map(|v| match v {
            Value::Container(Object::Literal(of, literal)) if of == unit => {
                let Expr::Map(entries) = &self.program(of).exprs[literal as usize].expr else {
                    return None;
                };
                entries.iter().find_map(|(key, value)| {
                    key.is_some_and(|k| self.constant_key(of, k).as_deref() == Some(member)).then_some(*value)
                })
            }
            _ => None,
        })
    }

    /// Whether a value is an options object or a function, and no list.
    pub(super) fn is_options(&self, unit: UnitId, expr: ExprId) -> bool {
        let mut values = self.values_of(unit, expr).peekable();
        values.peek().is_some()
            && values.all(|v| match v {
                Value::Container(Object::Literal(of, literal)) => {
                    matches!(self.program(of).exprs[literal as usize].expr, Expr::Map(_))
                }
                Value::Func(..) | Value::Bound(..) | Value::Partial(..) => true,
                _ => false,
            })
    }
}

/// One folding run.
pub struct Folder<'f, 'a> {
    solver: &'f Solver<'a>,
    steps: Count<u32>,
}

impl<'f, 'a> Folder<'f, 'a> {
    /// A run over a solver's present state.
    pub fn new(solver: &'f Solver<'a>) -> Folder<'f, 'a> {
        Folder { solver, steps: Count::new(STEPS) }
    }

    /// The strings that an expression may stand for: at least one, free where nothing is known.
    pub fn texts(&self, unit: UnitId, expr: ExprId) -> Vec<Text> {
        let mut texts = self.strings(unit, expr, 0);
        if texts.is_empty() {
            texts.push(Text::free(Origin::Unknown));
        }
        texts
    }

    /// The argument lists that an expression may stand for; empty if it is no list that folds.
    pub fn lists(&self, unit: UnitId, expr: ExprId) -> Vec<Vec<Text>> {
        self.sequences(unit, expr, 0)
    }

    /// The truth of an expression, if it folds.
    pub fn truth(&self, unit: UnitId, expr: ExprId) -> Option<bool> {
        self.truth_at(unit, expr, 0)
    }

    fn truth_at(&self, unit: UnitId, expr: ExprId, depth: usize) -> Option<bool> {
        if depth > DEPTH {
            return None;
        }
        let program = self.solver.program(unit);
        match &program.exprs[expr as usize].expr {
            Expr::Bool(value) => Some(*value),
            Expr::Int(value) => Some(*value != 0),
            Expr::Null => Some(false),
            Expr::Str(text) => Some(!text.is_empty()),
            Expr::Not(inner) => self.truth_at(unit, *inner, depth + 1).map(|t| !t),
            Expr::Cell(cell) => {
                if self.solver.parameter(unit, *cell).is_some() {
                    return None;
                }
                let mut known = None;
                for value in self.cell_values(unit, *cell) {
                    match (known, self.truth_at(unit, value, depth + 1)?) {
                        (Some(before), now) if before != now => return None,
                        (_, now) => known = Some(now),
                    }
                }
                known
            }
            Expr::Import(import) => {
                let (target, cell) = self.imported(unit, import)?;
                let values = self.cell_values(target, cell);
                let [only] = values.as_slice() else { return None };
                self.truth_at(target, *only, depth + 1)
            }
            _ => None,
        }
    }

    /// All values of a cell, through joins; bounded.
    fn cell_values(&self, unit: UnitId, cell: CellId) -> Vec<ExprId> {
        let program = self.solver.program(unit);
        let mut values = Vec::new();
        let mut stack = vec![cell];
        let mut seen = vec![cell];
        while let Some(cell) = stack.pop() {
            let cell = &program.cells[cell as usize];
            values.extend(cell.values.iter().copied());
            for from in &cell.from {
                if !seen.contains(from) && seen.len() < 64 {
                    seen.push(*from);
                    stack.push(*from);
                }
            }
        }
        values.sort_unstable();
        values.dedup();
        // A declared type is no value.
        values.retain(|v| !matches!(program.exprs[*v as usize].expr, Expr::Instance(_)));
        values
    }

    fn spend(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    fn imported(&self, unit: UnitId, import: &crate::base::ir::Import) -> Option<(UnitId, CellId)> {
        let state = &self.solver.units()[unit as usize];
        match self.solver.files().resolve(state.language, state.path, import) {
            Target::Name(file, name) => {
                let target = self.solver.unit_of(&file)?;
                Some((target, self.solver.export(target, &name)?))
            }
            Target::Package(files, Some(name)) => files.iter().find_map(|file| {
                let target = self.solver.unit_of(file)?;
                Some((target, self.solver.export(target, &name)?))
            }),
            _ => None,
        }
    }

    fn strings(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Text> {
        if depth > DEPTH || !self.spend() {
            return vec![Text::free(Origin::Unknown)];
        }
        let program = self.solver.program(unit);
        let node = &program.exprs[expr as usize];
        let unknown = || vec![Text::free(Origin::Unknown)];
        let mut texts = match &node.expr {
            Expr::Str(text) => vec![Text::literal(text.clone())],
            Expr::Int(value) => vec![Text::literal(value.to_string())],
            Expr::Neg(inner) => self
                .strings(unit, *inner, depth + 1)
                .into_iter()
                .map(|t| match (t.as_literal(), t.origin()) {
                    (Some(text), _) => Text::literal(format!("-{text}")),
                    (None, Some(Origin::OwnPid | Origin::OwnGroup)) => Text::free(Origin::OwnGroup),
                    _ => t,
                })
                .collect(),
            Expr::Template(parts) => self.concatenate(unit, parts, depth),
            Expr::Cell(cell) => self.cell_strings(unit, *cell, depth),
            Expr::Same(inner) | Expr::Enter(inner) => self.strings(unit, *inner, depth + 1),
            Expr::Union(options) => options.iter().flat_map(|o| self.strings(unit, *o, depth + 1)).collect(),
            Expr::Binary { op, left, right } => match op {
                BinaryOp::Add => self.concatenate(unit, &[*left, *right], depth),
                BinaryOp::Slash => self.joined_path(unit, &[*left, *right], depth),
                BinaryOp::Percent => self.percent(unit, *left, *right, depth),
                BinaryOp::Or | BinaryOp::And => {
                    let mut both = self.strings(unit, *left, depth + 1);
                    both.extend(self.strings(unit, *right, depth + 1));
                    both
                }
                _ => unknown(),
            },
            // A child's pid, kept in a list.
            Expr::Element(_) if self.origin(unit, expr) == Some(Origin::ChildPid) => {
                vec![Text::free(Origin::ChildPid)]
            }
            Expr::Element(list) => {
                let items: Vec<Text> = self.sequences(unit, *list, depth + 1).into_iter().flatten().collect();
                items.into_iter().map(one_word).collect()
            }
            Expr::Item(list, position) => match self.origin(unit, expr) {
                Some(origin) => vec![Text::free(origin)],
                None => self.item(unit, *list, i64::from(*position), depth),
            },
            Expr::Index { base, key } => self.indexed(unit, expr, *base, *key, depth),
            Expr::Attr { base, name } => self.member_strings(unit, expr, *base, name, depth),
            Expr::Call(_) => self.call_strings(unit, expr, depth),
            Expr::Import(import) => match self.imported(unit, import) {
                Some((target, cell)) => self.cell_strings(target, cell, depth + 1),
                None => self.origin(unit, expr).map_or_else(unknown, |o| vec![Text::free(o)]),
            },
            Expr::External(_) => self.origin(unit, expr).map_or_else(unknown, |o| vec![Text::free(o)]),
            _ => unknown(),
        };
        texts.sort();
        texts.dedup();
        texts.truncate(ALTERNATIVES);
        for text in &mut texts {
            if text.pieces().len() > LONGEST {
                *text = Text::free(Origin::Unknown);
            }
        }
        texts
    }

    /// The origin of an expression whose value the catalogue knows.
    fn origin(&self, unit: UnitId, expr: ExprId) -> Option<Origin> {
        for value in self.solver.values_of(unit, expr) {
            let Value::External { path, made } = value else { continue };
            let path = self.solver.interner.text(path);
            let catalogue = self.solver.catalogue(unit);
            if let Some(kind) = catalogue.value(path) {
                if matches!(kind, ValueKind::ChildPid | ValueKind::HandlePid) {
                    return Some(self.child(unit, expr, made));
                }
                if let Some(origin) = origin_of(kind) {
                    return Some(origin);
                }
            }
            if let Some(handle) = path.strip_suffix(".pid")
                && catalogue.value(handle) == Some(ValueKind::Child)
            {
                return Some(self.child(unit, expr, made));
            }
        }
        None
    }

    /// A child's pid is the program's own business where the same function or class started the child.
    fn child(&self, unit: UnitId, expr: ExprId, made: u32) -> Origin {
        let Some(at) = made.checked_sub(1) else { return Origin::Unknown };
        let Some((maker_unit, _, maker)) = self.solver.makers.get(at as usize).copied() else {
            return Origin::Unknown;
        };
        if self.is_given(unit, expr) {
            return Origin::Unknown;
        }
        let here = self.solver.program(unit).exprs[expr as usize].function;
        if maker_unit == unit && self.same_owner(unit, here, maker) {
            Origin::ChildPid
        } else {
            Origin::Unknown
        }
    }

    /// Whether a child, or its pid, came in as a parameter: then it is somebody else's to end.
    fn is_given(&self, unit: UnitId, expr: ExprId) -> bool {
        let exprs = &self.solver.program(unit).exprs;
        let mut at = expr;
        for _ in 0..8 {
            match &exprs[at as usize].expr {
                Expr::Attr { base, name } if name == "pid" => at = *base,
                Expr::Same(inner) => at = *inner,
                Expr::Cell(cell) => return self.solver.parameter(unit, *cell).is_some(),
                _ => return false,
            }
        }
        false
    }

    /// Whether two functions are one, nested in one another, or methods of one class.
    fn same_owner(&self, unit: UnitId, a: FuncId, b: FuncId) -> bool {
        let program = self.solver.program(unit);
        let chain = |mut f: FuncId| {
            let mut chain = vec![f];
            while let Some(parent) = program.functions[f as usize].parent {
                if chain.len() > 64 || parent == f {
                    break;
                }
                f = parent;
                chain.push(f);
            }
            chain
        };
        let (a, b) = (chain(a), chain(b));
        if a.first() == b.first() {
            return true;
        }
        let outer = |chain: &[FuncId]| chain.iter().copied().filter(|f| *f != 0).collect::<Vec<_>>();
        let (own_a, own_b) = (outer(&a), outer(&b));
        if own_a.iter().any(|f| own_b.contains(f)) {
            return true;
        }
        let classes = |chain: &[FuncId]| {
            chain.iter().filter_map(|f| program.functions[*f as usize].class).collect::<Vec<_>>()
        };
        let (class_a, class_b) = (classes(&a), classes(&b));
        class_a.iter().any(|c| class_b.contains(c))
    }

    fn cell_strings(&self, unit: UnitId, cell: CellId, depth: usize) -> Vec<Text> {
        let mut texts = Vec::new();
        for value in self.cell_values(unit, cell) {
            texts.extend(self.strings(unit, value, depth + 1));
            if texts.len() > ALTERNATIVES {
                break;
            }
        }
        if let Some((_, position, _)) = self.solver.parameter(unit, cell) {
            texts.push(Text::free(Origin::Parameter(position)));
        }
        if texts.is_empty() {
            texts.push(Text::free(Origin::Unknown));
        }
        texts
    }

    fn concatenate(&self, unit: UnitId, parts: &[ExprId], depth: usize) -> Vec<Text> {
        let mut texts = vec![Text::default()];
        for part in parts {
            let options = self.strings(unit, *part, depth + 1);
            let mut next = Vec::new();
            for text in &texts {
                for option in &options {
                    let mut longer = text.clone();
                    longer.extend(option);
                    next.push(longer);
                    if next.len() >= ALTERNATIVES {
                        break;
                    }
                }
            }
            texts = next;
        }
        texts
    }

    /// Path joining: this program's own file stays what it is only alone.
    fn joined_path(&self, unit: UnitId, parts: &[ExprId], depth: usize) -> Vec<Text> {
        let mut path = Text::default();
        for part in parts {
            let mut options = self.strings(unit, *part, depth + 1);
            let text = if options.len() == 1 { options.remove(0) } else { Text::free(Origin::Unknown) };
            if text.as_literal().is_some_and(|t| t.starts_with('/')) {
                path = Text::default();
            }
            if !path.pieces().is_empty() {
                path.push(Piece::Literal("/".to_owned()));
            }
            path.extend(&text);
        }
        vec![path]
    }

    /// Python's `%` formatting.
    fn percent(&self, unit: UnitId, left: ExprId, right: ExprId, depth: usize) -> Vec<Text> {
        let values = match &self.solver.program(unit).exprs[right as usize].expr {
            Expr::Seq(items) => items.iter().map(|(item, _)| *item).collect(),
            Expr::Map(_) => Vec::new(),
            _ => vec![right],
        };
        self.formatted(unit, left, &values, depth)
    }

    /// A format string with `%` verbs and its values.
    fn formatted(&self, unit: UnitId, left: ExprId, values: &[ExprId], depth: usize) -> Vec<Text> {
        let mut texts = Vec::new();
        for format in self.strings(unit, left, depth + 1) {
            let Some(format) = format.as_literal() else {
                texts.push(format);
                continue;
            };
            let mut text = Text::default();
            let mut rest = format;
            let mut next = values.iter();
            while let Some(at) = rest.find('%') {
                text.push(Piece::Literal(rest[..at].to_owned()));
                let spec = &rest[at + 1..];
                if let Some(after) = spec.strip_prefix('%') {
                    text.push(Piece::Literal("%".to_owned()));
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
                match next.next().filter(|_| !named) {
                    Some(value) => text.extend(&first(self.strings(unit, *value, depth + 1))),
                    None => text.push(Piece::Free(Origin::Unknown)),
                }
                rest = &spec[end + 1..];
            }
            text.push(Piece::Literal(rest.to_owned()));
            texts.push(text);
        }
        texts
    }

    fn item(&self, unit: UnitId, list: ExprId, position: i64, depth: usize) -> Vec<Text> {
        let mut texts = Vec::new();
        for words in self.sequences(unit, list, depth + 1) {
            let first_rest = words.iter().position(Text::is_rest).unwrap_or(words.len());
            match usize::try_from(position) {
                Ok(at) if at < first_rest => texts.extend(words.get(at).cloned()),
                Ok(at) if at == first_rest => texts.extend(words.get(at).map(|w| match w.origin() {
                    Some(Origin::OwnArgv) => Text::free(Origin::OwnScript),
                    _ => Text::free(Origin::Unknown),
                })),
                _ => texts.push(Text::free(Origin::Unknown)),
            }
        }
        // The first of a call's several results, where the call is known to hand a value on.
        if texts.is_empty()
            && position == 0
            && let Expr::Call(_) = self.solver.program(unit).exprs[list as usize].expr
        {
            texts = self.strings(unit, list, depth + 1);
        }
        if texts.is_empty() {
            texts.push(Text::free(Origin::Unknown));
        }
        texts
    }

    /// The one constant that a key stands for.
    fn key(&self, unit: UnitId, expr: ExprId, depth: usize) -> Option<String> {
        match self.strings(unit, expr, depth + 1).as_slice() {
            [only] => only.as_literal().map(str::to_owned),
            _ => None,
        }
    }

    fn indexed(&self, unit: UnitId, expr: ExprId, base: ExprId, key: ExprId, depth: usize) -> Vec<Text> {
        let program = self.solver.program(unit);
        if let Some(origin) = self.origin(unit, expr) {
            return vec![Text::free(origin)];
        }
        if let Expr::Int(position) = program.exprs[key as usize].expr {
            return self.item(unit, base, position, depth);
        }
        // A dictionary of constants.
        let mut texts = Vec::new();
        for value in self.solver.values_of(unit, base) {
            let Value::Container(super::value::Object::Literal(of, literal)) = value else { continue };
            let Expr::Map(entries) = &self.solver.program(of).exprs[literal as usize].expr else { continue };
            let wanted = self.key(unit, key, depth);
            for (entry_key, entry) in entries {
                let Some(entry_key) = entry_key else { continue };
                if wanted.is_none() || self.key(of, *entry_key, depth) == wanted {
                    texts.extend(self.strings(of, *entry, depth + 1));
                }
            }
        }
        if texts.is_empty() {
            texts.push(Text::free(Origin::Unknown));
        }
        texts
    }

    /// Values stored under an attribute's name in the same class or module, or defined there.
    fn member_values(&self, unit: UnitId, base: ExprId, name: &str) -> Vec<(UnitId, ExprId)> {
        let mut found = Vec::new();
        let name = name.strip_prefix("::").unwrap_or(name);
        let bases: Vec<Value> = self.solver.values_of(unit, base).collect();
        for value in &bases {
            match value {
                Value::Module(target) => {
                    if let Some(cell) = self.solver.export(*target, name) {
                        found.extend(self.cell_values(*target, cell).into_iter().map(|v| (*target, v)));
                    }
                }
                Value::Container(Object::Literal(of, literal)) => {
                    if let Expr::Map(entries) = &self.solver.program(*of).exprs[*literal as usize].expr {
                        let named = |key: &ExprId| matches!(&self.solver.program(*of).exprs[*key as usize].expr, Expr::Str(k) if k == name);
                        found.extend(
                            entries
                                .iter()
                                .filter(|(key, _)| key.as_ref().is_some_and(named))
                                .map(|(_, value)| (*of, *value)),
                        );
                    }
                }
                Value::Instance(u, c) | Value::Class(u, c) => {
                    let program = self.solver.program(*u);
                    for (member, expr) in &program.classes[*c as usize].members {
                        if member == name {
                            found.push((*u, *expr));
                        }
                    }
                }
                _ => {}
            }
        }
        let program = self.solver.program(unit);
        for store in self.solver.stores_of(unit, name) {
            let store = &program.stores[store as usize];
            if let Slot::Attr(_) = store.slot
                && self.solver.values_of(unit, store.base).any(|v| bases.contains(&v))
            {
                found.push((unit, store.value));
            }
        }
        let is_type = |(u, v): &(UnitId, ExprId)| {
            matches!(self.solver.program(*u).exprs[*v as usize].expr, Expr::Instance(_))
        };
        found.retain(|one| !is_type(one));
        found.truncate(ALTERNATIVES);
        found
    }

    fn member_strings(
        &self,
        unit: UnitId,
        expr: ExprId,
        base: ExprId,
        name: &str,
        depth: usize,
    ) -> Vec<Text> {
        if let Some(origin) = self.origin(unit, expr) {
            return vec![Text::free(origin)];
        }
        let mut texts: Vec<Text> = self
            .member_values(unit, base, name)
            .into_iter()
            .flat_map(|(u, value)| self.strings(u, value, depth + 1))
            .collect();
        if texts.is_empty() {
            texts.push(Text::free(Origin::Unknown));
        }
        texts
    }

    fn call_strings(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Text> {
        let program = self.solver.program(unit);
        let Expr::Call(call) = &program.exprs[expr as usize].expr else { return Vec::new() };
        if let Some(origin) = self.origin(unit, expr) {
            return vec![Text::free(origin)];
        }
        let arg = |at: usize| call.args.get(at).map(|a| a.value);
        for value in self.solver.values_of(unit, call.callee) {
            match value {
                Value::Func(u, f) | Value::Bound(u, f, _) => {
                    let returns = &self.solver.program(u).functions[f as usize].returns;
                    let texts: Vec<Text> = returns
                        .iter()
                        .flat_map(|r| self.strings(u, *r, depth + 1))
                        .map(forget_parameters)
                        .collect();
                    if !texts.is_empty() {
                        return texts;
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
        match &program.exprs[call.callee as usize].expr {
            Expr::Attr { base, name } => self.method_strings(unit, *base, name, call, depth),
            _ => vec![Text::free(Origin::Unknown)],
        }
    }

    /// `getpgid(pid)`: the own group for the own pid, and for a child that got no session of its own.
    fn group_of(&self, unit: UnitId, pid: Option<ExprId>, depth: usize) -> Text {
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
    fn has_own_session(&self, unit: UnitId, pid: ExprId) -> Option<bool> {
        let mut answer = Some(false);
        for value in self.solver.values_of(unit, pid) {
            let Value::External { made, .. } = value else { continue };
            let maker = made.checked_sub(1).and_then(|at| self.solver.makers.get(at as usize)).copied();
            let Some((u, call, _)) = maker else { continue };
            let Expr::Call(call) = &self.solver.program(u).exprs[call as usize].expr else { continue };
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

    fn method_strings(
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

    /// `str.format`: positional, automatic and named fields.
    fn brace_format(
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
            let mut text = Text::default();
            let mut automatic = 0usize;
            let mut rest = format;
            while let Some(at) = rest.find(['{', '}']) {
                text.push(Piece::Literal(rest[..at].to_owned()));
                let tail = &rest[at..];
                if tail.starts_with("{{") || tail.starts_with("}}") {
                    text.push(Piece::Literal(tail[..1].to_owned()));
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
                match value {
                    Some(value) => text.extend(&first(self.strings(unit, value, depth + 1))),
                    None => text.push(Piece::Free(Origin::Unknown)),
                }
                rest = &tail[end + 1..];
            }
            text.push(Piece::Literal(rest.to_owned()));
            texts.push(text);
        }
        texts
    }

    fn sequences(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Vec<Text>> {
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
            Expr::Binary { op: BinaryOp::Add, left, right } => {
                let left = self.list_or_rest(unit, *left, depth);
                let right = self.list_or_rest(unit, *right, depth);
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
                None => self
                    .member_values(unit, *base, name)
                    .into_iter()
                    .flat_map(|(u, value)| self.sequences(u, value, depth + 1))
                    .collect(),
            },
            Expr::Index { base, key } => {
                let mut lists = Vec::new();
                for value in self.solver.values_of(unit, *base) {
                    let Value::Container(super::value::Object::Literal(of, literal)) = value else {
                        continue;
                    };
                    let Expr::Map(entries) = &self.solver.program(of).exprs[literal as usize].expr else {
                        continue;
                    };
                    let wanted = self.key(unit, *key, depth);
                    for (entry_key, entry) in entries {
                        let Some(entry_key) = entry_key else { continue };
                        if wanted.is_none() || self.key(of, *entry_key, depth) == wanted {
                            lists.extend(self.sequences(of, *entry, depth + 1));
                        }
                    }
                }
                lists
            }
            Expr::Element(list) => {
                // The loop over a list of lists.
                let mut lists = Vec::new();
                for value in self.solver.values_of(unit, *list) {
                    let Value::Container(super::value::Object::Literal(of, literal)) = value else {
                        continue;
                    };
                    let Expr::Seq(items) = &self.solver.program(of).exprs[literal as usize].expr else {
                        continue;
                    };
                    for (item, _) in items.iter().take(ALTERNATIVES) {
                        lists.extend(self.sequences(of, *item, depth + 1));
                    }
                }
                lists
            }
            Expr::Import(import) => match self.imported(unit, import) {
                Some((target, cell)) => self.cell_lists(target, cell, depth + 1),
                None => self.known_list(unit, expr).into_iter().collect(),
            },
            Expr::External(_) => self.known_list(unit, expr).into_iter().collect(),
            _ => Vec::new(),
        };
        lists.retain(|l| l.len() <= LONGEST);
        lists.truncate(ALTERNATIVES);
        lists
    }

    /// The words of a list that the catalogue knows.
    fn known_list(&self, unit: UnitId, expr: ExprId) -> Option<Vec<Text>> {
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

    fn list_or_rest(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Vec<Text>> {
        let lists = self.sequences(unit, expr, depth + 1);
        if lists.is_empty() { vec![vec![Text::rest(Origin::Unknown)]] } else { lists }
    }

    fn literal_list(&self, unit: UnitId, items: &[(ExprId, Spread)], depth: usize) -> Vec<Vec<Text>> {
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

    fn cell_lists(&self, unit: UnitId, cell: CellId, depth: usize) -> Vec<Vec<Text>> {
        let mut lists = Vec::new();
        for value in self.cell_values(unit, cell) {
            lists.extend(self.sequences(unit, value, depth + 1));
            if lists.len() > ALTERNATIVES {
                break;
            }
        }
        if let Some((_, position, spread)) = self.solver.parameter(unit, cell) {
            let _ = spread;
            lists.push(vec![Text::rest(Origin::Parameter(position))]);
        }
        // `cmd.append(x)`, `cmd.extend([…])` after the literal.
        for &call in self.solver.growth_of(unit, cell) {
            let Expr::Call(call) = &self.solver.program(unit).exprs[call as usize].expr else { continue };
            let Expr::Attr { name, .. } = &self.solver.program(unit).exprs[call.callee as usize].expr else {
                continue;
            };
            let Some(arg) = call.args.last().map(|a| a.value) else { continue };
            let more: Vec<Vec<Text>> = match name.as_str() {
                "append" | "push" => vec![vec![first(self.strings(unit, arg, depth + 1))]],
                _ => self.list_or_rest(unit, arg, depth),
            };
            for list in &mut lists {
                if let Some(more) = more.first() {
                    list.extend(more.iter().cloned());
                }
            }
        }
        lists
    }

    fn sliced(&self, unit: UnitId, base: ExprId, start: Option<u32>, depth: usize) -> Vec<Vec<Text>> {
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

    fn call_lists(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Vec<Text>> {
        let program = self.solver.program(unit);
        let Expr::Call(call) = &program.exprs[expr as usize].expr else { return Vec::new() };
        let arg = |at: usize| call.args.get(at).map(|a| a.value);
        if let Some(origin) = self.origin(unit, expr) {
            return vec![vec![Text::rest(origin)]];
        }
        for value in self.solver.values_of(unit, call.callee) {
            match value {
                Value::Func(u, f) | Value::Bound(u, f, _) => {
                    let returns = &self.solver.program(u).functions[f as usize].returns;
                    let lists: Vec<Vec<Text>> = returns
                        .iter()
                        .flat_map(|r| self.sequences(u, *r, depth + 1))
                        .map(|l| l.into_iter().map(forget_parameters).collect())
                        .collect();
                    if !lists.is_empty() {
                        return lists;
                    }
                }
                Value::External { path, .. } => {
                    match self.solver.catalogue(unit).value(self.solver.interner.text(path)) {
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

    fn splits_at_space(&self, unit: UnitId, separator: Option<ExprId>, depth: usize) -> bool {
        separator.is_some_and(|s| first(self.strings(unit, s, depth + 1)).as_literal() == Some(" "))
    }
}

fn first(texts: Vec<Text>) -> Text {
    // Where a value can be several things, a literal one does not speak for the others.
    match texts.len() {
        1 => texts.into_iter().next().unwrap_or_default(),
        0 => Text::free(Origin::Unknown),
        _ => {
            let own = [Origin::OwnPid, Origin::OwnGroup, Origin::ChildPid, Origin::OwnScript, Origin::OwnProgram];
            texts
                .iter()
                .find(|t| t.origin().is_some_and(|o| own.contains(&o)))
                .cloned()
                .unwrap_or_else(|| Text::free(Origin::Unknown))
        }
    }
}

fn first_list(lists: Vec<Vec<Text>>) -> Vec<Text> {
    lists.into_iter().next().unwrap_or_default()
}

/// Any number of words, of which one is meant.
fn one_word(text: Text) -> Text {
    if text.is_rest() { Text::free(Origin::Unknown) } else { text }
}

/// A callee's parameters mean nothing to its caller.
fn forget_parameters(text: Text) -> Text {
    if !text
        .pieces()
        .iter()
        .any(|p| matches!(p, Piece::Free(Origin::Parameter(_)) | Piece::Rest(Origin::Parameter(_))))
    {
        return text;
    }
    let mut plain = Text::default();
    for piece in text.pieces() {
        plain.push(match piece {
            Piece::Free(Origin::Parameter(_)) => Piece::Free(Origin::Unknown),
            Piece::Rest(Origin::Parameter(_)) => Piece::Rest(Origin::Unknown),
            other => other.clone(),
        });
    }
    plain
}

fn map_literal(text: Text, map: impl Fn(&str) -> String) -> Text {
    match text.as_literal() {
        Some(literal) => Text::literal(map(literal)),
        None => text,
    }
}

/// The words of a list as one string. Each free word stays free.
pub(super) fn join_words(words: &[Text], separator: &str) -> Text {
    let mut joined = Text::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            joined.push(Piece::Literal(separator.to_owned()));
        }
        for piece in word.pieces() {
            joined.push(match piece {
                Piece::Rest(origin) => Piece::Free(*origin),
                other => other.clone(),
            });
        }
    }
    joined
}

/// Splits a text at white space in its literal pieces; quotes group words.
fn split_words(text: &Text) -> Vec<Text> {
    let mut words = Vec::new();
    let mut word = Text::default();
    let mut open = false;
    let mut quote = None;
    for piece in text.pieces() {
        match piece {
            Piece::Literal(literal) => {
                for c in literal.chars() {
                    match quote {
                        Some(q) if c == q => quote = None,
                        None if c == '\'' || c == '"' => {
                            quote = Some(c);
                            open = true;
                        }
                        None if c.is_whitespace() => {
                            if open || !word.pieces().is_empty() {
                                words.push(std::mem::take(&mut word));
                            }
                            open = false;
                        }
                        _ => word.push(Piece::Literal(c.to_string())),
                    }
                }
            }
            free => word.push(free.clone()),
        }
    }
    if open || !word.pieces().is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_space_and_quotes_group() {
        let mut text = Text::literal("pkill -f 'a b' ");
        text.push(Piece::Free(Origin::Unknown));
        let words = split_words(&text);
        assert_eq!(words.len(), 4);
        assert_eq!(words[2].as_literal(), Some("a b"));
        assert_eq!(words[3].origin(), Some(Origin::Unknown));
    }
}
