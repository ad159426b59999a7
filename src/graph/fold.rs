//! Constants: the strings, lists and commands that expressions stand for, as far as literals
//! go. Free parts keep their origin (this program, its arguments, a child's pid).
//!
//! Folding is bounded: by depth, by the number of alternatives, and by a count of steps.

mod calls;
mod choices;
mod elements;
mod entries;
mod given;
mod kept;
mod lists;
mod makers;
mod members;
mod own_names;
mod tables;
mod truth;
mod words;

use given::product;
pub(super) use words::join_words;
use words::one_word;

use std::cell::Cell as Count;

use super::link::Target;
use super::solve::Solver;
use super::value::{Object, UnitId, Value};
use crate::base::facts::Language;
use crate::base::ir::{BinaryOp, CellId, Expr, ExprId, FuncId, Import};
use crate::base::text::{Origin, Piece, Text};
use crate::data::primitives::{ValueKind, origin_of};

const DEPTH: usize = 24;
/// Texts and lists that one expression may be, where they are put together.
const ALTERNATIVES: usize = 8;
/// The same where each is written out: a table of commands, a loop over them.
const WRITTEN: usize = 64;
const STEPS: u32 = 2000;
/// Steps for a container's key, of which there are many.
const KEY_STEPS: u32 = 100;
/// The link to the running executable.
const OWN_EXECUTABLE: &str = "/proc/self/exe";
/// Star imports that lead to what is imported, through files that import each other.
const MOST_STARS: usize = 4;
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
        let folder = Folder { steps: Count::new(KEY_STEPS), ..Folder::new(self) };
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
    /// What the parameters of the function hold comes from outside the tree.
    from_outside: bool,
    /// Set while it is asked which calls made an object.
    looks_for_makers: Count<bool>,
}

impl<'f, 'a> Folder<'f, 'a> {
    /// A run over a solver's present state.
    pub fn new(solver: &'f Solver<'a>) -> Folder<'f, 'a> {
        Folder { solver, steps: Count::new(STEPS), from_outside: false, looks_for_makers: Count::new(false) }
    }

    /// A run in a function that is called from outside the tree: a parameter is what its own conditions
    /// and annotations leave of it.
    pub fn from_outside(solver: &'f Solver<'a>) -> Folder<'f, 'a> {
        Folder { from_outside: true, ..Folder::new(solver) }
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

    fn imported(&self, unit: UnitId, import: &Import) -> Option<(UnitId, CellId)> {
        let state = &self.solver.units()[unit as usize];
        match self.solver.files().resolve(state.language, state.path, import) {
            Target::Name(file, name) => self.exported(self.solver.unit_of(&file)?, &name, MOST_STARS),
            Target::Package(files, Some(name)) => files.iter().find_map(|file| {
                let target = self.solver.unit_of(file)?;
                Some((target, self.solver.export(target, &name)?))
            }),
            _ => None,
        }
    }

    /// What a unit exports under a name, or a file that it imports all names of.
    fn exported(&self, unit: UnitId, name: &str, most: usize) -> Option<(UnitId, CellId)> {
        if let Some(cell) = self.solver.export(unit, name) {
            return Some((unit, cell));
        }
        let state = &self.solver.units()[unit as usize];
        state.program.stars.iter().filter(|_| most > 0).find_map(|star| {
            let import = Import { module: star.clone(), name: None };
            match self.solver.files().resolve(state.language, state.path, &import) {
                Target::File(file) => self.exported(self.solver.unit_of(&file)?, name, most - 1),
                _ => None,
            }
        })
    }

    fn strings(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<Text> {
        if depth > DEPTH || !self.spend() {
            return vec![Text::free(Origin::Unknown)];
        }
        let program = self.solver.program(unit);
        let node = &program.exprs[expr as usize];
        let unknown = || vec![Text::free(Origin::Unknown)];
        let texts = match &node.expr {
            Expr::Str(text) if text == OWN_EXECUTABLE => vec![Text::free(self.own_executable(unit))],
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
            Expr::Cell(cell) => self.chosen_of(unit, expr, *cell, depth),
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
                let held = self.held_by(unit, expr, depth);
                let mut texts = self.texts_of(unit, expr, &held, depth);
                // The words of a text that is split, of lists that are put together.
                if held.open || texts.is_empty() {
                    let lists = self.sequences(unit, *list, depth + 1).into_iter();
                    texts.extend(lists.flatten().map(one_word));
                }
                texts
            }
            Expr::Item(list, position) => match self.origin(unit, expr) {
                Some(origin) => vec![Text::free(origin)],
                None => self.chosen(unit, expr, *list, i64::from(*position), depth),
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
        // In the order of the text: alternatives of two values that change together stay side by side.
        let mut kept: Vec<Text> = Vec::new();
        for text in texts {
            if !kept.contains(&text) {
                kept.push(text);
            }
        }
        let mut texts = kept;
        if texts.len() > ALTERNATIVES {
            keep(&mut texts, self.is_choice(unit, expr), |text| text.as_literal().is_some());
        }
        for text in &mut texts {
            if text.pieces().len() > LONGEST {
                *text = Text::free(Origin::Unknown);
            }
        }
        texts
    }

    /// What the kernel's link to the running executable is: the program, or what runs it.
    fn own_executable(&self, unit: UnitId) -> Origin {
        match self.solver.units()[unit as usize].language {
            Language::Rust | Language::Go => Origin::OwnProgram,
            _ => Origin::Interpreter,
        }
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
        if maker_unit == unit && self.same_owner(unit, here, maker)
            || self.is_of_own_object(unit, expr, (maker_unit, maker))
        {
            Origin::ChildPid
        } else {
            Origin::Unknown
        }
    }

    /// Whether a member is that of an object whose own class started the child, where the same function
    /// or class made the object.
    fn is_of_own_object(&self, unit: UnitId, expr: ExprId, maker: (UnitId, FuncId)) -> bool {
        let program = self.solver.program(unit);
        let here = program.exprs[expr as usize].function;
        let starts = |value: Value| match value {
            Value::Class(u, c) => {
                u == maker.0 && self.solver.program(u).functions[maker.1 as usize].class == Some(c)
            }
            _ => false,
        };
        let is_made_here = |value: &ExprId| match &program.exprs[*value as usize].expr {
            Expr::Call(call) => {
                self.solver.values_of(unit, call.callee).any(starts)
                    && self.same_owner(unit, here, program.exprs[*value as usize].function)
            }
            _ => false,
        };
        let Expr::Attr { base, .. } = program.exprs[expr as usize].expr else { return false };
        match &program.exprs[base as usize].expr {
            Expr::Cell(cell) => {
                let cell = &program.cells[*cell as usize];
                let joined = cell.from.iter().flat_map(|from| &program.cells[*from as usize].values);
                let mut values = cell.values.iter().chain(joined).peekable();
                values.peek().is_some() && values.all(is_made_here)
            }
            Expr::Attr { name, .. } => {
                let stores = self.solver.stores_of(unit, name);
                stores.iter().any(|at| is_made_here(&program.stores[*at as usize].value))
            }
            _ => false,
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
                // What the own object holds was not given.
                Expr::Cell(cell) => {
                    return self.solver.parameter(unit, *cell).is_some_and(|(function, position, _)| {
                        let function = &self.solver.program(unit).functions[function as usize];
                        position > 0 || function.class.is_none() || function.this.is_some()
                    });
                }
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
        // What a class above keeps is its own as well.
        let classes = |chain: &[FuncId]| {
            let own = chain.iter().filter_map(|f| program.functions[*f as usize].class);
            own.flat_map(|class| self.solver.classes_above(unit, class)).collect::<Vec<_>>()
        };
        let (class_a, class_b) = (classes(&a), classes(&b));
        class_a.iter().any(|c| class_b.contains(c))
    }

    fn cell_strings(&self, unit: UnitId, cell: CellId, depth: usize) -> Vec<Text> {
        let mut texts = Vec::new();
        for value in self.cell_values(unit, cell) {
            texts.extend(self.strings(unit, value, depth + 1));
            if texts.len() > WRITTEN {
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
            texts = product(&texts, &self.strings(unit, *part, depth + 1));
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
            texts = match self.package_in(unit, list, depth) {
                Some(package) => vec![package],
                None => self.strings(unit, list, depth + 1),
            };
        }
        if texts.is_empty() {
            texts.push(Text::free(Origin::Unknown));
        }
        texts
    }

    fn indexed(&self, unit: UnitId, expr: ExprId, base: ExprId, key: ExprId, depth: usize) -> Vec<Text> {
        let program = self.solver.program(unit);
        if let Some(origin) = self.origin(unit, expr) {
            return vec![Text::free(origin)];
        }
        if let Expr::Int(position) = program.exprs[key as usize].expr {
            return self.chosen(unit, expr, base, position, depth);
        }
        let held = self.under(unit, base, Some(key), depth);
        let mut texts = self.texts_of(unit, expr, &held, depth);
        if texts.is_empty() {
            texts.push(Text::free(Origin::Unknown));
        }
        texts
    }

    /// The texts at a position of a list: of the pairs that a loop goes over, of what is written out, or as
    /// a word of a list that is put together.
    fn chosen(&self, unit: UnitId, expr: ExprId, list: ExprId, position: i64, depth: usize) -> Vec<Text> {
        let is_of_loop = matches!(self.solver.program(unit).exprs[list as usize].expr, Expr::Element(_));
        let is_unknown = |text: &Text| text.origin() == Some(Origin::Unknown);
        let words = if is_of_loop { Vec::new() } else { self.item(unit, list, position, depth) };
        if !words.is_empty() && !words.iter().any(is_unknown) {
            return words;
        }
        let held = self.held_by(unit, expr, depth);
        let mut texts = self.texts_of(unit, expr, &held, depth);
        if held.open || texts.is_empty() {
            let words = if is_of_loop { self.item(unit, list, position, depth) } else { words };
            texts.extend(words);
        }
        texts
    }

    /// Whether an expression only chooses among others, and puts nothing together.
    fn is_choice(&self, unit: UnitId, expr: ExprId) -> bool {
        match &self.solver.program(unit).exprs[expr as usize].expr {
            Expr::Element(_)
            | Expr::Item(..)
            | Expr::Index { .. }
            | Expr::Cell(_)
            | Expr::Attr { .. }
            | Expr::Import(_)
            | Expr::Same(_)
            | Expr::Union(_) => true,
            Expr::Call(_) => !self.held_by(unit, expr, 0).items.is_empty(),
            _ => false,
        }
    }
}

/// Keeps as many alternatives as are looked at: more where they are written out and merely chosen among.
fn keep<T>(alternatives: &mut Vec<T>, is_choice: bool, is_written: impl Fn(&T) -> bool) {
    let mut composed = 0;
    let mut kept = 0;
    alternatives.retain(|one| {
        let is_written = is_choice && is_written(one);
        composed += usize::from(!is_written);
        let fits = if is_written { kept < WRITTEN } else { composed <= ALTERNATIVES };
        kept += usize::from(fits);
        fits
    });
}
