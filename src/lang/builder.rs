//! Builds a [`Program`] while a language walks its syntax tree: scopes, bindings in the
//! order of the text, joins of branches, guards, functions.
//!
//! A scope keeps for each name the cell that reaches the current point. A branch is
//! lowered between [`Builder::mark`] and [`Builder::rollback`]; [`Builder::join`] merges
//! what the branches bound. Code that runs later (function bodies) reads a name's *late*
//! cell: every binding that may hold when it runs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::ir::{
    Cell, CellId, Expr, ExprId, FuncId, Function, FunctionKind, Guard, GuardId, GuardKind, Node, Program,
};
use crate::base::span::Span;

/// Index of a scope.
pub type ScopeId = usize;

/// The kinds of scope, which differ in who can see into them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// The file's top level.
    Module,
    /// A function: only names in its `locals` belong to it.
    Function,
    /// A class body: invisible to the functions in it.
    Class,
    /// A block or comprehension inside another scope.
    Block,
}

/// One scope. Names are slices of the source.
#[derive(Debug)]
pub struct Scope<'s> {
    kind: ScopeKind,
    parent: Option<ScopeId>,
    now: FxHashMap<&'s str, CellId>,
    all: FxHashMap<&'s str, Vec<CellId>>,
    late: FxHashMap<&'s str, CellId>,
    /// For functions: the names that belong to them; for other kinds not consulted.
    pub locals: FxHashSet<&'s str>,
    /// Names that the text sends to another scope (`global`, `nonlocal`).
    pub redirected: FxHashMap<&'s str, ScopeId>,
    /// Names whose late cell must be read even in the scope itself, since functions bind them.
    pub shared: FxHashSet<&'s str>,
}

/// What a branch bound: each name of a scope with the cell that reaches its end (`None`: unbound there).
pub type Bindings<'s> = Vec<((ScopeId, &'s str), Option<CellId>)>;

/// A name of a scope that a loop may feed back to its start, with the cell that is fed.
pub type Looped<'s> = (ScopeId, &'s str, CellId);

/// The outcome of looking a name up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Bound in the file.
    Cell(CellId),
    /// It belongs to a scope of the file, but nothing bound it yet.
    Unbound,
    /// No scope of the file knows it.
    Free,
}

/// See the module's documentation.
#[derive(Debug)]
pub struct Builder<'s> {
    /// The program so far.
    pub program: Program,
    scopes: Vec<Scope<'s>>,
    /// Every binding in order, with what it took the place of.
    log: Vec<(ScopeId, &'s str, Option<CellId>)>,
    /// The scope that is being lowered.
    pub scope: ScopeId,
    /// The function that is being lowered.
    pub function: FuncId,
    /// The guard in force.
    pub guard: Option<GuardId>,
}

impl<'s> Builder<'s> {
    /// A builder with the module's scope and function 0.
    pub fn new(length: usize) -> Builder<'s> {
        let mut builder = Builder {
            program: Program::default(),
            scopes: Vec::new(),
            log: Vec::new(),
            scope: 0,
            function: 0,
            guard: None,
        };
        builder.push_scope(ScopeKind::Module, None);
        let mut module = function("", "<module>", Span::new(0, length), FunctionKind::Module);
        module.parent = None;
        builder.program.functions.push(module);
        builder
    }

    /// Adds an expression under the guard in force.
    pub fn expr(&mut self, expr: Expr, span: Span) -> ExprId {
        let id = self.program.exprs.len() as ExprId;
        self.program.exprs.push(Node { expr, span, guard: self.guard, function: self.function });
        id
    }

    /// Whether an expression is a table that is written out.
    pub fn is_table(&self, expr: ExprId) -> bool {
        matches!(self.program.exprs[expr as usize].expr, Expr::Map(_))
    }

    /// Adds a function and gives its index; its expressions are lowered later, between
    /// [`Builder::enter`] and [`Builder::leave`].
    pub fn add_function(&mut self, function: Function) -> FuncId {
        self.program.functions.push(function);
        (self.program.functions.len() - 1) as FuncId
    }

    /// Starts lowering a function's body in `scope`.
    pub fn enter(&mut self, function: FuncId, scope: ScopeId) {
        self.function = function;
        self.scope = scope;
        self.guard = None;
        let start = self.program.exprs.len() as ExprId;
        self.program.functions[function as usize].exprs = start..start;
    }

    /// Ends the current function's body.
    pub fn leave(&mut self) {
        let end = self.program.exprs.len() as ExprId;
        self.program.functions[self.function as usize].exprs.end = end;
    }

    /// Opens a scope below `parent`; does not make it current.
    pub fn push_scope(&mut self, kind: ScopeKind, parent: Option<ScopeId>) -> ScopeId {
        self.scopes.push(Scope {
            kind,
            parent,
            now: FxHashMap::default(),
            all: FxHashMap::default(),
            late: FxHashMap::default(),
            locals: FxHashSet::default(),
            redirected: FxHashMap::default(),
            shared: FxHashSet::default(),
        });
        self.scopes.len() - 1
    }

    /// A scope, to declare names in.
    pub fn scope_mut(&mut self, scope: ScopeId) -> &mut Scope<'s> {
        &mut self.scopes[scope]
    }

    /// The nearest scope upward from `scope`, itself included, that is not a block or a class.
    pub fn variable_scope(&self, scope: ScopeId) -> ScopeId {
        let mut at = scope;
        while matches!(self.scopes[at].kind, ScopeKind::Block | ScopeKind::Class) {
            match self.scopes[at].parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at
    }

    /// The kind of a scope.
    pub fn scope_kind(&self, scope: ScopeId) -> ScopeKind {
        self.scopes[scope].kind
    }

    /// The scope around `scope`.
    pub fn scope_parent(&self, scope: ScopeId) -> Option<ScopeId> {
        self.scopes[scope].parent
    }

    /// The cell that reaches the current point in a scope, for class members and exports.
    pub fn bindings_now(&self, scope: ScopeId) -> Vec<(&'s str, CellId)> {
        let mut names: Vec<_> = self.scopes[scope].now.iter().map(|(n, c)| (*n, *c)).collect();
        names.sort_unstable();
        names
    }

    /// Every name that a scope ever bound.
    pub fn names_of(&self, scope: ScopeId) -> Vec<&'s str> {
        let mut names: Vec<_> = self.scopes[scope].all.keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// Binds a name to a value in a scope (through `global` and `nonlocal`), and gives the new cell.
    pub fn bind_in(&mut self, scope: ScopeId, name: &'s str, value: Option<ExprId>) -> CellId {
        let target = self.scopes[scope].redirected.get(name).copied().unwrap_or(scope);
        let cell = self.program.cells.len() as CellId;
        self.program.cells.push(Cell {
            name: name.to_owned(),
            values: value.into_iter().collect(),
            from: Vec::new(),
        });
        self.set(target, name, cell);
        cell
    }

    /// Binds a name in the current scope.
    pub fn bind(&mut self, name: &'s str, value: ExprId) -> CellId {
        self.bind_in(self.scope, name, Some(value))
    }

    fn set(&mut self, scope: ScopeId, name: &'s str, cell: CellId) {
        let target = &mut self.scopes[scope];
        let old = target.now.insert(name, cell);
        self.log.push((scope, name, old));
        target.all.entry(name).or_default().push(cell);
        if let Some(&late) = target.late.get(name) {
            self.program.cells[late as usize].from.push(cell);
        }
    }

    /// Removes a name's current binding (`del`); what runs later still sees the earlier ones if nothing rebinds it.
    pub fn unbind(&mut self, name: &'s str) {
        let scope = self.scopes[self.scope].redirected.get(name).copied().unwrap_or(self.scope);
        let target = &mut self.scopes[scope];
        let old = target.now.remove(name);
        self.log.push((scope, name, old));
    }

    /// The scope that a name belongs to, from the current scope upward: the one that declares or
    /// binds it. Class bodies are not looked into.
    pub fn owner(&self, name: &str) -> Option<ScopeId> {
        let mut at = Some(self.scope);
        while let Some(id) = at {
            let scope = &self.scopes[id];
            if scope.kind != ScopeKind::Class && (scope.locals.contains(name) || scope.all.contains_key(name))
            {
                return Some(id);
            }
            at = scope.parent;
        }
        None
    }

    /// Looks a name up from the current scope.
    pub fn lookup(&mut self, name: &'s str) -> Lookup {
        let mut at = self.scope;
        let mut same_code = true;
        loop {
            if let Some(&target) = self.scopes[at].redirected.get(name) {
                return self.late(target, name).map_or(Lookup::Unbound, Lookup::Cell);
            }
            let scope = &self.scopes[at];
            let known = match scope.kind {
                ScopeKind::Function => scope.locals.contains(name) || scope.all.contains_key(name),
                ScopeKind::Class => same_code && scope.now.contains_key(name),
                // What a function will bind (`global`) is the module's too.
                ScopeKind::Module | ScopeKind::Block => {
                    scope.all.contains_key(name) || scope.shared.contains(name)
                }
            };
            if known {
                if same_code && !scope.shared.contains(name) {
                    if let Some(&cell) = scope.now.get(name) {
                        return Lookup::Cell(cell);
                    }
                    // Deleted, or not bound yet on this path.
                    if scope.kind == ScopeKind::Function || scope.kind == ScopeKind::Block {
                        return Lookup::Unbound;
                    }
                } else if let Some(cell) = self.late(at, name) {
                    return Lookup::Cell(cell);
                } else {
                    return Lookup::Unbound;
                }
            }
            let kind = self.scopes[at].kind;
            let Some(parent) = self.scopes[at].parent else { return Lookup::Free };
            if kind == ScopeKind::Function {
                same_code = false;
            }
            at = parent;
        }
    }

    /// The cell that later code reads for a name of `scope`.
    pub fn late(&mut self, scope: ScopeId, name: &'s str) -> Option<CellId> {
        if let Some(&cell) = self.scopes[scope].late.get(name) {
            return Some(cell);
        }
        let target = &self.scopes[scope];
        let from = match (target.all.get(name), target.kind, target.now.get(name)) {
            // A module's functions run after it: the last bindings count.
            (Some(_), ScopeKind::Module, Some(&cell)) if !target.shared.contains(name) => vec![cell],
            (Some(all), ..) => all.clone(),
            // What binds it is still to come.
            (None, ..) if target.shared.contains(name) => Vec::new(),
            (None, ..) => return None,
        };
        let cell = self.program.cells.len() as CellId;
        self.program.cells.push(Cell { name: name.to_owned(), values: Vec::new(), from });
        self.scopes[scope].late.insert(name, cell);
        Some(cell)
    }

    /// Starts a branch of the current code.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Ends a branch: takes back what it bound since `mark`, and says what that was.
    pub fn rollback(&mut self, mark: usize) -> Bindings<'s> {
        let mut seen = FxHashSet::default();
        let mut bound = Vec::new();
        for (scope, name, _) in &self.log[mark..] {
            if seen.insert((*scope, *name)) {
                bound.push(((*scope, *name), self.scopes[*scope].now.get(name).copied()));
            }
        }
        for (scope, name, old) in self.log.drain(mark..).rev() {
            let now = &mut self.scopes[scope].now;
            match old {
                Some(old) => now.insert(name, old),
                None => now.remove(name),
            };
        }
        bound.sort_unstable_by_key(|(name, _)| *name);
        bound
    }

    /// Merges branches that can reach this point. `with_skip`: the state before the
    /// branches can reach it too (an `if` without `else`, a loop).
    pub fn join(&mut self, branches: &[Bindings<'s>], with_skip: bool) {
        let mut names: Vec<(ScopeId, &'s str)> = branches.iter().flatten().map(|(n, _)| *n).collect();
        names.sort_unstable();
        names.dedup();
        for (scope, name) in names {
            let before = self.scopes[scope].now.get(name).copied();
            let mut cells: Vec<CellId> = Vec::new();
            for branch in branches {
                let at_end = match branch.binary_search_by_key(&(scope, name), |(n, _)| *n) {
                    Ok(at) => branch[at].1,
                    Err(_) => before,
                };
                cells.extend(at_end);
            }
            if with_skip {
                cells.extend(before);
            }
            cells.sort_unstable();
            cells.dedup();
            match cells.as_slice() {
                [] => {
                    let old = self.scopes[scope].now.remove(name);
                    self.log.push((scope, name, old));
                }
                [one] => {
                    let old = self.scopes[scope].now.insert(name, *one);
                    self.log.push((scope, name, old));
                }
                _ => {
                    let cell = self.program.cells.len() as CellId;
                    self.program.cells.push(Cell { name: name.to_owned(), values: Vec::new(), from: cells });
                    self.set(scope, name, cell);
                }
            }
        }
    }

    /// Before a loop: gives each name that the body binds a cell that the end of the body can feed.
    pub fn open_loop(&mut self, names: &[&'s str]) -> Vec<Looped<'s>> {
        let scope = self.scope;
        let names: Vec<(ScopeId, &'s str)> = names
            .iter()
            .filter(|name| !self.scopes[scope].redirected.contains_key(*name))
            .map(|name| (scope, *name))
            .collect();
        self.open_loop_at(&names)
    }

    /// [`Builder::open_loop`] for names that belong to different scopes.
    pub fn open_loop_at(&mut self, names: &[(ScopeId, &'s str)]) -> Vec<Looped<'s>> {
        let mut open = Vec::new();
        for (scope, name) in names {
            let from: Vec<CellId> = self.scopes[*scope].now.get(name).copied().into_iter().collect();
            let cell = self.program.cells.len() as CellId;
            self.program.cells.push(Cell { name: (*name).to_owned(), values: Vec::new(), from });
            self.set(*scope, name, cell);
            open.push((*scope, *name, cell));
        }
        open
    }

    /// After a loop's body: feeds what reaches its end back to its start.
    pub fn close_loop(&mut self, open: &[Looped<'s>]) {
        for (scope, name, cell) in open {
            if let Some(&end) = self.scopes[*scope].now.get(name)
                && end != *cell
            {
                self.program.cells[*cell as usize].from.push(end);
            }
        }
    }

    /// Puts a guard in force below the present one; the caller restores [`Builder::guard`].
    pub fn push_guard(&mut self, kind: GuardKind) {
        let id = self.program.guards.len() as GuardId;
        self.program.guards.push(Guard { parent: self.guard, kind });
        self.guard = Some(id);
    }
}

/// A function without parameters, results or expressions yet.
pub fn function(name: &str, symbol: &str, span: Span, kind: FunctionKind) -> Function {
    Function {
        name: name.to_owned(),
        symbol: symbol.to_owned(),
        span,
        kind,
        class: None,
        parent: Some(0),
        params: Vec::new(),
        this: None,
        returns: Vec::new(),
        yields: Vec::new(),
        exprs: 0..0,
        test_only: false,
        is_async: false,
    }
}
