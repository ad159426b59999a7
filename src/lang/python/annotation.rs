//! Declared types: which instances an annotation promises for a parameter, a result, a variable
//! or an attribute, and which an `isinstance` test leaves. The text of an annotation is read
//! here, not its tree, so that a quoted one means the same. Builtins promise nothing.

use super::lower::Lowering;
use super::tree::{Field, Kind, Node};
use crate::base::ir::{Expr, ExprId, FuncId, Slot, Spread, Store};
use crate::base::span::Span;
use crate::lang::builder::{Lookup, ScopeId, ScopeKind};

/// Brackets deeper than this, and alternatives beyond that many, are not read.
const DEEPEST: usize = 6;
const MOST: usize = 8;

/// Forms that stand for what is in their brackets.
const TRANSPARENT: [&str; 10] = [
    "Optional",
    "Union",
    "ClassVar",
    "Final",
    "Required",
    "NotRequired",
    "ReadOnly",
    "Awaitable",
    "InitVar",
    "Unpack",
];
/// Containers of what is in their brackets.
const SEQUENCES: [&str; 24] = [
    "list",
    "List",
    "Sequence",
    "MutableSequence",
    "Iterable",
    "Iterator",
    "Collection",
    "set",
    "Set",
    "frozenset",
    "FrozenSet",
    "AbstractSet",
    "MutableSet",
    "tuple",
    "Tuple",
    "deque",
    "Deque",
    "AsyncIterable",
    "AsyncIterator",
    "Generator",
    "AsyncGenerator",
    "Reversible",
    "Container",
    "Queue",
];
/// Containers whose last argument is what they hold.
const MAPPINGS: [&str; 9] = [
    "dict",
    "Dict",
    "Mapping",
    "MutableMapping",
    "defaultdict",
    "DefaultDict",
    "OrderedDict",
    "ChainMap",
    "WeakValueDictionary",
];

impl<'s, 't> Lowering<'s, 't> {
    /// The instances that an annotation promises. Its names are looked up from `scope`.
    fn declared(&mut self, node: Node<'t>, scope: ScopeId) -> Vec<ExprId> {
        let (text, span) = (self.slice(node), Self::span(node));
        let here = std::mem::replace(&mut self.builder.scope, scope);
        let found = self.promised(text, span, 0);
        self.builder.scope = here;
        found
    }

    fn promised(&mut self, text: &'s str, span: Span, depth: usize) -> Vec<ExprId> {
        let mut found = Vec::new();
        if depth > DEEPEST {
            return found;
        }
        for option in split(text, '|').into_iter().take(MOST) {
            let option = option.trim().trim_matches(['"', '\'']).trim();
            if split(option, '|').len() > 1 {
                found.extend(self.promised(option, span, depth + 1));
                continue;
            }
            let Some((head, rest)) = option.split_once('[') else {
                found.extend(self.named_type(option, span));
                continue;
            };
            let inner = rest.strip_suffix(']').unwrap_or(rest);
            let arguments = split(inner, ',');
            let head = head.trim();
            let form = head.rsplit('.').next().unwrap_or(head);
            if TRANSPARENT.contains(&form) {
                for argument in arguments.into_iter().take(MOST) {
                    found.extend(self.promised(argument, span, depth + 1));
                }
            } else if form == "Literal" {
                // What a name may stand for, where nothing else is known of it.
                let texts: Vec<ExprId> = arguments
                    .into_iter()
                    .filter_map(|text| quoted(text.trim()))
                    .map(|text| self.builder.expr(Expr::Str(text.to_owned()), span))
                    .collect();
                let choices = self.builder.expr(Expr::Union(texts), span);
                found.push(self.builder.expr(Expr::Instance(choices), span));
            } else if form == "Annotated" {
                found.extend(arguments.first().map_or_else(Vec::new, |a| self.promised(a, span, depth + 1)));
            } else if form == "Coroutine" || MAPPINGS.contains(&form) {
                let held = arguments.last().map_or_else(Vec::new, |a| self.promised(a, span, depth + 1));
                if form == "Coroutine" {
                    found.extend(held);
                } else if !held.is_empty() {
                    let entries = held
                        .into_iter()
                        .map(|value| (Some(self.builder.expr(Expr::Unknown, span)), value))
                        .collect();
                    let map = self.builder.expr(Expr::Map(entries), span);
                    found.push(self.builder.expr(Expr::Instance(map), span));
                }
            } else if SEQUENCES.contains(&form) {
                let mut items = Vec::new();
                for argument in arguments.into_iter().take(MOST) {
                    let held = self.promised(argument, span, depth + 1);
                    let item = match held.as_slice() {
                        [only] => *only,
                        _ => self.builder.expr(Expr::Union(held), span),
                    };
                    items.push((item, Spread::No));
                }
                let is_some = |(item, _): &(ExprId, Spread)| !matches!(&self.builder.program.exprs[*item as usize].expr, Expr::Union(o) if o.is_empty());
                if items.iter().any(is_some) {
                    let list = self.builder.expr(Expr::Seq(items), span);
                    found.push(self.builder.expr(Expr::Instance(list), span));
                }
            } else {
                // `Box[int]`: a box.
                found.extend(self.named_type(head, span));
            }
        }
        found
    }

    /// An instance of the class that a dotted name means here, if the file binds the name.
    fn named_type(&mut self, name: &'s str, span: Span) -> Option<ExprId> {
        let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
        let mut parts = name.split('.').map(str::trim);
        let head = parts.next().filter(|part| is_name(part))?;
        let mut value = match (self.builder.lookup(head), self.class) {
            (Lookup::Cell(cell), _) if !self.is_typing(cell) => self.builder.expr(Expr::Cell(cell), span),
            (Lookup::Cell(_), Some(class)) if head == "Self" => self.builder.expr(Expr::Class(class), span),
            _ => return None,
        };
        for part in parts {
            if !is_name(part) {
                return None;
            }
            value = self.builder.expr(Expr::Attr { base: value, name: part.to_owned() }, span);
        }
        Some(self.builder.expr(Expr::Instance(value), span))
    }

    /// Whether a name comes from `typing`: such names are no classes.
    fn is_typing(&self, cell: u32) -> bool {
        self.builder.program.cells[cell as usize].values.iter().any(|value| {
            matches!(&self.builder.program.exprs[*value as usize].expr,
                Expr::Import(import) if matches!(import.module.as_str(), "typing" | "typing_extensions" | "collections.abc")
                    && import.name.is_some())
        })
    }

    /// What a definition's annotations say of its parameters: said in the function's own code, when
    /// everything that the names may mean is bound.
    pub(super) fn declared_parameters(&mut self, definition: Node<'t>, function: FuncId, scope: ScopeId) {
        let Some(parameters) = definition.field(Field::Parameters) else { return };
        let Some(outer) = self.builder.scope_parent(scope) else { return };
        for child in parameters.children() {
            let name = match child.kind() {
                Kind::TypedDefaultParameter => child.field(Field::Name),
                Kind::TypedParameter => child.children().next().filter(|n| n.kind() == Kind::Identifier),
                _ => None,
            };
            let (Some(name), Some(declared)) = (name, child.field(Field::Type)) else { continue };
            let text = self.slice(name);
            let params = &self.builder.program.functions[function as usize].params;
            let Some(cell) = params.iter().find(|p| p.name == text).map(|p| p.cell) else { continue };
            let values = self.declared(declared, outer);
            self.builder.program.cells[cell as usize].values.extend(values);
        }
    }

    /// What a definition says that it returns; a generator's annotation is about its elements.
    pub(super) fn declared_result(&mut self, definition: Node<'t>, function: FuncId, scope: ScopeId) {
        let Some(declared) = definition.field(Field::ReturnType) else { return };
        let Some(outer) = self.builder.scope_parent(scope) else { return };
        if self.builder.program.functions[function as usize].yields.is_empty() {
            let values = self.declared(declared, outer);
            self.builder.program.functions[function as usize].returns.extend(values);
        }
    }

    /// `name: Type = value` and `self.name: Type = value`: beside the value, what the type says.
    pub(super) fn declared_target(&mut self, target: Node<'t>, declared: Node<'t>) {
        let values = self.declared(declared, self.builder.scope);
        self.also(target, values);
    }

    /// `name: Type` alone: in a class an attribute of its instances.
    pub(super) fn declared_alone(&mut self, target: Node<'t>, declared: Node<'t>) {
        if self.builder.scope_kind(self.builder.scope) != ScopeKind::Class {
            return;
        }
        let name = self.slice(target);
        let values = self.declared(declared, self.builder.scope);
        let Some((first, rest)) = values.split_first() else { return };
        let cell = self.builder.bind(name, *first);
        self.builder.program.cells[cell as usize].values.extend(rest);
    }

    /// A place may hold these values too.
    fn also(&mut self, target: Node<'t>, values: Vec<ExprId>) {
        match target.kind() {
            Kind::Identifier => {
                let name = self.slice(target);
                if !values.is_empty()
                    && let Lookup::Cell(cell) = self.builder.lookup(name)
                {
                    self.builder.program.cells[cell as usize].values.extend(values);
                }
            }
            Kind::Attribute => {
                let (Some(object), Some(attribute)) =
                    (target.field(Field::Object), target.field(Field::Attribute))
                else {
                    return;
                };
                let name = self.slice(attribute).to_owned();
                for value in values {
                    let base = self.expression(object);
                    self.builder.program.stores.push(Store { base, slot: Slot::Attr(name.clone()), value });
                }
            }
            _ => {}
        }
    }

    /// Where a condition holds that tests a name's class, the name is an instance of it.
    pub(super) fn narrow(&mut self, condition: Node<'t>) {
        let mut waiting = vec![condition];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                Kind::Parenthesized => waiting.extend(node.children()),
                Kind::Boolean if node.field(Field::Operator).is_some_and(|o| o.kind() == Kind::And) => {
                    waiting.extend(node.children());
                }
                Kind::Call => self.narrowed(node),
                _ => {}
            }
        }
    }

    /// `isinstance(name, Class)`.
    fn narrowed(&mut self, call: Node<'t>) {
        let (Some(function), Some(arguments)) = (call.field(Field::Function), call.field(Field::Arguments))
        else {
            return;
        };
        if self.slice(function) != "isinstance" {
            return;
        }
        let mut parts = arguments.children();
        let (Some(subject), Some(class), None) = (parts.next(), parts.next(), parts.next()) else { return };
        let classes = match class.kind() {
            Kind::Tuple => class.children().collect(),
            _ => vec![class],
        };
        let mut values = Vec::new();
        for class in classes {
            if matches!(class.kind(), Kind::Identifier | Kind::Attribute) {
                values.extend(self.declared(class, self.builder.scope));
            }
        }
        if values.is_empty() {
            return;
        }
        if subject.kind() != Kind::Identifier {
            self.also(subject, values);
            return;
        }
        let (name, scope) = (self.slice(subject), self.builder.scope);
        let own = match self.builder.scope_kind(scope) {
            ScopeKind::Function => self.builder.scope_mut(scope).locals.contains(name),
            ScopeKind::Module => true,
            ScopeKind::Class | ScopeKind::Block => false,
        };
        if own && let Lookup::Cell(before) = self.builder.lookup(name) {
            let cell = self.builder.bind(name, values[0]);
            let cell = &mut self.builder.program.cells[cell as usize];
            cell.values.extend(&values[1..]);
            cell.from.push(before);
        }
    }
}

/// What a literal text says, if it is one without escapes.
fn quoted(text: &str) -> Option<&str> {
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
}

/// The parts of a text between a mark, brackets and quotes aside.
fn split(text: &str, mark: char) -> Vec<&str> {
    let (mut parts, mut from, mut open, mut quote) = (Vec::new(), 0, 0usize, None);
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            (_, Some(_)) => {}
            ('[' | '(', None) => open += 1,
            (']' | ')', None) => open = open.saturating_sub(1),
            (c, None) if c == mark && open == 0 => {
                parts.push(&text[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_text_is_split_outside_brackets_and_quotes() {
        assert_eq!(split("a | b[c | d] | 'e | f'", '|'), ["a ", " b[c | d] ", " 'e | f'"]);
        assert_eq!(split("Map[str, list[int]], x", ','), ["Map[str, list[int]]", " x"]);
        assert_eq!(split("", ','), [""]);
    }
}
