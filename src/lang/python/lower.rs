//! The state of lowering one file, and the order in which its parts are lowered: the top
//! level first, then the main guard, then function bodies as they were met.

use std::cell::Cell;
use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::bindings;
use super::builtins::is_builtin;
use super::tree::{Node, Rows};
use crate::base::facts::{WatchKind, WatchedUse};
use crate::base::ir::{ClassId, Expr, ExprId, FuncId, FunctionKind, Node as ExprNode, Program};
use crate::base::scratch::Scratch;
use crate::base::span::Span;
use crate::lang::builder::{Builder, Lookup, ScopeId, ScopeKind};

/// Expressions and statements nested deeper than this are not read but reported: the
/// recursion below must not use the stack in proportion to the input.
pub const DEPTH_LIMIT: usize = 400;

/// The program facts of one Python text.
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// Uses of watched names.
    pub watched: Vec<WatchedUse>,
    /// Places that were nested too deep to be read.
    pub too_deep: Vec<Span>,
}

/// Expressions whose memory a worker keeps for its next file, at most.
const MOST_KEPT: usize = 1 << 13;

thread_local! {
    // A finished program is moved out of it.
    static EXPRS: Cell<Vec<ExprNode>> = const { Cell::new(Vec::new()) };
}

/// A function body that waits for its turn.
pub(super) struct Pending<'t> {
    pub(super) function: FuncId,
    pub(super) scope: ScopeId,
    pub(super) body: Body<'t>,
    /// The definition, where it may carry annotations.
    pub(super) definition: Option<Node<'t>>,
    pub(super) class: Option<ClassId>,
    pub(super) symbol: String,
}

/// What a pending function consists of.
pub(super) enum Body<'t> {
    /// A block of statements.
    Block(Node<'t>),
    /// A lambda's expression.
    Expression(Node<'t>),
    /// The main guard's block; it shares the module's scope.
    MainGuard(Node<'t>),
}

pub(super) struct Lowering<'s, 't> {
    pub(super) text: &'s str,
    pub(super) builder: Builder<'s>,
    pub(super) pending: VecDeque<Pending<'t>>,
    /// Main guards' code that waits; there is hardly ever more than one.
    pub(super) main_guards: VecDeque<Pending<'t>>,
    pub(super) class: Option<ClassId>,
    /// Qualified name of what is being lowered; empty at module level.
    pub(super) symbol: String,
    pub(super) depth: usize,
    pub(super) watch: &'s FxHashSet<String>,
    pub(super) watched: Vec<WatchedUse>,
    pub(super) too_deep: Vec<Span>,
    /// Modules that `from m import *` names, in order.
    pub(super) stars: Vec<String>,
}

/// Lowers a parsed text. `watch` holds the symbols whose uses are to be recorded.
///
/// `skipped` are names that statements bind which are not in the tree.
pub(super) fn lower<'s>(
    rows: &Rows,
    text: &'s str,
    watch: &'s FxHashSet<String>,
    skipped: &[&'s str],
) -> Lowered {
    let mut lowering = Lowering {
        text,
        builder: Builder::new(text.len()),
        pending: VecDeque::new(),
        main_guards: VecDeque::new(),
        class: None,
        symbol: String::new(),
        depth: 0,
        watch,
        watched: Vec::new(),
        too_deep: Vec::new(),
        stars: Vec::new(),
    };
    // About every second node becomes an expression.
    let mut scratch = Scratch::new(&EXPRS, MOST_KEPT);
    lowering.builder.program.exprs = std::mem::take(&mut *scratch);
    lowering.builder.program.exprs.reserve(rows.len() / 2);
    for name in skipped {
        let unknown = lowering.builder.expr(Expr::Unknown, Span::default());
        lowering.builder.bind(name, unknown);
    }
    lowering.run(rows.root());
    lowering.watched.sort_by_key(|w| (w.span, w.kind));
    lowering.watched.dedup();
    let mut program = lowering.builder.program;
    *scratch = std::mem::take(&mut program.exprs);
    program.exprs = Vec::with_capacity(scratch.len());
    program.exprs.append(&mut scratch);
    program.shrink();
    Lowered { program, watched: lowering.watched, too_deep: lowering.too_deep }
}

impl<'s, 't> Lowering<'s, 't> {
    fn run(&mut self, root: Node<'t>) {
        for name in bindings::globals(root, self.text) {
            self.builder.scope_mut(0).shared.insert(name);
        }
        self.block(root);
        self.builder.leave();
        while let Some(pending) = self.next_pending() {
            self.function_body(pending);
        }
        for name in self.builder.names_of(0) {
            if let Some(cell) = self.builder.late(0, name) {
                self.builder.program.exports.push((name.to_owned(), cell));
            }
        }
        self.builder.program.stars = std::mem::take(&mut self.stars);
    }

    /// The main guard's code runs before any function that the module's end leaves behind.
    fn next_pending(&mut self) -> Option<Pending<'t>> {
        self.main_guards.pop_front().or_else(|| self.pending.pop_front())
    }

    fn function_body(&mut self, pending: Pending<'t>) {
        self.builder.enter(pending.function, pending.scope);
        self.class = pending.class;
        self.symbol = pending.symbol;
        self.depth = 0;
        if let Some(definition) = pending.definition {
            self.declared_parameters(definition, pending.function, pending.scope);
        }
        match pending.body {
            Body::Block(block) | Body::MainGuard(block) => self.block(block),
            Body::Expression(expression) => {
                let value = self.expression(expression);
                let function = self.builder.function as usize;
                self.builder.program.functions[function].returns.push(value);
            }
        }
        if let Some(definition) = pending.definition {
            self.declared_result(definition, pending.function, pending.scope);
        }
        self.builder.leave();
    }

    /// The text of a node.
    pub(super) fn slice(&self, node: Node<'_>) -> &'s str {
        self.text.get(node.span().range()).unwrap_or("")
    }

    pub(super) fn span(node: Node<'_>) -> Span {
        node.span()
    }

    pub(super) fn unknown(&mut self, node: Node<'_>) -> ExprId {
        self.builder.expr(Expr::Unknown, Self::span(node))
    }

    /// Reads a name.
    pub(super) fn name(&mut self, node: Node<'_>) -> ExprId {
        let name = self.slice(node);
        let span = Self::span(node);
        self.watch(name, span);
        match self.builder.lookup(name) {
            Lookup::Cell(cell) => self.builder.expr(Expr::Cell(cell), span),
            Lookup::Unbound => self.builder.expr(Expr::Unknown, span),
            Lookup::Free => self.free_name(name, span),
        }
    }

    /// A name that no scope binds: from a star import, or a builtin.
    fn free_name(&mut self, name: &'s str, span: Span) -> ExprId {
        let mut options = Vec::new();
        if self.stars.is_empty() || is_builtin(name) {
            options.push(self.builder.expr(Expr::External(["builtins.", name].concat()), span));
        }
        for module in self.stars.clone() {
            let import = crate::base::ir::Import { module, name: Some(name.to_owned()) };
            options.push(self.builder.expr(Expr::Import(Box::new(import)), span));
        }
        match *options {
            [only] => only,
            _ => self.builder.expr(Expr::Union(options), span),
        }
    }

    /// Records a use of a watched symbol.
    pub(super) fn watch(&mut self, name: &str, span: Span) {
        if !self.watch.is_empty() && self.watch.contains(name) {
            self.watched.push(WatchedUse {
                kind: WatchKind::Symbol,
                name: name.to_owned(),
                span,
                symbol: self.symbol_or_module(),
            });
        }
    }

    pub(super) fn symbol_or_module(&self) -> String {
        if self.symbol.is_empty() { "<module>".to_owned() } else { self.symbol.clone() }
    }

    /// Whether the code being lowered is the module's own top level, blocks and class bodies aside.
    pub(super) fn at_module_level(&self) -> bool {
        self.builder.scope_kind(self.builder.scope) == ScopeKind::Module
            && self.builder.program.functions[self.builder.function as usize].kind == FunctionKind::Module
    }

    /// Runs `inner` one level deeper, or reports that the text is nested too deep.
    pub(super) fn deeper<R>(&mut self, node: Node<'t>, inner: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth >= DEPTH_LIMIT {
            self.too_deep.push(Self::span(node));
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        Some(result)
    }
}
