//! The state of lowering one file, and the order in which its parts are lowered: the top
//! level first, then function bodies as they were met.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::{Node, Tree};

use super::bindings;
use crate::base::facts::{WatchKind, WatchedUse};
use crate::base::ir::{Cell, CellId, ClassId, Expr, ExprId, FuncId, Program};
use crate::base::span::Span;
use crate::lang::builder::{Builder, Lookup, ScopeId};

/// Expressions and statements nested deeper than this are not read but reported: the
/// recursion below must not use the stack in proportion to the input.
pub const DEPTH_LIMIT: usize = 400;

/// The canonical name of what stands around every program: free names are its members.
pub const GLOBAL: &str = "globalThis";

/// The name under which a CommonJS module's one value is exported.
pub const WHOLE: &str = "module.exports";

/// The program facts of one text.
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// Uses of watched names.
    pub watched: Vec<WatchedUse>,
    /// Places that were nested too deep to be read.
    pub too_deep: Vec<Span>,
}

/// A function body that waits for its turn.
pub(super) struct Pending<'t> {
    pub(super) function: FuncId,
    pub(super) scope: ScopeId,
    pub(super) body: Body<'t>,
    pub(super) context: Context,
}

/// What surrounds the code that is being lowered.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    /// The class whose members the code is part of.
    pub(super) class: Option<ClassId>,
    /// Qualified name of what is being lowered; empty at module level.
    pub(super) symbol: String,
    /// The cell of `this`.
    pub(super) this: Option<CellId>,
}

/// What a pending function consists of.
pub(super) enum Body<'t> {
    /// A function: its parameters with their cells, and its block or expression.
    Function { parameters: Vec<(Node<'t>, CellId)>, body: Node<'t> },
    /// The initial values of a class's fields; whether the class has a base.
    Fields { fields: Vec<Node<'t>>, derived: bool },
}

pub(super) struct Lowering<'s, 't> {
    pub(super) text: &'s str,
    pub(super) builder: Builder<'s>,
    pub(super) pending: VecDeque<Pending<'t>>,
    pub(super) context: Context,
    pub(super) depth: usize,
    pub(super) watch: &'s FxHashSet<String>,
    pub(super) watched: Vec<WatchedUse>,
    pub(super) too_deep: Vec<Span>,
    /// Names that functions assign in scopes around them.
    pub(super) reassigned: FxHashSet<&'s str>,
    /// Functions that are used as classes by their prototype, and those met so far.
    pub(super) prototype_owners: FxHashSet<&'s str>,
    pub(super) prototypes: FxHashMap<&'s str, ClassId>,
    /// Exported names with their cells.
    pub(super) exports: BTreeMap<String, CellId>,
    /// Exports of local names: the name, the exported one, and where that is said.
    pub(super) late_exports: Vec<(&'s str, String, Span)>,
    /// The cell of `module.exports`, if the file uses it.
    pub(super) whole: Option<CellId>,
}

/// Lowers a parsed text. `watch` holds the symbols whose uses are to be recorded.
pub fn lower(tree: &Tree, text: &str, watch: &FxHashSet<String>) -> Lowered {
    let root = tree.root_node();
    let mut lowering = Lowering {
        text,
        builder: Builder::new(text.len()),
        pending: VecDeque::new(),
        context: Context::default(),
        depth: 0,
        watch,
        watched: Vec::new(),
        too_deep: Vec::new(),
        reassigned: bindings::names_assigned_from_inside(root, text),
        prototype_owners: bindings::prototype_owners(text),
        prototypes: FxHashMap::default(),
        exports: BTreeMap::new(),
        late_exports: Vec::new(),
        whole: None,
    };
    lowering.run(root);
    lowering.watched.sort_by_key(|w| (w.span, w.kind));
    lowering.watched.dedup();
    Lowered { program: lowering.builder.program, watched: lowering.watched, too_deep: lowering.too_deep }
}

impl<'s, 't> Lowering<'s, 't> {
    fn run(&mut self, root: Node<'t>) {
        let names = bindings::var_names(root, self.text);
        self.declare(0, names);
        self.open_exports();
        let names = bindings::lexical_names(root, self.text);
        self.declare(0, names);
        self.statements(root);
        self.close_exports();
        self.builder.leave();
        while let Some(pending) = self.pending.pop_front() {
            self.builder.enter(pending.function, pending.scope);
            self.context = pending.context;
            self.depth = 0;
            match pending.body {
                Body::Function { parameters, body } => self.function_body(&parameters, body),
                Body::Fields { fields, derived } => self.field_values(&fields, derived),
            }
            self.builder.leave();
        }
        let exports = std::mem::take(&mut self.exports);
        self.builder.program.exports.extend(exports);
    }

    /// Says that names belong to a scope, wherever in it they get their values.
    pub(super) fn declare(&mut self, scope: ScopeId, names: Vec<&'s str>) {
        for name in names {
            let shared = self.reassigned.contains(name);
            let scope = self.builder.scope_mut(scope);
            scope.locals.insert(name);
            if shared {
                scope.shared.insert(name);
            }
        }
    }

    /// The text of a node.
    pub(super) fn slice(&self, node: Node<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    pub(super) fn span(node: Node<'_>) -> Span {
        Span::new(node.start_byte(), node.end_byte())
    }

    pub(super) fn unknown(&mut self, node: Node<'_>) -> ExprId {
        self.builder.expr(Expr::Unknown, Self::span(node))
    }

    /// A cell that no name of a scope stands for.
    pub(super) fn cell(&mut self, name: &str, values: Vec<ExprId>) -> CellId {
        let cell = self.builder.program.cells.len() as CellId;
        self.builder.program.cells.push(Cell { name: name.to_owned(), values, from: Vec::new() });
        cell
    }

    /// Whether no scope of the file knows a name.
    pub(super) fn is_free(&self, name: &str) -> bool {
        self.builder.owner(name).is_none()
    }

    /// Reads a name.
    pub(super) fn name(&mut self, node: Node<'_>) -> ExprId {
        let name = self.slice(node);
        let span = Self::span(node);
        self.watch(name, span);
        match self.builder.lookup(name) {
            Lookup::Cell(cell) => self.builder.expr(Expr::Cell(cell), span),
            Lookup::Unbound => self.builder.expr(Expr::Unknown, span),
            Lookup::Free if !self.is_free(name) => self.builder.expr(Expr::Unknown, span),
            Lookup::Free => match (name, self.whole) {
                ("exports", Some(cell)) => self.builder.expr(Expr::Cell(cell), span),
                _ => self.builder.expr(Expr::External(format!("{GLOBAL}.{name}")), span),
            },
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
        if self.context.symbol.is_empty() { "<module>".to_owned() } else { self.context.symbol.clone() }
    }

    /// The qualified name of something that is defined here.
    pub(super) fn qualified(&self, name: &str) -> String {
        match self.context.symbol.as_str() {
            "" => name.to_owned(),
            symbol => format!("{symbol}.{name}"),
        }
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
