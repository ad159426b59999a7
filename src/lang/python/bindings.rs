//! Which names a piece of code binds: Python decides from the whole body of a function
//! what is local to it.

use rustc_hash::FxHashSet;

use super::tree::{Field, Kind, Node};

/// The names that `node`'s code binds in its own scope, nested functions and classes aside.
/// In the order of the text, each once.
pub(super) fn bound_names<'s>(node: Node<'_>, text: &'s str) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut seen = FxHashSet::default();
    let mut add = |node: Node<'_>| {
        if let Some(name) = text.get(node.span().range())
            && seen.insert(name)
        {
            names.push(name);
        }
    };
    let mut walk = node.walk();
    while let Some(node) = walk.next() {
        match node.kind() {
            Kind::Function | Kind::Class => {
                if let Some(name) = node.field(Field::Name) {
                    add(name);
                }
                walk.pass_over();
            }
            Kind::Lambda => walk.pass_over(),
            Kind::ListComprehension
            | Kind::SetComprehension
            | Kind::DictionaryComprehension
            | Kind::Generator => {
                // Only an assignment expression inside leaks out.
                walrus_names(node, &mut add);
                walk.pass_over();
            }
            Kind::Assignment | Kind::Augmented | Kind::For => {
                if let Some(left) = node.field(Field::Left) {
                    target_names(left, &mut add);
                }
            }
            Kind::NamedExpression => {
                if let Some(name) = node.field(Field::Name) {
                    add(name);
                }
            }
            Kind::AsPatternTarget | Kind::Delete => target_names(node, &mut add),
            Kind::CaseClause => capture_names(node, &mut add),
            Kind::Import | Kind::ImportFrom => {
                import_names(node, &mut add);
                walk.pass_over();
            }
            _ => {}
        }
    }
    names
}

/// The names that `global` sends to the module anywhere in the file.
pub(super) fn globals<'s>(root: Node<'_>, text: &'s str) -> Vec<&'s str> {
    if memchr::memmem::find(text.as_bytes(), b"global ").is_none() {
        return Vec::new();
    }
    root.walk().filter(|node| node.kind() == Kind::Global).flat_map(|node| declared(node, text)).collect()
}

/// The names of `global` and `nonlocal` statements of one function's own code.
pub(super) fn declarations<'s>(body: Node<'_>, text: &'s str) -> (Vec<&'s str>, Vec<&'s str>) {
    let (mut global, mut nonlocal) = (Vec::new(), Vec::new());
    // In order, since a name sent to two places goes to the later one.
    let mut stack = vec![body];
    while let Some(node) = stack.pop() {
        match node.kind() {
            Kind::Global => global.extend(declared(node, text)),
            Kind::Nonlocal => nonlocal.extend(declared(node, text)),
            Kind::Function | Kind::Class | Kind::Lambda | Kind::ExpressionStatement => {}
            _ => stack.extend(node.children()),
        }
    }
    (global, nonlocal)
}

fn declared<'s>(node: Node<'_>, text: &'s str) -> impl Iterator<Item = &'s str> {
    node.children()
        .filter(|child| child.kind() == Kind::Identifier)
        .filter_map(move |child| text.get(child.span().range()))
}

/// Names in an assignment target: attributes and subscripts bind nothing.
fn target_names(target: Node<'_>, add: &mut impl FnMut(Node<'_>)) {
    let mut walk = target.walk();
    while let Some(node) = walk.next() {
        match node.kind() {
            Kind::Identifier => add(node),
            Kind::Attribute | Kind::Subscript | Kind::Call => walk.pass_over(),
            _ => {}
        }
    }
}

fn walrus_names(node: Node<'_>, add: &mut impl FnMut(Node<'_>)) {
    for node in node.walk() {
        if node.kind() == Kind::NamedExpression
            && let Some(name) = node.field(Field::Name)
        {
            add(name);
        }
    }
}

/// Capture names of a `case`: bare names in its patterns.
fn capture_names(case: Node<'_>, add: &mut impl FnMut(Node<'_>)) {
    let mut stack: Vec<Node<'_>> =
        case.children().filter(|child| child.kind() == Kind::CasePattern).collect();
    while let Some(node) = stack.pop() {
        let from = stack.len();
        match node.kind() {
            Kind::DottedName => {
                let mut parts = node.children();
                if let (Some(only), None) = (parts.next(), parts.next()) {
                    stack.push(only);
                }
            }
            Kind::Identifier => add(node),
            Kind::Attribute => {}
            // The first name is the class or the keyword, no capture.
            Kind::KeywordPattern | Kind::ClassPattern => stack.extend(node.children().skip(1)),
            _ => stack.extend(node.children()),
        }
        stack[from..].reverse();
    }
}

fn import_names(node: Node<'_>, add: &mut impl FnMut(Node<'_>)) {
    let module = node.field(Field::ModuleName);
    for child in node.children() {
        if module.is_some_and(|module| child.is(module)) {
            continue;
        }
        let bound = match child.kind() {
            Kind::AliasedImport => child.field(Field::Alias),
            Kind::DottedName => child.children().next(),
            _ => None,
        };
        if let Some(bound) = bound {
            add(bound);
        }
    }
}
