//! What a condition or an annotation leaves of a name that nothing else is known of: `if verb not in ("start",
//! "stop"): raise …`, `verb: Literal["start", "stop"]`.

use super::{DEPTH, Folder};
use crate::base::ir::{BinaryOp, CellId, Expr, ExprId, GuardKind};
use crate::base::text::{Origin, Text};
use crate::graph::value::UnitId;

/// Conditions that are looked at for one name.
const MOST_CONDITIONS: usize = 32;
/// What names the texts that a value is one of.
const LITERALS: [&str; 2] = ["typing.Literal", "typing_extensions.Literal"];

impl Folder<'_, '_> {
    /// The strings of a variable where it is read. A free one is what the conditions there leave of it: a
    /// parameter only where no caller in the tree decides.
    pub(super) fn chosen_of(&self, unit: UnitId, expr: ExprId, cell: CellId, depth: usize) -> Vec<Text> {
        let mut texts = self.cell_strings(unit, cell, depth);
        let is_open = |text: &Text| match text.origin() {
            Some(Origin::Unknown) => true,
            Some(Origin::Parameter(_)) => self.from_outside,
            _ => false,
        };
        if !texts.iter().any(is_open) {
            return texts;
        }
        let choices = self.held_against(unit, expr, cell, depth).or_else(|| self.declared(unit, cell, depth));
        if let Some(choices) = choices {
            texts.retain(|text| !is_open(text));
            texts.extend(choices);
        }
        texts
    }

    /// What a name is one of where an expression reads it, by the conditions under which that runs.
    fn held_against(&self, unit: UnitId, expr: ExprId, cell: CellId, depth: usize) -> Option<Vec<Text>> {
        let program = self.solver.program(unit);
        let mut guard = program.exprs[expr as usize].guard;
        for _ in 0..MOST_CONDITIONS {
            let at = &program.guards[guard? as usize];
            if let GuardKind::Branch(condition, holds) | GuardKind::AfterLeaving(condition, holds) = at.kind
                && let Some(choices) = self.left_by(unit, condition, holds, cell, depth)
            {
                return Some(choices);
            }
            guard = at.parent;
        }
        None
    }

    /// What a name is one of where a condition holds, or does not.
    fn left_by(
        &self,
        unit: UnitId,
        condition: ExprId,
        holds: bool,
        cell: CellId,
        depth: usize,
    ) -> Option<Vec<Text>> {
        if depth > DEPTH || !self.spend() {
            return None;
        }
        let exprs = &self.solver.program(unit).exprs;
        let side = |at: ExprId, holds: bool| self.left_by(unit, at, holds, cell, depth + 1);
        match &exprs[condition as usize].expr {
            Expr::Not(inner) => side(*inner, !holds),
            Expr::Same(inner) => side(*inner, holds),
            Expr::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
                let both_hold = (*op == BinaryOp::And) == holds;
                match (side(*left, holds), side(*right, holds)) {
                    (Some(one), Some(_)) | (Some(one), None) | (None, Some(one)) if both_hold => Some(one),
                    (Some(mut either), Some(or)) => {
                        either.extend(or);
                        Some(either)
                    }
                    _ => None,
                }
            }
            Expr::Binary { op, left, right } if matches!(exprs[*left as usize].expr, Expr::Cell(of) if of == cell) => {
                match (op, holds) {
                    (BinaryOp::In, true) | (BinaryOp::NotIn, false) => self.texts_in(unit, *right, depth),
                    (BinaryOp::Equal, true) | (BinaryOp::NotEqual, false) => {
                        self.written_out(unit, *right, depth)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The texts that a list or the keys of a table are, if all of them are known.
    fn texts_in(&self, unit: UnitId, list: ExprId, depth: usize) -> Option<Vec<Text>> {
        if depth > DEPTH {
            return None;
        }
        let held = self.elements(unit, list, depth + 1);
        let mut texts = Vec::new();
        for (of, item) in &held.items {
            texts.extend(self.written_out(*of, *item, depth)?);
        }
        Some(texts).filter(|texts| !held.open && !texts.is_empty())
    }

    /// The texts that an expression is, if all of them are known.
    fn written_out(&self, unit: UnitId, expr: ExprId, depth: usize) -> Option<Vec<Text>> {
        let texts = self.strings(unit, expr, depth + 1);
        texts.iter().all(|text| text.as_literal().is_some()).then_some(texts)
    }

    /// What an annotation says that a parameter is one of.
    fn declared(&self, unit: UnitId, cell: CellId, depth: usize) -> Option<Vec<Text>> {
        let program = self.solver.program(unit);
        self.solver.parameter(unit, cell)?;
        program.cells[cell as usize].values.iter().find_map(|value| {
            let Expr::Instance(of) = program.exprs[*value as usize].expr else { return None };
            match &program.exprs[of as usize].expr {
                Expr::Union(_) => self.written_out(unit, of, depth),
                // `Verb = Literal["start", "stop"]`.
                Expr::Cell(alias) => {
                    let values = self.cell_values(unit, *alias);
                    let [only] = values.as_slice() else { return None };
                    let Expr::Index { base, key } = program.exprs[*only as usize].expr else { return None };
                    self.outside(unit, base).filter(|path| LITERALS.contains(path))?;
                    match program.exprs[key as usize].expr {
                        Expr::Seq(_) => self.texts_in(unit, key, depth),
                        _ => self.written_out(unit, key, depth),
                    }
                }
                _ => None,
            }
        })
    }
}
