//! One file's program in the solver: where its nodes begin, and what is asked of it by name.

use rustc_hash::FxHashMap;

use super::solve::NodeId;
use crate::base::facts::Language;
use crate::base::ir::{CellId, Expr, ExprId, FuncId, Node, Program, Slot, Spread};
use crate::data::primitives::Catalogue;

/// One file's program in the solver.
pub struct Unit<'a> {
    /// The file.
    pub path: &'a str,
    /// Its language.
    pub language: Language,
    /// Its facts.
    pub program: &'a Program,
    /// Its language's catalogue.
    pub catalogue: &'a Catalogue,
    /// The node of each expression: what is read of a variable is the variable's own.
    pub(super) exprs: Vec<NodeId>,
    pub(super) cells: NodeId,
    pub(super) results: NodeId,
    pub(super) yields: NodeId,
    pub(super) active: Vec<bool>,
    pub(super) stores: FxHashMap<FuncId, Vec<u32>>,
    pub(super) exports: FxHashMap<&'a str, CellId>,
    pub(super) imports: FxHashMap<FuncId, Vec<u32>>,
    pub(super) attribute_stores: FxHashMap<&'a str, Vec<u32>>,
    pub(super) growth: FxHashMap<CellId, Vec<ExprId>>,
    pub(super) parameters: FxHashMap<CellId, (FuncId, u16, Spread)>,
    /// The node behind its last one.
    pub(super) end: NodeId,
}

impl<'a> Unit<'a> {
    /// A program whose nodes begin at `first`.
    pub(super) fn new(
        path: &'a str,
        language: Language,
        program: &'a Program,
        catalogue: &'a Catalogue,
        first: NodeId,
    ) -> Unit<'a> {
        let functions = program.functions.len() as NodeId;
        let cells = first;
        let results = cells + program.cells.len() as NodeId;
        let yields = results + functions;
        let mut end = yields + functions;
        let node_of = |node: &Node| match node.expr {
            Expr::Cell(cell) => cells + cell,
            _ => {
                end += 1;
                end - 1
            }
        };
        let exprs = program.exprs.iter().map(node_of).collect();
        let mut stores: FxHashMap<FuncId, Vec<u32>> = FxHashMap::default();
        let mut attribute_stores: FxHashMap<&'a str, Vec<u32>> = FxHashMap::default();
        for (at, store) in program.stores.iter().enumerate() {
            let function = program.exprs[store.base as usize].function;
            stores.entry(function).or_default().push(at as u32);
            if let Slot::Attr(name) = &store.slot {
                attribute_stores.entry(name).or_default().push(at as u32);
            }
        }
        let mut imports: FxHashMap<FuncId, Vec<u32>> = FxHashMap::default();
        for (at, import) in program.imports.iter().enumerate() {
            imports.entry(import.function).or_default().push(at as u32);
        }
        let mut growth: FxHashMap<CellId, Vec<ExprId>> = FxHashMap::default();
        for (at, node) in program.exprs.iter().enumerate() {
            if let Expr::Call(call) = &node.expr
                && let Expr::Attr { base, name } = &program.exprs[call.callee as usize].expr
                && matches!(name.as_str(), "append" | "extend" | "push")
                && let Expr::Cell(cell) = program.exprs[*base as usize].expr
            {
                growth.entry(cell).or_default().push(at as ExprId);
            }
        }
        let mut parameters = FxHashMap::default();
        for (function, body) in program.functions.iter().enumerate() {
            for (position, param) in body.params.iter().enumerate() {
                parameters.insert(param.cell, (function as FuncId, position as u16, param.spread));
            }
        }
        Unit {
            path,
            language,
            program,
            catalogue,
            exprs,
            cells,
            results,
            yields,
            active: vec![false; program.functions.len()],
            stores,
            exports: program.exports.iter().map(|(n, c)| (n.as_str(), *c)).collect(),
            imports,
            attribute_stores,
            growth,
            parameters,
            end,
        }
    }
}
