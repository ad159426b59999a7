//! What a function of the tree gives back at one call: its parameters stand for the call's arguments.

use super::{ALTERNATIVES, Folder, Text};
use crate::base::ir::{Call, Expr, ExprId, FuncId, Spread};
use crate::base::text::{Origin, Piece};
use crate::graph::value::{UnitId, Value};

/// A call, and the function that it calls.
pub(super) struct Entered<'c> {
    unit: UnitId,
    call: &'c Call,
    target: (UnitId, FuncId),
    /// Parameters that the receiver takes.
    skip: usize,
}

/// What a parameter is at a call.
enum Given {
    /// This argument.
    Argument(ExprId),
    /// Nothing is known of it.
    Unknown,
    /// Left out: its default value stands.
    Default,
}

impl<'f, 'a> Folder<'f, 'a> {
    /// A call of a function of the tree.
    pub(super) fn entered<'c>(&self, unit: UnitId, call: &'c Call, callee: Value) -> Option<Entered<'c>> {
        let (target, skip) = match callee {
            Value::Func(u, f) => ((u, f), 0),
            Value::Bound(u, f, _) => ((u, f), self.solver.receiver_params(u, f)),
            _ => return None,
        };
        Some(Entered { unit, call, target, skip })
    }

    /// The argument that a call gives for a parameter of a method of the object that it makes, or is called on.
    pub(super) fn argument(
        &self,
        unit: UnitId,
        call: &Call,
        target: (UnitId, FuncId),
        param: u16,
    ) -> Option<ExprId> {
        let skip = self.solver.receiver_params(target.0, target.1);
        match self.given(&Entered { unit, call, target, skip }, param) {
            Given::Argument(value) => Some(value),
            Given::Unknown | Given::Default => None,
        }
    }

    /// What a call gives for a parameter, or what stands for it where it is left out; nothing where that is not known.
    pub(super) fn given_or_default(
        &self,
        (unit, call): (UnitId, &Call),
        target: (UnitId, FuncId),
        param: u16,
    ) -> Option<Vec<(UnitId, ExprId)>> {
        let skip = self.solver.receiver_params(target.0, target.1);
        match self.given(&Entered { unit, call, target, skip }, param) {
            Given::Argument(value) => Some(vec![(unit, value)]),
            Given::Unknown => None,
            Given::Default => {
                let program = self.solver.program(target.0);
                let cell = program.functions[target.1 as usize].params.get(param as usize)?.cell;
                Some(program.cells[cell as usize].values.iter().map(|value| (target.0, *value)).collect())
            }
        }
    }

    /// The strings that a text of the function stands for at the call; none where only another way
    /// through the function is meant.
    pub(super) fn text_at(&self, entered: &Entered<'_>, text: &Text, depth: usize) -> Vec<Text> {
        let mut texts = vec![Text::default()];
        for piece in text.pieces() {
            let options = match piece {
                Piece::Free(Origin::Parameter(param)) | Piece::Rest(Origin::Parameter(param)) => {
                    match self.given(entered, *param) {
                        Given::Argument(value) => self.strings(entered.unit, value, depth + 1),
                        Given::Unknown => vec![Text::free(Origin::Unknown)],
                        Given::Default => return Vec::new(),
                    }
                }
                other => {
                    texts.iter_mut().for_each(|text| text.push(other.clone()));
                    continue;
                }
            };
            texts = product(&texts, &options);
        }
        texts
    }

    /// The lists that a list of the function stands for at the call.
    pub(super) fn list_at(&self, entered: &Entered<'_>, words: &[Text], depth: usize) -> Vec<Vec<Text>> {
        let mut lists: Vec<Vec<Text>> = vec![Vec::new()];
        for word in words {
            let options: Vec<Vec<Text>> = match word.pieces() {
                [Piece::Rest(Origin::Parameter(param))] => match self.given(entered, *param) {
                    Given::Argument(value) => self.list_or_rest(entered.unit, value, depth),
                    Given::Unknown => vec![vec![Text::rest(Origin::Unknown)]],
                    Given::Default => Vec::new(),
                },
                _ => self.text_at(entered, word, depth).into_iter().map(|t| vec![t]).collect(),
            };
            let mut next = Vec::new();
            for list in &lists {
                for option in options.iter().take(ALTERNATIVES - next.len().min(ALTERNATIVES)) {
                    next.push([list.as_slice(), option.as_slice()].concat());
                }
            }
            lists = next;
        }
        lists
    }

    fn given(&self, entered: &Entered<'_>, param: u16) -> Given {
        let (u, f) = entered.target;
        let program = self.solver.program(u);
        let Some(param_of) = program.functions[f as usize].params.get(param as usize) else {
            return Given::Unknown;
        };
        if param_of.spread != Spread::No {
            return Given::Unknown;
        }
        let args = &entered.call.args;
        if let Some(arg) = args.iter().find(|a| a.name.as_ref() == Some(&param_of.name)) {
            return Given::Argument(arg.value);
        }
        let Some(position) = (param as usize).checked_sub(entered.skip) else { return Given::Unknown };
        if args.iter().any(|a| a.spread != Spread::No) {
            return Given::Unknown;
        }
        if let Some(arg) = args.iter().filter(|a| a.name.is_none()).nth(position)
            && !param_of.keyword_only
        {
            return Given::Argument(arg.value);
        }
        let is_value = |v: &ExprId| !matches!(program.exprs[*v as usize].expr, Expr::Instance(_));
        if program.cells[param_of.cell as usize].values.iter().any(is_value) {
            Given::Default
        } else {
            Given::Unknown
        }
    }
}

/// Each text followed by each option.
pub(super) fn product(texts: &[Text], options: &[Text]) -> Vec<Text> {
    let mut longer = Vec::new();
    for text in texts {
        for option in options.iter().take(ALTERNATIVES - longer.len().min(ALTERNATIVES)) {
            let mut both = text.clone();
            both.extend(option);
            longer.push(both);
        }
    }
    longer
}
