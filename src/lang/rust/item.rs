//! Items: what a module or a block declares, in three rounds. Names first, since items see
//! each other; then `use`; then what the items consist of.

use syn::{Attribute, Item};

use super::import::Use;
use super::lower::Lowering;
use super::path::{self, Wanted};
use super::scope::{Entry, ScopeId};
use crate::base::ir::{
    Arg, Call, CallKind, CellId, Class, ClassId, Expr, ExprId, FuncId, FunctionKind, Slot, Store,
};
use crate::base::span::Span;
use crate::lang::builder::function;

/// Attributes that the language knows: no call of anything.
const BUILT_IN: [&str; 22] = [
    "doc",
    "cfg",
    "cfg_attr",
    "test",
    "derive",
    "allow",
    "warn",
    "deny",
    "expect",
    "inline",
    "must_use",
    "path",
    "macro_use",
    "macro_export",
    "no_mangle",
    "repr",
    "non_exhaustive",
    "ignore",
    "deprecated",
    "cold",
    "target_feature",
    "forbid",
];

/// An item that was declared, with what its second look needs.
enum Declared {
    Function(FuncId, syn::Signature, Box<syn::Block>),
    Struct(ClassId, syn::Fields),
    Trait(ClassId, syn::ItemTrait),
    Impl(syn::ItemImpl),
    Value(CellId, Box<syn::Type>, Box<syn::Expr>),
    Alias(CellId, Box<syn::Type>),
    Macro(syn::Macro),
    Attribute(Attribute),
}

/// A part of a module that waits until every name and `use` of the file's modules is known.
struct Module {
    scope: ScopeId,
    test_only: bool,
    declared: Vec<Declared>,
    uses: Vec<Use>,
}

/// Whether an attribute marks what only tests run.
pub(super) fn is_test(attr: &Attribute) -> bool {
    let path = attr.path();
    if path.is_ident("test") || path.segments.last().is_some_and(|s| s.ident == "test") {
        return true;
    }
    if !path.is_ident("cfg") {
        return false;
    }
    let syn::Meta::List(list) = &attr.meta else { return false };
    let words: Vec<String> = list
        .tokens
        .to_string()
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect();
    words.iter().any(|w| w == "test") && !words.iter().any(|w| w == "not" || w == "any")
}

impl Lowering<'_> {
    /// The items of the present scope, and those of the modules written in them.
    pub(super) fn items(&mut self, items: Vec<Item>) {
        let (scope, test_only) = (self.scope, self.test_only);
        let mut modules = vec![Module { scope, test_only, declared: Vec::new(), uses: Vec::new() }];
        let mut waiting = vec![(0usize, items)];
        while let Some((at, items)) = waiting.pop() {
            for item in items {
                self.declare(at, item, &mut modules, &mut waiting);
            }
        }
        for module in &mut modules {
            let uses = std::mem::take(&mut module.uses);
            self.scope = module.scope;
            self.bind_uses(module.scope, uses);
        }
        for module in modules {
            (self.scope, self.test_only) = (module.scope, module.test_only);
            let mut later = Vec::new();
            for declared in module.declared {
                match declared {
                    Declared::Impl(..) | Declared::Value(..) | Declared::Macro(_) => later.push(declared),
                    _ => self.complete(declared),
                }
            }
            for declared in later {
                self.complete(declared);
            }
        }
        (self.scope, self.test_only) = (scope, test_only);
    }

    fn declare(
        &mut self,
        at: usize,
        item: Item,
        modules: &mut Vec<Module>,
        waiting: &mut Vec<(usize, Vec<Item>)>,
    ) {
        let Some(module) = modules.get(at) else { return };
        let (scope, test_only) = (module.scope, module.test_only);
        let mut found = Vec::new();
        found.extend(
            attributes_of(&item).iter().filter(|a| !is_built_in(a)).cloned().map(Declared::Attribute),
        );
        match item {
            Item::Use(item) => {
                let uses = self.uses(item);
                if let Some(module) = modules.get_mut(at) {
                    module.uses.extend(uses);
                }
            }
            Item::ExternCrate(item) => self.extern_crate(scope, &item),
            Item::Mod(mut item) => {
                let test_only = test_only || item.attrs.iter().any(is_test);
                match item.content.take() {
                    Some((_, items)) => {
                        let name = self.name(&item.ident);
                        let outer = self.scopes.get(scope).module;
                        let inner = self.scopes.open_module(outer, &name);
                        self.scopes.declare_type(scope, &name, Entry::Module(inner));
                        modules.push(Module {
                            scope: inner,
                            test_only,
                            declared: Vec::new(),
                            uses: Vec::new(),
                        });
                        waiting.push((modules.len() - 1, items));
                    }
                    None => self.outer_module(scope, &item),
                }
            }
            Item::Fn(item) => {
                let span = self.between(item.sig.fn_token.span, item.block.brace_token.span.close());
                let test_only = test_only || item.attrs.iter().any(is_test);
                let id = self.new_function(&item.sig.ident, span, FunctionKind::Plain, None, test_only);
                let value = self.builder.expr(Expr::Func(id), span);
                let name = self.name(&item.sig.ident);
                let cell = self.cell(&name, Some(value));
                self.scopes.declare(scope, &name, cell);
                found.push(Declared::Function(id, item.sig, item.block));
            }
            Item::Struct(item) => {
                let class = self.new_class(&item.ident);
                self.bind_class(scope, class, !matches!(item.fields, syn::Fields::Unit));
                found.push(Declared::Struct(class, item.fields));
            }
            Item::Union(item) => {
                let class = self.new_class(&item.ident);
                self.bind_class(scope, class, true);
            }
            Item::Enum(item) => {
                let class = self.new_class(&item.ident);
                self.bind_class(scope, class, true);
                for variant in &item.variants {
                    let name = self.name(&variant.ident);
                    let span = self.place(variant.ident.span());
                    let value = self.builder.expr(Expr::Class(class), span);
                    self.add_member(class, name, value);
                }
            }
            Item::Trait(item) => {
                let class = self.new_class(&item.ident);
                self.bind_class(scope, class, true);
                found.push(Declared::Trait(class, item));
            }
            Item::Impl(item) => found.push(Declared::Impl(item)),
            Item::Const(item) => {
                let name = self.name(&item.ident);
                let cell = self.cell(&name, None);
                if name != "_" {
                    self.scopes.declare(scope, &name, cell);
                }
                found.push(Declared::Value(cell, item.ty, item.expr));
            }
            Item::Static(item) => {
                let name = self.name(&item.ident);
                let cell = self.cell(&name, None);
                self.scopes.declare(scope, &name, cell);
                found.push(Declared::Value(cell, item.ty, item.expr));
            }
            Item::Type(item) => {
                let name = self.name(&item.ident);
                let cell = self.cell(&name, None);
                self.scopes.declare_type(scope, &name, Entry::Cell(cell));
                found.push(Declared::Alias(cell, item.ty));
            }
            Item::ForeignMod(item) => self.foreign(scope, &item),
            Item::Macro(item) if item.ident.is_none() => found.push(Declared::Macro(item.mac)),
            _ => {}
        }
        if let Some(module) = modules.get_mut(at) {
            module.declared.extend(found);
        }
    }

    fn complete(&mut self, declared: Declared) {
        match declared {
            Declared::Function(id, signature, block) => {
                let symbol = self.nested_symbol(&signature.ident.to_string());
                self.function(id, signature, *block, symbol);
            }
            Declared::Struct(class, fields) => self.fields(class, fields),
            Declared::Trait(class, item) => self.trait_(class, item),
            Declared::Impl(item) => self.implementation(item),
            Declared::Value(cell, ty, expr) => {
                let outer = self.class.take();
                let value = self.expression(*expr);
                self.class = outer;
                self.add_value(cell, value);
                if let Some(instance) = self.type_value(&ty, 0) {
                    self.add_value(cell, instance);
                }
            }
            Declared::Alias(cell, ty) => {
                if let syn::Type::Path(ty) = *ty {
                    let value = self.path(&ty.path, Wanted::Type);
                    self.add_value(cell, value);
                }
            }
            Declared::Macro(mac) => {
                self.macro_call(mac);
            }
            Declared::Attribute(attr) => self.attribute(&attr),
        }
    }

    /// An attribute of a crate is applied like a call.
    fn attribute(&mut self, attr: &Attribute) {
        let callee = self.path(attr.path(), Wanted::Value);
        let span = self.between(attr.pound_token.spans[0], attr.bracket_token.span.close());
        self.builder.expr(Expr::Call(Call { callee, args: Box::default(), kind: CallKind::Plain }), span);
    }

    /// `extern "C" { fn kill(…); }`: the C library's, whoever declares it.
    fn foreign(&mut self, scope: ScopeId, item: &syn::ItemForeignMod) {
        for item in &item.items {
            if let syn::ForeignItem::Fn(item) = item {
                let name = self.name(&item.sig.ident);
                let span = self.place(item.sig.ident.span());
                let value = self.builder.expr(Expr::External(format!("libc::{name}")), span);
                let cell = self.cell(&name, Some(value));
                self.scopes.declare(scope, &name, cell);
            }
        }
    }

    /// A function without parameters or body yet.
    pub(super) fn new_function(
        &mut self,
        name: &proc_macro2::Ident,
        span: Span,
        kind: FunctionKind,
        class: Option<ClassId>,
        test_only: bool,
    ) -> FuncId {
        let name = syn::ext::IdentExt::unraw(name).to_string();
        let symbol = match class.and_then(|c| self.builder.program.classes.get(c as usize)) {
            Some(class) => format!("{}.{name}", class.symbol),
            None => self.nested_symbol(&name),
        };
        let mut new = function(&name, &symbol, span, kind);
        new.parent = Some(self.builder.function);
        new.class = class;
        new.test_only = test_only;
        self.builder.add_function(new)
    }

    pub(super) fn new_class(&mut self, ident: &proc_macro2::Ident) -> ClassId {
        let name = self.name(ident);
        let span = self.place(ident.span());
        let symbol = self.nested_symbol(&name);
        self.push_class(name, symbol, span)
    }

    pub(super) fn push_class(&mut self, name: String, symbol: String, span: Span) -> ClassId {
        self.builder.program.classes.push(Class {
            name,
            symbol,
            span,
            bases: Vec::new(),
            members: Vec::new(),
            decorators: Vec::new(),
            fields: Vec::new(),
            meta: None,
        });
        (self.builder.program.classes.len() - 1) as ClassId
    }

    /// A class is a type, and a value: its constructor, or for a unit struct its only instance.
    fn bind_class(&mut self, scope: ScopeId, class: ClassId, constructs: bool) {
        let Some(known) = self.builder.program.classes.get(class as usize) else { return };
        let (name, span) = (known.name.clone(), known.span);
        let value = self.builder.expr(Expr::Class(class), span);
        let cell = self.cell(&name, Some(value));
        self.scopes.declare_type(scope, &name, Entry::Cell(cell));
        if constructs {
            self.scopes.declare(scope, &name, cell);
        } else {
            let instance = self.builder.expr(Expr::Instance(value), span);
            let cell = self.cell(&name, Some(instance));
            self.scopes.declare(scope, &name, cell);
        }
    }

    pub(super) fn add_member(&mut self, class: ClassId, name: String, value: ExprId) {
        if let Some(class) = self.builder.program.classes.get_mut(class as usize) {
            class.members.push((name, value));
        }
    }

    fn fields(&mut self, class: ClassId, fields: syn::Fields) {
        for (position, field) in fields.iter().enumerate() {
            let Some(value) = self.type_value(&field.ty, 0) else { continue };
            let name = match &field.ident {
                Some(ident) => self.name(ident),
                None => position.to_string(),
            };
            self.add_member(class, name, value);
        }
    }

    /// Puts a value where whoever has the base finds it under the name.
    pub(super) fn store(&mut self, base: ExprId, name: String, value: ExprId) {
        self.builder.program.stores.push(Store { base, slot: Slot::Attr(name), value });
    }

    /// A call without a name for anything: of a value with positional arguments.
    pub(super) fn call_of(
        &mut self,
        callee: ExprId,
        args: Vec<ExprId>,
        kind: CallKind,
        span: Span,
    ) -> ExprId {
        let args: Box<[Arg]> = args.into_iter().map(Arg::positional).collect();
        self.builder.expr(Expr::Call(Call { callee, args, kind }), span)
    }

    /// The place of a path that names a type.
    pub(super) fn type_span(&self, path: &syn::Path) -> Span {
        path::outline(self, path)
    }
}

fn is_built_in(attr: &Attribute) -> bool {
    attr.path().get_ident().is_some_and(|ident| BUILT_IN.iter().any(|name| ident == name))
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        _ => &[],
    }
}
