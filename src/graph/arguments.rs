//! Argument tests: whether a call with these arguments is a site, and with which effect and target.

use super::fold::Folder;
use super::sites::{Finder, Given, one};
use super::value::{UnitId, Value};
use crate::base::effect::Effect;
use crate::base::facts::Language;
use crate::base::ir::{Expr, ExprId};
use crate::base::site::{Target, TargetKind};
use crate::base::span::Span;
use crate::base::text::{Origin, Text};
use crate::data::primitives::{ArgTest, Condition, PrimitiveEntry};

impl<'f, 'a> Finder<'f, 'a> {
    /// The effect of calling a primitive with these arguments, or `None` if it is no site.
    pub(super) fn primitive(
        &self,
        entry: &PrimitiveEntry,
        given: Given<'_>,
    ) -> Option<(Effect, Option<Target>)> {
        let folder = Folder::new(self.solver);
        if let Some(at) = &entry.unless_false
            && let Some(arg) = given.get(at)
            && self.truth(given.unit, arg) == Some(false)
        {
            return None;
        }
        if !entry.when.is_empty()
            && !entry.when.iter().any(|test| self.holds(test, given) || self.was_set(test, given))
        {
            return None;
        }
        let mut stop = false;
        if let Some(at) = &entry.signal {
            match given.get(at) {
                Some(signal) if entry.null_signal_is_probe && self.is_null(given.unit, signal) => {
                    return None;
                }
                Some(signal) => {
                    let texts = folder.texts(given.unit, signal);
                    let is_zero = texts.iter().all(|t| t.as_literal() == Some("0"))
                        || self.is_zero_signal(given.unit, signal);
                    if is_zero {
                        return None;
                    }
                    stop = self.is_stop_signal(given.unit, signal);
                }
                None if entry.null_signal_is_probe => return None,
                None => {}
            }
        }
        let mut effect = entry.effect;
        let mut target = None;
        if let Some(at) = &entry.pid {
            if at.receiver
                && let Some(receiver) = given.receiver
                && let Expr::Attr { name, .. } =
                    &self.solver.program(given.unit).exprs[receiver as usize].expr
                && self.solver.catalogue(given.unit).is_handle_member(name)
            {
                return None;
            }
            let text = match given.get(at) {
                Some(pid) if at.receiver => self.receiver_pid(given.unit, pid),
                // Whatever it took to read the signal.
                Some(pid) => one(Folder::new(self.solver).texts(given.unit, pid)),
                None => Text::free(Origin::Unknown),
            };
            match (text.as_literal(), text.origin()) {
                (_, Some(Origin::ChildPid)) => return None,
                (_, Some(Origin::OwnPid | Origin::OwnGroup)) | (Some("0"), _) => effect = Effect::Terminate,
                _ => {}
            }
            target = Some(if effect == Effect::Terminate {
                Target { kind: TargetKind::Own, text: "itself".to_owned() }
            } else {
                let kind = if text.as_literal().is_some() { TargetKind::Pid } else { TargetKind::Variable };
                Target { kind, text: text.display() }
            });
        }
        if stop && effect == Effect::Terminate {
            return None;
        }
        Some((effect, target))
    }

    /// `app.debug = True` before `app.run()`: the option was set on the object itself, and the call
    /// says nothing of it.
    fn was_set(&self, test: &ArgTest, given: Given<'_>) -> bool {
        let (Some(keyword), Some(receiver)) = (&test.keyword, given.receiver) else { return false };
        if test.is != Condition::Truthy || given.named(keyword).is_some() {
            return false;
        }
        let objects: Vec<Value> = self.solver.values_of(given.unit, receiver).collect();
        let folder = Folder::new(self.solver);
        let program = self.solver.program(given.unit);
        // Two applications of one file are one value; what they are called tells them apart.
        let name = |expr: ExprId| match &program.exprs[expr as usize].expr {
            Expr::Cell(cell) => Some(program.cells[*cell as usize].name.as_str()),
            Expr::Attr { name, .. } => Some(name.as_str()),
            _ => None,
        };
        self.solver.stores_of(given.unit, keyword).into_iter().any(|at| {
            let store = &program.stores[at as usize];
            if name(store.base) != name(receiver) {
                return false;
            }
            self.solver.values_of(given.unit, store.base).any(|v| objects.contains(&v))
                && folder.truth(given.unit, store.value) == Some(true)
        })
    }

    /// Whether an expression is no value, as written or by its only binding.
    pub(super) fn is_null(&self, unit: UnitId, expr: ExprId) -> bool {
        let program = self.solver.program(unit);
        let is_type = |value: &ExprId| matches!(program.exprs[*value as usize].expr, Expr::Instance(_));
        let mut at = expr;
        for _ in 0..8 {
            let values = match &program.exprs[at as usize].expr {
                Expr::Null => return true,
                Expr::Same(inner) => std::slice::from_ref(inner),
                Expr::Union(options) => options,
                Expr::Cell(cell) if program.cells[*cell as usize].from.is_empty() => {
                    &program.cells[*cell as usize].values
                }
                _ => return false,
            };
            // A declared type beside the value says nothing.
            let mut values = values.iter().filter(|v| !is_type(v));
            match (values.next(), values.next()) {
                (Some(only), None) => at = *only,
                _ => return false,
            }
        }
        false
    }

    pub(super) fn signal_name(&self, unit: UnitId, signal: ExprId) -> Option<&'f str> {
        self.solver
            .values_of(unit, signal)
            .find_map(|v| self.path(v))
            .map(|p| p.rsplit(['.', ':']).next().unwrap_or(p))
    }

    pub(super) fn is_stop_signal(&self, unit: UnitId, signal: ExprId) -> bool {
        matches!(self.signal_name(unit, signal), Some("SIGSTOP" | "SIGTSTP" | "SIGCONT"))
            || matches!(&self.solver.program(unit).exprs[signal as usize].expr, Expr::Str(s) if matches!(s.as_str(), "SIGSTOP" | "SIGTSTP" | "SIGCONT"))
    }

    /// `syscall.Signal(0)` and its like: a conversion of the literal 0.
    pub(super) fn is_zero_signal(&self, unit: UnitId, signal: ExprId) -> bool {
        let Expr::Call(call) = &self.solver.program(unit).exprs[signal as usize].expr else { return false };
        let [only] = &*call.args else { return false };
        Folder::new(self.solver).texts(unit, only.value).iter().all(|t| t.as_literal() == Some("0"))
    }

    /// The pid of the object that a method is called on, from the call that made the object.
    pub(super) fn receiver_pid(&self, unit: UnitId, receiver: ExprId) -> Text {
        let mut at = receiver;
        for _ in 0..16 {
            match &self.solver.program(unit).exprs[at as usize].expr {
                Expr::Cell(cell) => {
                    let cell = &self.solver.program(unit).cells[*cell as usize];
                    match (cell.values.as_slice(), cell.from.as_slice()) {
                        ([only], []) => at = *only,
                        _ => return Text::free(Origin::Unknown),
                    }
                }
                Expr::Same(inner) | Expr::Enter(inner) | Expr::Item(inner, 0) => at = *inner,
                Expr::Call(call) => {
                    let makes_process = self
                        .solver
                        .values_of(unit, call.callee)
                        .any(|v| self.path(v).is_some_and(|p| !p.contains("()") && !p.contains("[]")));
                    if !makes_process {
                        return Text::free(Origin::Unknown);
                    }
                    return match call.args.first() {
                        // `psutil.Process()`; a declared `*os.Process` is anybody's.
                        None if self.solver.units()[unit as usize].language == Language::Python => {
                            Text::free(Origin::OwnPid)
                        }
                        None => Text::free(Origin::Unknown),
                        Some(arg) => one(Folder::new(self.solver).texts(unit, arg.value)),
                    };
                }
                _ => return Text::free(Origin::Unknown),
            }
        }
        Text::free(Origin::Unknown)
    }

    /// Whether an argument test holds. Unknown means that it may.
    pub(super) fn holds(&self, test: &ArgTest, given: Given<'_>) -> bool {
        let at = test.at();
        let folder = Folder::new(self.solver);
        let Some(mut arg) = given.get(&at) else {
            return test.is == Condition::Truthy
                && at.keyword.is_some()
                && given.may_give_anything()
                && self.spread_gives(&at, given);
        };
        if let Some(member) = &at.member {
            match self.solver.member_of(given.unit, arg, member) {
                Some(value) => arg = value,
                None => return false,
            }
        }
        match test.is {
            Condition::Given => true,
            Condition::Truthy => self.truth(given.unit, arg) != Some(false),
            Condition::Trigger => {
                let catalogue = self.solver.catalogue(self.unit);
                folder.texts(given.unit, arg).iter().any(|t| {
                    // Free parts before the file's name do not hide it.
                    let shown = t.display();
                    catalogue.is_trigger(&shown)
                })
            }
            Condition::OwnProgram => {
                let own = [Origin::OwnProgram, Origin::OwnScript, Origin::OwnArgv];
                folder.texts(given.unit, arg).iter().any(|t| t.origin().is_some_and(|o| own.contains(&o)))
            }
        }
    }

    /// `module[name]()` with a name that does not fold, on a module that has primitives.
    pub(super) fn computed(&mut self, id: ExprId, module: &str, span: Span) {
        if self.solver.catalogue(self.unit).has_primitives(module) {
            let lookup = self.contexts.lookup(self.solver, id, span, module);
            self.found.lookups.push(lookup);
        }
    }
}
