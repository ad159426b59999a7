//! What a file declares: imports, types with their methods, functions, variables, constants.

use tree_sitter::Node;

use super::lower::{Lowering, OWN_PACKAGE, Pending};
use crate::base::ir::{
    Call, CallKind, CellId, Class, ClassId, Expr, ExprId, FunctionKind, Import, ImportSite, Param, Slot,
    Spread, Store,
};
use crate::lang::builder::{ScopeId, ScopeKind, function};
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// `import "p"`, `import alias "p"`, `import . "p"`.
    pub(super) fn imports(&mut self, node: Node<'t>) {
        let mut stack = named_children(node);
        stack.reverse();
        while let Some(spec) = stack.pop() {
            if spec.kind() != "import_spec" {
                stack.extend(named_children(spec).into_iter().rev());
                continue;
            }
            let Some(path) = spec.child_by_field_name("path") else { continue };
            let text = self.slice(path);
            let module = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
            let span = Self::span(spec);
            let import = Import { module: module.to_owned(), name: None };
            self.builder.program.imports.push(ImportSite { import: import.clone(), span, function: 0 });
            let alias = spec.child_by_field_name("name");
            let name = match alias.map(|a| (a.kind(), self.slice(a))) {
                Some(("dot", _)) => {
                    self.dots.push(module.to_owned());
                    continue;
                }
                Some(("blank_identifier", _)) => continue,
                Some((_, alias)) => alias,
                None => package_name(module),
            };
            let value = self.builder.expr(Expr::Import(Box::new(import)), span);
            self.watch(name, span);
            self.builder.bind_in(0, name, Some(value));
        }
    }

    /// The types of a declaration, as classes.
    pub(super) fn types(&mut self, node: Node<'t>) {
        for spec in named_children(node) {
            let Some(name) = spec.child_by_field_name("name") else { continue };
            let name_text = self.slice(name);
            self.watch(name_text, Self::span(name));
            let span = Self::span(spec);
            if spec.kind() == "type_alias" {
                if let Some(target) = spec.child_by_field_name("type")
                    && let Some(value) = self.type_value(target)
                {
                    self.declare(self.builder.scope, name_text, Some(value));
                }
                continue;
            }
            let id = self.add_class(name_text, span);
            if self.builder.scope == 0 {
                self.classes.insert(name_text, id);
            }
            let value = self.builder.expr(Expr::Class(id), span);
            self.declare(self.builder.scope, name_text, Some(value));
            if let Some(definition) = spec.child_by_field_name("type") {
                self.embedded(definition, id);
            }
        }
    }

    fn add_class(&mut self, name: &str, span: crate::base::span::Span) -> ClassId {
        self.builder.program.classes.push(Class {
            name: name.to_owned(),
            symbol: name.to_owned(),
            span,
            bases: Vec::new(),
            members: Vec::new(),
            decorators: Vec::new(),
            fields: Vec::new(),
            meta: None,
        });
        (self.builder.program.classes.len() - 1) as ClassId
    }

    /// Embedded fields lend their methods, as base classes do.
    fn embedded(&mut self, definition: Node<'t>, class: ClassId) {
        if definition.kind() != "struct_type" {
            return;
        }
        for list in named_children(definition) {
            for field in named_children(list) {
                // What a field with a tag holds may come from outside.
                if field.child_by_field_name("tag").is_some_and(|tag| !self.slice(tag).contains("\"-\"")) {
                    let mut cursor = field.walk();
                    let names: Vec<Node<'t>> = field.children_by_field_name("name", &mut cursor).collect();
                    for name in names {
                        let value = self.unknown(name);
                        let member = (self.slice(name).to_owned(), value);
                        self.builder.program.classes[class as usize].members.push(member);
                    }
                }
                if field.kind() == "field_declaration"
                    && field.child_by_field_name("name").is_none()
                    && let Some(declared) = field.child_by_field_name("type")
                    && let Some(base) = self.type_value(declared)
                {
                    self.builder.program.classes[class as usize].bases.push(base);
                }
            }
        }
    }

    /// The class of the file that methods of a type belong to. A type of another file of the package
    /// gets a class here that inherits from it.
    fn class_of(&mut self, name: &'s str, node: Node<'t>) -> ClassId {
        if let Some(&id) = self.classes.get(name) {
            return id;
        }
        let span = Self::span(node);
        let id = self.add_class(name, span);
        let import = Import { module: OWN_PACKAGE.to_owned(), name: Some(name.to_owned()) };
        let declared = self.builder.expr(Expr::Import(Box::new(import)), span);
        self.builder.program.classes[id as usize].bases.push(declared);
        self.classes.insert(name, id);
        id
    }

    /// A type as a value, where it can have methods.
    pub(super) fn type_value(&mut self, node: Node<'t>) -> Option<ExprId> {
        let mut node = node;
        loop {
            match node.kind() {
                "pointer_type" | "parenthesized_type" | "parenthesized_expression" => {
                    node = named_children(node).first().copied()?;
                }
                "generic_type" => node = node.child_by_field_name("type")?,
                "unary_expression" => node = node.child_by_field_name("operand")?,
                "type_identifier" => return Some(self.name(node)),
                "qualified_type" => {
                    let package = node.child_by_field_name("package")?;
                    let name = node.child_by_field_name("name")?;
                    let base = self.name(package);
                    let name = self.slice(name).to_owned();
                    return Some(self.builder.expr(Expr::Attr { base, name }, Self::span(node)));
                }
                _ => return None,
            }
        }
    }

    /// Some value of a declared type.
    pub(super) fn instance_of(&mut self, declared: Node<'t>) -> Option<ExprId> {
        let callee = self.type_value(declared)?;
        if let Expr::External(path) = &self.builder.program.exprs[callee as usize].expr
            && path.starts_with("builtin.")
        {
            return None;
        }
        let call = Call { callee, args: Box::default(), kind: CallKind::New };
        Some(self.builder.expr(Expr::Call(call), Self::span(declared)))
    }

    /// `func name(…) { … }`.
    pub(super) fn function_declaration(&mut self, node: Node<'t>) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let text = self.slice(name);
        self.watch(text, Self::span(name));
        let value = self.function(node, text, text, FunctionKind::Plain, None);
        if text == "init" {
            // Runs when the package is loaded; no code can name it.
            let call = Call { callee: value, args: Box::default(), kind: CallKind::Plain };
            self.builder.expr(Expr::Call(call), Self::span(name));
        } else if text != "_" {
            self.declare(0, text, Some(value));
        }
    }

    /// `func (r *Type) name(…) { … }`.
    pub(super) fn method_declaration(&mut self, node: Node<'t>) {
        let (Some(name), Some(receiver)) =
            (node.child_by_field_name("name"), node.child_by_field_name("receiver"))
        else {
            return;
        };
        let text = self.slice(name);
        self.watch(text, Self::span(name));
        let Some(owner) = receiver_type(receiver) else { return };
        let owner_text = self.slice(owner);
        let is_local = self.classes.contains_key(owner_text);
        let class = self.class_of(owner_text, owner);
        let symbol = format!("{owner_text}.{text}");
        let value = self.function(node, text, &symbol, FunctionKind::Method, Some(class));
        self.builder.program.classes[class as usize].members.push((text.to_owned(), value));
        if !is_local || self.is_proxy(class) {
            // Whoever holds the type of the other file finds the method there too.
            if let Some(&base) = self.builder.program.classes[class as usize].bases.first() {
                let slot = Slot::Attr(text.to_owned());
                self.builder.program.stores.push(Store { base, slot, value });
            }
        }
    }

    fn is_proxy(&self, class: ClassId) -> bool {
        let class = &self.builder.program.classes[class as usize];
        class.bases.first().is_some_and(|base| {
            matches!(&self.builder.program.exprs[*base as usize].expr,
                Expr::Import(import) if import.module == OWN_PACKAGE && import.name.as_ref() == Some(&class.name))
        })
    }

    /// A function, to be lowered later.
    pub(super) fn function(
        &mut self,
        node: Node<'t>,
        name: &str,
        symbol: &str,
        kind: FunctionKind,
        class: Option<ClassId>,
    ) -> ExprId {
        let span = Self::span(node);
        let Some(body) = node.child_by_field_name("body") else { return self.unknown(node) };
        let scope = self.builder.push_scope(ScopeKind::Function, Some(self.builder.scope));
        let mut typed = Vec::new();
        let mut params = Vec::new();
        for field in ["receiver", "parameters"] {
            if let Some(list) = node.child_by_field_name(field) {
                self.parameters(list, scope, &mut params, &mut typed, field == "receiver");
            }
        }
        let mut results = Vec::new();
        if let Some(list) = node.child_by_field_name("result").filter(|r| r.kind() == "parameter_list") {
            for declaration in named_children(list) {
                let mut cursor = declaration.walk();
                let names: Vec<Node<'t>> = declaration.children_by_field_name("name", &mut cursor).collect();
                for name in names {
                    results.push(self.declare(scope, self.slice(name), None));
                }
            }
        }
        let mut definition = function(name, if symbol.is_empty() { "<module>" } else { symbol }, span, kind);
        definition.parent = Some(self.builder.function);
        definition.class = class;
        definition.params = params;
        definition.test_only = self.test_only;
        let id = self.builder.add_function(definition);
        self.pending.push_back(Pending {
            function: id,
            scope,
            body,
            typed,
            results,
            symbol: symbol.to_owned(),
            class: class.or(self.class),
        });
        self.builder.expr(Expr::Func(id), span)
    }

    fn parameters(
        &mut self,
        list: Node<'t>,
        scope: ScopeId,
        params: &mut Vec<Param>,
        typed: &mut Vec<(Node<'t>, CellId)>,
        is_receiver: bool,
    ) {
        for declaration in named_children(list) {
            let is_rest = declaration.kind() == "variadic_parameter_declaration";
            let spread = if is_rest { Spread::Sequence } else { Spread::No };
            let mut cursor = declaration.walk();
            let names: Vec<Node<'t>> = declaration.children_by_field_name("name", &mut cursor).collect();
            let declared = declaration.child_by_field_name("type").filter(|_| !is_rest && !is_receiver);
            if names.is_empty() {
                let cell = self.builder.bind_in(scope, "_", None);
                params.push(Param { name: String::new(), cell, spread, keyword_only: false });
            }
            for name in names {
                let text = self.slice(name);
                let cell = self.declare(scope, text, None);
                typed.extend(declared.map(|declared| (declared, cell)));
                params.push(Param { name: text.to_owned(), cell, spread, keyword_only: false });
            }
        }
    }

    /// `var a, b T = x, y` and `const …`, of the package or of a block.
    pub(super) fn variables(&mut self, node: Node<'t>) {
        let mut stack = named_children(node);
        stack.reverse();
        while let Some(spec) = stack.pop() {
            if !matches!(spec.kind(), "var_spec" | "const_spec") {
                stack.extend(named_children(spec).into_iter().rev());
                continue;
            }
            let mut cursor = spec.walk();
            let names: Vec<Node<'t>> = spec
                .children_by_field_name("name", &mut cursor)
                .filter(|n| n.kind() == "identifier")
                .collect();
            let values = spec.child_by_field_name("value").map(named_children).unwrap_or_default();
            let declared = spec.child_by_field_name("type");
            let lowered = self.values(&values, names.len());
            for (at, name) in names.into_iter().enumerate() {
                let text = self.slice(name);
                self.watch(text, Self::span(name));
                // The value decides; the type helps where there is none yet.
                let value = match lowered.get(at) {
                    Some(value) => Some(*value),
                    None => declared
                        .filter(|declared| !holds_package(*declared))
                        .and_then(|declared| self.instance_of(declared)),
                };
                self.declare(self.builder.scope, text, value);
            }
        }
    }

    /// The values of a list for a number of targets: one call can give several.
    pub(super) fn values(&mut self, values: &[Node<'t>], targets: usize) -> Vec<ExprId> {
        match values {
            [only] if targets > 1 => {
                let value = self.expression(*only);
                let span = Self::span(*only);
                (0..targets as u32).map(|at| self.builder.expr(Expr::Item(value, at), span)).collect()
            }
            _ => values.iter().map(|value| self.expression(*value)).collect(),
        }
    }
}

/// The name of a package by its path: the last part, versions aside.
fn package_name(path: &str) -> &str {
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    let is_version =
        last.strip_prefix('v').is_some_and(|v| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit()));
    let name = if is_version { parts.next().unwrap_or(last) } else { last };
    match name.rsplit_once(".v") {
        Some((name, version)) if version.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => name,
    }
}

/// Whether a type is of another package: what a variable of it holds is told by what is assigned.
fn holds_package(declared: Node<'_>) -> bool {
    let mut node = declared;
    while node.kind() == "pointer_type" {
        match named_children(node).first() {
            Some(inner) => node = *inner,
            None => break,
        }
    }
    node.kind() == "qualified_type"
}

/// The name of a receiver's type.
fn receiver_type(receiver: Node<'_>) -> Option<Node<'_>> {
    let mut node = named_children(receiver).first()?.child_by_field_name("type")?;
    loop {
        match node.kind() {
            "type_identifier" => return Some(node),
            "generic_type" => node = node.child_by_field_name("type")?,
            "pointer_type" | "parenthesized_type" => node = named_children(node).first().copied()?,
            _ => return None,
        }
    }
}
