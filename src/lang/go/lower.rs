//! The state of lowering one file, and the order in which its parts are lowered: types and
//! functions by name, then the package's variables, then function bodies.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::{Node, Tree};

use super::bindings;
use crate::base::facts::{WatchKind, WatchedUse};
use crate::base::ir::{CellId, ClassId, Expr, ExprId, FuncId, Import, ImportSite, Program};
use crate::base::span::Span;
use crate::lang::builder::{Builder, Lookup, ScopeId};
use crate::lang::syntax::named_children;

/// Expressions and statements nested deeper than this are not read but reported.
pub const DEPTH_LIMIT: usize = 400;

/// What the language declares itself.
const UNIVERSE: [&str; 40] = [
    "any",
    "append",
    "bool",
    "byte",
    "cap",
    "clear",
    "close",
    "comparable",
    "complex",
    "complex128",
    "complex64",
    "copy",
    "delete",
    "error",
    "float32",
    "float64",
    "imag",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "iota",
    "len",
    "make",
    "max",
    "min",
    "new",
    "panic",
    "print",
    "println",
    "real",
    "recover",
    "rune",
    "string",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
];

/// The package of the file itself, as an import.
pub const OWN_PACKAGE: &str = ".";

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
    pub(super) body: Node<'t>,
    /// Parameters with their types and cells.
    pub(super) typed: Vec<(Node<'t>, CellId)>,
    /// The cells of named results.
    pub(super) results: Vec<CellId>,
    pub(super) symbol: String,
    pub(super) class: Option<ClassId>,
}

pub(super) struct Lowering<'s, 't> {
    pub(super) text: &'s str,
    pub(super) builder: Builder<'s>,
    pub(super) pending: VecDeque<Pending<'t>>,
    pub(super) symbol: String,
    pub(super) class: Option<ClassId>,
    /// The cells of the current function's named results.
    pub(super) results: Vec<CellId>,
    pub(super) depth: usize,
    pub(super) watch: &'s FxHashSet<String>,
    pub(super) watched: Vec<WatchedUse>,
    pub(super) too_deep: Vec<Span>,
    /// Packages whose names are imported into the file (`import . "p"`).
    pub(super) dots: Vec<String>,
    pub(super) reassigned: FxHashSet<&'s str>,
    pub(super) stop_channels: FxHashSet<String>,
    /// Classes of the file by the names of their types; those of other files' types among them.
    pub(super) classes: FxHashMap<&'s str, ClassId>,
    pub(super) test_only: bool,
}

/// Lowers a parsed text. `watch` holds the symbols whose uses are to be recorded.
pub fn lower(tree: &Tree, text: &str, watch: &FxHashSet<String>, test_only: bool) -> Lowered {
    let root = tree.root_node();
    let mut lowering = Lowering {
        text,
        builder: Builder::new(text.len()),
        pending: VecDeque::new(),
        symbol: String::new(),
        class: None,
        results: Vec::new(),
        depth: 0,
        watch,
        watched: Vec::new(),
        too_deep: Vec::new(),
        dots: Vec::new(),
        reassigned: bindings::names_assigned_from_inside(root, text),
        stop_channels: bindings::stop_channels(root, text),
        classes: FxHashMap::default(),
        test_only,
    };
    lowering.run(root);
    lowering.watched.sort_by_key(|w| (w.span, w.kind));
    lowering.watched.dedup();
    Lowered { program: lowering.builder.program, watched: lowering.watched, too_deep: lowering.too_deep }
}

impl<'s, 't> Lowering<'s, 't> {
    fn run(&mut self, root: Node<'t>) {
        let declarations = named_children(root);
        // Every file of the package is part of the program.
        let own = ImportSite {
            import: Import { module: OWN_PACKAGE.to_owned(), name: None },
            span: Span::new(0, 0),
            function: 0,
        };
        self.builder.program.imports.push(own);
        for node in declarations.iter().filter(|n| n.kind() == "import_declaration") {
            self.imports(*node);
        }
        for node in declarations.iter().filter(|n| n.kind() == "type_declaration") {
            self.types(*node);
        }
        for node in &declarations {
            match node.kind() {
                "function_declaration" => self.function_declaration(*node),
                "method_declaration" => self.method_declaration(*node),
                _ => {}
            }
        }
        for node in &declarations {
            match node.kind() {
                "import_declaration"
                | "type_declaration"
                | "function_declaration"
                | "method_declaration"
                | "package_clause" => {}
                _ => {
                    self.deeper(*node, |this| this.statement(*node));
                }
            }
        }
        self.builder.leave();
        while let Some(pending) = self.pending.pop_front() {
            self.function_body(pending);
        }
        for name in self.builder.names_of(0) {
            if let Some(cell) = self.builder.late(0, name) {
                self.builder.program.exports.push((name.to_owned(), cell));
            }
        }
    }

    fn function_body(&mut self, pending: Pending<'t>) {
        self.builder.enter(pending.function, pending.scope);
        self.symbol = pending.symbol;
        self.class = pending.class;
        self.results = pending.results;
        self.depth = 0;
        for (declared, cell) in pending.typed {
            if let Some(value) = self.instance_of(declared) {
                self.builder.program.cells[cell as usize].values.push(value);
            }
        }
        self.statements(pending.body);
        self.builder.leave();
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

    /// Reads a name: of the file, of the language, of a package whose names are imported, or of
    /// another file of the package.
    pub(super) fn name(&mut self, node: Node<'_>) -> ExprId {
        let name = self.slice(node);
        let span = Self::span(node);
        self.watch(name, span);
        match self.builder.lookup(name) {
            Lookup::Cell(cell) => return self.builder.expr(Expr::Cell(cell), span),
            Lookup::Unbound => return self.builder.expr(Expr::Unknown, span),
            Lookup::Free => {}
        }
        if UNIVERSE.contains(&name) {
            return self.builder.expr(Expr::External(format!("builtin.{name}")), span);
        }
        let mut options = vec![self.imported(OWN_PACKAGE, name, span)];
        for module in self.dots.clone() {
            options.push(self.imported(&module, name, span));
        }
        match options.as_slice() {
            [only] => *only,
            _ => self.builder.expr(Expr::Union(options), span),
        }
    }

    fn imported(&mut self, module: &str, name: &str, span: Span) -> ExprId {
        let import = Import { module: module.to_owned(), name: Some(name.to_owned()) };
        self.builder.expr(Expr::Import(Box::new(import)), span)
    }

    /// Records a use of a watched symbol.
    pub(super) fn watch(&mut self, name: &str, span: Span) {
        if !self.watch.is_empty() && self.watch.contains(name) {
            let symbol = if self.symbol.is_empty() { "<module>".to_owned() } else { self.symbol.clone() };
            self.watched.push(WatchedUse { kind: WatchKind::Symbol, name: name.to_owned(), span, symbol });
        }
    }

    /// Binds a name of the package or of a scope, shared if closures assign it.
    pub(super) fn declare(&mut self, scope: ScopeId, name: &'s str, value: Option<ExprId>) -> CellId {
        if self.reassigned.contains(name) {
            self.builder.scope_mut(scope).shared.insert(name);
        }
        self.builder.bind_in(scope, name, value)
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
