//! The state of lowering one file, and the order in which its parts are lowered: items and
//! what they declare first, then function bodies as they were met.

use std::collections::VecDeque;

use proc_macro2::Ident;
use rustc_hash::FxHashSet;
use syn::ext::IdentExt as _;

use super::scope::{Entry, ScopeId, Scopes};
use crate::base::facts::{WatchKind, WatchedUse};
use crate::base::ir::{Cell, CellId, ClassId, Expr, ExprId, FuncId, GuardKind, Import, ImportSite, Program};
use crate::base::span::Span;
use crate::lang::builder::Builder;

/// The program facts of one Rust text.
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// Uses of watched names.
    pub watched: Vec<WatchedUse>,
}

/// A function body that waits for its turn.
pub(super) struct Pending {
    pub(super) function: FuncId,
    pub(super) scope: ScopeId,
    pub(super) body: Body,
    pub(super) class: Option<ClassId>,
    pub(super) symbol: String,
}

/// What a pending function consists of.
pub(super) enum Body {
    Block(syn::Block),
    /// A closure: its parameters' patterns with their cells, and its body.
    Closure(Vec<(syn::Pat, CellId)>, Box<syn::Expr>),
}

/// See the module's documentation.
pub(super) struct Lowering<'w> {
    pub(super) builder: Builder<'static>,
    pub(super) scopes: Scopes,
    pub(super) scope: ScopeId,
    pub(super) pending: VecDeque<Pending>,
    /// What `Self` is.
    pub(super) class: Option<ClassId>,
    /// Qualified name of what is being lowered; empty at module level.
    pub(super) symbol: String,
    pub(super) test_only: bool,
    /// What holds after the statement that was just lowered.
    pub(super) afterwards: Option<GuardKind>,
    /// Bytes before the text that the parser saw.
    offset: usize,
    watch: &'w FxHashSet<String>,
    watched: Vec<WatchedUse>,
    imported: FxHashSet<(FuncId, Import)>,
}

/// Lowers a parsed file whose text begins `offset` bytes into the source of `length` bytes.
pub fn lower(file: syn::File, offset: usize, length: usize, watch: &FxHashSet<String>) -> Lowered {
    let mut lowering = Lowering {
        builder: Builder::new(length),
        scopes: Scopes::new(),
        scope: 0,
        pending: VecDeque::new(),
        class: None,
        symbol: String::new(),
        test_only: file.attrs.iter().any(super::item::is_test),
        afterwards: None,
        offset,
        watch,
        watched: Vec::new(),
        imported: FxHashSet::default(),
    };
    lowering.run(file.items);
    lowering.watched.sort_by_key(|w| (w.span, w.kind));
    lowering.watched.dedup();
    Lowered { program: lowering.builder.program, watched: lowering.watched }
}

impl Lowering<'_> {
    fn run(&mut self, items: Vec<syn::Item>) {
        self.items(items);
        self.builder.leave();
        while let Some(pending) = self.pending.pop_front() {
            self.function_body(pending);
        }
        self.export();
    }

    fn function_body(&mut self, pending: Pending) {
        self.builder.enter(pending.function, 0);
        self.scope = pending.scope;
        self.class = pending.class;
        self.symbol = pending.symbol;
        self.test_only =
            self.builder.program.functions.get(pending.function as usize).is_some_and(|f| f.test_only);
        let value = match pending.body {
            Body::Block(block) => self.block(block),
            Body::Closure(params, body) => {
                for (pattern, cell) in params {
                    let span = self.function_span(pending.function);
                    let value = self.builder.expr(Expr::Cell(cell), span);
                    self.pattern(pattern, value);
                }
                self.expression(*body)
            }
        };
        self.returned(value);
        self.builder.leave();
    }

    /// A value that the function being lowered gives back.
    pub(super) fn returned(&mut self, value: ExprId) {
        let function = self.builder.function as usize;
        if let Some(function) = self.builder.program.functions.get_mut(function)
            && function.parent.is_some()
        {
            function.returns.push(value);
        }
    }

    fn function_span(&self, function: FuncId) -> Span {
        self.builder.program.functions.get(function as usize).map_or(Span::default(), |f| f.span)
    }

    /// What other files can name: by its path from this file's module on.
    fn export(&mut self) {
        for module in 0..self.scopes.len() {
            let scope = self.scopes.get(module);
            if scope.module != module {
                continue;
            }
            let prefix: String = scope.names.iter().map(|n| format!("{n}::")).collect();
            for (name, value, entry) in self.scopes.bindings(module) {
                let mut cells: Vec<CellId> = value.into_iter().collect();
                if let Some(Entry::Cell(cell)) = entry
                    && !cells.contains(&cell)
                {
                    cells.push(cell);
                }
                let cell = match cells.as_slice() {
                    [] => continue,
                    [only] => *only,
                    _ => self.push_cell(Cell { name: name.clone(), values: Vec::new(), from: cells }),
                };
                self.builder.program.exports.push((format!("{prefix}{name}"), cell));
            }
        }
        self.builder.program.exports.sort();
        self.builder.program.exports.dedup_by(|a, b| a.0 == b.0);
        let (_, outside) = self.scopes.globs(0);
        self.builder.program.stars = outside;
    }

    /// Adds a cell.
    pub(super) fn push_cell(&mut self, cell: Cell) -> CellId {
        self.builder.program.cells.push(cell);
        (self.builder.program.cells.len() - 1) as CellId
    }

    /// A cell of one value.
    pub(super) fn cell(&mut self, name: &str, value: Option<ExprId>) -> CellId {
        self.push_cell(Cell { name: name.to_owned(), values: value.into_iter().collect(), from: Vec::new() })
    }

    /// Adds a value to a cell.
    pub(super) fn add_value(&mut self, cell: CellId, value: ExprId) {
        if let Some(cell) = self.builder.program.cells.get_mut(cell as usize) {
            cell.values.push(value);
        }
    }

    /// The place of a token.
    pub(super) fn place(&self, span: proc_macro2::Span) -> Span {
        let range = span.byte_range();
        Span::new(range.start + self.offset, range.end + self.offset)
    }

    /// From the first token to the last.
    pub(super) fn between(&self, from: proc_macro2::Span, to: proc_macro2::Span) -> Span {
        let (from, to) = (from.byte_range(), to.byte_range());
        Span::new(from.start + self.offset, to.end.max(from.end) + self.offset)
    }

    /// From an expression's start to a token's end.
    pub(super) fn up_to(&self, expr: ExprId, to: proc_macro2::Span) -> Span {
        let start = self.span_of(expr).start as usize;
        Span::new(start, (to.byte_range().end + self.offset).max(start))
    }

    /// Where a lowered expression stands.
    pub(super) fn span_of(&self, expr: ExprId) -> Span {
        self.builder.program.exprs.get(expr as usize).map_or(Span::default(), |n| n.span)
    }

    pub(super) fn unknown(&mut self, span: Span) -> ExprId {
        self.builder.expr(Expr::Unknown, span)
    }

    /// An import, remembered once a function for the import graph.
    pub(super) fn import(&mut self, module: String, name: Option<String>, span: Span) -> ExprId {
        let import = Import { module, name };
        let function = self.builder.function;
        if self.imported.insert((function, import.clone())) {
            self.builder.program.imports.push(ImportSite { import: import.clone(), span, function });
        }
        self.builder.expr(Expr::Import(Box::new(import)), span)
    }

    /// An identifier's name, raw or not; records its use if it is watched.
    pub(super) fn name(&mut self, ident: &Ident) -> String {
        let name = ident.unraw().to_string();
        if !self.watch.is_empty() && self.watch.contains(&name) {
            let span = self.place(ident.span());
            self.watched.push(WatchedUse {
                kind: WatchKind::Symbol,
                name: name.clone(),
                span,
                symbol: self.symbol_or_module(),
            });
        }
        name
    }

    pub(super) fn symbol_or_module(&self) -> String {
        if self.symbol.is_empty() { "<module>".to_owned() } else { self.symbol.clone() }
    }

    /// The name of something defined inside the present symbol.
    pub(super) fn nested_symbol(&self, name: &str) -> String {
        if self.symbol.is_empty() { name.to_owned() } else { format!("{}.{name}", self.symbol) }
    }
}
