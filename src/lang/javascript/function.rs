//! Functions: values, parameters, bodies.

use tree_sitter::Node;

use super::bindings;
use super::lower::{Body, Context, Lowering, Pending};
use crate::base::ir::{CellId, Expr, ExprId, FunctionKind, Param, Spread, Store};
use crate::lang::builder::{ScopeKind, function};
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// A function, arrow function or method as a value. `name`: what it is called by where it is not
    /// named itself.
    pub(super) fn function_value(&mut self, node: Node<'t>, name: Option<&str>) -> ExprId {
        let own =
            node.child_by_field_name("name").filter(|n| n.kind() == "identifier").map(|n| self.slice(n));
        if let Some(name_node) = node.child_by_field_name("name").filter(|n| n.kind() == "identifier") {
            self.watch(self.slice(name_node), Self::span(name_node));
        }
        let name = own.or(name).unwrap_or("");
        // A function expression sees itself by its name.
        let outer = match own {
            Some(own) if !node.kind().ends_with("declaration") => self.open_block(vec![own]),
            _ => self.builder.scope,
        };
        let value = self.function_in(node, name, FunctionKind::Plain, self.context.clone());
        if self.builder.scope != outer {
            if let Some(own) = own {
                self.builder.bind(own, value);
            }
            self.builder.scope = outer;
        }
        value
    }

    /// Adds a function, to be lowered later in the given surroundings.
    pub(super) fn function_in(
        &mut self,
        node: Node<'t>,
        name: &str,
        kind: FunctionKind,
        outer: Context,
    ) -> ExprId {
        let span = Self::span(node);
        let Some(body) = node.child_by_field_name("body") else { return self.unknown(node) };
        let symbol = match (name, outer.symbol.as_str()) {
            ("", "") => "<module>".to_owned(),
            ("", symbol) => symbol.to_owned(),
            (name, "") => name.to_owned(),
            (name, symbol) => format!("{symbol}.{name}"),
        };
        let scope = self.builder.push_scope(ScopeKind::Function, Some(self.builder.scope));
        let is_member = kind != FunctionKind::Plain;
        let this =
            if node.kind() == "arrow_function" { outer.this } else { Some(self.cell("this", Vec::new())) };
        let mut definition = function(name.rsplit('.').next().unwrap_or(name), &symbol, span, kind);
        definition.parent = Some(self.builder.function);
        definition.class = outer.class.filter(|_| is_member);
        definition.this = this.filter(|_| node.kind() != "arrow_function");
        definition.is_async = node.child(0).is_some_and(|c| c.kind() == "async");
        let mut parameters = Vec::new();
        definition.params = self.parameters(node, scope, &mut parameters);
        let id = self.builder.add_function(definition);
        let mut names = bindings::var_names(body, self.text);
        if body.kind() == "statement_block" {
            names.extend(bindings::lexical_names(body, self.text));
        }
        self.declare(scope, names);
        let context = Context {
            class: outer.class,
            symbol: if symbol == "<module>" { String::new() } else { symbol },
            this,
        };
        self.pending.push_back(Pending {
            function: id,
            scope,
            body: Body::Function { parameters, body },
            context,
        });
        self.builder.expr(Expr::Func(id), span)
    }

    /// The parameters, bound in `scope`. Defaults and patterns wait for the body.
    fn parameters(
        &mut self,
        node: Node<'t>,
        scope: usize,
        waiting: &mut Vec<(Node<'t>, CellId)>,
    ) -> Vec<Param> {
        let mut nodes = Vec::new();
        if let Some(single) = node.child_by_field_name("parameter") {
            nodes.push(single);
        }
        if let Some(list) = node.child_by_field_name("parameters") {
            nodes.extend(named_children(list));
        }
        let mut params = Vec::new();
        for parameter in nodes {
            let mut pattern = parameter;
            if matches!(parameter.kind(), "required_parameter" | "optional_parameter") {
                match parameter.child_by_field_name("pattern") {
                    Some(inner) if inner.kind() != "this" => pattern = inner,
                    _ => continue,
                }
            }
            if pattern.kind() == "assignment_pattern"
                && let Some(left) = pattern.child_by_field_name("left")
            {
                pattern = left;
            }
            let spread = if pattern.kind() == "rest_pattern" { Spread::Sequence } else { Spread::No };
            if spread == Spread::Sequence
                && let Some(inner) = named_children(pattern).first()
            {
                pattern = *inner;
            }
            let name = if pattern.kind() == "identifier" { self.slice(pattern) } else { "" };
            let mut names = Vec::new();
            bindings::pattern_names(pattern, self.text, &mut names);
            self.declare(scope, names);
            let cell = if name.is_empty() {
                self.cell("", Vec::new())
            } else {
                self.builder.bind_in(scope, name, None)
            };
            waiting.push((parameter, cell));
            params.push(Param { name: name.to_owned(), cell, spread, keyword_only: false });
        }
        params
    }

    /// Lowers a function's body: defaults and patterns of its parameters, then its code.
    pub(super) fn function_body(&mut self, parameters: &[(Node<'t>, CellId)], body: Node<'t>) {
        for (parameter, cell) in parameters {
            self.parameter(*parameter, *cell);
        }
        if body.kind() == "statement_block" {
            self.statements(body);
        } else {
            let value = self.expression(body);
            let function = self.builder.function as usize;
            self.builder.program.functions[function].returns.push(value);
        }
    }

    fn parameter(&mut self, parameter: Node<'t>, cell: CellId) {
        let span = Self::span(parameter);
        let (mut pattern, mut default) = (parameter, None);
        let mut is_field = false;
        if matches!(parameter.kind(), "required_parameter" | "optional_parameter") {
            default = parameter.child_by_field_name("value");
            // `constructor(private x: X)` stores the parameter.
            is_field = named_children(parameter).iter().any(|c| c.kind() == "accessibility_modifier")
                || self.slice(parameter).starts_with("readonly ");
            match parameter.child_by_field_name("pattern") {
                Some(inner) => pattern = inner,
                None => return,
            }
        }
        if pattern.kind() == "assignment_pattern" {
            default = pattern.child_by_field_name("right");
            match pattern.child_by_field_name("left") {
                Some(left) => pattern = left,
                None => return,
            }
        }
        if pattern.kind() == "rest_pattern"
            && let Some(inner) = named_children(pattern).first()
        {
            pattern = *inner;
        }
        if let Some(default) = default {
            let value = self.named_value(default, None);
            self.builder.program.cells[cell as usize].values.push(value);
        }
        if pattern.kind() == "identifier" {
            self.watch(self.slice(pattern), Self::span(pattern));
            if is_field && let Some(this) = self.context.this {
                let base = self.builder.expr(Expr::Cell(this), span);
                let value = self.builder.expr(Expr::Cell(cell), span);
                let slot = crate::base::ir::Slot::Attr(self.slice(pattern).to_owned());
                self.builder.program.stores.push(Store { base, slot, value });
            }
        } else {
            let value = self.builder.expr(Expr::Cell(cell), span);
            let scope = self.builder.scope;
            self.assign(pattern, value, Some(scope));
        }
    }
}
