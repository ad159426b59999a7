//! Classes: members, fields, static blocks; and functions whose prototype makes them classes.

use tree_sitter::Node;

use super::lower::{Body, Context, Lowering, Pending};
use crate::base::ir::{Arg, Call, CallKind, Class, ClassId, Expr, ExprId, FunctionKind, Slot, Store};
use crate::lang::builder::{ScopeKind, function};
use crate::lang::syntax::named_children;

/// The member that sets an instance's fields; a name that no source can have by itself.
const FIELDS: &str = "__init__";

impl<'s, 't> Lowering<'s, 't> {
    /// A class as a value.
    pub(super) fn class_expression(&mut self, node: Node<'t>, name: Option<&str>) -> ExprId {
        let own = node.child_by_field_name("name").map(|n| self.slice(n));
        self.class_value(node, own.or(name).unwrap_or(""))
    }

    /// A class with its members.
    pub(super) fn class_value(&mut self, node: Node<'t>, name: &str) -> ExprId {
        let span = Self::span(node);
        if let Some(name_node) = node.child_by_field_name("name") {
            self.watch(self.slice(name_node), Self::span(name_node));
        }
        let mut bases = Vec::new();
        for heritage in named_children(node).into_iter().filter(|c| c.kind() == "class_heritage") {
            for base in named_children(heritage) {
                match base.kind() {
                    "extends_clause" => {
                        bases.extend(base.child_by_field_name("value").map(|value| self.expression(value)));
                    }
                    "implements_clause" => {}
                    _ => bases.push(self.expression(base)),
                }
            }
        }
        let derived = !bases.is_empty();
        let symbol = if name.is_empty() { self.context.symbol.clone() } else { self.qualified(name) };
        let id = self.add_class(name, &symbol, span, bases);
        let value = self.builder.expr(Expr::Class(id), span);
        let decorators: Vec<Node<'t>> =
            named_children(node).into_iter().filter(|c| c.kind() == "decorator").collect();
        if let Some(body) = node.child_by_field_name("body") {
            // The class's own code sees it by its name, before anything around does.
            let own = node.child_by_field_name("name").map(|n| self.slice(n));
            let outer = self.open_block(own.into_iter().collect());
            if let Some(own) = own {
                self.builder.bind(own, value);
            }
            self.deeper(body, |this| this.members(body, id, &symbol, value, derived));
            self.builder.scope = outer;
        }
        self.decorate(&decorators, value)
    }

    fn add_class(
        &mut self,
        name: &str,
        symbol: &str,
        span: crate::base::span::Span,
        bases: Vec<ExprId>,
    ) -> ClassId {
        self.builder.program.classes.push(Class {
            name: name.to_owned(),
            symbol: symbol.to_owned(),
            span,
            bases,
            members: Vec::new(),
            decorators: Vec::new(),
            fields: Vec::new(),
            meta: None,
        });
        (self.builder.program.classes.len() - 1) as ClassId
    }

    /// Applies decorators, the last first.
    pub(super) fn decorate(&mut self, decorators: &[Node<'t>], mut value: ExprId) -> ExprId {
        for decorator in decorators.iter().rev() {
            let Some(inner) = named_children(*decorator).first().copied() else { continue };
            let callee = self.expression(inner);
            let call = Call { callee, args: Box::new([Arg::positional(value)]), kind: CallKind::Decorator };
            value = self.builder.expr(Expr::Call(call), Self::span(*decorator));
        }
        value
    }

    fn members(&mut self, body: Node<'t>, class: ClassId, symbol: &str, value: ExprId, derived: bool) {
        let outer = self.context.clone();
        let static_this = self.cell("this", vec![value]);
        self.context = Context { class: Some(class), symbol: symbol.to_owned(), this: Some(static_this) };
        let mut fields = Vec::new();
        let mut decorators: Vec<Node<'t>> = Vec::new();
        for member in named_children(body) {
            match member.kind() {
                "decorator" => {
                    decorators.push(member);
                    continue;
                }
                "method_definition" => self.method(member, class, &decorators),
                "field_definition" | "public_field_definition" => {
                    let is_static = has_keyword(member, "static");
                    if is_static {
                        self.static_field(member, value);
                    } else if member.child_by_field_name("value").is_some() {
                        fields.push(member);
                    }
                }
                "class_static_block" => {
                    if let Some(block) = member.child_by_field_name("body") {
                        self.statement(block);
                    }
                }
                _ => {}
            }
            decorators.clear();
        }
        if !fields.is_empty() {
            self.fields(body, class, fields, derived);
        }
        self.context = outer;
    }

    fn method(&mut self, node: Node<'t>, class: ClassId, decorators: &[Node<'t>]) {
        let Some(key) = node.child_by_field_name("name") else { return };
        let (_, name) = self.property_key(key);
        let shown = name.clone().unwrap_or_else(|| "[computed]".to_owned());
        let is_static = has_keyword(node, "static");
        let getter = has_keyword(node, "get");
        let setter = has_keyword(node, "set");
        let kind = match (is_static, getter) {
            (true, _) => FunctionKind::ClassMethod,
            (false, true) => FunctionKind::Property,
            (false, false) => FunctionKind::Method,
        };
        let own: Vec<Node<'t>> = decorators
            .iter()
            .copied()
            .chain(named_children(node).into_iter().filter(|c| c.kind() == "decorator"))
            .collect();
        let function = self.function_in(node, &shown, kind, self.context.clone());
        let value = self.decorate(&own, function);
        let member = if setter { "=".to_owned() } else { shown };
        self.builder.program.classes[class as usize].members.push((member, value));
    }

    fn static_field(&mut self, member: Node<'t>, class: ExprId) {
        let Some(key) = member.child_by_field_name("property").or_else(|| member.child_by_field_name("name"))
        else {
            return;
        };
        let (_, name) = self.property_key(key);
        let Some(value) = member.child_by_field_name("value") else { return };
        let value = self.named_value(value, name.as_deref());
        if let Some(name) = name {
            self.builder.program.stores.push(Store { base: class, slot: Slot::Attr(name), value });
        }
    }

    /// The fields' values are computed whenever an instance is made: a function of its own.
    fn fields(&mut self, body: Node<'t>, class: ClassId, fields: Vec<Node<'t>>, derived: bool) {
        let span = Self::span(body);
        let this = self.cell("this", Vec::new());
        let symbol = self.symbol_or_module();
        let mut definition = function(FIELDS, &symbol, span, FunctionKind::Method);
        definition.parent = Some(self.builder.function);
        definition.class = Some(class);
        definition.this = Some(this);
        let id = self.builder.add_function(definition);
        let scope = self.builder.push_scope(ScopeKind::Function, Some(self.builder.scope));
        self.pending.push_back(Pending {
            function: id,
            scope,
            body: Body::Fields { fields, derived },
            context: Context { this: Some(this), ..self.context.clone() },
        });
        let value = self.builder.expr(Expr::Func(id), span);
        self.builder.program.classes[class as usize].members.push((FIELDS.to_owned(), value));
    }

    /// Lowers what [`Lowering::fields`] put off.
    pub(super) fn field_values(&mut self, fields: &[Node<'t>], derived: bool) {
        let (Some(this), Some(class)) = (self.context.this, self.context.class) else { return };
        for field in fields {
            let span = Self::span(*field);
            let Some(key) =
                field.child_by_field_name("property").or_else(|| field.child_by_field_name("name"))
            else {
                continue;
            };
            let (_, name) = self.property_key(key);
            let Some(value) = field.child_by_field_name("value") else { continue };
            let value = self.named_value(value, name.as_deref());
            if let Some(name) = name {
                let base = self.builder.expr(Expr::Cell(this), span);
                self.builder.program.stores.push(Store { base, slot: Slot::Attr(name), value });
            }
        }
        if derived && let Some(last) = fields.last() {
            let span = Self::span(*last);
            let parent = self.builder.expr(Expr::Super(class), span);
            let callee = self.builder.expr(Expr::Attr { base: parent, name: FIELDS.to_owned() }, span);
            self.builder.expr(Expr::Call(Call { callee, args: Box::default(), kind: CallKind::Plain }), span);
        }
    }

    /// A function that the text uses as a class by its prototype.
    pub(super) fn prototype_class(&mut self, node: Node<'t>, name: &'s str) -> ExprId {
        let span = Self::span(node);
        let symbol = self.qualified(name);
        let id = self.add_class(name, &symbol, span, Vec::new());
        self.prototypes.insert(name, id);
        let context = Context { class: Some(id), ..self.context.clone() };
        let constructor = self.function_in(node, name, FunctionKind::Method, context);
        self.builder.program.classes[id as usize].members.push(("constructor".to_owned(), constructor));
        self.builder.expr(Expr::Class(id), span)
    }

    /// `Name.prototype.member = value`, `Name.prototype = { … }`, where `Name` is such a function.
    pub(super) fn prototype_member(&mut self, target: Node<'t>, value: Node<'t>) -> Option<ExprId> {
        if self.prototypes.is_empty() || target.kind() != "member_expression" {
            return None;
        }
        let object = target.child_by_field_name("object")?;
        let property = self.slice(target.child_by_field_name("property")?);
        let (owner, member) = match self.slice(object).strip_suffix(".prototype") {
            Some(owner) => (owner, Some(property)),
            None if property == "prototype" => (self.slice(object), None),
            None => return None,
        };
        let class = *self.prototypes.get(owner)?;
        let symbol = self.builder.program.classes[class as usize].symbol.clone();
        let inside = Context { class: Some(class), symbol, this: self.context.this };
        let outer = std::mem::replace(&mut self.context, inside);
        let lowered = match member {
            Some(member) => {
                self.watch(member, Self::span(target));
                let lowered = self.prototype_value(value, member);
                self.builder.program.classes[class as usize].members.push((member.to_owned(), lowered));
                Some(lowered)
            }
            None if value.kind() == "object" => {
                let mut lowered = None;
                for entry in named_children(value) {
                    let key = entry.child_by_field_name("key").or_else(|| entry.child_by_field_name("name"));
                    let Some(key) = key else { continue };
                    let (_, name) = self.property_key(key);
                    let Some(name) = name else { continue };
                    let function = match entry.child_by_field_name("value") {
                        Some(value) => self.prototype_value(value, &name),
                        None => self.prototype_value(entry, &name),
                    };
                    self.builder.program.classes[class as usize].members.push((name, function));
                    lowered = Some(function);
                }
                lowered
            }
            None => None,
        };
        self.context = outer;
        lowered
    }

    fn prototype_value(&mut self, value: Node<'t>, name: &str) -> ExprId {
        match value.kind() {
            "function_expression" | "generator_function" | "method_definition" => {
                self.function_in(value, name, FunctionKind::Method, self.context.clone())
            }
            _ => self.named_value(value, Some(name)),
        }
    }
}

/// Whether a member has a keyword such as `static` before its name.
fn has_keyword(node: Node<'_>, keyword: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|c| c.kind() == keyword)
}
