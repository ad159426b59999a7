//! Calls: `require` and `import()`, tagged templates, `call`, `apply` and `bind`, promises'
//! handlers, and functions that arrays call with their elements.

use tree_sitter::Node;

use super::lower::{Lowering, WHOLE};
use crate::base::ir::{Arg, Call, CallKind, Expr, ExprId, Import, ImportSite, Spread};
use crate::base::span::Span;
use crate::lang::syntax::named_children;

/// Functions that compilers put around an imported module.
const INTEROP: [&str; 9] = [
    "__toESM",
    "__importDefault",
    "__importStar",
    "_interopRequireDefault",
    "_interopRequireWildcard",
    "_interopDefault",
    "_interopNamespace",
    "_interopDefaultLegacy",
    "_interopNamespaceDefault",
];

/// Methods of an array that call their first argument with each element.
const EACH: [&str; 9] =
    ["forEach", "map", "filter", "some", "every", "find", "findIndex", "flatMap", "reduce"];

impl<'s, 't> Lowering<'s, 't> {
    /// A call expression whose callee was lowered.
    pub(super) fn call(&mut self, node: Node<'t>, callee: ExprId) -> ExprId {
        let span = Self::span(node);
        let Some(arguments) = node.child_by_field_name("arguments") else { return self.unknown(node) };
        if arguments.kind() == "template_string" {
            return self.tagged(span, callee, arguments);
        }
        let function = node.child_by_field_name("function");
        if let Some(function) = function
            && let Some(imported) = self.import_call(node, function, arguments)
        {
            return imported;
        }
        let args = self.arguments(arguments);
        if let Some(function) = function
            && INTEROP.contains(&self.slice(function).rsplit('.').next().unwrap_or(""))
            && let Some(first) = args.first()
        {
            return self.builder.expr(Expr::Same(first.value), span);
        }
        // `super(…)` runs the parent's constructor.
        let callee = match &self.builder.program.exprs[callee as usize].expr {
            Expr::Super(_) => {
                self.builder.expr(Expr::Attr { base: callee, name: "constructor".to_owned() }, span)
            }
            _ => callee,
        };
        self.defined_property(callee, &args);
        let method = match &self.builder.program.exprs[callee as usize].expr {
            Expr::Attr { base, name } => Some((*base, name.clone())),
            _ => None,
        };
        let plain = Call { callee, args: args.clone().into(), kind: CallKind::Plain };
        let value = self.builder.expr(Expr::Call(plain), span);
        match method {
            Some((base, name)) => self.method_call(span, base, &name, &args, value),
            None => value,
        }
    }

    /// What well-known methods do beside being called.
    fn method_call(&mut self, span: Span, base: ExprId, name: &str, args: &[Arg], value: ExprId) -> ExprId {
        match (name, args) {
            ("call", [_, rest @ ..]) => {
                let call = Call { callee: base, args: rest.into(), kind: CallKind::Plain };
                let through = self.builder.expr(Expr::Call(call), span);
                self.builder.expr(Expr::Union(vec![value, through]), span)
            }
            ("apply", [_, list]) => {
                let mut list = vec![Arg { value: list.value, name: None, spread: Spread::Sequence }];
                if let Expr::Seq(items) = &self.builder.program.exprs[list[0].value as usize].expr {
                    list = items.iter().map(|(v, s)| Arg { value: *v, name: None, spread: *s }).collect();
                }
                let call = Call { callee: base, args: list.into(), kind: CallKind::Plain };
                let through = self.builder.expr(Expr::Call(call), span);
                self.builder.expr(Expr::Union(vec![value, through]), span)
            }
            ("bind", [_, rest @ ..]) => {
                let bind = self.builder.expr(Expr::External("bind".to_owned()), span);
                let mut given = vec![Arg::positional(base)];
                given.extend(rest.iter().cloned());
                let call = Call { callee: bind, args: given.into(), kind: CallKind::Plain };
                let bound = self.builder.expr(Expr::Call(call), span);
                self.builder.expr(Expr::Union(vec![value, bound]), span)
            }
            // A promise calls its handlers; the first with what it was fulfilled with.
            ("then" | "catch" | "finally", handlers) => {
                let mut results = vec![value];
                for (at, handler) in handlers.iter().enumerate().take(2) {
                    let place = self.builder.program.exprs[handler.value as usize].span;
                    let args = match (name, at) {
                        ("then", 0) => vec![Arg::positional(base)],
                        _ => Vec::new(),
                    };
                    let call = Call { callee: handler.value, args: args.into(), kind: CallKind::Plain };
                    results.push(self.builder.expr(Expr::Call(call), place));
                }
                if name != "then" {
                    results.push(base);
                }
                self.builder.expr(Expr::Union(results), span)
            }
            (_, [first, ..]) if EACH.contains(&name) => {
                if let Expr::Func(function) = self.builder.program.exprs[first.value as usize].expr {
                    let position = usize::from(name == "reduce");
                    let params = &self.builder.program.functions[function as usize].params;
                    if let Some(cell) = params.get(position).map(|p| p.cell) {
                        let element = self.builder.expr(Expr::Element(base), span);
                        self.builder.program.cells[cell as usize].values.push(element);
                    }
                }
                value
            }
            _ => value,
        }
    }

    /// The arguments of a call.
    pub(super) fn arguments(&mut self, node: Node<'t>) -> Vec<Arg> {
        let mut args = Vec::new();
        for child in named_children(node) {
            let spread = if child.kind() == "spread_element" { Spread::Sequence } else { Spread::No };
            args.push(Arg { value: self.expression(child), name: None, spread });
        }
        args
    }

    /// A tagged template: the tag is called, and the catalogue knows it as `tag[template]`.
    fn tagged(&mut self, span: Span, tag: ExprId, template: Node<'t>) -> ExprId {
        let text = self.template(template);
        let args = vec![Arg::positional(text)];
        let plain = Call { callee: tag, args: args.clone().into(), kind: CallKind::Plain };
        let value = self.builder.expr(Expr::Call(plain), span);
        let key = self.builder.expr(Expr::Str("template".to_owned()), span);
        let callee = self.builder.expr(Expr::Index { base: tag, key }, span);
        let shell = Call { callee, args: args.into(), kind: CallKind::Plain };
        self.builder.expr(Expr::Call(shell), span);
        value
    }

    /// `require("x")`, `import("x")`: the module, if its name is a constant.
    fn import_call(&mut self, node: Node<'t>, function: Node<'t>, arguments: Node<'t>) -> Option<ExprId> {
        let is_import = match function.kind() {
            "import" => true,
            "identifier" => self.slice(function) == "require" && self.is_require(),
            "member_expression" => {
                let text: String = self.slice(function).split_whitespace().collect();
                matches!(
                    text.as_str(),
                    "module.require"
                        | "globalThis.require"
                        | "global.require"
                        | "process.mainModule.require"
                        | "require.main.require"
                        | "process.getBuiltinModule"
                        | "globalThis.process.getBuiltinModule"
                )
            }
            _ => false,
        };
        if !is_import {
            return None;
        }
        let first = named_children(arguments).first().copied()?;
        let specifier = self.expression(first);
        let span = Self::span(node);
        match &self.builder.program.exprs[specifier as usize].expr {
            Expr::Str(module) => {
                let import = Import { module: module.clone(), name: None };
                Some(self.import(import, span))
            }
            _ => None,
        }
    }

    /// Whether `require` is Node's, or one that `createRequire` made: not a parameter of that name.
    fn is_require(&mut self) -> bool {
        match self.builder.lookup("require") {
            crate::lang::builder::Lookup::Cell(cell) => {
                let program = &self.builder.program;
                let mut cells = vec![cell];
                let mut read = 0;
                while let Some(at) = cells.get(read).copied() {
                    read += 1;
                    let cell = &program.cells[at as usize];
                    if cell.values.iter().any(|v| matches!(program.exprs[*v as usize].expr, Expr::Call(_))) {
                        return true;
                    }
                    cells.extend(cell.from.iter().copied().take(16usize.saturating_sub(read)));
                }
                false
            }
            crate::lang::builder::Lookup::Unbound => false,
            crate::lang::builder::Lookup::Free => self.is_free("require"),
        }
    }

    /// An imported thing as a value, recorded for the import graph.
    pub(super) fn import(&mut self, import: Import, span: Span) -> ExprId {
        let function = self.builder.function;
        self.builder.program.imports.push(ImportSite { import: import.clone(), span, function });
        self.builder.expr(Expr::Import(Box::new(import)), span)
    }

    /// `Object.defineProperty(exports, "name", { get })`, as compilers write a re-export; and
    /// `Object.assign(exports, …)`.
    fn defined_property(&mut self, callee: ExprId, args: &[Arg]) {
        let exprs = &self.builder.program.exprs;
        let Expr::Attr { base, name } = &exprs[callee as usize].expr else { return };
        if !matches!(&exprs[*base as usize].expr, Expr::External(path) if path == "globalThis.Object") {
            return;
        }
        let (Some(target), Some(whole)) = (args.first(), self.whole) else { return };
        if !matches!(exprs[target.value as usize].expr, Expr::Cell(cell) if cell == whole) {
            return;
        }
        match (name.as_str(), args) {
            ("defineProperty", [_, key, descriptor, ..]) => {
                let Expr::Str(exported) = &exprs[key.value as usize].expr else { return };
                let Expr::Map(entries) = &exprs[descriptor.value as usize].expr else { return };
                let found =
                    entries.iter().find_map(|(entry, value)| match entry.map(|e| &exprs[e as usize].expr) {
                        Some(Expr::Str(key)) if key == "get" || key == "value" => {
                            Some((key == "get", *value))
                        }
                        _ => None,
                    });
                let (exported, span) = (exported.clone(), exprs[descriptor.value as usize].span);
                let Some((is_getter, value)) = found else { return };
                let value = if is_getter {
                    let call = Call { callee: value, args: Box::default(), kind: CallKind::Plain };
                    self.builder.expr(Expr::Call(call), span)
                } else {
                    value
                };
                self.export(&exported, value);
            }
            ("assign", [_, sources @ ..]) => {
                for source in sources {
                    self.export(WHOLE, source.value);
                }
            }
            _ => {}
        }
    }
}
