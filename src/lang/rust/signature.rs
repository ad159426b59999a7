//! Functions and types: parameters by their declared types, results, and what a type says
//! about the methods of its values.

use syn::{FnArg, GenericArgument, PathArguments, ReturnType, Type, TypeParamBound};

use super::lower::{Body, Lowering, Pending};
use super::path::Wanted;
use super::scope::Entry;
use crate::base::ir::{CellId, Expr, ExprId, FuncId, Param, Spread};

/// Types nested deeper than this say nothing.
const DEPTH: usize = 12;

/// Types that are where their argument is.
const TRANSPARENT: [&str; 25] = [
    "Option",
    "Result",
    "Box",
    "Arc",
    "Rc",
    "RefCell",
    "Cell",
    "Mutex",
    "RwLock",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Pin",
    "Cow",
    "OnceLock",
    "OnceCell",
    "LazyLock",
    "Ref",
    "RefMut",
    "Weak",
    "ManuallyDrop",
    "State",
    "Data",
    "Lazy",
    "Extension",
];

/// Types that hold many of their argument.
const SEQUENCES: [&str; 6] = ["Vec", "VecDeque", "HashSet", "BTreeSet", "SmallVec", "LinkedList"];

/// Types whose values say nothing of calls.
const PLAIN: [&str; 38] = [
    "str",
    "String",
    "bool",
    "char",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "f32",
    "f64",
    "PathBuf",
    "Path",
    "OsString",
    "OsStr",
    "CString",
    "CStr",
    "HashMap",
    "BTreeMap",
    "Duration",
    "Instant",
    "Ordering",
    "c_int",
    "c_char",
    "pid_t",
    "Utf8PathBuf",
    "Utf8Path",
    "Value",
    "IndexMap",
    "Args",
    "Error",
];

impl Lowering<'_> {
    /// A function with a body: its parameters, its declared result, and its body for later.
    pub(super) fn function(
        &mut self,
        id: FuncId,
        signature: syn::Signature,
        block: syn::Block,
        symbol: String,
    ) {
        let outer = self.scope;
        let scope = self.scopes.open_items(outer);
        self.scope = scope;
        self.generics(&signature.generics);
        let mut params = Vec::new();
        let mut destructured = Vec::new();
        for input in signature.inputs {
            match input {
                FnArg::Receiver(receiver) => {
                    let _ = receiver;
                    let cell = self.cell("self", None);
                    self.scopes.bind(scope, "self", cell);
                    params.push(param("self", cell));
                }
                FnArg::Typed(typed) => {
                    let value = self.type_value(&typed.ty, 0);
                    let name = match &*typed.pat {
                        syn::Pat::Ident(ident) => self.name(&ident.ident),
                        _ => String::new(),
                    };
                    let cell = self.cell(&name, value);
                    if name.is_empty() {
                        destructured.push((*typed.pat, cell));
                    } else {
                        self.scopes.bind(scope, &name, cell);
                    }
                    params.push(param(&name, cell));
                }
            }
        }
        let result = match &signature.output {
            ReturnType::Type(_, ty) => self.type_value(ty, 0),
            ReturnType::Default => None,
        };
        self.scope = outer;
        if let Some(function) = self.builder.program.functions.get_mut(id as usize) {
            function.params = params;
            function.returns.extend(result);
            function.is_async = signature.asyncness.is_some();
        }
        let body = match destructured.is_empty() {
            true => Body::Block(block),
            false => {
                let block = syn::Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block });
                Body::Closure(destructured, Box::new(block))
            }
        };
        self.pending.push_back(Pending { function: id, scope, body, class: self.class, symbol });
    }

    /// Type parameters stand for what their bounds offer.
    fn generics(&mut self, generics: &syn::Generics) {
        let mut bounds: Vec<(String, Vec<&TypeParamBound>)> = generics
            .type_params()
            .map(|p| (p.ident.to_string(), p.bounds.iter().collect::<Vec<_>>()))
            .collect();
        for predicate in generics.where_clause.iter().flat_map(|w| &w.predicates) {
            if let syn::WherePredicate::Type(predicate) = predicate
                && let Type::Path(ty) = &predicate.bounded_ty
                && let Some(ident) = ty.path.get_ident()
                && let Some((_, known)) = bounds.iter_mut().find(|(name, _)| ident == name)
            {
                known.extend(predicate.bounds.iter());
            }
        }
        for (name, bounds) in bounds {
            let values: Vec<ExprId> = bounds.into_iter().filter_map(|b| self.bound_class(b)).collect();
            let cell = self.cell(&name, None);
            for value in values {
                self.add_value(cell, value);
            }
            self.scopes.declare_type(self.scope, &name, Entry::Cell(cell));
        }
    }

    fn bound_class(&mut self, bound: &TypeParamBound) -> Option<ExprId> {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        if [
            "Fn", "FnMut", "FnOnce", "Send", "Sync", "Into", "AsRef", "Sized", "Clone", "Display", "Debug",
            "ToString",
        ]
        .iter()
        .any(|plain| last.ident == plain)
        {
            return None;
        }
        Some(self.path(&bound.path, Wanted::Type))
    }

    /// A value of a type, if the type says anything about calls.
    pub(super) fn type_value(&mut self, ty: &Type, depth: usize) -> Option<ExprId> {
        if depth > DEPTH {
            return None;
        }
        match ty {
            Type::Reference(inner) => self.type_value(&inner.elem, depth + 1),
            Type::Paren(inner) => self.type_value(&inner.elem, depth + 1),
            Type::Group(inner) => self.type_value(&inner.elem, depth + 1),
            Type::Ptr(inner) => self.type_value(&inner.elem, depth + 1),
            Type::Slice(inner) => self.sequence_of(&inner.elem, depth),
            Type::Array(inner) => self.sequence_of(&inner.elem, depth),
            Type::ImplTrait(inner) => self.bounds_value(inner.bounds.iter(), depth),
            Type::TraitObject(inner) => self.bounds_value(inner.bounds.iter(), depth),
            Type::Path(ty) => {
                let last = ty.path.segments.last()?;
                let argument = |position: usize| match &last.arguments {
                    PathArguments::AngleBracketed(args) => args
                        .args
                        .iter()
                        .filter_map(|a| match a {
                            GenericArgument::Type(ty) => Some(ty),
                            _ => None,
                        })
                        .nth(position),
                    _ => None,
                };
                if TRANSPARENT.iter().any(|name| last.ident == name) {
                    return argument(0).and_then(|inner| self.type_value(inner, depth + 1));
                }
                if SEQUENCES.iter().any(|name| last.ident == name) {
                    return argument(0).and_then(|inner| self.sequence_of(inner, depth));
                }
                if PLAIN.iter().any(|name| last.ident == name) {
                    return None;
                }
                let span = self.type_span(&ty.path);
                let class = self.path(&ty.path, Wanted::Type);
                Some(self.builder.expr(Expr::Instance(class), span))
            }
            _ => None,
        }
    }

    fn sequence_of(&mut self, element: &Type, depth: usize) -> Option<ExprId> {
        let value = self.type_value(element, depth + 1)?;
        let span = self.span_of(value);
        Some(self.builder.expr(Expr::Seq(vec![(value, Spread::No)]), span))
    }

    fn bounds_value<'t>(
        &mut self,
        bounds: impl Iterator<Item = &'t TypeParamBound>,
        depth: usize,
    ) -> Option<ExprId> {
        let mut values = Vec::new();
        for bound in bounds {
            // A future or an iterator is where what it yields is.
            if let TypeParamBound::Trait(bound) = bound
                && let Some(last) = bound.path.segments.last()
                && (last.ident == "Future" || last.ident == "Iterator" || last.ident == "IntoIterator")
                && let PathArguments::AngleBracketed(args) = &last.arguments
            {
                for arg in &args.args {
                    if let GenericArgument::AssocType(assoc) = arg {
                        values.extend(self.type_value(&assoc.ty, depth + 1));
                    }
                }
                continue;
            }
            let Some(class) = self.bound_class(bound) else { continue };
            let span = self.span_of(class);
            values.push(self.builder.expr(Expr::Instance(class), span));
        }
        match values.as_slice() {
            [] => None,
            [only] => Some(*only),
            _ => {
                let span = self.span_of(values[0]);
                Some(self.builder.expr(Expr::Union(values), span))
            }
        }
    }
}

fn param(name: &str, cell: CellId) -> Param {
    Param { name: name.to_owned(), cell, spread: Spread::No, keyword_only: false }
}
