//! Imports and exports, as ES modules, CommonJS and TypeScript write them.

use tree_sitter::Node;

use super::bindings;
use super::lower::{Lowering, WHOLE};
use crate::base::ir::{Expr, ExprId, Import};
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// Makes the object of `module.exports`, if the text has one.
    pub(super) fn open_exports(&mut self) {
        if memchr::memmem::find(self.text.as_bytes(), b"exports").is_none() {
            return;
        }
        let object = self.builder.expr(Expr::Map(Vec::new()), crate::base::span::Span::new(0, 0));
        self.whole = Some(self.cell(WHOLE, vec![object]));
    }

    /// The cell of `module.exports`, where an attribute of a value is it.
    pub(super) fn whole_module(&self, base: ExprId, name: &str) -> Option<u32> {
        if name != "exports" {
            return None;
        }
        match &self.builder.program.exprs[base as usize].expr {
            Expr::External(path) if path == "globalThis.module" => self.whole,
            _ => None,
        }
    }

    /// Exports a value under a name.
    pub(super) fn export(&mut self, name: &str, value: ExprId) {
        if name == WHOLE {
            if let Some(whole) = self.whole {
                self.builder.program.cells[whole as usize].values.push(value);
                self.exports.insert(WHOLE.to_owned(), whole);
            }
            self.export_entries(value);
            return;
        }
        match self.exports.get(name).copied() {
            Some(cell) => self.builder.program.cells[cell as usize].values.push(value),
            None => {
                let cell = self.cell(name, vec![value]);
                self.exports.insert(name.to_owned(), cell);
            }
        }
    }

    /// `module.exports = { a, b: c, ...require("./d") }`: the entries are exports of their own.
    fn export_entries(&mut self, value: ExprId) {
        let Expr::Map(entries) = &self.builder.program.exprs[value as usize].expr else { return };
        for (key, value) in entries.clone() {
            let exprs = &self.builder.program.exprs;
            match key.map(|key| &exprs[key as usize].expr) {
                Some(Expr::Str(name)) => {
                    let name = name.clone();
                    self.export(&name, value);
                }
                None => {
                    if let Expr::Import(import) = &exprs[value as usize].expr
                        && import.name.is_none()
                    {
                        let module = import.module.clone();
                        self.builder.program.stars.push(module);
                    }
                }
                _ => {}
            }
        }
    }

    /// `exports.name = value`, `module.exports.name = value`.
    pub(super) fn exported_target(&mut self, target: Node<'t>, value: ExprId) {
        if self.whole.is_none() || target.kind() != "member_expression" {
            return;
        }
        let (Some(object), Some(property)) =
            (target.child_by_field_name("object"), target.child_by_field_name("property"))
        else {
            return;
        };
        let head = match self.slice(object) {
            "exports" => "exports",
            "module.exports" => "module",
            _ => return,
        };
        if self.is_free(head) {
            let name = self.slice(property);
            self.export(name, value);
            if let Some(whole) = self.whole {
                self.exports.insert(WHOLE.to_owned(), whole);
            }
        }
    }

    /// `import … from "m"`.
    pub(super) fn import_statement(&mut self, node: Node<'t>) {
        let span = Self::span(node);
        if self.is_type_only(node) {
            return;
        }
        for clause in named_children(node).into_iter().filter(|c| c.kind() == "import_require_clause") {
            // TypeScript's `import x = require("m")`.
            let Some(module) = clause.child_by_field_name("source").map(|s| self.specifier(s)) else {
                continue;
            };
            let Some(name) = named_children(clause).first().copied() else { continue };
            let value = self.import(Import { module, name: None }, span);
            self.watch(self.slice(name), Self::span(name));
            self.builder.bind(self.slice(name), value);
        }
        let Some(source) = node.child_by_field_name("source") else { return };
        let module = self.specifier(source);
        let mut names = 0;
        for clause in named_children(node).into_iter().filter(|c| c.kind() == "import_clause") {
            for part in named_children(clause) {
                names += 1;
                match part.kind() {
                    "identifier" => self.import_name(part, part, &module, Some("default"), node),
                    "namespace_import" => {
                        if let Some(name) = named_children(part).first() {
                            self.import_name(*name, part, &module, None, node);
                        }
                    }
                    "named_imports" => self.named_imports(part, &module, node),
                    _ => {}
                }
            }
        }
        if names == 0 {
            self.import(Import { module, name: None }, span);
        }
    }

    fn named_imports(&mut self, list: Node<'t>, module: &str, statement: Node<'t>) {
        for specifier in named_children(list) {
            let Some(name) = specifier.child_by_field_name("name") else { continue };
            if specifier.child(0).is_some_and(|c| matches!(c.kind(), "type" | "typeof")) {
                continue;
            }
            let imported = self.export_name(name);
            self.watch(&imported, Self::span(name));
            let alias = specifier.child_by_field_name("alias").unwrap_or(name);
            self.import_name(alias, specifier, module, Some(&imported), statement);
        }
    }

    fn import_name(
        &mut self,
        local: Node<'t>,
        part: Node<'t>,
        module: &str,
        name: Option<&str>,
        statement: Node<'t>,
    ) {
        let import = Import { module: module.to_owned(), name: name.map(str::to_owned) };
        let value = self.import(import, Self::span(statement));
        self.builder.program.exprs[value as usize].span = Self::span(part);
        self.watch(self.slice(local), Self::span(local));
        self.builder.bind_in(0, self.slice(local), Some(value));
    }

    /// `import type …`: names that no code can call.
    fn is_type_only(&self, node: Node<'t>) -> bool {
        node.child(1).is_some_and(|c| matches!(c.kind(), "type" | "typeof"))
    }

    /// `export …` in every form.
    pub(super) fn export_statement(&mut self, node: Node<'t>) {
        if self.is_type_only(node) {
            return;
        }
        let decorators: Vec<Node<'t>> =
            named_children(node).into_iter().filter(|c| c.kind() == "decorator").collect();
        if let Some(declaration) = node.child_by_field_name("declaration") {
            self.exported_declaration(node, declaration, &decorators);
            return;
        }
        if let Some(value) = node.child_by_field_name("value") {
            let value = self.named_value(value, Some("default"));
            self.export("default", value);
            return;
        }
        let source = node.child_by_field_name("source").map(|s| self.specifier(s));
        let children = named_children(node);
        for child in &children {
            match (child.kind(), &source) {
                ("export_clause", source) => self.export_clause(*child, source.as_deref(), node),
                ("namespace_export", Some(module)) => {
                    if let Some(name) = named_children(*child).first() {
                        let exported = self.export_name(*name);
                        let import = Import { module: module.clone(), name: None };
                        let value = self.import(import, Self::span(node));
                        self.export(&exported, value);
                    }
                }
                _ => {}
            }
        }
        let is_star = children.iter().all(|c| !matches!(c.kind(), "export_clause" | "namespace_export"));
        match source {
            Some(module) if is_star => {
                self.import(Import { module: module.clone(), name: None }, Self::span(node));
                self.builder.program.stars.push(module);
            }
            // TypeScript's `export = value`.
            None if is_star => {
                if let Some(value) = children.first().copied() {
                    let value = self.expression(value);
                    if self.whole.is_none() {
                        self.whole = Some(self.cell(WHOLE, Vec::new()));
                    }
                    self.export(WHOLE, value);
                }
            }
            _ => {}
        }
    }

    fn exported_declaration(&mut self, node: Node<'t>, declaration: Node<'t>, decorators: &[Node<'t>]) {
        let is_default = {
            let mut cursor = node.walk();
            node.children(&mut cursor).any(|c| c.kind() == "default")
        };
        let named = declaration.child_by_field_name("name");
        if is_default && named.is_none() {
            let value = match declaration.kind() {
                "class_declaration" | "class" => self.class_value(declaration, "default"),
                _ => self.function_value(declaration, Some("default")),
            };
            self.export("default", value);
            return;
        }
        if declaration.kind().ends_with("class_declaration") && !decorators.is_empty() {
            let name = named.map_or("", |n| self.slice(n));
            let value = self.class_value(declaration, name);
            let value = self.decorate(decorators, value);
            self.builder.bind(name, value);
        } else {
            self.statement(declaration);
        }
        let mut names = Vec::new();
        match named {
            Some(name) => names.push(self.slice(name)),
            None => {
                for declarator in named_children(declaration) {
                    if let Some(name) = declarator.child_by_field_name("name") {
                        bindings::pattern_names(name, self.text, &mut names);
                    }
                }
            }
        }
        for name in names {
            let span = Self::span(declaration);
            self.export_local(name, if is_default { "default" } else { name }, span);
        }
    }

    fn export_clause(&mut self, clause: Node<'t>, source: Option<&str>, statement: Node<'t>) {
        for specifier in named_children(clause) {
            let Some(name) = specifier.child_by_field_name("name") else { continue };
            if specifier.child(0).is_some_and(|c| c.kind() == "type") {
                continue;
            }
            let local = self.export_name(name);
            let exported = match specifier.child_by_field_name("alias") {
                Some(alias) => self.export_name(alias),
                None => local.clone(),
            };
            self.watch(&local, Self::span(name));
            match source {
                Some(module) => {
                    let import = Import { module: module.to_owned(), name: Some(local) };
                    let value = self.import(import, Self::span(statement));
                    self.export(&exported, value);
                }
                None => self.late_exports.push((self.slice(name), exported, Self::span(specifier))),
            }
        }
    }

    /// Exports what a name of the module holds in the end.
    pub(super) fn export_local(&mut self, name: &'s str, exported: &str, span: crate::base::span::Span) {
        self.late_exports.push((name, exported.to_owned(), span));
    }

    /// Exports that wait for the module's end, since their names are bound by then.
    pub(super) fn close_exports(&mut self) {
        for (name, exported, span) in std::mem::take(&mut self.late_exports) {
            if let Some(cell) = self.builder.late(0, name) {
                let value = self.builder.expr(Expr::Cell(cell), span);
                self.export(&exported, value);
            }
        }
    }

    /// A module's name: the content of the string.
    fn specifier(&self, node: Node<'t>) -> String {
        let text = self.slice(node);
        super::literal::unescape(text.get(1..text.len().saturating_sub(1)).unwrap_or(""))
    }

    /// A name in an export or import list; a string can stand for one.
    fn export_name(&self, node: Node<'t>) -> String {
        if node.kind() == "string" { self.specifier(node) } else { self.slice(node).to_owned() }
    }
}
