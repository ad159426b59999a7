//! Definitions: functions, classes, decorators and imports.

use super::bindings;
use super::lower::{Body, Lowering, Pending};
use super::tree::{Field, Kind, Node};
use crate::base::ir::{
    Arg, Call, CallKind, Class, Expr, ExprId, FunctionKind, Import, ImportSite, Slot, Store,
};
use crate::lang::builder::{ScopeId, ScopeKind, function};

impl<'s, 't> Lowering<'s, 't> {
    /// A definition with its decorators, innermost first.
    pub(super) fn decorated(&mut self, node: Node<'t>) {
        let Some(definition) = node.field(Field::Definition) else { return };
        let decorators: Vec<Node<'t>> = node.children().filter(|c| c.kind() == Kind::Decorator).collect();
        self.definition(definition, &decorators);
    }

    /// A function or class definition: binds its name.
    pub(super) fn definition(&mut self, node: Node<'t>, decorators: &[Node<'t>]) {
        let Some(name) = node.field(Field::Name) else { return };
        self.watch(self.slice(name), Self::span(name));
        // Decorator expressions are evaluated before the definition, from the top.
        let mut marks = Vec::new();
        let mut kind = FunctionKind::Plain;
        let mut setter = false;
        for decorator in decorators {
            let Some(inner) = decorator.children().next() else { continue };
            let value = self.expression(inner);
            match self.builtin_decorator(value) {
                Some("staticmethod") => kind = FunctionKind::Static,
                Some("classmethod") => kind = FunctionKind::ClassMethod,
                Some("property" | "cached_property") => kind = FunctionKind::Property,
                Some("setter") => setter = true,
                _ => marks.push((*decorator, value)),
            }
        }
        let value = if node.kind() == Kind::Class {
            self.class_definition(node, name)
        } else {
            self.function_definition(node, name, kind)
        };
        let Some(mut value) = value else { return };
        for (decorator, callee) in marks.into_iter().rev() {
            let call = Call { callee, args: Box::new([Arg::positional(value)]), kind: CallKind::Decorator };
            value = self.builder.expr(Expr::Call(call), Self::span(decorator));
        }
        if setter {
            // A setter runs on assignment: it lives beside the getter, under a name of its own.
            self.builder.bind_in(self.builder.scope, "=", Some(value));
            return;
        }
        self.builder.bind(self.slice(name), value);
    }

    /// The decorators that only say how a method is called.
    fn builtin_decorator(&self, value: ExprId) -> Option<&'static str> {
        let exprs = &self.builder.program.exprs;
        match &exprs[value as usize].expr {
            Expr::External(path) => match path.as_str() {
                "builtins.staticmethod" => Some("staticmethod"),
                "builtins.classmethod" => Some("classmethod"),
                "builtins.property" => Some("property"),
                _ => None,
            },
            Expr::Cell(cell) => {
                let cell = &self.builder.program.cells[*cell as usize];
                match cell.values.as_slice() {
                    [only] => match &exprs[*only as usize].expr {
                        Expr::Import(import) => match (import.module.as_str(), import.name.as_deref()?) {
                            ("functools" | "django.utils.functional", "cached_property")
                            | ("abc", "abstractproperty") => Some("cached_property"),
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                }
            }
            Expr::Attr { name, .. } => match name.as_str() {
                "setter" | "deleter" => Some("setter"),
                "cached_property" | "abstractproperty" | "getter" => Some("cached_property"),
                _ => None,
            },
            _ => None,
        }
    }

    fn function_definition(&mut self, node: Node<'t>, name: Node<'t>, kind: FunctionKind) -> Option<ExprId> {
        let body = node.field(Field::Body)?;
        let span = Self::span(node);
        let name_text = self.slice(name);
        let in_class = self.builder.scope_kind(self.builder.scope) == ScopeKind::Class;
        let symbol = if self.symbol.is_empty() {
            name_text.to_owned()
        } else {
            [&self.symbol, ".", name_text].concat()
        };
        let scope = self.builder.push_scope(ScopeKind::Function, Some(self.builder.scope));
        let params = match node.field(Field::Parameters) {
            Some(parameters) => self.parameters(parameters, scope),
            None => Vec::new(),
        };
        let kind = match kind {
            FunctionKind::Plain
                if in_class && matches!(name_text, "__new__" | "__init_subclass__" | "__class_getitem__") =>
            {
                FunctionKind::ClassMethod
            }
            FunctionKind::Plain if in_class => FunctionKind::Method,
            other => other,
        };
        let mut definition = function(name_text, &symbol, span, kind);
        definition.parent = Some(self.builder.function);
        definition.class = self.class.filter(|_| in_class);
        definition.params = params;
        definition.is_async = node.has(Kind::Async);
        let id = self.builder.add_function(definition);
        self.declare_locals(body, scope);
        self.pending.push_back(Pending {
            function: id,
            scope,
            body: Body::Block(body),
            definition: Some(node),
            class: self.class,
            symbol,
        });
        Some(self.builder.expr(Expr::Func(id), span))
    }

    /// Decides which names are the function's own, the module's, or an outer function's.
    fn declare_locals(&mut self, body: Node<'t>, scope: ScopeId) {
        let (globals, nonlocals) = bindings::declarations(body, self.text);
        for name in bindings::bound_names(body, self.text) {
            self.builder.scope_mut(scope).locals.insert(name);
        }
        for name in globals {
            self.builder.scope_mut(scope).locals.remove(name);
            self.builder.scope_mut(scope).redirected.insert(name, 0);
        }
        for name in nonlocals {
            self.builder.scope_mut(scope).locals.remove(name);
            let mut outer = self.builder.scope_parent(scope);
            while let Some(at) = outer {
                let is_function = self.builder.scope_kind(at) == ScopeKind::Function;
                if is_function && self.builder.scope_mut(at).locals.contains(name) {
                    self.builder.scope_mut(scope).redirected.insert(name, at);
                    self.builder.scope_mut(at).shared.insert(name);
                    break;
                }
                outer = self.builder.scope_parent(at);
            }
        }
    }

    fn class_definition(&mut self, node: Node<'t>, name: Node<'t>) -> Option<ExprId> {
        let body = node.field(Field::Body)?;
        let span = Self::span(node);
        let name_text = self.slice(name);
        let mut bases = Vec::new();
        let mut meta = None;
        if let Some(arguments) = node.field(Field::Superclasses) {
            for argument in arguments.children() {
                let value = self.expression(argument);
                if argument.kind() != Kind::KeywordArgument {
                    bases.push(value);
                } else if argument.field(Field::Name).is_some_and(|n| self.slice(n) == "metaclass") {
                    meta = Some(value);
                }
            }
        }
        let symbol = if self.symbol.is_empty() {
            name_text.to_owned()
        } else {
            [&self.symbol, ".", name_text].concat()
        };
        self.builder.program.classes.push(Class {
            name: name_text.to_owned(),
            symbol: symbol.clone(),
            span,
            bases,
            members: Vec::new(),
            decorators: Vec::new(),
            fields: Vec::new(),
            meta,
        });
        let id = (self.builder.program.classes.len() - 1) as u32;
        let outer = (self.builder.scope, self.class, std::mem::replace(&mut self.symbol, symbol));
        self.builder.scope = self.builder.push_scope(ScopeKind::Class, Some(outer.0));
        self.class = Some(id);
        self.deeper(body, |this| this.block(body));
        for (member, cell) in self.builder.bindings_now(self.builder.scope) {
            let value = self.builder.expr(Expr::Cell(cell), span);
            self.builder.program.classes[id as usize].members.push((member.to_owned(), value));
        }
        (self.builder.scope, self.class, self.symbol) = outer;
        Some(self.builder.expr(Expr::Class(id), span))
    }

    /// `import a.b`, `import a.b as c`.
    pub(super) fn import(&mut self, node: Node<'t>) {
        for child in node.children() {
            let span = Self::span(child);
            let (dotted, alias) = match child.kind() {
                Kind::AliasedImport => (child.field(Field::Name), child.field(Field::Alias)),
                _ => (Some(child), None),
            };
            let Some(dotted) = dotted else { continue };
            let module = self.dotted(dotted);
            self.record_import(Import { module: module.clone(), name: None }, node);
            match alias {
                Some(alias) => {
                    let value =
                        self.builder.expr(Expr::Import(Box::new(Import { module, name: None })), span);
                    self.builder.bind(self.slice(alias), value);
                }
                None => {
                    // `import a.b` binds `a`; the submodule is an attribute of it.
                    let Some(first) = dotted.children().next() else { continue };
                    let head = self.slice(first);
                    let value = self
                        .builder
                        .expr(Expr::Import(Box::new(Import { module: head.to_owned(), name: None })), span);
                    self.builder.bind(head, value);
                    if module != head {
                        self.submodule(value, &module, span);
                    }
                }
            }
        }
    }

    /// Makes `a.b.c` readable through the module `a`.
    fn submodule(&mut self, head: ExprId, module: &str, span: crate::base::span::Span) {
        let mut base = head;
        let mut path = String::new();
        for part in module.split('.') {
            if path.is_empty() {
                part.clone_into(&mut path);
                continue;
            }
            path.push('.');
            path.push_str(part);
            let import = Import { module: path.clone(), name: None };
            let value = self.builder.expr(Expr::Import(Box::new(import)), span);
            self.builder.program.stores.push(Store { base, slot: Slot::Attr(part.to_owned()), value });
            base = value;
        }
    }

    /// `from m import a as b, c`, `from m import *`.
    pub(super) fn import_from(&mut self, node: Node<'t>) {
        let Some(module_node) = node.field(Field::ModuleName) else { return };
        let module = self.dotted(module_node);
        for child in node.children() {
            if child.is(module_node) {
                continue;
            }
            let span = Self::span(child);
            if child.kind() == Kind::WildcardImport {
                self.stars.push(module.clone());
                self.record_import(Import { module: module.clone(), name: None }, node);
                continue;
            }
            let (name, alias) = match child.kind() {
                Kind::AliasedImport => (child.field(Field::Name), child.field(Field::Alias)),
                _ => (Some(child), None),
            };
            let Some(name) = name else { continue };
            let imported = self.slice(name);
            self.watch(imported, Self::span(name));
            let import = Import { module: module.clone(), name: Some(imported.to_owned()) };
            self.record_import(import.clone(), node);
            let value = self.builder.expr(Expr::Import(Box::new(import)), span);
            self.builder.bind(self.slice(alias.unwrap_or(name)), value);
        }
    }

    fn record_import(&mut self, import: Import, node: Node<'t>) {
        let function = self.builder.function;
        self.builder.program.imports.push(ImportSite { import, span: Self::span(node), function });
    }

    /// A dotted name without the white space that may stand in it.
    fn dotted(&self, node: Node<'t>) -> String {
        self.slice(node).chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
    }
}
