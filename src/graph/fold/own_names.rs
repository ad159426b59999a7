//! The name of a package around this file, cut out of the file's own: `__name__.split(".")[0]`.

use super::{Folder, Text};
use crate::base::ir::{Expr, ExprId};
use crate::base::text::Origin;
use crate::graph::value::UnitId;

/// Methods of a text whose first result is what stands before a mark.
const CUTTING: [&str; 4] = ["split", "rsplit", "partition", "rpartition"];

impl Folder<'_, '_> {
    /// The first part of a dotted name of this program's own, if a call cuts one.
    pub(super) fn package_in(&self, unit: UnitId, call: ExprId, depth: usize) -> Option<Text> {
        let exprs = &self.solver.program(unit).exprs;
        let Expr::Call(call) = &exprs[call as usize].expr else { return None };
        let Expr::Attr { base, name } = &exprs[call.callee as usize].expr else { return None };
        if !CUTTING.contains(&name.as_str()) {
            return None;
        }
        let texts = self.strings(unit, *base, depth + 1);
        let is_own = |text: &Text| matches!(text.origin(), Some(Origin::OwnModule | Origin::OwnPackage));
        (texts.len() == 1 && texts.iter().all(is_own)).then(|| Text::free(Origin::OwnPackage))
    }
}
