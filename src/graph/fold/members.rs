//! What is stored under an attribute's name, and what that is as text.

use super::super::value::{Object, UnitId, Value};
use super::{ALTERNATIVES, DEPTH, Folder, WRITTEN};
use crate::base::ir::{ClassId, Expr, ExprId, FunctionKind, Import, Slot, Spread};
use crate::base::text::{Origin, Text};

impl Folder<'_, '_> {
    /// Values stored under an attribute's name in the same class or module, or defined there.
    pub(super) fn member_values(&self, unit: UnitId, base: ExprId, name: &str) -> Vec<(UnitId, ExprId)> {
        let mut found = Vec::new();
        let name = name.strip_prefix("::").unwrap_or(name);
        let bases: Vec<Value> = self.solver.values_of(unit, base).collect();
        let of_objects = self.family(&bases);
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
                Value::Instance(u, c) if self.overrides(*u, *c, name) => {}
                Value::Instance(u, c) | Value::Class(u, c) => {
                    found.extend(self.bound_above(&self.solver.classes_above(*u, *c), name));
                    found.extend(self.made_with((unit, base), (*u, *c), name));
                }
                Value::Super(u, c, of) => {
                    let (Value::Instance(of, class) | Value::Class(of, class)) =
                        self.solver.interner.get(*of)
                    else {
                        continue;
                    };
                    let mut above = self.solver.classes_above(of, class);
                    let behind = above.iter().position(|one| *one == (*u, *c)).map_or(0, |at| at + 1);
                    found.extend(self.bound_above(&above.split_off(behind), name));
                }
                _ => {}
            }
        }
        // A module that is not looked into is known by its import.
        let import = if bases.is_empty() { self.only_import(unit, base) } else { None };
        // What an object keeps may be stored by the methods of a class above its own.
        let mut units = vec![unit];
        units.extend(bases.iter().chain(&of_objects).filter_map(|value| match value {
            Value::Instance(u, _) => Some(*u),
            _ => None,
        }));
        units.sort_unstable();
        units.dedup();
        // What a constructor stores anew is all that counts of what those above it stored.
        let is_own = |value: &Value| match value {
            Value::Instance(u, c) => self.overrides(*u, *c, name),
            _ => false,
        };
        let (own, mut open): (Vec<Value>, Vec<Value>) = bases.iter().copied().partition(is_own);
        open.extend(self.family(&open));
        for unit in units {
            for store in self.solver.stores_of(unit, name) {
                let store = &self.solver.program(unit).stores[store as usize];
                let is_base = || {
                    self.solver.values_of(unit, store.base).any(|v| {
                        open.contains(&v) || own.contains(&v) && !self.is_made_above(unit, store.base, v)
                    })
                };
                let is_import = || import.is_some() && self.only_import(unit, store.base) == import;
                if let Slot::Attr(_) = store.slot
                    && (is_base() || is_import())
                {
                    found.push((unit, store.value));
                    found.extend(self.given_to_maker(unit, store.value));
                }
            }
        }
        // `Command.STOP.value`: what the member of an enumeration is.
        if found.is_empty() && name == "value" {
            found = self.members_meant(unit, base, 0);
        }
        let is_type = |(u, v): &(UnitId, ExprId)| {
            matches!(self.solver.program(*u).exprs[*v as usize].expr, Expr::Instance(_))
        };
        found.retain(|one| !is_type(one));
        found.truncate(WRITTEN);
        found
    }

    /// What the first of some classes that has a name binds under it: it hides those beyond.
    pub(super) fn bound_above(&self, classes: &[(UnitId, ClassId)], name: &str) -> Vec<(UnitId, ExprId)> {
        let has = |(u, c): &(UnitId, ClassId)| {
            let members = &self.solver.program(*u).classes[*c as usize].members;
            let of_name = members.iter().filter(|(member, _)| member == name);
            of_name.flat_map(|(_, expr)| self.read(*u, *expr)).collect::<Vec<_>>()
        };
        classes.iter().map(has).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Whether the constructor of a class gives its objects a member anew, whatever those above it did: it
    /// stores it under no condition, and calls none of them afterwards.
    pub(super) fn overrides(&self, unit: UnitId, class: ClassId, name: &str) -> bool {
        let program = self.solver.program(unit);
        let stores = self.solver.stores_of(unit, name);
        stores.iter().map(|at| &program.stores[*at as usize]).any(|store| {
            let base = &program.exprs[store.base as usize];
            let function = &program.functions[base.function as usize];
            let is_receiver = match base.expr {
                Expr::Cell(cell) => {
                    matches!(self.solver.parameter(unit, cell), Some((of, 0, _)) if of == base.function)
                }
                _ => false,
            };
            let asks_above = |at: ExprId| match &program.exprs[at as usize].expr {
                Expr::Attr { name, .. } => name == "__init__",
                _ => false,
            };
            function.class == Some(class)
                && function.name == "__init__"
                && is_receiver
                && base.guard.is_none()
                && !(store.base..function.exprs.end).any(asks_above)
        })
    }

    /// Whether a store is one by the constructor of a class above that of an object.
    fn is_made_above(&self, unit: UnitId, base: ExprId, object: Value) -> bool {
        let Value::Instance(u, c) = object else { return false };
        let program = self.solver.program(unit);
        let function = &program.functions[program.exprs[base as usize].function as usize];
        function.name == "__init__"
            && function.class.is_some_and(|class| {
                (unit, class) != (u, c) && self.solver.classes_above(u, c).contains(&(unit, class))
            })
    }

    /// What the members of enumerations are that an expression may mean.
    fn members_meant(&self, unit: UnitId, expr: ExprId, depth: usize) -> Vec<(UnitId, ExprId)> {
        if depth > DEPTH || !self.spend() {
            return Vec::new();
        }
        let program = self.solver.program(unit);
        let of_class =
            |base: ExprId| self.solver.values_of(unit, base).any(|value| matches!(value, Value::Class(..)));
        match &program.exprs[expr as usize].expr {
            Expr::Attr { base, name } if of_class(*base) => self.member_values(unit, *base, name),
            Expr::Index { base, .. } if of_class(*base) => self.held_by(unit, expr, depth).items,
            Expr::Element(list) => self.elements(unit, *list, depth).items,
            Expr::Same(inner) => self.members_meant(unit, *inner, depth + 1),
            Expr::Union(options) => {
                options.iter().flat_map(|option| self.members_meant(unit, *option, depth + 1)).collect()
            }
            // `Command(name)`: any of them.
            Expr::Call(call) if of_class(call.callee) => self.every_member(unit, expr),
            // A parameter is what its callers give; the object of a method any of its class.
            Expr::Cell(cell) => match self.solver.parameter(unit, *cell) {
                Some((function, 0, _)) if program.functions[function as usize].class.is_some() => {
                    self.every_member(unit, expr)
                }
                Some(_) => Vec::new(),
                None => {
                    let values = self.cell_values(unit, *cell).into_iter();
                    values.flat_map(|value| self.members_meant(unit, value, depth + 1)).collect()
                }
            },
            _ => Vec::new(),
        }
    }

    /// All members of the enumerations whose members an expression may be.
    fn every_member(&self, unit: UnitId, expr: ExprId) -> Vec<(UnitId, ExprId)> {
        let of = self.solver.values_of(unit, expr).filter_map(|value| match value {
            Value::Instance(u, c) if self.is_enumeration(u, c) => Some((u, c)),
            _ => None,
        });
        of.flat_map(|(u, c)| self.all_members(u, c)).collect()
    }

    /// Whether the members of a class are all there is of it.
    pub(super) fn is_enumeration(&self, unit: UnitId, class: ClassId) -> bool {
        self.solver.classes_above(unit, class).into_iter().any(|(u, c)| {
            let bases = &self.solver.program(u).classes[c as usize].bases;
            bases.iter().flat_map(|base| self.solver.values_of(u, *base)).any(|base| match base {
                Value::External { path, .. } => self.solver.interner.text(path).starts_with("enum."),
                _ => false,
            })
        })
    }

    /// The members of an enumeration.
    pub(super) fn all_members(&self, unit: UnitId, class: ClassId) -> Vec<(UnitId, ExprId)> {
        let members = &self.solver.program(unit).classes[class as usize].members;
        let public = members.iter().filter(|(name, _)| !name.starts_with('_'));
        public.flat_map(|(_, member)| self.members(unit, *member)).collect()
    }

    /// What a name of an enumeration stands for; nothing where it is a function.
    pub(super) fn members(&self, unit: UnitId, member: ExprId) -> Vec<(UnitId, ExprId)> {
        let program = self.solver.program(unit);
        let values = match &program.exprs[member as usize].expr {
            Expr::Cell(cell) => self.cell_values(unit, *cell),
            _ => vec![member],
        };
        let is_value =
            |value: &ExprId| !matches!(program.exprs[*value as usize].expr, Expr::Func(_) | Expr::Call(_));
        values.into_iter().filter(is_value).map(|value| (unit, value)).collect()
    }

    /// What reading a member gives: of a property, what it gives back.
    fn read(&self, unit: UnitId, member: ExprId) -> Vec<(UnitId, ExprId)> {
        let program = self.solver.program(unit);
        let values = match &program.exprs[member as usize].expr {
            Expr::Cell(cell) => self.cell_values(unit, *cell),
            _ => vec![member],
        };
        let mut read = Vec::new();
        for value in values {
            match &program.exprs[value as usize].expr {
                Expr::Func(function)
                    if program.functions[*function as usize].kind == FunctionKind::Property =>
                {
                    let returns = &program.functions[*function as usize].returns;
                    read.extend(returns.iter().map(|value| (unit, *value)));
                }
                // `cmd: list = field(default_factory=lambda: […])`.
                Expr::Call(call) if self.is_field(unit, call.callee) => {
                    for arg in &call.args {
                        match arg.name.as_deref() {
                            Some("default") => read.push((unit, arg.value)),
                            Some("default_factory") => read.extend(self.made_by(unit, arg.value)),
                            _ => {}
                        }
                    }
                }
                _ => read.push((unit, value)),
            }
        }
        read
    }

    /// Whether something is what describes a field of a dataclass.
    fn is_field(&self, unit: UnitId, callee: ExprId) -> bool {
        self.solver.values_of(unit, callee).any(|value| match value {
            Value::External { path, .. } => {
                matches!(self.solver.interner.text(path), "dataclasses.field" | "attr.ib" | "attrs.field")
            }
            _ => false,
        })
    }

    /// What calling a function without arguments gives back.
    fn made_by(&self, unit: UnitId, function: ExprId) -> Vec<(UnitId, ExprId)> {
        let functions = self.solver.values_of(unit, function).filter_map(|value| match value {
            Value::Func(u, f) => Some((u, &self.solver.program(u).functions[f as usize].returns)),
            _ => None,
        });
        functions.flat_map(|(u, returns)| returns.iter().map(move |value| (u, *value))).collect()
    }

    /// What the calls of a function give for its parameter, where a value is that parameter: an object keeps
    /// what it was made with, a list what was given to be added. What they hand on themselves is what their callers give.
    pub(super) fn given_to_maker(&self, unit: UnitId, value: ExprId) -> Vec<(UnitId, ExprId)> {
        let mut found = self.given_by_callers(unit, value);
        let mut read = 0;
        while let Some((of, value)) = found.get(read).copied().filter(|_| found.len() < ALTERNATIVES) {
            read += 1;
            let more = self.given_by_callers(of, value);
            found.extend(more.into_iter().filter(|one| !found.contains(one)).collect::<Vec<_>>());
        }
        found.truncate(ALTERNATIVES);
        found
    }

    fn given_by_callers(&self, unit: UnitId, value: ExprId) -> Vec<(UnitId, ExprId)> {
        let program = self.solver.program(unit);
        let Expr::Cell(cell) = &program.exprs[value as usize].expr else { return Vec::new() };
        let mut cells = vec![*cell];
        cells.extend(&program.cells[*cell as usize].from);
        let parameter = cells.iter().find_map(|cell| self.solver.parameter(unit, *cell));
        let Some((function, position, Spread::No)) = parameter.filter(|_| !self.solver.on_demand()) else {
            return Vec::new();
        };
        let calls = self.solver.edges.iter().filter(|edge| edge.to == (unit, function));
        let mut places: Vec<(UnitId, (u32, u32))> = calls.map(|edge| (edge.from.0, edge.place)).collect();
        places.sort_unstable();
        places.truncate(ALTERNATIVES);
        let mut found = Vec::new();
        for (of, place) in places {
            for node in &self.solver.program(of).exprs {
                let Expr::Call(call) = &node.expr else { continue };
                if (node.span.start, node.span.end) == place {
                    found.extend(self.argument(of, call, (unit, function), position).map(|arg| (of, arg)));
                }
            }
        }
        found.truncate(ALTERNATIVES);
        found
    }

    /// Objects of the classes above those of some values.
    fn family(&self, values: &[Value]) -> Vec<Value> {
        let above = |value: &Value| match value {
            Value::Instance(u, c) => self.solver.classes_above(*u, *c).split_off(1),
            _ => Vec::new(),
        };
        values.iter().flat_map(above).map(|(u, c)| Value::Instance(u, c)).collect()
    }

    /// The import that an expression names and nothing else.
    fn only_import(&self, unit: UnitId, expr: ExprId) -> Option<&Import> {
        let program = self.solver.program(unit);
        let mut at = expr;
        for _ in 0..DEPTH {
            match &program.exprs[at as usize].expr {
                Expr::Import(import) => return Some(import),
                Expr::Cell(cell) => {
                    let joins = std::iter::successors(Some(*cell), |cell| {
                        match program.cells[*cell as usize].from.as_slice() {
                            [from] => Some(*from),
                            _ => None,
                        }
                    });
                    let values = joins.take(DEPTH).map(|cell| program.cells[cell as usize].values.as_slice());
                    let [value] = values.into_iter().find(|values| !values.is_empty())? else { return None };
                    at = *value;
                }
                _ => return None,
            }
        }
        None
    }

    pub(super) fn member_strings(
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
            let given = self.given_value(unit, base, name).unwrap_or(Origin::Unknown);
            texts.push(Text::free(given));
        }
        texts
    }

    /// The parameter whose `value` is read: that of a member of an enumeration is what the member stands for.
    pub(super) fn given_value(&self, unit: UnitId, base: ExprId, name: &str) -> Option<Origin> {
        let Expr::Cell(cell) = self.solver.program(unit).exprs[base as usize].expr else { return None };
        match self.solver.parameter(unit, cell) {
            Some((_, position, Spread::No)) if name == "value" => Some(Origin::Parameter(position)),
            _ => None,
        }
    }
}
